#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tools/deps.sh on other systems and without rights: it says what is needed, and installs nothing.
# tools/quiet.sh: one line where all is well, the reason where it is not.
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
    echo "FAILED: $1"
    cat "$work/out"
    failures=$((failures + 1))
}

# A folder of programs: those that scripts need, and fakes.
use() {
    mkdir -p "$work/$1"
    for program in sh cat dirname grep; do
        ln -sf "$(command -v $program)" "$work/$1/$program"
    done
}
fake() {
    printf '#!/bin/sh\n%s\n' "$3" >"$work/$1/$2"
    chmod +x "$work/$1/$2"
}
run() {
    PATH="$work/$1" sh "$here/tools/deps.sh" "$2" ${3:+"$3"} >"$work/out" 2>&1 </dev/null
}

use other
run other build && fail "without programs and without apt it is no success"
for words in "a C11 compiler" "CMake 3.25" Ninja libjpeg "Not found: cmake ninja cc"; do
    grep -qF "$words" "$work/out" || fail "it names $words"
done
grep -q NumPy "$work/out" && fail "a build needs no NumPy"
run other test
grep -q NumPy "$work/out" || fail "the tests need NumPy"
for program in cmake ninja cc; do fake other $program ""; done
run other build || fail "with programs and without apt it lets the build go on"

use user
fake user apt-get 'echo INSTALLED'
fake user sudo 'echo SUDO "$@"'
fake user id 'echo 1000'
fake user dpkg 'echo amd64'
fake user dpkg-query 'exit 1'
run user build && fail "what is missing is no success"
grep -q "run: sudo apt-get install --no-install-recommends gcc" "$work/out" || fail "it names the command"
grep -qE '^(INSTALLED|SUDO)' "$work/out" && fail "it runs nothing as another user unasked"
fake user dpkg-query 'case $3 in "\${Architecture}"*) echo "amd64 install ok installed" ;; *) printf "install ok installed" ;; esac'
run user build || fail "nothing is missing"
[ ! -s "$work/out" ] || fail "it is silent then"
fake user dpkg-query 'case $3 in
"\${Architecture}"*) printf "%s install ok installed\n" amd64 arm64 ;;
*) printf "install ok installedinstall ok installed" ;;
esac'
run user build || fail "packages of two architectures are installed"
fake user dpkg-query 'echo "arm64 install ok installed"'
run user build && fail "a package of another architecture alone is none of this one"
grep -q " libjpeg-dev" "$work/out" || fail "it names what this architecture lacks"
grep -q " pkg-config" "$work/out" || fail "pkg-config is needed to build a program with the library"

"$here/tools/quiet.sh" Trying "$work/log" sh -c 'echo one; echo two' >"$work/out" 2>&1 || fail "a success"
[ "$(wc -l <"$work/out")" = 1 ] && grep -q '^Trying ... done' "$work/out" || fail "a success is one line"
"$here/tools/quiet.sh" Trying "$work/log" sh -c 'echo one; echo "error: two"; exit 3' >"$work/out" 2>&1
[ $? = 3 ] || fail "the exit status is that of the command"
grep -q "error: two" "$work/out" || fail "a failure shows why"
[ "$failures" = 0 ]
