// SPDX-License-Identifier: Apache-2.0
// Group normalization and PReLU, f32, for any processor.

#include "arch/cpu/simd/f32__generic.h"

#include "arch/cpu/kernels/groupnorm/groupnorm_f32_body.h"

void ln_k_moments_f32__generic(size_t rows, size_t channels, const float *x, float *mean,
                               float *squares)
{
    moments_f32(rows, channels, x, mean, squares);
}

void ln_k_prelu_f32__generic(size_t rows, size_t channels, const float *x, const float *slope,
                             float *y)
{
    prelu_f32(rows, channels, x, slope, y);
}
