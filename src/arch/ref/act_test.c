// SPDX-License-Identifier: Apache-2.0
#include "arch/ref/act.h"

#include "arch/ref/test_view.h"

TEST(relu_keeps_what_is_not_negative)
{
    float src_data[] = {-1, 0, 2, -INFINITY, INFINITY, NAN, -0.0f}, dst_data[7];
    tl_tensor src = VIEW(src_data, TL_FLOAT, 7), dst = VIEW(dst_data, TL_FLOAT, 7);
    ln_ref_act_tensor(&src, &dst, LN_ACT_RELU, 0, 0);
    CHECK_FLOATS(dst_data, 7, 0, 0, 0, 2, 0, INFINITY, NAN, 0);
    CHECK(signbit(dst_data[6]));
}

TEST(relu_takes_every_dtype)
{
    int64_t data[4];
    for (int dtype = 0; dtype < TL_DTYPE_NATIVE_SIZE; dtype++) {
        tl_tensor t = VIEW(data, (tl_dtype)dtype, 2, 2);
        double values[] = {-5, 0, 1, tl_dtype_max_double((tl_dtype)dtype)};
        double expected[4];
        for (int i = 0; i < 4; i++) {
            test_set(&t, i, values[i]);
            expected[i] = fmax(test_get(&t, i), 0);
        }
        ln_ref_act_tensor(&t, &t, LN_ACT_RELU, 0, 0); // in place
        for (int i = 0; i < 4; i++)
            CHECK_NEAR(test_get(&t, i), expected[i], 0);
    }
}

TEST(sigmoid_agrees_with_tanh)
{
    double src_data[401], dst_data[401];
    tl_tensor src = VIEW(src_data, TL_DOUBLE, 401), dst = VIEW(dst_data, TL_DOUBLE, 401);
    for (int i = 0; i < 401; i++)
        src_data[i] = (i - 200) / 10.0;
    ln_ref_act_tensor(&src, &dst, LN_ACT_SIGMOID, 0, 0);
    for (int i = 0; i < 401; i++)
        CHECK_NEAR(dst_data[i], (double)(0.5L + 0.5L * tanhl((long double)src_data[i] / 2)), 2e-16);
}

TEST(sigmoid_at_the_ends)
{
    float src_data[] = {0, -INFINITY, INFINITY, NAN, -100, 1000}, dst_data[6];
    tl_tensor src = VIEW(src_data, TL_FLOAT, 6), dst = VIEW(dst_data, TL_FLOAT, 6);
    ln_ref_act_tensor(&src, &dst, LN_ACT_SIGMOID, 0, 0);
    CHECK_FLOATS(dst_data, 6, 0, 0.5, 0, 1, NAN, (double)(float)exp(-100), 1);

    double far = -740, result;
    tl_tensor far_src = SCALAR_VIEW(&far, TL_DOUBLE), far_dst = SCALAR_VIEW(&result, TL_DOUBLE);
    ln_ref_act_tensor(&far_src, &far_dst, LN_ACT_SIGMOID, 0, 0);
    CHECK(result > 0);
}

TEST(any_rank_is_fine)
{
    float data[2] = {-1, -1}, dst_data[2];
    tl_tensor scalar = SCALAR_VIEW(data, TL_FLOAT),
              rank8 = VIEW(data, TL_FLOAT, 1, 1, 1, 1, 1, 1, 1, 2);
    tl_tensor rank8_dst = VIEW(dst_data, TL_FLOAT, 1, 1, 1, 1, 1, 1, 1, 2);
    tl_tensor empty = VIEW(NULL, TL_FLOAT, 0);
    ln_ref_act_tensor(&rank8, &rank8_dst, LN_ACT_RELU, 0, 0);
    CHECK_FLOATS(dst_data, 2, 0, 0, 0);
    ln_ref_act_tensor(&scalar, &scalar, LN_ACT_RELU, 0, 0);
    CHECK_FLOATS(data, 2, 0, 0, -1);
    ln_ref_act_tensor(&empty, &empty, LN_ACT_RELU, 0, 0);
    ln_ref_act_tensor(&empty, &empty, LN_ACT_SIGMOID, 0, 0);
}

TEST_LIST(relu_keeps_what_is_not_negative, relu_takes_every_dtype, sigmoid_agrees_with_tanh,
          sigmoid_at_the_ends, any_rank_is_fine)
