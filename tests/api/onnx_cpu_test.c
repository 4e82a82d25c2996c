// SPDX-License-Identifier: Apache-2.0
// Elementwise operators, BatchNormalization and Softmax of ONNX: cpu against ref; and models whose
// shapes are open until they run.

#include "tests/api/onnx_model.h"

#define X(dims) ONNX_INPUT("x", dims)
#define B(dims) ONNX_INPUT("b", dims)

#define RECURRENT(x, w, r, b) X(x) ONNX_INPUT("w", w) ONNX_INPUT("r", r) ONNX_INPUT("bias", b)

#define NORM(dims)                                                                                 \
    X(dims)                                                                                        \
    ONNX_INPUT("s", "5")                                                                           \
    ONNX_INPUT("o", "5")                                                                           \
    ONNX_INPUT("m", "5")                                                                           \
    "create(| dst=v | dtype=TL_FLOAT, dims=[5], ran=[0, 0], data=[1, 2, 3, 4, 5], "                \
    "from_file=false);\n"                                                                          \
    "BatchNormalization(X=x, scale=s, B=o, input_mean=m, input_var=v | Y=y |);\n"

TEST(cpu_agrees_with_ref)
{
    static const struct {
        const char *why, *text;
    } models[] = {
        {"relu", X("7, 11") "Relu(X=x | Y=y |);\n"},
        {"leaky relu", X("7, 11") "LeakyRelu(X=x | Y=y | alpha=0.3);\n"},
        {"celu", X("7, 11") "Celu(X=x | Y=y |);\n"},
        {"celu with a scale", X("7, 11") "Celu(X=x | Y=y | alpha=0.25);\n"},
        {"sigmoid", X("7, 11") "Sigmoid(X=x | Y=y |);\n"},
        {"exp", X("7, 11") "Exp(input=x | output=y |);\n"},
        {"clip", X("7, 11") "Clip(input=x | output=y | since=6, min=-0.5, max=1);\n"},
        {"clip below", X("7, 11") ONNX_INPUT("b", "") "Clip(input=x, min=b | output=y |);\n"},
        {"hard sigmoid", X("7, 11") "HardSigmoid(X=x | Y=y |);\n"},
        {"hard swish", X("7, 11") "HardSwish(X=x | Y=y |);\n"},
        {"add", X("3, 7, 11") B("7, 1") "Add(A=x, B=b | C=y |);\n"},
        {"sub", X("7, 1") B("3, 7, 11") "Sub(A=x, B=b | C=y |);\n"},
        {"mul", X("3, 7, 11") B("3, 7, 11") "Mul(A=x, B=b | C=y |);\n"},
        {"div", X("3, 7, 11") "Exp(input=x | output=e |);\nDiv(A=x, B=e | C=y |);\n"},
        {"add, laid out by an attribute",
         X("3, 7, 11") B("7") "Add(A=x, B=b | C=y | since=6, axis=1, broadcast=1);\n"},
        {"batch norm", NORM("2, 5, 3, 4")},
        {"batch norm, no space", NORM("2, 5")},
        {"batch norm, three axes", NORM("2, 5, 3, 2, 2")},
        {"log", X("7, 11") "Exp(input=x | output=e |);\nLog(input=e | output=y |);\n"},
        {"reciprocal", X("7, 11") "Exp(input=x | output=e |);\nReciprocal(X=e | Y=y |);\n"},
        {"max", X("3, 7, 11") B("7, 1") "Max(data_01=x, data_02=b | max=y |);\n"},
        {"sum", X("3, 7, 11") B("11") "Sum(data_01=x, data_02=b | sum=y |);\n"},
        {"lstm", RECURRENT("5, 1, 7", "1, 36, 7", "1, 36, 9",
                           "1, 72") "LSTM(X=x, W=w, R=r, B=bias | Y=y | hidden_size=9);\n"},
        {"lstm, both ways, batch first",
         RECURRENT(
             "3, 6, 7", "2, 36, 7", "2, 36, 9",
             "2, 72") "LSTM(X=x, W=w, R=r, B=bias | Y=y, Y_h=h, Y_c=c | direction=bidirectional, layout=1);\n"},
        {"lstm that looks at its cell and starts somewhere",
         RECURRENT("4, 2, 3", "1, 20, 3", "1, 20, 5", "1, 40") ONNX_INPUT("h0", "1, 2, 5")
             ONNX_INPUT("c0", "1, 2, 5") ONNX_INPUT(
                 "p",
                 "1, 15") "create(| dst=l | dtype=TL_INT32, dims=[2], ran=[0, 0], data=[2, 4], "
                          "from_file=false);\n"
                          "LSTM(X=x, W=w, R=r, B=bias, sequence_lens=l, initial_h=h0, initial_c=c0, P=p | "
                          "Y=y | direction=reverse, input_forget=1);\n"},
        {"gru", X("5, 2, 7") ONNX_INPUT("w", "1, 27, 7")
                    ONNX_INPUT("r", "1, 27, 9") "GRU(X=x, W=w, R=r | Y=y |);\n"},
        {"gru, reset behind the weights",
         RECURRENT(
             "5, 2, 7", "2, 27, 7", "2, 27, 9",
             "2, 54") "GRU(X=x, W=w, R=r, B=bias | Y=y | direction=bidirectional, linear_before_reset=1);\n"},
        {"mean of the last axes",
         X("3, 5, 4") "ReduceMean(data=x | reduced=y | since=11, axes=[1, 2]);\n"},
        {"mean in the middle",
         X("3, 5, 1, 4") "ReduceMean(data=x | reduced=y | since=11, axes=[1, 2], keepdims=0);\n"},
        {"mean of the first axis",
         X("3, 5, 4") "ReduceMean(data=x | reduced=y | since=11, axes=[0]);\n"},
        {"mean of an axis of one",
         X("3, 1, 4") "ReduceMean(data=x | reduced=y | since=11, axes=[1]);\n"},
        {"mean of all", X("3, 5, 4") "ReduceMean(data=x | reduced=y | since=11);\n"},
        {"sum of axes apart",
         X("3, 5, 4") "ReduceSum(data=x | reduced=y | since=11, axes=[0, 2]);\n"},
        {"greatest", X("3, 5, 4") "ReduceMax(data=x | reduced=y | since=11, axes=[-1]);\n"},
        {"length", X("3, 5, 4") "ReduceL2(data=x | reduced=y | since=11, axes=[-2]);\n"},
        {"softmax", X("3, 5, 4") "Softmax(input=x | output=y |);\n"},
        {"softmax in the middle", X("3, 5, 4") "Softmax(input=x | output=y | axis=-2);\n"},
        {"softmax over all behind", X("3, 5, 4") "Softmax(input=x | output=y | since=11);\n"},
    };
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        onnx_check_agreement(models[i].why, models[i].text);
}

