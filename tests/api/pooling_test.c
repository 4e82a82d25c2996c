// SPDX-License-Identifier: Apache-2.0
// The core type `pool` on ref, by the operators of LightNet and its own: every element type, and an
// independent way to compute it.

#include "tests/api/onnx_model.h"

typedef struct window {
    int size[2], stride[2], padding[4];
} window;

// A loaded model with one operator: x of `dtype` and `dims` to y.
static ln_context *load(const char *dtype, const int *dims, const char *call)
{
    char text[512];
    snprintf(text, sizeof text, "input(| dst=x | dtype=%s, dims=[%d, %d, %d, %d]);\n%s\n", dtype,
             dims[0], dims[1], dims[2], dims[3], call);
    return onnx_load(text, "ref");
}

// Runs it on `values`, and compares all of y.
static void check(const char *dtype, int h, int w, const char *call, const double *values,
                  int count, const double *expected)
{
    ln_context *ctx = load(dtype, (const int[]){1, 1, h, w}, call);
    for (int i = 0; i < h * w; i++)
        onnx_set(ctx, "x", i, values[i]);
    CHECK_OK(ln_context_run(ctx));
    CHECK_EQ(ln_tensor_table_find(ctx->tensor_table, "y")->tensor->len, count);
    for (int i = 0; i < count; i++) {
        double got = onnx_get(ctx, "y", i);
        CHECK(got == expected[i] || (isnan(got) && isnan(expected[i])));
    }
    onnx_close(ctx);
}

#define ROW2 "size=[1, 2], stride=[1, 2]"

