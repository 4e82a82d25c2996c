// SPDX-License-Identifier: Apache-2.0
// Shapes and attributes of Attention, FlexAttention and LinearAttention.

#include "op/onnx/attention.h"
#include "op/functions.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

ln_heads ln_heads_packed(int batch, int heads, int len, int size)
{
    size_t width = (size_t)heads * (size_t)size;
    return (ln_heads){batch, heads, len, size, true, {0, (size_t)len * width, width, (size_t)size}};
}

ln_heads ln_heads_in_front(int batch, int heads, int len, int size)
{
    size_t rows = (size_t)len * (size_t)size;
    return (ln_heads){batch, heads, len,
                      size,  false, {0, (size_t)heads * rows, (size_t)size, rows}};
}

// Tokens without elements would cost time all the same.
static ln_status check_tokens(ln_call *call, const ln_heads *x, const char *name)
{
    int tokens;
    if (!tl_shape_len(3, (int[]){x->batch, x->heads, x->len}, &tokens))
        return ln_call_fail(call, LN_LIMIT, "has %d x %d x %d tokens in %s", x->batch, x->heads,
                            x->len, name);
    return LN_OK;
}

ln_status ln_heads_read(ln_call *call, const tl_tensor *t, const char *name, int64_t heads,
                        ln_heads *out_heads)
{
    const int *dims = t->dims;
    *out_heads = (ln_heads){0};
    if (t->ndim == 4)
        *out_heads = ln_heads_in_front(dims[0], dims[1], dims[2], dims[3]);
    else if (t->ndim != 3)
        return ln_call_fail(call, LN_INVALID, "takes %s of rank 3 or 4, not %d", name, t->ndim);
    else if (heads <= 0 || heads > INT32_MAX || dims[2] % heads != 0)
        return ln_call_fail(call, LN_INVALID, "cannot split %d elements of %s into %lld heads",
                            dims[2], name, (long long)heads);
    else
        *out_heads = ln_heads_packed(dims[0], (int)heads, dims[1], (int)(dims[2] / heads));
    return check_tokens(call, out_heads, name);
}

// What holds for queries, keys and values of every kind of attention.
static ln_status check_heads(ln_call *call, const ln_heads *q, const ln_heads *k, const ln_heads *v)
{
    if (q->batch != k->batch || q->batch != v->batch)
        return ln_call_fail(call, LN_INVALID, "has batches of %d, %d and %d", q->batch, k->batch,
                            v->batch);
    if (q->size != k->size)
        return ln_call_fail(call, LN_INVALID, "has queries of %d elements for keys of %d", q->size,
                            k->size);
    if (k->heads != v->heads || k->len != v->len)
        return ln_call_fail(call, LN_INVALID, "has %d heads of %d keys for %d heads of %d values",
                            k->heads, k->len, v->heads, v->len);
    if (k->heads == 0 ? q->heads != 0 : q->heads % k->heads != 0)
        return ln_call_fail(call, LN_INVALID, "cannot share %d heads of keys among %d of queries",
                            k->heads, q->heads);
    return LN_OK;
}

static ln_status check_dims4(ln_call *call, const tl_tensor *t, const char *name, int b, int heads,
                             int len, int size)
{
    bool is_right = t->ndim == 4 && t->dims[0] == b && t->dims[1] == heads && t->dims[3] == size &&
                    (len < 0 || t->dims[2] == len);
    if (!is_right)
        return ln_call_fail(call, LN_INVALID, "needs %s in the shape of %d x %d heads of %d", name,
                            b, heads, size);
    return LN_OK;
}

// ---- Attention ----

static ln_status read_past(ln_call *call, ln_attention *a)
{
    const tl_tensor *k = ln_call_in(call, LN_ATTENTION_PAST_K);
    const tl_tensor *v = ln_call_in(call, LN_ATTENTION_PAST_V);
    if (!k != !v)
        return ln_call_fail(call, LN_INVALID, "takes past_key and past_value only together");
    if (!k)
        return LN_OK;
    LN_TRY(check_dims4(call, k, "past_key", a->k.batch, a->k.heads, -1, a->k.size));
    LN_TRY(check_dims4(call, v, "past_value", a->v.batch, a->v.heads, k->dims[2], a->v.size));
    if (k->dims[2] > INT32_MAX - a->k.len)
        return ln_call_fail(call, LN_LIMIT, "has %d past and %d new keys", k->dims[2], a->k.len);
    a->past_len = k->dims[2];
    return LN_OK;
}

