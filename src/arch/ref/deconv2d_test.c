// SPDX-License-Identifier: Apache-2.0
#include "arch/ref/kernels.h"

#include <stdlib.h>

#include "arch/ref/test_view.h"

static const ln_ref_window plain2x2 = {{2, 2}, {1, 1}, {0, 0, 0, 0}, {1, 1}};

// ---- An independent way: spread every element over a large canvas, then cut it out ----

typedef struct geometry {
    const char *why;
    int n, c, h, w; // src
    int o, group;
    ln_ref_window window;
    int output_padding[2];
} geometry;

static const geometry geometries[] = {
    {"1x1", 1, 3, 4, 5, 2, 1, {{1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}}, {0, 0}},
    {"doubles", 2, 3, 3, 4, 4, 1, {{2, 2}, {2, 2}, {0, 0, 0, 0}, {1, 1}}, {0, 0}},
    {"overlapping", 1, 2, 3, 4, 3, 1, {{3, 3}, {2, 1}, {1, 1, 1, 1}, {1, 1}}, {1, 0}},
    {"holes", 1, 2, 3, 2, 3, 1, {{2, 1}, {3, 4}, {0, 0, 0, 0}, {1, 1}}, {0, 0}},
    {"asymmetric padding", 1, 2, 4, 6, 3, 1, {{3, 2}, {2, 1}, {2, 0, 1, 1}, {1, 1}}, {0, 2}},
    {"dilation", 1, 2, 4, 3, 2, 1, {{3, 3}, {1, 2}, {1, 2, 1, 2}, {2, 3}}, {0, 1}},
    {"groups", 2, 4, 3, 3, 6, 2, {{3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}}, {0, 0}},
    {"depthwise", 1, 5, 3, 3, 5, 5, {{3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}}, {1, 1}},
    {"one element", 1, 2, 1, 1, 2, 1, {{3, 4}, {1, 1}, {0, 0, 0, 0}, {1, 1}}, {0, 0}},
};

static int out_dim(int in, const geometry *g, int i)
{
    const ln_ref_window *w = &g->window;
    return w->stride[i] * (in - 1) + g->output_padding[i] + (w->size[i] - 1) * w->dilation[i] + 1 -
           w->padding[i] - w->padding[i + 2];
}

// The sum at (o, y, x) of image n, by going through the source.
static double expected_at(const geometry *g, const tl_tensor *src, const tl_tensor *weight,
                          const tl_tensor *bias, int n, int o, int y, int x)
{
    const ln_ref_window *w = &g->window;
    int inputs = g->c / g->group, outputs = g->o / g->group;
    long double sum = (long double)test_get(bias, o);
    for (int i = o / outputs * inputs; i < (o / outputs + 1) * inputs; i++)
        for (int k = 0; k < g->h * g->w * w->size[0] * w->size[1]; k++) {
            int u = k % w->size[1], v = k / w->size[1] % w->size[0];
            int element = k / w->size[1] / w->size[0];
            int sy = element / g->w, sx = element % g->w;
            if (sy * w->stride[0] + v * w->dilation[0] - w->padding[0] != y ||
                sx * w->stride[1] + u * w->dilation[1] - w->padding[1] != x)
                continue;
            int from = (n * g->c + i) * g->h * g->w + element;
            int tap = ((i * outputs + o % outputs) * w->size[0] + v) * w->size[1] + u;
            sum += (long double)test_get(src, from) * (long double)test_get(weight, tap);
        }
    return (double)sum;
}

static void check_geometry(const geometry *g, tl_dtype dtype, test_random *random)
{
    double src_data[512], weight_data[512], bias_data[8], dst_data[2048];
    int oh = out_dim(g->h, g, 0), ow = out_dim(g->w, g, 1);
    tl_tensor src = VIEW(src_data, dtype, g->n, g->c, g->h, g->w);
    tl_tensor weight =
        VIEW(weight_data, dtype, g->c, g->o / g->group, g->window.size[0], g->window.size[1]);
    tl_tensor bias = VIEW(bias_data, dtype, g->o), dst = VIEW(dst_data, dtype, g->n, g->o, oh, ow);
    CHECK(src.len <= 512 && weight.len <= 512 && dst.len <= 2048);
    test_fill(&src, random, 3);
    test_fill(&weight, random, 3);
    test_fill(&bias, random, 3);
    CHECK_OK(ln_ref_deconv2d(&src, &weight, &bias, &dst, &g->window, g->group, false));
    for (int i = 0; i < dst.len; i++) {
        double exact = expected_at(g, &src, &weight, &bias, i / ow / oh / g->o, i / ow / oh % g->o,
                                   i / ow % oh, i % ow);
        double expected = test_saturate(exact, dtype), got = test_get(&dst, i);
        if (!(fabs(got - expected) <= (dtype == TL_FLOAT ? 1e-4 : 1e-10)))
            fail_msg("%s, %s: element %d is %.9g instead of %.9g", g->why, tl_dtype_name(dtype), i,
                     got, expected);
    }
}

