#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a command that says much: on a terminal its last line is shown in one place, elsewhere nothing,
# and all of it if it fails. V=1 shows everything.
# Usage: quiet.sh TITLE LOGFILE COMMAND...
set -u
title=$1
log=$2
shift 2
[ -z "${V:-}" ] || exec "$@"

mkdir -p "$(dirname "$log")"
start=$(date +%s)
printf '%s ...' "$title"
if [ -t 1 ]; then
    { "$@" 2>&1; echo $? >"$log.status"; } | tee "$log" | while IFS= read -r line; do
        printf '\r\033[K%s: %.60s' "$title" "$line"
    done
    printf '\r\033[K%s ...' "$title"
else
    "$@" >"$log" 2>&1
    echo $? >"$log.status"
fi
status=$(cat "$log.status")
rm -f "$log.status"
if [ "$status" != 0 ]; then
    printf ' failed (%s)\n' "$*"
    # A failing build names what failed; what came before is in the log.
    grep -A 30 -m 1 -E '^FAILED|[Ee]rror' "$log" || tail -n 30 "$log"
    echo "all of it: $log"
    exit "$status"
fi
printf ' done in %s s\n' "$(($(date +%s) - start))"
