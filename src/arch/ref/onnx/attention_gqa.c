// SPDX-License-Identifier: Apache-2.0
// GroupQueryAttention of com.microsoft: sequences of different lengths in one growing state.

#include <math.h>

#include "arch/ref/functions.h"
#include "arch/ref/onnx/attention_core.h"
#include "arch/ref/onnx/attention_ms.h"
#include "arch/ref/onnx/doubles.h"
#include "base/deadline.h"

typedef struct gqa {
    ln_ms_attention attention;
    size_t total;   // keys after the longest past
    int64_t window; // keys that a query sees; negative: all
    size_t *used;   // [batch]: keys of each sequence
    size_t *starts; // [batch]: where its new keys go
    size_t *firsts; // [batch]: the place of its first query
    const tl_tensor *scores;
} gqa;

// Lengths come from data. A prompt starts each sequence anew; otherwise new keys follow the old
// ones.
static ln_status read_lens(ln_call *call, gqa *g)
{
    const ln_ms_attention *a = &g->attention;
    const tl_tensor *lens = ln_call_in(call, LN_GQA_LENS);
    bool has_past = ln_call_in(call, LN_GQA_PAST_K) != NULL;
    bool is_prompt = g->total == (size_t)a->q_len || !has_past;
    size_t batch = (size_t)a->batch;
    g->used = ln_call_scratch(call, batch + 1, sizeof *g->used);
    g->starts = ln_call_scratch(call, batch + 1, sizeof *g->starts);
    g->firsts = ln_call_scratch(call, batch + 1, sizeof *g->firsts);
    if (!g->used || !g->starts || !g->firsts)
        return LN_NO_MEMORY;
    if (ln_call_is_counting(call))
        return LN_OK;
    for (size_t b = 0; b < batch; b++) {
        int64_t last = ln_elem_int(lens, b);
        if (last < 0 || last >= (int64_t)g->total || (!is_prompt && last + 1 < a->q_len))
            return ln_call_fail(call, LN_INVALID, "has seqlens_k %lld for %zu keys and %d queries",
                                (long long)last, g->total, a->q_len);
        g->used[b] = (size_t)last + 1;
        g->starts[b] = g->firsts[b] = is_prompt ? 0 : g->used[b] - (size_t)a->q_len;
    }
    return LN_OK;
}

static ln_key_span bias_row(const void *self, size_t b, size_t head, size_t at, double *out_row)
{
    const gqa *g = self;
    const tl_tensor *scores = g->scores;
    size_t end = g->firsts[b] + at + 1;
    // Queries after the end of a shorter sequence see all of it; nobody reads what they get.
    if (end > g->used[b])
        end = g->used[b];
    size_t begin = g->window < 0 || g->window > (int64_t)end ? 0 : end - (size_t)g->window;
    for (size_t key = begin; key < end; key++) {
        out_row[key] = 0;
        if (!scores || key >= (size_t)scores->dims[3])
            continue;
        size_t row = scores->dims[0] == 1 ? 0 : b, column = scores->dims[1] == 1 ? 0 : head;
        size_t line = (row * (size_t)scores->dims[1] + column) * (size_t)scores->dims[2] + at;
        out_row[key] += ln_elem_real(scores, line * (size_t)scores->dims[3] + key);
    }
    return (ln_key_span){begin, end};
}

// ---- Rotary embedding ----

static ln_status position_of(ln_call *call, const gqa *g, size_t b, size_t at, size_t *out_position)
{
    const tl_tensor *positions = ln_call_in(call, LN_GQA_POSITIONS);
    int64_t rows = ln_call_in(call, LN_GQA_COS)->dims[0];
    int64_t position = (int64_t)(g->firsts[b] + at);
    if (positions)
        position = ln_elem_int(positions, b * (size_t)g->attention.q_len + at);
    if (position < 0 || position >= rows)
        return ln_call_fail(call, LN_INVALID, "has position %lld, but angles for %lld",
                            (long long)position, (long long)rows);
    *out_position = (size_t)position;
    return LN_OK;
}

