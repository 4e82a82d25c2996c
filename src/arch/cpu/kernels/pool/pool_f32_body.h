// SPDX-License-Identifier: Apache-2.0
// The two steps of pooling, written once in vector verbs. A kernel file includes the verbs of its
// instruction set, then this.

#ifndef LN_ARCH_CPU_KERNELS_POOL_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_POOL_F32_BODY_H

#include <assert.h>
#include <stddef.h>

#include "arch/cpu/kernels/pool/pool.h"

VF_VERB vf pool_start(const ln_pool2d_kind kind)
{
    return vf_set1(kind == LN_POOL_MAX ? -__builtin_inff() : 0.0f);
}

VF_VERB vf pool_join(const ln_pool2d_kind kind, vf a, vf b)
{
    return kind == LN_POOL_MAX ? vf_max_nan(a, b) : vf_add(a, b);
}

// `kind` is a constant where these are inlined.
VF_VERB void pool_columns(const ln_pool2d_kind kind, size_t rows, size_t width, const float *x,
                          size_t stride, float *y)
{
    assert(rows >= 1);

    size_t col = 0;
    for (; col + VF_LANES <= width; col += VF_LANES) {
        vf v = pool_start(kind);
        for (size_t i = 0; i < rows; i++)
            v = pool_join(kind, v, vf_load(x + i * stride + col));
        vf_store(y + col, v);
    }
    if (col < width) {
        vf v = pool_start(kind);
        for (size_t i = 0; i < rows; i++)
            v = pool_join(kind, v, vf_load_n(x + i * stride + col, width - col));
        vf_store_n(y + col, v, width - col);
    }
}

VF_VERB void pool_rows(const ln_pool2d_kind kind, const ln_pool_rows_f32_args *args)
{
    for (size_t i = 0; i < args->count; i += VF_LANES) {
        size_t lanes = args->count - i < VF_LANES ? args->count - i : VF_LANES;
        const float *x = args->x + i * args->step;
        vf v = pool_start(kind);
        for (size_t j = 0; j < args->kernel; j++) {
            vf next = args->step == 1 ? vf_load_n(x + j, lanes)
                                      : vf_load_step_n(x + j, args->step, lanes);
            v = pool_join(kind, v, next);
        }
        if (kind == LN_POOL_AVERAGE) {
            vf count = vf_mul(vf_load_n(args->count_x + i, lanes), vf_set1(args->count_y));
            v = vf_div(v, count);
        }
        vf_store_n(args->y + i, v, lanes);
    }
}

static void pool_columns_f32(ln_pool2d_kind kind, size_t rows, size_t width, const float *x,
                             size_t stride, float *y)
{
    if (kind == LN_POOL_MAX)
        pool_columns(LN_POOL_MAX, rows, width, x, stride, y);
    else
        pool_columns(LN_POOL_AVERAGE, rows, width, x, stride, y);
}

static void pool_rows_f32(const ln_pool_rows_f32_args *args)
{
    if (args->kind == LN_POOL_MAX)
        pool_rows(LN_POOL_MAX, args);
    else
        pool_rows(LN_POOL_AVERAGE, args);
}

const ln_pool_f32_kernels VF_KERNEL(ln_k_pool_f32) = {
    .columns = pool_columns_f32,
    .rows = pool_rows_f32,
};

#endif
