// SPDX-License-Identifier: Apache-2.0
// Arithmetic: a table of known results, all types against exact arithmetic, and the edges.

#include <lightnet/tensor.h>

#include <math.h>

#include "tests/test.h"

static const struct {
    tl_dtype dtype;
    double a;
    tl_elew_op op;
    double b;
    double expected;
} cases[] = {
#define E(dtype, a, op, b, expected) {dtype, a, op, b, expected},
#include "elew_cases.inc"
    // What the table leaves out.
    E(TL_INT16, 1, TL_MUL, 2, 2) E(TL_UINT32, 1, TL_MUL, 2, 2) E(TL_INT64, -3, TL_MUL, 2, -6) E(
        TL_UINT64, 3, TL_MUL, 2, 6) E(TL_DOUBLE, 2, TL_DIV, 1, 2) E(TL_INT32, -7, TL_DIV, 2, -3)
        E(TL_UINT32, 7, TL_DIV, 2, 3) E(TL_UINT8, 255, TL_DIV, 2, 127) E(
            TL_INT64, -7, TL_DIV, 2, -3) E(TL_UINT64, 7, TL_DIV, 2, 3) E(TL_BOOL, 1, TL_DIV, 1, 1)
            E(TL_BOOL, 0, TL_DIV, 1, 0) E(TL_BOOL, 1, TL_SUB, 1, 0) E(TL_BOOL, 0, TL_SUB, 1, 1)
                E(TL_BOOL, 1, TL_SUM, 1, 1) E(TL_BOOL, 0, TL_POW, 0, 1) E(TL_BOOL, 0, TL_POW, 1, 0)
                    E(TL_INT8, 127, TL_SUM, 1, -128) E(TL_INT8, -128, TL_SUB, 1, 127)
                        E(TL_INT8, 64, TL_MUL, 2, -128) E(TL_INT8, -128, TL_DIV, -1, -128) E(
                            TL_INT16, -32768, TL_DIV, -1, -32768) E(TL_INT32, -2147483648.0, TL_DIV,
                                                                    -1, -2147483648.0)
                            E(TL_INT64, -0x1p63, TL_DIV, -1, -0x1p63) E(TL_UINT8, 0, TL_SUB, 1, 255)
                                E(TL_UINT16, 65535, TL_MUL, 65535, 1) E(TL_INT8, 2, TL_POW, 7, 127)
                                    E(TL_UINT8, 2, TL_POW, 9, 255) E(TL_INT32, 2, TL_POW, -1, 0)
                                        E(TL_INT64, 2, TL_POW, 62, 0x1p62) E(TL_FLOAT, 1, TL_DIV, 0,
                                                                             INFINITY)
                                            E(TL_DOUBLE, -1, TL_DIV, 0, -INFINITY)
                                                E(TL_DOUBLE, 0, TL_DIV, 0, NAN)
                                                    E(TL_FLOAT, NAN, TL_MAX, 1, NAN)
                                                        E(TL_FLOAT, 1, TL_MIN, NAN, NAN)
                                                            E(TL_DOUBLE, 10, TL_POW, 400, INFINITY)
                                                                E(TL_FLOAT, -1, TL_POW, 0.5, NAN)
#undef E
};

TEST(every_case_of_the_table_holds)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tl_dtype dtype = cases[i].dtype;
        uint64_t a, b, r;
        double actual;
        tl_convert(&a, dtype, &cases[i].a, TL_DOUBLE);
        tl_convert(&b, dtype, &cases[i].b, TL_DOUBLE);
        CHECK_OK(tl_elew(&a, &b, &r, cases[i].op, dtype));
        tl_convert(&actual, TL_DOUBLE, &r, dtype);
        if (actual != cases[i].expected && !(isnan(actual) && isnan(cases[i].expected)))
            fail_msg("%s %g %s %g is %g instead of %g", tl_dtype_name(dtype), cases[i].a,
                     tl_elew_op_name(cases[i].op), cases[i].b, actual, cases[i].expected);
    }
}

// ---- Integers against 128-bit arithmetic, reduced to the width of the type ----

__extension__ typedef __int128 int128;

static int128 read_int(tl_dtype dtype, const void *p)
{
    switch (dtype) {
    case TL_INT64: return *(const int64_t *)p;
    case TL_INT32: return *(const int32_t *)p;
    case TL_INT16: return *(const int16_t *)p;
    case TL_INT8: return *(const int8_t *)p;
    case TL_UINT64: return *(const uint64_t *)p;
    case TL_UINT32: return *(const uint32_t *)p;
    case TL_UINT16: return *(const uint16_t *)p;
    default: return *(const uint8_t *)p;
    }
}

static int128 wrap(tl_dtype dtype, int128 x)
{
    uint64_t low = (uint64_t)x;
    return read_int(dtype, &low);
}