static void rotate_head(ln_call *call, size_t position, bool is_interleaved, double *x)
{
    const tl_tensor *cos = ln_call_in(call, LN_GQA_COS), *sin = ln_call_in(call, LN_GQA_SIN);
    size_t half = (size_t)cos->dims[1];
    for (size_t i = 0; i < half; i++) {
        double *x1 = x + (is_interleaved ? 2 * i : i);
        double *x2 = is_interleaved ? x1 + 1 : x1 + half;
        double c = ln_elem_real(cos, position * half + i);
        double s = ln_elem_real(sin, position * half + i);
        double turned = c * *x1 - s * *x2;
        *x2 = s * *x1 + c * *x2;
        *x1 = turned;
    }
}

// Turns the new tokens in [batch, heads, capacity, size].
static ln_status rotate(ln_call *call, const gqa *g, size_t heads, size_t capacity,
                        const size_t *starts, double *x)
{
    const ln_ms_attention *a = &g->attention;
    bool is_interleaved = ln_call_int(call, "rotary_interleaved") != 0;
    if (!ln_call_int(call, "do_rotary"))
        return LN_OK;
    for (size_t row = 0; row < (size_t)a->batch * heads; row++) {
        size_t b = row / heads, start = starts ? starts[b] : 0;
        for (size_t at = 0; at < (size_t)a->q_len && !ln_deadline_passed(); at++) {
            size_t position = 0;
            LN_TRY(position_of(call, g, b, at, &position));
            rotate_head(call, position, is_interleaved,
                        x + (row * capacity + start + at) * (size_t)a->size);
        }
    }
    return LN_OK;
}

// ---- The operator ----

// Keys or values: what is used of the past, then the new ones; zeros after. NULL with a recorded
// failure.
static double *join(ln_call *call, const gqa *g, const ln_head_view *view, int data, int past)
{
    const ln_ms_attention *a = &g->attention;
    size_t heads = (size_t)a->kv_heads, size = (size_t)a->size, capacity = (size_t)a->kv_len;
    size_t rows = (size_t)a->batch * heads, past_len = (size_t)a->past_len;
    const tl_tensor *old = ln_call_in(call, past), *given = ln_call_in(call, data);
    const double *fresh = ln_ref_doubles(call, given ? given : ln_call_in(call, LN_GQA_Q));
    double *state = ln_ref_new_doubles(call, rows * capacity * size);
    if (!fresh || !state)
        return NULL;
    if (ln_call_is_counting(call))
        return state;
    // The past of a sequence is never longer than the tensor that holds it.
    for (size_t row = 0; old && row < rows; row++) {
        size_t start = g->starts[row / heads], kept = start < past_len ? start : past_len;
        for (size_t i = 0; i < kept * size; i++)
            state[row * capacity * size + i] = ln_elem_real(old, row * past_len * size + i);
    }
    const ln_head_copy copy = {.data = fresh,
                               .view = *view,
                               .batch = (size_t)a->batch,
                               .heads = heads,
                               .len = (size_t)a->new_len,
                               .size = size,
                               .capacity = capacity,
                               .starts = g->starts};
    ln_ref_copy_heads(&copy, state);
    return state;
}

// A score that every softmax has beside those of the keys: NULL where there is none.
static ln_status read_sink(ln_call *call, const gqa *g, const double **out_sink)
{
    const tl_tensor *sink = ln_call_in(call, LN_GQA_SINK);
    *out_sink = NULL;
    if (!sink && ln_call_int(call, "smooth_softmax") <= 0)
        return LN_OK;
    *out_sink =
        sink ? ln_ref_doubles(call, sink) : ln_ref_new_doubles(call, (size_t)g->attention.q_heads);
    return *out_sink ? LN_OK : LN_NO_MEMORY;
}

static void store_qk(const gqa *g, const double *qk, tl_tensor *t)
{
    size_t capacity = (size_t)g->attention.kv_len;
    for (size_t i = 0; t && i < (size_t)t->len; i++)
        ln_elem_set_real(t, i, qk[i / g->total * capacity + i % g->total]);
}

