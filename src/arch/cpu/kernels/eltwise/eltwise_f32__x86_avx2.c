// SPDX-License-Identifier: Apache-2.0
// Element-wise f32 for AVX2 with FMA.

#include "arch/cpu/simd/f32__x86_avx2.h"

#include "arch/cpu/kernels/eltwise/eltwise_f32_body.h"

void ln_k_act_f32__x86_avx2(const ln_act_f32_args *act, size_t n, const float *x, float *y)
{
    act_f32(act, n, x, y);
}

void ln_k_unary_f32__x86_avx2(ln_unary op, size_t n, const float *x, float *y)
{
    unary_f32(op, n, x, y);
}

void ln_k_power_f32__x86_avx2(size_t n, const ln_rows_f32 *x, const ln_rows_f32 *y, float *z)
{
    power_f32(n, x, y, z);
}

void ln_k_binary_f32__x86_avx2(ln_binary op, int is_relu, size_t rows, size_t n,
                               const ln_rows_f32 *x1, const ln_rows_f32 *x2, float *y, size_t y_row)
{
    binary_f32(op, is_relu, rows, n, x1, x2, y, y_row);
}

void ln_k_scale_shift_f32__x86_avx2(int is_relu, size_t rows, size_t n, const float *x,
                                    size_t x_row, const float *scale, const float *offset, float *y,
                                    size_t y_row)
{
    scale_shift_f32(is_relu, rows, n, x, x_row, scale, offset, y, y_row);
}

void ln_k_affine_f32__x86_avx2(size_t n, const float *x, float mean, float factor, float offset,
                               float *y)
{
    affine_f32(n, x, mean, factor, offset, y);
}
