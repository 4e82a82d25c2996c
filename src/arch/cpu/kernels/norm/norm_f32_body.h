// SPDX-License-Identifier: Apache-2.0
// Normalisation of rows in vector verbs. Some rows go through it together, step by step: they stay
// in the nearest cache, and while one waits for the sum of its lanes, another one goes on. What
// there is one number of for each row is computed for all of them at once.

#ifndef LN_ARCH_CPU_KERNELS_NORM_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_NORM_F32_BODY_H

#include <stddef.h>

#include "arch/cpu/kernels/lanes.h"
#include "arch/cpu/kernels/norm/norm.h"
#include "arch/cpu/simd/unroll.h"

#define NORM_VECTORS (LN_NORM_LANES / VF_LANES)

// At most so many rows together, and so many floats.
#define NORM_ROWS   16
#define NORM_FLOATS 4096

typedef struct norm_stats {
    float sum[NORM_ROWS], square[NORM_ROWS];
    float mean[NORM_ROWS], lost[NORM_ROWS], factor[NORM_ROWS];
} norm_stats;

#define NORM_RUN (LN_NORM_LANES * LN_LANE_RUN)

// Of one run.
VF_VERB void norm_run_sum(size_t n, const float *x, vf *sums)
{
    vf_clear(sums, NORM_VECTORS);
    size_t i = 0;
    for (; i + LN_NORM_LANES <= n; i += LN_NORM_LANES) {
        LN_UNROLL
        for (size_t j = 0; j < NORM_VECTORS; j++)
            sums[j] = vf_add(sums[j], vf_load(x + i + j * VF_LANES));
    }
    for (size_t j = 0; i < n; j++, i += VF_LANES)
        sums[j] = vf_add(sums[j], vf_load_n(x + i, n - i < VF_LANES ? n - i : VF_LANES));
}

VF_VERB vf norm_sum(size_t n, const float *x)
{
    vf sums[NORM_VECTORS], all[NORM_VECTORS];
    vf_clear(all, NORM_VECTORS);
    size_t i = 0;
    for (; n - i > NORM_RUN; i += NORM_RUN) {
        norm_run_sum(NORM_RUN, x + i, sums);
        vf_add_each(all, sums, NORM_VECTORS);
    }
    norm_run_sum(n - i, x + i, sums);
    if (i > 0)
        vf_add_each(sums, all, NORM_VECTORS);
    return vf_sum_lanes(sums, LN_NORM_LANES);
}

// Of one run: the sums of d = x - mean, and of d d.
VF_VERB void norm_run_sums(size_t n, const float *x, vf mean, vf *sums, vf *squares)
{
    vf_clear(sums, NORM_VECTORS);
    vf_clear(squares, NORM_VECTORS);
    size_t i = 0;
    for (; i + LN_NORM_LANES <= n; i += LN_NORM_LANES) {
        LN_UNROLL
        for (size_t j = 0; j < NORM_VECTORS; j++) {
            vf d = vf_sub(vf_load(x + i + j * VF_LANES), mean);
            sums[j] = vf_add(sums[j], d);
            squares[j] = vf_fma(d, d, squares[j]);
        }
    }
    for (size_t j = 0; i < n; j++, i += VF_LANES) {
        size_t lanes = n - i < VF_LANES ? n - i : VF_LANES;
        vf d = vf_first_n(vf_sub(vf_load_n(x + i, lanes), mean), vf_set1(0.0f), lanes);
        sums[j] = vf_add(sums[j], d);
        squares[j] = vf_fma(d, d, squares[j]);
    }
}

VF_VERB void norm_sums(size_t n, const float *x, vf mean, vf *out_sum, vf *out_square)
{
    vf sums[NORM_VECTORS], squares[NORM_VECTORS], all[NORM_VECTORS], all_squares[NORM_VECTORS];
    vf_clear(all, NORM_VECTORS);
    vf_clear(all_squares, NORM_VECTORS);
    size_t i = 0;
    for (; n - i > NORM_RUN; i += NORM_RUN) {
        norm_run_sums(NORM_RUN, x + i, mean, sums, squares);
        vf_add_each(all, sums, NORM_VECTORS);
        vf_add_each(all_squares, squares, NORM_VECTORS);
    }
    norm_run_sums(n - i, x + i, mean, sums, squares);
    if (i > 0) {
        vf_add_each(sums, all, NORM_VECTORS);
        vf_add_each(squares, all_squares, NORM_VECTORS);
    }
    *out_sum = vf_sum_lanes(sums, LN_NORM_LANES);
    *out_square = vf_sum_lanes(squares, LN_NORM_LANES);
}

