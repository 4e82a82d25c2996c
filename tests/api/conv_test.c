// SPDX-License-Identifier: Apache-2.0
// Convolution of the core on arch ref: against a matrix product, by hand, and what is refused.

#include <stdlib.h>

#include "arch/ref/test_view.h"
#include "tests/api/model.h"

typedef struct kernel {
    int size[2], stride[2], padding[4], dilation[2];
} kernel;

// ---- One convolution as a model ----

// The line that makes `name`, of the shape of `t`.
static int print_input(char *text, size_t room, const char *name, const tl_tensor *t)
{
    int used =
        snprintf(text, room, "input(| dst=%s | dtype=%s, dims=[", name, tl_dtype_name(t->dtype));
    for (int d = 0; d < t->ndim; d++)
        used += snprintf(text + used, room - (size_t)used, d ? ", %d" : "%d", t->dims[d]);
    return used + snprintf(text + used, room - (size_t)used, "]);\n");
}

static ln_status set_input(ln_context *ctx, const char *name, const tl_tensor *t)
{
    return t && t->len > 0 ? ln_context_set_data(ctx, name, t->data) : LN_OK;
}

static ln_status run(ln_context *ctx, const char *text, const tl_tensor *src,
                     const tl_tensor *weight, const tl_tensor *bias, tl_tensor *dst)
{
    LN_TRY(ln_context_init_mem(ctx, text, strlen(text), "conv.net"));
    LN_TRY(ln_context_compile(ctx, "ref"));
    LN_TRY(ln_context_load(ctx, NULL));
    LN_TRY(set_input(ctx, "x", src));
    LN_TRY(set_input(ctx, "w", weight));
    LN_TRY(set_input(ctx, "b", bias));
    LN_TRY(ln_context_run(ctx));
    const ln_tensor_entry *made = ln_tensor_table_find(ctx->tensor_table, "y");
    CHECK_NOT_NULL(made);
    CHECK_EQ(made->tensor->ndim, dst->ndim);
    for (int d = 0; d < dst->ndim; d++)
        CHECK_EQ(made->tensor->dims[d], dst->dims[d]);
    CHECK(dst->len == 0 || ln_context_get_data(ctx, "y", dst->data));
    return LN_OK;
}

// `bias` may be NULL.
static ln_status convolve(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                          tl_tensor *dst, const kernel *w, int group, bool is_relu)
{
    char text[2048];
    int used = print_input(text, sizeof text, "x", src);
    used += print_input(text + used, sizeof text - (size_t)used, "w", weight);
    if (bias)
        used += print_input(text + used, sizeof text - (size_t)used, "b", bias);
    snprintf(
        text + used, sizeof text - (size_t)used,
        "conv(src=x, weight=w%s | dst=y | group=%d, stride=[%d, %d], padding=[%d, %d, %d, %d], "
        "dilation=[%d, %d], act=%s);\n",
        bias ? ", bias=b" : "", group, w->stride[0], w->stride[1], w->padding[0], w->padding[1],
        w->padding[2], w->padding[3], w->dilation[0], w->dilation[1], is_relu ? "relu" : "none");
    CHECK_OK(ln_arch_init());
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    ln_status status = run(ctx, text, src, weight, bias, dst);
    close_context(ctx);
    ln_arch_cleanup();
    return status;
}

static const kernel plain2x2 = {{2, 2}, {1, 1}, {0, 0, 0, 0}, {1, 1}};
static const kernel plain1x1 = {{1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}};

// ---- An independent way: pad, gather each window into a column, multiply matrices ----

typedef struct geometry {
    const char *why;
    int n, c, h, w; // src
    int o, group;
    kernel window;
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

static int out_dim(int in, const kernel *w, int i)
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
    const kernel *w = &g->window;
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
    const kernel *w = &g->window;
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
    CHECK_OK(convolve(&src, &weight, &bias, &dst, w, g->group, is_relu));

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
    CHECK_OK(convolve(&src, &weight, &bias, &dst, &plain2x2, 1, false));
    CHECK_FLOATS(dst_data, 4, 0, 5421.5, 6532.5, 8754.5, 9865.5);
    CHECK_OK(convolve(&src, &weight, NULL, &dst, &plain2x2, 1, false));
    CHECK_FLOATS(dst_data, 4, 0, 5421, 6532, 8754, 9865);
}

