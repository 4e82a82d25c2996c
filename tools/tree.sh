#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Holds the top of the tree against the list of what belongs there, so that nothing gets in by
# accident, be it tracked yet or not. Silent when all is well; without git there is nothing to hold.
set -eu
cd "$(dirname "$0")/.."

belongs=".ci .clang-format .gitignore CHANGELOG.md CMakeLists.txt CMakePresets.json CONTRIBUTING.md
LICENSE Makefile README.md SECURITY.md STYLE.md bench cli cmake debian docs examples include models python src tests tools"

git rev-parse --git-dir >/dev/null 2>&1 || exit 0
status=0
for entry in $(git ls-files --cached --others --exclude-standard | cut -d/ -f1 | sort -u | tr ' ' '?'); do
    case " $(echo $belongs) " in
    *" $entry "*) ;;
    *)
        echo "$entry: not in the list of tools/tree.sh: remove it, or add it there"
        status=1
        ;;
    esac
done
exit $status
