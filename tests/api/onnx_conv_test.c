// SPDX-License-Identifier: Apache-2.0
// Conv, ConvTranspose, DeformConv and CausalConvWithState: small cases worked out by hand, ref
// against cpu, and what is refused.

#include "tests/api/onnx_model.h"

#define X(dims) ONNX_INPUT("x", dims)
#define W(dims) ONNX_INPUT("w", dims)
#define B(dims) ONNX_INPUT("b", dims)

static const onnx_case cases[] = {
    {"one axis", X("1, 1, 4") W("1, 1, 2") "Conv(X=x, W=w | Y=y |);\n", 3, {1, 1, 3}, {5, 8, 11}},
    {"a bias",
     X("1, 1, 2") W("2, 1, 1") B("2") "Conv(X=x, W=w, B=b | Y=y |);\n",
     3,
     {1, 2, 2},
     {2, 3, 4, 6}},
    {"groups",
     X("1, 2, 2") W("2, 1, 2") "Conv(X=x, W=w | Y=y | group=2);\n",
     3,
     {1, 2, 1},
     {5, 25}},
    {"stride and padding",
     X("1, 1, 2, 2") W("1, 1, 2, 2") "Conv(X=x, W=w | Y=y | pads=[1, 0, 0, 1], strides=[2, 1]);\n",
     4,
     {1, 1, 1, 2},
     {3 + 2 * 4, 2 * 3}},
    {"same, the odd padding at the end",
     X("1, 1, 3") W("1, 1, 2") "Conv(X=x, W=w | Y=y | auto_pad=SAME_UPPER);\n",
     3,
     {1, 1, 3},
     {5, 8, 3}},
    {"same, the odd padding at the beginning",
     X("1, 1, 3") W("1, 1, 2") "Conv(X=x, W=w | Y=y | auto_pad=SAME_LOWER);\n",
     3,
     {1, 1, 3},
     {2, 5, 8}},
    {"valid: no padding",
     X("1, 1, 3") W("1, 1, 2") "Conv(X=x, W=w | Y=y | auto_pad=VALID);\n",
     3,
     {1, 1, 2},
     {5, 8}},
    {"valid, of an image with a stride",
     X("1, 1, 3, 3") W("1, 1, 2, 2") "Conv(X=x, W=w | Y=y | auto_pad=VALID, strides=[2, 1]);\n",
     4,
     {1, 1, 1, 2},
     {1 + 4 + 12 + 20, 2 + 6 + 15 + 24}},
    {"padding at the end of each axis only",
     X("1, 1, 2, 2") W("1, 1, 2, 2") "Conv(X=x, W=w | Y=y | pads=[0, 0, 1, 1]);\n",
     4,
     {1, 1, 2, 2},
     {30, 2 + 12, 3 + 8, 4}},
    {"padding at the beginning of the first axis of three",
     X("1, 1, 1, 1, 2") W("1, 1, 2, 1, 2") "Conv(X=x, W=w | Y=y | pads=[1, 0, 0, 0, 0, 1]);\n",
     5,
     {1, 1, 1, 1, 2},
     {3 + 8, 6}},
    {"dilation, padded at the end",
     X("1, 1, 4") W("1, 1, 2") "Conv(X=x, W=w | Y=y | dilations=[3], pads=[0, 2]);\n",
     3,
     {1, 1, 3},
     {1 + 8, 2, 3}},
    {"dilation",
     X("1, 1, 5") W("1, 1, 2") "Conv(X=x, W=w | Y=y | dilations=[3]);\n",
     3,
     {1, 1, 2},
     {1 + 8, 2 + 10}},
    {"three axes",
     X("1, 1, 2, 2, 2") W("1, 1, 2, 2, 2") "Conv(X=x, W=w | Y=y |);\n",
     5,
     {1, 1, 1, 1, 1},
     {204}},
    {"no images", X("0, 1, 4") W("1, 1, 2") "Conv(X=x, W=w | Y=y |);\n", 3, {0, 1, 3}, {0}},
    {"no channels",
     X("1, 0, 4") W("1, 0, 2") B("1") "Conv(X=x, W=w, B=b | Y=y |);\n",
     3,
     {1, 1, 3},
     {1, 1, 1}},
    {"an image without columns",
     X("1, 1, 0") W("1, 1, 2") "Conv(X=x, W=w | Y=y |);\n",
     3,
     {1, 1, 0},
     {0}},
    {"fused: addend, then activation",
     X("1, 1, 2") W("1, 1, 1") B("1") ONNX_INPUT(
         "z",
         "1, 1, 2") "ms_FusedConv(X=x, W=w, B=b, Z=z | Y=y | activation=Clip, activation_params=[4, 5]);\n",
     3,
     {1, 1, 2},
     {4, 5}},
    {"transposed",
     X("1, 1, 2") W("1, 1, 3") "ConvTranspose(X=x, W=w | Y=y | strides=[2]);\n",
     3,
     {1, 1, 5},
     {1, 2, 3 + 2, 4, 6}},
    {"transposed, output padding",
     X("1, 1, 2") W("1, 1, 2") "ConvTranspose(X=x, W=w | Y=y | strides=[2], output_padding=[1]);\n",
     3,
     {1, 1, 5},
     {1, 2, 2, 4, 0}},
    {"transposed, output shape cuts the larger half at the beginning",
     X("1, 1, 2") W("1, 1, 3") "ConvTranspose(X=x, W=w | Y=y | strides=[2], output_shape=[4]);\n",
     3,
     {1, 1, 4},
     {2, 5, 4, 6}},
    {"transposed, the same with SAME_UPPER",
     X("1, 1, 2")
         W("1, 1, 3") "ConvTranspose(X=x, W=w | Y=y | strides=[2], auto_pad=SAME_UPPER);\n",
     3,
     {1, 1, 4},
     {1, 2, 5, 4}},
    {"transposed, valid",
     X("1, 1, 2") W("1, 1, 3") "ConvTranspose(X=x, W=w | Y=y | strides=[2], auto_pad=VALID);\n",
     3,
     {1, 1, 5},
     {1, 2, 3 + 2, 4, 6}},
    {"transposed, cut at the end only",
     X("1, 1, 2") W("1, 1, 3") "ConvTranspose(X=x, W=w | Y=y | strides=[2], pads=[0, 2]);\n",
     3,
     {1, 1, 3},
     {1, 2, 5}},
    {"transposed, dilation",
     X("1, 1, 2") W("1, 1, 2") "ConvTranspose(X=x, W=w | Y=y | dilations=[2]);\n",
     3,
     {1, 1, 4},
     {1, 2, 2, 4}},
    {"transposed, groups",
     X("1, 2, 1") W("2, 1, 2") "ConvTranspose(X=x, W=w | Y=y | group=2);\n",
     3,
     {1, 2, 2},
     {1, 2, 6, 8}},
    {"transposed, three axes",
     X("1, 1, 1, 1, 1") W("1, 1, 1, 2, 2") "ConvTranspose(X=x, W=w | Y=y |);\n",
     5,
     {1, 1, 1, 2, 2},
     {1, 2, 3, 4}},
    {"causal",
     X("1, 1, 3") W("1, 1, 2") "CausalConvWithState(input=x, weight=w | output=y |);\n",
     3,
     {1, 1, 3},
     {2, 5, 8}},
    {"causal, with what came before",
     X("1, 1, 3") W("1, 1, 2") ONNX_INPUT(
         "p",
         "1, 1, 1") "CausalConvWithState(input=x, weight=w, past_state=p | output=y, present_state=s |);\n",
     3,
     {1, 1, 3},
     {3, 5, 8}},
    {"causal, the state",
     X("1, 1, 2") W("1, 1, 4") ONNX_INPUT(
         "p",
         "1, 1, 3") "CausalConvWithState(input=x, weight=w, past_state=p | output=o, present_state=y |);\n",
     3,
     {1, 1, 3},
     {3, 1, 2}},
};

