// SPDX-License-Identifier: Apache-2.0
// The walk against coordinates worked out one by one.

#include "base/broadcast.h"

#include "tests/random.h"
#include "tests/test.h"

#define A(...)                                                                                     \
    (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), (int[])                                     \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static void check_shape(int a_ndim, const int *a, int b_ndim, const int *b, int ndim,
                        const int *expected)
{
    int dims[LN_MAXDIM];
    CHECK_EQ(ln_broadcast_shape(dims, a_ndim, a, b_ndim, b), ndim);
    for (int i = 0; i < ndim; i++)
        CHECK_EQ(dims[i], expected[i]);
    CHECK_EQ(ln_broadcast_shape(dims, b_ndim, b, a_ndim, a), ndim);
    for (int i = 0; i < ndim; i++)
        CHECK_EQ(dims[i], expected[i]);
}

TEST(shapes_fit_from_the_last_dimension_on)
{
    check_shape(A(2, 3), A(2, 3), A(2, 3));
    check_shape(A(2, 3), A(3), A(2, 3));
    check_shape(A(2, 3), A(2, 1), A(2, 3));
    check_shape(A(4, 1, 3), A(2, 1), A(4, 2, 3));
    check_shape(A(2, 3), 0, NULL, A(2, 3));
    check_shape(0, NULL, 0, NULL, 0, NULL);
    check_shape(A(1, 3, 1, 1), A(2, 3, 4, 5), A(2, 3, 4, 5));
    check_shape(A(0, 3), A(1, 3), A(0, 3));
}

TEST(shapes_that_do_not_fit_are_refused)
{
    int dims[LN_MAXDIM];
    CHECK_EQ(ln_broadcast_shape(dims, A(2, 3), A(2)), -1);
    CHECK_EQ(ln_error_status(), LN_INVALID);
    CHECK(strstr(ln_error_message(), "[2, 3] and [2]"));
    CHECK_EQ(ln_broadcast_shape(dims, A(0, 3), A(2, 3)), -1);
    CHECK_EQ(ln_broadcast_shape(dims, A(65536, 1), A(1, 65536)), -1);
    CHECK_EQ(ln_error_status(), LN_LIMIT);
}

// Which element of an operand stands at element `i` of the result.
static size_t operand_element(size_t i, int ndim, const int *dims, int own_ndim, const int *own)
{
    size_t at = 0, size = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        size_t coord = i % (size_t)dims[d];
        int own_d = d - (ndim - own_ndim);
        i /= (size_t)dims[d];
        if (own_d < 0)
            continue;
        at += own[own_d] == 1 ? 0 : coord * size;
        size *= (size_t)own[own_d];
    }
    return at;
}

static void check_walk(int a_ndim, const int *a, int b_ndim, const int *b, size_t *out_rows)
{
    int dims[LN_MAXDIM];
    int ndim = ln_broadcast_shape(dims, a_ndim, a, b_ndim, b);
    CHECK(ndim >= 0);
    size_t len = (size_t)ln_compute_length(ndim, dims), met = 0;
    ln_broadcast walk;
    *out_rows = 0;
    for (ln_broadcast_start(&walk, ndim, dims, a_ndim, a, b_ndim, b); walk.rows_left > 0;
         ln_broadcast_next(&walk)) {
        CHECK_EQ(walk.to, met);
        for (size_t i = 0; i < walk.count; i++, met++) {
            CHECK(met < len);
            CHECK_EQ(walk.at[0] + i * walk.step[0], operand_element(met, ndim, dims, a_ndim, a));
            CHECK_EQ(walk.at[1] + i * walk.step[1], operand_element(met, ndim, dims, b_ndim, b));
        }
        ++*out_rows;
    }
    CHECK_EQ(met, len);
}

TEST(equal_shapes_and_scalars_are_one_row)
{
    size_t rows;
    check_walk(A(2, 3, 4), A(2, 3, 4), &rows);
    CHECK_EQ(rows, 1);
    check_walk(A(2, 3, 4), A(1), &rows);
    CHECK_EQ(rows, 1);
    check_walk(0, NULL, A(2, 3, 4), &rows);
    CHECK_EQ(rows, 1);
    check_walk(0, NULL, 0, NULL, &rows);
    CHECK_EQ(rows, 1);
    check_walk(A(2, 0, 4), A(1, 1, 4), &rows);
    CHECK_EQ(rows, 0);
}

TEST(a_number_for_each_channel_makes_a_row_of_each_plane)
{
    size_t rows;
    check_walk(A(2, 3, 4, 5), A(1, 3, 1, 1), &rows);
    CHECK_EQ(rows, 6);
    check_walk(A(2, 3, 4, 5), A(4, 5), &rows);
    CHECK_EQ(rows, 6);
}

TEST(random_shapes_are_walked_in_order)
{
    test_random random = test_random_start();
    for (int round = 0; round < 3000; round++) {
        int dims[2][LN_MAXDIM], ndim[2];
        int whole[LN_MAXDIM], whole_ndim = (int)test_random_below(&random, LN_MAXDIM + 1);
        for (int i = 0; i < whole_ndim; i++)
            whole[i] = 1 + (int)test_random_below(&random, 3);
        for (int k = 0; k < 2; k++) {
            ndim[k] = (int)test_random_below(&random, (size_t)whole_ndim + 1);
            for (int i = 0; i < ndim[k]; i++)
                dims[k][i] = test_random_below(&random, 2) ? 1 : whole[i + whole_ndim - ndim[k]];
        }
        size_t rows;
        check_walk(ndim[0], dims[0], ndim[1], dims[1], &rows);
    }
}

TEST_LIST(shapes_fit_from_the_last_dimension_on, shapes_that_do_not_fit_are_refused,
          equal_shapes_and_scalars_are_one_row, a_number_for_each_channel_makes_a_row_of_each_plane,
          random_shapes_are_walked_in_order)