static void store(tl_tensor *t, const double *values)
{
    for (int i = 0; t && i < t->len; i++)
        ln_elem_set_real(t, (size_t)i, values[i]);
}

// Queries; NULL with a recorded failure.
static double *load_queries(ln_call *call, const gqa *g)
{
    const ln_ms_attention *a = &g->attention;
    size_t batch = (size_t)a->batch, heads = (size_t)a->q_heads, len = (size_t)a->q_len;
    const double *data = ln_ref_doubles(call, ln_call_in(call, LN_GQA_Q));
    double *q = ln_ref_new_doubles(call, batch * heads * len * (size_t)a->size);
    if (!data || !q)
        return NULL;
    if (ln_call_is_counting(call))
        return q;
    const ln_head_copy copy = {.data = data,
                               .view = a->q,
                               .batch = batch,
                               .heads = heads,
                               .len = len,
                               .size = (size_t)a->size,
                               .capacity = len};
    ln_ref_copy_heads(&copy, q);
    return q;
}

ln_status ln_ref_ms_gqa(ln_call *call)
{
    gqa g = {.scores = ln_call_in(call, LN_GQA_SCORES), .window = -1};
    int64_t total;
    LN_TRY(ln_ms_gqa_read(call, &g.attention, &total));
    const ln_ms_attention *a = &g.attention;
    g.total = (size_t)total;
    if (ln_call_has(call, "local_window_size"))
        g.window = ln_call_int(call, "local_window_size");
    LN_TRY(read_lens(call, &g));

    size_t queries = (size_t)a->batch * (size_t)a->q_heads * (size_t)a->q_len;
    tl_tensor *qk_tensor = ln_call_dst(call, 3);
    const double *sink;
    LN_TRY(read_sink(call, &g, &sink));
    double *q = load_queries(call, &g);
    double *k = join(call, &g, &a->k, LN_GQA_K, LN_GQA_PAST_K);
    double *v = join(call, &g, &a->v, LN_GQA_V, LN_GQA_PAST_V);
    double *y = ln_ref_new_doubles(call, queries * (size_t)a->size);
    double *qk = qk_tensor ? ln_ref_new_doubles(call, queries * (size_t)a->kv_len) : NULL;
    if (!q || !k || !v || !y || (qk_tensor && !qk))
        return LN_NO_MEMORY;
    if (!ln_call_is_counting(call)) {
        LN_TRY(rotate(call, &g, (size_t)a->q_heads, (size_t)a->q_len, NULL, q));
        LN_TRY(rotate(call, &g, (size_t)a->kv_heads, (size_t)a->kv_len, g.starts, k));
    }

    const ln_attend attend = {.batch = (size_t)a->batch,
                              .q_heads = (size_t)a->q_heads,
                              .kv_heads = (size_t)a->kv_heads,
                              .q_len = (size_t)a->q_len,
                              .kv_len = (size_t)a->kv_len,
                              .size = (size_t)a->size,
                              .v_size = (size_t)a->size,
                              .q = q,
                              .k = k,
                              .v = v,
                              .scale = a->scale,
                              .softcap = a->softcap,
                              .bias = bias_row,
                              .self = &g,
                              .zero_if_hidden = true,
                              .sink = sink,
                              .y = y,
                              .qk = qk,
                              .qk_mode = ln_call_int(call, "qk_output") == 2 ? LN_QK_PROBABILITIES
                                                                             : LN_QK_BIASED};
    LN_TRY(ln_ref_attend(call, &attend));
    if (ln_call_is_counting(call))
        return LN_OK;
    ln_ref_pack_heads(y, (size_t)a->batch, (size_t)a->q_heads, (size_t)a->q_len, (size_t)a->size,
                      ln_call_dst(call, 0));
    store(ln_call_dst(call, 1), k);
    store(ln_call_dst(call, 2), v);
    store_qk(&g, qk, qk_tensor);
    return LN_OK;
}
