// SPDX-License-Identifier: Apache-2.0
// Running sums in plain C: loops of a constant length are vectors.

#ifndef LN_ARCH_CPU_KERNELS_CUMSUM_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_CUMSUM_F32_BODY_H

#include <stddef.h>

#include "arch/cpu/kernels/reduce/cumsum.h"

#define CUMSUM_LANES 16

VF_VERB void cumsum_lanes(const float *x, float *y, double *sums, bool is_exclusive)
{
    double next[CUMSUM_LANES];
    const double *stored = is_exclusive ? sums : next;
    for (size_t i = 0; i < CUMSUM_LANES; i++)
        next[i] = sums[i] + (double)x[i];
    for (size_t i = 0; i < CUMSUM_LANES; i++)
        y[i] = (float)stored[i];
    for (size_t i = 0; i < CUMSUM_LANES; i++)
        sums[i] = next[i];
}

void VF_KERNEL(ln_k_cumsum_f32)(const ln_cumsum_columns *c)
{
    double sums[LN_CUMSUM_COLUMNS] = {0};
    const float *x = c->x;
    float *y = c->y;
    for (size_t k = 0; k < c->count; k++, x += c->step, y += c->step) {
        size_t i = 0;
        for (; i + CUMSUM_LANES <= c->width; i += CUMSUM_LANES)
            cumsum_lanes(x + i, y + i, sums + i, c->is_exclusive);
        for (; i < c->width; i++) {
            double next = sums[i] + (double)x[i];
            y[i] = (float)(c->is_exclusive ? sums[i] : next);
            sums[i] = next;
        }
    }
}

#endif
