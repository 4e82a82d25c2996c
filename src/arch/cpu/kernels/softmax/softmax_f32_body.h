// SPDX-License-Identifier: Apache-2.0
// Softmax in vector verbs: along the vector when the axis is contiguous, across it when not. Both
// keep the sixteen lanes of the sum that softmax.h promises.

#ifndef LN_ARCH_CPU_KERNELS_SOFTMAX_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_SOFTMAX_F32_BODY_H

#include <assert.h>
#include <stddef.h>

#include "arch/cpu/kernels/lanes.h"
#include "arch/cpu/kernels/mathf.h"
#include "arch/cpu/kernels/softmax/softmax.h"
#include "arch/cpu/simd/unroll.h"

#define SOFTMAX_VECTORS (LN_SOFTMAX_LANES / VF_LANES)
#define SOFTMAX_RUN     (LN_SOFTMAX_LANES * LN_LANE_RUN)

// New elements come first in vf_max_nan, so that looking for NaN does not lengthen the chain.
VF_VERB vf softmax_row_max(size_t n, const float *x)
{
    const vf least = vf_set1(-__builtin_inff());
    vf max = least;
    size_t i = 0;
    for (; i + VF_LANES <= n; i += VF_LANES)
        max = vf_max_nan(vf_load(x + i), max);
    if (i < n)
        max = vf_max_nan(vf_first_n(vf_load_n(x + i, n - i), least, n - i), max);
    return vf_max_lanes(max);
}

// One run of a row.
VF_VERB void softmax_row_run(size_t n, const float *x, float *y, vf max, vf *sum)
{
    vf_clear(sum, SOFTMAX_VECTORS);
    size_t i = 0;
    for (; i + LN_SOFTMAX_LANES <= n; i += LN_SOFTMAX_LANES) {
        LN_UNROLL
        for (size_t j = 0; j < SOFTMAX_VECTORS; j++) {
            vf e = vf_exp_diff(vf_load(x + i + j * VF_LANES), max);
            vf_store(y + i + j * VF_LANES, e);
            sum[j] = vf_add(sum[j], e);
        }
    }
    for (size_t j = 0; i < n; j++, i += VF_LANES) {
        size_t lanes = n - i < VF_LANES ? n - i : VF_LANES;
        vf e = vf_exp_diff(vf_load_n(x + i, lanes), max);
        vf_store_n(y + i, e, lanes);
        sum[j] = vf_add(sum[j], vf_first_n(e, vf_set1(0.0f), lanes)); // + 0: no change
    }
}

// The axis is contiguous: n neighbours.
VF_VERB void softmax_row(size_t n, const float *x, float *y)
{
    vf max = softmax_row_max(n, x);
    vf sum[SOFTMAX_VECTORS], all[SOFTMAX_VECTORS];
    vf_clear(all, SOFTMAX_VECTORS);
    size_t i = 0;
    for (; n - i > SOFTMAX_RUN; i += SOFTMAX_RUN) {
        softmax_row_run(SOFTMAX_RUN, x + i, y + i, max, sum);
        vf_add_each(all, sum, SOFTMAX_VECTORS);
    }
    softmax_row_run(n - i, x + i, y + i, max, sum);
    if (i > 0)
        vf_add_each(sum, all, SOFTMAX_VECTORS);

    vf total = vf_sum_lanes(sum, LN_SOFTMAX_LANES);
    for (i = 0; i + VF_LANES <= n; i += VF_LANES)
        vf_store(y + i, vf_div(vf_load(y + i), total));
    if (i < n)
        vf_store_n(y + i, vf_div(vf_load_n(y + i, n - i), total), n - i);
}

// One run of columns.
VF_VERB void softmax_columns_run(size_t n, size_t inner, const float *x, float *y, size_t lanes,
                                 vf max, vf *sum)
{
    vf_clear(sum, LN_SOFTMAX_LANES);
    for (size_t i = 0; i < n; i++) {
        vf e = vf_exp_diff(vf_load_n(x + i * inner, lanes), max);
        vf_store_n(y + i * inner, e, lanes);
        sum[i % LN_SOFTMAX_LANES] = vf_add(sum[i % LN_SOFTMAX_LANES], e);
    }
}

// The axis has the stride `inner`; `lanes` neighbouring rows at once.
VF_VERB void softmax_columns(size_t n, size_t inner, const float *x, float *y, size_t lanes)
{
    vf max = vf_load_n(x, lanes);
    for (size_t i = 1; i < n; i++)
        max = vf_max_nan(vf_load_n(x + i * inner, lanes), max);

    vf sum[LN_SOFTMAX_LANES], all[LN_SOFTMAX_LANES];
    size_t first = 0;
    for (; n - first > SOFTMAX_RUN; first += SOFTMAX_RUN) {
        softmax_columns_run(SOFTMAX_RUN, inner, x + first * inner, y + first * inner, lanes, max,
                            sum);
        if (first == 0)
            vf_clear(all, LN_SOFTMAX_LANES);
        vf_add_each(all, sum, LN_SOFTMAX_LANES);
    }
    softmax_columns_run(n - first, inner, x + first * inner, y + first * inner, lanes, max, sum);
    if (first > 0)
        vf_add_each(sum, all, LN_SOFTMAX_LANES);
    for (size_t width = LN_SOFTMAX_LANES / 2; width > 0; width /= 2) {
        for (size_t j = 0; j < width; j++)
            sum[j] = vf_add(sum[j], sum[j + width]);
    }

    for (size_t i = 0; i < n; i++) {
        vf e = vf_load_n(y + i * inner, lanes);
        vf_store_n(y + i * inner, vf_div(e, sum[0]), lanes);
    }
}

void VF_KERNEL(ln_k_softmax_f32)(size_t n, size_t inner, const float *x, float *y)
{
    assert(n >= 1 && inner >= 1);

    if (inner == 1) {
        softmax_row(n, x, y);
        return;
    }
    for (size_t col = 0; col < inner; col += VF_LANES) {
        size_t lanes = inner - col < VF_LANES ? inner - col : VF_LANES;
        softmax_columns(n, inner, x + col, y + col, lanes);
    }
}

#endif
