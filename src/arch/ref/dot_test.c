// SPDX-License-Identifier: Apache-2.0
#include "arch/ref/kernels.h"

#include "arch/ref/test_view.h"

TEST(floats_add_up_in_double)
{
    float a_data[] = {1e8f, 1, -1e8f, 2}, b_data[] = {1, 1, 1, 3}, dst_data[1];
    tl_tensor a = VIEW(a_data, TL_FLOAT, 2, 2), b = VIEW(b_data, TL_FLOAT, 2, 2);
    tl_tensor dst = VIEW(dst_data, TL_FLOAT, 1);
    CHECK_OK(ln_ref_dot_product(&a, &b, &dst));
    CHECK_NEAR((double)dst_data[0], 7, 0);
}

TEST(integers_add_up_in_their_dtype)
{
    int8_t a_data[] = {100, 3}, b_data[] = {2, -1}, dst_data[1];
    tl_tensor a = VIEW(a_data, TL_INT8, 2), b = VIEW(b_data, TL_INT8, 2);
    tl_tensor dst = VIEW(dst_data, TL_INT8, 1);
    CHECK_OK(ln_ref_dot_product(&a, &b, &dst));
    CHECK_EQ(dst_data[0], 197 - 256);
}

TEST(of_nothing_is_zero_and_of_misfits_is_refused)
{
    float data[2] = {5, 5};
    tl_tensor empty = VIEW(NULL, TL_FLOAT, 3, 0), one = VIEW(data, TL_FLOAT, 1);
    tl_tensor two = VIEW(data, TL_FLOAT, 2), scalar = SCALAR_VIEW(data, TL_FLOAT);
    CHECK_OK(ln_ref_dot_product(&empty, &empty, &one));
    CHECK_NEAR((double)data[0], 0, 0);
    CHECK_FAILS(ln_ref_dot_product(&one, &two, &one), LN_INVALID);
    CHECK_FAILS(ln_ref_dot_product(&two, &two, &scalar), LN_INVALID);
    CHECK_FAILS(ln_ref_dot_product(&two, NULL, &one), LN_INVALID);
}

TEST_LIST(floats_add_up_in_double, integers_add_up_in_their_dtype,
          of_nothing_is_zero_and_of_misfits_is_refused)
