// SPDX-License-Identifier: Apache-2.0
// Shapes and operands of quantized operators of the core.

#include "op/quant.h"

#include <math.h>
#include <string.h>

#include "op/elementwise.h"
#include "op/functions.h"
#include "op/types.h"

// ---- Scales and zero points ----

// Columns are the last axis of a result, or its channels; any axis before it has a length of 1, as
// scales of rows or of a batch would be as many by chance only.
static bool are_of_columns(const tl_tensor *t, int64_t columns)
{
    return t->len == columns && (columns == 1 || t->dims[t->ndim - 1] == columns);
}

static ln_status check_numbers(ln_call *call, const char *name, const tl_tensor *t, int64_t columns)
{
    if (!t || t->len == 1 || are_of_columns(t, columns))
        return LN_OK;
    char shape[128];
    ln_sprint_shape(shape, sizeof shape, t->ndim, t->dims);
    if (columns == 1)
        return ln_call_fail(call, LN_INVALID, "%s %s should be one number", name, shape);
    return ln_call_fail(call, LN_INVALID, "%s %s should be one number, or [%lld]", name, shape,
                        (long long)columns);
}

int32_t ln_quant_zero(const tl_tensor *zero)
{
    if (!zero || !zero->data)
        return 0;
    return zero->dtype == TL_INT8 ? *(const int8_t *)zero->data : *(const uint8_t *)zero->data;
}

static int32_t bounded(double number, int32_t low, int32_t high)
{
    return !(number > low) ? low : number > high ? high : (int32_t)rint(number);
}

void ln_quant_bounds(const ln_activation *activation, float scale, tl_dtype dtype, int32_t zero,
                     int32_t *out_low, int32_t *out_high)
{
    const int32_t least = dtype == TL_INT8 ? -128 : 0;
    const int32_t low = least - zero, high = least + 255 - zero;
    *out_low = low;
    *out_high = high;
    float from, to;
    if (activation->act == LN_ACT_RELU) {
        from = 0;
        to = INFINITY;
    } else if (activation->act == LN_ACT_CLIP) {
        to = (float)activation->beta;
        from = (float)activation->alpha > to ? to : (float)activation->alpha;
    } else {
        return;
    }
    // A negative scale turns the order round.
    *out_low = bounded((double)((scale < 0 ? to : from) / scale), low, high);
    *out_high = bounded((double)((scale < 0 ? from : to) / scale), low, high);
}

// ---- Products ----

// The largest product of two differences of bytes.
#define MAX_PRODUCT (255.0 * 255.0)

static ln_status fail_alone(ln_call *call, const char *given, const char *missing)
{
    return ln_call_fail(call, LN_INVALID, "there is %s, but no %s", given, missing);
}

static ln_status find_kind(ln_call *call, ln_quant_product *p)
{
    if (!p->src_scale != !p->weight_scale)
        return p->src_scale ? fail_alone(call, "src_scale", "weight_scale")
                            : fail_alone(call, "weight_scale", "src_scale");
    if (p->dst_scale && !p->src_scale)
        return fail_alone(call, "dst_scale", "src_scale");
    if (p->dst_zero && !p->dst_scale)
        return fail_alone(call, "dst_zero", "dst_scale");
    const tl_dtype sums = ln_call_in(call, 0)->dtype == TL_INT16 ? TL_INT64 : TL_INT32;
    if (p->src_scale && sums == TL_INT64)
        return ln_call_fail(call, LN_INVALID, "src of INT16 takes no scales");
    if (!p->src_scale && p->bias && p->bias->dtype != sums)
        return ln_call_fail(call, LN_INVALID, "a bias without scales should be %s, not %s",
                            tl_dtype_title(sums), tl_dtype_title(p->bias->dtype));
    if (p->src_scale && p->bias && p->bias->dtype == TL_INT64)
        return ln_call_fail(call, LN_INVALID,
                            "a bias of bytes should be INT32 or FLOAT, not INT64");
    p->kind = !p->src_scale   ? LN_QUANT_TO_SUM
              : !p->dst_scale ? LN_QUANT_TO_FLOAT
                              : LN_QUANT_TO_BYTE;
    p->dtype = p->kind == LN_QUANT_TO_SUM     ? sums
               : p->kind == LN_QUANT_TO_FLOAT ? TL_FLOAT
               : p->dst_zero                  ? p->dst_zero->dtype
                                              : TL_UINT8;
    return LN_OK;
}