TEST(sums_of_floats_are_kept_in_double)
{
    float src_data[] = {1e8f, 1, -1e8f}, weight_data[] = {1, 1, 1}, dst_data[1];
    tl_tensor src = VIEW(src_data, TL_FLOAT, 1, 3, 1, 1);
    tl_tensor weight = VIEW(weight_data, TL_FLOAT, 1, 3, 1, 1);
    tl_tensor dst = VIEW(dst_data, TL_FLOAT, 1, 1, 1, 1);
    CHECK_OK(convolve(&src, &weight, NULL, &dst, &plain1x1, 1, false));
    CHECK_NEAR((double)dst_data[0], 1, 0);
}

TEST(a_float_result_beyond_the_range_is_infinite)
{
    float src_data[] = {1e30f}, weight_data[] = {-1e30f}, dst_data[1];
    tl_tensor src = VIEW(src_data, TL_FLOAT, 1, 1, 1, 1);
    tl_tensor weight = VIEW(weight_data, TL_FLOAT, 1, 1, 1, 1);
    tl_tensor dst = VIEW(dst_data, TL_FLOAT, 1, 1, 1, 1);
    CHECK_OK(convolve(&src, &weight, NULL, &dst, &plain1x1, 1, false));
    CHECK(isinf(dst_data[0]) && dst_data[0] < 0);
}

TEST(sums_of_64_bit_integers_wrap)
{
    int64_t src_data[] = {INT64_MAX, INT64_MAX}, weight_data[] = {1, 1}, dst_data[1];
    tl_tensor src = VIEW(src_data, TL_INT64, 1, 2, 1, 1);
    tl_tensor weight = VIEW(weight_data, TL_INT64, 1, 2, 1, 1);
    tl_tensor dst = VIEW(dst_data, TL_INT64, 1, 1, 1, 1);
    CHECK_OK(convolve(&src, &weight, NULL, &dst, &plain1x1, 1, false));
    CHECK(dst_data[0] == -2);
}

TEST(nan_spreads_only_where_the_window_meets_it_and_passes_relu)
{
    float src_data[] = {NAN, 1, 2, -3}, weight_data[] = {1, 1}, dst_data[3];
    kernel window = {{1, 2}, {1, 1}, {0, 0, 0, 0}, {1, 1}};
    tl_tensor src = VIEW(src_data, TL_FLOAT, 1, 1, 1, 4);
    tl_tensor weight = VIEW(weight_data, TL_FLOAT, 1, 1, 1, 2);
    tl_tensor dst = VIEW(dst_data, TL_FLOAT, 1, 1, 1, 3);
    CHECK_OK(convolve(&src, &weight, NULL, &dst, &window, 1, true));
    CHECK_FLOATS(dst_data, 3, 0, NAN, 3, 0);
}

TEST(a_weight_over_padding_takes_no_part)
{
    float src_data[] = {2}, weight_data[] = {INFINITY, 3}, dst_data[1];
    kernel window = {{1, 2}, {1, 1}, {0, 1, 0, 0}, {1, 1}};
    tl_tensor src = VIEW(src_data, TL_FLOAT, 1, 1, 1, 1);
    tl_tensor weight = VIEW(weight_data, TL_FLOAT, 1, 1, 1, 2);
    tl_tensor dst = VIEW(dst_data, TL_FLOAT, 1, 1, 1, 1);
    CHECK_OK(convolve(&src, &weight, NULL, &dst, &window, 1, false));
    CHECK_NEAR((double)dst_data[0], 6, 0);
}

// ---- Properties ----