// A tensor object of random numbers as input x of an open model.
static void give_open(ln_context *ctx, int ndim, const int *dims)
{
    test_random random = {.state = 3};
    ln_object *object = ln_object_new_tensor(TL_FLOAT, ndim, dims, NULL);
    CHECK_NOT_NULL(object);
    tl_tensor *t = ln_object_tensor(object);
    for (int i = 0; i < t->len; i++)
        ((float *)t->data)[i] = (float)test_random_below(&random, 4001) / 1000 - 2;
    CHECK_OK(ln_context_set_object(ctx, "x", object));
    ln_object_release(object);
}

static void check_open(const char *text, int ndim, const int *dims)
{
    ln_context *contexts[2] = {onnx_load(text, AS_READ), onnx_load(text, "cpu")};
    ln_object *got[2];
    for (int i = 0; i < 2; i++) {
        const int first_dims[] = {1, 1, 9, 9, 9, 9, 9, 9};
        give_open(contexts[i], ndim, first_dims); // another shape first
        CHECK_OK(ln_context_run(contexts[i]));
        give_open(contexts[i], ndim, dims);
        CHECK_OK(ln_context_run(contexts[i]));
        CHECK_OK(ln_context_get_object(contexts[i], "y", &got[i]));
    }
    const tl_tensor *ref = ln_object_tensor(got[0]), *cpu = ln_object_tensor(got[1]);
    CHECK(ref->len > 0 && tl_tensor_issameshape(ref, cpu));
    for (int i = 0; i < ref->len; i++)
        CHECK_NEAR((double)((float *)cpu->data)[i], (double)((float *)ref->data)[i], 1e-4);
    for (int i = 0; i < 2; i++) {
        ln_object_release(got[i]);
        onnx_close(contexts[i]);
    }
}

#define OPEN(dims) "input(| dst=x | dtype=TL_FLOAT, dims=[" dims "]);\n"

// The kernels of cpu take the second model's images, but not the first one's, of three axes.
TEST(what_cpu_does_not_take_in_a_run_is_left_to_ref)
{
    check_open(OPEN("-1, 1, -1, -1, -1") "MaxPool(X=x | Y=y | kernel_shape=[2, 2, 2]);\n", 5,
               (int[]){2, 1, 3, 4, 5});
    check_open(OPEN("-1, 1, -1, -1") "MaxPool(X=x | Y=p | kernel_shape=[2, 2]);\n"
                                     "Relu(X=p | Y=r |);\n"
                                     "Add(A=r, B=p | C=y |);\n",
               4, (int[]){2, 1, 4, 5});
}

TEST_LIST(cpu_agrees_with_ref, what_cpu_does_not_take_in_a_run_is_left_to_ref)
