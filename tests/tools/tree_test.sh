#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tools/tree.sh in a repository of its own: it names what does not belong at the top, tracked or not.
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
command -v git >/dev/null || { echo "SKIP: no git"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tools" "$work/src"
cp "$here/tools/tree.sh" "$work/tools/"
cd "$work" || exit 1
failures=0

names() { # what it should say, and why
    said=$(tools/tree.sh | cut -d: -f1 | tr '\n' ' ')
    [ "$said" = "$1" ] || {
        echo "FAILED: $2: it named '$said', not '$1'"
        failures=$((failures + 1))
    }
}

git init -q .
echo '/build*/' >.gitignore
echo x >src/x.c
names "" "what is in the list"
mkdir build-a 'a folder'
echo x >build-a/x
names "" "what git ignores, and an empty folder, which git does not have"
mkdir stray
echo x >stray/x
names "stray " "a folder that is not tracked"
git add stray
names "stray " "a folder that is tracked"
tools/tree.sh >/dev/null && { echo "FAILED: it is no success"; failures=1; }
echo x >'a folder/x'
names "a folder stray " "a name with a space"
[ "$failures" = 0 ]
