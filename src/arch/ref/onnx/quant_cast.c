// SPDX-License-Identifier: Apache-2.0
// Cast, CastLike and BitCast. An element goes through the widest type of its kind: a double, an
// integer of 64 bits, or text.

#include "arch/ref/functions.h"

#include <math.h>
#include <string.h>

#include "arch/ref/onnx/quant_text.h"
#include "base/deadline.h"
#include "tensor/elem.h"

typedef struct cast {
    ln_call *call;
    const tl_tensor *src;
    tl_tensor *dst;
    bool is_old; // before opset 24
    int saturates;
    enum { ROUND_UP, ROUND_DOWN, ROUND_NEAREST } scale_rounding; // to TL_FLOAT8E8M0
} cast;

static bool is_floating(tl_dtype dtype)
{
    return dtype == TL_FLOAT || dtype == TL_DOUBLE || TL_DTYPE_IS_NARROW(dtype);
}

static bool is_small_int(tl_dtype dtype)
{
    return LN_TYPES_SMALL_INT >> dtype & 1;
}

static ln_status read_cast(ln_call *call, cast *c)
{
    int since = ln_call_since(call); // 0: the core's, which is the newest
    *c = (cast){.call = call,
                .src = ln_call_in(call, 0),
                .dst = ln_call_dst(call, 0),
                .is_old = since > 0 && since < 24,
                .saturates = ln_call_int(call, "saturate") != 0};
    const char *mode = ln_call_string(call, "round_mode");
    if (strcmp(mode, "down") == 0)
        c->scale_rounding = ROUND_DOWN;
    else if (strcmp(mode, "nearest") == 0)
        c->scale_rounding = ROUND_NEAREST;
    else if (strcmp(mode, "up") != 0)
        return ln_call_fail(call, LN_INVALID, "round_mode '%s' is not up, down or nearest", mode);
    return LN_OK;
}

// ---- One number ----

// A power of two on the side of `x` that the mode asks for; the encoder takes it as it is.
static double rounded_scale(const cast *c, double x)
{
    int exponent;
    if (!isfinite(x) || x == 0 || c->scale_rounding == ROUND_NEAREST)
        return fabs(x);
    double fraction = frexp(fabs(x), &exponent);
    double below = ldexp(1, exponent - 1);
    return c->scale_rounding == ROUND_UP && fraction > 0.5 ? 2 * below : below;
}

static void put_real(const cast *c, size_t i, double x)
{
    tl_tensor *dst = c->dst;
    tl_dtype to = dst->dtype;
    if (to == TL_FLOAT8E8M0) {
        ((uint8_t *)dst->data)[i] =
            (uint8_t)ln_narrow_encode(rounded_scale(c, x), to, c->saturates);
    } else if (to == TL_FLOAT4E2M1 && isnan(x)) {
        ((uint8_t *)dst->data)[i] = c->is_old ? 0x7 : 0x8; // the largest; -0
    } else if (TL_DTYPE_IS_NARROW(to) && tl_size_of(to) == 1) {
        ((uint8_t *)dst->data)[i] = (uint8_t)ln_narrow_encode(x, to, c->saturates);
    } else if ((tl_size_of(to) <= 2 && !is_floating(to)) && !(is_small_int(to) && c->is_old)) {
        // As processors do it: to a wider integer first, of which the low bits remain.
        ln_elem_set_int(dst, i, ln_real_saturated(x));
    } else if ((to == TL_UINT32 || to == TL_UINT64) && x < 0) {
        ln_elem_set_int(dst, i, ln_real_saturated(x));
    } else {
        ln_elem_set_real(dst, i, x);
    }
}

static void put_whole(const cast *c, size_t i, bool is_unsigned, int64_t x)
{
    tl_dtype to = c->dst->dtype;
    if (!is_floating(to))
        ln_elem_set_int(c->dst, i, x);
    else if (to == TL_DOUBLE)
        ((double *)c->dst->data)[i] = is_unsigned ? (double)(uint64_t)x : (double)x;
    else
        put_real(c, i, is_unsigned ? ln_sticky_unsigned((uint64_t)x) : ln_sticky_double(x));
}

