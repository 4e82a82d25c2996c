// SPDX-License-Identifier: Apache-2.0
// Attention and MultiHeadAttention of com.microsoft: masks and packings around the common core.

#include "arch/ref/onnx/attention_ms.h"

#include <math.h>

#include "arch/ref/functions.h"
#include "arch/ref/onnx/attention_core.h"
#include "arch/ref/onnx/doubles.h"
#include "base/deadline.h"

void ln_ref_copy_heads(const ln_head_copy *copy, double *out)
{
    const ln_head_view *view = &copy->view;
    for (size_t row = 0; copy->size > 0 && row < copy->batch * copy->heads; row++) {
        size_t b = row / copy->heads, head = row % copy->heads, size = copy->size;
        size_t start = copy->starts ? copy->starts[b] : 0;
        const double *bias = copy->bias ? copy->bias + head * size : NULL;
        for (size_t at = 0; at < copy->len; at++) {
            const double *from = copy->data + view->first + b * view->batch_stride +
                                 at * view->token_stride + head * view->head_stride;
            double *to = out + (row * copy->room + start + at) * size;
            for (size_t e = 0; e < size; e++)
                to[e] = from[e] + (bias ? bias[e] : 0);
        }
    }
}

void ln_ref_pack_heads(const double *values, size_t batch, size_t heads, size_t len, size_t size,
                       tl_tensor *t)
{
    const ln_heads packed = ln_heads_packed((int)batch, (int)heads, (int)len, (int)size);
    ln_ref_store_heads(values, &packed, t);
}

// ---- Masks ----

typedef struct ms_mask {
    const ln_ms_attention *attention;
    const tl_tensor *mask, *scores;
} ms_mask;

// What the mask says of a key, be it by ends and starts of sequences, by keys, or by queries too.
static bool is_masked(const ms_mask *m, size_t b, size_t at, size_t key)
{
    const ln_ms_attention *a = m->attention;
    const tl_tensor *mask = m->mask;
    if (!mask)
        return false;
    size_t batch = (size_t)a->batch, kv_len = (size_t)a->kv_len;
    if (mask->ndim == 1) {
        bool has_starts = (size_t)mask->len == 2 * batch;
        return (int64_t)key >= ln_elem_int(mask, b) ||
               (has_starts && (int64_t)key < ln_elem_int(mask, batch + b));
    }
    if (mask->ndim == 3)
        return ln_elem_int(mask, (b * (size_t)a->q_len + at) * kv_len + key) <= 0;
    // One that is as long as the new keys says nothing of those of the past.
    size_t len = (size_t)mask->dims[1], first = kv_len - len;
    if (len == 1 && kv_len > 1)
        return false; // stands for no mask
    return key >= first && ln_elem_int(mask, b * len + key - first) <= 0;
}

static double score_bias(const tl_tensor *scores, size_t b, size_t head, size_t at, size_t key)
{
    size_t heads = (size_t)scores->dims[1], queries = (size_t)scores->dims[2];
    size_t row = scores->dims[0] == 1 ? 0 : b, column = heads == 1 ? 0 : head;
    return ln_elem_real(scores,
                        ((row * heads + column) * queries + at) * (size_t)scores->dims[3] + key);
}

static size_t bias_row(const void *self, size_t b, size_t head, size_t at, double *out_row)
{
    const ms_mask *m = self;
    const ln_ms_attention *a = m->attention;
    size_t seen = (size_t)(a->is_causal ? a->kv_len - a->new_len + (int)at + 1 : a->kv_len);
    for (size_t key = 0; key < seen && key < (size_t)a->kv_len; key++) {
        out_row[key] = is_masked(m, b, at, key) ? a->hidden_score : 0;
        if (m->scores)
            out_row[key] += score_bias(m->scores, b, head, at, key);
    }
    return seen < (size_t)a->kv_len ? seen : (size_t)a->kv_len;
}

// ---- The operators ----

// What differs between the two.
typedef struct ms_inputs {
    const double *q_data, *k_data, *v_data;
    const double *bias;             // [q + k + v], or NULL
    const double *past_k, *past_v;  // [batch, heads, past, size], or NULL
    const tl_tensor *scores, *mask; // or NULL
} ms_inputs;

// Keys or values of the past and after them the new ones; NULL with a recorded failure.
static double *join(ln_call *call, const ln_ms_attention *a, const ln_head_view *view,
                    const double *data, const double *bias, const double *past, int size)
{
    size_t batch = (size_t)a->batch, heads = (size_t)a->kv_heads, room = (size_t)a->kv_len;
    size_t past_len = (size_t)a->past_len;
    double *state = ln_ref_new_doubles(call, batch * heads * room * (size_t)size);
    size_t *starts = ln_call_scratch(call, batch + 1, sizeof *starts);
    if (!state || !starts)
        return NULL;
    if (ln_call_is_counting(call))
        return state;
    ln_head_copy copy = {
        .data = past,
        .view = {0, heads * past_len * (size_t)size, (size_t)size, past_len * (size_t)size},
        .batch = batch,
        .heads = heads,
        .len = past_len,
        .size = (size_t)size,
        .room = room};
    if (past)
        ln_ref_copy_heads(&copy, state);
    for (size_t b = 0; b < batch; b++)
        starts[b] = past_len;
    copy.data = data;
    copy.bias = bias;
    copy.view = *view;
    copy.len = (size_t)a->new_len;
    copy.starts = starts;
    ln_ref_copy_heads(&copy, state);
    return state;
}

