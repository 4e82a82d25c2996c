// SPDX-License-Identifier: Apache-2.0
// Attention, one query after the other. Scores are computed anew where they are needed: for the
// largest, and for the sums.

#include "arch/ref/attention_heads.h"

#include <math.h>

#include "base/deadline.h"

// A query of a head, and what it attends to.
typedef struct attention_row {
    const float *q, *k, *v, *mask;
    size_t k_stride, v_stride;
    int keys; // that it sees
    int size;
    double scale;
    bool is_guarded; // weights that are NaN count as 0
} attention_row;

static double score_of(const attention_row *row, int key)
{
    const float *k = row->k + (size_t)key * row->k_stride;
    double score = 0;
    for (int c = 0; c < row->size; c++)
        score += (double)row->q[c] * (double)k[c];
    score *= row->scale;
    return row->mask ? score + (double)row->mask[key] : score;
}

// The largest score; NaN if there is one.
static double largest(const attention_row *row)
{
    double max = -INFINITY;
    for (int j = 0; j < row->keys; j++) {
        double score = score_of(row, j);
        if (isnan(score))
            return score;
        max = fmax(max, score);
    }
    return max;
}

// Weighted sums stand in `dst` as floats only at the end: a channel at a time.
static void attend(const attention_row *row, float *dst)
{
    double max = largest(row), total = 0;
    for (int j = 0; j < row->keys; j++)
        total += exp(score_of(row, j) - max);
    bool is_blind = row->is_guarded && isnan(total);
    for (int c = 0; c < row->size; c++) {
        double sum = 0;
        for (int j = 0; j < row->keys; j++) {
            double weight = is_blind ? 0 : exp(score_of(row, j) - max);
            sum += weight * (double)row->v[(size_t)j * row->v_stride + (size_t)c];
        }
        dst[c] = (float)(is_blind ? sum : sum / total);
    }
}

void ln_ref_attention_heads(const tl_tensor *q, const tl_tensor *k, const tl_tensor *v,
                            const tl_tensor *mask, tl_tensor *dst, const ln_attention_heads *given,
                            double scale, bool is_causal, bool is_guarded)
{
    ln_attention_heads h = ln_attention_heads_of(given, q);
    const ln_attention_view qs = ln_attention_view_of(q, h.q_first, h.head_size);
    const ln_attention_view ks = ln_attention_view_of(k, h.k_first, h.head_size);
    const ln_attention_view vs = ln_attention_view_of(v, h.v_first, h.head_size);
    const ln_attention_view ys = ln_attention_view_of(dst, 0, h.head_size);
    size_t strides[3] = {0}, heads = (size_t)h.heads;
    if (mask)
        ln_attention_mask_strides(strides, mask);
    attention_row row = {.k_stride = ks.token,
                         .v_stride = vs.token,
                         .size = h.head_size,
                         .is_guarded = is_guarded,
                         .scale = scale != 0 ? scale : 1 / sqrt((double)h.head_size)};
    for (size_t i = 0; i < (size_t)q->dims[0] * heads * qs.tokens && !ln_deadline_passed(); i++) {
        size_t b = i / qs.tokens / heads, head = i / qs.tokens % heads, s = i % qs.tokens;
        size_t shared = head / (heads / (size_t)h.kv_heads);
        row.q = (const float *)q->data + qs.first + b * qs.image + s * qs.token + head * qs.head;
        row.k = (const float *)k->data + ks.first + b * ks.image + shared * ks.head;
        row.v = (const float *)v->data + vs.first + b * vs.image + shared * vs.head;
        row.mask =
            mask ? (const float *)mask->data + b * strides[0] + head * strides[1] + s * strides[2]
                 : NULL;
        row.keys = (int)(is_causal && s + 1 < ks.tokens ? s + 1 : ks.tokens);
        attend(&row, (float *)dst->data + b * ys.image + s * ys.token + head * ys.head);
    }
}
