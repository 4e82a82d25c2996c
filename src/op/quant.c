// SPDX-License-Identifier: Apache-2.0
// Shapes and operands of quantized operators of the core.

#include "op/quant.h"

#include <math.h>
#include <string.h>

#include "op/elementwise.h"
#include "op/functions.h"
#include "op/types.h"

// ---- Scales and zero points ----

static ln_status check_count(ln_call *call, const char *name, const tl_tensor *t, int64_t columns)
{
    if (!t || t->len == 1 || t->len == columns)
        return LN_OK;
    if (columns == 1)
        return ln_call_fail(call, LN_INVALID, "%s has %d numbers instead of one", name, t->len);
    return ln_call_fail(call, LN_INVALID, "%s has %d numbers instead of one, or %lld", name, t->len,
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
    if (activation->act == LN_ACT_RELU)
        *out_low = low > 0 ? low : high < 0 ? high : 0;
    if (activation->act == LN_ACT_CLIP) {
        *out_low = bounded((double)((float)activation->alpha / scale), low, high);
        *out_high = bounded((double)((float)activation->beta / scale), low, high);
    }
}

// ---- Products ----

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
    if (!p->src_scale && p->bias && p->bias->dtype != TL_INT32)
        return ln_call_fail(call, LN_INVALID, "a bias without scales should be TL_INT32, not %s",
                            tl_dtype_title(p->bias->dtype));
    p->kind = !p->src_scale   ? LN_QUANT_TO_SUM
              : !p->dst_scale ? LN_QUANT_TO_FLOAT
                              : LN_QUANT_TO_BYTE;
    p->dtype = p->kind == LN_QUANT_TO_SUM     ? TL_INT32
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

ln_status ln_quant_product_read(ln_call *call, int64_t columns, ln_quant_product *out_product)
{
    ln_quant_product *p = out_product;
    *p = (ln_quant_product){0};
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
        *operands[i].to = ln_call_in(call, operands[i].place);
        LN_TRY(check_count(call, operands[i].name, *operands[i].to, operands[i].columns));
    }
    p->bias = ln_call_in(call, 6);
    if (p->bias && p->bias->len != columns)
        return ln_call_fail(call, LN_INVALID, "the bias has %d elements instead of %lld",
                            p->bias->len, (long long)columns);
    LN_TRY(find_kind(call, p));
    LN_TRY(ln_activation_read(call, &p->activation));
    return check_activation(call, p);
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
            LN_TRY(check_count(call, numbers[i], ln_call_in(call, i), 1));
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
        LN_TRY(check_count(call, numbers[i], ln_call_in(call, 1 + i), 1));
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

static int32_t to_units(float number, float unit)
{
    double units = rint((double)number / (double)unit);
    return isnan(units)                 ? 0
           : units >= (double)INT32_MAX ? INT32_MAX
           : units <= (double)INT32_MIN ? INT32_MIN
                                        : (int32_t)units;
}

void ln_quant_columns_find(const ln_quant_product *p, int64_t columns, float *factors,
                           int32_t *bias)
{
    const float *weight_scale = p->weight_scale ? p->weight_scale->data : NULL;
    const int64_t step = weight_scale && p->weight_scale->len > 1;
    const float src_scale = weight_scale ? *(const float *)p->src_scale->data : 1;
    for (int64_t i = 0; i < columns; i++) {
        float unit = weight_scale ? src_scale * weight_scale[i * step] : 1;
        if (p->bias && p->bias->dtype == TL_INT32)
            bias[i] = ((const int32_t *)p->bias->data)[i];
        else
            bias[i] = p->bias && p->kind == LN_QUANT_TO_BYTE
                          ? to_units(((const float *)p->bias->data)[i], unit)
                          : 0;
        factors[i] = p->kind == LN_QUANT_TO_BYTE ? unit / *(const float *)p->dst_scale->data : unit;
    }
}
