// SPDX-License-Identifier: Apache-2.0
// Attention and MultiHeadAttention of com.microsoft: projections, masks and packings around the
// kernel.

#include "arch/cpu/functions.h"
#include "op/functions.h"

#include <math.h>

#include "arch/cpu/call.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/gemm/packed.h"
#include "arch/cpu/onnx/attention_core.h"
#include "op/prepare.h"

static ln_cpu_attend sizes_of(const ln_ms_attention *a)
{
    size_t heads = (size_t)a->q_heads, size = (size_t)a->v_size, tokens = (size_t)a->q_len;
    return (ln_cpu_attend){.batch = (size_t)a->batch,
                           .q_heads = heads,
                           .kv_heads = (size_t)a->kv_heads,
                           .q_len = tokens,
                           .kv_len = (size_t)a->kv_len,
                           .size = (size_t)a->size,
                           .y_view = {.batch_stride = tokens * heads * size,
                                      .token_stride = heads * size,
                                      .head_stride = size},
                           .scale = a->scale,
                           .is_causal = a->is_causal,
                           .zero_if_hidden = true,
                           .keys_before = (size_t)a->past_len};
}

static ln_status check(ln_call *call, const ln_ms_attention *a, int mask, int scores)
{
    const tl_tensor *bias = ln_call_in(call, scores);
    for (int i = 0; i < ln_call_in_count(call) && i <= LN_MHA_PAST_V; i++) {
        const tl_tensor *in = ln_call_in(call, i);
        if (in && i != mask && in->dtype != TL_FLOAT)
            return ln_call_fail(call, LN_UNSUPPORTED, "is for float32 here");
    }
    if (a->v_size != a->size || a->softcap != 0)
        return ln_call_fail(call, LN_UNSUPPORTED, "is for plain scores, keys like values here");
    if (bias && (bias->ndim != 4 || bias->dims[3] != a->kv_len))
        return ln_call_fail(call, LN_UNSUPPORTED, "is for a bias of all scores here");
    ln_cpu_attend attend = sizes_of(a);
    return ln_cpu_attend_check(call, &attend);
}

ln_status ln_cpu_accepts_ms_attention(ln_call *call)
{
    ln_ms_attention a;
    LN_TRY(ln_ms_attention_read(call, &a));
    return check(call, &a, LN_MS_ATTENTION_MASK, LN_MS_ATTENTION_SCORES);
}

ln_status ln_cpu_accepts_ms_mha(ln_call *call)
{
    ln_ms_attention a;
    LN_TRY(ln_ms_mha_read(call, &a));
    if (ln_call_wants(call, 3))
        return ln_call_fail(call, LN_UNSUPPORTED, "is without scores here");
    return check(call, &a, LN_MHA_MASK, LN_MHA_SCORES);
}

// ---- What hides keys ----

// What the mask says of a key, be it by ends and starts of sequences, by keys, or by queries too.
static bool is_masked(const ln_ms_attention *a, const tl_tensor *mask, size_t b, size_t query,
                      size_t key)
{
    const int32_t *m = mask->data;
    size_t batch = (size_t)a->batch, kv_len = (size_t)a->kv_len;
    if (mask->ndim == 1) {
        bool has_starts = (size_t)mask->len == 2 * batch;
        return (int64_t)key >= m[b] || (has_starts && (int64_t)key < m[batch + b]);
    }
    if (mask->ndim == 3)
        return m[(b * (size_t)a->q_len + query) * kv_len + key] <= 0;
    // One that is as long as the new keys says nothing of those of the past.
    size_t len = (size_t)mask->dims[1], first = kv_len - len;
    if (len == 1 && kv_len > 1)
        return false; // stands for no mask
    return key >= first && m[b * len + key - first] <= 0;
}

static ln_cpu_mask mask_of_scores(const ln_ms_attention *a, const tl_tensor *scores)
{
    size_t heads = (size_t)scores->dims[1], queries = (size_t)a->q_len;
    size_t matrix = queries * (size_t)a->kv_len;
    return (ln_cpu_mask){.data = scores->data,
                         .strides = {scores->dims[0] == 1 ? 0 : heads * matrix,
                                     heads == 1 ? 0 : matrix, (size_t)a->kv_len}};
}

