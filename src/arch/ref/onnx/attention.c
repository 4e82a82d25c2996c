// SPDX-License-Identifier: Apache-2.0
// Attention of ONNX: masks, windows and caches around the common core.
//
// All is double, so that `softmax_precision` has nothing to add.

#include "op/onnx/attention.h"
#include "arch/ref/functions.h"

#include <math.h>

#include "arch/ref/onnx/attention_core.h"
#include "arch/ref/onnx/doubles.h"

// What hides keys from queries, or weighs them.
typedef struct mask {
    const ln_attention *attention;
    const tl_tensor *tensor; // or NULL
    size_t strides[4];       // 0 where it is broadcast
    int64_t len;             // keys it has something to say about
    const tl_tensor *kv_lens;
} mask;

static void init_mask(ln_call *call, const ln_attention *a, mask *m)
{
    const tl_tensor *t = ln_call_in(call, LN_ATTENTION_MASK);
    *m = (mask){.attention = a, .tensor = t, .kv_lens = ln_call_in(call, LN_ATTENTION_KV_LENS)};
    if (!t)
        return;
    size_t stride = 1;
    for (int i = t->ndim - 1; i >= 0; i--) {
        m->strides[4 - t->ndim + i] = t->dims[i] == 1 ? 0 : stride;
        stride *= (size_t)t->dims[i];
    }
    // A last dimension of 1 is repeated; since version 24 it is too short, as any other.
    int last = t->dims[t->ndim - 1];
    m->len = last == 1 && ln_call_since(call) < 24 ? a->kv_len : last;
}

// Keys before the first query's own: those of the past, or, where the cache came whole, all but the
// last `q.len` that are used.
static int64_t offset_of(const mask *m, size_t b)
{
    const ln_attention *a = m->attention;
    bool is_whole_cache = m->kv_lens && a->past_len == 0;
    return is_whole_cache ? ln_elem_int(m->kv_lens, b) - a->q.len : a->past_len;
}

static double mask_value(const mask *m, size_t b, size_t head, size_t at, size_t key)
{
    if ((int64_t)key >= m->len)
        return -INFINITY;
    size_t i = b * m->strides[0] + head * m->strides[1] + at * m->strides[2] + key * m->strides[3];
    if (m->tensor->dtype == TL_BOOL)
        return ln_elem_int(m->tensor, i) ? 0 : -INFINITY;
    return ln_elem_real(m->tensor, i);
}

static bool is_hidden(const ln_attention *a, int64_t position, int64_t key)
{
    return (a->is_causal && key > position) ||
           (a->left_window >= 0 && position - key > a->left_window) ||
           (a->right_window >= 0 && key - a->right_window > position);
}

static void bias_row(const void *self, size_t b, size_t head, size_t at, double *out_row)
{
    const mask *m = self;
    const ln_attention *a = m->attention;
    int64_t used = m->kv_lens ? ln_elem_int(m->kv_lens, b) : a->kv_len;
    int64_t position = offset_of(m, b) + (int64_t)at;
    for (size_t j = 0; j < (size_t)a->kv_len; j++) {
        double bias = m->tensor ? mask_value(m, b, head, at, j) : 0;
        if ((int64_t)j >= used || is_hidden(a, position, (int64_t)j))
            bias += -INFINITY;
        out_row[j] = bias;
    }
}

// Lengths come from data, and positions are computed from them.
static ln_status check_lens(ln_call *call, const ln_attention *a)
{
    const tl_tensor *lens = ln_call_in(call, LN_ATTENTION_KV_LENS);
    for (int b = 0; lens && b < lens->len; b++) {
        int64_t len = ln_elem_int(lens, (size_t)b);
        if (len < 0 || len > a->kv_len)
            return ln_call_fail(call, LN_INVALID, "has nonpad_kv_seqlen %lld for %d keys",
                                (long long)len, a->kv_len);
    }
    return LN_OK;
}

static void store_all(tl_tensor *t, const double *values)
{
    for (int i = 0; t && i < t->len; i++)
        ln_elem_set_real(t, (size_t)i, values[i]);
}

ln_status ln_ref_attention(ln_call *call)
{
    ln_attention a;
    LN_TRY(ln_attention_read(call, &a));
    if (!ln_call_is_counting(call))
        LN_TRY(check_lens(call, &a));
    mask m;
    init_mask(call, &a, &m);

    const ln_heads y_heads = {a.q.batch, a.q.heads, a.q.len, a.v.size, a.q.is_packed};
    size_t queries = (size_t)a.q.batch * (size_t)a.q.heads * (size_t)a.q.len;
    size_t past_len = (size_t)a.past_len;
    double *q = ln_ref_load_heads(call, ln_call_in(call, LN_ATTENTION_Q), &a.q);
    double *k = ln_ref_join_heads(call, ln_call_in(call, LN_ATTENTION_PAST_K), past_len,
                                  ln_call_in(call, LN_ATTENTION_K), &a.k);
    double *v = ln_ref_join_heads(call, ln_call_in(call, LN_ATTENTION_PAST_V), past_len,
                                  ln_call_in(call, LN_ATTENTION_V), &a.v);
    double *y = ln_ref_new_doubles(call, queries * (size_t)a.v.size);
    double *qk = ln_call_dst(call, 3) ? ln_ref_new_doubles(call, queries * (size_t)a.kv_len) : NULL;
    if (!q || !k || !v || !y || (ln_call_dst(call, 3) && !qk))
        return LN_NO_MEMORY;

    const ln_attend attend = {
        .batch = (size_t)a.q.batch,
        .q_heads = (size_t)a.q.heads,
        .kv_heads = (size_t)a.k.heads,
        .q_len = (size_t)a.q.len,
        .kv_len = (size_t)a.kv_len,
        .size = (size_t)a.q.size,
        .v_size = (size_t)a.v.size,
        .q = q,
        .k = k,
        .v = v,
        .scale = a.scale,
        .softcap = a.softcap,
        .bias = bias_row,
        .self = &m,
        .y = y,
        .qk = qk,
        .qk_mode = a.qk_mode,
    };
    LN_TRY(ln_ref_attend(call, &attend));
    if (ln_call_is_counting(call))
        return LN_OK;
    ln_ref_store_heads(y, &y_heads, ln_call_dst(call, 0));
    store_all(ln_call_dst(call, 1), k);
    store_all(ln_call_dst(call, 2), v);
    store_all(ln_call_dst(call, 3), qk);
    return LN_OK;
}
