// SPDX-License-Identifier: Apache-2.0
// Operands of rescale, and its roundings, of one number each.

#include "op/rescale.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include <lightnet/op_support.h>

#include "op/call.h"
#include "op/functions.h"

// ---- Operands ----

#define RESULT_TYPES (LN_TYPES_SIGNED | LN_TYPE(TL_UINT8) | LN_TYPE(TL_UINT16))

static const char *const roundings[] = {"float", "away", "q31", "q31_single", "q15", "shift"};

static ln_status read_rounding(ln_call *call, ln_rounding *out_rounding)
{
    const char *name = ln_call_string(call, "rounding");
    for (int i = 0; i < LN_ROUNDING_COUNT; i++) {
        if (name && strcmp(name, roundings[i]) == 0) {
            *out_rounding = (ln_rounding)i;
            return LN_OK;
        }
    }
    return ln_op_fail_unknown(call->op_arg, "rounding", name);
}

static bool is_of_floats(ln_rounding rounding)
{
    return rounding == LN_ROUNDING_FLOAT || rounding == LN_ROUNDING_AWAY;
}

// Each rounding has operands of its own.
static ln_status check_operands(ln_call *call, const ln_rescale *r)
{
    const char *name = roundings[r->rounding];
    const bool has_multiplier = r->rounding != LN_ROUNDING_SHIFT;
    const tl_dtype dtype = is_of_floats(r->rounding) ? TL_FLOAT : TL_INT32;
    if (has_multiplier != (r->multiplier != NULL))
        return ln_call_fail(call, LN_INVALID, "rounding %s takes %s multiplier", name,
                            has_multiplier ? "a" : "no");
    if (r->multiplier && r->multiplier->dtype != dtype)
        return ln_call_fail(call, LN_INVALID, "rounding %s takes a multiplier of %s, not %s", name,
                            tl_dtype_title(dtype), tl_dtype_title(r->multiplier->dtype));
    if (is_of_floats(r->rounding) == (r->shift != NULL))
        return ln_call_fail(call, LN_INVALID, "rounding %s takes %s shift", name,
                            r->shift ? "no" : "a");
    if (r->left < 0 || r->left > LN_RESCALE_MAX_LEFT)
        return ln_call_fail(call, LN_INVALID, "left should be 0 to %d, not %d", LN_RESCALE_MAX_LEFT,
                            r->left);
    if (r->left != 0 && (is_of_floats(r->rounding) || !has_multiplier))
        return ln_call_fail(call, LN_INVALID, "rounding %s takes no left, which is %d", name,
                            r->left);
    if (r->multiplier && r->shift && r->multiplier->len != r->shift->len)
        return ln_call_fail(call, LN_INVALID, "%d multipliers for %d shifts", r->multiplier->len,
                            r->shift->len);
    return LN_OK;
}

static ln_status check_one(ln_call *call, const char *name, const tl_tensor *t)
{
    if (!t || t->len == 1)
        return LN_OK;
    return ln_call_fail(call, LN_INVALID, "%s has %d numbers in place of one", name, t->len);
}

static ln_status read_result(ln_call *call, ln_rescale *r)
{
    const bool is_given =
        ln_call_string(call, "output_dtype") || ln_call_int(call, "output_dtype") != 0;
    r->dtype = r->dst_zero ? r->dst_zero->dtype : TL_INT32;
    if (is_given)
        LN_TRY(ln_call_dtype(call, "output_dtype", &r->dtype));
    if (r->dst_zero && r->dst_zero->dtype != r->dtype)
        return ln_call_fail(call, LN_INVALID, "output_dtype is %s, but the zero point is %s",
                            tl_dtype_title(r->dtype), tl_dtype_title(r->dst_zero->dtype));
    if (!(RESULT_TYPES >> r->dtype & 1))
        return ln_call_fail(call, LN_INVALID, "cannot rescale to %s", tl_dtype_title(r->dtype));
    const int64_t least = ln_call_to_int(tl_dtype_min_double(r->dtype)),
                  most = ln_call_to_int(tl_dtype_max_double(r->dtype));
    r->low = ln_call_int(call, "low");
    r->high = ln_call_int(call, "high");
    if (r->low > r->high)
        return ln_call_fail(call, LN_INVALID, "low is %lld, above high, which is %lld",
                            (long long)r->low, (long long)r->high);
    r->low = r->low < least ? least : r->low > most ? most : r->low;
    r->high = r->high > most ? most : r->high < least ? least : r->high;
    return LN_OK;
}

