// SPDX-License-Identifier: Apache-2.0
// Softmax f32 for NEON.

#include "arch/cpu/simd/f32__arm_neon.h"

#include "arch/cpu/kernels/softmax/softmax_f32_body.h"

void ln_k_softmax_f32__arm_neon(size_t n, size_t inner, const float *x, float *y)
{
    softmax_f32(n, inner, x, y);
}
