// SPDX-License-Identifier: Apache-2.0
// What attention does around its two products, in vector verbs.

#ifndef LN_ARCH_CPU_KERNELS_ATTENTION_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_ATTENTION_F32_BODY_H

#include <stddef.h>

#include "arch/cpu/kernels/attention/attention.h"
#include "arch/cpu/kernels/lanes.h"
#include "arch/cpu/kernels/mathf.h"
#include "arch/cpu/simd/unroll.h"
#include "base/minmax.h"

#define PANEL             16
#define ATTENTION_VECTORS (LN_ATTENTION_LANES / VF_LANES)
#define ATTENTION_RUN     (LN_ATTENTION_LANES * LN_LANE_RUN)

// Vectors whose exp is computed side by side: as many as do not fill the registers.
#define ATTENTION_ABREAST (VF_LANES == 4 ? 4 : VF_LANES == 8 ? 2 : 4)

// Rows that go through the softmax together.
#define ATTENTION_ROWS 16

// ---- Packing ----

// VF_LANES keys, of which `rows` are there, and `cols` <= VF_LANES floats of each.
VF_VERB void attention_pack_square(size_t rows, size_t cols, const float *k, size_t stride,
                                   float scale, float *to)
{
    vf square[VF_LANES];
    if (rows == VF_LANES && cols == VF_LANES) {
        LN_UNROLL
        for (size_t i = 0; i < VF_LANES; i++)
            square[i] = vf_load(k + i * stride);
        vf_transpose(square);
        LN_UNROLL
        for (size_t i = 0; i < VF_LANES; i++)
            vf_store(to + i * PANEL, vf_mul(square[i], vf_set1(scale)));
        return;
    }
    LN_UNROLL
    for (size_t i = 0; i < VF_LANES; i++) {
        square[i] = vf_set1(0.0f);
        if (i < rows)
            square[i] =
                cols == VF_LANES ? vf_load(k + i * stride) : vf_load_n(k + i * stride, cols);
    }
    vf_transpose(square);
    LN_UNROLL
    for (size_t i = 0; i < VF_LANES; i++) {
        if (i < cols)
            vf_store(to + i * PANEL, vf_mul(square[i], vf_set1(scale)));
    }
}

static void attention_pack_keys(size_t keys, size_t size, const float *k, size_t stride,
                                float scale, float *to)
{
    for (size_t j = 0; j < keys; j += PANEL, to += PANEL * size) {
        for (size_t half = 0; half < PANEL; half += VF_LANES) {
            size_t row = j + half, rows = row < keys ? ln_min(keys - row, VF_LANES) : 0;
            const float *from = rows ? k + row * stride : k;
            for (size_t c = 0; c < size; c += VF_LANES)
                attention_pack_square(rows, ln_min(size - c, VF_LANES), from + c, stride, scale,
                                      to + c * PANEL + half);
        }
    }
}

static void attention_pack_values(size_t keys, size_t size, const float *v, size_t stride,
                                  float *to)
{
    for (size_t c = 0; c < size; c += PANEL) {
        for (size_t j = 0; j < keys; j++, to += PANEL) {
            for (size_t half = 0; half < PANEL; half += VF_LANES) {
                size_t at = c + half, cols = at < size ? ln_min(size - at, VF_LANES) : 0;
                const float *from = v + j * stride + at;
                vf value = cols == VF_LANES ? vf_load(from)
                           : cols > 0       ? vf_load_n(from, cols)
                                            : vf_set1(0.0f);
                vf_store(to + half, value);
            }
        }
    }
}

// ---- Softmax ----
//
// Step by step for all rows, because those of one row wait for each other. Where a score is NaN or
// infinite, it is the difference to the largest one, or a part of the sum, that becomes NaN.

VF_VERB vf attention_masked(vf score, const float *mask, size_t i, size_t n)
{
    return mask ? vf_add(score, vf_load_n(mask + i, n)) : score;
}

// The largest of the first n scores in each lane; with a mask they take it. What is after them, to
// a multiple of LN_ATTENTION_LANES, becomes -infinity, whose weight is 0.
VF_VERB vf attention_max(size_t n, float *p, const float *mask)
{
    const vf least = vf_set1(-__builtin_inff());
    vf max = least;
    size_t i = 0;
    for (; i + VF_LANES <= n; i += VF_LANES) {
        vf score = attention_masked(vf_load(p + i), mask, i, VF_LANES);
        if (mask)
            vf_store(p + i, score);
        max = vf_max(score, max);
    }
    if (i < n) {
        vf score = attention_masked(vf_load_n(p + i, n - i), mask, i, n - i);
        score = vf_first_n(score, least, n - i);
        vf_store(p + i, score);
        max = vf_max(score, max);
        i += VF_LANES;
    }
    for (; i % LN_ATTENTION_LANES != 0; i += VF_LANES)
        vf_store(p + i, least);
    return max;
}

