// SPDX-License-Identifier: Apache-2.0
// The loop of multiply-adds for NEON.

#include "arch/cpu/simd/f32__arm_neon.h"

#include "arch/cpu/kernels/peak/peak_f32_body.h"

float ln_k_peak_f32__arm_neon(size_t steps)
{
    return peak_f32(steps);
}
