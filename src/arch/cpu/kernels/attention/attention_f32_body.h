// SPDX-License-Identifier: Apache-2.0
// What attention does around its two products, in vector verbs.

#ifndef LN_ARCH_CPU_KERNELS_ATTENTION_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_ATTENTION_F32_BODY_H

#include <stddef.h>

#include "arch/cpu/kernels/attention/attention.h"
#include "arch/cpu/kernels/lanes.h"
#include "arch/cpu/kernels/mathf.h"
#include "arch/cpu/simd/unroll.h"

#define PANEL             16
#define ATTENTION_VECTORS (LN_ATTENTION_LANES / VF_LANES)

VF_VERB size_t at_most(size_t count, size_t limit)
{
    return count < limit ? count : limit;
}

// ---- Packing ----

// VF_LANES keys, of which `rows` are there, and `cols` <= VF_LANES floats of each.
VF_VERB void attention_pack_square(size_t rows, size_t cols, const float *k, size_t stride,
                                   float scale, float *to)
{
    vf square[VF_LANES];
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

VF_VERB void attention_pack_keys(size_t keys, size_t size, const float *k, size_t stride,
                                 float scale, float *to)
{
    for (size_t j = 0; j < keys; j += PANEL, to += PANEL * size) {
        for (size_t half = 0; half < PANEL; half += VF_LANES) {
            size_t row = j + half, rows = row < keys ? at_most(keys - row, VF_LANES) : 0;
            const float *from = rows ? k + row * stride : k;
            for (size_t c = 0; c < size; c += VF_LANES)
                attention_pack_square(rows, at_most(size - c, VF_LANES), from + c, stride, scale,
                                      to + c * PANEL + half);
        }
    }
}

VF_VERB void attention_pack_values(size_t keys, size_t size, const float *v, size_t stride,
                                   float *to)
{
    for (size_t c = 0; c < size; c += PANEL) {
        for (size_t j = 0; j < keys; j++, to += PANEL) {
            for (size_t half = 0; half < PANEL; half += VF_LANES) {
                size_t at = c + half, cols = at < size ? at_most(size - at, VF_LANES) : 0;
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

VF_VERB vf attention_masked(vf score, const float *mask, size_t i, size_t n)
{
    return mask ? vf_add(score, vf_load_n(mask + i, n)) : score;
}

// The largest of the first n scores; with a mask they take it. New scores come first in vf_max_nan,
// so that looking for NaN does not lengthen the chain of comparisons.
VF_VERB vf attention_max(size_t n, float *p, const float *mask)
{
    const vf least = vf_set1(-__builtin_inff());
    vf max = least;
    size_t i = 0;
    for (; i + VF_LANES <= n; i += VF_LANES) {
        vf score = attention_masked(vf_load(p + i), mask, i, VF_LANES);
        if (mask)
            vf_store(p + i, score);
        max = vf_max_nan(score, max);
    }
    if (i < n) {
        vf score = attention_masked(vf_load_n(p + i, n - i), mask, i, n - i);
        vf_store_n(p + i, score, n - i);
        max = vf_max_nan(vf_first_n(score, least, n - i), max);
    }
    return vf_max_lanes(max);
}

// exp(score - max) of the first n; returns their sum.
VF_VERB vf attention_exp(size_t n, float *p, vf max)
{
    vf sums[ATTENTION_VECTORS];
    LN_UNROLL
    for (size_t j = 0; j < ATTENTION_VECTORS; j++)
        sums[j] = vf_set1(0.0f);
    size_t i = 0;
    for (; i + LN_ATTENTION_LANES <= n; i += LN_ATTENTION_LANES) {
        LN_UNROLL
        for (size_t j = 0; j < ATTENTION_VECTORS; j++) {
            vf e = vf_exp(vf_sub(vf_load(p + i + j * VF_LANES), max));
            vf_store(p + i + j * VF_LANES, e);
            sums[j] = vf_add(sums[j], e);
        }
    }
    for (size_t j = 0; i < n; j++, i += VF_LANES) {
        size_t lanes = at_most(n - i, VF_LANES);
        vf e = vf_first_n(vf_exp(vf_sub(vf_load_n(p + i, lanes), max)), vf_set1(0.0f), lanes);
        vf_store_n(p + i, e, lanes);
        sums[j] = vf_add(sums[j], e);
    }
    return vf_sum_lanes(sums, LN_ATTENTION_LANES);
}

VF_VERB void attention_weigh(const ln_attention_scores *s)
{
    for (size_t r = 0; r < s->rows; r++) {
        float *p = s->p + r * s->stride;
        size_t seen = s->is_causal ? at_most(s->first_query + r + 1, s->keys) : s->keys;
        vf max = attention_max(seen, p, s->mask ? s->mask + r * s->mask_stride : NULL);
        vf_store_n(&s->totals[r], attention_exp(seen, p, max), 1);
        for (size_t j = seen; j < s->keys; j++)
            p[j] = 0;
    }
}

VF_VERB void attention_divide(size_t rows, size_t size, const float *totals, float *y,
                              size_t stride)
{
    for (size_t r = 0; r < rows; r++, y += stride) {
        vf total = vf_set1(totals[r]);
        size_t i = 0;
        for (; i + VF_LANES <= size; i += VF_LANES)
            vf_store(y + i, vf_div(vf_load(y + i), total));
        if (i < size)
            vf_store_n(y + i, vf_div(vf_load_n(y + i, size - i), total), size - i);
    }
}

#endif
