// SPDX-License-Identifier: Apache-2.0
// Shapes and attributes of Attention, FlexAttention and LinearAttention.

#include "op/onnx/attention.h"
#include "op/functions.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

ln_status ln_heads_read(ln_call *call, const tl_tensor *t, const char *name, int64_t heads,
                        ln_heads *out_heads)
{
    ln_heads *x = out_heads;
    *x = (ln_heads){0};
    if (t->ndim == 4) {
        *x = (ln_heads){t->dims[0], t->dims[1], t->dims[2], t->dims[3], false};
    } else if (t->ndim != 3) {
        return ln_call_fail(call, LN_INVALID, "takes %s of rank 3 or 4, not %d", name, t->ndim);
    } else if (heads <= 0 || heads > INT32_MAX || t->dims[2] % heads != 0) {
        return ln_call_fail(call, LN_INVALID, "cannot split %d elements of %s into %lld heads",
                            t->dims[2], name, (long long)heads);
    } else {
        *x = (ln_heads){t->dims[0], (int)heads, t->dims[1], (int)(t->dims[2] / heads), true};
    }
    // Tokens without elements would cost time all the same.
    int tokens;
    if (!tl_shape_len(3, (int[]){x->batch, x->heads, x->len}, &tokens))
        return ln_call_fail(call, LN_LIMIT, "has %d x %d x %d tokens in %s", x->batch, x->heads,
                            x->len, name);
    return LN_OK;
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

ln_status ln_attention_read(ln_call *call, ln_attention *out_attention)
{
    ln_attention *a = out_attention;
    *a = (ln_attention){0};
    int64_t q_heads = ln_call_int(call, "q_num_heads"),
            kv_heads = ln_call_int(call, "kv_num_heads");
    LN_TRY(ln_heads_read(call, ln_call_in(call, LN_ATTENTION_Q), "Q", q_heads, &a->q));
    LN_TRY(ln_heads_read(call, ln_call_in(call, LN_ATTENTION_K), "K", kv_heads, &a->k));
    LN_TRY(ln_heads_read(call, ln_call_in(call, LN_ATTENTION_V), "V", kv_heads, &a->v));
    LN_TRY(check_heads(call, &a->q, &a->k, &a->v));
    LN_TRY(read_past(call, a));
    a->kv_len = a->past_len + a->k.len;
    LN_TRY(check_mask(call, a));
    LN_TRY(read_windows(call, a));

    const tl_tensor *lens = ln_call_in(call, LN_ATTENTION_KV_LENS);
    if (lens && (lens->ndim != 1 || lens->dims[0] != a->q.batch))
        return ln_call_fail(call, LN_INVALID, "needs a nonpad_kv_seqlen for each of %d sequences",
                            a->q.batch);
    int64_t mode = ln_call_int(call, "qk_matmul_output_mode");
    if (mode < LN_QK_RAW || mode > LN_QK_PROBABILITIES)
        return ln_call_fail(call, LN_INVALID, "has no qk_matmul_output_mode %lld", (long long)mode);
    a->qk_mode = (ln_qk_mode)mode;
    a->scale = read_scale(call, a->q.size);
    a->softcap = ln_call_float(call, "softcap");
    a->is_causal = ln_call_int(call, "is_causal") != 0;
    return LN_OK;
}

ln_status ln_infer_attention(ln_call *call)
{
    ln_attention a;
    LN_TRY(ln_attention_read(call, &a));
    tl_dtype dtype = ln_call_in(call, LN_ATTENTION_Q)->dtype;
    tl_dtype v_dtype = ln_call_in(call, LN_ATTENTION_V)->dtype;
    const ln_heads *q = &a.q;
    if (q->is_packed) {
        const int64_t y[] = {q->batch, q->len, (int64_t)q->heads * a.v.size};
        LN_TRY(ln_call_out64(call, 0, dtype, 3, y));
    } else {
        const int y[] = {q->batch, q->heads, q->len, a.v.size};
        LN_TRY(ln_call_out(call, 0, dtype, 4, y));
    }
    const int present_k[] = {q->batch, a.k.heads, a.kv_len, a.k.size};
    const int present_v[] = {q->batch, a.v.heads, a.kv_len, a.v.size};
    const int qk[] = {q->batch, q->heads, q->len, a.kv_len};
    LN_TRY(ln_call_out(call, 1, dtype, 4, present_k));
    LN_TRY(ln_call_out(call, 2, v_dtype, 4, present_v));
    return ln_call_out(call, 3, dtype, 4, qk);
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

double ln_macs_attention(const ln_call *call)
{
    ln_attention a;
    return ln_attention_read((ln_call *)(uintptr_t)call, &a) == LN_OK ? macs_of(&a) : 0;
}

// Heads may be empty, and the scores still many.
double ln_cost_attention(const ln_call *call)
{
    ln_attention a;
    bool is_read = ln_attention_read((ln_call *)(uintptr_t)call, &a) == LN_OK;
    return ln_cost_steps(call) + (is_read ? scores_of(&a) : 0);
}

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

double ln_macs_flex_attention(const ln_call *call)
{
    ln_attention a;
    return ln_flex_attention_read((ln_call *)(uintptr_t)call, &a) == LN_OK ? macs_of(&a) : 0;
}

double ln_cost_flex_attention(const ln_call *call)
{
    ln_attention a;
    bool is_read = ln_flex_attention_read((ln_call *)(uintptr_t)call, &a) == LN_OK;
    return ln_cost_steps(call) + (is_read ? scores_of(&a) : 0);
}

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
