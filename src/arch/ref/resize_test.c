// SPDX-License-Identifier: Apache-2.0
#include "arch/ref/kernels.h"

#include <math.h>

#include "arch/ref/test_view.h"

TEST(half_pixels_by_hand)
{
    float data[] = {0, 10, 20}, dst_data[6];
    tl_tensor src = VIEW(data, TL_FLOAT, 3), dst = VIEW(dst_data, TL_FLOAT, 6);
    CHECK_OK(ln_ref_resize(&src, &dst, TL_LINEAR));
    CHECK_FLOATS(dst_data, 6, 1e-6, 0, 2.5, 7.5, 12.5, 17.5, 20);
    CHECK_OK(ln_ref_resize(&src, &dst, TL_NEAREST));
    CHECK_FLOATS(dst_data, 6, 0, 0, 0, 10, 10, 20, 20);

    float square_data[] = {0, 4, 8, 12}, one_data[1];
    tl_tensor square = VIEW(square_data, TL_FLOAT, 2, 2), one = VIEW(one_data, TL_FLOAT, 1, 1);
    CHECK_OK(ln_ref_resize(&square, &one, TL_LINEAR));
    CHECK_FLOATS(one_data, 1, 0, 6);
    CHECK_OK(ln_ref_resize(&square, &one, TL_NEAREST)); // 0.5 rounds to 1
    CHECK_FLOATS(one_data, 1, 0, 12);
}

// A plane comes out as a plane wherever both neighbours are there.
TEST(blending_keeps_a_plane)
{
    double data[5 * 7], dst_data[12 * 9];
    tl_tensor src = VIEW(data, TL_DOUBLE, 5, 7), dst = VIEW(dst_data, TL_DOUBLE, 12, 9);
    for (int i = 0; i < src.len; i++)
        data[i] = 3.0 * (i / 7) - 2.0 * (i % 7);
    CHECK_OK(ln_ref_resize(&src, &dst, TL_LINEAR));
    for (int i = 0; i < dst.len; i++) {
        double y = fmin(fmax((i / 9 + 0.5) * 5 / 12 - 0.5, 0), 4);
        double x = fmin(fmax((i % 9 + 0.5) * 7 / 9 - 0.5, 0), 6);
        CHECK_NEAR(dst_data[i], 3 * y - 2 * x, 1e-12);
    }
}

// The routine goes axis by axis over whole tensors: another way to the same bits.
TEST(equals_the_routine_on_tensors)
{
    test_random random = test_random_start();
    for (int round = 0; round < 300; round++) {
        int ndim = (int)test_random_below(&random, 5), dims[4], new_dims[4];
        for (int d = 0; d < ndim; d++) {
            dims[d] = 1 + (int)test_random_below(&random, 4);
            new_dims[d] = (int)test_random_below(&random, 6); // also none
        }
        tl_dtype dtype = (tl_dtype)test_random_below(&random, TL_DTYPE_NATIVE_SIZE);
        tl_resize_type type = (tl_resize_type)(round % 2);
        int64_t src_data[256], dst_data[1296];
        tl_tensor src = test_view(src_data, dtype, ndim, dims);
        tl_tensor dst = test_view(dst_data, dtype, ndim, new_dims);
        test_fill(&src, &random, 100);
        CHECK_OK(ln_ref_resize(&src, &dst, type));
        tl_tensor *expected = tl_tensor_resize(&src, NULL, new_dims, type);
        CHECK_NOT_NULL(expected);
        if (dst.len > 0)
            CHECK_MEM_EQ(dst_data, expected->data, tl_tensor_size(&dst));
        tl_tensor_free_data_too(expected);
    }
}

TEST(an_infinity_stays_where_it_is)
{
    float data[] = {1, INFINITY, 3}, dst_data[3];
    tl_tensor src = VIEW(data, TL_FLOAT, 3), dst = VIEW(dst_data, TL_FLOAT, 3);
    CHECK_OK(ln_ref_resize(&src, &dst, TL_LINEAR));
    CHECK_FLOATS(dst_data, 3, 0, 1, INFINITY, 3);
}

TEST(what_does_not_fit_is_refused)
{
    float data[4] = {0};
    tl_tensor src = VIEW(data, TL_FLOAT, 2), dst = VIEW(data + 2, TL_FLOAT, 2);
    tl_tensor square = VIEW(data, TL_FLOAT, 2, 2), ints = VIEW(data, TL_INT32, 2);
    tl_tensor none = VIEW(NULL, TL_FLOAT, 0);
    CHECK_FAILS(ln_ref_resize(&src, &square, TL_NEAREST), LN_INVALID);
    CHECK_FAILS(ln_ref_resize(&src, &ints, TL_NEAREST), LN_INVALID);
    CHECK_FAILS(ln_ref_resize(&none, &dst, TL_LINEAR), LN_INVALID);
    CHECK_FAILS(ln_ref_resize(&src, &dst, TL_RESIZE_TYPE_INVALID), LN_INVALID);
    CHECK_FAILS(ln_ref_resize(NULL, &dst, TL_NEAREST), LN_INVALID);
    CHECK_FAILS(ln_ref_resize(&src, NULL, TL_NEAREST), LN_INVALID);
}

TEST_LIST(half_pixels_by_hand, blending_keeps_a_plane, equals_the_routine_on_tensors,
          an_infinity_stays_where_it_is, what_does_not_fit_is_refused)
