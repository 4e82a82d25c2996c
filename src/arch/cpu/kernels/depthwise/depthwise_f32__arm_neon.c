// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution f32 for NEON.

#include "arch/cpu/simd/f32__arm_neon.h"

#define DEPTHWISE_HAS_PAIRS

#include "arch/cpu/kernels/depthwise/depthwise_f32_body.h"

void ln_k_depthwise_nhwc_f32__arm_neon(const ln_conv_nhwc_f32_args *args, size_t row,
                                       size_t row_end)
{
    depthwise_f32(args, row, row_end);
}
