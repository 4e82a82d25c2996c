// SPDX-License-Identifier: Apache-2.0
// Poolings of ONNX: small cases worked out by hand, ref against cpu, and what is refused.

#include "tests/api/onnx_model.h"

#define X(dims) ONNX_INPUT("x", dims)

static const onnx_case cases[] = {
    {"maxima",
     X("1, 1, 2, 4") "MaxPool(X=x | Y=y | kernel_shape=[2, 2], strides=[2, 2]);\n",
     4,
     {1, 1, 1, 2},
     {6, 8}},
    {"a last window beyond the input",
     X("1, 1, 5") "MaxPool(X=x | Y=y | kernel_shape=[2], strides=[2], ceil_mode=1);\n",
     3,
     {1, 1, 3},
     {2, 4, 5}},
    {"no window begins in the padding behind",
     X("1, 1, 2") "MaxPool(X=x | Y=y | kernel_shape=[1], strides=[2], ceil_mode=1);\n",
     3,
     {1, 1, 1},
     {1}},
    {"dilation",
     X("1, 1, 5") "MaxPool(X=x | Y=y | kernel_shape=[2], dilations=[3]);\n",
     3,
     {1, 1, 2},
     {4, 5}},
    {"places count all of the tensor",
     X("2, 1, 3") "MaxPool(X=x | Y=v, Indices=y | kernel_shape=[2]);\n",
     3,
     {2, 1, 2},
     {1, 2, 4, 5}},
    {"places with the first axis fastest",
     X("1, 2, 2, 3") "MaxPool(X=x | Y=v, Indices=y | kernel_shape=[2, 2], storage_order=1);\n",
     4,
     {1, 2, 1, 2},
     {3, 5, 9, 11}},
    {"means",
     X("1, 1, 4") "AveragePool(X=x | Y=y | kernel_shape=[2]);\n",
     3,
     {1, 1, 3},
     {1.5, 2.5, 3.5}},
    {"padding does not count",
     X("1, 1, 2") "AveragePool(X=x | Y=y | kernel_shape=[2], pads=[1, 1]);\n",
     3,
     {1, 1, 3},
     {1, 1.5, 2}},
    {"padding counts",
     X("1, 1, 2") "AveragePool(X=x | Y=y | kernel_shape=[2], pads=[1, 1], count_include_pad=1);\n",
     3,
     {1, 1, 3},
     {0.5, 1.5, 1}},
    {"valid: no padding, and what is left over is left out",
     X("1, 1, 4") "MaxPool(X=x | Y=y | kernel_shape=[3], strides=[1], auto_pad=VALID);\n",
     3,
     {1, 1, 2},
     {3, 4}},
    {"valid, of an image",
     X("1, 1, 3, 3") "AveragePool(X=x | Y=y | kernel_shape=[2, 2], auto_pad=VALID);\n",
     4,
     {1, 1, 2, 2},
     {3, 4, 6, 7}},
    {"valid, the norm",
     X("1, 1, 3") "LpPool(X=x | Y=y | kernel_shape=[2], p=1, auto_pad=VALID);\n",
     3,
     {1, 1, 2},
     {3, 5}},
    {"same, the odd padding at the beginning",
     X("1, 1, 4") "MaxPool(X=x | Y=y | kernel_shape=[2], strides=[1], auto_pad=SAME_LOWER);\n",
     3,
     {1, 1, 4},
     {1, 2, 3, 4}},
    {"padding at the end of each axis only",
     X("1, 1, 2, 3") "MaxPool(X=x | Y=y | kernel_shape=[2, 2], pads=[0, 0, 1, 1]);\n",
     4,
     {1, 1, 2, 3},
     {5, 6, 6, 5, 6, 6}},
    {"padding at the beginning of one axis and the end of the other",
     X("1, 1, 2, 2") "AveragePool(X=x | Y=y | kernel_shape=[2, 2], pads=[1, 0, 0, 1], count_include_pad=1);\n",
     4,
     {1, 1, 2, 2},
     {0.75, 0.5, 2.5, 1.5}},
    {"the norm, padded at the end",
     X("1, 1, 2") "LpPool(X=x | Y=y | kernel_shape=[2], p=1, pads=[0, 1]);\n",
     3,
     {1, 1, 2},
     {3, 2}},
    {"a last window that begins before the padding at the end",
     X("1, 1, 4") "MaxPool(X=x | Y=y | kernel_shape=[3], strides=[2], pads=[0, 1], ceil_mode=1);\n",
     3,
     {1, 1, 2},
     {3, 4}},
    {"ceil_mode, dilation and a stride",
     X("1, 1, 5") "MaxPool(X=x | Y=y | kernel_shape=[2], dilations=[2], strides=[3], ceil_mode=1);\n",
     3,
     {1, 1, 2},
     {3, 4}},
    {"what ceil_mode adds does not count",
     X("1, 1, 3") "AveragePool(X=x | Y=y | kernel_shape=[2], strides=[2], ceil_mode=1, count_include_pad=1);\n",
     3,
     {1, 1, 2},
     {1.5, 3}},
    {"same, and dilation",
     X("1, 1, 3") "AveragePool(X=x | Y=y | kernel_shape=[2], dilations=[2], auto_pad=SAME_UPPER);\n",
     3,
     {1, 1, 3},
     {2, 2, 2}},
    {"nothing but padding",
     X("1, 1, 1") "AveragePool(X=x | Y=y | kernel_shape=[1], pads=[1, 0]);\n",
     3,
     {1, 1, 2},
     {NAN, 1}},
    {"norm",
     X("1, 1, 2, 2") "LpPool(X=x | Y=y | kernel_shape=[2, 2]);\n",
     4,
     {1, 1, 1, 1},
     {5.477225575}},
    {"1-norm", X("1, 1, 3") "LpPool(X=x | Y=y | kernel_shape=[2], p=1);\n", 3, {1, 1, 2}, {3, 5}},
    {"3-norm",
     X("1, 1, 2") "LpPool(X=x | Y=y | kernel_shape=[2], p=3);\n",
     3,
     {1, 1, 1},
     {2.080083823}},
    {"mean of all", X("1, 2, 3") "GlobalAveragePool(X=x | Y=y |);\n", 3, {1, 2, 1}, {2, 5}},
    {"mean of nothing", X("1, 2, 0") "GlobalAveragePool(X=x | Y=y |);\n", 3, {1, 2, 1}, {NAN, NAN}},
    {"maximum of all",
     X("1, 2, 1, 3, 1") "GlobalMaxPool(X=x | Y=y |);\n",
     5,
     {1, 2, 1, 1, 1},
     {3, 6}},
    {"maximum of nothing", X("1, 1, 0") "GlobalMaxPool(X=x | Y=y |);\n", 3, {1, 1, 1}, {-INFINITY}},
    {"norm of all", X("1, 1, 2") "GlobalLpPool(X=x | Y=y |);\n", 3, {1, 1, 1}, {2.236067977}},
    {"no images", X("0, 1, 4") "MaxPool(X=x | Y=y | kernel_shape=[2]);\n", 3, {0, 1, 3}, {0}},
};

