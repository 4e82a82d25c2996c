#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the Debian packages of the working tree in build-deb/, checks them with lintian, unpacks them
# into an empty folder, and runs their tests there.
#
# dpkg-buildpackage writes beside the source, so it works on a copy of what Git tracks, inside of
# build-deb/. What a shell without root can do is done here; autopkgtest runs the same tests on
# a machine where the packages are installed.
set -eu
cd "$(dirname "$0")/.."
source=$PWD

out=$source/build-deb
name=lightnet-$(dpkg-parsechangelog --show-field Version)
rm -rf "$out"
mkdir -p "$out/$name" "$out/root"
git ls-files -z | xargs -0 cp --parents -P --target-directory "$out/$name"

cd "$out/$name"
dpkg-buildpackage --build=binary --no-sign --jobs="$(nproc)" >"$out/build.log" 2>&1 ||
    { tail -n 40 "$out/build.log"; exit 1; }
cd "$out"
# Names of packages follow the libraries' sonames; lintian sees to it, as to the rest.
lintian --fail-on error,warning --allow-root --suppress-tags initial-upload-closes-no-bugs ./*.changes

for package in ./*.deb; do
    dpkg -x "$package" root
done
libdir=$(dirname "$(find root/usr -name 'liblightnet.so.*' | head -n 1)")
export LN_ROOT="$out/root" PATH="$out/root/usr/bin:$PATH"
export LD_LIBRARY_PATH="$out/$libdir" PKG_CONFIG_PATH="$out/$libdir/pkgconfig"
for test in $(sed -n 's/^Tests: //p' "$name/debian/tests/control"); do
    (cd "$name" && sh "debian/tests/$test") || { echo "the test '$test' of the packages failed"; exit 1; }
done
ls ./*.deb
