// SPDX-License-Identifier: Apache-2.0
// ONNX's operators that work along axes, and its normalisations, where other programs' cases are
// thin.

#include "tests/api/onnx_values.h"

#define S(...)                                                                                     \
    {                                                                                              \
        sizeof((int[]){__VA_ARGS__}) / sizeof(int),                                                \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define SCALAR                                                                                     \
    {                                                                                              \
        0,                                                                                         \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

TEST(what_is_reduced_may_be_nothing)
{
    static const onnx_values cases[] = {
        {"sum",
         "ReduceSum(data=x | reduced=y | keepdims=0);",
         TL_FLOAT,
         S(0, 2),
         {0},
         TL_FLOAT,
         SCALAR,
         {0}},
        {"product",
         "ReduceProd(data=x | reduced=y | axes=[0]);",
         TL_FLOAT,
         S(0, 2),
         {0},
         TL_FLOAT,
         S(1, 2),
         {1, 1}},
        {"mean",
         "ReduceMean(data=x | reduced=y | keepdims=0);",
         TL_FLOAT,
         S(0),
         {0},
         TL_FLOAT,
         SCALAR,
         {NAN}},
        {"largest",
         "ReduceMax(data=x | reduced=y | keepdims=0);",
         TL_FLOAT,
         S(0),
         {0},
         TL_FLOAT,
         SCALAR,
         {-INFINITY}},
        {"largest integer",
         "ReduceMax(data=x | reduced=y | keepdims=0);",
         TL_INT8,
         S(0),
         {0},
         TL_INT8,
         SCALAR,
         {-128}},
        {"smallest bool",
         "ReduceMin(data=x | reduced=y | keepdims=0);",
         TL_BOOL,
         S(0),
         {0},
         TL_BOOL,
         SCALAR,
         {1}},
        {"logarithm of a sum of exponentials",
         "ReduceLogSumExp(data=x | reduced=y | keepdims=0);",
         TL_FLOAT,
         S(0),
         {0},
         TL_FLOAT,
         SCALAR,
         {-INFINITY}},
        {"results may be nothing too",
         "ReduceSum(data=x | reduced=y | axes=[1]);",
         TL_FLOAT,
         S(0, 2),
         {0},
         TL_FLOAT,
         S(0, 1),
         {0}},
    };
    ONNX_CHECK(cases);
}

TEST(reductions_take_axes_as_each_operator_set_gives_them)
{
    static const onnx_values cases[] = {
        {"an input",
         INTS("a", "[2]", "[0, -1]") "ReduceSum(data=x, axes=a | reduced=y | keepdims=0);",
         TL_FLOAT,
         S(2, 2, 2),
         {1, 2, 3, 4, 5, 6, 7, 8},
         TL_FLOAT,
         S(2),
         {14, 22}},
        {"a parameter",
         "ReduceSum(data=x | reduced=y | since=11, axes=[1], keepdims=0);",
         TL_FLOAT,
         S(2, 2),
         {1, 2, 3, 4},
         TL_FLOAT,
         S(2),
         {3, 7}},
        {"the same twice",
         "ReduceSum(data=x | reduced=y | since=11, axes=[1, -1], keepdims=0);",
         TL_FLOAT,
         S(2, 2),
         {1, 2, 3, 4},
         TL_FLOAT,
         S(2),
         {3, 7}},
        {"no axes mean none",
         INTS("a", "[0]",
              "[]") "ReduceSumSquare(data=x, axes=a | reduced=y | noop_with_empty_axes=1);",
         TL_FLOAT,
         S(2),
         {2, -3},
         TL_FLOAT,
         S(2),
         {4, 9}},
        {"a number",
         "ReduceMax(data=x | reduced=y |);",
         TL_FLOAT,
         SCALAR,
         {2},
         TL_FLOAT,
         SCALAR,
         {2}},
        {"integers wrap",
         "ReduceSum(data=x | reduced=y | keepdims=0);",
         TL_INT32,
         S(2),
         {INT32_MAX, 1},
         TL_INT32,
         SCALAR,
         {INT32_MIN}},
        {"magnitudes of integers",
         "ReduceL1(data=x | reduced=y | keepdims=0);",
         TL_INT64,
         S(2),
         {-0x1p53, 2},
         TL_INT64,
         SCALAR,
         {0x1p53 + 2}},
        {"a mean of integers is truncated",
         "ReduceMean(data=x | reduced=y | keepdims=0);",
         TL_INT32,
         S(2),
         {-3, 0},
         TL_INT32,
         SCALAR,
         {-1}},
        {"large exponents",
         "ReduceLogSumExp(data=x | reduced=y | keepdims=0);",
         TL_FLOAT,
         S(2),
         {1000, 1000},
         TL_FLOAT,
         SCALAR,
         {1000.69314718}},
        {"infinite exponents",
         "ReduceLogSumExp(data=x | reduced=y | axes=[1], keepdims=0);",
         TL_FLOAT,
         S(2, 2),
         {INFINITY, 1, -INFINITY, -INFINITY},
         TL_FLOAT,
         S(2),
         {INFINITY, -INFINITY}},
        {"a NaN is the largest",
         "ReduceMax(data=x | reduced=y | keepdims=0);",
         TL_FLOAT,
         S(3),
         {1, NAN, 3},
         TL_FLOAT,
         SCALAR,
         {NAN}},
        {"sums in float16 are rounded once",
         "ReduceSum(data=x | reduced=y | keepdims=0);",
         TL_FLOAT16,
         S(3),
         {2048, 1, 1},
         TL_FLOAT16,
         SCALAR,
         {2050}},
    };
    ONNX_CHECK(cases);
}

TEST(places_and_running_sums)
{
    static const onnx_values cases[] = {
        {"the first of equals",
         "ArgMax(data=x | reduced=y | axis=1);",
         TL_FLOAT,
         S(1, 3),
         {1, 2, 2},
         TL_INT64,
         S(1, 1),
         {1}},
        {"the last of equals",
         "ArgMax(data=x | reduced=y | axis=1, select_last_index=1, keepdims=0);",
         TL_FLOAT,
         S(1, 3),
         {1, 2, 2},
         TL_INT64,
         S(1),
         {2}},
        {"along the first axis",
         "ArgMin(data=x | reduced=y | keepdims=0);",
         TL_INT8,
         S(2, 2),
         {1, 2, 0, 3},
         TL_INT64,
         S(2),
         {1, 0}},
        {"the place of a NaN",
         "ArgMin(data=x | reduced=y | keepdims=0);",
         TL_FLOAT,
         S(3),
         {1, NAN, 0},
         TL_INT64,
         SCALAR,
         {1}},
        {"exclusive and reverse",
         INTS("a", "[]", "[-1]") "CumSum(x=x, axis=a | y=y | exclusive=1, reverse=1);",
         TL_FLOAT,
         S(2, 2),
         {1, 2, 3, 4},
         TL_FLOAT,
         S(2, 2),
         {2, 0, 4, 0}},
        {"products of integers wrap",
         INTS("a", "[]", "[0]") "CumProd(x=x, axis=a | y=y |);",
         TL_INT32,
         S(3),
         {65536, 65536, 5},
         TL_INT32,
         S(3),
         {65536, 0, 0}},
    };
    ONNX_CHECK(cases);
}

TEST(softmax_takes_lines_as_each_operator_set_means_them)
{
    static const onnx_values cases[] = {
        {"one axis",
         "Softmax(input=x | output=y | axis=1);",
         TL_FLOAT,
         S(1, 2, 2),
         {5, 6, 5, 6},
         TL_FLOAT,
         S(1, 2, 2),
         {0.5, 0.5, 0.5, 0.5}},
        {"all axes from one on",
         "Softmax(input=x | output=y | since=11);",
         TL_FLOAT,
         S(1, 2, 2),
         {5, 5, 5, 5},
         TL_FLOAT,
         S(1, 2, 2),
         {0.25, 0.25, 0.25, 0.25}},
        {"quantized, one axis from opset 13 on",
         FLOATS("s", "[1]", "[1]") FLOATS(
             "t", "[1]",
             "[0.00390625]") "ms_QLinearSoftmax(X=x, X_scale=s, Y_scale=t | Y=y | axis=1, opset=13);",
         TL_UINT8,
         S(1, 2, 2),
         {5, 5, 5, 5},
         TL_UINT8,
         S(1, 2, 2),
         {128, 128, 128, 128}},
        {"quantized, all axes from one on before",
         FLOATS("s", "[1]", "[1]") FLOATS(
             "t", "[1]",
             "[0.00390625]") "ms_QLinearSoftmax(X=x, X_scale=s, Y_scale=t | Y=y | axis=1, opset=12);",
         TL_UINT8,
         S(1, 2, 2),
         {5, 5, 5, 5},
         TL_UINT8,
         S(1, 2, 2),
         {64, 64, 64, 64}},
        {"large numbers",
         "LogSoftmax(input=x | output=y |);",
         TL_FLOAT,
         S(2),
         {1e30, 0},
         TL_FLOAT,
         S(2),
         {0, -1e30}},
        {"the first of equals",
         "Hardmax(input=x | output=y |);",
         TL_FLOAT,
         S(3),
         {1, 1, 0},
         TL_FLOAT,
         S(3),
         {1, 0, 0}},
        {"a line of zeros",
         "LpNormalization(input=x | output=y |);",
         TL_FLOAT,
         S(2, 2),
         {0, 0, 3, 4},
         TL_FLOAT,
         S(2, 2),
         {0, 0, 0.6, 0.8}},
        {"no elements",
         "Softmax(input=x | output=y |);",
         TL_FLOAT,
         S(2, 0),
         {0},
         TL_FLOAT,
         S(2, 0),
         {0}},
    };
    ONNX_CHECK(cases);
}

TEST(normalisations_of_small_tensors)
{
    static const onnx_values cases[] = {
        {"a layer of two",
         FLOATS("s", "[2]", "[1, 2]") FLOATS(
             "b", "[2]", "[0, 10]") "LayerNormalization(X=x, Scale=s, B=b | Y=y | epsilon=0);",
         TL_FLOAT,
         S(2, 2),
         {1, 3, 5, 9},
         TL_FLOAT,
         S(2, 2),
         {-1, 12, -1, 12}},
        {"its mean",
         FLOATS("s", "[]", "[1]") "LayerNormalization(X=x, Scale=s | Y=z, Mean=y |);",
         TL_FLOAT16,
         S(1, 2),
         {1, 3},
         TL_FLOAT,
         S(1, 1),
         {2}},
        {"root mean square",
         FLOATS("s", "[2]", "[1, 1]") "RMSNormalization(X=x, scale=s | Y=y | epsilon=0);",
         TL_FLOAT,
         S(1, 2),
         {1, 7},
         TL_FLOAT,
         S(1, 2),
         {0.2, 1.4}},
        {"groups",
         FLOATS("s", "[2]", "[1, 10]") FLOATS(
             "b", "[2]",
             "[0, 0]") "GroupNormalization(X=x, scale=s, bias=b | Y=y | num_groups=1, epsilon=0);",
         TL_FLOAT,
         S(1, 2, 1),
         {1, 3},
         TL_FLOAT,
         S(1, 2, 1),
         {-1, 10}},
        {"instances without places",
         FLOATS("s", "[2]", "[1, 1]") "InstanceNormalization(input=x, scale=s, B=s | output=y |);",
         TL_FLOAT,
         S(1, 2, 0),
         {0},
         TL_FLOAT,
         S(1, 2, 0),
         {0}},
        {"a batch in training",
         FLOATS("s", "[1]", "[1]") FLOATS(
             "m", "[1]",
             "[10]") "BatchNormalization(X=x, scale=s, B=s, input_mean=m, input_var=m | Y=z, running_mean=y | "
                     "training_mode=1, momentum=0.5);",
         TL_FLOAT,
         S(2, 1),
         {1, 3},
         TL_FLOAT,
         S(1),
         {6}},
        {"a mean for each place",
         FLOATS("s", "[2]", "[1, 1]") FLOATS(
             "m", "[2]",
             "[0, 10]") "BatchNormalization(X=x, scale=s, B=m, input_mean=m, input_var=s | Y=y | "
                        "since=7, spatial=0, epsilon=0);",
         TL_FLOAT,
         S(1, 1, 2),
         {5, 12},
         TL_FLOAT,
         S(1, 1, 2),
         {5, 12}},
        {"neighbouring channels",
         "LRN(X=x | Y=y | size=2, alpha=2, beta=1, bias=1);",
         TL_FLOAT,
         S(1, 3, 1),
         {1, 2, 3},
         TL_FLOAT,
         S(1, 3, 1),
         {1.0 / 6, 2.0 / 14, 0.3}},
        {"skip",
         FLOATS(
             "s", "[2]",
             "[1, 1]") "ms_SkipLayerNormalization(input=x, skip=x, gamma=s, bias=s | output=z, input_skip_bias_sum=y |);",
         TL_FLOAT,
         S(1, 1, 2),
         {1, 3},
         TL_FLOAT,
         S(1, 1, 2),
         {3, 7}},
    };
    ONNX_CHECK(cases);
}

TEST(losses_leave_out_what_is_ignored)
{
    static const onnx_values cases[] = {
        {"one of two",
         INTS("t", "[2]",
              "[1, -1]") "NegativeLogLikelihoodLoss(input=x, target=t | loss=y | ignore_index=-1);",
         TL_FLOAT,
         S(2, 2),
         {1, 2, 3, 4},
         TL_FLOAT,
         SCALAR,
         {-2}},
        {"weights",
         INTS("t", "[2]", "[1, 0]")
             FLOATS("w", "[2]",
                    "[1, 3]") "NegativeLogLikelihoodLoss(input=x, target=t, weight=w | loss=y |);",
         TL_FLOAT,
         S(2, 2),
         {1, 2, 3, 4},
         TL_FLOAT,
         SCALAR,
         {-2.25}},
        {"all of them",
         INTS(
             "t", "[1]",
             "[0]") "SoftmaxCrossEntropyLoss(scores=x, labels=t | output=y | ignore_index=0, reduction=sum);",
         TL_FLOAT,
         S(1, 2),
         {1, 2},
         TL_FLOAT,
         SCALAR,
         {0}},
    };
    ONNX_CHECK(cases);
}

TEST(random_numbers_are_those_of_the_seed)
{
    static const onnx_values cases[] = {
        // numpy.random.RandomState(1)
        {"uniform",
         "RandomUniformLike(input=x | output=y | seed=1);",
         TL_DOUBLE,
         S(3),
         {0},
         TL_DOUBLE,
         S(3),
         {0.417022004702574, 0.7203244934421581, 0.00011437481734488664}},
        {"normal",
         "RandomNormalLike(input=x | output=y | seed=1, mean=1, scale=2);",
         TL_DOUBLE,
         S(3),
         {0},
         TL_DOUBLE,
         S(3),
         {4.248690727326483, -0.22351282730015076, -0.05634350452691139}},
        {"certain outcomes",
         "Bernoulli(input=x | output=y | dtype=7);",
         TL_FLOAT,
         S(4),
         {0, 1, 0, 1},
         TL_INT64,
         S(4),
         {0, 1, 0, 1}},
        {"one outcome",
         "Multinomial(input=x | output=y | sample_size=3);",
         TL_FLOAT,
         S(1, 3),
         {-1000, 5, -1000},
         TL_INT32,
         S(1, 3),
         {1, 1, 1}},
    };
    ONNX_CHECK(cases);
}

TEST(axes_shapes_and_labels_that_do_not_fit_are_refused)
{
    static const onnx_failure cases[] = {
        {"axis", "ReduceSum(data=x | reduced=y | axes=[2]);", TL_FLOAT, S(2, 2), "axes"},
        {"axis of an input", INTS("a", "[1]", "[-3]") "ReduceSum(data=x, axes=a | reduced=y |);",
         TL_FLOAT, S(2, 2), "axes"},
        {"no element", "ArgMax(data=x | reduced=y |);", TL_FLOAT, S(0, 2), "no element"},
        {"axis of a running sum", INTS("a", "[]", "[7]") "CumSum(x=x, axis=a | y=y |);", TL_FLOAT,
         S(2), "axis"},
        {"norm", "LpNormalization(input=x | output=y | p=3);", TL_FLOAT, S(2), "`p`"},
        {"label",
         INTS("t", "[1]", "[2]") "NegativeLogLikelihoodLoss(input=x, target=t | loss=y |);",
         TL_FLOAT, S(1, 2), "label"},
        {"negative label",
         INTS("t", "[1]", "[-1]") "SoftmaxCrossEntropyLoss(scores=x, labels=t | output=y |);",
         TL_FLOAT, S(1, 2), "label"},
        {"reduction",
         INTS("t", "[1]",
              "[0]") "NegativeLogLikelihoodLoss(input=x, target=t | loss=y | reduction=median);",
         TL_FLOAT, S(1, 2), "reduction"},
        {"groups",
         FLOATS("s", "[3]", "[1]") "GroupNormalization(X=x, scale=s, bias=s | Y=y | num_groups=2);",
         TL_FLOAT, S(1, 3), "groups"},
        {"channels",
         FLOATS("s", "[2]",
                "[1]") "BatchNormalization(X=x, scale=s, B=s, input_mean=s, input_var=s | Y=y |);",
         TL_FLOAT, S(1, 3), "elements"},
        {"size", "LRN(X=x | Y=y | size=0);", TL_FLOAT, S(1, 3), "size"},
        {"a bias of another rank",
         FLOATS("g", "[2]", "[1]") FLOATS(
             "b", "[1, 2, 1]",
             "[1]") "ms_SkipSimplifiedLayerNormalization(input=x, skip=x, gamma=g, bias=b | output=y |);",
         TL_FLOAT, S(1, 4, 2), "rank 3 in input 3"},
        {"a gamma of another rank",
         FLOATS("g", "[2, 1]",
                "[1]") "ms_SkipLayerNormalization(input=x, skip=x, gamma=g | output=y |);",
         TL_FLOAT, S(4, 2), "rank 2 in input 2"},
        {"shape", "RandomUniform(| output=y | shape=[100000, 100000]);", TL_FLOAT, S(1), "Random"},
        {"a type without numbers", "RandomUniform(| output=y | shape=[1], dtype=8);", TL_FLOAT,
         S(1), "dtype"},
        {"negative shape", "RandomUniform(| output=y | shape=[-1]);", TL_FLOAT, S(1), "Random"},
        {"word",
         "create(| dst=i | dtype=TL_INT32, dims=[1, 1], data=[9]);\n" FLOATS(
             "g", "[2]",
             "[1]") "ms_EmbedLayerNormalization(input_ids=i, word_embedding=x, position_embedding=x, gamma=g, "
                    "beta=g | output=y |);",
         TL_FLOAT, S(2, 2), "index 9 at 0 is outside 2 rows"},
        {"a word from the end",
         "create(| dst=i | dtype=TL_INT32, dims=[1, 1], data=[-1]);\n" FLOATS(
             "g", "[2]",
             "[1]") "ms_EmbedLayerNormalization(input_ids=i, word_embedding=x, position_embedding=x, gamma=g, "
                    "beta=g | output=y |);",
         TL_FLOAT, S(2, 2), "index -1 at 0 is outside 2 rows"},
    };
    ONNX_CHECK_FAILURES(cases);
}

// numpy: argmax of where(isnan(x), -inf, x) with nan_last, of where(isnan(x), inf, x) without it;
// argmin of where(isnan(x), inf, x). The value is that of x there.
TEST(the_first_of_an_order_with_nan)
{
    static const float x[] = {1, NAN, 3, 2, NAN, NAN, -5, -1, NAN, NAN, NAN, NAN};
    static const struct {
        int is_largest, is_nan_last;
        int64_t positions[3];
        double values[3];
    } orders[] = {{1, 0, {1, 0, 0}, {NAN, NAN, NAN}},
                  {1, 1, {2, 3, 0}, {3, -1, NAN}},
                  {0, 0, {0, 2, 0}, {1, -5, NAN}},
                  {0, 1, {0, 2, 0}, {1, -5, NAN}}};
    CHECK_OK(ln_arch_init());
    for (int i = 0; i < 8; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "input(| dst=x | dtype=TL_FLOAT, dims=[3, 4]);\n"
                 "topk(src=x | dst=y, index=p | k=1, largest=%d, nan_last=%s);\n",
                 orders[i / 2].is_largest, orders[i / 2].is_nan_last ? "true" : "false");
        ln_context *ctx = load_text(text, i % 2 ? "cpu" : "ref");
        CHECK_OK(ln_context_set_data(ctx, "x", x));
        CHECK_OK(ln_context_run(ctx));
        float y[3];
        int64_t positions[3];
        CHECK_OK(ln_context_get_data_n(ctx, "y", y, sizeof y));
        CHECK_OK(ln_context_get_data_n(ctx, "p", positions, sizeof positions));
        for (int row = 0; row < 3; row++) {
            CHECK_EQ(positions[row], orders[i / 2].positions[row]);
            CHECK_NEAR(y[row], orders[i / 2].values[row], 0);
        }
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// The first axis of three: values are in columns.
TEST(the_first_of_each_column_is_its_own)
{
    static const float x[12] = {5, 1, 7, 2, 0, 3, 6, 1, 9, 8, 4, 2};
    static const int64_t positions[4] = {2, 2, 0, 0};
    static const float values[4] = {9, 8, 7, 2}, smallest[4] = {0, 1, 4, 1};
    CHECK_OK(ln_arch_init());
    for (int i = 0; i < 4; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "input(| dst=x | dtype=TL_FLOAT, dims=[3, 4]);\n"
                 "topk(src=x | dst=y, index=p | axis=0, k=1, largest=%d);\n",
                 i < 2);
        ln_context *ctx = load_text(text, i % 2 ? "cpu" : "ref");
        CHECK_OK(ln_context_set_data(ctx, "x", x));
        CHECK_OK(ln_context_run(ctx));
        float y[4];
        int64_t p[4];
        CHECK_OK(ln_context_get_data_n(ctx, "y", y, sizeof y));
        CHECK_OK(ln_context_get_data_n(ctx, "p", p, sizeof p));
        CHECK_MEM_EQ(y, i < 2 ? values : smallest, sizeof y);
        if (i < 2)
            CHECK_MEM_EQ(p, positions, sizeof p);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

TEST_LIST(the_first_of_each_column_is_its_own, what_is_reduced_may_be_nothing,
          reductions_take_axes_as_each_operator_set_gives_them, places_and_running_sums,
          softmax_takes_lines_as_each_operator_set_means_them, normalisations_of_small_tensors,
          losses_leave_out_what_is_ignored, random_numbers_are_those_of_the_seed,
          the_first_of_an_order_with_nan, axes_shapes_and_labels_that_do_not_fit_are_refused)
