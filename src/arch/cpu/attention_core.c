// SPDX-License-Identifier: Apache-2.0
// Heads, masks and workspace for the attention kernel.

#include "arch/cpu/attention_core.h"

#include <math.h>
#include <string.h>

#include "arch/cpu/call.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/attention/attention.h"

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

// ---- Queries that see nothing ----

static bool sees_nothing(const ln_cpu_attend *a, size_t b, size_t head, size_t query)
{
    const ln_cpu_mask *m = &a->mask;
    const float *row = m->data + b * m->strides[0] + head * m->strides[1] + query * m->strides[2];
    size_t seen = a->is_causal ? a->keys_before + query + 1 : a->kv_len;
    for (size_t key = 0; key < seen && key < a->kv_len; key++)
        if (row[key] != -INFINITY)
            return false;
    return true;
}

// The kernel has made NaN of them.
static void clear_blind(const ln_cpu_attend *a)
{
    const ln_cpu_heads y = {a->y, a->y_view};
    for (size_t row = 0;
         a->zero_if_hidden && a->mask.data && row < a->batch * a->q_heads * a->q_len; row++) {
        size_t query = row % a->q_len, head = row / a->q_len % a->q_heads;
        size_t b = row / a->q_len / a->q_heads;
        const float *at = head_at(&y, b, head, query);
        if (isnan(*at) && sees_nothing(a, b, head, query))
            memset(a->y + (at - a->y), 0, a->size * sizeof *at);
    }
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
        .scale = a->scale != 0 ? (float)a->scale : 1 / __builtin_sqrtf((float)a->size),
        .is_causal = a->is_causal,
        .is_guarded = a->is_guarded,
        .keys_before = a->keys_before,
    };
    ln_attention_f32(ln_cpu_isa_get(), &args, workspace, pool);
    clear_blind(a);
}
