// SPDX-License-Identifier: Apache-2.0
// Positions of extremes in vector verbs: a lane for each row, and positions as floats.

#ifndef LN_ARCH_CPU_KERNELS_ARG_MAX_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_ARG_MAX_F32_BODY_H

#include <stddef.h>

#include "arch/cpu/kernels/reduce/arg_max.h"
#include "base/minmax.h"

VF_VERB vf arg_max_load(const ln_arg_max_rows *r, size_t row, size_t k, size_t lanes)
{
    const float *x = r->x + row * r->row_step + k * r->step;
    return r->row_step == 1 ? vf_load_n(x, lanes) : vf_load_step_n(x, r->row_step, lanes);
}

// A row with NaN is done again by itself.
VF_VERB void arg_max_lanes(const ln_arg_max_rows *r, size_t row, size_t lanes, bool is_smallest)
{
    vf best = arg_max_load(r, row, 0, lanes), at = vf_set1(0.0f), nan = best;
    for (size_t k = 1; k < r->n; k++) {
        vf x = arg_max_load(r, row, k, lanes), here = vf_set1((float)k);
        nan = vf_max_nan(x, nan);
        at = is_smallest ? vf_if_ge(x, best, at, here) : vf_if_ge(best, x, at, here);
        best = is_smallest ? vf_if_ge(x, best, best, x) : vf_if_ge(best, x, best, x);
    }
    float positions[VF_LANES], nans[VF_LANES];
    vf_store(positions, at);
    vf_store(nans, nan);
    for (size_t i = 0; i < lanes; i++)
        r->positions[row + i] = nans[i] == nans[i] ? (int64_t)positions[i]
                                                   : ln_arg_max_row(r->x + (row + i) * r->row_step,
                                                                    r->n, r->step, is_smallest);
}

void VF_KERNEL(ln_k_arg_max_f32)(const ln_arg_max_rows *rows)
{
    for (size_t row = 0; row < rows->count; row += VF_LANES) {
        size_t lanes = ln_min(rows->count - row, VF_LANES);
        if (rows->is_smallest)
            arg_max_lanes(rows, row, lanes, true);
        else
            arg_max_lanes(rows, row, lanes, false);
    }
}

#endif
