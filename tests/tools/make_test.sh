#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A user's build folder keeps its options: goals that need others use a folder of their own.
set -u
cd "$(dirname "$0")/../.." || exit 1
command -v make >/dev/null || { echo "skipped: there is no make"; exit 77; }
failures=0
for goal in bench wheel deb; do
    if make -n "$goal" | grep -E '(^|[ =])build(/| |$)|preset release -D'; then
        echo "FAILED: make $goal changes build/"
        failures=$((failures + 1))
    fi
    make -n "$goal" | grep -q . || failures=$((failures + 1)) # it says what it does
done
[ "$failures" = 0 ]