static ln_status put_text(const cast *c, size_t i, const char *text)
{
    bool is_negative;
    uint64_t bits;
    double x;
    if (!is_floating(c->dst->dtype) && ln_whole_from_text(text, &is_negative, &bits)) {
        put_whole(c, i, !is_negative, (int64_t)bits);
        return LN_OK;
    }
    if (!ln_real_from_text(text, &x))
        return ln_call_fail(c->call, LN_INVALID, "element %zu, '%.32s', is not a number", i, text);
    put_real(c, i, x);
    return LN_OK;
}

// ---- All elements ----

static ln_status cast_from_strings(const cast *c)
{
    const char *const *strings = c->src->data;
    for (size_t i = 0; i < (size_t)c->src->len && !ln_deadline_passed_at(i); i++)
        LN_TRY(put_text(c, i, strings[i] ? strings[i] : ""));
    return LN_OK;
}

// The shortest text that reads back as a number takes as long as so many other casts.
#define TEXT_STEPS 40

static ln_status cast_to_strings(const cast *c)
{
    const tl_tensor *src = c->src;
    for (size_t i = 0; i < (size_t)src->len && !ln_deadline_passed_at(i); i++) {
        char text[LN_NUMBER_TEXT_BYTES];
        size_t len;
        LN_TRY(ln_call_charge(c->call, TEXT_STEPS));
        if (is_floating(src->dtype))
            len = ln_real_to_text(ln_elem_real(src, i), src->dtype, text);
        else if (src->dtype == TL_BOOL)
            len = (size_t)snprintf(text, sizeof text, ln_elem_int(src, i) ? "True" : "False");
        else if (src->dtype == TL_UINT64)
            len = (size_t)snprintf(text, sizeof text, "%llu",
                                   (unsigned long long)(uint64_t)ln_elem_int(src, i));
        else
            len = (size_t)snprintf(text, sizeof text, "%lld", (long long)ln_elem_int(src, i));
        LN_TRY(ln_call_set_string(c->call, 0, i, text, len));
    }
    return LN_OK;
}

static ln_status copy_strings(const cast *c)
{
    const char *const *strings = c->src->data;
    for (size_t i = 0; i < (size_t)c->src->len && !ln_deadline_passed_at(i); i++) {
        const char *s = strings[i] ? strings[i] : "";
        LN_TRY(ln_call_set_string(c->call, 0, i, s, strlen(s)));
    }
    return LN_OK;
}

ln_status ln_ref_onnx_cast(ln_call *call)
{
    cast c;
    LN_TRY(read_cast(call, &c));
    tl_dtype from = c.src->dtype, to = c.dst->dtype;
    size_t len = (size_t)c.src->len;
    if (from == TL_STRING)
        return to == TL_STRING ? copy_strings(&c) : cast_from_strings(&c);
    if (to == TL_STRING)
        return cast_to_strings(&c);
    if (from == to && from != TL_BOOL) {
        tl_memcpy(c.dst->data, c.src->data, tl_tensor_size(c.src));
    } else if (is_floating(from)) {
        for (size_t i = 0; i < len && !ln_deadline_passed_at(i); i++)
            put_real(&c, i, ln_elem_real(c.src, i));
    } else {
        for (size_t i = 0; i < len && !ln_deadline_passed_at(i); i++)
            put_whole(&c, i, from == TL_UINT64, ln_elem_int(c.src, i));
    }
    return LN_OK;
}

// ---- BitCast ----

// The bits of element `i` of one byte or less, as ONNX has them.
static uint8_t byte_at(const tl_tensor *t, size_t i)
{
    switch (t->dtype) {
    case TL_BOOL: return ((const tl_bool *)t->data)[i] != 0;
    case TL_INT4: return ((const uint8_t *)t->data)[i] & 0xf;
    case TL_INT2: return ((const uint8_t *)t->data)[i] & 0x3;
    default: return ((const uint8_t *)t->data)[i];
    }
}

ln_status ln_ref_onnx_bit_cast(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    if (tl_size_of(src->dtype) == tl_size_of(dst->dtype) && tl_size_of(src->dtype) > 1 &&
        src->dtype != TL_BOOL) {
        tl_memcpy(dst->data, src->data, tl_tensor_size(src));
        return LN_OK;
    }
    for (size_t i = 0; i < (size_t)src->len && !ln_deadline_passed_at(i); i++) {
        uint8_t byte = byte_at(src, i);
        if (TL_DTYPE_IS_NARROW(dst->dtype))
            ((uint8_t *)dst->data)[i] = byte;
        else
            ln_elem_set_int(dst, i, byte);
    }
    return LN_OK;
}