TEST(special_values_and_integers)
{
    static const struct {
        const char *why, *dtype, *call;
        int h, w;
        double values[8];
        int count;
        double expected[9];
    } rows[] = {
        {"maxima",
         "TL_FLOAT",
         "pool(src=x | dst=y | size=[2, 2], stride=[2, 2]);",
         2,
         4,
         {1, 2, 3, 4, 5, 6, 7, 8},
         2,
         {6, 8}},
        {"means",
         "TL_FLOAT",
         "pool(src=x | dst=y | kind=average, size=[2, 2], stride=[2, 2]);",
         2,
         4,
         {-1, -2, -3, -4, -5, -6, -7, -8},
         2,
         {-3.5, -5.5}},
        {"padding does not win",
         "TL_FLOAT",
         "maxpool2d(src=x | dst=y | size=[2, 2], stride=[1, 2], padding=[1, 1, 0, 1]);",
         1,
         2,
         {-4, -8},
         2,
         {-4, -8}},
        {"padding does not count",
         "TL_FLOAT",
         "avgpool2d(src=x | dst=y | size=[2, 2], stride=[1, 2], padding=[1, 1, 0, 1]);",
         1,
         2,
         {-4, -8},
         2,
         {-4, -8}},
        {"padding alone has no maximum",
         "TL_FLOAT",
         "pool(src=x | dst=y | size=[1, 1], padding=[0, 1, 0, 1]);",
         1,
         1,
         {5},
         3,
         {-INFINITY, 5, -INFINITY}},
        {"padding alone has no mean",
         "TL_FLOAT",
         "pool(src=x | dst=y | kind=average, size=[1, 1], padding=[0, 1, 0, 1]);",
         1,
         1,
         {5},
         3,
         {NAN, 5, NAN}},
        {"padding alone, of integers",
         "TL_INT16",
         "pool(src=x | dst=y | size=[1, 1], padding=[0, 1, 0, 1]);",
         1,
         1,
         {5},
         3,
         {INT16_MIN, 5, INT16_MIN}},
        {"padding alone, a mean of integers",
         "TL_INT16",
         "pool(src=x | dst=y | kind=average, size=[1, 1], padding=[0, 1, 0, 1]);",
         1,
         1,
         {5},
         3,
         {0, 5, 0}},
        {"NaN and infinities, maxima",
         "TL_FLOAT",
         "maxpool2d(src=x | dst=y | " ROW2 ");",
         1,
         6,
         {1, NAN, 2, INFINITY, -INFINITY, -INFINITY},
         3,
         {NAN, INFINITY, -INFINITY}},
        {"NaN and infinities, means",
         "TL_FLOAT",
         "avgpool2d(src=x | dst=y | " ROW2 ");",
         1,
         6,
         {1, NAN, 2, INFINITY, -INFINITY, -INFINITY},
         3,
         {NAN, INFINITY, -INFINITY}},
        {"means of integers go toward zero",
         "TL_INT8",
         "avgpool2d(src=x | dst=y | " ROW2 ");",
         1,
         6,
         {-3, -4, 3, 4, 127, 126},
         3,
         {-3, 3, 126}},
        {"padding counts in means of integers",
         "TL_INT32",
         "pool(src=x | dst=y | kind=average, size=[1, 2], padding=[0, 1, 0, 0], "
         "count_include_pad=1);",
         1,
         2,
         {-5, 4},
         2,
         {-2, 0}},
        {"autopad",
         "TL_FLOAT",
         "maxpool2d(src=x | dst=y | size=[1, 2], stride=[1, 1], autopad=SAME_UPPER);",
         1,
         4,
         {1, 2, 3, 4},
         4,
         {2, 3, 4, 4}},
        {"norms of integers",
         "TL_INT32",
         "pool(src=x | dst=y | kind=lp, p=1);",
         1,
         3,
         {-3, 4, -5},
         1,
         {12}},
        {"half floats",
         "TL_FLOAT16",
         "pool(src=x | dst=y | " ROW2 ");",
         1,
         4,
         {-1, -2, 0.5, 0.25},
         2,
         {-1, 0.5}},
        {"bools", "TL_BOOL", "avgpool2d(src=x | dst=y | " ROW2 ");", 1, 4, {1, 1, 1, 0}, 2, {1, 0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        printf("%s\n", rows[i].why);
        check(rows[i].dtype, rows[i].h, rows[i].w, rows[i].call, rows[i].values, rows[i].count,
              rows[i].expected);
    }
}

TEST(large_unsigned_numbers_compare_as_such)
{
    ln_context *ctx = load("TL_UINT64", (const int[]){1, 1, 2, 2}, "pool(src=x | dst=y |);");
    uint64_t *x = ln_tensor_table_find(ctx->tensor_table, "x")->tensor->data;
    x[0] = 1, x[1] = UINT64_MAX, x[2] = UINT64_MAX - 1, x[3] = 0;
    CHECK_OK(ln_context_run(ctx));
    CHECK(*(uint64_t *)ln_tensor_table_find(ctx->tensor_table, "y")->tensor->data == UINT64_MAX);
    onnx_close(ctx);
}

// ---- Another way: over the elements, each handed to the windows that cover it ----

typedef struct handed {
    double max[256], sum[256], count[256];
} handed;

static void hand_out(const ln_context *ctx, const int *in, const window *w, int oh, int ow,
                     handed *to)
{
    for (int i = 0; i < in[0] * in[1] * in[2] * in[3]; i++) {
        int plane = i / (in[2] * in[3]), y = i / in[3] % in[2], x = i % in[3];
        double element = onnx_get(ctx, "x", i);
        for (int o = 0; o < oh * ow; o++) {
            int v = y + w->padding[0] - o / ow * w->stride[0];
            int u = x + w->padding[1] - o % ow * w->stride[1];
            if (v < 0 || v >= w->size[0] || u < 0 || u >= w->size[1])
                continue;
            int d = plane * oh * ow + o;
            to->max[d] = to->count[d] == 0 || element > to->max[d] ? element : to->max[d];
            to->sum[d] += element;
            to->count[d]++;
        }
    }
}

static void check_handed_out(const int *in, const window *w, const char *optype, tl_dtype dtype)
{
    char call[256];
    snprintf(call, sizeof call,
             "%s(src=x | dst=y | size=[%d, %d], stride=[%d, %d], padding=[%d, %d, %d, %d]);",
             optype, w->size[0], w->size[1], w->stride[0], w->stride[1], w->padding[0],
             w->padding[1], w->padding[2], w->padding[3]);
    int oh = (in[2] + w->padding[0] + w->padding[2] - w->size[0]) / w->stride[0] + 1;
    int ow = (in[3] + w->padding[1] + w->padding[3] - w->size[1]) / w->stride[1] + 1;
    bool is_mean = strcmp(optype, "avgpool2d") == 0;
    bool is_floating = dtype == TL_DOUBLE || dtype == TL_FLOAT;
    ln_context *ctx = load(tl_dtype_name(dtype), in, call);
    test_random random = test_random_start();
    const tl_tensor *x = ln_tensor_table_find(ctx->tensor_table, "x")->tensor;
    for (int i = 0; i < x->len; i++) {
        double value = (double)test_random_below(&random, 41) - 20;
        value += is_floating ? (double)test_random_below(&random, 1024) / 1024 : 0;
        onnx_set(ctx, "x", i, tl_dtype_min_double(dtype) < 0 ? value : fabs(value));
    }
    handed to = {.count = {0}};
    hand_out(ctx, in, w, oh, ow, &to);
    CHECK_OK(ln_context_run(ctx));
    const tl_tensor *y = ln_tensor_table_find(ctx->tensor_table, "y")->tensor;
    CHECK_EQ(y->len, in[0] * in[1] * oh * ow);
    for (int d = 0; d < y->len; d++) {
        double mean = to.sum[d] / to.count[d];
        double expected = !is_mean ? to.max[d] : is_floating ? mean : trunc(mean);
        CHECK_NEAR(onnx_get(ctx, "y", d), expected, is_mean && is_floating ? 1e-5 : 0);
    }
    onnx_close(ctx);
}

TEST(agrees_with_handing_out_elements_for_every_dtype)
{
    static const struct {
        int in[4];
        window window;
    } rows[] = {
        {{1, 1, 4, 4}, {{2, 2}, {2, 2}, {0, 0, 0, 0}}},
        {{2, 3, 5, 4}, {{3, 2}, {1, 1}, {1, 1, 2, 0}}},
        {{1, 2, 7, 7}, {{3, 3}, {2, 3}, {1, 0, 1, 2}}},
        {{1, 4, 3, 5}, {{3, 5}, {1, 1}, {0, 0, 0, 0}}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int dtype = 0; dtype < TL_DTYPE_NATIVE_SIZE; dtype++) {
            check_handed_out(rows[i].in, &rows[i].window, "maxpool2d", (tl_dtype)dtype);
            if (dtype != TL_BOOL) // a mean of bools is 1 only when all are
                check_handed_out(rows[i].in, &rows[i].window, "avgpool2d", (tl_dtype)dtype);
        }
}

// ---- cpu, and what is refused ----

TEST(windows_on_cpu_take_height_before_width)
{
    onnx_check_agreement("maxima",
                         ONNX_INPUT("x", "1, 1, 2, 3") "maxpool2d(src=x | dst=y | size=[1, 2], "
                                                       "stride=[1, 2], padding=[0, 1, 0, 0]);\n");
    onnx_check_agreement("means",
                         ONNX_INPUT("x", "1, 1, 2, 3") "avgpool2d(src=x | dst=y | size=[1, 2], "
                                                       "stride=[1, 2], padding=[0, 1, 0, 0]);\n");
    onnx_check_agreement(
        "all of a volume of rank 6",
        ONNX_INPUT("x", "2, 3, 2, 4, 3, 5") "pool(src=x | dst=y | kind=average);\n");
}

TEST(what_pool_refuses)
{
#define X ONNX_INPUT("x", "1, 1, 4, 4")
    onnx_check_refused(X "pool(src=x | dst=y | kind=median);\n", "none of max, average and lp");
    onnx_check_refused(X "pool(src=x | dst=y | stride=[2, 2]);\n", "has a stride, but no size");
    onnx_check_refused(X "pool(src=x | dst=y | size=[5, 5]);\n", "does not fit axis 2");
    onnx_check_refused(X "pool(src=x | dst=y | size=[2]);\n", "size has 1 elements instead of 2");
    onnx_check_refused(X "pool(src=x | dst=y | kind=lp, p=0);\n", "p = 0");
    onnx_check_refused(X "maxpool2d(src=x | dst=y | size=[2, 2], stride=[1, 1], padding=[2, 0, 0, "
                         "0]);\n",
                       "not smaller than the window");
}

TEST_LIST(special_values_and_integers, large_unsigned_numbers_compare_as_such,
          agrees_with_handing_out_elements_for_every_dtype, windows_on_cpu_take_height_before_width,
          what_pool_refuses)
