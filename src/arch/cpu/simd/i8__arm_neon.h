// SPDX-License-Identifier: Apache-2.0
// The verbs of byte products for NEON. See i8__generic.h for what each means.
//
// Only products of two signed or two unsigned bytes are there, so bytes of A are taken less 128.

#ifndef LN_ARCH_CPU_SIMD_I8_ARM_NEON_H
#define LN_ARCH_CPU_SIMD_I8_ARM_NEON_H

#include <string.h>

#include "arch/cpu/simd/f32__arm_neon.h"

#define VI_KERNEL(name) name##__arm_neon

#define VI_ROWS   3
#define VI_PANELS 1

// Two columns in each, two sums for each column.
typedef struct vi_sum {
    int32x4_t first, second;
} vi_sum;

VF_VERB vi_sum vi_zero(void)
{
    return (vi_sum){vdupq_n_s32(0), vdupq_n_s32(0)};
}

VF_VERB vi_sum vi_dot(vi_sum sum, int8x16_t a, int8x16_t w)
{
    sum.first = vpadalq_s16(sum.first, vmull_s8(vget_low_s8(a), vget_low_s8(w)));
    sum.second = vpadalq_s16(sum.second, vmull_high_s8(a, w));
    return sum;
}

VF_VERB void vi_store(int32_t *p, vi_sum sum)
{
    vst1q_s32(p, vpaddq_s32(sum.first, sum.second));
}

#include "arch/cpu/simd/i8__arm_128.h"

#endif