TEST(convolutions_give_what_the_definition_says)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        onnx_check_case(&cases[i], AS_READ);
        onnx_check_case(&cases[i], "ref");
        onnx_check_case(&cases[i], "cpu");
    }
}

// Offset 0.5 down on the only tap reads between rows, and zeros below the last one.
TEST(deformed_taps_read_between_elements)
{
    ln_context *ctx =
        onnx_load(X("1, 1, 2, 1") W("1, 1, 1, 1")
                      ONNX_INPUT("d", "1, 2, 2, 1") "DeformConv(X=x, W=w, offset=d | Y=y |);\n",
                  "ref");
    onnx_count(ctx);
    const double offsets[] = {0.5, NAN, 0, 0}; // down for both outputs, then right
    for (int i = 0; i < 4; i++)
        onnx_set(ctx, "d", i, offsets[i]);
    CHECK_OK(ln_context_run(ctx));
    CHECK_NEAR(onnx_get(ctx, "y", 0), 1.5, 1e-6);
    CHECK(isnan(onnx_get(ctx, "y", 1)));
    onnx_set(ctx, "d", 1, INFINITY);
    CHECK_OK(ln_context_run(ctx));
    CHECK_NEAR(onnx_get(ctx, "y", 1), 0, 0);
    onnx_close(ctx);
}

