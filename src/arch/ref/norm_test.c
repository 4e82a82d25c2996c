// SPDX-License-Identifier: Apache-2.0
#include "arch/ref/kernels.h"

#include "arch/ref/test_view.h"

// ---- Batch norm ----

typedef struct channels {
    float scale_data[3], offset_data[3], mean_data[3], var_data[3];
} channels;

static const channels some = {{1, -2, 0.5f}, {0, 1, -3}, {1, 0, 2}, {4, 0.25f, 1}};

TEST(batchnorm_is_its_formula)
{
    channels c = some;
    float src_data[6] = {3, 5, 1, -1, 2, 4}, dst_data[6];
    tl_tensor src = VIEW(src_data, TL_FLOAT, 1, 3, 1, 2),
              dst = VIEW(dst_data, TL_FLOAT, 1, 3, 1, 2);
    tl_tensor scale = VIEW(c.scale_data, TL_FLOAT, 3), offset = VIEW(c.offset_data, TL_FLOAT, 3);
    tl_tensor mean = VIEW(c.mean_data, TL_FLOAT, 3), var = VIEW(c.var_data, TL_FLOAT, 3);
    CHECK_OK(ln_ref_batchnorm(&src, &scale, &offset, &mean, &var, &dst, 0));
    CHECK_FLOATS(dst_data, 6, 0, 1, 2, -3, 5, -3, -2);
    CHECK_OK(ln_ref_batchnorm(&src, &scale, &offset, &mean, &var, &dst, 5));
    CHECK_NEAR((double)dst_data[0], 2.0 / 3, 1e-7); // the root of 4 + 5, not 9
    CHECK_OK(ln_ref_batchnorm(&src, &scale, &offset, &mean, &var, &src, 0)); // in place
    CHECK_FLOATS(src_data, 6, 0, 1, 2, -3, 5, -3, -2);
}

TEST(batchnorm_of_normalized_numbers_has_mean_offset_and_deviation_scale)
{
    test_random random = test_random_start();
    double src_data[2 * 2 * 50], dst_data[2 * 2 * 50], mean_data[2] = {0}, var_data[2] = {0};
    double scale_data[2] = {3, 0.1}, offset_data[2] = {-1, 7};
    tl_tensor src = VIEW(src_data, TL_DOUBLE, 2, 2, 5, 10);
    tl_tensor dst = VIEW(dst_data, TL_DOUBLE, 2, 2, 5, 10);
    tl_tensor mean = VIEW(mean_data, TL_DOUBLE, 2), var = VIEW(var_data, TL_DOUBLE, 2);
    tl_tensor scale = VIEW(scale_data, TL_DOUBLE, 2), offset = VIEW(offset_data, TL_DOUBLE, 2);
    test_fill(&src, &random, 10);
    for (int i = 0; i < 200; i++)
        mean_data[i / 50 % 2] += src_data[i] / 100;
    for (int i = 0; i < 200; i++)
        var_data[i / 50 % 2] += pow(src_data[i] - mean_data[i / 50 % 2], 2) / 100;
    CHECK_OK(ln_ref_batchnorm(&src, &scale, &offset, &mean, &var, &dst, 1e-20));
    for (int c = 0; c < 2; c++) {
        double sum = 0, squares = 0;
        for (int i = 0; i < 200; i++)
            if (i / 50 % 2 == c)
                sum += dst_data[i];
        for (int i = 0; i < 200; i++)
            if (i / 50 % 2 == c)
                squares += pow(dst_data[i] - sum / 100, 2);
        CHECK_NEAR(sum / 100, offset_data[c], 1e-9);
        CHECK_NEAR(sqrt(squares / 100), scale_data[c], 1e-9);
    }
}