TEST(pools_give_what_the_definition_says)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        onnx_check_case(&cases[i], AS_READ);
        onnx_check_case(&cases[i], "ref");
        onnx_check_case(&cases[i], "cpu");
    }
}

TEST(a_window_with_nan_gives_nan)
{
    const char *const targets[] = {"ref", "cpu"};
    for (int t = 0; t < 2; t++) {
        ln_context *ctx =
            onnx_load(X("1, 1, 4") "MaxPool(X=x | Y=y | kernel_shape=[2]);\n", targets[t]);
        onnx_count(ctx);
        onnx_set(ctx, "x", 0, NAN);
        CHECK_OK(ln_context_run(ctx));
        CHECK(isnan(onnx_get(ctx, "y", 0)));
        CHECK_NEAR(onnx_get(ctx, "y", 1), 3, 0);
        onnx_close(ctx);
    }
}

TEST(maxima_of_bytes_are_bytes)
{
    ln_context *ctx = onnx_load("input(| dst=x | dtype=TL_INT8, dims=[1, 1, 3]);\n"
                                "MaxPool(X=x | Y=y | kernel_shape=[2]);\n",
                                "cpu");
    const double values[] = {-128, -100, 7};
    for (int i = 0; i < 3; i++)
        onnx_set(ctx, "x", i, values[i]);
    CHECK_OK(ln_context_run(ctx));
    CHECK_EQ(ln_tensor_table_find(ctx->tensor_table, "y")->tensor->dtype, TL_INT8);
    CHECK_NEAR(onnx_get(ctx, "y", 0), -100, 0);
    CHECK_NEAR(onnx_get(ctx, "y", 1), 7, 0);
    onnx_close(ctx);
}

#define UNPOOL                                                                                     \
    ONNX_INPUT("x", "1, 1, 2")                                                                     \
    ONNX_INT64("i", "1, 1, 2") "MaxUnpool(X=x, I=i | output=y | kernel_shape=[2], strides=[2]);\n"

TEST(maxima_go_back_to_their_places)
{
    ln_context *ctx = onnx_load(UNPOOL, "ref");
    onnx_count(ctx);
    onnx_set(ctx, "i", 0, 1);
    onnx_set(ctx, "i", 1, 3);
    CHECK_OK(ln_context_run(ctx));
    const double expected[] = {0, 1, 0, 2};
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(onnx_get(ctx, "y", i), expected[i], 0);
    const double wrong[] = {-1, 4, 1e18};
    for (int i = 0; i < 3; i++) {
        onnx_set(ctx, "i", 1, wrong[i]);
        CHECK_FAILS(ln_context_run(ctx), LN_INVALID);
        CHECK_MESSAGE("of element 1 is outside");
    }
    onnx_close(ctx);
}