// The mask broadcasts to [batch, heads, queries, keys]; its last dimension may be too short.
static ln_status check_mask(ln_call *call, const ln_attention *a)
{
    const tl_tensor *mask = ln_call_in(call, LN_ATTENTION_MASK);
    if (!mask)
        return LN_OK;
    const int full[4] = {a->q.batch, a->q.heads, a->q.len, a->kv_len};
    bool fits = mask->ndim >= 1 && mask->ndim <= 4;
    for (int i = 0; fits && i < mask->ndim; i++) {
        int dim = mask->dims[i], want = full[4 - mask->ndim + i];
        bool is_last = i == mask->ndim - 1;
        fits = dim == want || dim == 1 || (is_last && dim < want);
    }
    if (!fits)
        return ln_call_fail(call, LN_INVALID, "has a mask that does not fit %d x %d x %d x %d",
                            full[0], full[1], full[2], full[3]);
    return LN_OK;
}

static ln_status read_windows(ln_call *call, ln_attention *a)
{
    a->left_window = a->right_window = -1;
    if (ln_call_has(call, "left_window_size"))
        a->left_window = ln_call_int(call, "left_window_size");
    if (ln_call_has(call, "right_window_size"))
        a->right_window = ln_call_int(call, "right_window_size");
    if (a->left_window < -1 || a->right_window < -1)
        return ln_call_fail(call, LN_INVALID, "has a window of %lld to %lld",
                            (long long)a->left_window, (long long)a->right_window);
    return LN_OK;
}

static double read_scale(const ln_call *call, int head_size)
{
    if (ln_call_has(call, "scale"))
        return ln_call_float(call, "scale");
    return 1 / sqrt((double)head_size);
}

// What q, k and v have in common, whoever says how many heads they have.
static ln_status read_keys(ln_call *call, ln_attention *a)
{
    const tl_tensor *lens = ln_call_in(call, LN_ATTENTION_KV_LENS);
    LN_TRY(check_heads(call, &a->q, &a->k, &a->v));
    LN_TRY(read_past(call, a));
    a->kv_len = a->past_len + a->k.len;
    LN_TRY(check_mask(call, a));
    LN_TRY(read_windows(call, a));
    int64_t mode = ln_call_int(call, "qk_matmul_output_mode");
    if (mode < LN_QK_RAW || mode > LN_QK_PROBABILITIES)
        return ln_call_fail(call, LN_INVALID, "has no qk_matmul_output_mode %lld", (long long)mode);
    a->qk_mode = (ln_qk_mode)mode;
    a->softcap = ln_call_float(call, "softcap");
    a->is_causal = ln_call_int(call, "is_causal") != 0;
    if (lens && (lens->ndim != 1 || lens->dims[0] != a->q.batch))
        return ln_call_fail(call, LN_INVALID, "needs a length for each of %d sequences",
                            a->q.batch);
    a->y = (a->q.is_packed ? ln_heads_packed : ln_heads_in_front)(a->q.batch, a->q.heads, a->q.len,
                                                                  a->v.size);
    return LN_OK;
}

// Of ONNX, whose packed heads fill the tokens: shapes only.
static ln_status read_onnx(ln_call *call, ln_attention *a)
{
    int64_t kv_heads = ln_call_int(call, "kv_num_heads");
    *a = (ln_attention){0};
    LN_TRY(ln_heads_read(call, ln_call_in(call, LN_ATTENTION_Q), "Q",
                         ln_call_int(call, "q_num_heads"), &a->q));
    LN_TRY(ln_heads_read(call, ln_call_in(call, LN_ATTENTION_K), "K", kv_heads, &a->k));
    LN_TRY(ln_heads_read(call, ln_call_in(call, LN_ATTENTION_V), "V", kv_heads, &a->v));
    return read_keys(call, a);
}

