// SPDX-License-Identifier: Apache-2.0
// Shapes of attention.

#include "op/attention.h"

#include <limits.h>
#include <stdbool.h>

#include <lightnet/shape.h>
#include <lightnet/status.h>

ln_attention_heads ln_attention_heads_of(const ln_attention_heads *given, const tl_tensor *q)
{
    ln_attention_heads h = *given;
    if (h.kv_heads == 0)
        h.kv_heads = h.heads;
    if (h.head_size == 0)
        h.head_size = (q->dims[2] - h.q_first) / h.heads;
    return h;
}

static ln_status check_heads(const ln_attention_heads *h, const tl_tensor *q)
{
    if (h->heads % h->kv_heads != 0)
        return LN_FAIL(LN_INVALID, "%d heads cannot share %d heads of keys", h->heads, h->kv_heads);
    if (h->head_size < 1)
        return LN_FAIL(LN_INVALID, "%d channels behind %d are too few for %d heads", q->dims[2],
                       h->q_first, h->heads);
    return LN_OK;
}

// Whether `heads` heads fit in the channels of `t` from `first` on.
static ln_status check_channels(const char *name, const tl_tensor *t, int first, int heads,
                                int head_size)
{
    if ((long long)heads * head_size <= (long long)t->dims[2] - first)
        return LN_OK;
    return LN_FAIL(LN_INVALID, "%d heads of %d do not fit in the %d channels of `%s` behind %d",
                   heads, head_size, t->dims[2], name, first);
}

static ln_status check_mask(const tl_tensor *mask, const int whole[4])
{
    if (!mask)
        return LN_OK;
    bool fits = mask->ndim >= 1 && mask->ndim <= 4 && mask->dims[mask->ndim - 1] == whole[3];
    for (int i = 0; fits && i < mask->ndim - 1; i++) {
        int dim = mask->dims[i];
        fits = dim == 1 || dim == whole[4 - mask->ndim + i];
    }
    if (fits)
        return LN_OK;
    char text[LN_SHAPE_TEXT_BYTES];
    return LN_FAIL(LN_INVALID, "a mask %s does not fit scores [%d, %d, %d, %d]",
                   ln_sprint_shape(text, sizeof text, mask->ndim, mask->dims), whole[0], whole[1],
                   whole[2], whole[3]);
}

static ln_status check_all(const tl_tensor *q, const tl_tensor *k, const tl_tensor *v,
                           const tl_tensor *mask, const ln_attention_heads *h)
{
    LN_TRY(check_heads(h, q));
    if (k->dims[0] != q->dims[0] || v->dims[0] != q->dims[0] || v->dims[1] != k->dims[1])
        return LN_FAIL(LN_INVALID,
                       "keys [%d, %d, ...] and values [%d, %d, ...] do not fit %d images",
                       k->dims[0], k->dims[1], v->dims[0], v->dims[1], q->dims[0]);
    if (k->dims[1] == 0)
        return LN_FAIL(LN_INVALID, "attention needs a key");
    LN_TRY(check_channels("q", q, h->q_first, h->heads, h->head_size));
    LN_TRY(check_channels("k", k, h->k_first, h->kv_heads, h->head_size));
    LN_TRY(check_channels("v", v, h->v_first, h->kv_heads, h->head_size));
    return check_mask(mask, (int[]){q->dims[0], h->heads, q->dims[1], k->dims[1]});
}

int ln_shape_attention(int *dims, const tl_tensor *q, const tl_tensor *k, const tl_tensor *v,
                       const tl_tensor *mask, const ln_attention_heads *given)
{
    ln_attention_heads h = ln_attention_heads_of(given, q);
    if (check_all(q, k, v, mask, &h) != LN_OK)
        return -1;
    dims[0] = q->dims[0];
    dims[1] = q->dims[1];
    dims[2] = h.heads * h.head_size;
    return 3;
}

void ln_attention_mask_strides(size_t strides[3], const tl_tensor *mask)
{
    size_t step = (size_t)mask->dims[mask->ndim - 1];
    for (int axis = 2; axis >= 0; axis--) {
        int own = axis - (4 - mask->ndim);
        int dim = own < 0 ? 1 : mask->dims[own];
        strides[axis] = dim > 1 ? step : 0;
        step *= (size_t)dim;
    }
}
