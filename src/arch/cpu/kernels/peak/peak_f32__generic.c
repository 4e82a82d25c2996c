// SPDX-License-Identifier: Apache-2.0
// The loop of multiply-adds for any processor.

#include "arch/cpu/simd/f32__generic.h"

#ifndef vf_fma_inline
#define vf_fma vf_fma_inline
#endif

#include "arch/cpu/kernels/peak/peak_f32_body.h"

float ln_k_peak_f32__generic(size_t steps)
{
    return peak_f32(steps);
}
