// SPDX-License-Identifier: Apache-2.0
// Stacking tensors on a new first axis, and taking such a stack apart.

#include "arch/ref/kernels.h"

#include <string.h>

// `stack` is `count` >= 1 times the shape and dtype of each part.
static ln_status check(const tl_tensor *stack, const char *what, tl_tensor *const *parts, int count)
{
    LN_TRY(ln_ref_expect_any(stack, what));
    if (!parts || count < 1 || stack->ndim < 1 || stack->dims[0] != count)
        return LN_FAIL(LN_INVALID, "%s of rank %d is no stack of %d tensors", what, stack->ndim,
                       count);
    for (int i = 0; i < count; i++)
        LN_TRY(ln_ref_expect(parts[i], "a part of the stack", stack->dtype, stack->ndim - 1,
                             stack->dims + 1));
    return LN_OK;
}

ln_status ln_ref_gather(tl_tensor *const *srcs, int count, tl_tensor *dst)
{
    LN_TRY(check(dst, "dst", srcs, count));
    size_t byte_count = tl_tensor_size(srcs[0]);
    char *to = dst->data;
    for (int i = 0; i < count && byte_count > 0; i++, to += byte_count) {
        if (srcs[i]->data != to)
            memcpy(to, srcs[i]->data, byte_count);
    }
    return LN_OK;
}

ln_status ln_ref_scatter(const tl_tensor *src, tl_tensor *const *dsts, int count)
{
    LN_TRY(check(src, "src", dsts, count));
    size_t byte_count = tl_tensor_size(dsts[0]);
    const char *from = src->data;
    for (int i = 0; i < count && byte_count > 0; i++, from += byte_count) {
        if (dsts[i]->data != from)
            memcpy(dsts[i]->data, from, byte_count);
    }
    return LN_OK;
}