static int128 exact_result(tl_elew_op op, int128 a, int128 b)
{
    switch (op) {
    case TL_MUL: return (int128)((unsigned __int128)a * (unsigned __int128)b);
    case TL_DIV: return a / b;
    case TL_SUM: return a + b;
    case TL_SUB: return a - b;
    case TL_MAX: return a > b ? a : b;
    default: return a < b ? a : b;
    }
}

TEST(integers_of_every_type_wrap)
{
    static const tl_dtype dtypes[] = {TL_INT64,  TL_INT32,  TL_INT16,  TL_INT8,
                                      TL_UINT64, TL_UINT32, TL_UINT16, TL_UINT8};
    static const uint64_t values[] = {0,          1,          2,           3,
                                      0x7f,       0x80,       0x7fff,      0x8000,
                                      0x7fffffff, 0x80000000, 0xffffffff,  INT64_MAX,
                                      1ULL << 63, UINT64_MAX, 0x123456789, UINT64_MAX - 4};
    for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++) {
        for (size_t i = 0; i < 256; i++) {
            const void *a = &values[i / 16], *b = &values[i % 16];
            for (int op = TL_MUL; op < TL_POW; op++) {
                uint64_t r = 0;
                int128 exact_b = read_int(dtypes[d], b);
                ln_status status = tl_elew(a, b, &r, (tl_elew_op)op, dtypes[d]);
                if (op == TL_DIV && exact_b == 0) {
                    CHECK_EQ(status, LN_INVALID);
                    continue;
                }
                CHECK_OK(status);
                int128 expected = exact_result((tl_elew_op)op, read_int(dtypes[d], a), exact_b);
                CHECK(read_int(dtypes[d], &r) == wrap(dtypes[d], expected));
            }
        }
    }
}

TEST(division_by_zero_is_an_error_that_changes_nothing)
{
    int32_t a[3] = {1, 2, 3}, b[3] = {1, 0, 1}, r[3] = {7, 7, 7};
    tl_tensor *ta = tl_tensor_create(a, 1, (int[]){3}, TL_INT32);
    tl_tensor *tb = tl_tensor_create(b, 1, (int[]){3}, TL_INT32);
    tl_tensor *tr = tl_tensor_create(r, 1, (int[]){3}, TL_INT32);
    CHECK_NULL(tl_tensor_elew(ta, tb, tr, TL_DIV));
    CHECK_MESSAGE("division by zero at element 1");
    CHECK_EQ(r[0], 7);
    CHECK_NULL(tl_tensor_elew(ta, tb, NULL, TL_DIV));
    CHECK_NULL(tl_tensor_elew_param(ta, 0.5, NULL, TL_DIV));
    CHECK_EQ(ln_error_status(), LN_INVALID);
    tl_bool yes = 1, no = 0, result;
    CHECK_FAILS(tl_elew(&yes, &no, &result, TL_DIV, TL_BOOL), LN_INVALID);
    tl_tensor_free(ta);
    tl_tensor_free(tb);
    tl_tensor_free(tr);
}

TEST(tensors_of_every_type_are_combined_also_in_place)
{
    for (int dtype = 0; dtype < TL_DTYPE_NATIVE_SIZE; dtype++) {
        tl_tensor *a = tl_tensor_arange(0, 1, 1, (tl_dtype)dtype);
        tl_tensor *b = tl_tensor_elew_param(a, 1, NULL, TL_SUM);
        CHECK_PTR_EQ(tl_tensor_elew(a, b, a, TL_SUM), a);
        CHECK_PTR_EQ(tl_tensor_elew(b, a, a, TL_MUL), a);
        CHECK_EQ(tl_cmp(a->data, b->data, (tl_dtype)dtype), 0);
        tl_tensor_free_data_too(a);
        tl_tensor_free_data_too(b);
    }
}

TEST(the_parameter_saturates_before_it_is_used)
{
    uint8_t data[2] = {0, 10}, result[2];
    tl_tensor *t = tl_tensor_create(data, 1, (int[]){2}, TL_UINT8);
    tl_tensor *r = tl_tensor_create(result, 1, (int[]){2}, TL_UINT8);
    CHECK_NOT_NULL(tl_tensor_elew_param(t, 1000, r, TL_SUM));
    CHECK_EQ(result[0], 255);
    CHECK_EQ(result[1], 9);
    tl_tensor_free(t);
    tl_tensor_free(r);
}

