#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every benchmark of the build. Compare programs in one run only; quote medians and ratios.
set -eu
cd "$(dirname "$0")/.."
for bench in build/bench/*_bench; do
    echo "== $(basename "$bench")"
    "$bench"
done
