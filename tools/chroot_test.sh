#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the packages of build-deb/, which tools/deb.sh makes, in a Debian 12 that has nothing else, and
# runs the tests of the packages there: each with the packages that it names and no other.
# Exits with 77 where there is no debootstrap, no root, or no mirror.
set -eu
cd "$(dirname "$0")/.."
packages=$(ls build-deb/*.deb | grep -v dbgsym)
command -v debootstrap >/dev/null || { echo "skipped: there is no debootstrap"; exit 77; }
[ "$(id -u)" = 0 ] || { echo "skipped: only root makes a chroot"; exit 77; }
work=$(mktemp -d)
trap 'umount "$work"/*/proc 2>/dev/null || true; rm -rf --one-file-system "$work"' EXIT
debootstrap --variant=minbase bookworm "$work/bare" >"$work/log" 2>&1 ||
    { echo "skipped: debootstrap found no Debian: $(tail -n 1 "$work/log")"; exit 77; }
# shellcheck disable=SC2086
mkdir "$work/bare/packages" && cp $packages "$work/bare/packages"
mkdir "$work/bare/source" && cp -r --parents debian/tests tests/package "$work/bare/source"

# inside FOLDER COMMAND: in a Debian, with proc as programs expect it.
inside() {
    mount -t proc proc "$1/proc" 2>/dev/null || true
    status=0
    chroot "$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        sh -c "$2" >"$work/log" 2>&1 || status=$?
    umount "$1/proc" 2>/dev/null || true
    return $status
}

# A folder of packages that apt takes as a source.
inside "$work/bare" 'apt-get update -q && apt-get install -qy --no-install-recommends dpkg-dev &&
    cd /packages && dpkg-scanpackages . >Packages && apt-get purge -qy dpkg-dev && apt-get autoremove -qy &&
    echo "deb [trusted=yes] file:/packages ./" >/etc/apt/sources.list.d/packages.list && apt-get update -q' ||
    { tail -n 20 "$work/log"; exit 1; }

# Each paragraph of debian/tests/control is a line "TEST DEPENDS".
sed -n 's/^Tests: //p; s/^Depends: \(.*\)/\1/p' debian/tests/control | paste -d '|' - - | while IFS='|' read -r test depends; do
    rm -rf "$work/root" && cp -a "$work/bare" "$work/root"
    # shellcheck disable=SC2086
    inside "$work/root" "apt-get install -qy --no-install-recommends $(echo $depends | tr -d ',') &&
        cd /source && sh debian/tests/$test" ||
        { tail -n 20 "$work/log"; echo "the test '$test' failed in a Debian with nothing but: $depends"; exit 1; }
    tail -n 1 "$work/log"
done
