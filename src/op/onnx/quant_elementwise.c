// SPDX-License-Identifier: Apache-2.0
// Shapes of com.microsoft's operators on quantized tensors.

#include "op/onnx/quant_elementwise.h"
#include "op/functions.h"

#include <limits.h>
#include <string.h>

ln_status ln_quant_tensor_read(ln_call *call, int values, int scale, int zero_point,
                               ln_quant_tensor *out_tensor)
{
    *out_tensor = (ln_quant_tensor){.values = values < 0 ? NULL : ln_call_in(call, values),
                                    .scale = ln_call_in(call, scale),
                                    .zero_point = ln_call_in(call, zero_point)};
    const tl_tensor *zero = out_tensor->zero_point;
    if (!out_tensor->scale || out_tensor->scale->len != 1 || (zero && zero->len != 1))
        return ln_call_fail(call, LN_INVALID, "input %d and its zero point should be one number",
                            scale);
    if (values >= 0 && zero && zero->dtype != out_tensor->values->dtype)
        return ln_call_fail(call, LN_INVALID, "zero point %d is %s, its tensor is %s", zero_point,
                            tl_dtype_title(zero->dtype), tl_dtype_title(out_tensor->values->dtype));
    return LN_OK;
}

static ln_status give_broadcast(ln_call *call, int count, const tl_tensor *const *tensors,
                                tl_dtype dtype)
{
    int ndim, dims[TL_MAXDIM];
    LN_TRY(ln_call_broadcast(call, count, tensors, &ndim, dims));
    return ln_call_out(call, 0, dtype, ndim, dims);
}

ln_status ln_infer_qlinear_binary(ln_call *call)
{
    const tl_tensor *pair[] = {ln_call_in(call, 0), ln_call_in(call, 3)};
    return give_broadcast(call, 2, pair, pair[0]->dtype);
}

ln_status ln_infer_qlinear_where(ln_call *call)
{
    const tl_tensor *three[] = {ln_call_in(call, 0), ln_call_in(call, 1), ln_call_in(call, 4)};
    return give_broadcast(call, 3, three, three[1]->dtype);
}

ln_status ln_infer_qlinear_softmax(ln_call *call)
{
    int axis;
    const tl_tensor *x = ln_call_in(call, 0);
    if (x->ndim > 0)
        LN_TRY(ln_call_axis(call, "axis", x->ndim, &axis));
    return ln_call_out_like(call, 0, 0);
}

// Behind the scale and zero point of the output, each tensor has its own.
ln_status ln_infer_qlinear_concat(ln_call *call)
{
    int count = ln_call_in_count(call), axis, dims[TL_MAXDIM];
    if (count < 5 || (count - 2) % 3 != 0)
        return ln_call_fail(call, LN_INVALID, "%d inputs are not tensors with their scales", count);
    const tl_tensor *first = ln_call_in(call, 2), *zero = ln_call_in(call, 1);
    if (!first || !zero)
        return ln_call_fail(call, LN_INVALID, "a tensor or its zero point is missing");
    LN_TRY(ln_call_axis(call, "axis", first->ndim, &axis));
    memcpy(dims, first->dims, (size_t)first->ndim * sizeof *dims);
    dims[axis] = 0;
    for (int i = 2; i < count; i += 3) {
        ln_quant_tensor in;
        const tl_tensor *t = ln_call_in(call, i);
        if (!t || t->ndim != first->ndim || !(LN_TYPES_BYTE >> t->dtype & 1))
            return ln_call_fail(call, LN_INVALID, "input %d does not fit the first one", i);
        LN_TRY(ln_quant_tensor_read(call, i, i + 1, i + 2, &in));
        for (int d = 0; d < t->ndim; d++)
            if (d != axis && t->dims[d] != dims[d])
                return ln_call_fail(call, LN_INVALID, "input %d has %d on axis %d, not %d", i,
                                    t->dims[d], d, dims[d]);
        if (__builtin_add_overflow(dims[axis], t->dims[axis], &dims[axis]))
            return ln_call_fail(call, LN_LIMIT, "too many elements on axis %d", axis);
    }
    return ln_call_out(call, 0, zero->dtype, first->ndim, dims);
}

// ---- Poolings ----

ln_status ln_quant_pool_read(ln_call *call, bool is_global, bool is_channels_last,
                             ln_quant_pool *out_pool)
{
    const tl_tensor *src = ln_call_in(call, 0);
    *out_pool = (ln_quant_pool){.is_channels_last = is_channels_last};
    LN_TRY(ln_window_check_rank(call, src));
    int dims[TL_MAXDIM] = {src->dims[0], src->dims[1]};
    for (int i = 2; i < src->ndim; i++)
        dims[i] = src->dims[out_pool->is_channels_last ? i - 1 : i];
    if (out_pool->is_channels_last)
        dims[1] = src->dims[src->ndim - 1];
    tl_tensor channels_first = *src;
    channels_first.dims = dims;
    if (!is_global)
        return ln_window_read(call, &channels_first, NULL, &out_pool->window);

    out_pool->window.axis_count = src->ndim - 2;
    for (int i = 0; i < src->ndim - 2; i++)
        out_pool->window.axis[i] = (ln_window_axis){
            .in = dims[2 + i], .out = 1, .size = dims[2 + i], .stride = 1, .dilation = 1};
    return LN_OK;
}

