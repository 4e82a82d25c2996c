// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution f32 for any processor.

#include "arch/cpu/simd/f32__generic.h"

// None: the portable fused multiply-add is slow whatever surrounds it, and long.
#define DEPTHWISE_SIZES(X)

#include "arch/cpu/kernels/depthwise/depthwise_f32_body.h"

void ln_k_depthwise_nhwc_f32__generic(const ln_conv_nhwc_f32_args *args, size_t row, size_t row_end)
{
    depthwise_f32(args, row, row_end);
}
