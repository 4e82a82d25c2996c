// SPDX-License-Identifier: Apache-2.0
// Attention: masks, windows and caches around the common core.

#include "op/onnx/attention.h"
#include "arch/ref/functions.h"

#include <math.h>

#include "arch/ref/onnx/attention_core.h"
#include "arch/ref/onnx/doubles.h"

// What hides keys from queries, or weighs them.
typedef struct mask {
    const ln_attention *attention;
    ln_attention_mask given;
    const tl_tensor *kv_lens;
} mask;

// Keys before the first query's own: those of the past, or, where the cache came whole, all but the
// last `q.len` that are used.
static int64_t offset_of(const mask *m, size_t b)
{
    const ln_attention *a = m->attention;
    bool is_whole_cache = m->kv_lens && a->past_len == 0;
    return is_whole_cache ? ln_elem_int(m->kv_lens, b) - a->q.len : a->past_len;
}

static double mask_value(const ln_attention_mask *m, size_t b, size_t head, size_t at, size_t key)
{
    if ((int64_t)key >= m->len)
        return -INFINITY;
    size_t i = b * m->strides[0] + head * m->strides[1] + at * m->strides[2] + key * m->strides[3];
    if (m->tensor->dtype == TL_BOOL)
        return ln_elem_int(m->tensor, i) ? 0 : -INFINITY;
    return ln_elem_real(m->tensor, i);
}

static ln_key_span bias_row(const void *self, size_t b, size_t head, size_t at, double *out_row)
{
    const mask *m = self;
    const ln_attention *a = m->attention;
    int64_t begin, end;
    ln_attention_span(a, offset_of(m, b) + (int64_t)at, &begin, &end);
    if (m->kv_lens && ln_elem_int(m->kv_lens, b) < end)
        end = ln_elem_int(m->kv_lens, b);
    for (int64_t j = begin; j < end; j++)
        out_row[j] = m->given.tensor ? mask_value(&m->given, b, head, at, (size_t)j) : 0;
    return (ln_key_span){(size_t)(begin < end ? begin : end), (size_t)end};
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
        LN_TRY(ln_attention_check_lens(call, &a));
    const mask m = {&a, ln_attention_mask_of(call, &a), ln_call_in(call, LN_ATTENTION_KV_LENS)};
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
        .scale = a.scale != 0 ? a.scale : 1 / sqrt((double)a.q.size),
        .softcap = a.softcap,
        .bias = bias_row,
        .self = &m,
        .is_guarded = a.is_guarded,
        .zero_if_hidden = a.zero_if_hidden,
        .y = y,
        .qk = qk,
        .qk_mode = a.qk_mode,
    };
    LN_TRY(ln_ref_attend(call, &attend));
    if (ln_call_is_counting(call))
        return LN_OK;
    ln_ref_store_heads(y, &a.y, ln_call_dst(call, 0));
    store_all(ln_call_dst(call, 1), k);
    store_all(ln_call_dst(call, 2), v);
    store_all(ln_call_dst(call, 3), qk);
    return LN_OK;
}
