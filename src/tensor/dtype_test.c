// SPDX-License-Identifier: Apache-2.0
// Names, sizes, ranges, comparison and pointer helpers of the element types.

#include <lightnet/dtype.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include <lightnet/allocator.h>

#include "tests/test.h"

TEST(documented_values_come_first_and_stay)
{
    CHECK_EQ(TL_DTYPE_INVALID, -1);
    CHECK_EQ(TL_DOUBLE, 0);
    CHECK_EQ(TL_FLOAT, 1);
    CHECK_EQ(TL_INT32, 2);
    CHECK_EQ(TL_BOOL, 8);
    CHECK_EQ(TL_INT64, 9);
    CHECK_EQ(TL_UINT64, 10);
    CHECK_EQ(TL_FLOAT16, 11);
    CHECK_EQ(TL_OBJECT, 26);
    CHECK_EQ(TL_DTYPE_SIZE, 27);
    CHECK_EQ(TL_MUL, 0);
    CHECK_EQ(TL_POW, 6);
}

TEST(names_and_values_are_each_others_inverse)
{
    for (int i = 0; i < TL_DTYPE_SIZE; i++)
        CHECK_EQ(tl_dtype_from_str(tl_dtype_name((tl_dtype)i)), i);
    for (int i = 0; i < TL_ELEW_OP_SIZE; i++)
        CHECK_EQ(tl_elew_op_from_str(tl_elew_op_name((tl_elew_op)i)), i);
    for (int i = 0; i < TL_RESIZE_TYPE_SIZE; i++)
        CHECK_EQ(tl_resize_type_from_str(tl_resize_type_name((tl_resize_type)i)), i);
    for (int i = 0; i < TL_SORT_DIR_SIZE; i++)
        CHECK_EQ(tl_sort_dir_from_str(tl_sort_dir_name((tl_sort_dir)i)), i);
    CHECK_STR_EQ(tl_dtype_name(TL_UINT64), "TL_UINT64");
    CHECK_STR_EQ(tl_sort_dir_name(TL_SORT_DIR_DESCENDING), "TL_SORT_DIR_DESCENDING");
}

TEST(unknown_names_are_minus_one_and_unknown_values_are_null)
{
    CHECK_EQ(tl_dtype_from_str("TL_HALF"), -1);
    CHECK_EQ(tl_dtype_from_str(NULL), -1);
    CHECK_EQ(tl_elew_op_from_str(""), -1);
    CHECK_EQ(tl_resize_type_from_str("nearest"), -1);
    CHECK_EQ(tl_sort_dir_from_str("up"), -1);
    CHECK_NULL(tl_dtype_name(TL_DTYPE_INVALID));
    CHECK_NULL(tl_dtype_name(TL_DTYPE_SIZE));
    CHECK_NULL(tl_dtype_fmt((tl_dtype)99));
    CHECK_NULL(tl_elew_op_name(TL_ELEW_OP_SIZE));
    CHECK_EQ(tl_size_of(TL_DTYPE_INVALID), 0);
    CHECK(isnan(tl_dtype_max_double(TL_DTYPE_SIZE)));
}

TEST(sizes_are_those_of_the_documented_types)
{
    const size_t sizes[] = {8,
                            4,
                            4,
                            2,
                            1,
                            4,
                            2,
                            1,
                            4,
                            8,
                            8,
                            2,
                            2,
                            1,
                            1,
                            1,
                            1,
                            1,
                            1,
                            1,
                            1,
                            1,
                            1,
                            8,
                            16,
                            sizeof(char *),
                            sizeof(void *)};
    for (int i = 0; i < TL_DTYPE_SIZE; i++)
        CHECK_EQ(tl_size_of((tl_dtype)i), sizes[i]);
}

TEST(limits_are_written_in_the_type)
{
    int16_t low;
    uint64_t high;
    float most;
    CHECK_OK(tl_dtype_min(TL_INT16, &low));
    CHECK_EQ(low, INT16_MIN);
    CHECK_OK(tl_dtype_max(TL_UINT64, &high));
    CHECK(high == UINT64_MAX);
    CHECK_OK(tl_dtype_min(TL_FLOAT, &most));
    CHECK(most == -FLT_MAX);
    CHECK(tl_dtype_max_double(TL_BOOL) == 1);
    CHECK(tl_dtype_min_double(TL_INT64) == -0x1p63);
    CHECK_FAILS(tl_dtype_max(TL_DTYPE_SIZE, &high), LN_INVALID);
    CHECK_FAILS(tl_dtype_min(TL_FLOAT, NULL), LN_INVALID);
}