// exp(score - max) of `count` times LN_ATTENTION_LANES scores.
VF_VERB void attention_exp_each(float *p, vf max, vf *sums, const int count)
{
    const int vectors = count * (int)ATTENTION_VECTORS;
    vf e[ATTENTION_ABREAST];
    VF_EACH(i, vectors) e[i] = vf_sub(vf_load(p + (size_t)i * VF_LANES), max);
    vf_exp_each(e, vectors);
    VF_EACH(i, vectors)
    {
        vf_store(p + (size_t)i * VF_LANES, e[i]);
        vf *sum = &sums[(size_t)i % ATTENTION_VECTORS];
        *sum = vf_add(*sum, e[i]);
    }
}

// The same of the first n of a run and those up to a multiple; `sums` takes the sum of each lane.
VF_VERB void attention_exp_run(size_t n, float *p, vf max, vf *sums)
{
    const int abreast = (int)(ATTENTION_ABREAST / ATTENTION_VECTORS);
    const size_t step = LN_ATTENTION_LANES * (size_t)abreast;
    vf_clear(sums, ATTENTION_VECTORS);
    size_t i = 0;
    for (; i + step <= n; i += step)
        attention_exp_each(p + i, max, sums, abreast);
    for (; i < n; i += LN_ATTENTION_LANES)
        attention_exp_each(p + i, max, sums, 1);
}

VF_VERB void attention_exp(size_t n, float *p, vf max, vf *sums)
{
    vf all[ATTENTION_VECTORS];
    vf_clear(all, ATTENTION_VECTORS);
    size_t i = 0;
    for (; n - i > ATTENTION_RUN; i += ATTENTION_RUN) {
        attention_exp_run(ATTENTION_RUN, p + i, max, sums);
        vf_add_each(all, sums, ATTENTION_VECTORS);
    }
    attention_exp_run(n - i, p + i, max, sums);
    if (i > 0)
        vf_add_each(sums, all, ATTENTION_VECTORS);
}

// At most so many rows as `lanes` has.
VF_VERB void attention_weigh_rows(const ln_attention_scores *s, size_t first, size_t rows)
{
    _Alignas(64) float lanes[ATTENTION_ROWS][LN_ATTENTION_LANES];
    size_t seen[ATTENTION_ROWS];
    float *p = s->p + first * s->stride;
    for (size_t r = 0; r < rows; r++) {
        size_t row = first + r;
        seen[r] = s->is_causal ? ln_min(s->first_query + row + 1, s->keys) : s->keys;
        vf max = attention_max(seen[r], p + r * s->stride,
                               s->mask ? s->mask + row * s->mask_stride : NULL);
        vf_store(lanes[r], max);
    }
    for (size_t r = 0; r < rows; r++)
        vf_store(lanes[r], vf_max_lanes(vf_load(lanes[r])));
    for (size_t r = 0; r < rows; r++) {
        vf sums[ATTENTION_VECTORS];
        attention_exp(seen[r], p + r * s->stride, vf_load(lanes[r]), sums);
        LN_UNROLL
        for (size_t j = 0; j < ATTENTION_VECTORS; j++)
            vf_store(lanes[r] + j * VF_LANES, sums[j]);
    }
    for (size_t r = 0; r < rows; r++) {
        vf sums[ATTENTION_VECTORS];
        LN_UNROLL
        for (size_t j = 0; j < ATTENTION_VECTORS; j++)
            sums[j] = vf_load(lanes[r] + j * VF_LANES);
        float *total = &s->totals[first + r];
        vf_store_n(total, vf_sum_lanes(sums, LN_ATTENTION_LANES), 1);
        if (s->is_guarded && *total != *total) {
            *total = 1;
            seen[r] = 0;
        }
        for (size_t j = seen[r]; j < s->keys; j++)
            p[r * s->stride + j] = 0;
    }
}

static void attention_weigh(const ln_attention_scores *s)
{
    for (size_t r = 0; r < s->rows; r += ATTENTION_ROWS)
        attention_weigh_rows(s, r, ln_min(s->rows - r, ATTENTION_ROWS));
}

static void attention_divide(size_t rows, size_t size, const float *totals, float *y, size_t stride)
{
    for (size_t r = 0; r < rows; r++, y += stride) {
        vf share = vf_div(vf_set1(1.0f), vf_set1(totals[r]));
        size_t i = 0;
        for (; i + VF_LANES <= size; i += VF_LANES)
            vf_store(y + i, vf_mul(vf_load(y + i), share));
        if (i < size)
            vf_store_n(y + i, vf_mul(vf_load_n(y + i, size - i), share), size - i);
    }
}

const ln_attention_f32_kernels VF_KERNEL(ln_k_attention_f32) = {
    .pack_keys = attention_pack_keys,
    .pack_values = attention_pack_values,
    .weigh = attention_weigh,
    .divide = attention_divide,
};

#endif
