// SPDX-License-Identifier: Apache-2.0
#include "arch/ref/kernels.h"

#include "arch/ref/test_view.h"

TEST(joins_on_every_axis)
{
    int16_t a_data[] = {1, 2, 3, 4}, b_data[] = {5, 6, 7, 8}, dst_data[8];
    tl_tensor a = VIEW(a_data, TL_INT16, 2, 2), b = VIEW(b_data, TL_INT16, 2, 2);
    tl_tensor rows = VIEW(dst_data, TL_INT16, 4, 2), columns = VIEW(dst_data, TL_INT16, 2, 4);
    tl_tensor *srcs[] = {&a, &b};
    CHECK_OK(ln_ref_concat(srcs, 2, &rows, 0));
    CHECK_FLOATS(dst_data, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8);
    CHECK_OK(ln_ref_concat(srcs, 2, &columns, 1));
    CHECK_FLOATS(dst_data, 8, 0, 1, 2, 5, 6, 3, 4, 7, 8);
}

// Each element is written where its coordinates say.
TEST(joins_many_tensors_of_random_lengths)
{
    test_random random = test_random_start();
    enum { COUNT = 5 };
    float data[COUNT][64], dst_data[320], expected[320];
    for (int round = 0; round < 200; round++) {
        int axis = (int)test_random_below(&random, 3);
        int dims[COUNT][3], dst_dims[] = {2, 3, 2};
        tl_tensor srcs[COUNT], *pointers[COUNT];
        dst_dims[axis] = 0;
        for (int i = 0; i < COUNT; i++) {
            for (int d = 0; d < 3; d++)
                dims[i][d] = dst_dims[d];
            dims[i][axis] = (int)test_random_below(&random, 4); // also none
            dst_dims[axis] += dims[i][axis];
            srcs[i] = test_view(data[i], TL_FLOAT, 3, dims[i]);
            pointers[i] = &srcs[i];
            test_fill(&srcs[i], &random, 100);
        }
        for (int i = 0, before = 0; i < COUNT; before += dims[i++][axis]) {
            for (int k = 0; k < srcs[i].len; k++) {
                int at[] = {k / dims[i][2] / dims[i][1], k / dims[i][2] % dims[i][1],
                            k % dims[i][2]};
                at[axis] += before;
                expected[(at[0] * dst_dims[1] + at[1]) * dst_dims[2] + at[2]] = data[i][k];
            }
        }
        tl_tensor dst = test_view(dst_data, TL_FLOAT, 3, dst_dims);
        CHECK_OK(ln_ref_concat(pointers, COUNT, &dst, axis));
        CHECK_MEM_EQ(dst_data, expected, (size_t)dst.len * sizeof(float));
    }
}

TEST(one_tensor_and_no_elements_are_fine)
{
    float data[2] = {1, 2}, dst_data[2];
    tl_tensor one = VIEW(data, TL_FLOAT, 2), dst = VIEW(dst_data, TL_FLOAT, 2);
    tl_tensor empty = VIEW(NULL, TL_FLOAT, 0);
    CHECK_OK(ln_ref_concat((tl_tensor *[]){&one}, 1, &dst, 0));
    CHECK_FLOATS(dst_data, 2, 0, 1, 2);
    CHECK_OK(ln_ref_concat((tl_tensor *[]){&empty, &one, &empty}, 3, &dst, 0));
    CHECK_OK(ln_ref_concat((tl_tensor *[]){&empty, &empty}, 2, &empty, 0));
}

TEST(tensors_that_do_not_fit_are_refused)
{
    float data[16] = {0};
    tl_tensor a = VIEW(data, TL_FLOAT, 2, 2), wide = VIEW(data, TL_FLOAT, 2, 3);
    tl_tensor flat = VIEW(data, TL_FLOAT, 4), ints = VIEW(data, TL_INT32, 2, 2);
    tl_tensor dst = VIEW(data + 8, TL_FLOAT, 4, 2);
    const struct {
        const char *why;
        tl_tensor *srcs[2];
        int count, axis;
    } rows[] = {
        {"other columns", {&a, &wide}, 2, 0}, {"another rank", {&a, &flat}, 2, 0},
        {"another dtype", {&a, &ints}, 2, 0}, {"dst too long", {&a, &a}, 1, 0},
        {"nothing", {&a, &a}, 0, 0},          {"NULL", {&a, NULL}, 2, 0},
        {"axis 2", {&a, &a}, 2, 2},           {"axis -1", {&a, &a}, 2, -1},
        {"wrong axis", {&a, &a}, 2, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_status status = ln_ref_concat(rows[i].srcs, rows[i].count, &dst, rows[i].axis);
        if (status != LN_INVALID)
            fail_msg("%s: %s", rows[i].why, ln_status_name(status));
    }
    CHECK_FAILS(ln_ref_concat(NULL, 2, &dst, 0), LN_INVALID);
    CHECK_FAILS(ln_ref_concat((tl_tensor *[]){&a, &a}, 2, NULL, 0), LN_INVALID);
}

TEST_LIST(joins_on_every_axis, joins_many_tensors_of_random_lengths,
          one_tensor_and_no_elements_are_fine, tensors_that_do_not_fit_are_refused)