TEST(as_many_groups_as_channels_are_convolutions_of_each_channel)
{
    test_random random = test_random_start();
    enum { C = 4, H = 5, W = 6 };
    kernel window = {{3, 3}, {2, 1}, {1, 0, 1, 2}, {1, 1}};
    float src_data[C * H * W], weight_data[C * 9], bias_data[C], dst_data[C * 18], one_data[18];
    tl_tensor src = VIEW(src_data, TL_FLOAT, 1, C, H, W);
    tl_tensor weight = VIEW(weight_data, TL_FLOAT, C, 1, 3, 3);
    tl_tensor bias = VIEW(bias_data, TL_FLOAT, C);
    tl_tensor dst = VIEW(dst_data, TL_FLOAT, 1, C, 3, 6);
    tl_tensor one = VIEW(one_data, TL_FLOAT, 1, 1, 3, 6);
    test_fill(&src, &random, 5);
    test_fill(&weight, &random, 5);
    test_fill(&bias, &random, 5);
    CHECK_OK(convolve(&src, &weight, &bias, &dst, &window, C, false));
    for (int c = 0; c < C; c++) {
        tl_tensor src_c = VIEW(src_data + c * H * W, TL_FLOAT, 1, 1, H, W);
        tl_tensor weight_c = VIEW(weight_data + c * 9, TL_FLOAT, 1, 1, 3, 3);
        tl_tensor bias_c = VIEW(bias_data + c, TL_FLOAT, 1);
        CHECK_OK(convolve(&src_c, &weight_c, &bias_c, &one, &window, 1, false));
        CHECK_MEM_EQ(one_data, dst_data + c * 18, sizeof one_data);
    }
}

TEST(empty_batches_channels_and_outputs_are_fine)
{
    float data[4] = {1, 2, 3, 4}, bias_data[1] = {7}, dst_data[4];
    tl_tensor none = VIEW(NULL, TL_FLOAT, 0, 1, 2, 2), none_dst = VIEW(NULL, TL_FLOAT, 0, 1, 1, 1);
    tl_tensor weight = VIEW(data, TL_FLOAT, 1, 1, 2, 2), bias = VIEW(bias_data, TL_FLOAT, 1);
    CHECK_OK(convolve(&none, &weight, &bias, &none_dst, &plain2x2, 1, false));

    tl_tensor no_channels = VIEW(NULL, TL_FLOAT, 1, 0, 2, 2);
    tl_tensor no_weight = VIEW(NULL, TL_FLOAT, 1, 0, 1, 1);
    tl_tensor dst = VIEW(dst_data, TL_FLOAT, 1, 1, 2, 2);
    CHECK_OK(convolve(&no_channels, &no_weight, &bias, &dst, &plain1x1, 1, false));
    CHECK_FLOATS(dst_data, 4, 0, 7, 7, 7, 7);

    tl_tensor src = VIEW(data, TL_FLOAT, 1, 1, 2, 2);
    tl_tensor no_outputs = VIEW(NULL, TL_FLOAT, 0, 1, 1, 1);
    tl_tensor no_dst = VIEW(NULL, TL_FLOAT, 1, 0, 2, 2);
    CHECK_OK(convolve(&src, &no_outputs, NULL, &no_dst, &plain1x1, 1, false));
}