TEST(padding_takes_no_part_in_a_sum)
{
    ln_context *ctx =
        onnx_load(X("1, 1, 2") W("1, 1, 3") "Conv(X=x, W=w | Y=y | pads=[1, 1]);\n", "ref");
    onnx_count(ctx);
    onnx_set(ctx, "w", 0, INFINITY);
    CHECK_OK(ln_context_run(ctx));
    CHECK_NEAR(onnx_get(ctx, "y", 0), 2 + 6, 1e-6);
    CHECK(isinf(onnx_get(ctx, "y", 1)));
    onnx_close(ctx);
}

TEST(narrow_types_are_rounded_once)
{
    ln_context *ctx = onnx_load("input(| dst=x | dtype=TL_FLOAT16, dims=[1, 1, 3]);\n"
                                "input(| dst=w | dtype=TL_FLOAT16, dims=[1, 1, 3]);\n"
                                "Conv(X=x, W=w | Y=y |);\n",
                                "cpu");
    const double ones[] = {1, 1, 1}, terms[] = {2048, 1, 1}; // 2049 alone would round to 2048
    for (int i = 0; i < 3; i++) {
        onnx_set(ctx, "x", i, ones[i]);
        onnx_set(ctx, "w", i, terms[i]);
    }
    CHECK_OK(ln_context_run(ctx));
    CHECK_NEAR(onnx_get(ctx, "y", 0), 2050, 0);
    onnx_close(ctx);
}

