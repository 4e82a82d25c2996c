// SPDX-License-Identifier: Apache-2.0
// Tensors: shapes, making, freeing, ranges, and what happens to wrong arguments.

#include <lightnet/tensor.h>

#include <limits.h>
#include <math.h>

#include "tests/test.h"

TEST(lengths_are_checked)
{
    static const struct {
        const char *why;
        int ndim;
        int dims[9];
        int expected;
    } rows[] = {
        {"a scalar has one element", 0, {0}, 1},
        {"a row", 1, {7}, 7},
        {"a product", 3, {2, 3, 4}, 24},
        {"an empty dimension", 2, {5, 0}, 0},
        {"an empty dimension after an overflow", 4, {INT_MAX, INT_MAX, INT_MAX, 0}, 0},
        {"the largest", 1, {INT_MAX}, INT_MAX},
        {"an overflow", 2, {65536, 32768}, -1},
        {"an overflow of 64 bits", 3, {INT_MAX, INT_MAX, INT_MAX}, -1},
        {"a negative dimension", 2, {0, -1}, -1},
        {"too many dimensions", 9, {1, 1, 1, 1, 1, 1, 1, 1, 1}, -1},
        {"a negative number of dimensions", -1, {1}, -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int len = tl_compute_length(rows[i].ndim, rows[i].dims);
        if (len != rows[i].expected)
            fail_msg("%s: %d", rows[i].why, len);
    }
    CHECK_EQ(tl_compute_length(1, NULL), -1);
    CHECK_EQ(ln_error_status(), LN_INVALID);
}

TEST(a_created_tensor_wraps_data_and_copies_dims)
{
    int dims[] = {2, 3};
    float data[6] = {0};
    tl_tensor *t = tl_tensor_create(data, 2, dims, TL_FLOAT);
    dims[0] = 9;
    CHECK_EQ(t->len, 6);
    CHECK_EQ(t->ndim, 2);
    CHECK_EQ(t->dims[0], 2);
    CHECK_PTR_EQ(t->data, data);
    CHECK_NULL(t->owner);
    CHECK_EQ(tl_tensor_size(t), 24);
    tl_tensor_free(t);
    CHECK_NULL(tl_tensor_create(NULL, 1, dims, TL_DTYPE_SIZE));
    CHECK_NULL(tl_tensor_create(NULL, 9, dims, TL_FLOAT));
    CHECK_EQ(tl_tensor_size(NULL), 0);
    tl_tensor_free(NULL);
    tl_tensor_free_data_too(NULL);
}

TEST(index_and_coords_are_each_others_inverse)
{
    tl_tensor *t = tl_tensor_create(NULL, 3, (int[]){2, 3, 4}, TL_INT8);
    int coords[3];
    for (int i = 0; i < t->len; i++) {
        CHECK_OK(tl_tensor_coords(t, i, coords));
        CHECK_EQ(tl_tensor_index(t, coords), i);
    }
    CHECK_EQ(tl_tensor_index(t, (int[]){1, 2, 3}), 23);
    CHECK_EQ(tl_tensor_index(t, (int[]){1, 3, 0}), -1);
    CHECK_EQ(tl_tensor_index(t, (int[]){-1, 0, 0}), -1);
    CHECK_EQ(tl_tensor_index(t, NULL), -1);
    CHECK_EQ(tl_tensor_index(NULL, coords), -1);
    CHECK_FAILS(tl_tensor_coords(t, 24, coords), LN_INVALID);
    CHECK_FAILS(tl_tensor_coords(t, -1, coords), LN_INVALID);
    CHECK_FAILS(tl_tensor_coords(t, 0, NULL), LN_INVALID);
    tl_tensor_free(t);
}

TEST(shapes_compare_by_dimensions_only)
{
    tl_tensor *a = tl_tensor_create(NULL, 2, (int[]){2, 3}, TL_INT8);
    tl_tensor *b = tl_tensor_create(NULL, 2, (int[]){2, 3}, TL_FLOAT);
    tl_tensor *c = tl_tensor_create(NULL, 2, (int[]){3, 2}, TL_INT8);
    tl_tensor *d = tl_tensor_create(NULL, 1, (int[]){6}, TL_INT8);
    CHECK_EQ(tl_tensor_issameshape(a, b), 1);
    CHECK_EQ(tl_tensor_issameshape(a, c), 0);
    CHECK_EQ(tl_tensor_issameshape(a, d), 0);
    CHECK_EQ(tl_tensor_issameshape(a, NULL), 0);
    tl_tensor_free(a);
    tl_tensor_free(b);
    tl_tensor_free(c);
    tl_tensor_free(d);
}

TEST(empty_tensors_and_scalars_work_everywhere)
{
    tl_tensor *none = tl_tensor_zeros(2, (int[]){0, 3}, TL_FLOAT);
    tl_tensor *scalar = tl_tensor_zeros(0, NULL, TL_INT32);
    CHECK_EQ(none->len, 0);
    CHECK_EQ(scalar->len, 1);
    CHECK_EQ(tl_tensor_index(scalar, NULL), 0);
    tl_tensor *results[] = {
        tl_tensor_clone(none),
        tl_tensor_repeat(none, 3),
        tl_tensor_repeat(scalar, 0),
        tl_tensor_repeat(scalar, 2),
        tl_tensor_slice(none, NULL, 1, 1, 2),
        tl_tensor_slice_nocopy(none, NULL, 0, 0, 0),
        tl_tensor_concat(none, none, NULL, 0),
        tl_tensor_concat(none, none, NULL, 1),
        tl_tensor_reshape(none, 3, (int[]){5, 0, 1}),
        tl_tensor_reshape(scalar, 2, (int[]){1, 1}),
        tl_tensor_transpose(none, NULL, (int[]){1, 0}),
        tl_tensor_transpose(scalar, NULL, NULL),
        tl_tensor_elew(none, none, NULL, TL_SUM),
        tl_tensor_elew_param(scalar, 2, NULL, TL_POW),
        tl_tensor_lrelu(none, NULL, 0.1f),
        tl_tensor_convert(none, NULL, TL_UINT64),
        tl_tensor_resize(none, NULL, (int[]){0, 6}, TL_LINEAR),
        tl_tensor_resize(scalar, NULL, NULL, TL_LINEAR),
        tl_tensor_dot_product(scalar, scalar, NULL),
    };
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        if (!results[i])
            fail_msg("result %zu: %s", i, ln_error_message());
        tl_tensor_free_data_too(results[i]);
    }
    tl_tensor_free_data_too(none);
    tl_tensor_free_data_too(scalar);
}

