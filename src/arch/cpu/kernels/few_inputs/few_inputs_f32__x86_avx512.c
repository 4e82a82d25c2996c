// SPDX-License-Identifier: Apache-2.0
// Images of few channels with AVX-512: 28 of 32 registers for sums. Of one panel, a sum takes a
// float of the image from memory; with a constant distance its address is one of few registers.

#include "arch/cpu/simd/f32__x86_avx512.h"

#include "arch/cpu/kernels/few_inputs/few_inputs_f32_body.h"

VF_VERB void few_row(const ln_few_inputs_f32_row *r, const size_t distance)
{
    size_t panel = 0, panels = (r->channels + FEW_LANES - 1) / FEW_LANES;
    for (; panel + 2 <= panels; panel += 2)
        few_panels(r, panel, 14, 2, distance);
    if (panel < panels)
        few_panels(r, panel, 28, 1, distance);
}

static __attribute__((noinline)) void few_row_3(const ln_few_inputs_f32_row *r)
{
    few_row(r, 3);
}

static __attribute__((noinline)) void few_row_6(const ln_few_inputs_f32_row *r)
{
    few_row(r, 6);
}

static __attribute__((noinline)) void few_rare(const ln_few_inputs_f32_row *r)
{
    for (size_t panel = 0; panel * FEW_LANES < r->channels; panel++)
        few_panels(r, panel, 12, 1, r->distance);
}

void ln_k_few_inputs_f32__x86_avx512(const ln_few_inputs_f32_row *r)
{
    switch (r->distance) {
    case 3: few_row_3(r); break;
    case 6: few_row_6(r); break;
    default: few_rare(r);
    }
}
