#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Sees to what a build needs: `deps.sh build` for the library, the command and the demo, `deps.sh test`
# for the tests too, `deps.sh deb` for Debian packages, `deps.sh wheel` for a wheel, `deps.sh aarch64`
# for the tests of another processor, which adds the architecture arm64 to dpkg. Does nothing, and asks
# nothing, when all is there.
#
# As root on Debian and Ubuntu it installs the packages that are missing. As another user it asks
# first, or, where nobody can answer, prints the command. Without apt it prints what is needed.
# With --missing it only prints what is not there.
set -eu

what=${1:-build}
packages="gcc libc6-dev cmake ninja-build pkg-config libjpeg-dev libpng-dev zlib1g-dev libwebp-dev libtiff-dev"
if [ "$what" = test ]; then
    packages="$packages binutils ccache clang clang-format g++ libclang-rt-14-dev libcmocka-dev libonnx-testdata"
    packages="$packages locales python3 python3-dev python3-numpy python3-onnx"
fi
if [ "$what" = deb ]; then
    packages="$packages build-essential debhelper dh-python g++ lintian python3-dev"
fi
if [ "$what" = wheel ]; then
    packages="$packages binutils python3 python3-dev"
fi
if [ "$what" = aarch64 ]; then
    packages="gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
    packages="$packages libcmocka-dev:arm64 libjpeg-dev:arm64 libpng-dev:arm64 zlib1g-dev:arm64"
fi

# ---- Another system ----

print_needs() {
    cat <<'NEEDS'
There is no apt-get here, so nothing is installed. LightNet is built with
  a C11 compiler (gcc 10 or clang 11 and newer), CMake 3.25 or newer, Ninja, pkg-config, a POSIX shell
  libjpeg (or libjpeg-turbo), libpng and zlib, with their headers
  libwebp and libtiff 4.5, with their headers, if pictures of these kinds are to be read
NEEDS
    [ "$what" = build ] || cat <<'NEEDS'
and tested with
  g++, clang with its sanitizers and clang-format 14, binutils, cmocka
  Python 3 with NumPy, the test data of ONNX, locales
NEEDS
}

if ! command -v apt-get >/dev/null 2>&1; then
    [ "${2:-}" != --missing ] || { echo unknown; exit 0; }
    missing=""
    for program in cmake ninja; do
        command -v "$program" >/dev/null 2>&1 || missing="$missing $program"
    done
    command -v "${CC:-cc}" >/dev/null 2>&1 || missing="$missing ${CC:-cc}"
    [ -n "$missing" ] || exit 0
    print_needs
    echo "Not found:$missing"
    exit 1
fi

# ---- Debian and Ubuntu ----

# A line for each architecture that the package is installed for; `package:arm64` asks for one.
is_installed() {
    case $1 in
    *:*) wanted=${1##*:} ;;
    *) wanted="$native" ;;
    esac
    dpkg-query -W -f '${Architecture} ${Status}\n' "$1" 2>/dev/null |
        grep -Eqx "($wanted|all) install ok installed"
}

native=$(dpkg --print-architecture)
missing=""
for package in $packages; do
    is_installed "$package" || missing="$missing $package"
done
if [ "${2:-}" = --missing ]; then
    echo "$missing"
    exit 0
fi
[ -n "$missing" ] || exit 0

as_root=""
if [ "$(id -u)" != 0 ]; then
    as_root=sudo
    echo "These packages are missing:$missing"
    if [ ! -t 0 ] || [ ! -t 1 ]; then
        [ "$what" != aarch64 ] || echo "run: sudo dpkg --add-architecture arm64 && sudo apt-get update"
        echo "run: sudo apt-get install --no-install-recommends$missing"
        exit 1
    fi
    printf 'Install them with sudo apt-get? [y/N] '
    read -r answer
    case $answer in
    y | Y | yes) ;;
    *) exit 1 ;;
    esac
fi
echo "installing:$missing"
[ "$what" != aarch64 ] || $as_root dpkg --add-architecture arm64
$as_root apt-get update -qq
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
