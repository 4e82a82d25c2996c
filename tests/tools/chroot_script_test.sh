#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tools/chroot_test.sh with programs that only pretend: its status is that of the tests of the packages,
# and it leaves nothing, also where nothing is mounted at the end.
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tree/tools" "$work/tree/build-deb" "$work/tree/debian/tests" "$work/tree/tests/package" "$work/bin" "$work/tmp"
cp "$here/tools/chroot_test.sh" "$work/tree/tools/"
touch "$work/tree/build-deb/a_1_all.deb" "$work/tree/tests/package/x"
printf 'Tests: first\nDepends: a, b\n\nTests: second\nDepends: a\n' >"$work/tree/debian/tests/control"
pretend() { # NAME BODY
    printf '#!/bin/sh\n%s\n' "$2" >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}
# shellcheck disable=SC2016
pretend debootstrap 'for folder; do :; done; mkdir -p "$folder/proc"'
pretend mount 'exit 1'
pretend umount 'exit 32'
pretend id 'echo 0'
# shellcheck disable=SC2016
pretend chroot 'for command; do :; done; case $command in *"$FAILS"*) exit 3 ;; *) echo "ran" ;; esac'
failures=0

ends() { # STATUS, where the test named FAILS fails
    FAILS=$2 TMPDIR=$work/tmp PATH=$work/bin:$PATH "$work/tree/tools/chroot_test.sh" >"$work/out" 2>&1
    status=$?
    [ "$status" = "$1" ] || { echo "FAILED: status $status, not $1, where '$2' fails"; cat "$work/out"; failures=1; }
    [ -z "$(ls "$work/tmp")" ] || { echo "FAILED: it left a folder where '$2' fails"; rm -rf "$work"/tmp/*; failures=1; }
}

ends 0 none
ends 1 tests/second
[ "$failures" = 0 ]
