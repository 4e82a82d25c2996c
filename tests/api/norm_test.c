// SPDX-License-Identifier: Apache-2.0
// The core types batchnorm, layernorm and softmax on ref and cpu: worked out by hand, and by
// another way to compute them.

#include "tests/api/onnx_model.h"

#define ROW(name, dims, data)                                                                      \
    "create(| dst=" name " | dtype=TL_FLOAT, dims=[" dims "], data=[" data "]);\n"
#define INPUT_OF(dtype, dims) "input(| dst=x | dtype=" dtype ", dims=[" dims "]);\n"

// Runs it on `values`, and compares all of y.
static void check(const char *text, const char *target, int in_count, const double *values,
                  int count, const double *expected, double tolerance)
{
    ln_context *ctx = onnx_load(text, target);
    for (int i = 0; i < in_count; i++)
        onnx_set(ctx, "x", i, values[i]);
    CHECK_OK(ln_context_run(ctx));
    CHECK_EQ(ln_tensor_table_find(ctx->tensor_table, "y")->tensor->len, count);
    for (int i = 0; i < count; i++) {
        double got = onnx_get(ctx, "y", i);
        CHECK(isnan(got) == isnan(expected[i]));
        if (!isnan(got))
            CHECK_NEAR(got, expected[i], tolerance * (1 + fabs(expected[i])));
    }
    onnx_close(ctx);
}

#define CHANNELS                                                                                   \
    ROW("s", "3", "1, -2, 0.5")                                                                    \
    ROW("o", "3", "0, 1, -3") ROW("m", "3", "1, 0, 2") ROW("v", "3", "4, 0.25, 1")
#define NORM(epsilon)                                                                              \
    CHANNELS "batchnorm(src=x, scale=s, offset=o, mean=m, var=v | dst=y | epsilon=" epsilon ");\n"

TEST(numbers_worked_out_by_hand)
{
    static const struct {
        const char *why, *text;
        int in_count;
        double values[8];
        int count;
        double expected[8];
        double tolerance;
    } rows[] = {
        {"a batch",
         INPUT_OF("TL_FLOAT", "1, 3, 1, 2") NORM("0"),
         6,
         {3, 5, 1, -1, 2, 4},
         6,
         {1, 2, -3, 5, -3, -2},
         1e-6},
        {"the root of 4 + 5, not 9",
         INPUT_OF("TL_FLOAT", "1, 3") NORM("5"),
         3,
         {3, 0, 2},
         3,
         {2.0 / 3, 1, -3},
         1e-6},
        {"a batch of two, three axes",
         INPUT_OF("TL_FLOAT", "2, 3, 1, 1, 1") NORM("0"),
         6,
         {3, 1, 2, 5, -1, 4},
         6,
         {1, -3, -3, 2, 5, -2},
         1e-6},
        {"softmax is stable",
         INPUT_OF("TL_FLOAT", "2, 3") "softmax(src=x | dst=y | axis=1);",
         6,
         {1000, 1000, -1000, 1, -INFINITY, 1},
         6,
         {0.5, 0.5, 0, 0.5, 0, 0.5},
         1e-7},
        {"softmax without a value is NaN in its row alone",
         INPUT_OF("TL_FLOAT", "4, 2") "softmax(src=x | dst=y | axis=-1);",
         8,
         {NAN, 0, 0, 0, INFINITY, 0, -INFINITY, -INFINITY},
         8,
         {NAN, NAN, 0.5, 0.5, NAN, NAN, NAN, NAN},
         1e-7},
        {"softmax of integers is cut",
         INPUT_OF("TL_INT32", "2") "softmax(src=x | dst=y | axis=0);",
         2,
         {100, 0},
         2,
         {1, 0},
         0},
        {"softmax over all that follows",
         INPUT_OF("TL_FLOAT", "1, 2, 2") "softmax(src=x | dst=y | axis=1, flat=true);",
         4,
         {7, 7, 7, 7},
         4,
         {0.25, 0.25, 0.25, 0.25},
         1e-7},
        {"logarithms",
         INPUT_OF("TL_FLOAT", "1, 2") "softmax(src=x | dst=y | axis=1, log=true);",
         2,
         {800, 800},
         2,
         {-0.69314718056, -0.69314718056},
         1e-6},
        {"rows of two axes",
         INPUT_OF("TL_FLOAT", "1, 2, 2")
             ROW("s", "1", "2") "layernorm(src=x, scale=s | dst=y | axis=1, "
                                "epsilon=0);",
         4,
         {1, 3, 5, 7},
         4,
         {-2.683281573, -0.894427191, 0.894427191, 2.683281573},
         1e-6},
        {"root mean squares",
         INPUT_OF("TL_FLOAT", "1, 2")
             ROW("s", "2", "1, 5") "layernorm(src=x, "
                                   "scale=s | dst=y | centered=false, epsilon=0);",
         2,
         {3, 4},
         2,
         {0.848528137, 5.656854249},
         1e-6},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        printf("%s\n", rows[i].why);
        for (int t = 0; t < 3; t++)
            check(rows[i].text,
                  t == 0   ? AS_READ
                  : t == 1 ? "ref"
                           : "cpu",
                  rows[i].in_count, rows[i].values, rows[i].count, rows[i].expected,
                  rows[i].tolerance);
    }
}

