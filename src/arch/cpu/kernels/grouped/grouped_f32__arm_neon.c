// SPDX-License-Identifier: Apache-2.0
// Convolution in groups of few channels, f32, for NEON.

#include "arch/cpu/simd/f32__arm_neon.h"

#include "arch/cpu/kernels/grouped/grouped_f32_body.h"

void ln_k_grouped_f32__arm_neon(const ln_conv_nhwc_f32_args *args, size_t row, size_t channel,
                                const float *weights)
{
    grouped_f32(args, row, channel, weights);
}
