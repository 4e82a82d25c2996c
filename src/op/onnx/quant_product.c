// SPDX-License-Identifier: Apache-2.0
// Shapes of convolutions and matrix products of quantized tensors.

#include "op/onnx/quant_product.h"

#include <limits.h>

#include "op/functions.h"
#include "tensor/elem.h"

const ln_quant_places ln_places_conv_integer = {0, -1, 2, 1, -1, 3, -1, -1, -1};
const ln_quant_places ln_places_qlinear_conv = {0, 1, 2, 3, 4, 5, 6, 7, 8};
const ln_quant_places ln_places_matmul_integer = {0, -1, 2, 1, -1, 3, -1, -1, -1};
const ln_quant_places ln_places_qlinear_matmul = {0, 1, 2, 3, 4, 5, 6, 7, -1};
const ln_quant_places ln_places_qgemm = {0, 1, 2, 3, 4, 5, 7, 8, 6};
const ln_quant_places ln_places_matmul_to_float = {0, 2, 4, 1, 3, 5, -1, -1, 6};
const ln_quant_places ln_places_dynamic_matmul = {0, -1, -1, 1, 2, 3, -1, -1, 4};

// ---- Parameters along an axis ----

static ln_status read_spread(ln_call *call, const char *name, const tl_tensor *values,
                             double otherwise, int axis, int ndim, const int64_t *dims,
                             ln_quant_spread *out_spread)
{
    *out_spread = (ln_quant_spread){.values = values, .otherwise = otherwise};
    if (!values || values->len == 1)
        return LN_OK;
    bool fits = values->ndim <= ndim && values->len > 0;
    bool is_vector = values->ndim == 1 && axis >= 0 && axis < ndim;
    int64_t step = 1;
    for (int d = ndim - 1; fits && d >= 0; d--) {
        int at = d - (ndim - values->ndim);
        int64_t dim = is_vector ? (d == axis ? values->dims[0] : 1) : at < 0 ? 1 : values->dims[at];
        fits = dim == 1 || dim == dims[d];
        out_spread->steps[d] = dim == 1 ? 0 : step;
        out_spread->dims[d] = dims[d];
        step *= dim;
    }
    if (!fits)
        return ln_call_fail(call, LN_INVALID, "the shape of %s does not go with what it is for",
                            name);
    out_spread->ndim = ndim;
    return LN_OK;
}

ln_status ln_quant_spread_over(ln_call *call, const char *name, const tl_tensor *values,
                               double otherwise, int axis, const tl_tensor *over,
                               ln_quant_spread *out_spread)
{
    int64_t dims[TL_MAXDIM];
    for (int d = 0; d < over->ndim; d++)
        dims[d] = over->dims[d];
    return read_spread(call, name, values, otherwise, axis, over->ndim, dims, out_spread);
}

double ln_quant_spread_at(const ln_quant_spread *spread, int64_t i)
{
    if (!spread->values)
        return spread->otherwise;
    int64_t at = 0;
    for (int d = spread->ndim - 1; d >= 0; d--) {
        at += i % spread->dims[d] * spread->steps[d];
        i /= spread->dims[d];
    }
    return ln_elem_real(spread->values, (size_t)at);
}

// ---- Convolutions ----

static ln_status check_bias(ln_call *call, const tl_tensor *bias, int64_t count, const char *what)
{
    if (!bias || (bias->ndim == 1 && bias->dims[0] == count))
        return LN_OK;
    return ln_call_fail(call, LN_INVALID, "the bias is not one element for each of %lld %s",
                        (long long)count, what);
}

ln_status ln_quant_conv_read(ln_call *call, const ln_quant_places *places, ln_conv_call *out_conv)
{
    ln_conv_call *conv = out_conv;
    *conv = (ln_conv_call){.src = ln_call_in(call, places->a),
                           .weight = ln_call_in(call, places->b),
                           .bias = ln_quant_in(call, places->bias),
                           .group = ln_call_has(call, "group") ? ln_call_int(call, "group") : 1};
    LN_TRY(ln_window_read(call, conv->src, conv->weight, &conv->window));
    if (conv->group < 1 || conv->group > INT_MAX)
        return ln_call_fail(call, LN_INVALID, "group is %lld", (long long)conv->group);

    const int *src = conv->src->dims, *weight = conv->weight->dims;
    conv->in_channels = weight[1];
    conv->out_channels = weight[0] / conv->group;
    if (weight[0] % conv->group != 0 || conv->in_channels * conv->group != src[1])
        return ln_call_fail(call, LN_INVALID,
                            "%d channels, weights for %d of them and %d outputs, %lld groups",
                            src[1], weight[1], weight[0], (long long)conv->group);
    return check_bias(call, conv->bias, weight[0], "channels");
}

