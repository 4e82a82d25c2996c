// SPDX-License-Identifier: Apache-2.0
#include "arch/ref/run.h"

#include "arch/ref/test_view.h"

TEST(create_leaves_what_the_data_file_gave)
{
    float data[] = {4, 5};
    const double ran[] = {0, 0}, given[] = {7};
    tl_tensor dst = VIEW(data, TL_FLOAT, 2);
    CHECK_OK(ln_ref_run_create(&dst, "x", ran, given, 1, true));
    CHECK_FLOATS(data, 2, 0, 4, 5);
    CHECK_OK(ln_ref_run_create(&dst, "x", ran, given, 1, false));
    CHECK_FLOATS(data, 2, 0, 7, 0);
}

TEST(autopad_cuts_what_a_deconvolution_has_too_much)
{
    float src_data[] = {1, 2}, weight_data[] = {1, 10, 100}, dst_data[4];
    int size[] = {1, 3}, one[] = {1, 1}, none[] = {0, 0, 0, 0}, unknown[] = {0, 0, 0, 0};
    int known[] = {1, 1, 1, 3};
    tl_tensor src = VIEW(src_data, TL_FLOAT, 1, 1, 1, 2);
    tl_tensor weight = VIEW(weight_data, TL_FLOAT, 1, 1, 1, 3);
    tl_tensor whole = VIEW(dst_data, TL_FLOAT, 1, 1, 1, 4);
    tl_tensor same = VIEW(dst_data, TL_FLOAT, 1, 1, 1, 2);
    tl_tensor three = VIEW(dst_data, TL_FLOAT, 1, 1, 1, 3);
    const struct {
        const char *autopad;
        const int *output_dims;
        tl_tensor *dst;
        double expected[4];
    } rows[] = {
        {"NOTSET", unknown, &whole, {1, 12, 120, 200}},
        {"VALID", unknown, &whole, {1, 12, 120, 200}},
        {"SAME_UPPER", unknown, &same, {12, 120}},
        {"SAME_UPPER", known, &three, {1, 12, 120}},
        {"SAME_LOWER", known, &three, {12, 120, 200}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_OK(ln_ref_run_deconv2d(&src, &weight, NULL, rows[i].dst, 1, size, one,
                                     rows[i].output_dims, none, none, one, rows[i].autopad,
                                     "none"));
        for (int k = 0; k < rows[i].dst->len; k++)
            CHECK_NEAR((double)dst_data[k], rows[i].expected[k], 0);
    }
}

TEST_LIST(autopad_cuts_what_a_deconvolution_has_too_much, create_leaves_what_the_data_file_gave)
