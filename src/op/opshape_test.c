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

TEST(given_shapes_are_checked_for_their_length)
{
    int dims[TL_MAXDIM];
    check_dims(ln_shape_given(dims, (int[]){2, 0}, 2), dims, 2, (int[]){2, 0});
    check_dims(ln_shape_given(dims, NULL, 0), dims, 0, NULL);
    CHECK_EQ(ln_shape_given(dims, (int[]){65536, 65536}, 2), -1);
    CHECK_EQ(ln_shape_given(dims, (int[]){2, -1}, 2), -1);
    CHECK_EQ(ln_shape_given(dims, (int[]){1, 1, 1, 1, 1, 1, 1, 1, 1}, 9), -1);
}

TEST(data_fits_its_tensor)
{
    int dims[TL_MAXDIM];
    const double data[] = {1, 2, 3}, zero[] = {0};
    check_dims(ln_shape_create(dims, (int[]){4}, 1, data, 3), dims, 1, (int[]){4});
    check_dims(ln_shape_create(dims, (int[]){3}, 1, data, 3), dims, 1, (int[]){3});
    CHECK_EQ(ln_shape_create(dims, (int[]){2}, 1, data, 3), -1);
    CHECK_MESSAGE("3 elements of data do not fit a tensor of 2 elements");
    check_dims(ln_shape_create(dims, (int[]){0}, 1, zero, 1), dims, 1, (int[]){0});
    CHECK_EQ(ln_shape_create(dims, (int[]){0}, 1, data, 1), -1);
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

TEST(reductions_need_elements)
{
    int dims[TL_MAXDIM], src_dims[] = {2, 0, 3};
    tl_tensor src = shaped(3, src_dims);
    check_dims(ln_shape_reduce(dims, &src, 2), dims, 3, (int[]){2, 0, 1});
    CHECK_EQ(ln_shape_reduce(dims, &src, 1), -1);
    CHECK_EQ(ln_shape_reduce(dims, &src, 3), -1);
    CHECK_EQ(ln_shape_reduce(dims, &src, -1), -1);
}

TEST(joined_tensors_differ_on_one_axis)
{
    int dims[TL_MAXDIM];
    int a_dims[] = {2, 3}, b_dims[] = {2, 5}, c_dims[] = {2}, d_dims[] = {2147483647, 1};
    tl_tensor a = shaped(2, a_dims), b = shaped(2, b_dims), c = shaped(1, c_dims);
    tl_tensor d = shaped(2, d_dims);
    tl_tensor *ab[] = {&a, &b, &a}, *ac[] = {&a, &c}, *dd[] = {&d, &d};
    check_dims(ln_shape_concat(dims, ab, 3, 1), dims, 2, (int[]){2, 11});
    check_dims(ln_shape_concat(dims, ab, 1, 0), dims, 2, (int[]){2, 3});
    CHECK_EQ(ln_shape_concat(dims, ab, 2, 0), -1);
    CHECK_MESSAGE("[2, 3] and [2, 5] cannot be joined on axis 0");
    CHECK_EQ(ln_shape_concat(dims, ac, 2, 0), -1);
    CHECK_EQ(ln_shape_concat(dims, ab, 2, 2), -1);
    CHECK_EQ(ln_shape_concat(dims, dd, 2, 0), -1);
    CHECK_EQ(ln_shape_concat(dims, ab, 0, 0), -1);
}

TEST(transposition_is_a_permutation)
{
    int dims[TL_MAXDIM], src_dims[] = {2, 3, 4};
    tl_tensor src = shaped(3, src_dims), scalar = shaped(0, NULL);
    check_dims(ln_shape_transpose(dims, &src, (int[]){2, 0, 1}, 3), dims, 3, (int[]){4, 2, 3});
    check_dims(ln_shape_transpose(dims, &scalar, NULL, 0), dims, 0, NULL);
    CHECK_EQ(ln_shape_transpose(dims, &src, (int[]){0, 1}, 2), -1);
    CHECK_EQ(ln_shape_transpose(dims, &src, (int[]){0, 1, 1}, 3), -1);
    CHECK_EQ(ln_shape_transpose(dims, &src, (int[]){0, 1, 3}, 3), -1);
    CHECK_EQ(ln_shape_transpose(dims, &src, (int[]){0, -1, 2}, 3), -1);
    CHECK_EQ(ln_shape_transpose(dims, &src, (int[]){0, 100000, 2}, 3), -1);
}

TEST(stacks_have_one_more_axis)
{
    int dims[TL_MAXDIM], part_dims[] = {3, 0}, deep[] = {1, 1, 1, 1, 1, 1, 1, 1},
                         wide[] = {1 << 30};
    tl_tensor part = shaped(2, part_dims), full = shaped(8, deep), long_one = shaped(1, wide);
    tl_tensor scalar = shaped(0, NULL);
    check_dims(ln_shape_gather(dims, &part, 4), dims, 3, (int[]){4, 3, 0});
    check_dims(ln_shape_gather(dims, &scalar, 2), dims, 1, (int[]){2});
    CHECK_EQ(ln_shape_gather(dims, &full, 2), -1);
    CHECK_EQ(ln_shape_gather(dims, &long_one, 2), -1);
    CHECK_EQ(ln_shape_gather(dims, &part, 0), -1);
    check_dims(ln_shape_scatter(dims, &part, 3), dims, 1, (int[]){0});
    CHECK_EQ(ln_shape_scatter(dims, &part, 2), -1);
    CHECK_MESSAGE("3 elements for 2 parts");
    CHECK_EQ(ln_shape_scatter(dims, &scalar, 1), -1);
}

TEST(sizes_are_scaled_down_to_whole_numbers)
{
    int dims[TL_MAXDIM], src_dims[] = {3, 10}, none_dims[] = {0, 10};
    tl_tensor src = shaped(2, src_dims), none = shaped(2, none_dims);
    check_dims(ln_shape_upsample(dims, &src, (double[]){1.5, 0.7}, 2), dims, 2, (int[]){4, 7});
    check_dims(ln_shape_upsample(dims, &src, (double[]){0.1, 1}, 2), dims, 2, (int[]){0, 10});
    check_dims(ln_shape_upsample(dims, &none, (double[]){2, 2}, 2), dims, 2, (int[]){0, 20});
    CHECK_EQ(ln_shape_upsample(dims, &src, (double[]){1}, 1), -1);
    CHECK_EQ(ln_shape_upsample(dims, &src, (double[]){1e300, 1}, 2), -1);
    CHECK_EQ(ln_shape_upsample(dims, &src, (double[]){NAN, 1}, 2), -1);
    CHECK_EQ(ln_shape_upsample(dims, &src, (double[]){-1, 1}, 2), -1);
    CHECK_EQ(ln_shape_upsample(dims, &src, (double[]){65536, 65536}, 2), -1);

    check_dims(ln_shape_resize(dims, &src, (int[]){7, 0}, 2), dims, 2, (int[]){7, 0});
    CHECK_EQ(ln_shape_resize(dims, &src, (int[]){7}, 1), -1);
    CHECK_EQ(ln_shape_resize(dims, &src, (int[]){7, -1}, 2), -1);
    CHECK_EQ(ln_shape_resize(dims, &none, (int[]){7, 1}, 2), -1);
}

TEST(pictures_become_planes)
{
    int dims[TL_MAXDIM], picture_dims[] = {4, 5, 3}, gray_dims[] = {4, 5, 1};
    tl_tensor picture = shaped(3, picture_dims), gray = shaped(3, gray_dims);
    check_dims(ln_shape_submean(dims, &picture), dims, 3, (int[]){3, 4, 5});
    CHECK_EQ(ln_shape_submean(dims, &gray), -1);
    picture.dtype = TL_BOOL;
    CHECK_EQ(ln_shape_submean(dims, &picture), -1);
    tl_tensor scalar = shaped(0, NULL);
    CHECK_EQ(ln_shape_submean(dims, &scalar), -1);
}

TEST(picked_groups_are_counted)
{
    int dims[TL_MAXDIM], index_dims[] = {5};
    tl_tensor index = shaped(1, index_dims);
    check_dims(ln_shape_pick1d(dims, &index, 4, 3), dims, 1, (int[]){12});
    check_dims(ln_shape_pick1d(dims, &index, 4, 0), dims, 1, (int[]){0});
    CHECK_EQ(ln_shape_pick1d(dims, &index, 4, 6), -1);
    CHECK_EQ(ln_shape_pick1d(dims, &index, 4, -1), -1);
    CHECK_EQ(ln_shape_pick1d(dims, &index, 0, 1), -1);
    CHECK_EQ(ln_shape_pick1d(dims, &index, 1 << 30, 5), -1);
}

TEST(detection_channels_are_shared_by_the_anchors)
{
    int dims[TL_MAXDIM], feature_dims[] = {1, 21, 2, 4}, anchor_dims[] = {3, 2};
    tl_tensor feature = shaped(4, feature_dims), anchors = shaped(2, anchor_dims);
    check_dims(ln_shape_yolov3(dims, &feature, &anchors, 4), dims, 5, (int[]){1, 3, 4, 2, 4});
    check_dims(ln_shape_yolov3(dims, &feature, &anchors, -1), dims, 5, (int[]){1, 3, 2, 2, 4});
    CHECK_EQ(ln_shape_yolov3(dims, &anchors, &anchors, 4), -1);
    const struct {
        int *where, bad;
    } rows[] = {{&feature_dims[0], 2},
                {&feature_dims[1], 22},
                {&feature_dims[1], 12},
                {&anchor_dims[0], 0},
                {&anchor_dims[1], 3}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int good = *rows[i].where;
        *rows[i].where = rows[i].bad;
        CHECK_EQ(ln_shape_yolov3(dims, &feature, &anchors, 4), -1);
        *rows[i].where = good;
    }
}

TEST(rows_of_neighbours_have_an_offset)
{
    tl_tensor one = shaped(4, (int[]){1, 4, 3, 5}), two = shaped(4, (int[]){2, 4, 3, 5});
    CHECK_EQ(ln_offset_of_slice(&one, 1, 2), 2 * 15 * 4);
    CHECK_EQ(ln_offset_of_slice(&two, 0, 1), 60 * 4);
    CHECK_EQ(ln_offset_of_slice(&one, 2, 1), LN_NO_OFFSET);
    CHECK_EQ(ln_offset_of_slice(&two, 1, 0), LN_NO_OFFSET);

    tl_tensor a = shaped(3, (int[]){1, 2, 5}), b = shaped(3, (int[]){1, 3, 5}), other = a;
    tl_tensor dst = shaped(3, (int[]){1, 5, 5}), *parts[] = {&a, &b};
    CHECK_EQ(ln_offset_in_concat(parts, 2, &dst, 1, &a), 0);
    CHECK_EQ(ln_offset_in_concat(parts, 2, &dst, 1, &b), 10 * 4);
    CHECK_EQ(ln_offset_in_concat(parts, 2, &dst, 1, &other), LN_NO_OFFSET);
    CHECK_EQ(ln_offset_in_concat(parts, 2, &dst, 2, &b), LN_NO_OFFSET);
    tl_tensor *same[] = {&a, &other, &a};
    CHECK_EQ(ln_offset_in_stack(same, 3, &other), 10 * 4);
    CHECK_EQ(ln_offset_in_stack(same, 3, &a), 0);
    CHECK_EQ(ln_offset_in_stack(same, 3, &b), LN_NO_OFFSET);
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

TEST_LIST(rows_of_neighbours_have_an_offset, transposes_that_move_nothing_have_an_offset,
          given_shapes_are_checked_for_their_length, data_fits_its_tensor, ranges_have_a_length,
          views_keep_the_number_of_elements, reductions_need_elements,
          joined_tensors_differ_on_one_axis, transposition_is_a_permutation,
          stacks_have_one_more_axis, sizes_are_scaled_down_to_whole_numbers, pictures_become_planes,
          picked_groups_are_counted, detection_channels_are_shared_by_the_anchors)