// Parts of tokens, from channel `first` on; 0 heads or a size of 0 are those that are there.
static ln_status read_part(ln_call *call, int index, const char *name, const char *first_param,
                           int64_t heads, int64_t size, ln_heads *x)
{
    const tl_tensor *t = ln_call_in(call, index);
    const int64_t first = ln_call_int(call, first_param);
    *x = (ln_heads){0};
    if (t->ndim == 4) {
        if ((heads && heads != t->dims[1]) || (size && size != t->dims[3]) || first)
            return ln_call_fail(call, LN_INVALID, "has %d heads of %d in %s, not %lld of %lld",
                                t->dims[1], t->dims[3], name, (long long)heads, (long long)size);
        *x = ln_heads_in_front(t->dims[0], t->dims[1], t->dims[2], t->dims[3]);
        return check_tokens(call, x, name);
    }
    if (t->ndim != 3)
        return ln_call_fail(call, LN_INVALID, "takes %s of rank 3 or 4, not %d", name, t->ndim);
    int64_t width = t->dims[2], room = first >= 0 && first <= width ? width - first : -1;
    if (heads > 0 && size == 0)
        size = room / heads;
    bool fits = room >= 0 && heads > 0 && heads <= INT32_MAX && size >= 0 && size <= width &&
                (size > 0 || room == 0) && heads * size <= room;
    if (!fits)
        return ln_call_fail(
            call, LN_INVALID, "has %lld channels in %s after %lld, not %lld of %lld",
            (long long)width, name, (long long)first, (long long)heads, (long long)size);
    *x = ln_heads_packed(t->dims[0], (int)heads, t->dims[1], (int)size);
    x->view.first = (size_t)first;
    x->view.token_stride = (size_t)width;
    x->view.batch_stride = (size_t)t->dims[1] * (size_t)width;
    return check_tokens(call, x, name);
}

ln_status ln_attention_read(ln_call *call, ln_attention *out_attention)
{
    ln_attention *a = out_attention;
    int64_t heads = ln_call_int(call, "heads"), kv_heads = ln_call_int(call, "kv_heads");
    int64_t size = ln_call_int(call, "head_size"), v_size = ln_call_int(call, "value_size");
    *a = (ln_attention){0};
    LN_TRY(read_part(call, LN_ATTENTION_Q, "q", "q_first", heads, size, &a->q));
    if (kv_heads == 0 && ln_call_in(call, LN_ATTENTION_K)->ndim == 3)
        kv_heads = a->q.heads;
    LN_TRY(read_part(call, LN_ATTENTION_K, "k", "k_first", kv_heads, a->q.size, &a->k));
    LN_TRY(
        read_part(call, LN_ATTENTION_V, "v", "v_first", a->k.heads, v_size ? v_size : size, &a->v));
    LN_TRY(read_keys(call, a));
    a->scale = ln_call_float(call, "scale");
    a->is_guarded = ln_call_int(call, "guarded") != 0;
    a->zero_if_hidden = ln_call_int(call, "zero_if_hidden") != 0;
    a->repeats_mask = ln_call_int(call, "repeat_mask") != 0;
    return LN_OK;
}

ln_attention_mask ln_attention_mask_of(const ln_call *call, const ln_attention *a)
{
    const tl_tensor *t = ln_call_in(call, LN_ATTENTION_MASK);
    ln_attention_mask m = {.tensor = t};
    if (!t)
        return m;
    size_t stride = 1;
    for (int i = t->ndim - 1; i >= 0; i--) {
        m.strides[4 - t->ndim + i] = t->dims[i] == 1 ? 0 : stride;
        stride *= (size_t)t->dims[i];
    }
    int last = t->dims[t->ndim - 1];
    m.len = last == 1 && a->repeats_mask ? a->kv_len : last;
    return m;
}

void ln_attention_span(const ln_attention *a, int64_t position, int64_t *out_begin,
                       int64_t *out_end)
{
    int64_t end = a->kv_len, after = a->is_causal ? 0 : a->right_window;
    if (after >= 0 && after < end - position)
        end = position + after + 1 < 0 ? 0 : position + after + 1;
    *out_begin = a->left_window >= 0 && a->left_window < position ? position - a->left_window : 0;
    *out_end = end < a->kv_len ? end : a->kv_len;
}

ln_status ln_attention_check_lens(ln_call *call, const ln_attention *a)
{
    const tl_tensor *t = ln_call_in(call, LN_ATTENTION_KV_LENS);
    const int64_t *lens = t ? t->data : NULL;
    for (int b = 0; lens && b < t->len; b++)
        if (lens[b] < 0 || lens[b] > a->kv_len)
            return ln_call_fail(call, LN_INVALID, "has a length of %lld for %d keys",
                                (long long)lens[b], a->kv_len);
    return LN_OK;
}