// Writes out what is added to each score where a mask takes part.
static ln_status set_mask(ln_call *call, const ln_ms_attention *a, const tl_tensor *mask,
                          const tl_tensor *scores, ln_cpu_carver *room, ln_cpu_mask *out)
{
    const ln_cpu_mask given = scores ? mask_of_scores(a, scores) : (ln_cpu_mask){0};
    *out = given;
    if (!mask)
        return LN_OK;
    size_t keys = (size_t)a->kv_len, heads = given.strides[1] ? (size_t)a->q_heads : 1, rows, count;
    size_t queries = scores || mask->ndim == 3 ? (size_t)a->q_len : 1;
    if (__builtin_mul_overflow((size_t)a->batch * heads, queries, &rows) ||
        __builtin_mul_overflow(rows, keys, &count))
        return ln_call_fail(call, LN_LIMIT, "has too many scores");
    float *row = ln_cpu_carve(room, count), hidden = (float)a->hidden_score;
    if (ln_cpu_is_planning(room))
        return LN_OK;
    out->data = row;
    for (size_t i = 0; i < rows; i++, row += keys) {
        size_t b = i / queries / heads, head = i / queries % heads, query = i % queries;
        const float *from = given.data ? given.data + b * given.strides[0] +
                                             head * given.strides[1] + query * given.strides[2]
                                       : NULL;
        for (size_t key = 0; key < keys; key++)
            row[key] = (is_masked(a, mask, b, query, key) ? hidden : 0) + (from ? from[key] : 0);
    }
    out->strides[0] = heads * queries * keys;
    out->strides[1] = heads > 1 ? queries * keys : 0;
    out->strides[2] = queries > 1 ? keys : 0;
    return LN_OK;
}

// ---- The operators ----

// What differs between the two.
typedef struct inputs {
    const float *q, *k, *v;
    bool has_bias, has_past_k, has_past_v;
    bool has_present_k, has_present_v; // are wanted
    const float *bias;                 // [q + k + v]
    const float *past_k, *past_v;      // [batch, heads, past, size]
    float *present_k, *present_v;      // [batch, heads, keys, size]
    const tl_tensor *mask, *scores;    // or NULL
} inputs;

// One of q, k and v, and what it becomes.
typedef struct part {
    size_t heads, len;
    bool has_bias, has_past, has_present;
    const float *bias, *past; // of the part
    float *present;
} part;

// Heads with a bias, after those of the past, in `present` if that is wanted.
static ln_status join(ln_call *call, const ln_ms_attention *a, const part *p, ln_cpu_carver *room,
                      ln_cpu_heads *inout)
{
    size_t past_len = p->has_past ? (size_t)a->past_len : 0, tokens = past_len + p->len, count;
    size_t batch = (size_t)a->batch, size = (size_t)a->size;
    if (!p->has_bias && !p->has_past && !p->has_present)
        return LN_OK;
    if (__builtin_mul_overflow(batch * p->heads * size, tokens, &count))
        return ln_call_fail(call, LN_LIMIT, "has too many keys");
    float *joined = p->has_present ? p->present : ln_cpu_carve(room, count);
    if (ln_cpu_is_planning(room))
        return LN_OK;
    ln_cpu_head_copy copy = {.from = *inout,
                             .batch = batch,
                             .heads = p->heads,
                             .len = p->len,
                             .size = size,
                             .bias = p->has_bias ? p->bias : NULL,
                             .to = joined,
                             .room = tokens,
                             .start = past_len};
    ln_cpu_copy_heads(&copy);
    if (p->has_past) {
        copy.from = (ln_cpu_heads){p->past, ln_cpu_dense_view(p->heads, past_len, size)};
        copy.len = past_len;
        copy.bias = NULL;
        copy.start = 0;
        ln_cpu_copy_heads(&copy);
    }
    *inout = (ln_cpu_heads){joined, ln_cpu_dense_view(p->heads, tokens, size)};
    return LN_OK;
}

