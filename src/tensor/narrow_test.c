// SPDX-License-Identifier: Apache-2.0
// Narrow floating types: every bit pattern, every gap between two values, against a search in the
// table of all values, which is made from the definition of the formats.

#include "tensor/narrow.h"

#include <math.h>
#include <stdbool.h>

#include "tests/test.h"

// Exponent and fraction bits, bias, and what the patterns with all exponent bits set mean.
static const struct definition {
    tl_dtype dtype;
    int exponent_bits, fraction_bits, bias;
    enum { IEEE, ONE_NAN, NEGATIVE_ZERO_IS_NAN, NUMBERS_ONLY } specials;
    double largest;
} definitions[] = {
    {TL_FLOAT16, 5, 10, 15, IEEE, 65504},
    {TL_BFLOAT16, 8, 7, 127, IEEE, 0x1.fep127},
    {TL_FLOAT8E4M3FN, 4, 3, 7, ONE_NAN, 448},
    {TL_FLOAT8E4M3FNUZ, 4, 3, 8, NEGATIVE_ZERO_IS_NAN, 240},
    {TL_FLOAT8E5M2, 5, 2, 15, IEEE, 57344},
    {TL_FLOAT8E5M2FNUZ, 5, 2, 16, NEGATIVE_ZERO_IS_NAN, 57344},
    {TL_FLOAT4E2M1, 2, 1, 1, NUMBERS_ONLY, 6},
};
enum { TYPE_COUNT = sizeof definitions / sizeof definitions[0] };

static int width(const struct definition *d)
{
    return 1 + d->exponent_bits + d->fraction_bits;
}

// The value of a pattern without its sign bit, by the definition.
static double magnitude(const struct definition *d, uint32_t code)
{
    int exponent = (int)(code >> d->fraction_bits);
    int fraction = (int)(code & ((1u << d->fraction_bits) - 1));
    int all_ones = (1 << d->exponent_bits) - 1;
    if (d->specials == IEEE && exponent == all_ones)
        return fraction ? (double)NAN : (double)INFINITY;
    if (d->specials == ONE_NAN && exponent == all_ones && fraction == (1 << d->fraction_bits) - 1)
        return (double)NAN;
    double scaled = ldexp(fraction, -d->fraction_bits);
    return exponent ? ldexp(1 + scaled, exponent - d->bias) : ldexp(scaled, 1 - d->bias);
}

static int same(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

TEST(every_pattern_has_its_value)
{
    for (int t = 0; t < TYPE_COUNT; t++) {
        const struct definition *d = &definitions[t];
        uint32_t sign = 1u << (width(d) - 1);
        for (uint32_t bits = 0; bits < 2 * sign; bits++) {
            double expected = magnitude(d, bits & (sign - 1));
            if (bits & sign)
                expected = -expected;
            if (d->specials == NEGATIVE_ZERO_IS_NAN && bits == sign)
                expected = (double)NAN;
            double got = ln_narrow_decode(bits, d->dtype);
            if (!same(got, expected))
                fail_msg("%s 0x%x is %g instead of %g", tl_dtype_name(d->dtype), bits, got,
                         expected);
            if (isnan(expected))
                CHECK(isnan(ln_narrow_decode(ln_narrow_encode(got, d->dtype, 1), d->dtype)));
            else
                CHECK_EQ(ln_narrow_encode(got, d->dtype, 0), bits);
        }
    }
}

TEST(half_and_bfloat_have_their_values_as_floats_too)
{
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        CHECK(same((double)ln_half_value((uint16_t)bits), ln_narrow_decode(bits, TL_FLOAT16)));
        CHECK(same((double)ln_bfloat_value((uint16_t)bits), ln_narrow_decode(bits, TL_BFLOAT16)));
    }
}

// Both signs of `x` have the code `expected`.
static void check_code(const struct definition *d, double x, uint32_t expected)
{
    uint32_t sign = 1u << (width(d) - 1);
    uint32_t negative = expected == 0 && d->specials == NEGATIVE_ZERO_IS_NAN ? 0 : expected | sign;
    uint32_t got = ln_narrow_encode(x, d->dtype, 0), got_negative;
    got_negative = ln_narrow_encode(-x, d->dtype, 0);
    if (got != expected || got_negative != negative)
        fail_msg("+-%a as %s is 0x%x and 0x%x instead of 0x%x and 0x%x", x, tl_dtype_name(d->dtype),
                 got, got_negative, expected, negative);
}

TEST(what_lies_between_two_values_goes_to_the_nearer_one_and_ties_to_the_even_one)
{
    for (int t = 0; t < TYPE_COUNT; t++) {
        const struct definition *d = &definitions[t];
        for (uint32_t code = 0; magnitude(d, code) < d->largest; code++) {
            double low = magnitude(d, code), high = magnitude(d, code + 1);
            double middle = low / 2 + high / 2; // exact
            check_code(d, nextafter(low, high), code);
            check_code(d, nextafter(middle, low), code);
            check_code(d, middle, code & 1 ? code + 1 : code);
            check_code(d, nextafter(middle, high), code + 1);
            check_code(d, nextafter(high, low), code + 1);
        }
        check_code(d, 0x1p-1074, 0);
        check_code(d, 0x1p-1022, 0);
    }
}