TEST(ranges_check_their_values)
{
    static const struct {
        const char *why;
        double start, stop, step;
        tl_dtype dtype;
        int expected; // -1 for an error
    } rows[] = {
        {"downward", 3, 0, -1, TL_INT32, 3},
        {"the wrong way", 3, 0, 1, TL_INT32, 0},
        {"a step of 0", 0, 3, 0, TL_FLOAT, -1},
        {"NaN", NAN, 3, 1, TL_FLOAT, -1},
        {"infinite", 0, INFINITY, 1, TL_DOUBLE, -1},
        {"too long", 0, 1e10, 1, TL_DOUBLE, -1},
        {"outside of the dtype", 0, 300, 1, TL_UINT8, -1},
        {"a negative step of an unsigned type", 3, 0, -1, TL_UINT8, -1},
        {"an invalid dtype", 0, 1, 1, TL_DTYPE_SIZE, -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tl_tensor *t = tl_tensor_arange(rows[i].start, rows[i].stop, rows[i].step, rows[i].dtype);
        if ((t ? t->len : -1) != rows[i].expected)
            fail_msg("%s: %d", rows[i].why, t ? t->len : -1);
        tl_tensor_free_data_too(t);
    }
    tl_tensor *t = tl_tensor_zeros(2, (int[]){1, 3}, TL_FLOAT);
    CHECK_FAILS(tl_tensor_rearange(t, 0, 3, 1), LN_INVALID);
    CHECK_OK(tl_tensor_reshape_src(t, 1, (int[]){3}));
    CHECK_FAILS(tl_tensor_rearange(t, 0, 4, 1), LN_INVALID);
    CHECK_OK(tl_tensor_rearange(t, 0, 3, 1));
    CHECK_FAILS(tl_tensor_rearange(NULL, 0, 3, 1), LN_INVALID);
    tl_tensor_free_data_too(t);
}

TEST(a_view_never_frees_its_owners_data)
{
    tl_tensor *t = tl_tensor_arange(0, 6, 1, TL_INT32);
    tl_tensor *view = tl_tensor_reshape(t, 2, (int[]){2, 3});
    tl_tensor *row = tl_tensor_slice_nocopy(view, NULL, 0, 1, 1);
    CHECK_PTR_EQ(view->owner, t);
    CHECK_PTR_EQ(row->owner, t);
    CHECK_PTR_EQ(row->data, (int32_t *)t->data + 3);
    tl_tensor_free_data_too(row);
    tl_tensor_free_data_too(view);
    CHECK_EQ(((int32_t *)t->data)[5], 5);
    tl_tensor_free_data_too(t);
}

TEST(a_broken_struct_is_refused)
{
    tl_tensor *t = tl_tensor_zeros(1, (int[]){3}, TL_FLOAT);
    t->len = 4;
    CHECK_NULL(tl_tensor_clone(t));
    CHECK_MESSAGE("'src'");
    t->len = 3;
    t->dtype = (tl_dtype)42;
    CHECK_NULL(tl_tensor_clone(t));
    CHECK_MESSAGE("dtype 42");
    CHECK_NULL(tl_tensor_clone(NULL));
    CHECK_NULL(tl_tensor_repeat(NULL, 1));
    t->dtype = TL_FLOAT;
    CHECK_NULL(tl_tensor_repeat(t, -1));
    CHECK_NULL(tl_tensor_repeat(t, INT_MAX));
    CHECK_NULL(tl_tensor_zeros_slice(t, 1, 1, TL_FLOAT));
    CHECK_NULL(tl_tensor_zeros_slice(t, 0, -1, TL_FLOAT));
    CHECK_NULL(tl_tensor_create_slice(NULL, t, -1, 1, TL_FLOAT));
    tl_tensor_free_data_too(t);
}

TEST_LIST(lengths_are_checked, a_created_tensor_wraps_data_and_copies_dims,
          index_and_coords_are_each_others_inverse, shapes_compare_by_dimensions_only,
          empty_tensors_and_scalars_work_everywhere, ranges_check_their_values,
          a_view_never_frees_its_owners_data, a_broken_struct_is_refused)
