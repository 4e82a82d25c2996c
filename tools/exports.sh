#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A shared library exports exactly the functions that its headers mark.
# Usage: exports.sh LIBRARY.so [HEADER_FOLDER MARK]
set -eu
cd "$(dirname "$0")/.."
library=$1
headers=${2:-include/lightnet}
mark=${3:-LN_API}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u >"$work/exported"
find "$headers" -name '*.h' ! -name export.h -exec cat {} + | grep -v '^#define' | tr '\n' ' ' |
    sed "s/$mark/\n$mark/g" | sed -n "s/^$mark \([^;{(]*\)[(;].*/\1/p" | sed 's/[[:space:]]*$//; s/.*[^A-Za-z0-9_]//' |
    grep -v '^$' | sort -u >"$work/declared"

if ! diff "$work/declared" "$work/exported" >"$work/diff"; then
    echo "exports differ from the headers ('<': declared only, '>': exported only):"
    grep '^[<>]' "$work/diff"
    exit 1
fi
