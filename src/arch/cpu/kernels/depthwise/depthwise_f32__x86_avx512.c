// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution f32 for AVX-512.

#include "arch/cpu/simd/f32__x86_avx512.h"

#define DEPTHWISE_HAS_PAIRS

#include "arch/cpu/kernels/depthwise/depthwise_f32_body.h"

void ln_k_depthwise_nhwc_f32__x86_avx512(const ln_conv_nhwc_f32_args *args, size_t row,
                                         size_t row_end)
{
    depthwise_f32(args, row, row_end);
}
