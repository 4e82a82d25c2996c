// SPDX-License-Identifier: Apache-2.0
// Attention f32 for NEON.

#include "arch/cpu/simd/f32__arm_neon.h"

#include "arch/cpu/kernels/attention/attention_f32_body.h"

void ln_k_attention_pack_keys_f32__arm_neon(size_t keys, size_t size, const float *k, size_t stride,
                                            float scale, float *to)
{
    attention_pack_keys(keys, size, k, stride, scale, to);
}

void ln_k_attention_pack_values_f32__arm_neon(size_t keys, size_t size, const float *v,
                                              size_t stride, float *to)
{
    attention_pack_values(keys, size, v, stride, to);
}

void ln_k_attention_weigh_f32__arm_neon(const ln_attention_scores *scores)
{
    attention_weigh(scores);
}

void ln_k_attention_divide_f32__arm_neon(size_t rows, size_t size, const float *totals, float *y,
                                         size_t stride)
{
    attention_divide(rows, size, totals, y, stride);
}