// As the tables of ONNX's Cast state them: what becomes of x with and without saturation.
TEST(too_large_values_saturate_or_become_what_the_type_has_for_them)
{
    const double inf = (double)INFINITY, nan = (double)NAN;
    static const struct {
        tl_dtype dtype;
        double largest,
            tie; // the greatest double that still rounds to the largest is below the tie
        int tie_rounds_down;
    } types[] = {
        {TL_FLOAT16, 65504, 65520, 0},    {TL_BFLOAT16, 0x1.fep127, 0x1.ffp127, 0},
        {TL_FLOAT8E4M3FN, 448, 464, 1},   {TL_FLOAT8E4M3FNUZ, 240, 248, 0},
        {TL_FLOAT8E5M2, 57344, 61440, 0}, {TL_FLOAT8E5M2FNUZ, 57344, 61440, 0},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        tl_dtype dtype = types[i].dtype;
        double largest = types[i].largest, tie = types[i].tie;
        bool has_infinity = dtype == TL_FLOAT16 || dtype == TL_BFLOAT16 || dtype == TL_FLOAT8E5M2;
        bool is_wide = dtype == TL_FLOAT16 || dtype == TL_BFLOAT16;
        double beyond = has_infinity ? inf : nan;
#define VALUE(x, saturates) ln_narrow_decode(ln_narrow_encode(x, dtype, saturates), dtype)
        for (int sign = -1; sign <= 1; sign += 2) {
            CHECK(same(VALUE(sign * nextafter(tie, 0), 0), sign * largest));
            CHECK(same(VALUE(sign * tie, 0), sign * (types[i].tie_rounds_down ? largest : beyond)));
            CHECK(same(VALUE(sign * nextafter(tie, inf), 0), sign * beyond));
            CHECK(same(VALUE(sign * tie, 1), sign * largest));
            CHECK(same(VALUE(sign * 1e300, 0), sign * beyond));
            CHECK(same(VALUE(sign * 1e300, 1), sign * largest));
            CHECK(same(VALUE(sign * inf, 0), sign * beyond));
            CHECK(same(VALUE(sign * inf, 1), sign * (is_wide ? inf : largest)));
        }
        CHECK(isnan(VALUE(nan, 0)) && isnan(VALUE(nan, 1)));
#undef VALUE
    }
    CHECK_EQ(ln_narrow_encode(-nan, TL_FLOAT8E4M3FN, 1), 0xff);
    CHECK_EQ(ln_narrow_encode(-nan, TL_FLOAT8E4M3FNUZ, 1), 0x80);
    CHECK_EQ(ln_narrow_encode(-inf, TL_FLOAT4E2M1, 0), 0xf);
    CHECK_EQ(ln_narrow_encode(1e9, TL_FLOAT4E2M1, 0), 0x7);
    CHECK_EQ(ln_narrow_encode(nan, TL_FLOAT4E2M1, 1), 0x8);
}

TEST(scales_of_eight_exponent_bits_are_powers_of_two)
{
    for (uint32_t bits = 0; bits < 255; bits++) {
        double value = ldexp(1, (int)bits - 127);
        CHECK(ln_narrow_decode(bits, TL_FLOAT8E8M0) == value);
        CHECK_EQ(ln_narrow_encode(value, TL_FLOAT8E8M0, 0), bits);
        if (bits < 254) {
            CHECK_EQ(ln_narrow_encode(nextafter(1.5 * value, 0), TL_FLOAT8E8M0, 0), bits);
            CHECK_EQ(ln_narrow_encode(1.5 * value, TL_FLOAT8E8M0, 0), bits + 1);
        }
    }
    const double inf = (double)INFINITY;
    CHECK(isnan(ln_narrow_decode(0xff, TL_FLOAT8E8M0)));
    CHECK_EQ(ln_narrow_encode((double)NAN, TL_FLOAT8E8M0, 1), 0xff);
    CHECK_EQ(ln_narrow_encode(-1, TL_FLOAT8E8M0, 1), 0xff);
    CHECK_EQ(ln_narrow_encode(0, TL_FLOAT8E8M0, 1), 0);
    CHECK_EQ(ln_narrow_encode(0, TL_FLOAT8E8M0, 0), 0xff);
    CHECK_EQ(ln_narrow_encode(inf, TL_FLOAT8E8M0, 1), 0xfe);
    CHECK_EQ(ln_narrow_encode(inf, TL_FLOAT8E8M0, 0), 0xff);
    CHECK_EQ(ln_narrow_encode(0x1p128, TL_FLOAT8E8M0, 1), 0xfe);
    CHECK_EQ(ln_narrow_encode(0x1.8p127, TL_FLOAT8E8M0, 0), 0xff);
}

TEST_LIST(every_pattern_has_its_value, half_and_bfloat_have_their_values_as_floats_too,
          what_lies_between_two_values_goes_to_the_nearer_one_and_ties_to_the_even_one,
          too_large_values_saturate_or_become_what_the_type_has_for_them,
          scales_of_eight_exponent_bits_are_powers_of_two)
