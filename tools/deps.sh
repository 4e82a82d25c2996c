#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that are missing: `deps.sh build` for the library, the command and
# the demo, `deps.sh test` for the tests too. Does nothing, and asks nothing, when all are there.
set -eu

packages="gcc libc6-dev cmake ninja-build libjpeg-dev libpng-dev zlib1g-dev libwebp-dev libtiff-dev"
if [ "${1:-build}" = test ]; then
    packages="$packages binutils clang clang-format g++ libclang-rt-14-dev libcmocka-dev libonnx-testdata"
    packages="$packages locales pkg-config python3 python3-numpy"
fi

missing=""
for package in $packages; do
    status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
    [ "$status" = "install ok installed" ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

echo "installing:$missing"
as_root=""
[ "$(id -u)" = 0 ] || as_root=sudo
$as_root apt-get update -qq
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
