// SPDX-License-Identifier: Apache-2.0
// Arguments of the kernels of channels.

#include "arch/cpu/nhwc_norm.h"

#include <limits.h>

#include <lightnet/status.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/channels/channels.h"

int ln_cpu_groupnorm_nhwc_workspace(int *dims, const tl_tensor *src)
{
    size_t pixels = (size_t)src->dims[1] * (size_t)src->dims[2];
    size_t count = ln_groupnorm_f32_workspace((size_t)src->dims[0], pixels, (size_t)src->dims[3]) /
                   sizeof(float);
    if (count > INT_MAX) {
        ln_fail(LN_LIMIT, "a workspace of %zu floats is too large for a tensor", count);
        return -1;
    }
    dims[0] = (int)count;
    return 1;
}

void ln_cpu_groupnorm_nhwc(ln_pool *pool, const ln_cpu_groupnorm *norm)
{
    const tl_tensor *src = norm->src;
    ln_groupnorm_f32_args args = {
        .batch = (size_t)src->dims[0],
        .pixels = (size_t)src->dims[1] * (size_t)src->dims[2],
        .channels = (size_t)src->dims[3],
        .groups = (size_t)norm->groups,
        .x = src->data,
        .scale = norm->scale->data,
        .offset = norm->offset->data,
        .epsilon = norm->epsilon,
        .y = norm->dst->data,
        .act = {.act = norm->act, .alpha = norm->alpha, .beta = norm->beta},
    };
    ln_groupnorm_f32(ln_cpu_isa_get(), &args, pool, norm->workspace->data);
}

void ln_cpu_prelu_nhwc(ln_pool *pool, const tl_tensor *src, const tl_tensor *slope, tl_tensor *dst)
{
    if (src->len == 0)
        return;
    ln_prelu_f32_args args = {.rows = (size_t)src->len / (size_t)src->dims[3],
                              .channels = (size_t)src->dims[3],
                              .x = src->data,
                              .slope = slope->data,
                              .y = dst->data};
    ln_prelu_f32(ln_cpu_isa_get(), &args, pool);
}
