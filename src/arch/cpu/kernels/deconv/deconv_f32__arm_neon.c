// SPDX-License-Identifier: Apache-2.0
// Transposed convolution f32 for NEON.

#include "arch/cpu/simd/f32__arm_neon.h"

#include "arch/cpu/kernels/deconv/deconv_f32_body.h"

void ln_k_deconv2d_pixel_f32__arm_neon(const ln_deconv2d_pixel_f32_args *args)
{
    deconv2d_pixel_f32(args);
}
