// SPDX-License-Identifier: Apache-2.0
// Floating tensors as arrays of float or double, and results that are rounded once.
//
// Kernels are written for two element types: float, which holds every float16, bfloat16 and float8
// exactly, and double. Sums are doubles.

#ifndef LN_ARCH_REF_ONNX_REALS_H
#define LN_ARCH_REF_ONNX_REALS_H

#include <stdint.h>

#include <lightnet/call.h>

#include "arch/ref/element.h"

typedef struct ln_reals {
    const void *data; // NULL for no tensor
    tl_dtype dtype;   // TL_FLOAT or TL_DOUBLE
} ln_reals;

// The elements of `t`, which may be NULL: its own memory, or a copy that lives as long as the call.
// Integers become doubles.
ln_status ln_ref_reals(ln_call *call, const tl_tensor *t, ln_reals *out_reals);

// The same, but integers become int64_t, of a uint64_t its bits: `dtype` may also be TL_INT64.
ln_status ln_ref_numbers(ln_call *call, const tl_tensor *t, ln_reals *out_numbers);

// The same, but integers and bools stay what they are: `dtype` may be any native type.
ln_status ln_ref_elements(ln_call *call, const tl_tensor *t, ln_reals *out_elements);

LN_REF_INLINE double ln_reals_at(const void *data, int64_t i, tl_dtype dtype)
{
    return dtype == TL_DOUBLE ? ((const double *)data)[i] : (double)((const float *)data)[i];
}

// Calls `function(problem, DTYPE)` with the dtype of the reals as a constant.
#define LN_REF_FOR_REALS(dtype, function, problem)                                                 \
    do {                                                                                           \
        if ((dtype) == TL_DOUBLE)                                                                  \
            function(problem, TL_DOUBLE);                                                          \
        else                                                                                       \
            function(problem, TL_FLOAT);                                                           \
    } while (0)

// The same for numbers.
#define LN_REF_FOR_NUMBERS(dtype, function, problem)                                               \
    do {                                                                                           \
        if ((dtype) == TL_INT64)                                                                   \
            function(problem, TL_INT64);                                                           \
        else                                                                                       \
            LN_REF_FOR_REALS(dtype, function, problem);                                            \
    } while (0)

// Elements [at, at + count) of `dst`, each rounded once.
void ln_ref_store_reals(tl_tensor *dst, int64_t at, int64_t count, const double *values);

#endif
