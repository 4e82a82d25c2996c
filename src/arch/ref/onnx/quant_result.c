// SPDX-License-Identifier: Apache-2.0
// Operands without their zero points, and sums that are scaled and written.

#include "arch/ref/onnx/quant_result.h"

#include "arch/ref/onnx/quant_round.h"
#include "base/deadline.h"

float *ln_quant_centred(ln_call *call, const tl_tensor *t, const tl_tensor *zero_point, int axis)
{
    ln_quant_spread zero;
    float *centred = ln_call_scratch(call, (size_t)t->len, sizeof *centred);
    if (!centred ||
        ln_quant_spread_over(call, "a zero point", zero_point, 0, axis, t, &zero) != LN_OK)
        return NULL;
    if (ln_call_is_counting(call))
        return centred;
    bool is_one = zero.ndim == 0;
    double one = is_one ? ln_quant_spread_at(&zero, 0) : 0;
    for (int64_t i = 0; i < t->len && !ln_deadline_passed_at((size_t)i); i++)
        centred[i] =
            (float)(ln_elem_real(t, (size_t)i) - (is_one ? one : ln_quant_spread_at(&zero, i)));
    return centred;
}

ln_status ln_quant_result_read(ln_call *call, const ln_quant_places *places, int row_axis,
                               int column_axis, ln_quant_result *out_result)
{
    const tl_tensor *dst = ln_call_dst(call, 0);
    *out_result = (ln_quant_result){
        .dst = ln_call_dst(call, 0),
        .alpha = ln_call_has(call, "alpha") ? ln_call_float(call, "alpha") : 1,
    };
#define READ(member, place, otherwise, axis)                                                       \
    LN_TRY(ln_quant_spread_over(call, #place, ln_quant_in(call, places->place), otherwise, axis,   \
                                dst, &out_result->member))
    READ(a_scale, a_scale, 1, row_axis);
    READ(b_scale, b_scale, 1, column_axis);
    READ(y_scale, y_scale, 1, row_axis);
    READ(y_zero, y_zero, 0, row_axis);
    READ(bias, bias, 0, column_axis);
#undef READ
    const tl_tensor *bias = out_result->bias.values;
    out_result->bias_is_scaled = bias && bias->dtype == TL_INT32;
    return LN_OK;
}

void ln_quant_result_put(const void *result, int64_t i, double sum)
{
    const ln_quant_result *r = result;
    tl_tensor *dst = r->dst;
    if (r->bias_is_scaled)
        sum += ln_quant_spread_at(&r->bias, i);
    if (dst->dtype == TL_INT32) {
        ln_elem_set_int(dst, (size_t)i, (int64_t)sum);
        return;
    }
    // The factor is a float, as whoever made the scales has computed it.
    float scales =
        (float)ln_quant_spread_at(&r->a_scale, i) * (float)ln_quant_spread_at(&r->b_scale, i);
    float factor = (float)r->alpha * scales / (float)ln_quant_spread_at(&r->y_scale, i);
    if (LN_TYPES_BYTE >> dst->dtype & 1) {
        ln_put_quantized(dst->data, dst->dtype, (size_t)i, (double)((float)sum * factor),
                         ln_quant_spread_at(&r->y_zero, i));
        return;
    }
    double y = sum * (double)factor;
    if (r->bias_is_scaled || !r->bias.values)
        ln_elem_set_real(dst, (size_t)i, y + ln_quant_spread_at(&r->y_zero, i));
    else
        ln_elem_set_real(dst, (size_t)i, y + ln_quant_spread_at(&r->bias, i));
}