TEST(dot_product_sums_in_the_type)
{
    int8_t bytes[3] = {100, 100, 1};
    float reals[3] = {1, 2, 3};
    tl_bool bools[3] = {0, 1, 1};
    tl_tensor *t = tl_tensor_create(bytes, 1, (int[]){3}, TL_INT8);
    tl_tensor *r = tl_tensor_dot_product(t, t, NULL);
    CHECK_EQ(r->ndim, 1);
    CHECK_EQ(*(int8_t *)r->data, (int8_t)(20001 % 256));
    tl_tensor_free_data_too(r);
    tl_tensor_free(t);

    t = tl_tensor_create(reals, 1, (int[]){3}, TL_FLOAT);
    r = tl_tensor_dot_product(t, t, NULL);
    CHECK(*(float *)r->data == 14);
    tl_tensor_free(t);
    tl_tensor_free_data_too(r);

    t = tl_tensor_create(bools, 1, (int[]){3}, TL_BOOL);
    r = tl_tensor_dot_product(t, t, NULL);
    CHECK_EQ(*(tl_bool *)r->data, 1);
    tl_tensor_free(t);
    tl_tensor_free_data_too(r);

    t = tl_tensor_zeros(1, (int[]){0}, TL_DOUBLE);
    r = tl_tensor_dot_product(t, t, NULL);
    CHECK(*(double *)r->data == 0);
    tl_tensor_free_data_too(t);
    tl_tensor_free_data_too(r);
}

TEST(maxreduce_takes_the_first_largest_and_the_first_nan)
{
    float data[2][4] = {{1, 3, 3, 2}, {5, NAN, 9, NAN}};
    tl_tensor *t = tl_tensor_create(data, 2, (int[]){2, 4}, TL_FLOAT);
    tl_tensor *arg = tl_tensor_zeros(2, (int[]){2, 1}, TL_INT32);
    tl_tensor *r = tl_tensor_maxreduce(t, NULL, arg, 1);
    CHECK(((float *)r->data)[0] == 3);
    CHECK(isnan(((float *)r->data)[1]));
    CHECK_EQ(((int32_t *)arg->data)[0], 1);
    CHECK_EQ(((int32_t *)arg->data)[1], 1);
    tl_tensor_free_data_too(r);
    tl_tensor_free_data_too(arg);
    tl_tensor_free(t);
}

TEST(maxreduce_works_for_every_type_and_checks_its_arguments)
{
    for (int dtype = 0; dtype < TL_DTYPE_NATIVE_SIZE; dtype++) {
        tl_tensor *t = tl_tensor_zeros(2, (int[]){3, 2}, (tl_dtype)dtype);
        tl_dtype_max((tl_dtype)dtype, tl_padd(t->data, 3, tl_size_of((tl_dtype)dtype)));
        tl_tensor *arg = tl_tensor_zeros(2, (int[]){1, 2}, TL_INT32);
        tl_tensor *r = tl_tensor_maxreduce(t, NULL, arg, 0);
        CHECK_EQ(((int32_t *)arg->data)[0], 0);
        CHECK_EQ(((int32_t *)arg->data)[1], 1);
        CHECK_NULL(tl_tensor_maxreduce(t, NULL, NULL, 2));
        CHECK_NULL(tl_tensor_maxreduce(t, NULL, t, 0));
        CHECK_NULL(tl_tensor_maxreduce(t, NULL, arg, 1));
        tl_tensor_free_data_too(r);
        tl_tensor_free_data_too(arg);
        tl_tensor_free_data_too(t);
    }
    tl_tensor *none = tl_tensor_zeros(2, (int[]){2, 0}, TL_FLOAT);
    CHECK_NULL(tl_tensor_maxreduce(none, NULL, NULL, 1));
    CHECK_MESSAGE("empty");
    tl_tensor *r = tl_tensor_maxreduce(none, NULL, NULL, 0);
    CHECK_EQ(r->len, 0);
    tl_tensor_free_data_too(r);
    tl_tensor_free_data_too(none);
}

TEST(lrelu_uses_the_slope_in_the_type)
{
    struct {
        const char *why;
        tl_dtype dtype;
        double x;
        float slope;
        double expected;
    } rows[] = {
        {"negative float", TL_FLOAT, -1, -0.5f, 0.5},
        {"double gets the slope's float value", TL_DOUBLE, -1, 0.1f, -(double)0.1f},
        {"an integer slope below 1 is 0", TL_INT32, -7, 0.1f, 0},
        {"an integer slope", TL_INT64, -7, 2.9f, -14},
        {"int8 wraps", TL_INT8, -100, 2, 56},
        {"unsigned stays", TL_UINT64, 7, 0.1f, 7},
        {"bool stays", TL_BOOL, 1, 0.1f, 1},
        {"positive stays", TL_INT16, 7, 5, 7},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t x;
        double actual;
        tl_convert(&x, rows[i].dtype, &rows[i].x, TL_DOUBLE);
        CHECK_OK(tl_lrelu(&x, &x, rows[i].slope, rows[i].dtype));
        tl_convert(&actual, TL_DOUBLE, &x, rows[i].dtype);
        if (actual != rows[i].expected)
            fail_msg("%s: %g instead of %g", rows[i].why, actual, rows[i].expected);
    }
    CHECK_FAILS(tl_lrelu(NULL, NULL, 1, TL_FLOAT), LN_INVALID);
}

