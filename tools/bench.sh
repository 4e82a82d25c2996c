#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every benchmark of a build. Compare programs in one run only; quote medians and ratios.
# Usage: bench.sh [BUILD-FOLDER], build/ without it.
set -eu
cd "$(dirname "$0")/.."
for bench in "${1:-build}"/bench/*_bench; do
    [ -x "$bench" ] || { echo "no benchmarks in ${1:-build}/bench; make them with \`make bench\`" >&2; exit 1; }
    echo "== $(basename "$bench")"
    "$bench"
done