static void store(tl_tensor *t, size_t at, size_t count, const double *values)
{
    for (size_t i = 0; t && i < count; i++)
        ln_elem_set_real(t, at + i, values[i]);
}

// Computes output 0, and output `qk_out` where that is not negative; gives the state away.
static ln_status run_ms(ln_call *call, const ln_ms_attention *a, const ms_inputs *in, int qk_out,
                        double **out_k, double **out_v)
{
    size_t batch = (size_t)a->batch, heads = (size_t)a->q_heads, q_len = (size_t)a->q_len;
    size_t size = (size_t)a->size, v_size = (size_t)a->v_size, queries = batch * heads * q_len;
    tl_tensor *qk_tensor = qk_out < 0 ? NULL : ln_call_dst(call, qk_out);
    const double *k_bias = in->bias ? in->bias + heads * size : NULL;
    const double *v_bias = in->bias ? in->bias + 2 * heads * size : NULL;
    double *q = ln_ref_new_doubles(call, queries * size);
    double *y = ln_ref_new_doubles(call, queries * v_size);
    double *qk = qk_tensor ? ln_ref_new_doubles(call, (size_t)qk_tensor->len) : NULL;
    *out_k = join(call, a, &a->k, in->k_data, k_bias, in->past_k, a->size);
    *out_v = join(call, a, &a->v, in->v_data, v_bias, in->past_v, a->v_size);
    if (!q || !y || (qk_tensor && !qk) || !*out_k || !*out_v)
        return LN_NO_MEMORY;
    const ln_head_copy copy = {.data = in->q_data,
                               .bias = in->bias,
                               .view = a->q,
                               .batch = batch,
                               .heads = heads,
                               .len = q_len,
                               .size = size,
                               .room = q_len};
    if (!ln_call_is_counting(call))
        ln_ref_copy_heads(&copy, q);

    const ms_mask mask = {a, in->mask, in->scores};
    const ln_attend attend = {.batch = batch,
                              .q_heads = heads,
                              .kv_heads = heads,
                              .q_len = q_len,
                              .kv_len = (size_t)a->kv_len,
                              .size = size,
                              .v_size = v_size,
                              .q = q,
                              .k = *out_k,
                              .v = *out_v,
                              .scale = a->scale,
                              .bias = bias_row,
                              .self = &mask,
                              .zero_if_hidden = true,
                              .y = y,
                              .qk = qk,
                              .qk_mode = LN_QK_BIASED};
    LN_TRY(ln_ref_attend(call, &attend));
    if (ln_call_is_counting(call))
        return LN_OK;
    ln_ref_pack_heads(y, batch, heads, q_len, v_size, ln_call_dst(call, 0));
    store(qk_tensor, 0, qk_tensor ? (size_t)qk_tensor->len : 0, qk);
    return LN_OK;
}

// Rows of the input times the weights; both perhaps without their zero points.
static double *project(ln_call *call, const tl_tensor *x_zero, const tl_tensor *w_zero)
{
    const tl_tensor *x = ln_call_in(call, LN_MS_ATTENTION_X);
    const tl_tensor *w = ln_call_in(call, LN_MS_ATTENTION_WEIGHTS);
    size_t rows = (size_t)x->dims[0] * (size_t)x->dims[1];
    size_t depth = (size_t)w->dims[0], columns = (size_t)w->dims[1];
    double *input = ln_ref_doubles(call, x), *weights = ln_ref_doubles(call, w);
    size_t count;
    // The input is not empty where its rows are many, but its rows may be.
    if (__builtin_mul_overflow(rows, columns, &count)) {
        (void)ln_call_fail(call, LN_LIMIT, "has %zu rows of %zu", rows, columns);
        return NULL;
    }
    double *product = ln_ref_new_doubles(call, count);
    if (!input || !weights || !product)
        return NULL;
    if (ln_call_is_counting(call))
        return product;
    for (size_t i = 0; x_zero && i < rows * depth; i++)
        input[i] -= ln_elem_real(x_zero, 0);
    for (size_t i = 0; w_zero && i < depth * columns; i++)
        weights[i] -= ln_elem_real(w_zero, w_zero->len == 1 ? 0 : i % columns);
    for (size_t row = 0; row < rows && !ln_deadline_passed(); row++) {
        double *out = product + row * columns;
        for (size_t d = 0; d < depth; d++) {
            double factor = input[row * depth + d];
            for (size_t c = 0; c < columns; c++)
                out[c] += factor * weights[d * columns + c];
        }
    }
    return product;
}

