// SPDX-License-Identifier: Apache-2.0
// Pooling f32 for NEON.

#include "arch/cpu/simd/f32__arm_neon.h"

#include "arch/cpu/kernels/pool/pool_f32_body.h"

void ln_k_pool_columns_f32__arm_neon(ln_pool2d_kind kind, size_t rows, size_t width, const float *x,
                                     size_t stride, float *y)
{
    if (kind == LN_POOL_MAX)
        pool_columns_f32(LN_POOL_MAX, rows, width, x, stride, y);
    else
        pool_columns_f32(LN_POOL_AVERAGE, rows, width, x, stride, y);
}

void ln_k_pool_rows_f32__arm_neon(const ln_pool_rows_f32_args *args)
{
    if (args->kind == LN_POOL_MAX)
        pool_rows_f32(LN_POOL_MAX, args);
    else
        pool_rows_f32(LN_POOL_AVERAGE, args);
}
