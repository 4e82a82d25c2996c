// SPDX-License-Identifier: Apache-2.0
// Single elements: reading, writing and rounding in every numeric type.

#include "tensor/elem.h"

#include <float.h>
#include <math.h>

#include "tests/test.h"

static const double inf = (double)INFINITY, nan_value = (double)NAN;

// What the element holds after `x` was written to it.
static double after_real(tl_dtype dtype, double x)
{
    double room[2] = {0};
    ln_data_set_real(room, dtype, 0, x);
    return ln_data_real(room, dtype, 0);
}

static int64_t after_int(tl_dtype dtype, int64_t x)
{
    double room[2] = {0};
    ln_data_set_int(room, dtype, 0, x);
    return ln_data_int(room, dtype, 0);
}

TEST(reals_round_in_floating_types_and_truncate_and_saturate_in_integers)
{
    static const struct {
        tl_dtype dtype;
        double x, expected;
        const char *why;
    } cases[] = {
        {TL_DOUBLE, 0.1, 0.1, "as it is"},
        {TL_FLOAT, 0.1, 0.1f, "rounds"},
        {TL_FLOAT, 1e300, INFINITY, "too large is infinite"},
        {TL_FLOAT16, 65519, 65504, "below the tie"},
        {TL_FLOAT16, 65520, INFINITY, "a tie goes to the even one"},
        {TL_BFLOAT16, 1.00390625, 1, "a tie"},
        {TL_FLOAT8E4M3FN, 1e9, 448, "8 bits saturate"},
        {TL_FLOAT4E2M1, 2.5, 2, "a tie"},
        {TL_INT32, -1.9, -1, "toward zero"},
        {TL_INT32, 3e9, INT32_MAX, "saturates"},
        {TL_INT64, 1e19, 0x1p63, "saturates, read back as double"},
        {TL_UINT64, 1e30, 0x1p64, "saturates, read back as double"},
        {TL_UINT64, -1, 0, "saturates"},
        {TL_UINT8, 255.9, 255, "toward zero"},
        {TL_UINT8, 256, 255, "saturates"},
        {TL_INT8, NAN, 0, "NaN is 0"},
        {TL_UINT64, NAN, 0, "NaN is 0"},
        {TL_INT16, -INFINITY, INT16_MIN, "saturates"},
        {TL_BOOL, 0.5, 1, "not 0"},
        {TL_BOOL, NAN, 1, "not 0"},
        {TL_BOOL, -0.0, 0, "0"},
        {TL_INT4, -9, -8, "saturates"},
        {TL_UINT4, 15.5, 15, "toward zero"},
        {TL_INT2, 2, 1, "saturates"},
        {TL_UINT2, -1, 0, "saturates"},
        {TL_COMPLEX64, 0.1, 0.1f, "the real part"},
        {TL_COMPLEX128, 0.1, 0.1, "the real part"},
        {TL_STRING, 1, 0, "no number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double got = after_real(cases[i].dtype, cases[i].x);
        if (got != cases[i].expected)
            fail_msg("%s %g is %g instead of %g: %s", tl_dtype_name(cases[i].dtype), cases[i].x,
                     got, cases[i].expected, cases[i].why);
    }
    CHECK(isnan(after_real(TL_FLOAT16, nan_value)));
}

TEST(whole_numbers_wrap_in_integers_and_round_in_floating_types)
{
    CHECK_EQ(after_int(TL_INT8, 200), -56);
    CHECK_EQ(after_int(TL_UINT8, -1), 255);
    CHECK_EQ(after_int(TL_INT32, INT64_C(1) << 32), 0);
    CHECK_EQ(after_int(TL_UINT64, -1), -1);
    CHECK_EQ(after_int(TL_INT4, -9), 7);
    CHECK_EQ(after_int(TL_INT4, 8), -8);
    CHECK_EQ(after_int(TL_UINT4, 17), 1);
    CHECK_EQ(after_int(TL_INT2, 2), -2);
    CHECK_EQ(after_int(TL_UINT2, -1), 3);
    CHECK_EQ(after_int(TL_BOOL, 256), 1);
    CHECK_EQ(after_int(TL_FLOAT, (1 << 24) + 1), 1 << 24);
    CHECK_EQ(after_int(TL_DOUBLE, INT64_MAX), INT64_MAX); // 2^63, saturated when read
    CHECK_EQ(after_int(TL_FLOAT16, 100000), INT64_MAX);   // infinite
}

TEST(whole_numbers_are_rounded_to_narrow_types_once)
{
    // A tie between two values of 8 bits, and a little more that a double has no room for.
    int64_t tie = (INT64_C(1) << 62) + (INT64_C(1) << 54);
    CHECK_EQ(after_int(TL_BFLOAT16, tie), INT64_C(1) << 62);
    CHECK_EQ(after_int(TL_BFLOAT16, tie + 1), (INT64_C(1) << 62) + (INT64_C(1) << 55));
    CHECK_EQ(after_int(TL_BFLOAT16, -tie - 1), -(INT64_C(1) << 62) - (INT64_C(1) << 55));
    uint64_t large = (uint64_t)tie + 1;
    uint16_t bits;
    CHECK_OK(tl_convert(&bits, TL_BFLOAT16, &large, TL_UINT64));
    CHECK_EQ(bits, 0x5e81);
}

TEST(rounding_says_what_an_element_would_hold)
{
    CHECK(ln_elem_round(1e300, TL_FLOAT, 1) == (double)FLT_MAX);
    CHECK(ln_elem_round(1e300, TL_FLOAT, 0) == inf);
    CHECK(ln_elem_round(-inf, TL_FLOAT, 1) == -inf);
    CHECK(ln_elem_round(1e6, TL_FLOAT16, 1) == 65504);
    CHECK(ln_elem_round(1e6, TL_FLOAT16, 0) == inf);
    CHECK(ln_elem_round(inf, TL_FLOAT8E5M2, 1) == 57344);
    CHECK(ln_elem_round(inf, TL_FLOAT8E5M2, 0) == inf);
    CHECK(isnan(ln_elem_round(inf, TL_FLOAT8E4M3FN, 0)));
    CHECK(ln_elem_round(300.7, TL_UINT8, 1) == 255);
    CHECK(ln_elem_round(300.7, TL_UINT8, 0) == 44);
    CHECK(ln_elem_round(-9, TL_INT4, 0) == 7);
    CHECK(ln_elem_round(7.9, TL_INT4, 0) == 7);
    CHECK(ln_elem_round(nan_value, TL_INT32, 0) == 0);
    CHECK(ln_elem_round(nan_value, TL_BOOL, 0) == 1);
}

TEST(reals_become_integers_modulo_two_to_the_64)
{
    CHECK_EQ(ln_real_wrapped(0x1p64 + 4096), 4096);
    CHECK_EQ(ln_real_wrapped(-0x1p64 - 4096), -4096);
    CHECK_EQ(ln_real_wrapped(0x1p63), INT64_MIN);
    CHECK_EQ(ln_real_wrapped(-1.5), -1);
    CHECK_EQ(ln_real_wrapped(inf), 0);
    CHECK_EQ(ln_real_saturated(0x1p63), INT64_MAX);
    CHECK_EQ(ln_real_saturated(-1e300), INT64_MIN);
    CHECK_EQ(ln_real_saturated(nan_value), 0);
}

TEST(elements_of_one_size_are_copied_with_their_bits)
{
    uint64_t bits[2][2] = {{0x7ff0000000000001, 5}, {0, 0}};
    for (int dtype = 0; dtype < TL_DTYPE_SIZE; dtype++) {
        tl_tensor src = {.dtype = (tl_dtype)dtype, .data = bits[0]};
        uint64_t room[4] = {0};
        tl_tensor dst = {.dtype = (tl_dtype)dtype, .data = room};
        ln_elem_copy(&dst, 1, &src, 0);
        size_t size = tl_size_of((tl_dtype)dtype);
        CHECK_MEM_EQ((char *)room + size, bits[0], size);
    }
}

// ---- tl_convert ----

TEST(conversion_keeps_to_the_range)
{
    static const struct {
        tl_dtype to;
        double x, expected;
    } cases[] = {
        {TL_FLOAT16, 1e300, 65504},
        {TL_FLOAT16, INFINITY, INFINITY},
        {TL_BFLOAT16, -1e300, -0x1.fep127},
        {TL_FLOAT8E4M3FN, INFINITY, 448},
        {TL_FLOAT8E5M2, INFINITY, INFINITY},
        {TL_FLOAT8E5M2, 1e9, 57344},
        {TL_FLOAT8E8M0, 0, 0x1p-127},
        {TL_INT4, 100, 7},
        {TL_UINT2, -3, 0},
        {TL_INT4, -3.7, -3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t element = 0;
        double back;
        CHECK_OK(tl_convert(&element, cases[i].to, &cases[i].x, TL_DOUBLE));
        CHECK_OK(tl_convert(&back, TL_DOUBLE, &element, cases[i].to));
        if (back != cases[i].expected)
            fail_msg("%g as %s is %g instead of %g", cases[i].x, tl_dtype_name(cases[i].to), back,
                     cases[i].expected);
    }
}

TEST(all_pairs_of_numeric_types_convert_small_numbers_exactly)
{
    for (int from = 0; from < TL_COMPLEX64; from++) {
        for (int to = 0; to < TL_COMPLEX64; to++) {
            uint64_t a = 0, b = 0;
            double one = 1, back = 0;
            CHECK_OK(tl_convert(&a, (tl_dtype)from, &one, TL_DOUBLE));
            CHECK_OK(tl_convert(&b, (tl_dtype)to, &a, (tl_dtype)from));
            CHECK_OK(tl_convert(&back, TL_DOUBLE, &b, (tl_dtype)to));
            CHECK(back == 1);
        }
    }
}

TEST(what_is_no_number_does_not_convert)
{
    double room[2] = {0}, from[2] = {0};
    for (int dtype = TL_COMPLEX64; dtype < TL_DTYPE_SIZE; dtype++) {
        CHECK_FAILS(tl_convert(room, (tl_dtype)dtype, from, TL_DOUBLE), LN_UNSUPPORTED);
        CHECK_FAILS(tl_convert(room, TL_DOUBLE, from, (tl_dtype)dtype), LN_UNSUPPORTED);
        CHECK_OK(tl_convert(room, (tl_dtype)dtype, from, (tl_dtype)dtype));
    }
}

TEST_LIST(reals_round_in_floating_types_and_truncate_and_saturate_in_integers,
          whole_numbers_wrap_in_integers_and_round_in_floating_types,
          whole_numbers_are_rounded_to_narrow_types_once, rounding_says_what_an_element_would_hold,
          reals_become_integers_modulo_two_to_the_64,
          elements_of_one_size_are_copied_with_their_bits, conversion_keeps_to_the_range,
          all_pairs_of_numeric_types_convert_small_numbers_exactly,
          what_is_no_number_does_not_convert)
