// SPDX-License-Identifier: Apache-2.0
// The loop of multiply-adds for AVX2.

#include "arch/cpu/simd/f32__x86_avx2.h"

#include "arch/cpu/kernels/peak/peak_f32_body.h"

float ln_k_peak_f32__x86_avx2(size_t steps)
{
    return peak_f32(steps);
}