// 1 / sum of exp(x_k - x_i): no maximum, no common denominator.
TEST(softmax_agrees_with_long_double_on_every_axis)
{
    const int dims[] = {3, 4, 5};
    for (int axis = 0; axis < 3; axis++) {
        char text[256];
        snprintf(text, sizeof text,
                 INPUT_OF("TL_FLOAT", "3, 4, 5") "softmax(src=x | dst=y | axis=%d);", axis);
        ln_context *ctx = onnx_load(text, "ref");
        onnx_fill(ctx, 7);
        const float *x = ln_tensor_table_find(ctx->tensor_table, "x")->tensor->data;
        double expected[60];
        for (int i = 0; i < 60; i++) {
            int at[] = {i / 20, i / 5 % 4, i % 5};
            long double sum = 0;
            for (int k = 0; k < dims[axis]; k++) {
                at[axis] = k;
                sum += expl((long double)x[(at[0] * 4 + at[1]) * 5 + at[2]] - (long double)x[i]);
            }
            expected[i] = (double)(1 / sum);
        }
        CHECK_OK(ln_context_run(ctx));
        for (int i = 0; i < 60; i++)
            CHECK_NEAR(onnx_get(ctx, "y", i), expected[i], 6e-8 * expected[i]);
        onnx_close(ctx);
    }
}

TEST(batchnorm_of_normalized_numbers_has_mean_offset_and_deviation_scale)
{
    double x[200], mean[2] = {0}, var[2] = {0};
    test_random random = test_random_start();
    for (int i = 0; i < 200; i++) {
        x[i] = (double)test_random_below(&random, 20480) / 1024 - 10;
        mean[i / 50 % 2] += x[i] / 100;
    }
    for (int i = 0; i < 200; i++)
        var[i / 50 % 2] += pow(x[i] - mean[i / 50 % 2], 2) / 100;
    char text[1024];
    snprintf(
        text, sizeof text,
        INPUT_OF(
            "TL_DOUBLE",
            "2, 2, 5, 10") "create(| dst=s | dtype=TL_DOUBLE, dims=[2], data=[3, 0.1]);\n"
                           "create(| dst=o | dtype=TL_DOUBLE, dims=[2], data=[-1, 7]);\n"
                           "create(| dst=m | dtype=TL_DOUBLE, dims=[2], data=[%.17g, %.17g]);\n"
                           "create(| dst=v | dtype=TL_DOUBLE, dims=[2], data=[%.17g, %.17g]);\n"
                           "batchnorm(src=x, scale=s, offset=o, mean=m, var=v | dst=y | epsilon=1e-20);\n",
        mean[0], mean[1], var[0], var[1]);
    ln_context *ctx = onnx_load(text, "ref");
    for (int i = 0; i < 200; i++)
        onnx_set(ctx, "x", i, x[i]);
    CHECK_OK(ln_context_run(ctx));
    for (int c = 0; c < 2; c++) {
        double sum = 0, squares = 0;
        for (int i = 0; i < 200; i++)
            sum += i / 50 % 2 == c ? onnx_get(ctx, "y", i) : 0;
        for (int i = 0; i < 200; i++)
            squares += i / 50 % 2 == c ? pow(onnx_get(ctx, "y", i) - sum / 100, 2) : 0;
        CHECK_NEAR(sum / 100, c ? 7 : -1, 1e-9);
        CHECK_NEAR(sqrt(squares / 100), c ? 0.1 : 3, 1e-9);
    }
    onnx_close(ctx);
}

TEST(misfits_are_refused)
{
#define X INPUT_OF("TL_FLOAT", "1, 3, 2, 2")
    onnx_check_refused(X "softmax(src=x | dst=y | axis=4);\n", "axis 4 is outside rank 4");
    onnx_check_refused(X "softmax(src=x | dst=y |);\n", "`axis` param");
    onnx_check_refused(X ROW("s", "3", "1, 1, 1") "layernorm(src=x, scale=s | dst=y |);\n",
                       "does not broadcast");
    onnx_check_refused(X ROW("s", "4", "1, 1, 1, 1") "batchnorm(src=x, scale=s, offset=s, mean=s, "
                                                     "var=s | dst=y | epsilon=1);\n",
                       "has 4 elements in input 1, not 3");
    onnx_check_refused(X ROW("s", "3", "1, 1, 1") "batchnorm(src=x, scale=s, offset=s, mean=s, "
                                                  "var=s | dst=y | epsilon=-1);\n",
                       "has an epsilon of -1");
}

// A bias of one number, and one for each line: numpy's (x - mean) / sqrt(var + epsilon) + bias.
TEST(a_bias_of_another_length_than_a_line_is_broadcast)
{
    static const struct {
        const char *bias;
        double expected[6];
    } rows[] = {{ROW("b", "1", "10"), {8.775255, 10, 11.224745, 8.775255, 10, 11.224745}},
                {ROW("b", "2, 1", "10, -4"), {8.775255, 10, 11.224745, -5.224745, -4, -2.775255}},
                {ROW("b", "3", "1, 2, 3"), {-0.224745, 2, 4.224745, -0.224745, 2, 4.224745}}};
    static const char *const targets[] = {"ref", "cpu"};
    for (int i = 0; i < 6; i++) {
        char text[512];
        snprintf(text, sizeof text, "%s%s%s%s", INPUT_OF("TL_FLOAT", "2, 3"),
                 ROW("s", "3", "1, 1, 1"), rows[i / 2].bias,
                 "layernorm(src=x, scale=s, bias=b | dst=y | epsilon=0);\n");
        check(text, targets[i % 2], 6, (const double[]){1, 2, 3, 5, 7, 9}, 6, rows[i / 2].expected,
              1e-6);
    }
}

TEST_LIST(a_bias_of_another_length_than_a_line_is_broadcast, numbers_worked_out_by_hand,
          softmax_agrees_with_long_double_on_every_axis,
          batchnorm_of_normalized_numbers_has_mean_offset_and_deviation_scale, misfits_are_refused)