TEST(cpu_agrees_with_ref)
{
    static const struct {
        const char *why, *text;
    } models[] = {
        {"maxima",
         X("2, 3, 17, 15") "MaxPool(X=x | Y=y | kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1]);\n"},
        {"maxima, ceil",
         X("1, 3, 16, 16") "MaxPool(X=x | Y=y | kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1);\n"},
        {"maxima, one axis", X("1, 3, 50") "MaxPool(X=x | Y=y | kernel_shape=[4], strides=[3]);\n"},
        {"maxima, three axes", X("1, 3, 5, 6, 7") "MaxPool(X=x | Y=y | kernel_shape=[2, 2, 2]);\n"},
        {"maxima, three axes, padded",
         X("2, 2, 5, 6, 7") "MaxPool(X=x | Y=y | kernel_shape=[3, 2, 3], strides=[2, 1, 2], pads=[1, 0, 1, 1, 1, 0]);\n"},
        {"means of planes, three axes",
         X("2, 2, 5, 6, 7") "AveragePool(X=x | Y=y | kernel_shape=[1, 2, 3], strides=[1, 2, 1]);\n"},
        {"means, three axes",
         X("2, 2, 5, 6, 7") "AveragePool(X=x | Y=y | kernel_shape=[2, 2, 3]);\n"},
        {"maxima, dilated",
         X("1, 3, 9, 9") "MaxPool(X=x | Y=y | kernel_shape=[2, 2], dilations=[2, 3]);\n"},
        {"means",
         X("1, 3, 9, 9") "AveragePool(X=x | Y=y | kernel_shape=[3, 3], auto_pad=SAME_UPPER);\n"},
        {"means, padding counts",
         X("1, 3, 9, 9") "AveragePool(X=x | Y=y | kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1);\n"},
        {"means, no padding to count",
         X("1, 3, 9, 9") "AveragePool(X=x | Y=y | kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1, count_include_pad=1);\n"},
        {"mean of all", X("2, 5, 7, 9") "GlobalAveragePool(X=x | Y=y |);\n"},
        {"mean of all, one axis", X("2, 5, 70") "GlobalAveragePool(X=x | Y=y |);\n"},
        {"maximum of all, three axes", X("2, 5, 3, 4, 5") "GlobalMaxPool(X=x | Y=y |);\n"},
    };
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        onnx_check_agreement(models[i].why, models[i].text);
}

TEST(what_does_not_fit_is_refused_with_a_reason)
{
    static const struct {
        const char *text, *words;
    } wrong[] = {
        {X("1, 1, 4") "MaxPool(X=x | Y=y |);\n", "kernel_shape"},
        {X("1, 1, 4") "MaxPool(X=x | Y=y | kernel_shape=[0]);\n", "kernel_shape[0] = 0"},
        {X("1, 1, 4") "MaxPool(X=x | Y=y | kernel_shape=[2, 2]);\n", "2 elements instead of 1"},
        {X("1, 1, 4") "MaxPool(X=x | Y=y | kernel_shape=[5]);\n", "does not fit axis 2"},
        {X("4") "GlobalMaxPool(X=x | Y=y |);\n", "no axis after"},
        {X("1, 1, 1") "LpPool(X=x | Y=y | kernel_shape=[1], pads=[2000000000, 2000000000]);\n",
         "axis 2"},
        {ONNX_INPUT("x", "1, 1, 2")
             ONNX_INT64("i", "1, 1, 3") "MaxUnpool(X=x, I=i | output=y | kernel_shape=[2]);\n",
         "different shapes"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        onnx_check_refused(wrong[i].text, wrong[i].words);
}

// The positions are those in an image of 2 x 4, whatever the output is.
TEST(maxima_go_to_their_rows_in_images_of_another_size)
{
    static const struct {
        const char *shape;
        int len, first, second; // where 1 and 6 are
    } rows[] = {{"2, 4", 8, 1, 6}, {"3, 4", 12, 1, 6}, {"2, 5", 10, 1, 7}, {"2, 3", 6, 1, 5}};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        char text[512];
        snprintf(
            text, sizeof text,
            ONNX_INPUT("x", "1, 1, 1, 2") ONNX_INT64(
                "i",
                "1, 1, 1, 2") "create(| dst=o | dtype=TL_INT64, dims=[4], data=[1, 1, %s]);\n"
                              "MaxUnpool(X=x, I=i, output_shape=o | output=y | kernel_shape=[2, 2], "
                              "strides=[2, 2]);\n",
            rows[r].shape);
        ln_context *ctx = onnx_load(text, "ref");
        onnx_count(ctx);
        onnx_set(ctx, "i", 0, 1);
        onnx_set(ctx, "i", 1, 6);
        CHECK_OK(ln_context_run(ctx));
        for (int i = 0; i < rows[r].len; i++)
            CHECK_NEAR(onnx_get(ctx, "y", i), (i == rows[r].first) + 2 * (i == rows[r].second), 0);
        onnx_close(ctx);
    }
}

TEST_LIST(pools_give_what_the_definition_says, a_window_with_nan_gives_nan,
          maxima_of_bytes_are_bytes, maxima_go_back_to_their_places,
          maxima_go_to_their_rows_in_images_of_another_size, cpu_agrees_with_ref,
          what_does_not_fit_is_refused_with_a_reason)
