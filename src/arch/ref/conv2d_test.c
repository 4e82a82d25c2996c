// SPDX-License-Identifier: Apache-2.0
#include "arch/ref/kernels.h"

#include <stdlib.h>

#include "arch/ref/test_view.h"

static const ln_ref_window plain2x2 = {{2, 2}, {1, 1}, {0, 0, 0, 0}, {1, 1}};
static const ln_ref_window plain1x1 = {{1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}};

// ---- An independent way: pad, gather each window into a column, multiply matrices ----

typedef struct geometry {
    const char *why;
    int n, c, h, w; // src
    int o, group;
    ln_ref_window window;
} geometry;

static const geometry geometries[] = {
    {"1x1", 1, 3, 4, 5, 2, 1, {{1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}}},
    {"3x3 same", 2, 3, 5, 4, 4, 1, {{3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}}},
    {"stride over size", 1, 2, 9, 9, 3, 1, {{2, 2}, {3, 4}, {0, 0, 0, 0}, {1, 1}}},
    {"asymmetric padding", 1, 2, 4, 6, 3, 1, {{3, 2}, {2, 1}, {2, 0, 1, 1}, {1, 1}}},
    {"bottom and right only", 1, 1, 3, 3, 1, 1, {{3, 3}, {1, 1}, {0, 0, 2, 2}, {1, 1}}},
    {"dilation", 1, 2, 8, 9, 2, 1, {{3, 3}, {1, 2}, {1, 2, 1, 2}, {2, 3}}},
    {"groups", 2, 4, 5, 5, 6, 2, {{3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}}},
    {"depthwise", 1, 5, 6, 6, 5, 5, {{3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}}},
    {"depthwise times two", 1, 3, 4, 4, 6, 3, {{2, 3}, {1, 1}, {0, 1, 1, 1}, {1, 1}}},
    {"padding over the size", 1, 1, 2, 2, 2, 1, {{2, 2}, {1, 1}, {3, 3, 3, 3}, {1, 1}}},
    {"one window", 1, 2, 3, 4, 2, 1, {{3, 4}, {1, 1}, {0, 0, 0, 0}, {1, 1}}},
};

static int out_dim(int in, const ln_ref_window *w, int i)
{
    int covered = (w->size[i] - 1) * w->dilation[i] + 1;
    return (in + w->padding[i] + w->padding[i + 2] - covered) / w->stride[i] + 1;
}

// Image n of `src` with zeros around it, channel by channel.
static long double *pad_image(const geometry *g, const tl_tensor *src, int n, int ph, int pw)
{
    long double *padded = calloc((size_t)(g->c * ph * pw), sizeof *padded);
    CHECK_NOT_NULL(padded);
    for (int c = 0; c < g->c; c++)
        for (int y = 0; y < g->h; y++)
            for (int x = 0; x < g->w; x++)
                padded[(c * ph + y + g->window.padding[0]) * pw + x + g->window.padding[1]] =
                    (long double)test_get(src, ((n * g->c + c) * g->h + y) * g->w + x);
    return padded;
}

// Rows are (channel, v, u), columns are the windows.
static long double *gather_columns(const geometry *g, const long double *padded, int ph, int pw,
                                   int oh, int ow)
{
    const ln_ref_window *w = &g->window;
    int taps = w->size[0] * w->size[1];
    long double *columns = calloc((size_t)(g->c * taps * oh * ow), sizeof *columns);
    CHECK_NOT_NULL(columns);
    for (int row = 0; row < g->c * taps; row++) {
        int c = row / taps, v = row % taps / w->size[1], u = row % w->size[1];
        for (int p = 0; p < oh * ow; p++) {
            int y = p / ow * w->stride[0] + v * w->dilation[0];
            int x = p % ow * w->stride[1] + u * w->dilation[1];
            columns[row * oh * ow + p] = padded[(c * ph + y) * pw + x];
        }
    }
    return columns;
}

