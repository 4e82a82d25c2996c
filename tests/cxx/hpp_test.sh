#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The C++ header by each compiler that there is, without a warning, and checked for what leaks or is
# used after it was freed. Usage: hpp_test.sh BUILD_FOLDER
set -eu
cd "$(dirname "$0")/../.."
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH="$build"

tried=0
for compiler in g++ clang++; do
    command -v $compiler >/dev/null || continue
    for checks in "" "-fsanitize=address,undefined -fno-sanitize-recover=all"; do
        # shellcheck disable=SC2086
        $compiler -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -DLN_CHECK_STATUS -O1 -g $checks \
            -Iinclude tests/cxx/hpp_test.cc -o "$work/program" -L"$build" -llightnet -lpthread
        "$work/program"
        tried=$((tried + 1))
    done
done
[ "$tried" -gt 0 ] || { echo "skipped: there is no C++ compiler"; exit 77; }
