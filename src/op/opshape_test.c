// SPDX-License-Identifier: Apache-2.0
// Shape inference: results, and what is refused.

#include <lightnet/opshape.h>

#include <math.h>

#include <lightnet/op.h>

#include "tests/test.h"

// A tensor without data; `dims` must outlive it.
static tl_tensor shaped(int ndim, int *dims)
{
    tl_tensor t = {.dtype = TL_FLOAT, .len = 1, .ndim = ndim, .dims = dims};
    for (int i = 0; i < ndim; i++)
        t.len *= dims[i];
    return t;
}

static void check_dims(int ndim, const int *dims, int expected_ndim, const int *expected)
{
    if (ndim < 0)
        fail_msg("%s", ln_error_message());
    CHECK_EQ(ndim, expected_ndim);
    for (int i = 0; i < ndim; i++)
        CHECK_EQ(dims[i], expected[i]);
}

TEST(ranges_have_a_length)
{
    static const struct {
        double start, stop, step;
        tl_dtype dtype;
        int len;
    } rows[] = {
        {0, 10, 2, TL_INT32, 5},       {0, 9, 2, TL_INT32, 5},         {0, 1, 0.25, TL_FLOAT, 4},
        {10, 0, -3, TL_INT8, 4},       {0, -5, 1, TL_INT32, 0},        {3, 3, 1, TL_INT32, 0},
        {0, 10, 0, TL_INT32, -1},      {0, 300, 1, TL_UINT8, -1},      {-1, 3, 1, TL_UINT8, -1},
        {0, NAN, 1, TL_FLOAT, -1},     {0, INFINITY, 1, TL_FLOAT, -1}, {0, 1e300, 1, TL_DOUBLE, -1},
        {0, 1, 1e-300, TL_DOUBLE, -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_EQ(ln_range_len(rows[i].start, rows[i].stop, rows[i].step, rows[i].dtype),
                 rows[i].len);
}

TEST(views_keep_the_number_of_elements)
{
    int dims[TL_MAXDIM], src_dims[] = {2, 6};
    tl_tensor src = shaped(2, src_dims);
    check_dims(ln_shape_reshape(dims, &src, (int[]){3, 4}, 2), dims, 2, (int[]){3, 4});
    CHECK_EQ(ln_shape_reshape(dims, &src, (int[]){3, 5}, 2), -1);
    CHECK_MESSAGE("[2, 6] has 12 elements and cannot become [3, 5], which has 15");
    src_dims[0] = 0;
    src = shaped(2, src_dims);
    check_dims(ln_shape_reshape(dims, &src, (int[]){5, 0}, 2), dims, 2, (int[]){5, 0});
}

TEST(rows_of_neighbours_have_an_offset)
{
    tl_tensor one = shaped(4, (int[]){1, 4, 3, 5}), two = shaped(4, (int[]){2, 4, 3, 5});
    CHECK_EQ(ln_offset_of_slice(&one, 1, 2), 2 * 15 * 4);
    CHECK_EQ(ln_offset_of_slice(&two, 0, 1), 60 * 4);
    CHECK_EQ(ln_offset_of_slice(&one, 2, 1), LN_NO_OFFSET);
    CHECK_EQ(ln_offset_of_slice(&two, 1, 0), LN_NO_OFFSET);
}

TEST(transposes_that_move_nothing_have_an_offset)
{
    tl_tensor t = shaped(4, (int[]){1, 4, 1, 5});
    CHECK_EQ(ln_offset_of_transpose(&t, (int[]){0, 1, 2, 3}), 0);
    CHECK_EQ(ln_offset_of_transpose(&t, (int[]){1, 2, 0, 3}), 0);
    CHECK_EQ(ln_offset_of_transpose(&t, (int[]){2, 1, 3, 0}), 0);
    CHECK_EQ(ln_offset_of_transpose(&t, (int[]){0, 3, 2, 1}), LN_NO_OFFSET);
    tl_tensor scalar = shaped(0, NULL);
    CHECK_EQ(ln_offset_of_transpose(&scalar, NULL), 0);
}

TEST(one_dimension_is_exchanged)
{
    int dims[TL_MAXDIM], src_dims[] = {2, 0, 3};
    tl_tensor src = shaped(3, src_dims);
    check_dims(ln_shape_with_dim(dims, &src, 2, 1), dims, 3, (int[]){2, 0, 1});
    CHECK_EQ(ln_shape_with_dim(dims, &src, 3, 1), -1);
    CHECK_EQ(ln_shape_with_dim(dims, &src, -1, 1), -1);
    CHECK_EQ(ln_shape_with_dim(dims, &src, 1, -1), -1);
    CHECK_EQ(ln_shape_with_dim(dims, &src, 1, 2147483647), -1);
}

TEST_LIST(rows_of_neighbours_have_an_offset, transposes_that_move_nothing_have_an_offset,
          ranges_have_a_length, views_keep_the_number_of_elements, one_dimension_is_exchanged)
