// SPDX-License-Identifier: Apache-2.0
// Attention: masks, windows and caches around the kernel.

#include "arch/cpu/functions.h"
#include "op/functions.h"

#include <math.h>

#include "arch/cpu/attention_core.h"
#include "op/prepare.h"

static ln_cpu_attend sizes_of(const ln_attention *a)
{
    return (ln_cpu_attend){.batch = (size_t)a->q.batch,
                           .q_heads = (size_t)a->q.heads,
                           .kv_heads = (size_t)a->k.heads,
                           .q_len = (size_t)a->q.len,
                           .kv_len = (size_t)a->kv_len,
                           .size = (size_t)a->q.size,
                           .y_view = a->y.view,
                           .scale = a->scale,
                           .is_guarded = a->is_guarded,
                           .zero_if_hidden = a->zero_if_hidden};
}

ln_status ln_cpu_accepts_attention(ln_call *call)
{
    ln_attention a;
    LN_TRY(ln_attention_read(call, &a));
    const tl_tensor *mask = ln_call_in(call, LN_ATTENTION_MASK);
    for (int i = 0; i <= LN_ATTENTION_PAST_V; i++) {
        const tl_tensor *in = ln_call_in(call, i);
        if (in && i != LN_ATTENTION_MASK && in->dtype != TL_FLOAT)
            return ln_call_fail(call, LN_UNSUPPORTED, "is for float32 here");
    }
    if (mask && mask->dtype != TL_FLOAT && mask->dtype != TL_BOOL)
        return ln_call_fail(call, LN_UNSUPPORTED, "is for masks of float and bool here");
    if (a.softcap != 0 || ln_call_wants(call, 3))
        return ln_call_fail(call, LN_UNSUPPORTED, "is for plain scores here");
    if (a.v.size != a.q.size)
        return ln_call_fail(call, LN_UNSUPPORTED, "is for values as long as keys here");
    ln_cpu_attend attend = sizes_of(&a);
    return ln_cpu_attend_check(call, &attend);
}

// ---- What hides keys ----

typedef struct mask {
    const ln_attention *attention;
    ln_attention_mask given;
    bool has_lens;          // the keys of each image that count
    const int64_t *kv_lens; // they, when computing
    bool is_banded;         // a key's position matters to a query
} mask;

// Keys before the first query's own: those of the past, or, where the cache came whole, all but the
// last `q.len` that are used.
static int64_t offset_of(const mask *m, size_t b)
{
    const ln_attention *a = m->attention;
    return m->has_lens && a->past_len == 0 ? m->kv_lens[b] - a->q.len : a->past_len;
}

static mask mask_of(ln_call *call, const ln_attention *a)
{
    const tl_tensor *lens = ln_call_in(call, LN_ATTENTION_KV_LENS);
    return (mask){.attention = a,
                  .given = ln_attention_mask_of(call, a),
                  .has_lens = lens,
                  .kv_lens = lens ? lens->data : NULL,
                  // The kernel knows of causal queries after a past, and nothing else.
                  .is_banded =
                      a->left_window >= 0 || a->right_window >= 0 || (a->is_causal && lens)};
}

// Whether the kernel can add the tensor as it is.
static bool is_plain(const mask *m)
{
    const ln_attention_mask *given = &m->given;
    int64_t keys = m->attention->kv_len;
    return !m->has_lens && !m->is_banded &&
           (!given->tensor || (given->tensor->dtype == TL_FLOAT && given->len == keys &&
                               (given->strides[3] == 1 || keys == 1)));
}

static float mask_value(const tl_tensor *t, size_t at)
{
    if (t->dtype == TL_BOOL)
        return ((const tl_bool *)t->data)[at] ? 0 : -INFINITY;
    return ((const float *)t->data)[at];
}

static ln_key_span seen_by(const void *self, size_t b, size_t query)
{
    const mask *m = self;
    int64_t begin, end;
    ln_attention_span(m->attention, offset_of(m, b) + (int64_t)query, &begin, &end);
    if (m->has_lens && m->kv_lens[b] < end)
        end = m->kv_lens[b];
    return (ln_key_span){(size_t)(begin < end ? begin : end), (size_t)end};
}

static void fill_row(const mask *m, size_t b, size_t head, size_t query, float *row)
{
    const ln_attention *a = m->attention;
    const ln_attention_mask *given = &m->given;
    size_t at = b * given->strides[0] + head * given->strides[1] + query * given->strides[2];
    int64_t begin = 0, end = a->kv_len;
    if (m->is_banded)
        ln_attention_span(a, offset_of(m, b) + (int64_t)query, &begin, &end);
    if (m->has_lens && m->kv_lens[b] < end)
        end = m->kv_lens[b];
    for (int64_t key = 0; key < a->kv_len; key++, at += given->strides[3]) {
        bool is_out = key < begin || key >= end || (given->tensor && key >= given->len);
        row[key] = is_out ? -INFINITY : given->tensor ? mask_value(given->tensor, at) : 0;
    }
}

