// SPDX-License-Identifier: Apache-2.0
// Images of few channels for any processor: tiles of 4 x 16.

#include "arch/cpu/simd/f32__generic.h"

#include "arch/cpu/kernels/few_inputs/few_inputs_f32_body.h"

void ln_k_few_inputs_f32__generic(const ln_few_inputs_f32_row *r)
{
    for (size_t panel = 0; panel * FEW_LANES < r->channels; panel++)
        few_panels(r, panel, 4, 1, r->distance);
}
