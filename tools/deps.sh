#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that are missing: `deps.sh build` for the library, the command and
# the demo, `deps.sh test` for the tests too, `deps.sh aarch64` for those of another processor,
# which adds the architecture arm64 to dpkg. Does nothing, and asks nothing, when all are there;
# with --missing it only prints what is not.
set -eu

packages="gcc libc6-dev cmake ninja-build libjpeg-dev libpng-dev zlib1g-dev libwebp-dev libtiff-dev"
if [ "${1:-build}" = test ]; then
    packages="$packages binutils clang clang-format g++ libclang-rt-14-dev libcmocka-dev libonnx-testdata"
    packages="$packages locales pkg-config python3 python3-numpy"
fi
if [ "${1:-build}" = aarch64 ]; then
    packages="gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
    packages="$packages libcmocka-dev:arm64 libjpeg-dev:arm64 libpng-dev:arm64 zlib1g-dev:arm64"
fi

missing=""
for package in $packages; do
    status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
    [ "$status" = "install ok installed" ] || missing="$missing $package"
done
if [ "${2:-}" = --missing ]; then
    echo "$missing"
    exit 0
fi
[ -n "$missing" ] || exit 0

echo "installing:$missing"
as_root=""
[ "$(id -u)" = 0 ] || as_root=sudo
[ "${1:-build}" != aarch64 ] || $as_root dpkg --add-architecture arm64
$as_root apt-get update -qq
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
