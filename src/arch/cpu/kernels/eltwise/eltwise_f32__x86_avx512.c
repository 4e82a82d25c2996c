// SPDX-License-Identifier: Apache-2.0
// Element-wise f32 for AVX-512.

#include "arch/cpu/simd/f32__x86_avx512.h"

#include "arch/cpu/kernels/eltwise/eltwise_f32_body.h"

void ln_k_unary_f32__x86_avx512(ln_unary op, size_t n, const float *x, float arg, float *y)
{
    unary_f32(op, n, x, arg, y);
}

void ln_k_binary_f32__x86_avx512(ln_binary op, size_t n, const float *x1, size_t x1_step,
                                 const float *x2, size_t x2_step, float *y)
{
    binary_f32(op, n, x1, x1_step, x2, x2_step, y);
}

void ln_k_affine_f32__x86_avx512(size_t n, const float *x, float mean, float factor, float offset,
                                 float *y)
{
    affine_f32(n, x, mean, factor, offset, y);
}
