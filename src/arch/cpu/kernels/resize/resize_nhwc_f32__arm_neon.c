// SPDX-License-Identifier: Apache-2.0
// Channels-last resizing f32 for NEON.

#include "arch/cpu/simd/f32__arm_neon.h"

#include "arch/cpu/kernels/resize/resize_nhwc_f32_body.h"

void ln_k_resize_nhwc_f32__arm_neon(const ln_resize_nhwc_f32_args *args, size_t row, size_t row_end)
{
    if (args->row_weights)
        resize_nhwc_linear(args, row, row_end);
    else
        resize_nhwc_nearest(args, row, row_end);
}
