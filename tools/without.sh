#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the library and the command without one leaf folder, such as arch/cpu, and starts it.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake -S . -B "$work" -G Ninja -DLN_WITHOUT="$1" -DLN_TESTS=OFF -DLN_WERROR=ON \
    -DCMAKE_BUILD_TYPE=Debug
cmake --build "$work" -j "$(nproc)"
"$work/lightnet" archs
