// SPDX-License-Identifier: Apache-2.0
// Convolution with few output channels, f32, for AVX-512.

#include "arch/cpu/simd/f32__x86_avx512.h"

#include "arch/cpu/kernels/few_outputs/few_outputs_f32_body.h"

void ln_k_few_outputs_f32__x86_avx512(const ln_conv_nhwc_f32_args *args, size_t row, size_t first,
                                      size_t count, float *y, size_t y_stride)
{
    few_outputs_f32(args, row, first, count, y, y_stride);
}
