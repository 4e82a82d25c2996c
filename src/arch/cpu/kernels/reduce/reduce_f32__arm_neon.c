// SPDX-License-Identifier: Apache-2.0
// Reductions f32 for NEON.

#include "arch/cpu/simd/f32__arm_neon.h"

#include "arch/cpu/kernels/reduce/reduce_f32_body.h"

void ln_k_reduce_rows_f32__arm_neon(ln_reduce op, size_t count, size_t n, const float *x, float *y)
{
    reduce_rows_f32(op, count, n, x, y);
}

void ln_k_reduce_columns_f32__arm_neon(ln_reduce op, size_t count, size_t n, size_t inner,
                                       const float *x, float *y)
{
    reduce_columns_f32(op, count, n, inner, x, y);
}