TEST(smaller_operands_are_repeated)
{
    float a[6] = {1, 2, 3, 4, 5, 6}, b[2] = {10, 20}, r[6];
    const float expected[6] = {9, 8, 7, 16, 15, 14};
    tl_tensor *ta = tl_tensor_create(a, 2, (int[]){2, 3}, TL_FLOAT);
    tl_tensor *tb = tl_tensor_create(b, 2, (int[]){2, 1}, TL_FLOAT);
    tl_tensor *tr = tl_tensor_create(r, 2, (int[]){2, 3}, TL_FLOAT);
    CHECK_PTR_EQ(tl_tensor_elew(tb, ta, tr, TL_SUB), tr);
    for (int i = 0; i < 6; i++)
        CHECK(r[i] == expected[i]);
    CHECK_PTR_EQ(tl_tensor_elew(tb, ta, ta, TL_SUB), ta); // over the operand of the whole shape
    for (int i = 0; i < 6; i++)
        CHECK(a[i] == expected[i]);
    tl_tensor *over = tl_tensor_create(b, 2, (int[]){2, 3}, TL_FLOAT); // never reached beyond b
    CHECK_NULL(tl_tensor_elew(tb, ta, over, TL_SUB));
    tl_tensor_free(over);
    tl_tensor_free(ta);
    tl_tensor_free(tb);
    tl_tensor_free(tr);
}

TEST(an_operand_of_less_dimensions_but_as_many_elements_may_be_written_over)
{
    float x[6] = {1, -2, 3, -4, 5, -6}, one = 1;
    tl_tensor a = {.dtype = TL_FLOAT, .len = 6, .ndim = 2, .dims = (int[]){2, 3}, .data = x};
    tl_tensor b = {.dtype = TL_FLOAT, .len = 1, .ndim = 3, .dims = (int[]){1, 1, 1}, .data = &one};
    tl_tensor y = {.dtype = TL_FLOAT, .len = 6, .ndim = 3, .dims = (int[]){1, 2, 3}, .data = x};
    CHECK_NOT_NULL(tl_tensor_elew(&a, &b, &y, TL_SUM));
    for (int i = 0; i < 6; i++)
        CHECK_NEAR(x[i], (i % 2 ? -1 : 1) * (i + 1) + 1, 0);
}

TEST(bad_arguments_are_errors)
{
    tl_tensor *a = tl_tensor_zeros(1, (int[]){2}, TL_FLOAT);
    tl_tensor *b = tl_tensor_zeros(1, (int[]){3}, TL_FLOAT);
    tl_tensor *c = tl_tensor_zeros(1, (int[]){2}, TL_INT8);
    tl_tensor *empty = tl_tensor_create(NULL, 1, (int[]){2}, TL_FLOAT);
    CHECK_NULL(tl_tensor_elew(a, b, NULL, TL_SUM));
    CHECK_NULL(tl_tensor_elew(a, c, NULL, TL_SUM));
    CHECK_NULL(tl_tensor_elew(a, a, b, TL_SUM));
    CHECK_NULL(tl_tensor_elew(a, a, c, TL_SUM));
    CHECK_NULL(tl_tensor_elew(a, NULL, NULL, TL_SUM));
    CHECK_NULL(tl_tensor_elew(a, a, NULL, TL_ELEW_OP_SIZE));
    CHECK_NULL(tl_tensor_elew(a, empty, NULL, TL_SUM));
    CHECK_MESSAGE("no data");
    CHECK_NULL(tl_tensor_dot_product(a, b, NULL));
    CHECK_NULL(tl_tensor_lrelu(a, c, 1));
    CHECK_NULL(tl_tensor_convert(a, NULL, TL_DTYPE_SIZE));
    CHECK_NULL(tl_tensor_convert(a, b, TL_FLOAT));
    CHECK_NULL(tl_elew_getfunc(TL_DTYPE_INVALID));
    tl_tensor_free(empty);
    tl_tensor_free_data_too(a);
    tl_tensor_free_data_too(b);
    tl_tensor_free_data_too(c);
}

TEST_LIST(every_case_of_the_table_holds, integers_of_every_type_wrap,
          division_by_zero_is_an_error_that_changes_nothing,
          tensors_of_every_type_are_combined_also_in_place,
          the_parameter_saturates_before_it_is_used, dot_product_sums_in_the_type,
          maxreduce_takes_the_first_largest_and_the_first_nan,
          maxreduce_works_for_every_type_and_checks_its_arguments, lrelu_uses_the_slope_in_the_type,
          smaller_operands_are_repeated,
          an_operand_of_less_dimensions_but_as_many_elements_may_be_written_over,
          bad_arguments_are_errors)