static void check_geometry(const geometry *g, tl_dtype dtype, test_random *random, int range,
                           int is_relu)
{
    const ln_ref_window *w = &g->window;
    int oh = out_dim(g->h, w, 0), ow = out_dim(g->w, w, 1), per_group = g->c / g->group;
    int ph = g->h + w->padding[0] + w->padding[2], pw = g->w + w->padding[1] + w->padding[3];
    int rows = per_group * w->size[0] * w->size[1];
    int64_t src_data[512], weight_data[512], bias_data[16], dst_data[512];
    tl_tensor src = VIEW(src_data, dtype, g->n, g->c, g->h, g->w);
    tl_tensor weight = VIEW(weight_data, dtype, g->o, per_group, w->size[0], w->size[1]);
    tl_tensor bias = VIEW(bias_data, dtype, g->o);
    tl_tensor dst = VIEW(dst_data, dtype, g->n, g->o, oh, ow);
    CHECK(src.len <= 512 && weight.len <= 512 && dst.len <= 512);
    test_fill(&src, random, range);
    test_fill(&weight, random, range);
    test_fill(&bias, random, range);
    CHECK_OK(ln_ref_conv2d(&src, &weight, &bias, &dst, w, g->group, is_relu));

    for (int n = 0; n < g->n; n++) {
        long double *padded = pad_image(g, &src, n, ph, pw);
        long double *columns = gather_columns(g, padded, ph, pw, oh, ow);
        for (int i = 0; i < g->o * oh * ow; i++) {
            int o = i / (oh * ow), p = i % (oh * ow), first = o / (g->o / g->group) * rows;
            long double sum = 0;
            for (int k = rows - 1; k >= 0; k--)
                sum += (long double)test_get(&weight, o * rows + k) *
                       columns[(first + k) * oh * ow + p];
            sum += (long double)test_get(&bias, o);
            double expected = test_saturate(is_relu && sum < 0 ? 0 : (double)sum, dtype);
            double actual = test_get(&dst, n * g->o * oh * ow + i);
            if (!(fabs(actual - expected) <= 1e-6 * (1 + fabs(expected))))
                fail_msg("%s, %s, element %d: %g instead of %g", g->why, tl_dtype_name(dtype), i,
                         actual, expected);
        }
        free(padded);
        free(columns);
    }
}

TEST(agrees_with_a_matrix_product_for_every_dtype)
{
    test_random random = test_random_start();
    for (size_t i = 0; i < sizeof geometries / sizeof geometries[0]; i++)
        for (int dtype = 0; dtype < TL_DTYPE_NATIVE_SIZE; dtype++)
            for (int is_relu = 0; is_relu < 2; is_relu++)
                check_geometry(&geometries[i], (tl_dtype)dtype, &random, 3, is_relu);
}

TEST(small_integers_saturate)
{
    test_random random = test_random_start();
    static const tl_dtype dtypes[] = {TL_INT8, TL_UINT8, TL_INT16, TL_UINT16};
    for (size_t i = 0; i < sizeof geometries / sizeof geometries[0]; i++)
        for (size_t k = 0; k < sizeof dtypes / sizeof dtypes[0]; k++)
            check_geometry(&geometries[i], dtypes[k], &random, 100, 0);
}

// ---- By hand ----

TEST(it_is_cross_correlation_with_a_bias)
{
    float src_data[] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, weight_data[] = {1, 10, 100, 1000};
    float bias_data[] = {0.5f}, dst_data[4];
    tl_tensor src = VIEW(src_data, TL_FLOAT, 1, 1, 3, 3);
    tl_tensor weight = VIEW(weight_data, TL_FLOAT, 1, 1, 2, 2);
    tl_tensor bias = VIEW(bias_data, TL_FLOAT, 1);
    tl_tensor dst = VIEW(dst_data, TL_FLOAT, 1, 1, 2, 2);
    CHECK_OK(ln_ref_conv2d(&src, &weight, &bias, &dst, &plain2x2, 1, false));
    CHECK_FLOATS(dst_data, 4, 0, 5421.5, 6532.5, 8754.5, 9865.5);
    CHECK_OK(ln_ref_conv2d(&src, &weight, NULL, &dst, &plain2x2, 1, false));
    CHECK_FLOATS(dst_data, 4, 0, 5421, 6532, 8754, 9865);
}

TEST(sums_of_floats_are_kept_in_double)
{
    float src_data[] = {1e8f, 1, -1e8f}, weight_data[] = {1, 1, 1}, dst_data[1];
    tl_tensor src = VIEW(src_data, TL_FLOAT, 1, 3, 1, 1);
    tl_tensor weight = VIEW(weight_data, TL_FLOAT, 1, 3, 1, 1);
    tl_tensor dst = VIEW(dst_data, TL_FLOAT, 1, 1, 1, 1);
    CHECK_OK(ln_ref_conv2d(&src, &weight, NULL, &dst, &plain1x1, 1, false));
    CHECK_NEAR((double)dst_data[0], 1, 0);
}

