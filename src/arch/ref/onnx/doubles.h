// SPDX-License-Identifier: Apache-2.0
// Tensors of any numeric type as arrays of double, for operators that read each element often.

#ifndef LN_ARCH_REF_ONNX_DOUBLES_H
#define LN_ARCH_REF_ONNX_DOUBLES_H

#include <lightnet/call.h>

#include "tensor/elem.h"

// Room for `count` doubles until `compute` returns; NULL with a recorded failure. Never NULL
// because `count` is 0.
static inline double *ln_ref_new_doubles(ln_call *call, size_t count)
{
    return ln_call_scratch(call, count ? count : 1, sizeof(double));
}

// The elements of `t`; NULL with a recorded failure.
static inline double *ln_ref_doubles(ln_call *call, const tl_tensor *t)
{
    size_t count = (size_t)t->len;
    double *doubles = ln_ref_new_doubles(call, count);
    if (!doubles)
        return NULL;
    for (size_t i = 0; i < count; i++)
        doubles[i] = ln_elem_real(t, i);
    return doubles;
}

// Sum of products of two rows.
static inline double ln_ref_dot(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

#endif