static ln_status give_outputs(ln_call *call, const ln_attention *a)
{
    tl_dtype dtype = ln_call_in(call, LN_ATTENTION_Q)->dtype;
    tl_dtype v_dtype = ln_call_in(call, LN_ATTENTION_V)->dtype;
    const ln_heads *q = &a->q;
    if (q->is_packed) {
        const int64_t y[] = {q->batch, q->len, (int64_t)q->heads * a->v.size};
        LN_TRY(ln_call_out64(call, 0, dtype, 3, y));
    } else {
        const int y[] = {q->batch, q->heads, q->len, a->v.size};
        LN_TRY(ln_call_out(call, 0, dtype, 4, y));
    }
    const int present_k[] = {q->batch, a->k.heads, a->kv_len, a->k.size};
    const int present_v[] = {q->batch, a->v.heads, a->kv_len, a->v.size};
    const int qk[] = {q->batch, q->heads, q->len, a->kv_len};
    LN_TRY(ln_call_out(call, 1, dtype, 4, present_k));
    LN_TRY(ln_call_out(call, 2, v_dtype, 4, present_v));
    return ln_call_out(call, 3, dtype, 4, qk);
}

ln_status ln_infer_attention(ln_call *call)
{
    ln_attention a;
    LN_TRY(ln_attention_read(call, &a));
    return give_outputs(call, &a);
}

ln_status ln_infer_onnx_attention(ln_call *call)
{
    ln_attention a;
    LN_TRY(read_onnx(call, &a));
    return give_outputs(call, &a);
}

// Of Q and K with their heads packed or not: each query meets each key with its whole length.
static double scores_of(const ln_attention *a)
{
    return (double)a->q.batch * a->q.heads * a->q.len * a->kv_len;
}

// A score, and a share of a value, for each query and key.
static double macs_of(const ln_attention *a)
{
    return scores_of(a) * ((double)a->q.size + a->v.size);
}

typedef ln_status reader(ln_call *call, ln_attention *out_attention);

static double macs_with(const ln_call *call, reader *read)
{
    ln_attention a;
    return read((ln_call *)(uintptr_t)call, &a) == LN_OK ? macs_of(&a) : 0;
}

// Heads may be empty, and the scores still many.
static double cost_with(const ln_call *call, reader *read)
{
    ln_attention a;
    bool is_read = read((ln_call *)(uintptr_t)call, &a) == LN_OK;
    return ln_cost_steps(call) + (is_read ? scores_of(&a) : 0);
}

// Estimates of an operator whose parameters `read` reads.
#define ESTIMATES(name, read)                                                                      \
    double ln_macs_##name(const ln_call *call)                                                     \
    {                                                                                              \
        return macs_with(call, read);                                                              \
    }                                                                                              \
    double ln_cost_##name(const ln_call *call)                                                     \
    {                                                                                              \
        return cost_with(call, read);                                                              \
    }

ESTIMATES(attention, ln_attention_read)

ESTIMATES(onnx_attention, read_onnx)

// ---- FlexAttention ----

ln_status ln_flex_attention_read(ln_call *call, ln_attention *out_attention)
{
    ln_attention *a = out_attention;
    *a = (ln_attention){.left_window = -1, .right_window = -1};
    LN_TRY(ln_heads_read(call, ln_call_in(call, LN_ATTENTION_Q), "Q", 0, &a->q));
    LN_TRY(ln_heads_read(call, ln_call_in(call, LN_ATTENTION_K), "K", 0, &a->k));
    LN_TRY(ln_heads_read(call, ln_call_in(call, LN_ATTENTION_V), "V", 0, &a->v));
    LN_TRY(check_heads(call, &a->q, &a->k, &a->v));
    a->kv_len = a->k.len;
    a->scale = read_scale(call, a->q.size);
    return LN_OK;
}

ESTIMATES(flex_attention, ln_flex_attention_read)

ln_status ln_infer_flex_attention(ln_call *call)
{
    ln_attention a;
    LN_TRY(ln_flex_attention_read(call, &a));
    const int y[] = {a.q.batch, a.q.heads, a.q.len, a.v.size};
    return ln_call_out(call, 0, ln_call_in(call, LN_ATTENTION_V)->dtype, 4, y);
}

// ---- LinearAttention ----

static ln_status read_update_rule(ln_call *call, ln_linear_attention *a)
{
    const char *rule = ln_call_string(call, "update_rule");
    if (!rule)
        rule = "gated_delta";
    a->is_gated = strcmp(rule, "gated") == 0 || strcmp(rule, "gated_delta") == 0;
    a->is_delta = strcmp(rule, "delta") == 0 || strcmp(rule, "gated_delta") == 0;
    if (!a->is_gated && !a->is_delta && strcmp(rule, "linear") != 0)
        return ln_call_fail(call, LN_INVALID, "has an unknown update_rule '%s'", rule);
    if (a->is_gated != (ln_call_in(call, LN_LINEAR_DECAY) != NULL))
        return ln_call_fail(call, LN_INVALID, "takes decay with gated rules only, and then always");
    if (a->is_delta != (ln_call_in(call, LN_LINEAR_BETA) != NULL))
        return ln_call_fail(call, LN_INVALID, "takes beta with delta rules only, and then always");
    return LN_OK;
}

