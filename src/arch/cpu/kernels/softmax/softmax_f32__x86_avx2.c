// SPDX-License-Identifier: Apache-2.0
// Softmax f32 for AVX2 with FMA.

#include "arch/cpu/simd/f32__x86_avx2.h"

#include "arch/cpu/kernels/softmax/softmax_f32_body.h"

void ln_k_softmax_f32__x86_avx2(size_t n, size_t inner, const float *x, float *y)
{
    softmax_f32(n, inner, x, y);
}
