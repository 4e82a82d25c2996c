// SPDX-License-Identifier: Apache-2.0
// The loop of byte products in vector verbs.

#ifndef LN_ARCH_CPU_KERNELS_PEAK_I8_BODY_H
#define LN_ARCH_CPU_KERNELS_PEAK_I8_BODY_H

#include <stddef.h>

#include "arch/cpu/kernels/peak/peak.h"
#include "arch/cpu/simd/unroll.h"

static int32_t peak_i8(size_t steps)
{
    static const int8_t ones[4 * VF_LANES] = {1, 2, 3}, fours[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    const vi_fours a = vi_load_fours(fours);
    vi_sum sums[LN_PEAK_CHAINS];
    LN_UNROLL
    for (size_t i = 0; i < LN_PEAK_CHAINS; i++)
        sums[i] = vi_zero();
    for (size_t step = 0; step < steps; step++) {
        __asm__ volatile("" ::: "memory"); // or the products are made once, where they are steps
        const vi_bytes w = vi_load_bytes(ones);
        LN_UNROLL
        for (size_t i = 0; i < LN_PEAK_CHAINS; i++) {
            sums[i] = vi_dot(sums[i], a, w);
            __asm__ volatile("" ::: "memory");
        }
    }
    int32_t result = 0;
    for (size_t i = 0; i < LN_PEAK_CHAINS; i++) {
        int32_t lanes[VF_LANES];
        vi_store(lanes, sums[i]);
        result ^= lanes[0];
    }
    return result;
}

const ln_peak_i8_kernel VI_KERNEL(ln_k_peak_i8) = {.lanes = VF_LANES, .run = peak_i8};

#endif
