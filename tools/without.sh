#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# without.sh LEAF [BUILD]: builds the library and the command without one leaf folder, such as
# arch/cpu, and starts it. A build folder of another leaf may be given, to make only what differs.
set -eu
cd "$(dirname "$0")/.."
work=${2:-}
if [ -z "$work" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
cmake -S . -B "$work" -G Ninja -DLN_WITHOUT="$1" -DLN_TESTS=OFF -DLN_WERROR=ON \
    -DCMAKE_BUILD_TYPE=Debug
cmake --build "$work" -j "$(nproc)"
"$work/lightnet" archs