static ln_status run(ln_call *call, const ln_ms_attention *a, const inputs *in, ln_cpu_carver *room)
{
    ln_cpu_attend attend = sizes_of(a);
    size_t heads = attend.q_heads, width = heads * attend.size, len = (size_t)a->new_len;
    part q = {.heads = heads, .len = attend.q_len, .has_bias = in->has_bias, .bias = in->bias};
    part k = {.heads = heads,
              .len = len,
              .has_bias = in->has_bias,
              .has_past = in->has_past_k,
              .has_present = in->has_present_k,
              .bias = in->bias ? in->bias + width : NULL,
              .past = in->past_k,
              .present = in->present_k};
    part v = k;
    v.has_past = in->has_past_v;
    v.has_present = in->has_present_v;
    v.bias = in->bias ? in->bias + 2 * width : NULL;
    v.past = in->past_v;
    v.present = in->present_v;
    attend.q = (ln_cpu_heads){in->q, a->q};
    attend.k = (ln_cpu_heads){in->k, a->k};
    attend.v = (ln_cpu_heads){in->v, a->v};
    LN_TRY(join(call, a, &q, room, &attend.q));
    LN_TRY(join(call, a, &k, room, &attend.k));
    LN_TRY(join(call, a, &v, room, &attend.v));
    LN_TRY(set_mask(call, a, in->mask, in->scores, room, &attend.mask));
    attend.y = ln_cpu_is_planning(room) ? NULL : ln_call_dst(call, 0)->data;
    ln_cpu_attend_run(call, &attend, room);
    return LN_OK;
}

static const float *floats(const tl_tensor *t)
{
    return t ? t->data : NULL;
}

// What is made once.
typedef struct kept_attention {
    ln_ms_attention sizes;
    float *panels; // of the weights of Attention; NULL: a run packs them
} kept_attention;

static ln_status prepare_ms_attention(ln_call *call, kept_attention *kept)
{
    LN_TRY(ln_ms_attention_read(call, &kept->sizes));
    if (!ln_call_is_constant(call, LN_MS_ATTENTION_WEIGHTS))
        return LN_OK;
    const tl_tensor *w = ln_call_in(call, LN_MS_ATTENTION_WEIGHTS);
    size_t k = (size_t)w->dims[0], n = (size_t)w->dims[1];
    kept->panels = ln_call_keep(call, ln_gemm_packed_len(k, n), sizeof *kept->panels);
    if (!kept->panels)
        return ln_error_status();
    ln_gemm_pack_f32(ln_cpu_isa_get(), k, n, ln_call_value(call, LN_MS_ATTENTION_WEIGHTS), n, 1,
                     kept->panels, ln_cpu_call_pool(call));
    return LN_OK;
}

// Rows of the input times the weights, plus the bias.
static ln_status project(ln_call *call, float *panels, ln_cpu_carver *room,
                         const float **out_product)
{
    const tl_tensor *x = ln_call_in(call, LN_MS_ATTENTION_X);
    const tl_tensor *w = ln_call_in(call, LN_MS_ATTENTION_WEIGHTS);
    size_t rows = (size_t)x->dims[0] * (size_t)x->dims[1], count;
    size_t k = (size_t)w->dims[0], n = (size_t)w->dims[1];
    if (__builtin_mul_overflow(rows, n, &count))
        return ln_call_fail(call, LN_LIMIT, "has %zu rows of %zu", rows, n);
    float *product = ln_cpu_carve(room, count);
    bool is_kept = ln_call_is_constant(call, LN_MS_ATTENTION_WEIGHTS);
    float *packed = is_kept ? panels : ln_cpu_carve(room, ln_gemm_packed_len(k, n));
    *out_product = product;
    if (ln_cpu_is_planning(room))
        return LN_OK;
    ln_pool *pool = ln_cpu_call_pool(call);
    if (!is_kept)
        ln_gemm_pack_f32(ln_cpu_isa_get(), k, n, w->data, n, 1, packed, pool);
    const ln_gemm_packed_f32_args args = {
        .m = rows,
        .n = n,
        .k = k,
        .a = x->data,
        .a_stride = k,
        .packed = packed,
        .y = product,
        .y_stride = n,
        .epilogue = {.bias = floats(ln_call_in(call, LN_MS_ATTENTION_BIAS))}};
    ln_gemm_packed_f32(ln_cpu_isa_get(), &args, pool);
    return LN_OK;
}