TEST(comparison_is_a_total_order)
{
    double small = -1e300, big = 1e300, nan = NAN, zero = 0.4, one = 0.6;
    CHECK(tl_cmp(&small, &big, TL_DOUBLE) < 0);
    CHECK(tl_cmp(&one, &zero, TL_DOUBLE) > 0);
    CHECK_EQ(tl_cmp(&nan, &nan, TL_DOUBLE), 0);
    CHECK(tl_cmp(&nan, &big, TL_DOUBLE) > 0);
    CHECK(tl_cmp(&big, &nan, TL_DOUBLE) < 0);
    uint64_t max = UINT64_MAX, none = 0;
    CHECK(tl_cmp(&max, &none, TL_UINT64) > 0);
    for (int i = 0; i < TL_COMPLEX64; i++) {
        uint64_t low, high;
        tl_dtype_min((tl_dtype)i, &low);
        tl_dtype_max((tl_dtype)i, &high);
        CHECK(tl_cmp_getfunc((tl_dtype)i)(&low, &high) < 0);
        CHECK(tl_cmp_getfunc((tl_dtype)i)(&high, &low) > 0);
        CHECK_EQ(tl_cmp(&high, &high, (tl_dtype)i), 0);
    }
    const char *none_at_all = NULL, *empty = "", *a = "a", *b = "b";
    CHECK_EQ(tl_cmp(&none_at_all, &empty, TL_STRING), 0);
    CHECK(tl_cmp(&a, &b, TL_STRING) < 0);
    CHECK_NULL(tl_cmp_getfunc(TL_COMPLEX64));
    CHECK_EQ(ln_error_status(), LN_UNSUPPORTED);
    CHECK_NULL(tl_cmp_getfunc(TL_DTYPE_INVALID));
    CHECK_EQ(tl_cmp(NULL, &big, TL_DOUBLE), 0);
    CHECK_EQ(ln_error_status(), LN_INVALID);
}

TEST(pointers_move_by_elements)
{
    int16_t a[4] = {1, 2, 3, 4};
    CHECK_PTR_EQ(tl_padd(a, 2, 2), &a[2]);
    CHECK_PTR_EQ(tl_pointer_add(&a[3], -3, TL_INT16), a);
    CHECK_EQ(tl_psub(&a[3], a, 2), 3);
    CHECK_EQ(tl_pointer_sub(a, &a[3], TL_INT16), -3);
    tl_passign(a, 0, a, 3, 2);
    CHECK_EQ(a[0], 4);
    tl_pointer_assign(a, 1, a, 2, TL_INT16);
    CHECK_EQ(a[1], 3);
    tl_pmove(a, 1, a, 0, 2, 3);
    CHECK_EQ(a[1], 4);
    CHECK_EQ(a[2], 3);
    CHECK_EQ(tl_psub(a, a, 0), 0);
}

TEST(bytes_are_cloned_and_repeated)
{
    char *copies = tl_repeat("ab", 2, 3);
    CHECK_MEM_EQ(copies, "ababab", 6);
    ln_free(copies);
    char *copy = tl_clone("xyz", 4);
    CHECK_STR_EQ(copy, "xyz");
    CHECK_STR_EQ(tl_copy(copy, "123", 3), "123");
    ln_free(copy);
    copies = tl_repeat("ab", 2, 0);
    CHECK_NOT_NULL(copies);
    ln_free(copies);
    CHECK_NULL(tl_repeat(NULL, 1, 1));
    CHECK_NULL(tl_repeat("a", 1, -1));
    CHECK_NULL(tl_repeat("a", SIZE_MAX, 2));
    CHECK_NULL(tl_memcpy(NULL, "a", 1));
}

static int read_text(const char *text, int n, float *values)
{
    char path[] = LN_BUILD_DIR "/ln_floats_XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    CHECK_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    ln_error_clear();
    int count = tl_read_floats(path, n, values);
    unlink(path);
    return count;
}

TEST(numbers_are_read_from_text)
{
    float values[8];
    CHECK_EQ(read_text("1.5 -2\n3e2 x", 3, values), 3);
    CHECK(values[0] == 1.5f && values[1] == -2 && values[2] == 300);
    CHECK_EQ(ln_error_status(), LN_OK);
    CHECK_EQ(read_text("1.5 -2\n3e2 x", 4, values), 3);
    CHECK_EQ(ln_error_status(), LN_SYNTAX);
    CHECK_MESSAGE(":2: number 4 of 4 is missing: found 'x'");
    CHECK_EQ(read_text("[1.2, 3.4;\n (5.6)]", 3, values), 3);
    CHECK(values[0] == 1.2f && values[1] == 3.4f && values[2] == 5.6f);
    CHECK_EQ(read_text("{.5 +1. -.25e-1 007}|1-2 - . inf,-nan", 8, values), 8);
    CHECK(values[0] == 0.5f && values[1] == 1 && values[2] == -0.025f && values[3] == 7);
    CHECK(values[4] == 1 && values[5] == -2 && isinf(values[6]) && isnan(values[7]));
    CHECK_EQ(read_text("1e99 1e-99", 2, values), 2);
    CHECK(isinf(values[0]) && values[1] < 1e-30f);
    const char *const wrong[] = {"e5", "1e", "1.2.3", "0x10", "1e5x", "infinite"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK_EQ(read_text(wrong[i], 1, values), 0);
    CHECK_EQ(read_text(" ,;", 1, values), 0);
    CHECK_MESSAGE("ends after 0 of 1 numbers");
    CHECK_EQ(read_text("1", 0, NULL), 0);
    CHECK_EQ(ln_error_status(), LN_OK);
    CHECK_EQ(tl_read_floats("/nonexistent", 1, values), -1);
    CHECK_EQ(ln_error_status(), LN_IO);
    CHECK_EQ(tl_read_floats("/nonexistent", 1, NULL), -1);
    CHECK_EQ(ln_error_status(), LN_INVALID);
}

TEST_LIST(documented_values_come_first_and_stay, names_and_values_are_each_others_inverse,
          unknown_names_are_minus_one_and_unknown_values_are_null,
          sizes_are_those_of_the_documented_types, limits_are_written_in_the_type,
          comparison_is_a_total_order, pointers_move_by_elements, bytes_are_cloned_and_repeated,
          numbers_are_read_from_text)
