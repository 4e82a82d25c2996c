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
        h.head_size = q->ndim == 4 ? q->dims[3] : (q->dims[2] - h.q_first) / h.heads;
    return h;
}

ln_attention_view ln_attention_view_of(const tl_tensor *t, int first, int head_size)
{
    size_t size = (size_t)head_size;
    if (t->ndim == 3) {
        size_t tokens = (size_t)t->dims[1], channels = (size_t)t->dims[2];
        return (ln_attention_view){(size_t)first, tokens * channels, channels, size, tokens};
    }
    size_t heads = (size_t)t->dims[1], tokens = (size_t)t->dims[2];
    return (ln_attention_view){0, heads * tokens * size, size, tokens * size, tokens};
}

static int tokens_of(const tl_tensor *t)
{
    return t->dims[t->ndim - 2];
}

static ln_status check_ranks(const tl_tensor *q, const tl_tensor *k, const tl_tensor *v)
{
    if ((q->ndim == 3 || q->ndim == 4) && k->ndim == q->ndim && v->ndim == q->ndim)
        return LN_OK;
    return LN_FAIL(LN_INVALID, "attention takes q, k and v of rank 3 or 4, not %d, %d and %d",
                   q->ndim, k->ndim, v->ndim);
}

static ln_status check_heads(const ln_attention_heads *h, const tl_tensor *q)
{
    if (h->heads % h->kv_heads != 0)
        return LN_FAIL(LN_INVALID, "%d heads cannot share %d heads of keys", h->heads, h->kv_heads);
    if (h->head_size < 1)
        return LN_FAIL(LN_INVALID, "%d channels after %d are too few for %d heads",
                       q->dims[q->ndim - 1], h->q_first, h->heads);
    return LN_OK;
}

// Whether `heads` heads stand in front of the tokens of `t`.
static ln_status check_front(const char *name, const tl_tensor *t, int first, int heads,
                             int head_size)
{
    if (t->dims[1] == heads && t->dims[3] == head_size && first == 0)
        return LN_OK;
    return LN_FAIL(LN_INVALID, "`%s` should have %d heads of %d, but has %d of %d, after %d", name,
                   heads, head_size, t->dims[1], t->dims[3], first);
}

// Whether `heads` heads fit in the channels of `t` from `first` on.
static ln_status check_channels(const char *name, const tl_tensor *t, int first, int heads,
                                int head_size)
{
    if (t->ndim == 4)
        return check_front(name, t, first, heads, head_size);
    if ((long long)heads * head_size <= (long long)t->dims[2] - first)
        return LN_OK;
    return LN_FAIL(LN_INVALID, "%d heads of %d do not fit in the %d channels of `%s` after %d",
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
    if (k->dims[0] != q->dims[0] || v->dims[0] != q->dims[0] || tokens_of(v) != tokens_of(k))
        return LN_FAIL(LN_INVALID, "%d x %d keys and %d x %d values do not fit %d images",
                       k->dims[0], tokens_of(k), v->dims[0], tokens_of(v), q->dims[0]);
    if (tokens_of(k) == 0)
        return LN_FAIL(LN_INVALID, "attention needs a key");
    LN_TRY(check_channels("q", q, h->q_first, h->heads, h->head_size));
    LN_TRY(check_channels("k", k, h->k_first, h->kv_heads, h->head_size));
    LN_TRY(check_channels("v", v, h->v_first, h->kv_heads, h->head_size));
    return check_mask(mask, (int[]){q->dims[0], h->heads, tokens_of(q), tokens_of(k)});
}

int ln_shape_attention(int *dims, const tl_tensor *q, const tl_tensor *k, const tl_tensor *v,
                       const tl_tensor *mask, const ln_attention_heads *given)
{
    if (check_ranks(q, k, v) != LN_OK)
        return -1;
    ln_attention_heads h = ln_attention_heads_of(given, q);
    if (check_all(q, k, v, mask, &h) != LN_OK)
        return -1;
    for (int i = 0; i < q->ndim; i++)
        dims[i] = q->dims[i];
    if (q->ndim == 3)
        dims[2] = h.heads * h.head_size;
    return q->ndim;
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
