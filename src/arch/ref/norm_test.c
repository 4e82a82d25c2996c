// SPDX-License-Identifier: Apache-2.0
#include "arch/ref/kernels.h"

#include "arch/ref/test_view.h"

// ---- Batch norm ----

typedef struct channels {
    float scale_data[3], offset_data[3], mean_data[3], var_data[3];
} channels;

static const channels some = {{1, -2, 0.5f}, {0, 1, -3}, {1, 0, 2}, {4, 0.25f, 1}};

// The formula, for `count` planes of `inner` elements.
static void normalize(const double *src, const double *const numbers[4], int count, int inner,
                      double epsilon, double *dst)
{
    for (int i = 0; i < count * inner; i++) {
        int c = i / inner;
        dst[i] = (src[i] - numbers[2][c]) / sqrt(numbers[3][c] + epsilon) * numbers[0][c] +
                 numbers[1][c];
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
    double numbers[4][3], before[3 * 16], expected[3 * 16];
    float folded_weight_data[3 * 2 * 4], folded_bias_data[3];
    tl_tensor src = VIEW(src_data, TL_FLOAT, 1, 2, 4, 4);
    tl_tensor weight = VIEW(weight_data, TL_FLOAT, 3, 2, 2, 2);
    tl_tensor bias = VIEW(bias_data, TL_FLOAT, 3);
    tl_tensor folded_weight = VIEW(folded_weight_data, TL_FLOAT, 3, 2, 2, 2);
    tl_tensor folded_bias = VIEW(folded_bias_data, TL_FLOAT, 3);
    tl_tensor scale = VIEW(c.scale_data, TL_FLOAT, 3), offset = VIEW(c.offset_data, TL_FLOAT, 3);
    tl_tensor mean = VIEW(c.mean_data, TL_FLOAT, 3), var = VIEW(c.var_data, TL_FLOAT, 3);
    test_fill(&src, &random, 2);
    test_fill(&weight, &random, 2);
    test_fill(&bias, &random, 2);
    convolve(src_data, weight_data, bias_data, conv_data);
    for (int i = 0; i < 3; i++) {
        numbers[0][i] = (double)c.scale_data[i], numbers[1][i] = (double)c.offset_data[i];
        numbers[2][i] = (double)c.mean_data[i], numbers[3][i] = (double)c.var_data[i];
    }
    for (int i = 0; i < 48; i++)
        before[i] = (double)conv_data[i];
    const double *const rows[] = {numbers[0], numbers[1], numbers[2], numbers[3]};
    normalize(before, rows, 3, 16, 1e-3, expected);
    CHECK_OK(ln_ref_bn_fold_weight(&weight, &scale, &var, &folded_weight, 1e-3));
    CHECK_OK(ln_ref_bn_fold_bias(&bias, &scale, &offset, &mean, &var, &folded_bias, 1e-3));
    convolve(src_data, folded_weight_data, folded_bias_data, conv_data);
    for (int i = 0; i < 48; i++)
        CHECK_NEAR((double)conv_data[i], expected[i], 2e-5 * (1 + fabs(expected[i])));

    float zeros[3] = {0}, without[3];
    tl_tensor no_bias = VIEW(zeros, TL_FLOAT, 3), other = VIEW(without, TL_FLOAT, 3);
    CHECK_OK(ln_ref_bn_fold_bias(&no_bias, &scale, &offset, &mean, &var, &folded_bias, 1e-3));
    CHECK_OK(ln_ref_bn_fold_bias(NULL, &scale, &offset, &mean, &var, &other, 1e-3));
    CHECK_MEM_EQ(folded_bias_data, without, sizeof without);
}

TEST(folding_of_misfits_is_refused)
{
    float data[12] = {0};
    tl_tensor src = VIEW(data, TL_FLOAT, 1, 3, 2, 2), three = VIEW(data, TL_FLOAT, 3);
    tl_tensor four = VIEW(data, TL_FLOAT, 4);
    CHECK_FAILS(ln_ref_bn_fold_weight(&src, &three, &three, &src, 1), LN_INVALID);
    CHECK_FAILS(ln_ref_bn_fold_bias(&four, &three, &three, &three, &three, &three, 1), LN_INVALID);
}

TEST(scale_and_shift_do_what_batchnorm_does)
{
    double x_data[] = {3, -2, 7, 1}, mean_data[] = {1, -1}, var_data[] = {4, 0.25};
    double scale_data[] = {2, -3}, offset_data[] = {0.5, 10}, y[4];
    double dst_scale_data[2], dst_shift_data[2], dst_power_data[2];
    tl_tensor mean = VIEW(mean_data, TL_DOUBLE, 2), var = VIEW(var_data, TL_DOUBLE, 2);
    tl_tensor scale = VIEW(scale_data, TL_DOUBLE, 2), offset = VIEW(offset_data, TL_DOUBLE, 2);
    tl_tensor dst_scale = VIEW(dst_scale_data, TL_DOUBLE, 2);
    tl_tensor dst_shift = VIEW(dst_shift_data, TL_DOUBLE, 2);
    tl_tensor dst_power = VIEW(dst_power_data, TL_DOUBLE, 2), one = VIEW(y, TL_DOUBLE, 1);
    const double *const rows[] = {scale_data, offset_data, mean_data, var_data};
    normalize(x_data, rows, 2, 2, 1e-3, y);
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

TEST_LIST(folded_weights_do_what_batchnorm_does, folding_of_misfits_is_refused,
          scale_and_shift_do_what_batchnorm_does)
