// SPDX-License-Identifier: Apache-2.0
// Masks of attention of com.microsoft, and heads as its operators hold them.

#include "arch/ref/onnx/attention_ms.h"

#include "arch/ref/functions.h"
#include "arch/ref/onnx/attention_core.h"
#include "arch/ref/onnx/doubles.h"
#include "base/deadline.h"

void ln_ref_copy_heads(const ln_head_copy *copy, double *out)
{
    const ln_head_view *view = &copy->view;
    for (size_t row = 0; copy->size > 0 && row < copy->batch * copy->heads; row++) {
        size_t b = row / copy->heads, head = row % copy->heads, size = copy->size;
        size_t start = copy->starts ? copy->starts[b] : 0;
        for (size_t at = 0; at < copy->len; at++) {
            const double *from = copy->data + view->first + b * view->batch_stride +
                                 at * view->token_stride + head * view->head_stride;
            double *to = out + (row * copy->capacity + start + at) * size;
            for (size_t e = 0; e < size; e++)
                to[e] = from[e];
        }
    }
}

void ln_ref_pack_heads(const double *values, size_t batch, size_t heads, size_t len, size_t size,
                       tl_tensor *t)
{
    const ln_heads packed = ln_heads_packed((int)batch, (int)heads, (int)len, (int)size);
    ln_ref_store_heads(values, &packed, t);
}

// ---- Masks ----

// Be it by ends and starts of sequences, by keys, or by queries too.
static bool hides(const tl_tensor *mask, const ln_ms_attention *a, size_t b, size_t at, size_t key)
{
    size_t batch = (size_t)a->batch, kv_len = (size_t)a->kv_len;
    if (mask->ndim == 1) {
        bool has_starts = (size_t)mask->len == 2 * batch;
        return (int64_t)key >= ln_elem_int(mask, b) ||
               (has_starts && (int64_t)key < ln_elem_int(mask, batch + b));
    }
    if (mask->ndim == 3)
        return ln_elem_int(mask, (b * (size_t)a->q_len + at) * kv_len + key) <= 0;
    // One that is as long as the new keys says nothing of those of the past.
    size_t len = (size_t)mask->dims[1], first = kv_len - len;
    if (len == 1 && kv_len > 1)
        return false; // stands for no mask
    return key >= first && ln_elem_int(mask, b * len + key - first) <= 0;
}

ln_status ln_ref_attention_mask(ln_call *call)
{
    ln_ms_attention a;
    LN_TRY(ln_attention_mask_read(call, &a));
    const tl_tensor *mask = ln_call_in(call, LN_MASK_MASK);
    tl_tensor *dst = ln_call_dst(call, 0);
    double value = ln_call_float(call, "value");
    size_t keys = (size_t)dst->dims[3], queries = (size_t)dst->dims[2];
    for (size_t i = 0; i < (size_t)dst->len && !ln_deadline_passed_at(i); i++)
        ln_elem_set_real(
            dst, i, hides(mask, &a, i / keys / queries, i / keys % queries, i % keys) ? value : 0);
    return LN_OK;
}
