#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The module's own code with sanitizers of addresses and undefined behaviour, over the library as it
# was built: its tests, but for the one that measures memory.
# Usage: sanitized_test.sh BUILD-FOLDER. Exits with 77 where a part is missing.
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
[ -f "$build/python/lightnetrt/_core.abi3.so" ] || { echo "skipped: lightnetrt is not built (python3-dev)"; exit 77; }
asan=$(gcc -print-file-name=libasan.so)
[ -f "$asan" ] || { echo "skipped: there is no libasan of gcc"; exit 77; }
include=$(/usr/bin/python3 -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/python"
cp -r "$build/python/lightnetrt" "$work/python"
ln -s "$build/lightnet" "$work/lightnet"
gcc -g -O1 -std=c11 -D_POSIX_C_SOURCE=200809L -DPy_LIMITED_API=0x030B0000 -fPIC -shared -fvisibility=hidden \
    -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -Iinclude -I"$include" \
    python/*.c "$build/liblightnet.a" -lm -lpthread -Wl,--exclude-libs,ALL -o "$work/python/lightnetrt/_core.abi3.so"
# Python itself frees little at its end; growth is measured without sanitizers.
export PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
for test in lightnetrt onnxruntime; do
    LD_PRELOAD="$asan $(gcc -print-file-name=libubsan.so)" LN_SANITIZED=1 \
        /usr/bin/python3 "tests/python/${test}_test.py" "$work"
done
