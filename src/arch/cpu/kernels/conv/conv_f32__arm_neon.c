// SPDX-License-Identifier: Apache-2.0
// Convolution f32 for NEON.

#include "arch/cpu/simd/f32__arm_neon.h"

#include "arch/cpu/kernels/conv/conv_f32_body.h"

void ln_k_im2col_f32__arm_neon(const ln_im2col_run *run)
{
    im2col_f32(run);
}

void ln_k_depthwise_f32__arm_neon(const ln_depthwise_f32_args *args)
{
    depthwise_f32(args);
}

void ln_k_conv2d_pixel_f32__arm_neon(const ln_conv2d_pixel_f32_args *args)
{
    conv2d_pixel_f32(args);
}
