// SPDX-License-Identifier: Apache-2.0
// ONNX's operators that work along axes, on arch `ref`.
//
// Floating types are summed in double, integers modulo 2^64. What is reduced may be nothing: sums
// are then 0, products 1, the largest is the least value of the type, and a mean NaN.

#ifndef LN_ARCH_REF_ONNX_REDUCE_H
#define LN_ARCH_REF_ONNX_REDUCE_H

#include <lightnet/call.h>

#include "op/onnx/reduce.h"

// The number whose exp all of exp(x - number) can be formed with: the largest, 0 if that is
// infinite.
static inline double ln_exp_shift(double largest)
{
    return largest - largest == 0 ? largest : 0;
}

#endif
