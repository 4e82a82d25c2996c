// SPDX-License-Identifier: Apache-2.0
// Joining tensors on one axis.

#include "arch/ref/kernels.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

// `dst` is as long on `axis` as the sources together, and like each of them elsewhere.
static ln_status check(tl_tensor *const *srcs, int count, tl_tensor *dst, int axis)
{
    LN_TRY(ln_ref_expect_any(dst, "dst"));
    if (!srcs || count < 1)
        return LN_FAIL(LN_INVALID, "%d tensors to join, at least 1 is needed", count);
    if (axis < 0 || axis >= dst->ndim)
        return LN_FAIL(LN_INVALID, "axis %d is outside rank %d", axis, dst->ndim);
    int64_t joined = 0;
    for (int i = 0; i < count; i++) {
        LN_TRY(ln_ref_expect_any(srcs[i], "a tensor to join"));
        if (srcs[i]->ndim != dst->ndim)
            return LN_FAIL(LN_INVALID, "tensors of rank %d and %d cannot be joined", srcs[i]->ndim,
                           dst->ndim);
        int dims[TL_MAXDIM];
        memcpy(dims, dst->dims, (size_t)dst->ndim * sizeof *dims);
        dims[axis] = srcs[i]->dims[axis];
        LN_TRY(ln_ref_expect(srcs[i], "a tensor to join", dst->dtype, dst->ndim, dims));
        joined += dims[axis];
    }
    if (joined != dst->dims[axis])
        return LN_FAIL(LN_INVALID, "dst has %d elements on axis %d, the tensors to join have %lld",
                       dst->dims[axis], axis, (long long)joined);
    return LN_OK;
}

ln_status ln_ref_concat(tl_tensor *const *srcs, int count, tl_tensor *dst, int axis)
{
    LN_TRY(check(srcs, count, dst, axis));
    if (dst->len == 0)
        return LN_OK;
    size_t outer = 1;
    for (int d = 0; d < axis; d++)
        outer *= (size_t)dst->dims[d];
    char *to = dst->data;
    for (size_t o = 0; o < outer; o++) {
        for (int i = 0; i < count; i++) {
            size_t byte_count = tl_tensor_size(srcs[i]) / outer;
            const char *from = srcs[i]->data;
            if (byte_count > 0 && from + o * byte_count != to)
                memcpy(to, from + o * byte_count, byte_count);
            to += byte_count;
        }
    }
    return LN_OK;
}
