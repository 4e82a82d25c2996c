// SPDX-License-Identifier: Apache-2.0
// The loop of multiply-adds in vector verbs.

#ifndef LN_ARCH_CPU_KERNELS_PEAK_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_PEAK_F32_BODY_H

#include <stddef.h>

#include "arch/cpu/kernels/peak/peak.h"
#include "arch/cpu/simd/unroll.h"

// The sums go towards 1, so that none becomes denormal or infinite, however long it runs.
static float peak_f32(size_t steps)
{
    const vf factor = vf_set1(0.5f), term = vf_set1(0.5f);
    vf sums[LN_PEAK_CHAINS];
    LN_UNROLL
    for (size_t i = 0; i < LN_PEAK_CHAINS; i++)
        sums[i] = vf_set1((float)i);
    for (size_t step = 0; step < steps; step++) {
        LN_UNROLL
        for (size_t i = 0; i < LN_PEAK_CHAINS; i++)
            sums[i] = vf_fma_inline(sums[i], factor, term);
    }
    vf total = sums[0];
    LN_UNROLL
    for (size_t i = 1; i < LN_PEAK_CHAINS; i++)
        total = vf_add(total, sums[i]);
    float lanes[VF_LANES], result = 0;
    vf_store(lanes, total);
    for (size_t i = 0; i < VF_LANES; i++)
        result += lanes[i];
    return result;
}

const ln_peak_f32_kernel VF_KERNEL(ln_k_peak_f32) = {.lanes = VF_LANES, .run = peak_f32};

#endif
