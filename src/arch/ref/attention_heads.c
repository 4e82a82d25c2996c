// SPDX-License-Identifier: Apache-2.0
// Attention, one query after the other. Scores are computed anew where they are needed: for the
// largest, and for the sums.

#include "arch/ref/attention_heads.h"

#include <math.h>

// A query of a head, and what it attends to.
typedef struct attention_row {
    const float *q, *k, *v, *mask;
    size_t k_stride, v_stride;
    int keys; // that it sees
    int size;
    double scale;
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
    for (int c = 0; c < row->size; c++) {
        double sum = 0;
        for (int j = 0; j < row->keys; j++)
            sum +=
                exp(score_of(row, j) - max) * (double)row->v[(size_t)j * row->v_stride + (size_t)c];
        dst[c] = (float)(sum / total);
    }
}

void ln_ref_attention_heads(const tl_tensor *q, const tl_tensor *k, const tl_tensor *v,
                            const tl_tensor *mask, tl_tensor *dst, const ln_attention_heads *given,
                            double scale, bool is_causal)
{
    ln_attention_heads h = ln_attention_heads_of(given, q);
    size_t strides[3] = {0}, q_stride = (size_t)q->dims[2];
    size_t size = (size_t)h.head_size, keys = (size_t)k->dims[1];
    if (mask)
        ln_attention_mask_strides(strides, mask);
    attention_row row = {.k_stride = (size_t)k->dims[2],
                         .v_stride = (size_t)v->dims[2],
                         .size = h.head_size,
                         .scale = scale != 0 ? scale : 1 / sqrt((double)h.head_size)};
    float *y = dst->data;
    for (size_t b = 0; b < (size_t)q->dims[0]; b++)
        for (size_t s = 0; s < (size_t)q->dims[1]; s++)
            for (size_t head = 0; head < (size_t)h.heads; head++, y += size) {
                size_t shared = head / (size_t)(h.heads / h.kv_heads) * size;
                size_t token = b * (size_t)q->dims[1] + s;
                row.q = (const float *)q->data + token * q_stride + (size_t)h.q_first + head * size;
                row.k =
                    (const float *)k->data + b * keys * row.k_stride + (size_t)h.k_first + shared;
                row.v =
                    (const float *)v->data + b * keys * row.v_stride + (size_t)h.v_first + shared;
                row.mask = mask ? (const float *)mask->data + b * strides[0] + head * strides[1] +
                                      s * strides[2]
                                : NULL;
                row.keys = is_causal && s + 1 < keys ? (int)s + 1 : (int)keys;
                attend(&row, y);
            }
}