static ln_status give_pool(ln_call *call, bool is_global, bool is_channels_last)
{
    const tl_tensor *src = ln_call_in(call, 0);
    ln_quant_pool pool;
    int64_t dims[TL_MAXDIM];
    LN_TRY(ln_quant_pool_read(call, is_global, is_channels_last, &pool));
    int first = pool.is_channels_last ? 1 : 2;
    dims[0] = src->dims[0];
    dims[pool.is_channels_last ? src->ndim - 1 : 1] =
        src->dims[pool.is_channels_last ? src->ndim - 1 : 1];
    for (int i = 0; i < pool.window.axis_count; i++)
        dims[first + i] = pool.window.axis[i].out;
    return ln_call_out64(call, 0, src->dtype, src->ndim, dims);
}

ln_status ln_infer_qlinear_pool(ln_call *call)
{
    return give_pool(call, false, ln_call_int(call, "channels_last") != 0);
}

ln_status ln_infer_qlinear_global_pool(ln_call *call)
{
    return give_pool(call, true, ln_call_int(call, "channels_last") != 0);
}

ln_status ln_infer_nhwc_max_pool(ln_call *call)
{
    return give_pool(call, false, true);
}

// ---- MatMulNBits ----

static ln_status check_len(ln_call *call, const char *name, const tl_tensor *t, int64_t len)
{
    if (!t || t->len == len)
        return LN_OK;
    return ln_call_fail(call, LN_INVALID, "%s has %d elements, not %lld", name, t->len,
                        (long long)len);
}

ln_status ln_nbits_call_read(ln_call *call, ln_nbits_call *out_nbits)
{
    const tl_tensor *a = ln_call_in(call, 0), *zero = ln_call_in(call, 3);
    ln_nbits_call *c = out_nbits;
    *c = (ln_nbits_call){.k = ln_call_int(call, "K"),
                         .n = ln_call_int(call, "N"),
                         .bits = ln_call_int(call, "bits"),
                         .block = ln_call_int(call, "block_size")};
    if (c->bits != 2 && c->bits != 4 && c->bits != 8)
        return ln_call_fail(call, LN_UNSUPPORTED, "weights of %lld bits", (long long)c->bits);
    if (c->k < 1 || c->n < 1 || c->k > INT_MAX || c->n > INT_MAX || c->block < 8 ||
        c->block > 1 << 16 || c->block % 8 != 0)
        return ln_call_fail(call, LN_INVALID, "K %lld, N %lld, block_size %lld", (long long)c->k,
                            (long long)c->n, (long long)c->block);
    c->block_count = (c->k + c->block - 1) / c->block;
    if (a->ndim < 1 || a->dims[a->ndim - 1] != c->k)
        return ln_call_fail(call, LN_INVALID, "the last dimension of A is not K, %lld",
                            (long long)c->k);
    LN_TRY(
        check_len(call, "B", ln_call_in(call, 1), c->n * c->block_count * c->block * c->bits / 8));
    LN_TRY(check_len(call, "scales", ln_call_in(call, 2), c->n * c->block_count));
    bool is_packed = zero && zero->dtype == TL_UINT8;
    LN_TRY(check_len(call, "zero_points", zero,
                     c->n * (is_packed ? (c->block_count * c->bits + 7) / 8 : c->block_count)));
    LN_TRY(check_len(call, "bias", ln_call_in(call, 5), c->n));
    const tl_tensor *group = ln_call_in(call, 4);
    if (group && group->len < c->k)
        return ln_call_fail(call, LN_INVALID, "g_idx has %d elements for K %lld", group->len,
                            (long long)c->k);
    return LN_OK;
}

ln_status ln_infer_matmul_nbits(ln_call *call)
{
    const tl_tensor *a = ln_call_in(call, 0);
    ln_nbits_call c;
    int dims[TL_MAXDIM];
    LN_TRY(ln_nbits_call_read(call, &c));
    memcpy(dims, a->dims, (size_t)a->ndim * sizeof *dims);
    dims[a->ndim - 1] = (int)c.n;
    return ln_call_out(call, 0, a->dtype, a->ndim, dims);
}

double ln_macs_matmul_nbits(const ln_call *call)
{
    return (double)ln_call_in(call, 0)->len * (double)ln_call_int(call, "N");
}

// Places outside of the image are looked at too.
double ln_cost_pool_any(const ln_call *call)
{
    const tl_tensor *dst = ln_call_dst(call, 0);
    double count = dst ? dst->len : 0;
    for (int i = 0; i < ln_call_count(call, "kernel_shape"); i++)
        count *= (double)ln_call_int_at(call, "kernel_shape", i);
    return ln_cost_steps(call) + count;
}
