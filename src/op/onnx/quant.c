// SPDX-License-Identifier: Apache-2.0
// Shapes of QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear, and which of their scales
// is for which element.

#include "op/onnx/quant.h"
#include "op/functions.h"

static ln_status read_axis(ln_call *call, const tl_tensor *x, const tl_tensor *scale, int *out_axis)
{
    // Without an axis of x the one of the scales is meant; before opset 13 nobody could say more.
    if (x->ndim == 1 && scale->ndim == 1) {
        *out_axis = 0;
        return LN_OK;
    }
    return ln_call_check_axis(call, "axis", ln_call_int(call, "axis"), x->ndim, out_axis);
}

static ln_status read_blocks(ln_call *call, const tl_tensor *x, const tl_tensor *scale, int axis,
                             int64_t block, ln_quant_grid *grid)
{
    bool fits = block > 0 && scale->ndim == x->ndim;
    for (int d = 0; fits && d < x->ndim; d++)
        fits = scale->dims[d] == (d == axis ? (x->dims[d] + block - 1) / block : x->dims[d]);
    if (!fits)
        return ln_call_fail(call, LN_INVALID,
                            "the scale has not the shape of the input in blocks of %lld",
                            (long long)block);
    grid->block = block;
    grid->has_rows = true;
    return LN_OK;
}

ln_status ln_quant_grid_read(ln_call *call, const tl_tensor *x, const tl_tensor *scale,
                             const tl_tensor *zero_point, ln_quant_grid *out_grid)
{
    *out_grid = (ln_quant_grid){.is_single = true, .block = 1};
    if (zero_point && zero_point->len != scale->len)
        return ln_call_fail(call, LN_INVALID, "%d zero points for %d scales", zero_point->len,
                            scale->len);
    int64_t block = ln_call_has(call, "block_size") ? ln_call_int(call, "block_size") : 0;
    if (scale->len == 1 && scale->ndim <= 1)
        return LN_OK;
    if (scale->ndim == 0 || x->ndim == 0)
        return ln_call_fail(call, LN_INVALID, "a scalar has one scale, not %d", scale->len);

    int axis;
    LN_TRY(read_axis(call, x, scale, &axis));
    out_grid->is_single = false;
    out_grid->axis_len = x->dims[axis];
    out_grid->inner = 1;
    for (int d = axis + 1; d < x->ndim; d++)
        out_grid->inner *= x->dims[d];
    if (block != 0)
        LN_TRY(read_blocks(call, x, scale, axis, block, out_grid));
    else if (scale->ndim != 1 || scale->dims[0] != x->dims[axis])
        return ln_call_fail(call, LN_INVALID, "%d scales for %d elements on axis %d", scale->len,
                            x->dims[axis], axis);
    out_grid->scale_len = block != 0 ? scale->dims[axis] : scale->len;
    return LN_OK;
}

// The dtype that an optional parameter names; `otherwise` if it is 0 or not there.
static ln_status read_dtype(ln_call *call, const char *param, tl_dtype otherwise,
                            tl_dtype *out_dtype)
{
    *out_dtype = otherwise;
    bool is_given =
        ln_call_has(call, param) && (ln_call_string(call, param) || ln_call_int(call, param) != 0);
    return is_given ? ln_call_dtype(call, param, out_dtype) : LN_OK;
}

ln_status ln_infer_quantize(ln_call *call)
{
    const tl_tensor *x = ln_call_in(call, 0), *zero_point = ln_call_in(call, 2);
    ln_quant_grid grid;
    LN_TRY(ln_quant_grid_read(call, x, ln_call_in(call, 1), zero_point, &grid));

    tl_dtype dtype, precision;
    LN_TRY(read_dtype(call, "output_dtype", zero_point ? zero_point->dtype : TL_UINT8, &dtype));
    LN_TRY(read_dtype(call, "precision", TL_FLOAT, &precision));
    if (zero_point && dtype != zero_point->dtype)
        return ln_call_fail(call, LN_INVALID, "output_dtype is %s, but the zero point is %s",
                            tl_dtype_title(dtype), tl_dtype_title(zero_point->dtype));
    if (!(LN_TYPES_QUANT >> dtype & 1))
        return ln_call_fail(call, LN_INVALID, "cannot quantize to %s", tl_dtype_title(dtype));
    if (!(LN_TYPES_FLOAT >> precision & 1))
        return ln_call_fail(call, LN_INVALID, "cannot divide in %s", tl_dtype_title(precision));
    return ln_call_out(call, 0, dtype, x->ndim, x->dims);
}

ln_status ln_infer_dequantize(ln_call *call)
{
    const tl_tensor *x = ln_call_in(call, 0), *scale = ln_call_in(call, 1);
    ln_quant_grid grid;
    LN_TRY(ln_quant_grid_read(call, x, scale, ln_call_in(call, 2), &grid));

    tl_dtype dtype;
    LN_TRY(read_dtype(call, "output_dtype", scale->dtype, &dtype));
    if (!(LN_TYPES_FLOAT >> dtype & 1))
        return ln_call_fail(call, LN_INVALID, "cannot dequantize to %s", tl_dtype_title(dtype));
    return ln_call_out(call, 0, dtype, x->ndim, x->dims);
}

ln_status ln_infer_dynamic_quantize(ln_call *call)
{
    const tl_tensor *x = ln_call_in(call, 0);
    LN_TRY(ln_call_out(call, 0, TL_UINT8, x->ndim, x->dims));
    LN_TRY(ln_call_out(call, 1, TL_FLOAT, 0, NULL));
    return ln_call_out(call, 2, TL_UINT8, 0, NULL);
}