TEST(cpu_agrees_with_ref)
{
    static const struct {
        const char *why, *text;
    } models[] = {
        {"3 x 3", X("2, 8, 13, 17") W("12, 8, 3, 3")
                      B("12") "Conv(X=x, W=w, B=b | Y=y | pads=[1, 1, 1, 1]);\n"},
        {"pointwise", X("1, 16, 9, 7") W("20, 16, 1, 1") "Conv(X=x, W=w | Y=y |);\n"},
        {"pointwise with a stride",
         X("1, 16, 9, 7") W("20, 16, 1, 1") "Conv(X=x, W=w | Y=y | strides=[2, 2]);\n"},
        {"depthwise",
         X("1, 6, 20, 20") W(
             "6, 1, 3, 3") "Conv(X=x, W=w | Y=y | group=6, strides=[2, 2], auto_pad=SAME_LOWER);\n"},
        {"groups, dilated, uneven padding",
         X("1, 6, 15, 16") W(
             "4, 3, 2, 3") "Conv(X=x, W=w | Y=y | group=2, dilations=[2, 3], pads=[0, 3, 2, 1]);\n"},
        {"one axis",
         X("2, 5, 40") W("7, 5, 3") "Conv(X=x, W=w | Y=y | pads=[2, 0], strides=[3]);\n"},
        {"three axes",
         X("1, 2, 5, 6, 7") W("3, 2, 2, 3, 2") "Conv(X=x, W=w | Y=y | pads=[1, 0, 1, 0, 1, 1]);\n"},
        {"fused relu",
         X("1, 4, 6, 6") W("5, 4, 3, 3") "ms_FusedConv(X=x, W=w | Y=y | activation=Relu);\n"},
        {"fused sum and relu",
         X("1, 4, 6, 6") W("5, 4, 3, 3") ONNX_INPUT(
             "z", "1, 5, 4, 4") "ms_FusedConv(X=x, W=w, Z=z | Y=y | activation=Relu);\n"},
        {"fused leaky relu",
         X("1, 4, 6, 6") W(
             "5, 4, 3, 3") "ms_FusedConv(X=x, W=w | Y=y | activation=LeakyRelu, activation_params=[0.25]);\n"},
        {"fused clip",
         X("1, 4, 6, 6") W(
             "5, 4, 3, 3") "ms_FusedConv(X=x, W=w | Y=y | activation=Clip, activation_params=[-0.5, 0.75]);\n"},
        {"fused hard sigmoid",
         X("1, 4, 6, 6") W(
             "5, 4, 3, 3") "ms_FusedConv(X=x, W=w | Y=y | activation=HardSigmoid, activation_params=[0.125, 0.25]);\n"},
        {"fused leaky relu, uneven padding",
         X("1, 16, 6, 7") W(
             "20, 16, 3, 3") "ms_FusedConv(X=x, W=w | Y=y | activation=LeakyRelu, activation_params=[0.125], "
                             "pads=[0, 1, 2, 0]);\n"},
        {"three axes, fused leaky relu",
         X("1, 4, 3, 6, 6") W(
             "5, 4, 2, 3, 3") "ms_FusedConv(X=x, W=w | Y=y | activation=LeakyRelu, activation_params=[0.25]);\n"},
        {"three axes, fused sum and clip, uneven padding",
         X("2, 4, 3, 6, 6") W("6, 2, 2, 3, 3") ONNX_INPUT(
             "z",
             "2, 6, 2, 6, 5") "ms_FusedConv(X=x, W=w, Z=z | Y=y | activation=Clip, activation_params=[-0.5, 0.75], "
                              "group=2, pads=[0, 2, 0, 0, 0, 1]);\n"},
        {"fused sigmoid",
         X("1, 4, 6, 6") W("5, 4, 3, 3") "ms_FusedConv(X=x, W=w | Y=y | activation=Sigmoid);\n"},
        {"fused tanh",
         X("1, 4, 6, 6") W("5, 4, 3, 3") "ms_FusedConv(X=x, W=w | Y=y | activation=Tanh);\n"},
        {"transposed",
         X("1, 4, 7, 9") W("4, 3, 3, 2") B(
             "6") "ConvTranspose(X=x, W=w, B=b | Y=y | group=2, strides=[2, 3], pads=[1, 0, 0, 1], "
                  "output_padding=[1, 0]);\n"},
        {"transposed, one axis",
         X("1, 4, 30") W("4, 3, 4") "ConvTranspose(X=x, W=w | Y=y | strides=[2]);\n"},
    };
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        onnx_check_agreement(models[i].why, models[i].text);
}

