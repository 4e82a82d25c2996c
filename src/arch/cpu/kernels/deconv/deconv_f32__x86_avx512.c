// SPDX-License-Identifier: Apache-2.0
// Transposed convolution f32 for AVX-512.

#include "arch/cpu/simd/f32__x86_avx512.h"

#include "arch/cpu/kernels/deconv/deconv_f32_body.h"

void ln_k_deconv2d_pixel_f32__x86_avx512(const ln_deconv2d_pixel_f32_args *args)
{
    deconv2d_pixel_f32(args);
}
