// SPDX-License-Identifier: Apache-2.0
// Tensors of any numeric type as arrays of double, for operators that read each element often.

#ifndef LN_ARCH_REF_ONNX_DOUBLES_H
#define LN_ARCH_REF_ONNX_DOUBLES_H

#include <lightnet/call.h>

#include "base/deadline.h"
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
    if (ln_call_is_counting(call))
        return doubles;
    for (size_t i = 0; i < count && !ln_deadline_passed_at(i); i++)
        doubles[i] = ln_elem_real(t, i);
    return doubles;
}

// Sum of products of two rows, in four parts: one alone would wait for each addition.
static inline double ln_ref_sum_products(const double *a, const double *b, size_t count)
{
    double sums[4] = {0};
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        for (size_t k = 0; k < 4; k++)
            sums[k] += a[i + k] * b[i + k];
    }
    for (; i < count; i++)
        sums[0] += a[i] * b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

#endif
