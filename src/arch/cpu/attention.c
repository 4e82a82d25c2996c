// SPDX-License-Identifier: Apache-2.0
// From tensors and parameters of attention to the kernel's arguments.

#include "arch/cpu/attention.h"

#include <limits.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/attention/attention.h"

static ln_attention_f32_shape shape_of(const tl_tensor *q, const tl_tensor *k,
                                       const ln_attention_heads *h)
{
    return (ln_attention_f32_shape){.batch = (size_t)q->dims[0],
                                    .heads = (size_t)h->heads,
                                    .kv_heads = (size_t)h->kv_heads,
                                    .queries = ln_attention_view_of(q, 0, h->head_size).tokens,
                                    .keys = ln_attention_view_of(k, 0, h->head_size).tokens,
                                    .size = (size_t)h->head_size};
}

ln_status ln_cpu_attention(ln_pool *pool, const ln_cpu_attention_tensors *tensors,
                           const ln_attention_heads *given, float scale, ln_bool is_causal,
                           ln_bool is_guarded)
{
    const tl_tensor *q = tensors->q, *k = tensors->k, *v = tensors->v;
    ln_attention_heads h = ln_attention_heads_of(given, q);
    const ln_attention_view qs = ln_attention_view_of(q, h.q_first, h.head_size);
    const ln_attention_view ks = ln_attention_view_of(k, h.k_first, h.head_size);
    const ln_attention_view vs = ln_attention_view_of(v, h.v_first, h.head_size);
    const ln_attention_view ys = ln_attention_view_of(tensors->dst, 0, h.head_size);
    ln_attention_f32_args args = {
        .shape = shape_of(q, k, &h),
        .q = (const float *)q->data + qs.first,
        .k = (const float *)k->data + ks.first,
        .v = (const float *)v->data + vs.first,
        .q_stride = qs.token,
        .k_stride = ks.token,
        .v_stride = vs.token,
        .y = tensors->dst->data,
        .y_stride = ys.token,
        .q_head = qs.head,
        .k_head = ks.head,
        .v_head = vs.head,
        .y_head = ys.head,
        .q_image = qs.image,
        .k_image = ks.image,
        .v_image = vs.image,
        .y_image = ys.image,
        .mask = tensors->mask ? tensors->mask->data : NULL,
        .scale = scale != 0 ? scale : 1 / __builtin_sqrtf((float)h.head_size),
        .is_causal = is_causal,
        .is_guarded = is_guarded,
    };
    if (tensors->mask)
        ln_attention_mask_strides(args.mask_strides, tensors->mask);
    ln_attention_f32(ln_cpu_isa_get(), &args, tensors->workspace->data, pool);
    return LN_OK;
}

int ln_cpu_attention_workspace(int *dims, const tl_tensor *q, const tl_tensor *k,
                               const ln_attention_heads *given)
{
    ln_attention_heads h = ln_attention_heads_of(given, q);
    ln_attention_f32_shape shape = shape_of(q, k, &h);
    if (ln_attention_f32_check(&shape) != LN_OK)
        return -1;
    size_t count = ln_attention_f32_workspace(&shape);
    dims[0] = count ? (int)count : 1;
    return 1;
}