static bool is_bound(ln_act act)
{
    return act == LN_ACT_NONE || act == LN_ACT_RELU || act == LN_ACT_CLIP;
}

static ln_status check_activation(ln_call *call, const ln_quant_product *p)
{
    ln_act act = p->activation.act;
    if (p->kind == LN_QUANT_TO_FLOAT || act == LN_ACT_NONE)
        return LN_OK;
    if (p->kind == LN_QUANT_TO_SUM)
        return ln_call_fail(call, LN_INVALID, "activation %s needs scales", ln_act_name(act));
    if (is_bound(act))
        return LN_OK;
    return ln_call_fail(call, LN_INVALID, "activation %s is for results of TL_FLOAT",
                        ln_act_name(act));
}

ln_status ln_quant_product_read_at(ln_call *call, int first, const ln_activation *activation,
                                   int64_t columns, ln_quant_product *out_product)
{
    ln_quant_product *p = out_product;
    *p = (ln_quant_product){.activation = *activation};
    const struct {
        const char *name;
        int place;
        const tl_tensor **to;
        int64_t columns;
    } operands[] = {
        {"src_scale", 2, &p->src_scale, 1},
        {"src_zero", 3, &p->src_zero, 1},
        {"weight_scale", 4, &p->weight_scale, columns},
        {"weight_zero", 5, &p->weight_zero, columns},
        {"dst_scale", 7, &p->dst_scale, 1},
        {"dst_zero", 8, &p->dst_zero, 1},
    };
    for (size_t i = 0; i < sizeof operands / sizeof operands[0]; i++) {
        *operands[i].to = ln_call_in(call, first + operands[i].place);
        LN_TRY(check_numbers(call, operands[i].name, *operands[i].to, operands[i].columns));
    }
    p->bias = ln_call_in(call, first + 6);
    if (p->bias && !are_of_columns(p->bias, columns))
        return ln_call_fail(call, LN_INVALID, "the bias has %d elements instead of [%lld]",
                            p->bias->len, (long long)columns);
    LN_TRY(find_kind(call, p));
    return check_activation(call, p);
}

ln_status ln_quant_product_read(ln_call *call, int64_t columns, ln_quant_product *out_product)
{
    ln_activation activation;
    LN_TRY(ln_activation_read(call, &activation));
    return ln_quant_product_read_at(call, 0, &activation, columns, out_product);
}

ln_status ln_infer_quant_conv(ln_call *call)
{
    ln_conv_call conv;
    ln_quant_product product;
    LN_TRY(ln_conv_call_read_plain(call, &conv));
    LN_TRY(ln_quant_product_read(call, conv.weight->dims[0], &product));
    int64_t dims[TL_MAXDIM] = {conv.src->dims[0], conv.weight->dims[0]};
    ln_window_out_dims(&conv.window, dims);
    return ln_call_out64(call, 0, product.dtype, conv.src->ndim, dims);
}

ln_status ln_infer_quant_matmul(ln_call *call)
{
    ln_matmul_call matmul;
    ln_quant_product product;
    LN_TRY(ln_matmul_call_read(call, &matmul));
    LN_TRY(ln_quant_product_read(call, matmul.b.columns, &product));
    if (ln_call_int(call, "exact") && product.dtype != TL_INT64 &&
        (double)matmul.b.rows * MAX_PRODUCT > (double)INT32_MAX)
        return ln_call_fail(call, LN_UNSUPPORTED, "a sum of %lld products may leave 32 bits",
                            (long long)matmul.b.rows);
    return ln_call_out64(call, 0, product.dtype, matmul.ndim, matmul.dims);
}

// ---- Element by element ----

static tl_dtype dtype_of(const tl_tensor *dst_zero)
{
    return dst_zero ? dst_zero->dtype : TL_UINT8;
}

