// SPDX-License-Identifier: Apache-2.0
// The verbs of byte products for NEON with dot products. See i8__generic.h for what each means.

#ifndef LN_ARCH_CPU_SIMD_I8_ARM_DOTPROD_H
#define LN_ARCH_CPU_SIMD_I8_ARM_DOTPROD_H

#include <string.h>

#include "arch/cpu/simd/f32__arm_neon.h"

#define VI_KERNEL(name) name##__arm_dotprod

#define VI_ROWS   5
#define VI_PANELS 1

typedef int32x4_t vi_sum;

VF_VERB vi_sum vi_zero(void)
{
    return vdupq_n_s32(0);
}

VF_VERB vi_sum vi_dot(vi_sum sum, int8x16_t a, int8x16_t w)
{
    return vdotq_s32(sum, a, w);
}

VF_VERB void vi_store(int32_t *p, vi_sum sum)
{
    vst1q_s32(p, sum);
}

#include "arch/cpu/simd/i8__arm_128.h"

#endif