TEST(equals_spreading_each_element)
{
    test_random random = test_random_start();
    static const tl_dtype dtypes[] = {TL_FLOAT, TL_DOUBLE, TL_INT32, TL_INT8, TL_UINT8};
    for (size_t i = 0; i < sizeof geometries / sizeof geometries[0]; i++)
        for (size_t t = 0; t < sizeof dtypes / sizeof dtypes[0]; t++)
            check_geometry(&geometries[i], dtypes[t], &random);
}

TEST(a_small_one_by_hand)
{
    float src_data[] = {1, 2}, weight_data[] = {1, 10, 100}, dst_data[4];
    tl_tensor src = VIEW(src_data, TL_FLOAT, 1, 1, 1, 2);
    tl_tensor weight = VIEW(weight_data, TL_FLOAT, 1, 1, 1, 3);
    tl_tensor dst = VIEW(dst_data, TL_FLOAT, 1, 1, 1, 4);
    const ln_ref_window window = {{1, 3}, {1, 1}, {0, 0, 0, 0}, {1, 1}};
    CHECK_OK(ln_ref_deconv2d(&src, &weight, NULL, &dst, &window, 1, false));
    CHECK_FLOATS(dst_data, 4, 0, 1, 12, 120, 200);
    src_data[0] = -1;
    CHECK_OK(ln_ref_deconv2d(&src, &weight, NULL, &dst, &window, 1, true));
    CHECK_FLOATS(dst_data, 4, 0, 0, 0, 0, 200);
}

TEST(empty_tensors_are_fine)
{
    float weight_data[4] = {0}, bias_data[] = {5}, dst_data[4];
    tl_tensor none = VIEW(NULL, TL_FLOAT, 0, 1, 1, 1), dst = VIEW(NULL, TL_FLOAT, 0, 1, 2, 2);
    tl_tensor weight = VIEW(weight_data, TL_FLOAT, 1, 1, 2, 2), bias = VIEW(bias_data, TL_FLOAT, 1);
    CHECK_OK(ln_ref_deconv2d(&none, &weight, &bias, &dst, &plain2x2, 1, false));

    tl_tensor no_channels = VIEW(NULL, TL_FLOAT, 1, 0, 1, 1);
    tl_tensor no_weight = VIEW(NULL, TL_FLOAT, 0, 1, 2, 2);
    tl_tensor full = VIEW(dst_data, TL_FLOAT, 1, 1, 2, 2);
    CHECK_OK(ln_ref_deconv2d(&no_channels, &no_weight, &bias, &full, &plain2x2, 1, false));
    CHECK_FLOATS(dst_data, 4, 0, 5, 5, 5, 5);
}

TEST(what_does_not_fit_is_refused)
{
    float data[64] = {0};
    tl_tensor src = VIEW(data, TL_FLOAT, 1, 2, 2, 2), weight = VIEW(data, TL_FLOAT, 2, 3, 2, 2);
    tl_tensor bias = VIEW(data, TL_FLOAT, 3), dst = VIEW(data, TL_FLOAT, 1, 3, 3, 3);
    tl_tensor flat = VIEW(data, TL_FLOAT, 8), ints = VIEW(data, TL_INT32, 1, 3, 3, 3);
    tl_tensor other = VIEW(data, TL_FLOAT, 3, 3, 2, 2), batch = VIEW(data, TL_FLOAT, 2, 3, 3, 3);
    const ln_ref_window still = {{2, 2}, {0, 1}, {0, 0, 0, 0}, {1, 1}};
    const ln_ref_window large = {{3, 2}, {1, 1}, {0, 0, 0, 0}, {1, 1}};
    const struct {
        const char *why;
        const tl_tensor *src, *weight, *bias;
        tl_tensor *dst;
        const ln_ref_window *window;
        int group;
    } rows[] = {
        {"rank of src", &flat, &weight, &bias, &dst, &plain2x2, 1},
        {"NULL", NULL, &weight, &bias, &dst, &plain2x2, 1},
        {"channels of weight", &src, &other, &bias, &dst, &plain2x2, 1},
        {"groups", &src, &weight, &bias, &dst, &plain2x2, 2},
        {"no groups", &src, &weight, &bias, &dst, &plain2x2, 0},
        {"length of bias", &src, &weight, &flat, &dst, &plain2x2, 1},
        {"dtype of dst", &src, &weight, &bias, &ints, &plain2x2, 1},
        {"batch of dst", &src, &weight, &bias, &batch, &plain2x2, 1},
        {"stride 0", &src, &weight, &bias, &dst, &still, 1},
        {"size", &src, &weight, &bias, &dst, &large, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_status status = ln_ref_deconv2d(rows[i].src, rows[i].weight, rows[i].bias, rows[i].dst,
                                           rows[i].window, rows[i].group, false);
        if (status != LN_INVALID)
            fail_msg("%s: %s", rows[i].why, ln_status_name(status));
    }
}

TEST_LIST(equals_spreading_each_element, a_small_one_by_hand, empty_tensors_are_fine,
          what_does_not_fit_is_refused)
