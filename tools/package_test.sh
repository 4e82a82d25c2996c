#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the release build into an empty folder and uses it as a stranger would: through
# pkg-config (shared and static), through CMake, from C++, and with an operator of its own.
set -eu
cd "$(dirname "$0")/.."
source=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

DESTDIR=$work/root cmake --install build --prefix /usr >/dev/null
prefix=$work/root/usr
libdir=$(dirname "$(find "$prefix" -name lightnet.pc)")/..
export PKG_CONFIG_PATH="$libdir/pkgconfig"
export LD_LIBRARY_PATH="$libdir"

for name in $(cd "$prefix/include" && find . -name '*.h' -printf '%P\n'); do
    echo "#include <$name>" >"$work/header.c"
    gcc -std=c11 -Wall -Wextra -Werror -fsyntax-only -I"$prefix/include" "$work/header.c"
    g++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only -x c++ -I"$prefix/include" "$work/header.c"
done

# shellcheck disable=SC2046
gcc -std=c11 -Wall -Wextra -Werror "$source/tests/package/program.c" -o "$work/shared" \
    $(pkg-config --cflags --libs lightnet)
"$work/shared"
# shellcheck disable=SC2046
gcc -std=c11 -Wall -Wextra -Werror "$source/tests/package/program.c" -o "$work/static" \
    $(pkg-config --cflags lightnet) "$libdir/liblightnet.a" -lm -lpthread
"$work/static"
# shellcheck disable=SC2046
g++ -std=c++17 -Wall -Wextra -Werror "$source/tests/package/program.cc" -o "$work/cxx" \
    $(pkg-config --cflags --libs lightnet)
"$work/cxx"
# shellcheck disable=SC2046
g++ -std=c++20 -Wall -Wextra -Werror "$source/tests/cxx/hpp_test.cc" -o "$work/hpp" \
    $(pkg-config --cflags --libs lightnet) -lpthread
"$work/hpp" >/dev/null
# shellcheck disable=SC2046
gcc -std=c99 -Wall -Wextra -Werror "$source/tests/package/cvm.c" -o "$work/cvm" \
    $(pkg-config --cflags --libs lightnet-cvm)
"$work/cvm"
# shellcheck disable=SC2046
g++ -std=c++11 -Wall -Wextra -Werror -x c++ "$source/tests/package/cvm.c" -o "$work/cvm_cxx" \
    $(pkg-config --cflags --libs lightnet-cvm)
"$work/cvm_cxx"
# README's first program, from what is installed alone.
examples=$(pkg-config --variable=examples lightnet)
# shellcheck disable=SC2046
gcc -std=c11 -Wall -Wextra -Werror "$examples/hello.c" -o "$work/hello" $(pkg-config --cflags --libs lightnet)
(cd / && "$work/hello" "$examples") | grep -q '^This is a 3 '
for name in classify detect serve; do
    # shellcheck disable=SC2046
    gcc -std=c11 -Wall -Wextra -Werror "$examples/$name.c" -o "$work/$name" \
        $(pkg-config --cflags --libs lightnet) -lpthread
done
(cd "$examples" && "$work/classify" digits.net three.pgm '' digits.safetensors) | head -n 1 | grep -q ' class 3$'
# shellcheck disable=SC2046
g++ -std=c++20 -Wall -Wextra -Werror "$examples/digits.cc" -o "$work/digits" $(pkg-config --cflags --libs lightnet)
"$work/digits" "$examples" | grep -q '^This is a 3 '
"$prefix/bin/lightnet" gen-op -o "$work/first_above_op.c" "$examples/first_above.op"
# shellcheck disable=SC2046
gcc -std=c11 -Wall -Wextra -Werror "$examples/first_above.c" "$work/first_above_op.c" -o "$work/first_above" \
    $(pkg-config --cflags --libs lightnet)
[ "$("$work/first_above")" = "1 -1" ]
! "$work/hello" "$work/nowhere" 2>/dev/null || { echo "hello does not tell that it failed"; exit 1; }
"$prefix/bin/lightnet" run "$examples/digits.net" -f "$examples/digits.safetensors" -i "$examples/three.pgm" \
    --scale=0.0039 --top 1 2>/dev/null | grep -qE '^ +1\. .* 3$'

cmake -S "$source/tests/package" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$work/cmake" >/dev/null
"$work/cmake/program"
"$work/cmake/cvm"

# As part of another project: the same names, and neither tests nor command unless they are asked for.
cmake -S "$source/tests/package/subproject" -B "$work/subproject" -G Ninja -DLIGHTNET="$source" \
    -DCMAKE_BUILD_TYPE=Debug >/dev/null
cmake --build "$work/subproject" >/dev/null
"$work/subproject/program"
"$work/subproject/program_static"
"$work/subproject/cvm"
! cmake --build "$work/subproject" --target help | grep -qE '(^|/)(test_|lightnet: )' ||
    { echo "a subproject builds tests or the command"; exit 1; }

"$prefix/bin/lightnet" --version >/dev/null
readelf -d "$libdir/liblightnet.so" | grep -q 'SONAME.*liblightnet\.so\.0'
readelf -d "$libdir/liblightnet-cvm.so" | grep -q 'SONAME.*liblightnet-cvm\.so\.0'
for page in lightnet il2json; do
    test -f "$prefix/share/man/man1/$page.1"
done
# Pages that were installed link to files that were.
docs=$(pkg-config --variable=docs lightnet)
for page in "$docs"/*.md "$docs"/decisions/*.md "$examples"/*.md; do
    for link in $(grep -o ']([^)# ]*' "$page" | cut -c 3- | grep -v ':'); do
        test -e "$(dirname "$page")/$link" || { echo "$page links to $link, which is not installed"; exit 1; }
    done
done
grep -q '^static ln_status slab_alloc' "$docs/devices.md"
for file in bash-completion/completions/lightnet zsh/site-functions/_lightnet fish/vendor_completions.d/lightnet.fish; do
    test -s "$prefix/share/$file"
done
