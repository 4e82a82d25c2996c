// SPDX-License-Identifier: Apache-2.0
// Images of few channels with AVX2: 12 of 16 registers for sums.

#include "arch/cpu/simd/f32__x86_avx2.h"

#include "arch/cpu/kernels/few_inputs/few_inputs_f32_body.h"

void ln_k_few_inputs_f32__x86_avx2(const ln_few_inputs_f32_row *r)
{
    for (size_t panel = 0; panel * FEW_LANES < r->channels; panel++)
        few_panels(r, panel, 6, 1, r->distance);
}