// 2 channels of 4 x 4 to 3, by 2 x 2 weights, with zeros above and at the right.
static void convolve(const float *src, const float *weight, const float *bias, float *dst)
{
    for (int i = 0; i < 3 * 16; i++) {
        double sum = (double)bias[i / 16];
        for (int k = 0; k < 8; k++) {
            int y = i / 4 % 4 - 1 + k / 2 % 2, x = i % 4 + k % 2;
            if (y >= 0 && x < 4)
                sum += (double)weight[i / 16 * 8 + k] * (double)src[(k / 4 * 4 + y) * 4 + x];
        }
        dst[i] = (float)sum;
    }
}

TEST(folded_weights_do_what_batchnorm_does)
{
    test_random random = test_random_start();
    channels c = some;
    float src_data[2 * 16], weight_data[3 * 2 * 4], bias_data[3], conv_data[3 * 16];
    float expected[3 * 16], folded_weight_data[3 * 2 * 4], folded_bias_data[3];
    tl_tensor src = VIEW(src_data, TL_FLOAT, 1, 2, 4, 4);
    tl_tensor weight = VIEW(weight_data, TL_FLOAT, 3, 2, 2, 2);
    tl_tensor bias = VIEW(bias_data, TL_FLOAT, 3), conv = VIEW(conv_data, TL_FLOAT, 1, 3, 4, 4);
    tl_tensor dst = VIEW(expected, TL_FLOAT, 1, 3, 4, 4);
    tl_tensor folded_weight = VIEW(folded_weight_data, TL_FLOAT, 3, 2, 2, 2);
    tl_tensor folded_bias = VIEW(folded_bias_data, TL_FLOAT, 3);
    tl_tensor scale = VIEW(c.scale_data, TL_FLOAT, 3), offset = VIEW(c.offset_data, TL_FLOAT, 3);
    tl_tensor mean = VIEW(c.mean_data, TL_FLOAT, 3), var = VIEW(c.var_data, TL_FLOAT, 3);
    test_fill(&src, &random, 2);
    test_fill(&weight, &random, 2);
    test_fill(&bias, &random, 2);
    convolve(src_data, weight_data, bias_data, conv_data);
    CHECK_OK(ln_ref_batchnorm(&conv, &scale, &offset, &mean, &var, &dst, 1e-3));
    CHECK_OK(ln_ref_bn_fold_weight(&weight, &scale, &var, &folded_weight, 1e-3));
    CHECK_OK(ln_ref_bn_fold_bias(&bias, &scale, &offset, &mean, &var, &folded_bias, 1e-3));
    convolve(src_data, folded_weight_data, folded_bias_data, conv_data);
    for (int i = 0; i < 48; i++)
        CHECK_NEAR((double)conv_data[i], (double)expected[i],
                   2e-5 * (1 + fabs((double)expected[i])));

    float zeros[3] = {0}, without[3];
    tl_tensor no_bias = VIEW(zeros, TL_FLOAT, 3), other = VIEW(without, TL_FLOAT, 3);
    CHECK_OK(ln_ref_bn_fold_bias(&no_bias, &scale, &offset, &mean, &var, &folded_bias, 1e-3));
    CHECK_OK(ln_ref_bn_fold_bias(NULL, &scale, &offset, &mean, &var, &other, 1e-3));
    CHECK_MEM_EQ(folded_bias_data, without, sizeof without);
}

