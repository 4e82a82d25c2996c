// SPDX-License-Identifier: Apache-2.0
// Parameters that are integers: a number with a fraction is refused, in every language of models.

#include "tests/api/onnx_model.h"

#define X "input(| dst=x | dtype=TL_FLOAT, dims=[1, 2, 8, 8]);\n"
#define W                                                                                          \
    "create(| dst=w | dtype=TL_FLOAT, dims=[2, 2, 3, 3], ran=[-1, 1], data=[0], from_file=false);\n"
#define SCALAR(p) "param '" p "' should be an integer, but is "
#define ARRAY(p)  "param '" p "' should hold integers, but its element "

TEST(a_number_with_a_fraction_is_no_integer)
{
    // clang-format off
    static const struct {
        const char *text, *words;
    } rows[] = {
        {X "Softmax(input=x | output=y | axis=0.5);\n", "`Softmax0` " SCALAR("axis") "0.5"},
        {X "softmax(src=x | dst=y | axis=1.25);\n", "`softmax0` " SCALAR("axis") "1.25"},
        {X "Flatten(input=x | output=y | axis=-0.5);\n", SCALAR("axis") "-0.5"},
        {X "Concat(inputs1=x, inputs2=x | concat_result=y | axis=1e-9);\n", SCALAR("axis") "1e-09"},
        {X "Gemm(A=x, B=x | Y=y | transA=0.5);\n", SCALAR("transA") "0.5"},
        {X "ReduceSum(data=x | reduced=y | keepdims=0.999, since=1);\n", SCALAR("keepdims") "0.999"},
        {X "ReduceSum(data=x | reduced=y | axes=[1, 2.5], since=1);\n", ARRAY("axes") "1 is 2.5"},
        {X "reduce(src=x | dst=y | kind=sum, axes=[1.5]);\n", ARRAY("axes") "0 is 1.5"},
        {X "pool(src=x | dst=y | kind=max, size=[2, 2], stride=[1, 1.5]);\n", ARRAY("stride") "1 is 1.5"},
        {X "MaxPool(X=x | Y=y | kernel_shape=[2, 2], strides=[1.5, 1]);\n", ARRAY("strides") "0 is 1.5"},
        {X "MaxPool(X=x | Y=y | kernel_shape=[2, 2.25]);\n", ARRAY("kernel_shape") "1 is 2.25"},
        {X "AveragePool(X=x | Y=y | kernel_shape=[2, 2], count_include_pad=0.5);\n", SCALAR("count_include_pad") "0.5"},
        {X "GroupNormalization(X=x, scale=x, bias=x | Y=y | num_groups=1.5);\n", SCALAR("num_groups") "1.5"},
        {X W "conv(src=x, weight=w | dst=y | stride=[1.5, 1]);\n", ARRAY("stride") "0 is 1.5"},
        {X "maxpool2d(src=x | dst=y | size=[3, 3], stride=[1, 1], padding=[0, 0, 0, 0.5]);\n", ARRAY("padding") "3 is 0.5"},
        {X W "Conv(X=x, W=w | Y=y | group=1.5);\n", SCALAR("group") "1.5"},
        {X "Cast(input=x | output=y | to=6.5);\n", SCALAR("to") "6.5"},
        {X "LpNormalization(input=x | output=y | p=1.5);\n", SCALAR("p") "1.5"},
        {X "Slice(data=x | output=y | starts=[0], ends=[1e15, 0.5], since=1);\n", ARRAY("ends") "1 is 0.5"},
    };
    // clang-format on
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        onnx_check_refused(rows[i].text, rows[i].words);
}

static void check_taken(const char *text)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    printf("%s", text);
    CHECK_OK(ln_context_init_mem(ctx, text, strlen(text), "model.net"));
    CHECK_OK(ln_context_compile(ctx, "ref"));
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_context_run(ctx));
    ln_context_unload(ctx);
    ln_context_free(ctx);
    ln_arch_cleanup();
}

TEST(a_whole_number_of_any_spelling_and_size_is_one)
{
    check_taken(X "Softmax(input=x | output=y | axis=1.0);\n");
    check_taken(X "pool(src=x | dst=y | kind=max, size=[2.0, 2e0], stride=[10e-1, 1]);\n");
    check_taken(
        X
        "Slice(data=x | output=y | axes=[2], starts=[0], ends=[9223372036854775807], since=1);\n");
}

TEST(numbers_that_are_no_integers_keep_their_fraction)
{
    check_taken(X "pool(src=x | dst=y | kind=lp, p=1.5);\n");
    check_taken(X "LpPool(X=x | Y=y | kernel_shape=[2, 2], p=1.5, since=1);\n");
    check_taken(X "act(src=x | dst=y | act=elu, alpha=0.5);\n");
    check_taken(X "Elu(X=x | Y=y | alpha=0.25);\n");
    check_taken(X "LRN(X=x | Y=y | size=3, alpha=0.1, beta=0.7, bias=1.5);\n");
}

TEST(json_is_held_against_the_same)
{
    static const char text[] =
        "{\"ops\": [{\"name\": \"x\", \"optype\": \"input\", \"tensors_in\": [], \"tensors_out\": "
        "[{\"name\": \"x\", \"arg_name\": \"dst\"}], \"params\": [{\"arg_name\": \"dtype\", \"value\": "
        "\"TL_FLOAT\"}, {\"arg_name\": \"dims\", \"value\": [2, 3]}]}, {\"name\": \"s\", \"optype\": "
        "\"Softmax\", \"tensors_in\": [{\"name\": \"x\", \"arg_name\": \"input\"}], \"tensors_out\": "
        "[{\"name\": \"y\", \"arg_name\": \"output\"}], \"params\": [{\"arg_name\": \"axis\", "
        "\"value\": 0.5}]}]}";
    CHECK_OK(ln_arch_init());
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    CHECK_FAILS(ln_context_init_mem(ctx, text, strlen(text), "model.json"), LN_INVALID);
    CHECK_MESSAGE("`s` param 'axis' should be an integer, but is 0.5");
    ln_context_free(ctx);
    ln_arch_cleanup();
}

TEST_LIST(a_number_with_a_fraction_is_no_integer, a_whole_number_of_any_spelling_and_size_is_one,
          numbers_that_are_no_integers_keep_their_fraction, json_is_held_against_the_same)