VF_VERB vf norm_value(vf x, vf mean, vf lost, vf factor, vf scale)
{
    return vf_mul(vf_mul(vf_sub(vf_sub(x, mean), lost), factor), scale);
}

VF_VERB vf norm_biased(vf x, vf mean, vf lost, vf factor, vf scale, vf bias)
{
    return vf_fma(vf_mul(vf_sub(vf_sub(x, mean), lost), factor), scale, bias);
}

VF_VERB void norm_apply(size_t n, const float *x, vf mean, vf lost, vf factor, const float *scale,
                        const float *bias, float *y)
{
    size_t i = 0;
    for (; bias && i + VF_LANES <= n; i += VF_LANES)
        vf_store(y + i, norm_biased(vf_load(x + i), mean, lost, factor, vf_load(scale + i),
                                    vf_load(bias + i)));
    for (; i + VF_LANES <= n; i += VF_LANES)
        vf_store(y + i, norm_value(vf_load(x + i), mean, lost, factor, vf_load(scale + i)));
    if (i == n)
        return;
    vf tail = vf_load_n(x + i, n - i), tail_scale = vf_load_n(scale + i, n - i);
    vf v = bias ? norm_biased(tail, mean, lost, factor, tail_scale, vf_load_n(bias + i, n - i))
                : norm_value(tail, mean, lost, factor, tail_scale);
    vf_store_n(y + i, v, n - i);
}

VF_VERB void norm_means(const ln_layernorm_f32_args *args, norm_stats *stats, const float *x,
                        size_t rows)
{
    const size_t n = args->n;
    for (size_t r = 0; r < rows; r++)
        vf_store_n(&stats->sum[r], norm_sum(n, x + r * n), 1);
    for (size_t i = 0; i < NORM_ROWS; i += VF_LANES)
        vf_store(stats->mean + i, vf_div(vf_load(stats->sum + i), vf_set1((float)n)));
}

VF_VERB void norm_factors(const ln_layernorm_f32_args *args, norm_stats *stats, const float *x,
                          size_t rows)
{
    const size_t n = args->n;
    const vf zero = vf_set1(0.0f), length = vf_set1((float)n);
    for (size_t r = 0; r < rows; r++) {
        vf sum, square;
        norm_sums(n, x + r * n, vf_set1(stats->mean[r]), &sum, &square);
        vf_store_n(&stats->sum[r], args->is_centered ? sum : zero, 1);
        vf_store_n(&stats->square[r], square, 1);
    }
    for (size_t i = 0; i < NORM_ROWS; i += VF_LANES) {
        vf sum = vf_load(stats->sum + i), lost = vf_div(sum, length);
        vf rest = vf_sub(vf_load(stats->square + i), vf_mul(sum, lost));
        vf variance = vf_div(vf_max(zero, rest), length);
        vf_store(stats->lost + i, lost);
        vf_store(stats->factor + i,
                 vf_div(vf_set1(1.0f), vf_sqrt(vf_add(variance, vf_set1(args->epsilon)))));
    }
}

void VF_KERNEL(ln_k_layernorm_f32)(const ln_layernorm_f32_args *args, size_t first, size_t rows)
{
    const size_t n = args->n, fit = NORM_FLOATS / n;
    const size_t most = fit < 1 ? 1 : fit < NORM_ROWS ? fit : NORM_ROWS;
    for (size_t row = first; row < first + rows; row += most) {
        size_t left = first + rows - row, count = left < most ? left : most;
        const float *x = args->x + row * n;
        norm_stats stats = {0};
        if (args->is_centered)
            norm_means(args, &stats, x, count);
        norm_factors(args, &stats, x, count);
        for (size_t r = 0; r < count; r++)
            norm_apply(n, x + r * n, vf_set1(stats.mean[r]), vf_set1(stats.lost[r]),
                       vf_set1(stats.factor[r]), args->scale, args->bias, args->y + (row + r) * n);
    }
}

#endif
