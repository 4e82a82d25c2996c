// SPDX-License-Identifier: Apache-2.0
// Conversion: a table of known pairs, and all pairs of types against exact arithmetic.

#include <lightnet/dtype.h>

#include <float.h>
#include <math.h>

#include "tests/test.h"

// ---- The table ----

static const struct {
    tl_dtype from;
    double value;
    tl_dtype to;
    double expected;
} cases[] = {
#define C(from, value, to, expected) {from, value, to, expected},
#include "convert_cases.inc"
#undef C
};

TEST(every_case_of_the_table_holds)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t source, target;
        double actual;
        tl_convert(&source, cases[i].from, &cases[i].value, TL_DOUBLE);
        CHECK_OK(tl_convert(&target, cases[i].to, &source, cases[i].from));
        tl_convert(&actual, TL_DOUBLE, &target, cases[i].to);
        double expected = cases[i].to == TL_FLOAT ? (float)cases[i].expected : cases[i].expected;
        if (actual != expected)
            fail_msg("%s %g to %s is %.17g instead of %.17g", tl_dtype_name(cases[i].from),
                     cases[i].value, tl_dtype_name(cases[i].to), actual, expected);
    }
}

// ---- All pairs, against 128-bit integers and long double ----

__extension__ typedef __int128 int128;

static int is_floating(tl_dtype dtype)
{
    return dtype == TL_DOUBLE || dtype == TL_FLOAT;
}

// Any element in one of two exact forms.
typedef struct exact {
    int is_real;
    int128 whole;
    long double real;
} exact;

static exact read_exact(tl_dtype dtype, const void *p)
{
    switch (dtype) {
    case TL_DOUBLE: return (exact){1, 0, *(const double *)p};
    case TL_FLOAT: return (exact){1, 0, *(const float *)p};
    case TL_INT64: return (exact){0, *(const int64_t *)p, 0};
    case TL_INT32: return (exact){0, *(const int32_t *)p, 0};
    case TL_INT16: return (exact){0, *(const int16_t *)p, 0};
    case TL_INT8: return (exact){0, *(const int8_t *)p, 0};
    case TL_UINT64: return (exact){0, *(const uint64_t *)p, 0};
    case TL_UINT32: return (exact){0, *(const uint32_t *)p, 0};
    case TL_UINT16: return (exact){0, *(const uint16_t *)p, 0};
    case TL_UINT8: return (exact){0, *(const uint8_t *)p, 0};
    default: return (exact){0, *(const tl_bool *)p != 0, 0};
    }
}

static void int_limits(tl_dtype dtype, int128 *low, int128 *high)
{
    int bits = (int)tl_size_of(dtype) * 8;
    int is_unsigned =
        dtype == TL_UINT64 || dtype == TL_UINT32 || dtype == TL_UINT16 || dtype == TL_UINT8;
    *low = is_unsigned ? 0 : -((int128)1 << (bits - 1));
    *high = is_unsigned ? ((int128)1 << bits) - 1 : ((int128)1 << (bits - 1)) - 1;
}

// What `from` must become.
static exact expected_of(exact from, tl_dtype to)
{
    if (to == TL_BOOL)
        return (exact){0, from.is_real ? from.real != 0 : from.whole != 0, 0};
    if (is_floating(to)) {
        long double x = from.is_real ? from.real : (long double)from.whole;
        if (to == TL_FLOAT && isfinite(x))
            x = fmaxl(-(long double)FLT_MAX, fminl((long double)FLT_MAX, x));
        return (exact){1, 0, to == TL_FLOAT ? (float)x : (double)x};
    }
    int128 low, high;
    int_limits(to, &low, &high);
    if (!from.is_real)
        return (exact){0, from.whole < low ? low : from.whole > high ? high : from.whole, 0};
    if (isnan(from.real))
        return (exact){0, 0, 0};
    if (from.real <= (long double)low)
        return (exact){0, low, 0};
    if (from.real >= (long double)high)
        return (exact){0, high, 0};
    return (exact){0, (int128)truncl(from.real), 0};
}

static int is_equal(exact a, exact b)
{
    if (a.is_real != b.is_real)
        return 0;
    if (!a.is_real)
        return a.whole == b.whole;
    return a.real == b.real || (isnan(a.real) && isnan(b.real));
}

