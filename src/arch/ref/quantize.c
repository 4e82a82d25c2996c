// SPDX-License-Identifier: Apache-2.0
// Numbers and their quantized forms: quantize, dequantize and quantize_dynamic.

#include "arch/ref/functions.h"

#include <math.h>

#include "arch/ref/onnx/quant_round.h"
#include "base/deadline.h"
#include "op/onnx/quant.h"

static double zero_point_at(const tl_tensor *zero_point, int64_t at)
{
    return zero_point ? ln_elem_real(zero_point, (size_t)at) : 0;
}

// The type in which x / scale is rounded.
static ln_status read_precision(ln_call *call, tl_dtype *out_precision)
{
    tl_dtype scale = ln_call_in(call, 1)->dtype;
    *out_precision = LN_TYPES_FLOAT >> scale & 1 ? scale : TL_FLOAT;
    if (ln_call_string(call, "precision") || ln_call_int(call, "precision") != 0)
        return ln_call_dtype(call, "precision", out_precision);
    return LN_OK;
}

static void put_float(tl_tensor *dst, size_t i, double x, int saturates)
{
    ((uint8_t *)dst->data)[i] = (uint8_t)ln_narrow_encode(x, dst->dtype, saturates);
}

ln_status ln_ref_quantize(ln_call *call)
{
    const tl_tensor *x = ln_call_in(call, 0), *scale = ln_call_in(call, 1);
    const tl_tensor *zero_point = ln_call_in(call, 2);
    tl_tensor *dst = ln_call_dst(call, 0);
    int saturates = ln_call_int(call, "saturate") != 0;
    tl_dtype precision;
    ln_quant_grid grid;
    LN_TRY(ln_quant_grid_read(call, x, scale, zero_point, &grid));
    LN_TRY(read_precision(call, &precision));

    for (int64_t i = 0; i < x->len && !ln_deadline_passed_at((size_t)i); i++) {
        int64_t at = ln_quant_scale_of(&grid, i);
        // A double holds all digits of a quotient that decide how a shorter type rounds it.
        double number = ln_elem_round(ln_elem_real(x, (size_t)i), precision, 0);
        double divisor = ln_elem_round(ln_elem_real(scale, (size_t)at), precision, 0);
        double quotient = ln_elem_round(number / divisor, precision, 0);
        double zero = zero_point_at(zero_point, at);
        if (TL_DTYPE_IS_NARROW(dst->dtype))
            put_float(dst, (size_t)i, quotient + zero, saturates);
        else
            ln_put_quantized(dst->data, dst->dtype, (size_t)i, quotient, zero);
    }
    return LN_OK;
}

ln_status ln_ref_dequantize(ln_call *call)
{
    const tl_tensor *x = ln_call_in(call, 0), *scale = ln_call_in(call, 1);
    const tl_tensor *zero_point = ln_call_in(call, 2);
    tl_tensor *dst = ln_call_dst(call, 0);
    ln_quant_grid grid;
    LN_TRY(ln_quant_grid_read(call, x, scale, zero_point, &grid));
    for (int64_t i = 0; i < x->len && !ln_deadline_passed_at((size_t)i); i++) {
        int64_t at = ln_quant_scale_of(&grid, i);
        double number = ln_elem_real(x, (size_t)i) - zero_point_at(zero_point, at);
        ln_elem_set_real(dst, (size_t)i, number * ln_elem_real(scale, (size_t)at));
    }
    return LN_OK;
}

// ---- DynamicQuantizeLinear ----

// In float at every step, as the operator is defined.
void ln_dynamic_scale(const tl_tensor *x, float *out_scale, float *out_zero_point)
{
    const float *numbers = x->data;
    float least = 0, most = 0;
    for (int i = 0; i < x->len && !ln_deadline_passed_at((size_t)i); i++) {
        least = numbers[i] < least ? numbers[i] : least;
        most = numbers[i] > most ? numbers[i] : most;
    }
    *out_scale = (most - least) / 255;
    if (!(*out_scale > 0))
        *out_scale = 1; // nothing but zeros
    *out_zero_point = rintf(fminf(fmaxf(0 - least / *out_scale, 0), 255));
}

ln_status ln_ref_quantize_dynamic(ln_call *call)
{
    const tl_tensor *x = ln_call_in(call, 0);
    const float *numbers = x->data;
    float scale, zero_point;
    ln_dynamic_scale(x, &scale, &zero_point);

    tl_tensor *y = ln_call_dst(call, 0), *y_scale = ln_call_dst(call, 1);
    tl_tensor *y_zero_point = ln_call_dst(call, 2);
    for (int i = 0; y && i < x->len; i++)
        ln_put_quantized(y->data, TL_UINT8, (size_t)i, (double)(numbers[i] / scale),
                         (double)zero_point);
    if (y_scale)
        *(float *)y_scale->data = scale;
    if (y_zero_point)
        *(uint8_t *)y_zero_point->data = (uint8_t)zero_point;
    return LN_OK;
}
