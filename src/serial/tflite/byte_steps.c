// SPDX-License-Identifier: Apache-2.0
// Operators on int8 and uint8 that TensorFlow Lite's reference kernels compute in fixed point, in
// steps of which each rounds: HARD_SWISH, a table of its 256 results, and SOFTMAX, with a table of
// exponentials and a reciprocal.

#include "serial/tflite/builder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES (UINT8_MAX + 1)

// x / 2^by to nearest, ties away from zero.
static int64_t divided(int64_t x, int by)
{
    const int64_t half = by > 0 ? (int64_t)1 << (by - 1) : 0, size = (llabs(x) + half) >> by;
    return x < 0 ? -size : size;
}

// a * b / 2^bits to nearest, ties upwards.
static int64_t high_product(int64_t a, int64_t b, int bits)
{
    return (a * b + ((int64_t)1 << (bits - 1))) >> bits;
}

// ---- HARD_SWISH ----

typedef struct hard_swish {
    tl_dtype dtype;
    int from_zero, to_zero;
    int16_t to_multiplier, ramp_multiplier; // in units of 2^-15
    int32_t to_shift, ramp_shift;
} hard_swish;

static int64_t bounded16(int64_t x)
{
    return x < INT16_MIN ? INT16_MIN : x > INT16_MAX ? INT16_MAX : x;
}

// x, which is 128 times as fine as the input, from 0 to 1 in units of 2^-15 where it goes from -3
// to 3. Only the last doubling saturates.
static int64_t ramp_of(const hard_swish *h, int64_t x)
{
    if (h->ramp_shift > 0)
        x *= (int64_t)1 << (h->ramp_shift - 1);
    x = high_product(x, h->ramp_multiplier, 15);
    if (h->ramp_shift > 0)
        x = bounded16(2 * x);
    if (h->ramp_shift < 0)
        x = divided(x, -h->ramp_shift);
    return (x + (1 << 15)) >> 1;
}

static void fill_hard_swish(const void *of, void *results)
{
    const hard_swish *h = of;
    const int low = (int)tl_dtype_min_double(h->dtype), high = (int)tl_dtype_max_double(h->dtype);
    uint8_t *bytes = results;
    for (int value = low; value <= high; value++) {
        const int64_t x = (value - h->from_zero) * 128;
        const int64_t y = ramp_of(h, x) * high_product(x, h->to_multiplier, 15) / (1 << 15);
        const int64_t result = divided(y, -h->to_shift) + h->to_zero;
        bytes[value - low] = (uint8_t)(result < low ? low : result > high ? high : result);
    }
}

// A multiplier of 16 bits; false where its shift is outside.
static bool find_short_multiplier(float factor, int max_shift, int16_t *multiplier, int32_t *shift)
{
    int32_t whole;
    if (!ln_tflite_find_multiplier((double)factor, max_shift, &whole, shift))
        return false;
    const int64_t rounded = ((int64_t)whole + (1 << 15)) >> 16;
    *multiplier = (int16_t)(rounded < INT16_MAX ? rounded : INT16_MAX);
    return *shift >= -15;
}

bool ln_tflite_read_byte_hard_swish(ln_tflite_op *op)
{
    const ln_tflite_tensor *in = ln_tflite_input(op, 0), *out = ln_tflite_output(op, 0);
    if (strcmp(op->type, "HARD_SWISH") != 0 || !ln_tflite_is_fixed(op, 1, 0) ||
        in->dtype == TL_INT16)
        return false;
    hard_swish h = {.dtype = in->dtype,
                    .from_zero = ln_tflite_zero(op, in),
                    .to_zero = ln_tflite_zero(op, out)};
    const float fine = 1.0f / 128 * ln_tflite_scale(op, in);
    if (!find_short_multiplier(fine / ln_tflite_scale(op, out), 0, &h.to_multiplier, &h.to_shift) ||
        !find_short_multiplier(fine / (3.0f / 32768), 30, &h.ramp_multiplier, &h.ramp_shift))
        return false;
    char key[128];
    snprintf(key, sizeof key, "hard_swish:%d:%a:%d:%a:%d", (int)h.dtype,
             (double)ln_tflite_scale(op, in), h.from_zero, (double)ln_tflite_scale(op, out),
             h.to_zero);
    const char *table =
        ln_tflite_table(op->b, "hard_swish", key, h.dtype, VALUES, fill_hard_swish, &h);
    if (!table)
        return false;
    ln_tflite_give_gathered(op, table);
    return true;
}

// ---- SOFTMAX ----

#define ONE_32 INT32_MAX // in units of 2^-31

typedef struct exponentials {
    int32_t multiplier, shift; // to units of 2^-26
    bool is_term;              // in units of 2^-19, to be added
} exponentials;

static int64_t product31(int64_t a, int64_t b)
{
    return high_product(a, b, 31);
}

// exp(a) for a from -1/4 to 0, in units of 2^-31: four terms of its series around -1/8.
static int64_t exp_near_zero(int64_t a)
{
    const int64_t at = 1895147668, third = 715827883; // exp(-1/8), 1/3
    const int64_t x = a + (1 << 28), x2 = product31(x, x), x3 = product31(x2, x);
    const int64_t x4 = product31(x2, x2);
    const int64_t more = divided(product31(divided(x4, 2) + x3, third) + x2, 1);
    return at + product31(at, x + more);
}

