// SPDX-License-Identifier: Apache-2.0
// Channels-last pooling f32 for NEON.

#include "arch/cpu/simd/f32__arm_neon.h"

#include "arch/cpu/kernels/pool/pool_nhwc_f32_body.h"

void ln_k_pool_nhwc_f32__arm_neon(const ln_pool_nhwc_f32_args *args, size_t row, size_t row_end,
                                  size_t channel, size_t channel_end)
{
    if (args->kind == LN_POOL_MAX)
        pool_nhwc_f32(LN_POOL_MAX, args, row, row_end, channel, channel_end);
    else
        pool_nhwc_f32(LN_POOL_AVERAGE, args, row, row_end, channel, channel_end);
}
