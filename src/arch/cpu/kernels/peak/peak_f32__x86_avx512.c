// SPDX-License-Identifier: Apache-2.0
// The loop of multiply-adds for AVX-512.

#include "arch/cpu/simd/f32__x86_avx512.h"

#include "arch/cpu/kernels/peak/peak_f32_body.h"

float ln_k_peak_f32__x86_avx512(size_t steps)
{
    return peak_f32(steps);
}