TEST(a_float_result_beyond_the_range_is_infinite)
{
    float src_data[] = {1e30f}, weight_data[] = {-1e30f}, dst_data[1];
    tl_tensor src = VIEW(src_data, TL_FLOAT, 1, 1, 1, 1);
    tl_tensor weight = VIEW(weight_data, TL_FLOAT, 1, 1, 1, 1);
    tl_tensor dst = VIEW(dst_data, TL_FLOAT, 1, 1, 1, 1);
    CHECK_OK(ln_ref_conv2d(&src, &weight, NULL, &dst, &plain1x1, 1, false));
    CHECK(isinf(dst_data[0]) && dst_data[0] < 0);
}

TEST(sums_of_64_bit_integers_wrap)
{
    int64_t src_data[] = {INT64_MAX, INT64_MAX}, weight_data[] = {1, 1}, dst_data[1];
    tl_tensor src = VIEW(src_data, TL_INT64, 1, 2, 1, 1);
    tl_tensor weight = VIEW(weight_data, TL_INT64, 1, 2, 1, 1);
    tl_tensor dst = VIEW(dst_data, TL_INT64, 1, 1, 1, 1);
    CHECK_OK(ln_ref_conv2d(&src, &weight, NULL, &dst, &plain1x1, 1, false));
    CHECK(dst_data[0] == -2);
}

TEST(nan_spreads_only_where_the_window_meets_it_and_passes_relu)
{
    float src_data[] = {NAN, 1, 2, -3}, weight_data[] = {1, 1}, dst_data[3];
    ln_ref_window window = {{1, 2}, {1, 1}, {0, 0, 0, 0}, {1, 1}};
    tl_tensor src = VIEW(src_data, TL_FLOAT, 1, 1, 1, 4);
    tl_tensor weight = VIEW(weight_data, TL_FLOAT, 1, 1, 1, 2);
    tl_tensor dst = VIEW(dst_data, TL_FLOAT, 1, 1, 1, 3);
    CHECK_OK(ln_ref_conv2d(&src, &weight, NULL, &dst, &window, 1, true));
    CHECK_FLOATS(dst_data, 3, 0, NAN, 3, 0);
}

TEST(a_weight_over_padding_takes_no_part)
{
    float src_data[] = {2}, weight_data[] = {INFINITY, 3}, dst_data[1];
    ln_ref_window window = {{1, 2}, {1, 1}, {0, 1, 0, 0}, {1, 1}};
    tl_tensor src = VIEW(src_data, TL_FLOAT, 1, 1, 1, 1);
    tl_tensor weight = VIEW(weight_data, TL_FLOAT, 1, 1, 1, 2);
    tl_tensor dst = VIEW(dst_data, TL_FLOAT, 1, 1, 1, 1);
    CHECK_OK(ln_ref_conv2d(&src, &weight, NULL, &dst, &window, 1, false));
    CHECK_NEAR((double)dst_data[0], 6, 0);
}

// ---- Properties ----

TEST(as_many_groups_as_channels_are_convolutions_of_each_channel)
{
    test_random random = test_random_start();
    enum { C = 4, H = 5, W = 6 };
    ln_ref_window window = {{3, 3}, {2, 1}, {1, 0, 1, 2}, {1, 1}};
    float src_data[C * H * W], weight_data[C * 9], bias_data[C], dst_data[C * 18], one_data[18];
    tl_tensor src = VIEW(src_data, TL_FLOAT, 1, C, H, W);
    tl_tensor weight = VIEW(weight_data, TL_FLOAT, C, 1, 3, 3);
    tl_tensor bias = VIEW(bias_data, TL_FLOAT, C);
    tl_tensor dst = VIEW(dst_data, TL_FLOAT, 1, C, 3, 6);
    tl_tensor one = VIEW(one_data, TL_FLOAT, 1, 1, 3, 6);
    test_fill(&src, &random, 5);
    test_fill(&weight, &random, 5);
    test_fill(&bias, &random, 5);
    CHECK_OK(ln_ref_conv2d(&src, &weight, &bias, &dst, &window, C, false));
    for (int c = 0; c < C; c++) {
        tl_tensor src_c = VIEW(src_data + c * H * W, TL_FLOAT, 1, 1, H, W);
        tl_tensor weight_c = VIEW(weight_data + c * 9, TL_FLOAT, 1, 1, 3, 3);
        tl_tensor bias_c = VIEW(bias_data + c, TL_FLOAT, 1);
        CHECK_OK(ln_ref_conv2d(&src_c, &weight_c, &bias_c, &one, &window, 1, false));
        CHECK_MEM_EQ(one_data, dst_data + c * 18, sizeof one_data);
    }
}

