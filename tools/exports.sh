#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The shared library exports exactly the functions that the installed headers mark with LN_API.
# Usage: exports.sh LIBRARY.so
set -eu
cd "$(dirname "$0")/.."
library=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

nm -D --defined-only "$library" | awk '{print $3}' | sort -u >"$work/exported"
find include/lightnet -name '*.h' ! -name export.h -exec cat {} + | tr '\n' ' ' | sed 's/LN_API/\nLN_API/g' |
    sed -n 's/^LN_API \([^;{(]*\)[(;].*/\1/p' | sed 's/[[:space:]]*$//; s/.*[^A-Za-z0-9_]//' |
    grep -v '^$' | sort -u >"$work/declared"

if ! diff "$work/declared" "$work/exported" >"$work/diff"; then
    echo "exports differ from the headers ('<': declared only, '>': exported only):"
    grep '^[<>]' "$work/diff"
    exit 1
fi