static ln_status give_conv(ln_call *call, const ln_quant_places *places, tl_dtype dtype)
{
    ln_conv_call conv;
    LN_TRY(ln_quant_conv_read(call, places, &conv));
    int64_t dims[TL_MAXDIM] = {conv.src->dims[0], conv.weight->dims[0]};
    ln_window_out_dims(&conv.window, dims);
    return ln_call_out64(call, 0, dtype, conv.src->ndim, dims);
}

ln_status ln_infer_conv_integer(ln_call *call)
{
    return give_conv(call, &ln_places_conv_integer, TL_INT32);
}

ln_status ln_infer_qlinear_conv(ln_call *call)
{
    return give_conv(call, &ln_places_qlinear_conv, ln_call_in(call, 7)->dtype);
}

double ln_macs_quant_conv(const ln_call *call)
{
    const tl_tensor *second = ln_call_in(call, 1), *dst = ln_call_dst(call, 0);
    const tl_tensor *weight = second->ndim >= 3 ? second : ln_call_in(call, 3);
    if (!dst || !weight || weight->ndim < 1 || weight->dims[0] == 0)
        return 0;
    return (double)dst->len * (double)weight->len / weight->dims[0];
}

// ---- Matrix products ----

static ln_status give_matmul(ln_call *call, const ln_quant_places *places, tl_dtype dtype)
{
    ln_matmul_call matmul;
    LN_TRY(ln_matmul_pair_read(call, places->a, places->b, &matmul));
    return ln_call_out64(call, 0, dtype, matmul.ndim, matmul.dims);
}

// With a bias of one element for each column: what another shape would mean is not stated, and
// ONNX Runtime reads the first elements of it. Nor is it stated what a scale of B that is no vector
// and has not B's rank would mean: ONNX Runtime multiplies the bias by it too.
static ln_status give_matmul_of_columns(ln_call *call, const ln_quant_places *places,
                                        tl_dtype dtype)
{
    ln_matmul_call matmul;
    const tl_tensor *bias = ln_quant_in(call, places->bias);
    const tl_tensor *scale = ln_quant_in(call, places->b_scale);
    const int ndim = ln_call_in(call, places->b)->ndim;
    LN_TRY(ln_matmul_pair_read(call, places->a, places->b, &matmul));
    LN_TRY(check_bias(call, bias, matmul.b.columns, "columns"));
    if (bias && scale->ndim > 1 && scale->ndim != ndim)
        return ln_call_fail(call, LN_INVALID,
                            "b_scale of rank %d beside a bias is neither one element for each "
                            "column nor of B's rank, %d",
                            scale->ndim, ndim);
    return ln_call_out64(call, 0, dtype, matmul.ndim, matmul.dims);
}

ln_status ln_infer_matmul_integer(ln_call *call)
{
    return give_matmul(call, &ln_places_matmul_integer, TL_INT32);
}

ln_status ln_infer_qlinear_matmul(ln_call *call)
{
    return give_matmul(call, &ln_places_qlinear_matmul, ln_call_in(call, 7)->dtype);
}

ln_status ln_infer_qgemm(ln_call *call)
{
    if (ln_call_in(call, 0)->ndim != 2 || ln_call_in(call, 3)->ndim != 2)
        return ln_call_fail(call, LN_INVALID, "A and B should be matrices");
    const tl_tensor *scale = ln_call_in(call, 7), *zero = ln_call_in(call, 8);
    if (scale && !zero)
        return ln_call_fail(call, LN_INVALID, "there is y_scale, but no y_zero_point");
    return give_matmul(call, &ln_places_qgemm, scale ? zero->dtype : TL_FLOAT);
}

ln_status ln_infer_matmul_to_float(ln_call *call)
{
    return give_matmul_of_columns(call, &ln_places_matmul_to_float, ln_call_in(call, 2)->dtype);
}

ln_status ln_infer_dynamic_matmul(ln_call *call)
{
    return give_matmul_of_columns(call, &ln_places_dynamic_matmul, TL_FLOAT);
}

double ln_macs_quant_matmul(const ln_call *call)
{
    const tl_tensor *a = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    int axis = a->ndim - (ln_call_int(call, "transA") ? 2 : 1);
    return dst && axis >= 0 ? (double)dst->len * a->dims[axis] : 0;
}