TEST(tensors_that_do_not_fit_are_refused)
{
    float data[64] = {0};
    tl_tensor src = VIEW(data, TL_FLOAT, 1, 2, 3, 3), weight = VIEW(data, TL_FLOAT, 2, 2, 2, 2);
    tl_tensor bias = VIEW(data, TL_FLOAT, 2), dst = VIEW(data, TL_FLOAT, 1, 2, 2, 2);
    tl_tensor rank3 = VIEW(data, TL_FLOAT, 2, 3, 3), other = VIEW(data, TL_INT32, 2, 2, 2, 2);
    tl_tensor large = VIEW(data, TL_FLOAT, 2, 2, 4, 4), bias3 = VIEW(data, TL_FLOAT, 3);
    kernel no_stride = {{2, 2}, {1, 0}, {0, 0, 0, 0}, {1, 1}};
    kernel negative = {{2, 2}, {1, 1}, {0, -1, 0, 0}, {1, 1}};
    const struct {
        const char *why;
        const tl_tensor *src, *weight, *bias;
        const kernel *window;
        int group;
    } rows[] = {
        {"rank 3", &rank3, &weight, &bias, &plain2x2, 1},
        {"another dtype", &src, &other, &bias, &plain2x2, 1},
        {"bias too long", &src, &weight, &bias3, &plain2x2, 1},
        {"window too large", &src, &large, &bias, &plain2x2, 1},
        {"no stride", &src, &weight, &bias, &no_stride, 1},
        {"negative padding", &src, &weight, &bias, &negative, 1},
        {"no group", &src, &weight, &bias, &plain2x2, 0},
        {"channels for two groups", &src, &weight, &bias, &plain2x2, 2},
        {"outputs for three groups", &src, &weight, &bias, &plain2x2, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_status status = convolve(rows[i].src, rows[i].weight, rows[i].bias, &dst, rows[i].window,
                                    rows[i].group, false);
        if (status != LN_INVALID)
            fail_msg("%s: %s", rows[i].why, ln_status_name(status));
    }
}

// ---- What the parameters say ----

static void check_text(const char *why, const char *text, const char *target, const float *expected,
                       int count)
{
    ln_context *ctx = load_text(text, target);
    float got[16];
    CHECK_OK(ln_context_run(ctx));
    CHECK_EQ(ln_tensor_table_find(ctx->tensor_table, "y")->tensor->len, count);
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", got));
    for (int i = 0; i < count; i++)
        if (!(fabsf(got[i] - expected[i]) <= 1e-5f))
            fail_msg("%s on %s, element %d: %g instead of %g", why, target, i, (double)got[i],
                     (double)expected[i]);
    close_context(ctx);
}

#define ROW                                                                                        \
    "create(| dst=x | dtype=TL_FLOAT, dims=[1, 1, 1, 4], data=[1, 2, 3, 4]);\n"                    \
    "create(| dst=w | dtype=TL_FLOAT, dims=[1, 1, 1, 2], data=[1, 10]);\n"
#define SIGNS                                                                                      \
    "create(| dst=x | dtype=TL_FLOAT, dims=[1, 1, 4], data=[1, -2, 3, -4]);\n"                     \
    "create(| dst=w | dtype=TL_FLOAT, dims=[1, 1, 1], data=[2]);\n"                                \
    "create(| dst=z | dtype=TL_FLOAT, dims=[1, 1, 4], data=[1, 1, -7, 9]);\n"

static const struct {
    const char *why, *text;
    int count;
    float expected[4];
} said[] = {
    {"padding", ROW "conv(src=x, weight=w | dst=y | padding=[0, 1, 0, 0]);\n", 4, {10, 21, 32, 43}},
    {"SAME_LOWER",
     ROW "conv(src=x, weight=w | dst=y | autopad=SAME_LOWER);\n",
     4,
     {10, 21, 32, 43}},
    {"SAME_UPPER", ROW "conv(src=x, weight=w | dst=y | autopad=SAME_UPPER);\n", 4, {21, 32, 43, 4}},
    {"VALID",
     ROW "conv(src=x, weight=w | dst=y | padding=[9, 9, 9, 9], autopad=VALID);\n",
     3,
     {21, 32, 43}},
    {"none", SIGNS "conv(src=x, weight=w | dst=y |);\n", 4, {2, -4, 6, -8}},
    {"relu", SIGNS "conv(src=x, weight=w | dst=y | act=relu);\n", 4, {2, 0, 6, 0}},
    {"lrelu", SIGNS "conv(src=x, weight=w | dst=y | act=lrelu, alpha=0.5);\n", 4, {2, -2, 6, -4}},
    {"clip",
     SIGNS "conv(src=x, weight=w | dst=y | act=clip, alpha=-5, beta=5);\n",
     4,
     {2, -4, 5, -5}},
    {"an addend", SIGNS "conv(src=x, weight=w, addend=z | dst=y |);\n", 4, {3, -3, -1, 1}},
    {"an addend, then relu",
     SIGNS "conv(src=x, weight=w, addend=z | dst=y | act=relu);\n",
     4,
     {3, 0, 0, 1}},
    {"an addend, then a clip",
     SIGNS "conv(src=x, weight=w, addend=z | dst=y | act=clip, alpha=-2, beta=2);\n",
     4,
     {2, -2, -1, 1}},
    {"hard_sigmoid",
     SIGNS "conv(src=x, weight=w | dst=y | act=hard_sigmoid, alpha=0.125, beta=0.5);\n",
     4,
     {0.75f, 0, 1, 0}},
};

TEST(parameters_say_padding_and_activation)
{
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        check_text(said[i].why, said[i].text, "ref", said[i].expected, said[i].count);
        check_text(said[i].why, said[i].text, "cpu", said[i].expected, said[i].count);
    }
    ln_arch_cleanup();
}