TEST(what_does_not_fit_is_refused_with_a_reason)
{
    static const struct {
        const char *text, *words;
    } wrong[] = {
        {X("1, 3, 4") W("1, 2, 2") "Conv(X=x, W=w | Y=y |);\n", "3 channels"},
        {X("1, 1, 4") W("1, 1, 2") "Conv(X=x, W=w | Y=y | group=0);\n", "group is 0"},
        {X("1, 1, 4") W("1, 1, 2") "Conv(X=x, W=w | Y=y | strides=[0]);\n", "strides[0] = 0"},
        {X("1, 1, 4") W("1, 1, 2") "Conv(X=x, W=w | Y=y | strides=[1e300]);\n", "strides[0]"},
        {X("1, 1, 4") W("1, 1, 2") "Conv(X=x, W=w | Y=y | strides=[1, 1]);\n",
         "2 elements instead of 1"},
        {X("1, 1, 4") W("1, 1, 2") "Conv(X=x, W=w | Y=y | pads=[-1, 0]);\n", "pads[0] = -1"},
        {X("1, 1, 4") W("1, 1, 2") "Conv(X=x, W=w | Y=y | kernel_shape=[3]);\n",
         "the weights have 2"},
        {X("1, 1, 4") W("1, 1, 2") "Conv(X=x, W=w | Y=y | dilations=[2000000000]);\n",
         "does not fit axis 2"},
        {X("1, 1, 4") W("1, 1, 5") "Conv(X=x, W=w | Y=y |);\n", "does not fit axis 2"},
        {X("1, 1, 4") W("1, 1, 2") "Conv(X=x, W=w | Y=y | auto_pad=SOME);\n",
         "'SOME' is not known"},
        {X("1, 4") W("1, 1, 2") "Conv(X=x, W=w | Y=y |);\n", "no axis after"},
        {X("1, 1, 4") W("1, 1, 2, 2") "Conv(X=x, W=w | Y=y |);\n", "rank 4 for an input of rank 3"},
        {X("1, 1, 4") W("1, 1, 2") B("2") "Conv(X=x, W=w, B=b | Y=y |);\n", "bias"},
        {X("1, 1, 4") W("1, 1, 0") "Conv(X=x, W=w | Y=y |);\n", "no elements on axis 2"},
        {X("1, 1, 4") W("1, 1, 2")
             ONNX_INPUT("z", "1, 1, 4") "ms_FusedConv(X=x, W=w, Z=z | Y=y |);\n",
         "not the shape of the output"},
        {X("1, 1, 4") W("2, 1, 2") "ConvTranspose(X=x, W=w | Y=y |);\n", "weights for 2"},
        {X("1, 1, 4") W("1, 1, 2") "ConvTranspose(X=x, W=w | Y=y | pads=[4, 4]);\n", "axis 2"},
        {X("1, 1, 4") W("1, 1, 2") "ConvTranspose(X=x, W=w | Y=y | strides=[2000000000]);\n",
         "axis 2"},
        {X("1, 1, 4") W("1, 1, 2")
             ONNX_INPUT("d", "1, 1, 3") "DeformConv(X=x, W=w, offset=d | Y=y |);\n",
         "offset does not fit"},
        {X("1, 1, 4") W("1, 2, 2") "CausalConvWithState(input=x, weight=w | output=y |);\n",
         "[1, 2, 2]"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        onnx_check_refused(wrong[i].text, wrong[i].words);
}

TEST(macs_count_products)
{
    ln_context *ctx = onnx_load(
        X("1, 4, 8, 8") W("6, 2, 3, 3") "Conv(X=x, W=w | Y=y | group=2, pads=[1, 1, 1, 1]);\n",
        "ref");
    CHECK_NEAR(ln_context_macs(ctx), 8 * 8 * 6 * 2 * 9, 0);
    onnx_close(ctx);
}

TEST_LIST(convolutions_give_what_the_definition_says, deformed_taps_read_between_elements,
          padding_takes_no_part_in_a_sum, narrow_types_are_rounded_once, cpu_agrees_with_ref,
          what_does_not_fit_is_refused_with_a_reason, macs_count_products)
