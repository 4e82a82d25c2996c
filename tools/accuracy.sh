#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the page on accuracy, docs/accuracy.md or the file that is named: what the tests measure.
# The numbers are the same on every machine, as the bits are.
set -eu
cd "$(dirname "$0")/.."
export LC_ALL=C
page=${1:-docs/accuracy.md}

# table TEST [FILTER]: the table that a test of the build prints.
table() {
    test=$1
    shift
    "build/$test" "$@" 2>/dev/null | grep '^|'
}

{
    cat <<'END'
# Accuracy

Written by `tools/accuracy.sh` from what the tests print; `make check` compares.

## Operators

How far each operator of arch `cpu` is from `ref`, which sums in double and rounds once, on the same random numbers. Where an
operator sums, the numbers are positive, so that the distance is that of the arithmetic and not of a cancellation.
`most ulp` counts the floats between the two results where they are farthest apart, `equal` the share of results with the same
bits. `promised` is the `rtol` of the operator's description; the test `api.accuracy` fails where more than that is found.

END
    table tests/test_api_accuracy "cpu_keeps_*"
    cat <<'END'

## Winograd's algorithms

A 3x3 convolution by F(m,3) makes m x m outputs at once from transformed inputs and weights. Its error is at most

```text
f(m, C) max |x| sum |w|,   f(m, C) = a u (C + 15) / (1 - u (C + 15)),   u = 2^-24,   a = 16, 205, 1605 for m = 2, 4, 6
```

with the maximum over the inputs of a tile, the sum over the weights of an output channel, and C input channels. Below it is what
was found, on random numbers and on such as are bad for these algorithms: `largest error` relative to the largest output, `rms`
relative to the sum of |w x|, and the largest share of its bound that an error is. The test fails where an error is beyond its
bound, or beyond twice what `src/arch/cpu/kernels/winograd/winograd.h` states as the largest of 24 draws.

END
    table tests/test_cpu_kernels_winograd "errors_*"
} >"$page"