// exp(-x) in units of 2^-31, for x from 0 to 32 in units of 2^-26: that of what is left of a
// quarter, times exp(-2^i) for each bit of the others.
static int64_t exp_of_negative(int64_t x)
{
    static const int64_t powers[] = {1672461947, 1302514674, 790015084, 290630308,
                                     39332535,   720401,     242};
    const int64_t quarter = 1 << 24;
    const int64_t rest = (-x & (quarter - 1)) - quarter, whole = rest + x;
    int64_t result = exp_near_zero(rest * 32);
    for (int i = 0; i < (int)(sizeof powers / sizeof *powers); i++)
        if (whole >> (24 + i) & 1)
            result = product31(result, powers[i]);
    return x == 0 ? ONE_32 : result;
}

// Of differences 0, 1, ... to the largest element; 0 where they are too large.
static void fill_exponentials(const void *of, void *results)
{
    const exponentials *e = of;
    int32_t *exps = results;
    const int64_t most = ((int64_t)31 << 26) >> e->shift;
    for (int64_t i = 0; i < VALUES; i++) {
        int64_t y = 0;
        if (i <= most)
            y = exp_of_negative(-product31(-i * ((int64_t)1 << e->shift), e->multiplier));
        exps[i] = (int32_t)(e->is_term ? divided(y, 12) : y);
    }
}

static const char *exponentials_of(ln_tflite_builder *b, exponentials e, bool is_term)
{
    char key[64];
    e.is_term = is_term;
    snprintf(key, sizeof key, "exps:%d:%d:%d", (int)e.multiplier, (int)e.shift, is_term);
    return ln_tflite_table(b, "exponentials", key, TL_INT32, VALUES, fill_exponentials, &e);
}

static const char *int64_scalar(ln_tflite_builder *b, double value)
{
    return ln_tflite_scalar(b, TL_INT64, value);
}

static const char *int64_product(ln_tflite_builder *b, const char *x, const char *y)
{
    return ln_tflite_high_half(b, ln_tflite_binary(b, "Mul", x, y));
}

// 2^bits / sum in units of 2^-31, of sums of `bits` bits, by three steps of Newton's method from
// 48/17 - 32/17 of half of the divisor; `power` is 2^(bits - 1). All are int64.
static const char *reciprocal_of(ln_tflite_builder *b, const char *sum, const char *power)
{
    const char *up = ln_tflite_binary(b, "Div", int64_scalar(b, 0x1p30), power);
    const char *half = ln_tflite_binary(b, "Mul", sum, up);
    const char *x = int64_product(b, half, int64_scalar(b, -1010580540));
    x = ln_tflite_binary(b, "Add", x, int64_scalar(b, 1515870810));
    for (int i = 0; i < 3; i++) {
        const char *off = int64_product(b, half, x);
        off = ln_tflite_binary(b, "Sub", int64_scalar(b, 0x1p29), off);
        const char *more = int64_product(b, x, off);
        x = ln_tflite_binary(b, "Add", x, ln_tflite_binary(b, "Mul", more, int64_scalar(b, 4)));
    }
    x = ln_tflite_binary(b, "Mul", x, int64_scalar(b, 2));
    return ln_tflite_binary(b, "Min", x, int64_scalar(b, INT32_MAX));
}

// What is exact of a factor above 1, which is capped; false where it is not above 1.
static bool find_exponentials(ln_tflite_op *op, float beta, exponentials *e)
{
    const double scale = (double)ln_tflite_scale(op, ln_tflite_input(op, 0));
    const double factor = fmin((double)beta * scale * 0x1p26, 0x1p31 - 1);
    if (!(factor > 1))
        return false;
    // One of more than 2^30, where the shift is 31, is never met by a difference but 0.
    if (ln_tflite_find_multiplier(factor, 30, &e->multiplier, &e->shift))
        return true;
    e->multiplier = INT32_MAX;
    e->shift = 31;
    return true;
}

bool ln_tflite_read_byte_softmax(ln_tflite_op *op, float beta)
{
    ln_tflite_builder *b = op->b;
    const ln_tflite_tensor *in = ln_tflite_input(op, 0), *out = ln_tflite_output(op, 0);
    exponentials e = {0};
    const double low = tl_dtype_min_double(in->dtype);
    if (!ln_tflite_is_fixed(op, 1, 0) || in->dtype == TL_INT16 || in->ndim < 1 ||
        in->dims[in->ndim - 1] == 0 || ln_tflite_scale(op, out) != 0x1p-8f ||
        ln_tflite_zero(op, out) != (int)low || !find_exponentials(op, beta, &e))
        return false;
    const char *exps = exponentials_of(b, e, false), *terms = exponentials_of(b, e, true);
    if (!exps || !terms)
        return false;
    const char *last = ln_tflite_ints(b, 1, (const int64_t[]){-1});
    const char *x = ln_tflite_cast(b, ln_tflite_raw(op, 0), TL_INT32);
    const char *below = ln_tflite_binary(b, "Sub", ln_tflite_binary(b, "ReduceMax", x, last), x);
    terms = ln_tflite_along(b, "Gather", terms, below, 0);
    const char *sum = ln_tflite_binary(b, "ReduceSum", terms, last);
    const char *power = ln_tflite_cast(b, ln_tflite_leading_power(b, sum), TL_INT64);
    const char *scale = reciprocal_of(b, ln_tflite_cast(b, sum, TL_INT64), power);
    x = ln_tflite_cast(b, ln_tflite_along(b, "Gather", exps, below, 0), TL_INT64);
    const char *y = int64_product(b, x, scale);
    // Divided by 2^(bits + 3).
    y = ln_tflite_binary(b, "Add", y, ln_tflite_binary(b, "Mul", power, int64_scalar(b, 8)));
    y = ln_tflite_binary(b, "Div", y, ln_tflite_binary(b, "Mul", power, int64_scalar(b, 16)));
    y = ln_tflite_with_zero_point(op, y, TL_INT64);
    ln_tflite_give_raw(op, 0, ln_tflite_bounded(op, y, TL_INT64, 0));
    return true;
}
