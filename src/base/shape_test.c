// SPDX-License-Identifier: Apache-2.0
// Element counts, texts of shapes, rounding up.

#include <lightnet/shape.h>

#include <limits.h>

#include "tests/test.h"

TEST(lengths_are_products)
{
    static const struct {
        int ndim;
        int dims[LN_MAXDIM + 1];
        int length;
        ln_status status;
        const char *why;
    } cases[] = {
        {0, {0}, 1, LN_OK, "a scalar"},
        {1, {7}, 7, LN_OK, "a vector"},
        {4, {2, 3, 4, 5}, 120, LN_OK, "an image"},
        {8, {1, 2, 1, 2, 1, 2, 1, 2}, 16, LN_OK, "as many as allowed"},
        {3, {2, 0, 4}, 0, LN_OK, "an empty one"},
        {3, {INT_MAX, INT_MAX, 0}, 0, LN_OK, "an empty one with large dimensions"},
        {1, {INT_MAX}, INT_MAX, LN_OK, "the largest"},
        {2, {INT_MAX, 2}, -1, LN_LIMIT, "too large"},
        {2, {65536, 32768}, -1, LN_LIMIT, "too large by one"},
        {4, {65536, 65536, 65536, 65536}, -1, LN_LIMIT, "too large for 64 bits"},
        {2, {2, -1}, -1, LN_INVALID, "negative"},
        {9, {1, 1, 1, 1, 1, 1, 1, 1, 1}, -1, LN_INVALID, "too many dimensions"},
        {-1, {1}, -1, LN_INVALID, "less than none"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        printf("%s\n", cases[i].why);
        ln_error_clear();
        CHECK_EQ(ln_compute_length(cases[i].ndim, cases[i].dims), cases[i].length);
        CHECK_EQ(ln_error_status(), cases[i].status);
    }
    CHECK_EQ(ln_compute_length(0, NULL), 1);
    CHECK_EQ(ln_compute_length(1, NULL), -1);
}

TEST(shapes_have_a_text)
{
    char text[LN_SHAPE_TEXT_BYTES];
    const int dims[] = {2, 3};
    CHECK_STR_EQ(ln_sprint_shape(text, sizeof text, 2, dims), "[2, 3]");
    CHECK_STR_EQ(ln_sprint_shape(text, sizeof text, 1, dims), "[2]");
    CHECK_STR_EQ(ln_sprint_shape(text, sizeof text, 0, NULL), "[]");
    CHECK_STR_EQ(ln_sprint_shape(text, sizeof text, 1, NULL), "[?]");
    CHECK_STR_EQ(ln_sprint_shape(text, sizeof text, -1, dims), "[?]");
    CHECK_STR_EQ(ln_sprint_shape(text, sizeof text, 9, dims), "[?]");
}

TEST(texts_of_shapes_are_cut_not_overflowed)
{
    const int dims[] = {INT_MIN, INT_MIN, INT_MIN, INT_MIN, INT_MIN, INT_MIN, INT_MIN, INT_MIN};
    char text[LN_SHAPE_TEXT_BYTES];
    ln_sprint_shape(text, sizeof text, 8, dims);
    CHECK_EQ(strlen(text), 2 + 8 * 11 + 7 * 2);
    CHECK_STR_EQ(ln_sprint_shape(text, 5, 8, dims), "[-21");
    CHECK_STR_EQ(ln_sprint_shape(text, 1, 8, dims), "");
    text[0] = 'x';
    ln_sprint_shape(text, 0, 8, dims);
    CHECK_EQ(text[0], 'x');
    CHECK_NULL(ln_sprint_shape(NULL, 0, 8, dims));
}

TEST(shapes_are_printed)
{
    char text[32] = "";
    FILE *fp = fmemopen(text, sizeof text, "w");
    ln_print_shape(fp, 2, (const int[]){4, 5});
    fclose(fp);
    CHECK_STR_EQ(text, "[4, 5]");
    ln_print_shape(NULL, 0, NULL);
}

TEST(multiples_of_powers_of_two_are_not_below)
{
    static const int cases[][3] = {
        {7, 8, 8},
        {39, 8, 40},
        {0, 8, 0},
        {-2, 8, 0},
        {-8, 8, -8},
        {-15, 8, -8},
        {8, 8, 8},
        {9, 8, 16},
        {9, 1, 9},
        {9, 2, 10},
        {9, 16, 16},
        {17, 16, 32},
        {1, 64, 64},
        {65, 64, 128},
        {-65, 64, -64},
        {INT_MIN, 8, INT_MIN},
        {INT_MAX, 1, INT_MAX},
        {INT_MAX - 7, 8, INT_MAX - 7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK_EQ(ln_next_multiple_power2(cases[i][0], cases[i][1]), cases[i][2]);
}

TEST(what_is_no_power_of_two_is_refused)
{
    static const int wrong[] = {0, -8, 3, 12, INT_MIN};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ln_error_clear();
        CHECK_EQ(ln_next_multiple_power2(7, wrong[i]), 7);
        CHECK_EQ(ln_error_status(), LN_INVALID);
    }
    CHECK_EQ(ln_next_multiple_power2(INT_MAX, 8), INT_MAX);
    CHECK_EQ(ln_error_status(), LN_LIMIT);
}

TEST_LIST(lengths_are_products, shapes_have_a_text, texts_of_shapes_are_cut_not_overflowed,
          shapes_are_printed, multiples_of_powers_of_two_are_not_below,
          what_is_no_power_of_two_is_refused)