// `present`, `past` of Attention are keys, and values after them.
static const float *second_half(const tl_tensor *t)
{
    return t && t->data ? (const float *)t->data + t->len / 2 : NULL;
}

static ln_status attention(ln_call *call, const void *block, ln_cpu_carver *room)
{
    const kept_attention *kept = block;
    const tl_tensor *past = ln_call_in(call, LN_MS_ATTENTION_PAST);
    inputs in = {.mask = ln_call_in(call, LN_MS_ATTENTION_MASK),
                 .scores = ln_call_in(call, LN_MS_ATTENTION_SCORES),
                 .has_past_k = past,
                 .has_past_v = past,
                 .has_present_k = ln_call_wants(call, 1),
                 .has_present_v = ln_call_wants(call, 1),
                 .past_k = floats(past),
                 .past_v = second_half(past)};
    if (in.has_present_k && !ln_cpu_is_planning(room)) {
        tl_tensor *present = ln_call_dst(call, 1);
        in.present_k = present->data;
        in.present_v = in.present_k + present->len / 2;
    }
    LN_TRY(project(call, kept->panels, room, &in.q));
    in.k = in.v = in.q;
    return run(call, &kept->sizes, &in, room);
}

static float *dst_floats(ln_call *call, int index)
{
    tl_tensor *dst = ln_call_dst(call, index);
    return dst ? dst->data : NULL;
}

static ln_status multi_head_attention(ln_call *call, const void *block, ln_cpu_carver *room)
{
    inputs in = {.q = floats(ln_call_in(call, LN_MHA_Q)),
                 .k = floats(ln_call_in(call, LN_MHA_K)),
                 .v = floats(ln_call_in(call, LN_MHA_V)),
                 .has_bias = ln_call_in(call, LN_MHA_BIAS),
                 .has_past_k = ln_call_in(call, LN_MHA_PAST_K),
                 .has_past_v = ln_call_in(call, LN_MHA_PAST_V),
                 .has_present_k = ln_call_wants(call, 1),
                 .has_present_v = ln_call_wants(call, 2),
                 .bias = floats(ln_call_in(call, LN_MHA_BIAS)),
                 .past_k = floats(ln_call_in(call, LN_MHA_PAST_K)),
                 .past_v = floats(ln_call_in(call, LN_MHA_PAST_V)),
                 .present_k = dst_floats(call, 1),
                 .present_v = dst_floats(call, 2),
                 .mask = ln_call_in(call, LN_MHA_MASK),
                 .scores = ln_call_in(call, LN_MHA_SCORES)};
    if (!in.k)
        in.k = in.q;
    if (!in.v)
        in.v = in.k;
    return run(call, block, &in, room);
}

#define ATTENTION_WORKSPACE 2
#define MHA_WORKSPACE       4

ln_status ln_cpu_infer_ms_attention(ln_call *call)
{
    kept_attention kept = {.panels = NULL};
    LN_TRY(ln_infer_ms_attention(call));
    LN_TRY(ln_ms_attention_read(call, &kept.sizes));
    return ln_cpu_attention_plan(call, ATTENTION_WORKSPACE, &kept, attention);
}

LN_PREPARE(ln_cpu_prepare_ms_attention, kept_attention, prepare_ms_attention)

ln_status ln_cpu_ms_attention(ln_call *call)
{
    return ln_cpu_attention_compute(call, ATTENTION_WORKSPACE, attention);
}

ln_status ln_cpu_infer_ms_mha(ln_call *call)
{
    ln_ms_attention a;
    LN_TRY(ln_infer_ms_mha(call));
    LN_TRY(ln_ms_mha_read(call, &a));
    return ln_cpu_attention_plan(call, MHA_WORKSPACE, &a, multi_head_attention);
}

LN_PREPARE(ln_cpu_prepare_ms_mha, ln_ms_attention, ln_ms_mha_read)

ln_status ln_cpu_ms_mha(ln_call *call)
{
    return ln_cpu_attention_compute(call, MHA_WORKSPACE, multi_head_attention);
}