// The limits of all types and their neighbours, as doubles and as integers.
static const double reals[] = {
    0.0,
    -0.0,
    0.5,
    -0.5,
    0.999999,
    -0.999999,
    1.0,
    -1.0,
    1.5,
    -1.5,
    2.9,
    -2.9,
    126.9,
    127.0,
    127.9,
    128.0,
    -127.9,
    -128.0,
    -128.9,
    -129.0,
    254.9,
    255.0,
    255.9,
    256.0,
    32767.0,
    32767.9,
    32768.0,
    -32768.0,
    -32768.9,
    -32769.0,
    65535.0,
    65535.9,
    65536.0,
    2147483647.0,
    2147483647.5,
    2147483648.0,
    -2147483648.0,
    -2147483648.5,
    -2147483649.0,
    4294967295.0,
    4294967295.5,
    4294967296.0,
    0x1p53,
    0x1.fffffffffffffp62,
    0x1p63,
    -0x1p63,
    -0x1.0000000000001p63,
    0x1.fffffffffffffp63,
    0x1p64,
    0x1.0000000000001p64,
    1e19,
    1e20,
    -1e20,
    1e-320,
    1e-46,
    FLT_MAX,
    -FLT_MAX,
    3.5e38,
    -3.5e38,
    1e300,
    -1e300,
    DBL_MAX,
    -DBL_MAX,
    INFINITY,
    -INFINITY,
    NAN,
};
static const uint64_t patterns[] = {
    0,
    1,
    2,
    3,
    0x7e,
    0x7f,
    0x80,
    0x81,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0x8001,
    0xffff,
    0x10000,
    0x7fffff80,
    0x7fffffff,
    0x80000000,
    0x80000001,
    0xffffffff,
    0x100000000,
    0x1fffffffffffff,
    0x20000000000001,
    0x7fffffffffffffff,
    0x8000000000000000,
    0x8000000000000001,
    0xffffffff00000000,
    0xffffffff80000000,
    0xffffffff7fffffff,
    0xffffffffffffff80,
    0xffffffffffffff7f,
    0xfffffffffffffffe,
    0xffffffffffffffff,
};

static void check_pair(tl_dtype from, const void *source, tl_dtype to)
{
    uint64_t target = 0;
    CHECK_OK(tl_convert(&target, to, source, from));
    exact expected = expected_of(read_exact(from, source), to);
    exact actual = read_exact(to, &target);
    tl_bool as_bool;
    memcpy(&as_bool, &target, sizeof as_bool);
    if (to == TL_BOOL)
        CHECK(as_bool == 0 || as_bool == 1);
    if (!is_equal(actual, expected))
        fail_msg("%s to %s: %Lg instead of %Lg", tl_dtype_name(from), tl_dtype_name(to),
                 actual.is_real ? actual.real : (long double)actual.whole,
                 expected.is_real ? expected.real : (long double)expected.whole);
}

TEST(all_pairs_of_types_agree_with_exact_arithmetic)
{
    for (int from = 0; from < TL_DTYPE_NATIVE_SIZE; from++) {
        for (int to = 0; to < TL_DTYPE_NATIVE_SIZE; to++) {
            for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
                if (!is_floating((tl_dtype)from))
                    check_pair((tl_dtype)from, &patterns[i], (tl_dtype)to);
            }
            for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
                float narrow =
                    fabs(reals[i]) <= FLT_MAX || !isfinite(reals[i]) ? (float)reals[i] : FLT_MAX;
                if (from == TL_DOUBLE)
                    check_pair(TL_DOUBLE, &reals[i], (tl_dtype)to);
                if (from == TL_FLOAT)
                    check_pair(TL_FLOAT, &narrow, (tl_dtype)to);
            }
        }
    }
}

TEST(long_arrays_convert_like_single_elements)
{
    enum { COUNT = 1000 };
    double source[COUNT];
    for (int i = 0; i < COUNT; i++)
        source[i] = (i - 500) * 0.75;
    for (int to = 0; to < TL_DTYPE_NATIVE_SIZE; to++) {
        uint64_t target[COUNT], element;
        size_t size = tl_size_of((tl_dtype)to);
        CHECK_OK(tl_convert_n(target, (tl_dtype)to, source, TL_DOUBLE, COUNT));
        for (int i = 0; i < COUNT; i++) {
            tl_convert(&element, (tl_dtype)to, &source[i], TL_DOUBLE);
            CHECK_MEM_EQ((char *)target + (size_t)i * size, &element, size);
        }
    }
}

TEST(in_place_works_for_one_element_size)
{
    float values[3] = {-1.5f, 2.5f, 3e10f};
    CHECK_OK(tl_convert_n(values, TL_INT32, values, TL_FLOAT, 3));
    int32_t result[3];
    memcpy(result, values, sizeof result);
    CHECK_EQ(result[0], -1);
    CHECK_EQ(result[1], 2);
    CHECK_EQ(result[2], INT32_MAX);
}

TEST(bad_arguments_are_errors)
{
    double x = 0;
    CHECK_FAILS(tl_convert(&x, TL_DTYPE_INVALID, &x, TL_DOUBLE), LN_INVALID);
    CHECK_FAILS(tl_convert(&x, TL_DOUBLE, &x, TL_DTYPE_SIZE), LN_INVALID);
    CHECK_FAILS(tl_convert(NULL, TL_DOUBLE, &x, TL_DOUBLE), LN_INVALID);
    CHECK_FAILS(tl_convert(&x, TL_DOUBLE, NULL, TL_DOUBLE), LN_INVALID);
    CHECK_OK(tl_convert_n(NULL, TL_DOUBLE, NULL, TL_DOUBLE, 0));
}

TEST_LIST(every_case_of_the_table_holds, all_pairs_of_types_agree_with_exact_arithmetic,
          long_arrays_convert_like_single_elements, in_place_works_for_one_element_size,
          bad_arguments_are_errors)
