// SPDX-License-Identifier: Apache-2.0
// Heads, masks and workspace for the attention kernel.

#include "arch/cpu/attention_core.h"

#include <math.h>
#include <string.h>

#include "arch/cpu/call.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/attention/attention.h"
#include "arch/cpu/kernels/eltwise/eltwise.h"

static ln_attention_f32_shape shape_of(const ln_cpu_attend *a)
{
    return (ln_attention_f32_shape){.batch = a->batch,
                                    .heads = a->q_heads,
                                    .kv_heads = a->kv_heads,
                                    .queries = a->q_len,
                                    .keys = a->kv_len,
                                    .size = a->size};
}

ln_status ln_cpu_attend_check(ln_call *call, const ln_cpu_attend *a)
{
    ln_attention_f32_shape shape = shape_of(a);
    if (a->kv_len == 0 || a->size == 0 || a->q_heads == 0 || a->kv_heads == 0)
        return ln_call_fail(call, LN_UNSUPPORTED, "is for some keys here");
    if (ln_attention_f32_check(&shape) != LN_OK)
        return ln_call_fail(call, LN_UNSUPPORTED, "is too large here");
    return LN_OK;
}

ln_head_view ln_cpu_dense_view(size_t heads, size_t capacity, size_t size)
{
    return (ln_head_view){.batch_stride = heads * capacity * size,
                          .token_stride = size,
                          .head_stride = capacity * size};
}

static const float *head_at(const ln_cpu_heads *heads, size_t b, size_t head, size_t token)
{
    const ln_head_view *v = &heads->view;
    return heads->data + v->first + b * v->batch_stride + head * v->head_stride +
           token * v->token_stride;
}

void ln_cpu_copy_heads(const ln_cpu_head_copy *c)
{
    for (size_t row = 0; row < c->batch * c->heads; row++) {
        size_t b = row / c->heads, head = row % c->heads;
        float *to = c->to + (row * c->capacity + c->start) * c->size;
        for (size_t at = 0; at < c->len; at++, to += c->size)
            memcpy(to, head_at(&c->from, b, head, at), c->size * sizeof *to);
    }
}

// ---- Keys that are not seen ----
//
// The kernel weighs them by 0, or adds -infinity to their scores, so that NaN and infinity in keys
// and values that are hidden make NaN. Such queries are told by their results, which costs next
// to nothing, and computed again one by one.

static ln_key_span seen_by(const ln_cpu_attend *a, size_t b, size_t query)
{
    return a->seen ? a->seen(a->self, b, query) : (ln_key_span){0, a->kv_len};
}

// NULL: nothing is added.
static const float *mask_row(const ln_cpu_attend *a, size_t b, size_t head, size_t query)
{
    const ln_cpu_mask *m = &a->mask;
    size_t at = b * m->strides[0] + head * m->strides[1] + query * m->strides[2];
    return m->data ? m->data + at : NULL;
}

static bool is_hidden(const float *mask, ln_key_span seen)
{
    for (size_t key = seen.begin; key < seen.end; key++)
        if (!mask || mask[key] != -INFINITY)
            return false;
    return true;
}

static float scale_of(const ln_cpu_attend *a)
{
    return a->scale != 0 ? (float)a->scale : 1 / __builtin_sqrtf((float)a->size);
}

// A query and what it is computed from.
typedef struct lone_query {
    const ln_cpu_attend *attend;
    size_t b, kv_head;
    const float *q, *mask;
    ln_key_span seen;
} lone_query;

static float score_of(const lone_query *l, size_t key)
{
    const ln_cpu_attend *a = l->attend;
    const float *k = head_at(&a->k, l->b, l->kv_head, key);
    const float scale = scale_of(a);
    float score = 0;
    for (size_t i = 0; i < a->size; i++)
        score = fmaf(l->q[i], k[i] * scale, score);
    return l->mask ? score + l->mask[key] : score;
}

static float exponential(float x)
{
    float y;
    ln_act_f32(ln_cpu_isa_get(), &(ln_act_f32_args){.act = LN_ACT_EXP}, 1, &x, &y, NULL);
    return y;
}

// As the kernel does it, but for what it does not see.
static void attend_alone(const lone_query *l, float *y)
{
    const ln_cpu_attend *a = l->attend;
    float max = -INFINITY, total = 0;
    memset(y, 0, a->size * sizeof *y);
    for (size_t key = l->seen.begin; key < l->seen.end && !isnan(max); key++) {
        float score = score_of(l, key);
        max = score > max || isnan(score) ? score : max;
    }
    bool is_number = isfinite(max); // else all weights are NaN
    for (size_t key = l->seen.begin; key < l->seen.end && is_number; key++) {
        const float *value = head_at(&a->v, l->b, l->kv_head, key);
        float weight = exponential(score_of(l, key) - max);
        total += weight;
        for (size_t i = 0; i < a->size; i++)
            y[i] = fmaf(weight, value[i], y[i]);
    }
    for (size_t i = 0; i < a->size; i++)
        y[i] = is_number ? y[i] / total : a->is_guarded ? 0 : NAN;
}