ln_status ln_rescale_read(ln_call *call, ln_rescale *out_rescale)
{
    ln_rescale *r = out_rescale;
    const int64_t left = ln_call_int(call, "left");
    *r = (ln_rescale){.src = ln_call_in(call, 0),
                      .multiplier = ln_call_in(call, 1),
                      .shift = ln_call_in(call, 2),
                      .src_zero = ln_call_in(call, 3),
                      .dst_zero = ln_call_in(call, 4),
                      .left = left < INT_MIN || left > INT_MAX ? INT_MAX : (int)left};
    LN_TRY(read_rounding(call, &r->rounding));
    LN_TRY(check_operands(call, r));
    LN_TRY(check_one(call, "src_zero", r->src_zero));
    LN_TRY(check_one(call, "dst_zero", r->dst_zero));
    LN_TRY(read_result(call, r));
    return ln_quant_grid_read(call, r->src, r->multiplier ? r->multiplier : r->shift, NULL,
                              &r->grid);
}

ln_status ln_rescale_check_shifts(ln_call *call, const ln_rescale *r)
{
    const bool is_divisor = r->rounding == LN_ROUNDING_SHIFT;
    const int low = is_divisor ? 0 : LN_RESCALE_MIN_SHIFT;
    const int high = is_divisor                       ? LN_RESCALE_MAX_DIVISOR
                     : r->rounding == LN_ROUNDING_Q15 ? LN_RESCALE_MAX_Q15_SHIFT
                                                      : LN_RESCALE_MAX_SHIFT;
    for (int i = 0; r->shift && i < r->shift->len; i++) {
        const int32_t shift = ((const int32_t *)r->shift->data)[i];
        if (shift < low || shift > high)
            return ln_call_fail(call, LN_INVALID, "shift %d is %d, outside of %d to %d", i,
                                (int)shift, low, high);
    }
    return LN_OK;
}

ln_status ln_infer_rescale(ln_call *call)
{
    ln_rescale r;
    LN_TRY(ln_rescale_read(call, &r));
    return ln_call_out(call, 0, r.dtype, r.src->ndim, r.src->dims);
}

// ---- Roundings ----

// x * 2^by between -2^bits and 2^bits - 1.
static int64_t shifted(int64_t x, int by, int bits)
{
    const int64_t most = (INT64_C(1) << bits) - 1, least = -most - 1;
    // The bounds divided, upwards and downwards: nothing between them leaves 64 bits.
    if (x > most >> by)
        return most;
    return x < least / (INT64_C(1) << by) ? least : x * (INT64_C(1) << by);
}

// Divided by 2^by, ties upwards.
static int64_t halved(int64_t x, int by)
{
    return by == 0 ? x : ((x >> (by - 1)) + 1) >> 1;
}

// The same, ties away from zero.
static int64_t halved_away(int64_t x, int by)
{
    return x < 0 ? -halved(-x, by) : halved(x, by);
}

static int64_t q31(int64_t x, int32_t multiplier, int32_t shift)
{
    // Half of the divisor is added, and the quotient goes toward zero: ties go up.
    const int64_t product = x * multiplier;
    const int64_t nudge = product < 0 ? 1 - (INT64_C(1) << 30) : INT64_C(1) << 30;
    const int64_t high = (product + nudge) / (INT64_C(1) << 31);
    return halved_away(high > INT32_MAX ? INT32_MAX : high, shift < 0 ? -shift : 0);
}

static int64_t q15(int64_t x, int32_t multiplier, int32_t shift)
{
    const int64_t reduced =
        multiplier < 0x7FFF0000 ? ((int64_t)multiplier + (1 << 15)) >> 16 : 0x7FFF;
    return halved(x * reduced, 15 - shift);
}

int64_t ln_rescale_integer(ln_rounding rounding, int64_t x, int left, int32_t multiplier,
                           int32_t shift)
{
    switch (rounding) {
    case LN_ROUNDING_Q31:
        return q31(shifted(x, left + (shift > 0 ? shift : 0), 31), multiplier, shift);
    case LN_ROUNDING_Q31_SINGLE: return halved(shifted(x, left, 31) * multiplier, 31 - shift);
    case LN_ROUNDING_Q15: return q15(shifted(x, left, 47), multiplier, shift);
    default: return halved(x, shift);
    }
}

int64_t ln_rescale_float(ln_rounding rounding, int64_t x, float multiplier)
{
    const float product = (float)x * multiplier;
    const double number =
        rounding == LN_ROUNDING_AWAY ? round((double)product) : rint((double)product);
    if (!(number > -0x1p63))
        return INT64_MIN;
    return number >= 0x1p63 ? INT64_MAX : (int64_t)number;
}