// Writes out what is added to each score.
static ln_status fill_mask(ln_call *call, const mask *m, const ln_cpu_attend *a,
                           ln_cpu_carver *carver, ln_cpu_mask *out)
{
    const size_t *strides = m->given.strides;
    size_t batch = m->has_lens || strides[0] ? a->batch : 1, heads = strides[1] ? a->q_heads : 1;
    size_t queries = m->is_banded || strides[2] ? a->q_len : 1, rows, count;
    if (__builtin_mul_overflow(batch * heads, queries, &rows) ||
        __builtin_mul_overflow(rows, a->kv_len, &count))
        return ln_call_fail(call, LN_LIMIT, "has too many scores");
    float *data = ln_cpu_carve(carver, count);
    if (ln_cpu_is_planning(carver))
        return LN_OK;
    for (size_t row = 0; row < rows; row++)
        fill_row(m, row / queries / heads, row / queries % heads, row % queries,
                 data + row * a->kv_len);
    out->data = data;
    out->strides[0] = batch > 1 ? heads * queries * a->kv_len : 0;
    out->strides[1] = heads > 1 ? queries * a->kv_len : 0;
    out->strides[2] = queries > 1 ? a->kv_len : 0;
    return LN_OK;
}

static ln_status set_mask(ln_call *call, const mask *m, ln_cpu_carver *carver,
                          ln_cpu_attend *attend)
{
    const ln_attention *a = m->attention;
    attend->is_causal = a->is_causal && !m->is_banded;
    attend->keys_before = (size_t)a->past_len;
    attend->seen = a->is_causal || m->is_banded || m->has_lens ? seen_by : NULL;
    attend->self = m;
    if (!is_plain(m))
        return fill_mask(call, m, attend, carver, &attend->mask);
    const ln_attention_mask *given = &m->given;
    if (given->tensor)
        attend->mask = (ln_cpu_mask){given->tensor->data,
                                     {given->strides[0], given->strides[1], given->strides[2]}};
    return LN_OK;
}

// ---- The operator ----

// The heads of input `index`, after those of the past, in output `present` if that is wanted.
static ln_status join(ln_call *call, const ln_heads *x, int index, int past, int present,
                      size_t past_len, ln_cpu_carver *workspace, ln_cpu_heads *out)
{
    const tl_tensor *old = ln_call_in(call, past);
    bool is_present = ln_call_wants(call, present);
    *out = (ln_cpu_heads){ln_call_in(call, index)->data, x->view};
    if (!old && !is_present)
        return LN_OK;
    size_t heads = (size_t)x->heads, size = (size_t)x->size, len = (size_t)x->len;
    size_t batch = (size_t)x->batch, capacity = past_len + len, count;
    if (__builtin_mul_overflow(batch * heads * size, capacity, &count))
        return ln_call_fail(call, LN_LIMIT, "has too many keys");
    float *joined = is_present ? NULL : ln_cpu_carve(workspace, count);
    if (ln_cpu_is_planning(workspace))
        return LN_OK;
    if (is_present)
        joined = ln_call_dst(call, present)->data;
    ln_cpu_head_copy copy = {.from = *out,
                             .batch = batch,
                             .heads = heads,
                             .len = len,
                             .size = size,
                             .to = joined,
                             .capacity = capacity,
                             .start = past_len};
    ln_cpu_copy_heads(&copy);
    if (old) {
        copy.from = (ln_cpu_heads){old->data, ln_cpu_dense_view(heads, past_len, size)};
        copy.len = past_len;
        copy.start = 0;
        ln_cpu_copy_heads(&copy);
    }
    *out = (ln_cpu_heads){joined, ln_cpu_dense_view(heads, capacity, size)};
    return LN_OK;
}

// Takes its workspace from `carver`, and computes unless that is planning.
static ln_status attention(ln_call *call, const ln_attention *a, ln_cpu_carver *carver)
{
    ln_cpu_attend attend = sizes_of(a);
    const mask m = mask_of(call, a);
    size_t past_len = (size_t)a->past_len;
    attend.q = (ln_cpu_heads){ln_call_in(call, LN_ATTENTION_Q)->data, a->q.view};
    LN_TRY(join(call, &a->k, LN_ATTENTION_K, LN_ATTENTION_PAST_K, 1, past_len, carver, &attend.k));
    LN_TRY(join(call, &a->v, LN_ATTENTION_V, LN_ATTENTION_PAST_V, 2, past_len, carver, &attend.v));
    LN_TRY(set_mask(call, &m, carver, &attend));
    attend.y = ln_cpu_is_planning(carver) ? NULL : ln_call_dst(call, 0)->data;
    ln_cpu_attend_run(call, &attend, carver);
    return LN_OK;
}

#define WORKSPACE 4

ln_status ln_cpu_infer_attention(ln_call *call)
{
    ln_attention a;
    ln_cpu_carver carver = {0};
    LN_TRY(ln_infer_attention(call));
    LN_TRY(ln_attention_read(call, &a));
    LN_TRY(attention(call, &a, &carver));
    return ln_cpu_call_infer_workspace(call, WORKSPACE, ln_cpu_carved_bytes(&carver));
}

LN_PREPARE(ln_cpu_prepare_attention, ln_attention, ln_attention_read)

ln_status ln_cpu_attention(ln_call *call)
{
    const ln_attention *a = ln_call_prepared(call);
    ln_cpu_carver carver = {0};
    LN_TRY(ln_attention_check_lens(call, a));
    LN_TRY(attention(call, a, &carver));
    carver = (ln_cpu_carver){
        .block = ln_cpu_call_workspace(call, WORKSPACE, ln_cpu_carved_bytes(&carver))};
    return carver.block ? attention(call, a, &carver) : ln_error_status();
}