static float *result_at(const ln_cpu_attend *a, size_t b, size_t head, size_t query)
{
    const ln_cpu_heads y = {a->y, a->y_view};
    return a->y + (head_at(&y, b, head, query) - a->y);
}

static bool has_nan(const ln_cpu_attend *a, const float *y)
{
    for (size_t i = 0; i < a->size; i++)
        if (isnan(y[i]))
            return true;
    return false;
}

static bool is_zero(const ln_cpu_attend *a, const float *y)
{
    for (size_t i = 0; i < a->size; i++)
        if (y[i] != 0)
            return false;
    return true;
}

static void mend_query(const ln_cpu_attend *a, size_t b, size_t head, size_t query)
{
    float *y = result_at(a, b, head, query);
    const ln_key_span seen = seen_by(a, b, query);
    const float *mask = mask_row(a, b, head, query);
    const size_t kv_head = head / (a->q_heads / a->kv_heads);
    const lone_query l = {a, b, kv_head, head_at(&a->q, b, head, query), mask, seen};
    if (!has_nan(a, y) && !(a->is_guarded && is_zero(a, y)))
        return;
    if (a->zero_if_hidden && is_hidden(mask, seen))
        memset(y, 0, a->size * sizeof *y);
    else if (seen.begin > 0 || seen.end < a->kv_len)
        attend_alone(&l, y);
}

// Weights of 0 make NaN of values that are infinite.
static void guard_query(const ln_cpu_attend *a, size_t b, size_t head, size_t query)
{
    float *y = result_at(a, b, head, query);
    const lone_query l = {a,
                          b,
                          head / (a->q_heads / a->kv_heads),
                          head_at(&a->q, b, head, query),
                          mask_row(a, b, head, query),
                          seen_by(a, b, query)};
    if (has_nan(a, y))
        attend_alone(&l, y);
}

static bool may_hide_all(const ln_cpu_attend *a)
{
    return a->zero_if_hidden && a->mask.data;
}

// A key makes all results of a query NaN, or 0 if it is guarded, unless the kernel knows itself
// what causal queries see. A value makes one of each query that does not see it, and the first or
// the last query is among them.
static void mend_head(const ln_cpu_attend *a, size_t b, size_t head)
{
    bool has_odd_values = a->seen && (has_nan(a, result_at(a, b, head, 0)) ||
                                      has_nan(a, result_at(a, b, head, a->q_len - 1)));
    bool may_be_odd = has_odd_values || !a->is_causal || may_hide_all(a);
    for (size_t query = 0; query < a->q_len && may_be_odd; query++) {
        float first = *result_at(a, b, head, query);
        if (has_odd_values || isnan(first) || (a->is_guarded && first == 0))
            mend_query(a, b, head, query);
    }
    for (size_t query = 0; query < a->q_len && a->is_guarded; query++)
        guard_query(a, b, head, query);
}

static void mend(const ln_cpu_attend *a)
{
    bool may_be_odd = a->seen || may_hide_all(a) || a->is_guarded;
    for (size_t row = 0; may_be_odd && row < a->batch * a->q_heads; row++)
        mend_head(a, row / a->q_heads, row % a->q_heads);
}

void ln_cpu_attend_run(ln_call *call, const ln_cpu_attend *a, ln_cpu_carver *carver)
{
    if (a->batch == 0 || a->q_len == 0)
        return;
    ln_attention_f32_shape shape = shape_of(a);
    float *workspace = ln_cpu_carve(carver, ln_attention_f32_workspace(&shape));
    if (ln_cpu_is_planning(carver))
        return;
    ln_pool *pool = ln_cpu_call_pool(call);
    ln_attention_f32_args args = {
        .shape = shape,
        .q = a->q.data + a->q.view.first,
        .k = a->k.data + a->k.view.first,
        .v = a->v.data + a->v.view.first,
        .q_stride = a->q.view.token_stride,
        .k_stride = a->k.view.token_stride,
        .v_stride = a->v.view.token_stride,
        .y = a->y + a->y_view.first,
        .y_stride = a->y_view.token_stride,
        .q_head = a->q.view.head_stride,
        .k_head = a->k.view.head_stride,
        .v_head = a->v.view.head_stride,
        .y_head = a->y_view.head_stride,
        .q_image = a->q.view.batch_stride,
        .k_image = a->k.view.batch_stride,
        .v_image = a->v.view.batch_stride,
        .y_image = a->y_view.batch_stride,
        .mask = a->mask.data,
        .mask_strides = {a->mask.strides[0], a->mask.strides[1], a->mask.strides[2]},
        .scale = scale_of(a),
        .is_causal = a->is_causal,
        .is_guarded = a->is_guarded,
        .keys_before = a->keys_before,
    };
    ln_attention_f32(ln_cpu_isa_get(), &args, workspace, pool);
    mend(a);
}