#define IMAGE                                                                                      \
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 1, 4, 4]);\n"                                        \
    "create(| dst=w | dtype=TL_FLOAT, dims=[1, 1, 2, 2]);\n"                                       \
    "create(| dst=b | dtype=TL_FLOAT, dims=[1]);\n"

TEST(what_the_parameters_cannot_say_is_refused)
{
    static const struct {
        const char *why, *text, *message;
    } rows[] = {
        {"autopad", ROW "conv(src=x, weight=w | dst=y | autopad=SAME);\n",
         "autopad 'SAME' is not known"},
        {"activation", ROW "conv(src=x, weight=w | dst=y | act=Relu);\n",
         "act 'Relu' is not known"},
        {"rank", SIGNS "maxpool2d(src=x | dst=y | size=[2, 2], stride=[1, 1]);\n",
         "rank 3, but an image is [N, C, H, W]"},
        {"activation of an image",
         IMAGE "conv2d(src=x, weight=w, bias=b | dst=y | size=[2, 2], act=tanh);\n",
         "act should be none or relu, but is 'tanh'"},
        {"size", IMAGE "conv2d(src=x, weight=w, bias=b | dst=y | size=[2, 3]);\n",
         "size[1] = 3, but the weights have 2"},
        {"less than there is",
         IMAGE
         "deconv2d(src=x, weight=w, bias=b | dst=y | size=[2, 2], output_dims=[0, 0, 4, 0]);\n",
         "output_dims says 4 where there are 5"},
        {"more than there is",
         IMAGE
         "deconv2d(src=x, weight=w, bias=b | dst=y | size=[2, 2], output_dims=[0, 0, 6, 0], autopad=SAME_UPPER);\n",
         "output_dims says 6 where there are 5"},
        {"padding of a pooling",
         IMAGE "maxpool2d(src=x | dst=y | size=[2, 2], stride=[1, 1], padding=[0, 0, 2, 0]);\n",
         "padding of 2 is not smaller than the window of 2"},
        {"addend", ROW "conv(src=x, weight=w, addend=x | dst=y |);\n",
         "the addend has not the shape of the output"},
        {"integers",
         "input(| dst=x | dtype=TL_INT32, dims=[1, 1, 4]);\ninput(| dst=w | dtype=TL_INT32, dims=[1, 1, 2]);\n"
         "conv(src=x, weight=w | dst=y | act=sigmoid);\n",
         "activation sigmoid is for floating types"},
    };
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_context *ctx = ln_context_create();
        CHECK_NOT_NULL(ctx);
        ln_status status = ln_context_init_mem(ctx, rows[i].text, strlen(rows[i].text), "conv.net");
        if (status != LN_INVALID || !strstr(ln_error_message(), rows[i].message))
            fail_msg("%s: %s", rows[i].why, ln_error_message());
        close_context(ctx);
    }
    ln_arch_cleanup();
}

TEST_LIST(agrees_with_a_matrix_product_for_every_dtype, small_integers_saturate,
          it_is_cross_correlation_with_a_bias, sums_of_floats_are_kept_in_double,
          a_float_result_beyond_the_range_is_infinite, sums_of_64_bit_integers_wrap,
          nan_spreads_only_where_the_window_meets_it_and_passes_relu,
          a_weight_over_padding_takes_no_part,
          as_many_groups_as_channels_are_convolutions_of_each_channel,
          empty_batches_channels_and_outputs_are_fine, tensors_that_do_not_fit_are_refused,
          parameters_say_padding_and_activation, what_the_parameters_cannot_say_is_refused)