TEST(empty_batches_channels_and_outputs_are_fine)
{
    float data[4] = {1, 2, 3, 4}, bias_data[1] = {7}, dst_data[4];
    tl_tensor none = VIEW(NULL, TL_FLOAT, 0, 1, 2, 2), none_dst = VIEW(NULL, TL_FLOAT, 0, 1, 1, 1);
    tl_tensor weight = VIEW(data, TL_FLOAT, 1, 1, 2, 2), bias = VIEW(bias_data, TL_FLOAT, 1);
    CHECK_OK(ln_ref_conv2d(&none, &weight, &bias, &none_dst, &plain2x2, 1, false));

    tl_tensor no_channels = VIEW(NULL, TL_FLOAT, 1, 0, 2, 2);
    tl_tensor no_weight = VIEW(NULL, TL_FLOAT, 1, 0, 1, 1);
    tl_tensor dst = VIEW(dst_data, TL_FLOAT, 1, 1, 2, 2);
    CHECK_OK(ln_ref_conv2d(&no_channels, &no_weight, &bias, &dst, &plain1x1, 1, false));
    CHECK_FLOATS(dst_data, 4, 0, 7, 7, 7, 7);

    tl_tensor src = VIEW(data, TL_FLOAT, 1, 1, 2, 2);
    tl_tensor no_outputs = VIEW(NULL, TL_FLOAT, 0, 1, 1, 1);
    tl_tensor no_dst = VIEW(NULL, TL_FLOAT, 1, 0, 2, 2);
    CHECK_OK(ln_ref_conv2d(&src, &no_outputs, NULL, &no_dst, &plain1x1, 1, false));
}

TEST(tensors_that_do_not_fit_are_refused)
{
    float data[64] = {0};
    tl_tensor src = VIEW(data, TL_FLOAT, 1, 2, 3, 3), weight = VIEW(data, TL_FLOAT, 2, 2, 2, 2);
    tl_tensor bias = VIEW(data, TL_FLOAT, 2), dst = VIEW(data, TL_FLOAT, 1, 2, 2, 2);
    tl_tensor rank3 = VIEW(data, TL_FLOAT, 2, 3, 3), other = VIEW(data, TL_INT32, 2, 2, 2, 2);
    tl_tensor small = VIEW(data, TL_FLOAT, 1, 2, 1, 2), bias3 = VIEW(data, TL_FLOAT, 3);
    tl_tensor no_data = VIEW(NULL, TL_FLOAT, 1, 2, 3, 3);
    ln_ref_window huge = {{9, 9}, {1, 1}, {0, 0, 0, 0}, {1, 1}};
    ln_ref_window other_size = {{1, 2}, {1, 1}, {0, 0, 0, 0}, {1, 1}};
    const struct {
        const char *why;
        const tl_tensor *src, *weight, *bias;
        tl_tensor *dst;
        const ln_ref_window *window;
        int group;
    } rows[] = {
        {"no src", NULL, &weight, &bias, &dst, &plain2x2, 1},
        {"no weight", &src, NULL, &bias, &dst, &plain2x2, 1},
        {"no dst", &src, &weight, &bias, NULL, &plain2x2, 1},
        {"src without data", &no_data, &weight, &bias, &dst, &plain2x2, 1},
        {"rank 3", &rank3, &weight, &bias, &dst, &plain2x2, 1},
        {"another dtype", &src, &other, &bias, &dst, &plain2x2, 1},
        {"bias too long", &src, &weight, &bias3, &dst, &plain2x2, 1},
        {"dst too small", &src, &weight, &bias, &small, &plain2x2, 1},
        {"window too large", &src, &weight, &bias, &dst, &huge, 1},
        {"window unlike the weights", &src, &weight, &bias, &dst, &other_size, 1},
        {"no group", &src, &weight, &bias, &dst, &plain2x2, 0},
        {"channels for two groups", &src, &weight, &bias, &dst, &plain2x2, 2},
        {"outputs for three groups", &src, &weight, &bias, &dst, &plain2x2, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_status status = ln_ref_conv2d(rows[i].src, rows[i].weight, rows[i].bias, rows[i].dst,
                                         rows[i].window, rows[i].group, false);
        if (status != LN_INVALID)
            fail_msg("%s: %s", rows[i].why, ln_status_name(status));
    }
}

TEST_LIST(agrees_with_a_matrix_product_for_every_dtype, small_integers_saturate,
          it_is_cross_correlation_with_a_bias, sums_of_floats_are_kept_in_double,
          a_float_result_beyond_the_range_is_infinite, sums_of_64_bit_integers_wrap,
          nan_spreads_only_where_the_window_meets_it_and_passes_relu,
          a_weight_over_padding_takes_no_part,
          as_many_groups_as_channels_are_convolutions_of_each_channel,
          empty_batches_channels_and_outputs_are_fine, tensors_that_do_not_fit_are_refused)