TEST(batchnorm_of_nothing_is_fine_and_of_misfits_is_refused)
{
    float data[12] = {0};
    tl_tensor empty = VIEW(NULL, TL_FLOAT, 0, 3, 2, 2),
              no_channels = VIEW(NULL, TL_FLOAT, 1, 0, 2, 2);
    tl_tensor three = VIEW(data, TL_FLOAT, 3), none = VIEW(NULL, TL_FLOAT, 0);
    tl_tensor src = VIEW(data, TL_FLOAT, 1, 3, 2, 2), four = VIEW(data, TL_FLOAT, 4);
    tl_tensor doubles = VIEW(data, TL_DOUBLE, 3), flat = VIEW(data, TL_FLOAT, 12);
    CHECK_OK(ln_ref_batchnorm(&empty, &three, &three, &three, &three, &empty, 1));
    CHECK_OK(ln_ref_batchnorm(&no_channels, &none, &none, &none, &none, &no_channels, 1));
    CHECK_FAILS(ln_ref_batchnorm(&src, &four, &three, &three, &three, &src, 1), LN_INVALID);
    CHECK_FAILS(ln_ref_batchnorm(&src, &three, &three, &doubles, &three, &src, 1), LN_INVALID);
    CHECK_FAILS(ln_ref_batchnorm(&flat, &three, &three, &three, &three, &flat, 1), LN_INVALID);
    CHECK_FAILS(ln_ref_batchnorm(&src, &three, &three, &three, NULL, &src, 1), LN_INVALID);
    CHECK_FAILS(ln_ref_bn_fold_weight(&src, &three, &three, &src, 1), LN_INVALID);
    CHECK_FAILS(ln_ref_bn_fold_bias(&four, &three, &three, &three, &three, &three, 1), LN_INVALID);
}

// ---- Softmax ----

TEST(softmax_agrees_with_long_double_on_every_axis)
{
    test_random random = test_random_start();
    float src_data[60], dst_data[60];
    int dims[] = {3, 4, 5};
    tl_tensor src = VIEW(src_data, TL_FLOAT, 3, 4, 5), dst = VIEW(dst_data, TL_FLOAT, 3, 4, 5);
    test_fill(&src, &random, 8);
    for (int axis = 0; axis < 3; axis++) {
        CHECK_OK(ln_ref_softmax(&src, &dst, axis));
        for (int i = 0; i < 60; i++) {
            // 1 / sum of exp(x_k - x_i): no maximum, no common denominator
            int at[] = {i / 20, i / 5 % 4, i % 5};
            long double sum = 0;
            for (int k = 0; k < dims[axis]; k++) {
                at[axis] = k;
                sum += expl((long double)src_data[(at[0] * 4 + at[1]) * 5 + at[2]] -
                            (long double)src_data[i]);
            }
            CHECK_NEAR((double)dst_data[i], (double)(1 / sum), 6e-8 * (double)(1 / sum));
        }
    }
}

TEST(softmax_is_stable)
{
    float src_data[] = {1000, 1000, -1000, 1, -INFINITY, 1}, dst_data[6];
    tl_tensor src = VIEW(src_data, TL_FLOAT, 2, 3), dst = VIEW(dst_data, TL_FLOAT, 2, 3);
    CHECK_OK(ln_ref_softmax(&src, &dst, 1));
    CHECK_FLOATS(dst_data, 6, 0, 0.5, 0.5, 0, 0.5, 0, 0.5);
    CHECK_OK(ln_ref_softmax(&src, &src, 1)); // in place
    CHECK_FLOATS(src_data, 6, 0, 0.5, 0.5, 0, 0.5, 0, 0.5);
}

TEST(softmax_without_a_value_is_nan_in_its_row_alone)
{
    double src_data[] = {NAN, 0, 0, 0, INFINITY, 0, -INFINITY, -INFINITY}, dst_data[8];
    tl_tensor src = VIEW(src_data, TL_DOUBLE, 4, 2), dst = VIEW(dst_data, TL_DOUBLE, 4, 2);
    CHECK_OK(ln_ref_softmax(&src, &dst, 1));
    CHECK_FLOATS(dst_data, 8, 0, NAN, NAN, 0.5, 0.5, NAN, NAN, NAN, NAN);
}

TEST(softmax_of_integers_is_cut)
{
    int32_t src_data[] = {100, 0}, dst_data[2];
    tl_tensor src = VIEW(src_data, TL_INT32, 2), dst = VIEW(dst_data, TL_INT32, 2);
    CHECK_OK(ln_ref_softmax(&src, &dst, 0));
    CHECK_EQ(dst_data[0], 1);
    CHECK_EQ(dst_data[1], 0);
}