ln_status ln_infer_quant_elew(ln_call *call)
{
    static const char *const numbers[] = {[1] = "scale1", [3] = "scale2", [4] = "dst_scale",
                                          [5] = "zero1",  [6] = "zero2",  [7] = "dst_zero"};
    const tl_tensor *const src[] = {ln_call_in(call, 0), ln_call_in(call, 2)};
    int op, ndim, dims[TL_MAXDIM];
    ln_activation activation;
    for (int i = 0; i < 8; i++)
        if (numbers[i])
            LN_TRY(check_numbers(call, numbers[i], ln_call_in(call, i), 1));
    LN_TRY(ln_elew_op_read(call, &op));
    LN_TRY(ln_activation_read(call, &activation));
    if (op != TL_SUM && op != TL_SUB && op != TL_MUL)
        return ln_call_fail(call, LN_INVALID, "elew_op should be TL_SUM, TL_SUB or TL_MUL");
    if (!is_bound(activation.act))
        return ln_call_fail(call, LN_INVALID, "act should be none, relu or clip, not %s",
                            ln_act_name(activation.act));
    LN_TRY(ln_call_broadcast(call, 2, src, &ndim, dims));
    return ln_call_out(call, 0, dtype_of(ln_call_in(call, 7)), ndim, dims);
}

ln_status ln_infer_quant_act(ln_call *call)
{
    static const char *const numbers[] = {"src_scale", "dst_scale", "src_zero", "dst_zero"};
    const tl_tensor *src = ln_call_in(call, 0);
    ln_activation activation;
    for (int i = 0; i < 4; i++)
        LN_TRY(check_numbers(call, numbers[i], ln_call_in(call, 1 + i), 1));
    LN_TRY(ln_activation_read(call, &activation));
    return ln_call_out(call, 0, dtype_of(ln_call_in(call, 4)), src->ndim, src->dims);
}

static float scale_of(const ln_call *call, int index)
{
    return *(const float *)ln_call_in(call, index)->data;
}

static int32_t zero_of(const ln_call *call, int index)
{
    return ln_quant_zero(ln_call_in(call, index));
}

void ln_quant_elew_read(const ln_call *call, ln_quant_map *out_map)
{
    *out_map = (ln_quant_map){.src = {ln_call_in(call, 0), ln_call_in(call, 2)},
                              .scale = {scale_of(call, 1), scale_of(call, 3)},
                              .zero = {zero_of(call, 5), zero_of(call, 6)},
                              .dst_scale = scale_of(call, 4),
                              .dst_zero = zero_of(call, 7)};
}

void ln_quant_act_read(const ln_call *call, ln_quant_map *out_map)
{
    *out_map = (ln_quant_map){.src = {ln_call_in(call, 0)},
                              .scale = {scale_of(call, 1)},
                              .zero = {zero_of(call, 3)},
                              .dst_scale = scale_of(call, 2),
                              .dst_zero = zero_of(call, 4)};
}

// ---- From sums to results ----

// A bias in floats that is a whole number of units of the sum, as one that was an integer and has
// been dequantized, goes with the sum if that cannot leave 32 bits; the nearest one otherwise
// would be off by up to half a unit, which may be many bytes.
static bool goes_with_sum(float number, float unit, int64_t terms, int32_t *out_units)
{
    *out_units = 0;
    if (number == 0)
        return true;
    const double units = rint((double)number / (double)unit);
    const double most = (double)INT32_MAX - MAX_PRODUCT * (double)terms;
    if (!(fabs(units) <= most))
        return false;
    *out_units = (int32_t)units;
    return fabs(units * (double)unit - (double)number) <= 0x1p-22 * fabs((double)number);
}

bool ln_quant_columns_find(const ln_quant_product *p, int64_t columns, int64_t terms,
                           ln_quant_columns out)
{
    const float *weight_scale = p->weight_scale ? p->weight_scale->data : NULL;
    const int64_t step = weight_scale && p->weight_scale->len > 1;
    const float src_scale = weight_scale ? *(const float *)p->src_scale->data : 1;
    const float dst_scale = p->kind == LN_QUANT_TO_BYTE ? *(const float *)p->dst_scale->data : 1;
    const bool is_float = p->bias && p->bias->dtype == TL_FLOAT;
    bool has_float_bias = is_float && p->kind == LN_QUANT_TO_FLOAT;
    for (int64_t i = 0; i < columns; i++) {
        const float unit = weight_scale ? src_scale * weight_scale[i * step] : 1;
        out.factors[i] = unit / dst_scale;
        out.bias[i] = p->bias && !is_float ? ((const int32_t *)p->bias->data)[i] : 0;
        out.float_bias[i] = 0;
        if (!is_float)
            continue;
        const float number = ((const float *)p->bias->data)[i];
        if (p->kind == LN_QUANT_TO_BYTE && goes_with_sum(number, unit, terms, &out.bias[i]))
            continue;
        out.bias[i] = 0;
        out.float_bias[i] = number / dst_scale;
        has_float_bias = true;
    }
    return has_float_bias;
}