// Attention to what is in one product.
static ln_status run_projected(ln_call *call, const ln_ms_attention *a, const double *product,
                               const tl_tensor *past, const tl_tensor *mask,
                               const tl_tensor *scores)
{
    const tl_tensor *bias = ln_call_in(call, LN_MS_ATTENTION_BIAS);
    ms_inputs in = {.q_data = product,
                    .k_data = product,
                    .v_data = product,
                    .bias = bias ? ln_ref_doubles(call, bias) : NULL,
                    .past_k = past ? ln_ref_doubles(call, past) : NULL,
                    .scores = scores,
                    .mask = mask};
    if (!product || (bias && !in.bias) || (past && !in.past_k))
        return LN_NO_MEMORY;
    if (past)
        in.past_v = in.past_k + past->len / 2;
    double *k, *v;
    LN_TRY(run_ms(call, a, &in, -1, &k, &v));
    if (ln_call_is_counting(call))
        return LN_OK;
    tl_tensor *present = ln_call_dst(call, 1);
    size_t half = present ? (size_t)present->len / 2 : 0;
    store(present, 0, half, k);
    store(present, half, half, v);
    return LN_OK;
}

ln_status ln_ref_ms_attention(ln_call *call)
{
    ln_ms_attention a;
    LN_TRY(ln_ms_attention_read(call, &a));
    return run_projected(
        call, &a, project(call, NULL, NULL), ln_call_in(call, LN_MS_ATTENTION_PAST),
        ln_call_in(call, LN_MS_ATTENTION_MASK), ln_call_in(call, LN_MS_ATTENTION_SCORES));
}

static void scale_product(const ln_call *call, size_t rows, double *product)
{
    const tl_tensor *w_scale = ln_call_in(call, LN_QATTENTION_WEIGHTS_SCALE);
    double x_scale = ln_elem_real(ln_call_in(call, LN_QATTENTION_X_SCALE), 0);
    size_t columns = (size_t)ln_call_in(call, LN_QATTENTION_WEIGHTS)->dims[1];
    for (size_t i = 0; i < rows * columns; i++)
        product[i] *= x_scale * ln_elem_real(w_scale, w_scale->len == 1 ? 0 : i % columns);
}

ln_status ln_ref_ms_qattention(ln_call *call)
{
    ln_ms_attention a;
    LN_TRY(ln_ms_qattention_read(call, &a));
    double *product = project(call, ln_call_in(call, LN_QATTENTION_X_ZERO),
                              ln_call_in(call, LN_QATTENTION_WEIGHTS_ZERO));
    if (!product)
        return LN_NO_MEMORY;
    if (!ln_call_is_counting(call))
        scale_product(call, (size_t)a.batch * (size_t)a.q_len, product);
    return run_projected(call, &a, product, ln_call_in(call, LN_QATTENTION_PAST),
                         ln_call_in(call, LN_QATTENTION_MASK), NULL);
}

// The elements of an input; *out_reals NULL if it was left out.
static ln_status load(ln_call *call, int index, const double **out_reals)
{
    const tl_tensor *t = ln_call_in(call, index);
    *out_reals = t ? ln_ref_doubles(call, t) : NULL;
    return t && !*out_reals ? LN_NO_MEMORY : LN_OK;
}

ln_status ln_ref_ms_mha(ln_call *call)
{
    ln_ms_attention a;
    LN_TRY(ln_ms_mha_read(call, &a));
    ms_inputs in = {.scores = ln_call_in(call, LN_MHA_SCORES),
                    .mask = ln_call_in(call, LN_MHA_MASK)};
    LN_TRY(load(call, LN_MHA_Q, &in.q_data));
    LN_TRY(load(call, LN_MHA_K, &in.k_data));
    LN_TRY(load(call, LN_MHA_V, &in.v_data));
    LN_TRY(load(call, LN_MHA_BIAS, &in.bias));
    LN_TRY(load(call, LN_MHA_PAST_K, &in.past_k));
    LN_TRY(load(call, LN_MHA_PAST_V, &in.past_v));
    if (!in.k_data)
        in.k_data = in.q_data;
    if (!in.v_data)
        in.v_data = in.k_data;
    double *k, *v;
    LN_TRY(run_ms(call, &a, &in, 3, &k, &v));
    if (ln_call_is_counting(call))
        return LN_OK;
    tl_tensor *present_k = ln_call_dst(call, 1), *present_v = ln_call_dst(call, 2);
    store(present_k, 0, present_k ? (size_t)present_k->len : 0, k);
    store(present_v, 0, present_v ? (size_t)present_v->len : 0, v);
    return LN_OK;
}