// Inputs with a value, or a few, for each head of each token.
static ln_status check_gate(ln_call *call, const tl_tensor *t, const char *name, const ln_heads *k)
{
    if (t->ndim != 3 || t->dims[0] != k->batch || t->dims[1] != k->len)
        return ln_call_fail(call, LN_INVALID, "needs %s for %d tokens of %d sequences", name,
                            k->len, k->batch);
    return LN_OK;
}

static ln_status read_gates(ln_call *call, ln_linear_attention *a)
{
    const tl_tensor *decay = ln_call_in(call, LN_LINEAR_DECAY);
    const tl_tensor *beta = ln_call_in(call, LN_LINEAR_BETA);
    if (decay) {
        LN_TRY(check_gate(call, decay, "decay", &a->k));
        a->decay_size = decay->dims[2] == a->k.heads ? 1 : a->k.size;
        if (decay->dims[2] != (int64_t)a->k.heads * a->decay_size)
            return ln_call_fail(call, LN_INVALID, "has a decay of %d values for %d heads of %d",
                                decay->dims[2], a->k.heads, a->k.size);
    }
    if (beta) {
        LN_TRY(check_gate(call, beta, "beta", &a->k));
        a->beta_heads = beta->dims[2];
        if (a->beta_heads != a->k.heads && a->beta_heads != 1)
            return ln_call_fail(call, LN_INVALID, "has a beta of %d values for %d heads",
                                a->beta_heads, a->k.heads);
    }
    return LN_OK;
}

ln_status ln_linear_attention_read(ln_call *call, ln_linear_attention *out_attention)
{
    ln_linear_attention *a = out_attention;
    *a = (ln_linear_attention){0};
    const tl_tensor *q = ln_call_in(call, LN_LINEAR_Q), *k = ln_call_in(call, LN_LINEAR_K);
    const tl_tensor *v = ln_call_in(call, LN_LINEAR_V), *past = ln_call_in(call, LN_LINEAR_PAST);
    int64_t q_heads = ln_call_int(call, "q_num_heads"),
            kv_heads = ln_call_int(call, "kv_num_heads");
    if (q->ndim != 3 || k->ndim != 3 || v->ndim != 3)
        return ln_call_fail(call, LN_INVALID, "takes query, key and value of rank 3");
    LN_TRY(read_update_rule(call, a));
    LN_TRY(ln_heads_read(call, q, "query", q_heads, &a->q));
    LN_TRY(ln_heads_read(call, k, "key", kv_heads, &a->k));
    LN_TRY(ln_heads_read(call, v, "value", kv_heads, &a->v));
    LN_TRY(check_heads(call, &a->q, &a->k, &a->v));
    if (a->q.len != a->k.len)
        return ln_call_fail(call, LN_INVALID, "has %d queries for %d keys", a->q.len, a->k.len);
    LN_TRY(read_gates(call, a));
    if (past)
        LN_TRY(check_dims4(call, past, "past_state", a->k.batch, a->k.heads, a->k.size, a->v.size));
    a->scale = ln_call_float(call, "scale");
    if (a->scale == 0)
        a->scale = 1 / sqrt((double)a->k.size);
    return LN_OK;
}

ln_status ln_infer_linear_attention(ln_call *call)
{
    ln_linear_attention a;
    LN_TRY(ln_linear_attention_read(call, &a));
    const tl_tensor *past = ln_call_in(call, LN_LINEAR_PAST);
    tl_dtype dtype = ln_call_in(call, LN_LINEAR_Q)->dtype;
    const int64_t y[] = {a.q.batch, a.q.len, (int64_t)a.q.heads * a.v.size};
    const int state[] = {a.k.batch, a.k.heads, a.k.size, a.v.size};
    LN_TRY(ln_call_out64(call, 0, dtype, 3, y));
    return ln_call_out(call, 1, past ? past->dtype : dtype, 4, state);
}

// Each token changes the state of its heads, once more where it is corrected, and each query reads
// one.
double ln_macs_linear_attention(const ln_call *call)
{
    ln_linear_attention a;
    if (ln_linear_attention_read((ln_call *)(uintptr_t)call, &a) != LN_OK)
        return 0;
    double state = (double)a.k.size * a.v.size, tokens = (double)a.k.batch * a.k.len;
    return tokens * state * ((double)a.k.heads * (1 + a.is_delta) + a.q.heads);
}
