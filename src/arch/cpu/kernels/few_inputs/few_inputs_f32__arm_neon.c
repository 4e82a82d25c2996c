// SPDX-License-Identifier: Apache-2.0
// Images of few channels with NEON: 24 of 32 registers for sums.

#include "arch/cpu/simd/f32__arm_neon.h"

#include "arch/cpu/kernels/few_inputs/few_inputs_f32_body.h"

void ln_k_few_inputs_f32__arm_neon(const ln_few_inputs_f32_row *r)
{
    for (size_t panel = 0; panel * FEW_LANES < r->channels; panel++)
        few_panels(r, panel, 6, 1, r->distance);
}
