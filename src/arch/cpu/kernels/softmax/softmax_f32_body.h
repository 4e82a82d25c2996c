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

// A power as the sum takes it. Where logarithms are wanted, the largest element, 1, is left out
// once for each that is equal to it: beside 1, small powers would be lost.
VF_VERB vf softmax_power(bool is_log, vf x, vf e, vf max)
{
    return is_log ? vf_if_equal(x, max, vf_sub(e, vf_set1(1.0f)), e) : e;
}

// How many elements are the largest one, but for the first.
VF_VERB vf softmax_equals(vf count, vf x, vf max)
{
    return vf_add(count, vf_if_equal(x, max, vf_set1(1.0f), vf_set1(0.0f)));
}

// The logarithm of 1 + rest.
VF_VERB vf softmax_log(vf rest)
{
    const vf one = vf_set1(1.0f);
    return vf_if_ge(rest, one, vf_log(vf_add(one, rest)), vf_log1p_unit(rest));
}

// The powers of one run of a row, and their sum; where logarithms are wanted, the sum alone.
VF_VERB void softmax_row_run(size_t n, bool is_log, const float *x, float *y, vf max, vf *sum)
{
    vf_clear(sum, SOFTMAX_VECTORS);
    size_t i = 0;
    for (; i + LN_SOFTMAX_LANES <= n; i += LN_SOFTMAX_LANES) {
        LN_UNROLL
        for (size_t j = 0; j < SOFTMAX_VECTORS; j++) {
            const vf at = vf_load(x + i + j * VF_LANES);
            vf e = vf_exp_diff(at, max);
            if (!is_log)
                vf_store(y + i + j * VF_LANES, e);
            sum[j] = vf_add(sum[j], softmax_power(is_log, at, e, max));
        }
    }
    for (size_t j = 0; i < n; j++, i += VF_LANES) {
        size_t lanes = n - i < VF_LANES ? n - i : VF_LANES;
        const vf at = vf_load_n(x + i, lanes);
        vf e = vf_exp_diff(at, max);
        if (!is_log)
            vf_store_n(y + i, e, lanes);
        sum[j] = vf_add(sum[j], vf_first_n(softmax_power(is_log, at, e, max), vf_set1(0.0f),
                                           lanes)); // + 0: no change
    }
}

VF_VERB vf softmax_row_equals(size_t n, const float *x, vf max)
{
    vf count[SOFTMAX_VECTORS];
    vf_clear(count, SOFTMAX_VECTORS);
    for (size_t i = 0; i < n; i += VF_LANES) {
        const size_t lanes = n - i < VF_LANES ? n - i : VF_LANES;
        const vf next = softmax_equals(count[0], vf_load_n(x + i, lanes), max);
        count[0] = vf_first_n(next, count[0], lanes);
    }
    return vf_sub(vf_sum_lanes(count, LN_SOFTMAX_LANES), vf_set1(1.0f));
}

// The result of a power; or of x where logarithms are wanted, and `total` is that of the sum.
VF_VERB vf softmax_last(bool is_log, vf from, vf max, vf total)
{
    return is_log ? vf_sub(vf_sub(from, max), total) : vf_div(from, total);
}

// The axis is contiguous: n neighbours.
VF_VERB void softmax_row(size_t n, bool is_log, const float *x, float *y)
{
    vf max = softmax_row_max(n, x);
    vf sum[SOFTMAX_VECTORS], all[SOFTMAX_VECTORS];
    vf_clear(all, SOFTMAX_VECTORS);
    size_t i = 0;
    for (; n - i > SOFTMAX_RUN; i += SOFTMAX_RUN) {
        softmax_row_run(SOFTMAX_RUN, is_log, x + i, y + i, max, sum);
        vf_add_each(all, sum, SOFTMAX_VECTORS);
    }
    softmax_row_run(n - i, is_log, x + i, y + i, max, sum);
    if (i > 0)
        vf_add_each(sum, all, SOFTMAX_VECTORS);

    vf total = vf_sum_lanes(sum, LN_SOFTMAX_LANES);
    if (is_log)
        total = softmax_log(vf_add(total, softmax_row_equals(n, x, max)));
    const float *from = is_log ? x : y;
    for (i = 0; i + VF_LANES <= n; i += VF_LANES)
        vf_store(y + i, softmax_last(is_log, vf_load(from + i), max, total));
    if (i < n)
        vf_store_n(y + i, softmax_last(is_log, vf_load_n(from + i, n - i), max, total), n - i);
}

// One run of columns.
VF_VERB void softmax_columns_run(size_t n, size_t inner, bool is_log, const float *x, float *y,
                                 size_t lanes, vf max, vf *sum)
{
    vf_clear(sum, LN_SOFTMAX_LANES);
    for (size_t i = 0; i < n; i++) {
        const vf at = vf_load_n(x + i * inner, lanes);
        vf e = vf_exp_diff(at, max);
        if (!is_log)
            vf_store_n(y + i * inner, e, lanes);
        e = softmax_power(is_log, at, e, max);
        sum[i % LN_SOFTMAX_LANES] = vf_add(sum[i % LN_SOFTMAX_LANES], e);
    }
}

// The axis has the stride `inner`; `lanes` neighbouring rows at once.
VF_VERB void softmax_columns(size_t n, size_t inner, bool is_log, const float *x, float *y,
                             size_t lanes)
{
    vf max = vf_load_n(x, lanes);
    for (size_t i = 1; i < n; i++)
        max = vf_max_nan(vf_load_n(x + i * inner, lanes), max);

    vf sum[LN_SOFTMAX_LANES], all[LN_SOFTMAX_LANES];
    size_t first = 0;
    for (; n - first > SOFTMAX_RUN; first += SOFTMAX_RUN) {
        softmax_columns_run(SOFTMAX_RUN, inner, is_log, x + first * inner, y + first * inner, lanes,
                            max, sum);
        if (first == 0)
            vf_clear(all, LN_SOFTMAX_LANES);
        vf_add_each(all, sum, LN_SOFTMAX_LANES);
    }
    softmax_columns_run(n - first, inner, is_log, x + first * inner, y + first * inner, lanes, max,
                        sum);
    if (first > 0)
        vf_add_each(sum, all, LN_SOFTMAX_LANES);
    for (size_t width = LN_SOFTMAX_LANES / 2; width > 0; width /= 2) {
        for (size_t j = 0; j < width; j++)
            sum[j] = vf_add(sum[j], sum[j + width]);
    }

    vf total = sum[0], equals = vf_set1(-1.0f);
    for (size_t i = 0; i < n && is_log; i++)
        equals = softmax_equals(equals, vf_load_n(x + i * inner, lanes), max);
    if (is_log)
        total = softmax_log(vf_add(total, equals));
    const float *from = is_log ? x : y;
    for (size_t i = 0; i < n; i++) {
        const vf at = vf_load_n(from + i * inner, lanes);
        vf_store_n(y + i * inner, softmax_last(is_log, at, max, total), lanes);
    }
}

void VF_KERNEL(ln_k_softmax_f32)(size_t n, size_t inner, bool is_log, const float *x, float *y)
{
    assert(n >= 1 && inner >= 1);

    if (inner == 1) {
        softmax_row(n, is_log, x, y);
        return;
    }
    for (size_t col = 0; col < inner; col += VF_LANES) {
        size_t lanes = inner - col < VF_LANES ? inner - col : VF_LANES;
        softmax_columns(n, inner, is_log, x + col, y + col, lanes);
    }
}

#endif