TEST(softmax_of_nothing_is_fine_and_of_misfits_is_refused)
{
    float x = 3;
    tl_tensor empty = VIEW(NULL, TL_FLOAT, 2, 0, 3), scalar = SCALAR_VIEW(&x, TL_FLOAT);
    tl_tensor one = VIEW(&x, TL_FLOAT, 1, 1), flat = VIEW(&x, TL_FLOAT, 1);
    for (int axis = 0; axis < 3; axis++)
        CHECK_OK(ln_ref_softmax(&empty, &empty, axis));
    CHECK_OK(ln_ref_softmax(&one, &one, 1));
    CHECK_NEAR((double)x, 1, 0);
    CHECK_FAILS(ln_ref_softmax(&scalar, &scalar, 0), LN_INVALID);
    CHECK_FAILS(ln_ref_softmax(&one, &one, 2), LN_INVALID);
    CHECK_FAILS(ln_ref_softmax(&one, &one, -1), LN_INVALID);
    CHECK_FAILS(ln_ref_softmax(&one, &flat, 0), LN_INVALID);
    CHECK_FAILS(ln_ref_softmax(NULL, &flat, 0), LN_INVALID);
}

TEST(scale_and_shift_do_what_batchnorm_does)
{
    double x_data[] = {3, -2, 7, 1}, mean_data[] = {1, -1}, var_data[] = {4, 0.25};
    double scale_data[] = {2, -3}, offset_data[] = {0.5, 10}, y[4];
    double dst_scale_data[2], dst_shift_data[2], dst_power_data[2];
    tl_tensor x = VIEW(x_data, TL_DOUBLE, 1, 2, 1, 2), dst = VIEW(y, TL_DOUBLE, 1, 2, 1, 2);
    tl_tensor mean = VIEW(mean_data, TL_DOUBLE, 2), var = VIEW(var_data, TL_DOUBLE, 2);
    tl_tensor scale = VIEW(scale_data, TL_DOUBLE, 2), offset = VIEW(offset_data, TL_DOUBLE, 2);
    tl_tensor dst_scale = VIEW(dst_scale_data, TL_DOUBLE, 2);
    tl_tensor dst_shift = VIEW(dst_shift_data, TL_DOUBLE, 2);
    tl_tensor dst_power = VIEW(dst_power_data, TL_DOUBLE, 2), one = VIEW(y, TL_DOUBLE, 1);
    CHECK_OK(ln_ref_batchnorm(&x, &scale, &offset, &mean, &var, &dst, 1e-3));
    CHECK_OK(
        ln_ref_bn2scale(&mean, &var, &scale, &offset, &dst_scale, &dst_shift, &dst_power, 1e-3));
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(y[i], x_data[i] * dst_scale_data[i / 2] + dst_shift_data[i / 2], 1e-12);
    CHECK_FLOATS(dst_power_data, 2, 0, 1, 1);
    CHECK_FAILS(
        ln_ref_bn2scale(&mean, &one, &scale, &offset, &dst_scale, &dst_shift, &dst_power, 1e-3),
        LN_INVALID);
    CHECK_FAILS(
        ln_ref_bn2scale(NULL, &var, &scale, &offset, &dst_scale, &dst_shift, &dst_power, 1e-3),
        LN_INVALID);
}

TEST_LIST(batchnorm_is_its_formula,
          batchnorm_of_normalized_numbers_has_mean_offset_and_deviation_scale,
          folded_weights_do_what_batchnorm_does,
          batchnorm_of_nothing_is_fine_and_of_misfits_is_refused,
          softmax_agrees_with_long_double_on_every_axis, softmax_is_stable,
          softmax_without_a_value_is_nan_in_its_row_alone, softmax_of_integers_is_cut,
          softmax_of_nothing_is_fine_and_of_misfits_is_refused,
          scale_and_shift_do_what_batchnorm_does)
