// SPDX-License-Identifier: Apache-2.0
// Integers in another scale, one after the other.

#include "op/rescale.h"

#include "arch/ref/element.h"
#include "arch/ref/functions.h"
#include "base/deadline.h"

static int64_t element(const tl_tensor *t, int64_t i)
{
    return t ? (int64_t)ln_ref_load_any(t->data, (size_t)i, t->dtype).whole : 0;
}

static int64_t sum(int64_t a, int64_t b)
{
    int64_t total;
    return __builtin_add_overflow(a, b, &total) ? (a < 0 ? INT64_MIN : INT64_MAX) : total;
}

static int64_t rescaled(const ln_rescale *r, int64_t x, int64_t at)
{
    if (r->multiplier && r->multiplier->dtype == TL_FLOAT)
        return ln_rescale_float(r->rounding, x, ((const float *)r->multiplier->data)[at]);
    const int32_t multiplier = (int32_t)element(r->multiplier, at);
    return ln_rescale_integer(r->rounding, x, r->left, multiplier, (int32_t)element(r->shift, at));
}

ln_status ln_ref_rescale(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    ln_rescale r;
    LN_TRY(ln_rescale_read(call, &r));
    LN_TRY(ln_rescale_check_shifts(call, &r));
    const int64_t src_zero = element(r.src_zero, 0), dst_zero = element(r.dst_zero, 0);
    for (int64_t i = 0; i < dst->len && !ln_deadline_passed_at((size_t)i); i++) {
        const int64_t x = sum(element(r.src, i), src_zero == INT64_MIN ? INT64_MAX : -src_zero);
        const int64_t y = sum(rescaled(&r, x, ln_quant_scale_of(&r.grid, i)), dst_zero);
        const int64_t kept = y < r.low ? r.low : y > r.high ? r.high : y;
        ln_ref_store_any(dst->data, (size_t)i, dst->dtype, ln_ref_signed(kept));
    }
    return LN_OK;
}
