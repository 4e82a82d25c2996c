// SPDX-License-Identifier: Apache-2.0
// Resizing and the mean of images.

#include <lightnet/tensor.h>

#include <math.h>

#include "tests/test.h"

static tl_tensor *resized_range(int in_size, int out_size, tl_dtype dtype, tl_resize_type type)
{
    tl_tensor *t = tl_tensor_arange(0, in_size, 1, dtype);
    tl_tensor *r = tl_tensor_resize(t, NULL, &out_size, type);
    CHECK_NOT_NULL(r);
    tl_tensor_free_data_too(t);
    return r;
}

TEST(nearest_follows_the_formula_at_every_ratio)
{
    for (int in = 1; in <= 24; in++) {
        for (int out = 1; out <= 24; out++) {
            tl_tensor *r = resized_range(in, out, TL_INT32, TL_NEAREST);
            for (int i = 0; i < out; i++) {
                // Exact: numerator of x + 1/2 over 2 * out.
                int expected = (2 * i + 1) * in / (2 * out);
                double x = (i + 0.5) * in / out - 0.5;
                CHECK(fabs(expected - x) <= 0.5 + 1e-9);
                CHECK_EQ(((int32_t *)r->data)[i], expected);
            }
            tl_tensor_free_data_too(r);
        }
    }
}

TEST(a_tie_goes_away_from_zero)
{
    tl_tensor *r = resized_range(4, 2, TL_UINT8, TL_NEAREST);
    CHECK_EQ(((uint8_t *)r->data)[0], 1);
    CHECK_EQ(((uint8_t *)r->data)[1], 3);
    tl_tensor_free_data_too(r);
}

TEST(linear_interpolates_and_holds_the_edges)
{
    tl_tensor *r = resized_range(2, 4, TL_FLOAT, TL_LINEAR);
    const float up[] = {0, 0.25f, 0.75f, 1};
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(((float *)r->data)[i], up[i], 1e-6);
    tl_tensor_free_data_too(r);
    r = resized_range(4, 2, TL_DOUBLE, TL_LINEAR);
    CHECK_NEAR(((double *)r->data)[0], 0.5, 1e-12);
    CHECK_NEAR(((double *)r->data)[1], 2.5, 1e-12);
    tl_tensor_free_data_too(r);
    r = resized_range(2, 4, TL_INT8, TL_LINEAR);
    CHECK_EQ(((int8_t *)r->data)[1], 0);
    CHECK_EQ(((int8_t *)r->data)[2], 1);
    tl_tensor_free_data_too(r);
}

TEST(linear_works_on_several_axes_at_once)
{
    float data[] = {0, 1, 2, 3};
    tl_tensor *t = tl_tensor_create(data, 3, (int[]){2, 2, 1}, TL_FLOAT);
    tl_tensor *r = tl_tensor_resize(t, NULL, (int[]){1, 4, 2}, TL_LINEAR);
    const float expected[] = {1, 1, 1.25f, 1.25f, 1.75f, 1.75f, 2, 2};
    for (int i = 0; i < 8; i++)
        CHECK_NEAR(((float *)r->data)[i], expected[i], 1e-6);
    tl_tensor_free_data_too(r);
    tl_tensor_free(t);
}

TEST(nearest_keeps_every_type)
{
    for (int dtype = 0; dtype < TL_DTYPE_NATIVE_SIZE; dtype++) {
        tl_tensor *t = tl_tensor_arange(0, 1, 1, (tl_dtype)dtype);
        tl_dtype_max((tl_dtype)dtype, t->data);
        tl_tensor *r = tl_tensor_resize(t, NULL, (int[]){3}, TL_NEAREST);
        for (int i = 0; i < 3; i++)
            CHECK_EQ(tl_cmp(tl_pointer_add(r->data, i, (tl_dtype)dtype), t->data, (tl_dtype)dtype),
                     0);
        tl_tensor_free_data_too(r);
        tl_tensor_free_data_too(t);
    }
}

TEST(bad_resizes_are_errors)
{
    tl_tensor *t = tl_tensor_zeros(2, (int[]){2, 2}, TL_FLOAT);
    tl_tensor *none = tl_tensor_zeros(1, (int[]){0}, TL_FLOAT);
    CHECK_NULL(tl_tensor_resize(t, NULL, NULL, TL_NEAREST));
    CHECK_NULL(tl_tensor_resize(t, NULL, (int[]){2, -1}, TL_NEAREST));
    CHECK_NULL(tl_tensor_resize(t, NULL, (int[]){2, 4}, TL_RESIZE_TYPE_SIZE));
    CHECK_NULL(tl_tensor_resize(t, t, (int[]){2, 2}, TL_NEAREST));
    CHECK_NULL(tl_tensor_resize(none, NULL, (int[]){2}, TL_NEAREST));
    CHECK_NULL(tl_tensor_resize(NULL, NULL, (int[]){2}, TL_NEAREST));
    tl_tensor_free_data_too(none);
    tl_tensor_free_data_too(t);
}

TEST(submean_checks_its_image)
{
    const double mean[] = {1, 2, 3};
    tl_tensor *image = tl_tensor_zeros(3, (int[]){1, 2, 3}, TL_UINT8);
    tl_tensor *gray = tl_tensor_zeros(3, (int[]){1, 2, 1}, TL_UINT8);
    tl_tensor *bools = tl_tensor_zeros(3, (int[]){1, 2, 3}, TL_BOOL);
    tl_tensor *bytes = tl_tensor_zeros(3, (int[]){3, 1, 2}, TL_INT8);
    CHECK_NULL(tl_tensor_submean(gray, NULL, mean));
    CHECK_NULL(tl_tensor_submean(bools, NULL, mean));
    CHECK_NULL(tl_tensor_submean(image, NULL, NULL));
    CHECK_PTR_EQ(tl_tensor_submean(image, bytes, mean), bytes);
    CHECK_EQ(((int8_t *)bytes->data)[5], -3);
    tl_tensor_free_data_too(image);
    tl_tensor_free_data_too(gray);
    tl_tensor_free_data_too(bools);
    tl_tensor_free_data_too(bytes);
}

TEST_LIST(nearest_follows_the_formula_at_every_ratio, a_tie_goes_away_from_zero,
          linear_interpolates_and_holds_the_edges, linear_works_on_several_axes_at_once,
          nearest_keeps_every_type, bad_resizes_are_errors, submean_checks_its_image)
