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
    # Spans and properties of temporaries: case 0 compiles, so that it is not for another reason that others do not.
    for case in 0 1 2 3 4 5 6 7 8 9 10; do
        if $compiler -std=c++20 -Iinclude -DCASE=$case -fsyntax-only tests/cxx/refused.cc 2>"$work/said"; then
            [ $case = 0 ] || { echo "$compiler: case $case of refused.cc compiles"; exit 1; }
        elif [ $case = 0 ] || ! grep -q 'deleted' "$work/said"; then
            echo "$compiler: case $case of refused.cc:"
            cat "$work/said"
            exit 1
        fi
    done
done
[ "$tried" -gt 0 ] || { echo "skipped: there is no C++ compiler"; exit 77; }
