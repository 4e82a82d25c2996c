// SPDX-License-Identifier: Apache-2.0
// Models of any kind in ONNX: operators of our own become nodes that compute the same, weights go
// along, and what has no form is named.

#include <stdio.h>
#include <unistd.h>

#include <lightnet/lightnet.h>
#include <lightnet/tensor_file.h>

#include "tests/api/onnx_model.h"
#include "tests/oom.h"

// The same model, written in ONNX and read again.
static ln_context *through_onnx(const ln_context *ctx)
{
    char *bytes;
    size_t byte_count;
    CHECK_OK(ln_context_write(ctx, "onnx", &bytes, &byte_count));
    ln_context *again = ln_context_create();
    CHECK_NOT_NULL(again);
    CHECK_OK(ln_context_init_mem(again, bytes, byte_count, "again"));
    ln_free(bytes);
    return again;
}

static void load_on_ref(ln_context *ctx)
{
    CHECK_OK(ln_context_compile(ctx, "ref"));
    CHECK_OK(ln_context_load(ctx, NULL));
    onnx_fill(ctx, 7);
    CHECK_OK(ln_context_run(ctx));
}

static void check_same_outputs(const ln_context *a, const ln_context *b, const char *why)
{
    size_t count = ln_context_output_count(a);
    CHECK_EQ(count, ln_context_output_count(b));
    for (size_t k = 0; k < count; k++) {
        const char *name = ln_context_output(a, k)->name;
        const tl_tensor *t = ln_context_output(a, k)->tensor;
        CHECK_STR_EQ(ln_context_output(b, k)->name, name);
        CHECK_EQ(ln_context_output(b, k)->tensor->dtype, t->dtype);
        CHECK(tl_tensor_issameshape(ln_context_output(b, k)->tensor, t));
        for (int i = 0; i < t->len; i++) {
            double x = onnx_get(a, name, i), y = onnx_get(b, name, i);
            if (fabs(x - y) > 1e-5 * (1 + fabs(x)))
                fail_msg("%s: %s[%d] is %g, and %g through ONNX", why, name, i, x, y);
        }
    }
}

#define X4    ONNX_INPUT("x", "1, 4, 5, 6")
#define LINE  ONNX_INPUT("x", "12")
#define TABLE ONNX_INPUT("x", "3, 4")

// Types of its output are those of the tables, which a run reads.
#define LABELED                                                                                    \
    "input(| dst=x | dtype=TL_STRING, dims=[2]);"                                                  \
    "ml_LabelEncoder(X=x | Y=y | keys_strings=[a, b], values_strings=[c, d]);"

#define WEIGHT(name, dims)                                                                         \
    "create(| dst=" name " | dtype=TL_FLOAT, dims=[" dims "], data=[1, -2]);\n"

static const struct {
    const char *why;
    const char *text;
} own[] = {
    {"convolution",
     X4 WEIGHT("w", "6, 2, 3, 3") WEIGHT(
         "b",
         "6") "conv2d(src=x, weight=w, bias=b | dst=y | group=2, size=[3, 3], stride=[2, 1], padding=[1, 0, 2, 1]);"},
    {"convolution with relu and gaps",
     X4 WEIGHT("w", "2, 4, 3, 3") WEIGHT(
         "b",
         "2") "conv2d(src=x, weight=w, bias=b | dst=y | size=[3, 3], dilation=[2, 2], autopad=SAME_UPPER, act=relu);"},
    {"transposed convolution",
     X4 WEIGHT("w", "4, 3, 3, 3") WEIGHT(
         "b",
         "3") "deconv2d(src=x, weight=w, bias=b | dst=y | size=[3, 3], stride=[2, 2], autopad=SAME_UPPER);"},
    {"transposed convolution, more rows",
     X4 WEIGHT("w", "4, 3, 3, 3") WEIGHT(
         "b",
         "3") "deconv2d(src=x, weight=w, bias=b | dst=y | size=[3, 3], stride=[2, 2], padding=[1, 0, 1, 1], "
              "output_padding=[1, 0]);"},
    {"batch norm",
     X4 WEIGHT("s", "4") WEIGHT("o", "4") WEIGHT(
         "m", "4") "create(| dst=v | dtype=TL_FLOAT, dims=[4], ran=[2, 2]);"
                   "batchnorm(src=x, scale=s, offset=o, mean=m, var=v | dst=y | epsilon=1e-3);"},
    {"groups, slopes and pads",
     X4 WEIGHT("s", "4") WEIGHT(
         "p",
         "4, 1, 1") "groupnorm(src=x, scale=s, offset=s | dst=a | groups=2, epsilon=0.01);"
                    "groupnorm(src=x, scale=s, offset=s | dst=b |); prelu(src=x, slope=p | dst=c |);"
                    "pad(src=x | dst=d | pads=[0, 0, 1, -1, 0, 0, 2, 3], value=2.5);"
                    "pad(src=x | dst=e | mode=reflect, pads=[0, 0, 1, 0, 0, 0, 2, 3]);"},
    {"activations",
     TABLE "relu(src=x | dst=a |); lrelu(src=x | dst=b | negslope=0.25);"
           "sigmoid(src=x | dst=c |); softmax(src=x | dst=d | axis=0); forward(src=x | dst=e |);"},
    {"element by element",
     TABLE WEIGHT(
         "w",
         "4") "elew(src1=x, src2=w | dst=a | elew_op=TL_SUM); elew(src1=x, src2=w | dst=b | elew_op=TL_SUB);"
              "elew(src1=x, src2=w | dst=c | elew_op=TL_MUL); elew(src1=x, src2=w | dst=d | elew_op=TL_DIV);"
              "elew(src1=x, src2=w | dst=e | elew_op=TL_MAX); elew(src1=x, src2=w | dst=f | elew_op=TL_MIN);"},
    {"powers",
     WEIGHT("w",
            "4") "input(| dst=x | dtype=TL_FLOAT, dims=[4]);"
                 "sigmoid(src=x | dst=base |); elew(src1=base, src2=w | dst=y | elew_op=TL_POW);"},
    {"pools",
     X4 "maxpool2d(src=x | dst=a | size=[3, 2], stride=[2, 2], padding=[1, 0, 2, 1]);"
        "avgpool2d(src=x | dst=b | size=[3, 2], stride=[2, 2], padding=[1, 0, 2, 1]);"
        "maxpool2d(src=x | dst=c | size=[3, 3], stride=[2, 2], autopad=SAME_LOWER);"
        "pool(src=x | dst=d | kind=average, size=[2, 2], stride=[1, 2], padding=[1, 0, 0, 1], "
        "count_include_pad=1);"
        "pool(src=x | dst=e | kind=lp, p=3); pool(src=x | dst=f | size=[2, 2], dilation=[1, 2], "
        "ceil_mode=1);"},
    {"shapes",
     X4 "reshape(src=x | dst=a | dims=[4, 30]); transpose(src=x | dst=b | axes=[0, 2, 3, 1]);"
        "slice(src=x | dst=c | axis=2, start=1, len=3); concat(src1=x, src2=x | dst=d | axis=1);"},
    {"no elements", "input(| dst=x | dtype=TL_FLOAT, dims=[2, 0]);"
                    "reshape(src=x | dst=y | dims=[0, 3]);"},
    {"parts",
     TABLE "scatter(src=x | dst1=a, dst2=b, dst3=c |); gather(src1=c, src2=a | dst=d |);"
           "gather_nocopy(src1=x, src2=x | dst=e |); scatter_nocopy(src=e | dst1=f, dst2=g |);"},
    {"products",
     TABLE WEIGHT("w", "4, 5") WEIGHT(
         "z",
         "3, 5") "create(| dst=b | dtype=TL_FLOAT, dims=[5], data=[1, 2]);"
                 "linear(src=x, weight=w, bias=b | dst=a | act=relu); matmul(src1=x, src2=x | dst=c | transB=1);"
                 "linear(src=x, weight=w, bias=b, addend=z | dst=d | act=tanh);"
                 "linear(src=x, weight=w, addend=z | dst=e | act=relu, add=last);"},
    {"products of stacks",
     "input(| dst=x | dtype=TL_FLOAT, dims=[2, 3, 4]);" WEIGHT(
         "w",
         "5, 4") "linear(src=x, weight=w | dst=a | transB=1, act=sigmoid); matmul(src1=x, src2=x | dst=c | transB=1);"},
    {"attention",
     "input(| dst=x | dtype=TL_FLOAT, dims=[2, 3, 8]);"
     "attention(q=x, k=x, v=x | dst=a | heads=2); attention(q=x, k=x, v=x | dst=b | heads=4, scale=0.3, is_causal=1);"},
    {"groups",
     X4 WEIGHT("s", "4") WEIGHT(
         "o",
         "4") "groupnorm(src=x, scale=s, offset=o | dst=a | groups=2); groupnorm(src=x, scale=s, offset=o | dst=b |);"},
    {"numbers of groups", X4 WEIGHT("u", "2") WEIGHT(
                              "v", "2") "groupnorm(src=x, scale=u, offset=v | dst=c | groups=2);"},
    {"pictures", X4 "resize(src=x | dst=a | mode=TL_NEAREST, dims=[1, 4, 7, 3]);"
                    "resize(src=x | dst=b | mode=TL_LINEAR, dims=[1, 4, 3, 11]);"
                    "upsample(src=x | dst=c | mode=TL_NEAREST, scales=[1, 1, 2, 2]);"},
    {"means", "input(| dst=x | dtype=TL_FLOAT, dims=[2, 3, 3]);"
              "submean(src=x | dst=y | mean=[0.5, 1, 2], dtype=TL_FLOAT);"},
    {"greatest elements",
     TABLE "maxreduce(src=x | dst=a | axis=1); maxreduce_arg(src=x | dst=b, arg=c | axis=0);"},
    {"products", TABLE "dot_product(src1=x, src2=x | dst=y |);"},
    {"sorting",
     LINE "sort1d(src_key=x | dst_key=a | dir=TL_SORT_DIR_ASCENDING);"
          "arange(| dst=i | dtype=TL_INT32, start=0, stop=12, step=1);"
          "sort1d_by_key(src_key=x, src_val=i | dst_key=b, dst_val=c | dir=TL_SORT_DIR_DESCENDING);"
          "pick1d(src=x, src_index=c | dst=d | stride=1, len=3);"
          "create(| dst=two | dtype=TL_INT32, dims=[3], data=[4, 0, 1]);"
          "pick1d(src=x, src_index=two | dst=e | stride=2, len=2);"},
    {"constants", LINE
     "arange(| dst=a | dtype=TL_FLOAT, start=0, stop=3, step=0.25);"
     "rearange(src=x | dst=b | start=12, stop=0, step=-1); zeros(| dst=z | dtype=TL_FLOAT, dims=[12]);"
     "create(| dst=t | dtype=TL_BOOL, dims=[3], data=[1, 0, 1]);"
     "elew(src1=a, src2=b | dst=c | elew_op=TL_SUM); elew(src1=c, src2=z | dst=y | elew_op=TL_SUM);"
     "forward(src=t | dst=u |);"},
    {"boxes",
     "input(| dst=x | dtype=TL_FLOAT, dims=[1, 5, 4]);"
     "create(| dst=a | dtype=TL_FLOAT, dims=[1, 5, 4], ran=[20, 20]);"
     "transform_bboxSQD(src_delta=x, src_anchor=a | dst=y | width=100, height=50, img_width=200, "
     "img_height=100, x_shift=3, y_shift=-2);"},
    {"YOLOv3",
     "input(| dst=x | dtype=TL_FLOAT, dims=[1, 14, 2, 3]);"
     "create(| dst=a | dtype=TL_FLOAT, dims=[2, 2], data=[10, 13, 16, 30]);"
     "detect_yolov3(feature=x, anchors=a | box_centers=c, box_sizes=d, boxes=y, confs=p, probs=q | "
     "img_width=64, img_height=32);"},
};

TEST(operators_of_our_own_compute_the_same_in_onnx)
{
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        ln_context *ctx = open_text(own[i].text);
        ln_context *again = through_onnx(ctx);
        load_on_ref(ctx);
        load_on_ref(again);
        check_same_outputs(ctx, again, own[i].why);
        ln_context_free(again);
        ln_context_free(ctx);
    }
    ln_arch_cleanup();
}

#define END(dims, number) "create(| dst=end | dtype=TL_FLOAT, dims=[" dims "], data=[" number "]);"
#define SMALLER(a, b)     "elew(src1=" a ", src2=" b " | dst=y | elew_op=TL_MIN);"

TEST(a_relu_that_ends_at_a_constant_is_a_clip)
{
    static const struct {
        const char *why, *text, *types;
    } rows[] = {
        {"relu6", X4 END("1", "0.5") "relu(src=x | dst=r |);" SMALLER("r", "end"), "Clip "},
        {"the constant first", X4 END("1", "0.5") "relu(src=x | dst=r |);" SMALLER("end", "r"),
         "Clip "},
        {"no dimensions", X4 END("", "0.5") "relu(src=x | dst=r |);" SMALLER("r", "end"), "Clip "},
        {"an end at 0", X4 END("1", "0") "relu(src=x | dst=r |);" SMALLER("r", "end"), "Clip "},
        {"an end below 0", X4 END("1", "-1") "relu(src=x | dst=r |);" SMALLER("r", "end"),
         "Relu Min "},
        {"more numbers", X4 END("6", "1, 2, 3") "relu(src=x | dst=r |);" SMALLER("r", "end"),
         "Relu Min "},
        {"a constant of as many dimensions",
         X4 END("1, 1, 1, 1", "1") "relu(src=x | dst=r |);" SMALLER("r", "end"), "Clip "},
        {"a relu that others read",
         X4 END("1", "0.5") "relu(src=x | dst=r |); sigmoid(src=r | dst=z |);" SMALLER("r", "end"),
         "Relu Sigmoid Min "},
        {"a relu that is an output",
         X4 END("1", "0.5") "relu(src=x | dst=r |);" SMALLER(
             "r", "end") "output(src=r | |); output(src=y | |);",
         "Relu Min "},
        {"a constant that others read",
         X4 END("1", "0.5") "relu(src=x | dst=r |);" SMALLER(
             "r", "end") "elew(src1=x, src2=end | dst=z | elew_op=TL_SUM);",
         "Clip Add "},
        {"doubles",
         "input(| dst=x | dtype=TL_DOUBLE, dims=[3]); create(| dst=end | dtype=TL_DOUBLE, dims=[1], data=[1]);"
         "relu(src=x | dst=r |);" SMALLER("r", "end"),
         "Relu Min "},
    };
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char types[128] = "";
        ln_context *ctx = open_text(rows[i].text);
        ln_context *again = through_onnx(ctx);
        const ln_op *op;
        LN_LIST_FOREACH (op, again->ops) {
            const char *type = op->op_arg->optype;
            if (type[0] >= 'A' && type[0] <= 'Z')
                snprintf(types + strlen(types), sizeof types - strlen(types), "%s ", type);
        }
        if (strcmp(types, rows[i].types) != 0)
            fail_msg("%s: %sinstead of %s", rows[i].why, types, rows[i].types);
        load_on_ref(ctx);
        load_on_ref(again);
        check_same_outputs(ctx, again, rows[i].why);
        ln_context_free(again);
        ln_context_free(ctx);
    }
    ln_arch_cleanup();
}

// Zero points i and z that come in the run, and others that read them: a rule that takes them for 0
// loses nothing else.
#define ZEROS                                                                                      \
    "input(| dst=i | dtype=TL_INT16, dims=[1]); input(| dst=z | dtype=TL_INT8, dims=[1]);"         \
    "elew(src1=i, src2=i | dst=i2 | elew_op=TL_SUM);"                                              \
    "elew(src1=z, src2=z | dst=z2 | elew_op=TL_SUM);"

#define RESCALED                                                                                   \
    ZEROS                                                                                          \
    "input(| dst=x | dtype=TL_INT16, dims=[2, 4]);"                                                \
    "create(| dst=m | dtype=TL_FLOAT, dims=[1], data=[0.5]);"                                      \
    "create(| dst=k | dtype=TL_INT32, dims=[1], data=[1073741824]);"                               \
    "create(| dst=s | dtype=TL_INT32, dims=[1], data=[1]);"

#define WIDE                                                                                       \
    ZEROS                                                                                          \
    "input(| dst=h | dtype=TL_INT16, dims=[1, 1, 2, 2]);"                                          \
    "input(| dst=g | dtype=TL_INT16, dims=[1, 2]);"                                                \
    "create(| dst=w | dtype=TL_INT8, dims=[1, 1, 1, 1], data=[3]);"                                \
    "create(| dst=v | dtype=TL_INT8, dims=[2, 1], data=[3, 4]);"                                   \
    "create(| dst=b | dtype=TL_INT64, dims=[1], data=[5]);"

static const struct {
    const char *why;
    const char *text;
    ln_status status;
    const char *message;
} refused[] = {
    {"an operator that ONNX lacks", LINE "print(src=x | | msg=a);", LN_UNSUPPORTED,
     "no form in ONNX"},
    {"random numbers",
     LINE "create(| dst=r | dtype=TL_FLOAT, dims=[12], ran=[0, 1]);"
          "elew(src1=x, src2=r | dst=y | elew_op=TL_SUM);",
     LN_UNSUPPORTED, "random numbers"},
    {"weights that are nowhere",
     LINE "create(| dst=w | dtype=TL_FLOAT, dims=[12], from_file=true);"
          "elew(src1=x, src2=w | dst=y | elew_op=TL_SUM);",
     LN_NOT_FOUND, "'w' comes from a data file"},
    {"forms that are never in one opset",
     LINE
     "create(| dst=a | dtype=TL_INT64, dims=[1], data=[0]);"
     "Unsqueeze(data=x | expanded=y | axes=[0], since=1); Unsqueeze(data=x, axes=a | expanded=z | since=13);",
     LN_UNSUPPORTED, "no opset has both"},
    {"half a power of a norm, an integer since opset 2", X4 "pool(src=x | dst=y | kind=lp, p=1.5);",
     LN_UNSUPPORTED, "param 'p' is 1.5, and ONNX has only integers there"},
    {"a zero point of the run, rounding float",
     RESCALED
     "rescale(src=x, multiplier=m, src_zero=i | dst=y | output_dtype=TL_INT8, rounding=float);",
     LN_UNSUPPORTED, "no form in ONNX"},
    {"a zero point of the run in the result, rounding float",
     RESCALED "rescale(src=x, multiplier=m, dst_zero=z | dst=y | rounding=float);", LN_UNSUPPORTED,
     "no form in ONNX"},
    {"a zero point of the run, rounding away",
     RESCALED
     "rescale(src=x, multiplier=m, src_zero=i | dst=y | output_dtype=TL_INT8, rounding=away);",
     LN_UNSUPPORTED, "no form in ONNX"},
    {"a zero point of the run in the result, rounding away",
     RESCALED "rescale(src=x, multiplier=m, dst_zero=z | dst=y | rounding=away);", LN_UNSUPPORTED,
     "no form in ONNX"},
    {"a zero point of the run, rounding q31",
     RESCALED
     "rescale(src=x, multiplier=k, shift=s, src_zero=i | dst=y | output_dtype=TL_INT8, rounding=q31);",
     LN_UNSUPPORTED, "no form in ONNX"},
    {"a zero point of the run in the result, rounding q31",
     RESCALED "rescale(src=x, multiplier=k, shift=s, dst_zero=z | dst=y | rounding=q31);",
     LN_UNSUPPORTED, "no form in ONNX"},
    {"a zero point of the run, rounding q31_single",
     RESCALED
     "rescale(src=x, multiplier=k, shift=s, src_zero=i | dst=y | output_dtype=TL_INT8, rounding=q31_single);",
     LN_UNSUPPORTED, "no form in ONNX"},
    {"a zero point of the run in the result, rounding q31_single",
     RESCALED "rescale(src=x, multiplier=k, shift=s, dst_zero=z | dst=y | rounding=q31_single);",
     LN_UNSUPPORTED, "no form in ONNX"},
    {"a zero point of the run, rounding q15",
     RESCALED
     "rescale(src=x, multiplier=k, shift=s, src_zero=i | dst=y | output_dtype=TL_INT8, rounding=q15);",
     LN_UNSUPPORTED, "no form in ONNX"},
    {"a zero point of the run in the result, rounding q15",
     RESCALED "rescale(src=x, multiplier=k, shift=s, dst_zero=z | dst=y | rounding=q15);",
     LN_UNSUPPORTED, "no form in ONNX"},
    {"a zero point of the run, rounding shift",
     RESCALED "rescale(src=x, shift=s, src_zero=i | dst=y | output_dtype=TL_INT8, rounding=shift);",
     LN_UNSUPPORTED, "no form in ONNX"},
    {"a zero point of the run in the result, rounding shift",
     RESCALED "rescale(src=x, shift=s, dst_zero=z | dst=y | rounding=shift);", LN_UNSUPPORTED,
     "no form in ONNX"},
    {"a zero point of the run, convolution of int16",
     WIDE "quant_conv(src=h, weight=w, src_zero=i | dst=y |);", LN_UNSUPPORTED, "no form in ONNX"},
    {"the same with a bias", WIDE "quant_conv(src=h, weight=w, src_zero=i, bias=b | dst=y |);",
     LN_UNSUPPORTED, "no form in ONNX"},
    {"a zero point of the run, product of int16",
     WIDE "quant_matmul(src=g, weight=v, src_zero=i | dst=y |);", LN_UNSUPPORTED,
     "no form in ONNX"},
    {"the product with a bias", WIDE "quant_matmul(src=g, weight=v, src_zero=i, bias=b | dst=y |);",
     LN_UNSUPPORTED, "no form in ONNX"},
    {"an output whose type shows in a run", LABELED, LN_UNSUPPORTED,
     "output 'y': its type is known at run time only"},
    {"the same by an operator that states nothing", LABELED "output(src=y | |);", LN_UNSUPPORTED,
     "output(src=y | | dtype=TL_INT64, dims=[-1])"},
};

// What the file states of an output comes back, also where only a run knows the value.
TEST(stated_types_of_outputs_are_written)
{
    static const struct {
        const char *model, *kept;
    } cases[] = {
        {LABELED "output(src=y | | dtype=TL_STRING, dims=[-1]);", "dtype=TL_STRING, dims=[-1]"},
        {LINE "SplitToSequence(input=x | output_sequence=y | axis=0);"
              "output(src=y | | dtype=TL_OBJECT, type=\"seq(FLOAT[?, 1])\");",
         "dtype=TL_OBJECT, type=\"seq(FLOAT[?, 1])\""},
        {LINE "Optional(input=x | output=y |);"
              "output(src=y | | dtype=TL_OBJECT, type=\"optional(FLOAT[4])\");",
         "dtype=TL_OBJECT, type=\"optional(FLOAT[4])\""},
    };
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ln_context *ctx = open_text(cases[i].model), *again = through_onnx(ctx);
        char *text;
        size_t byte_count;
        CHECK_OK(ln_context_write(again, "il", &text, &byte_count));
        if (!strstr(text, cases[i].kept))
            fail_msg("%s is not in %s", cases[i].kept, text);
        ln_free(text);
        ln_context_free(again);
        ln_context_free(ctx);
    }
    ln_arch_cleanup();
}

TEST(what_onnx_has_no_form_for_is_named)
{
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        ln_context *ctx = open_text(refused[i].text);
        char *bytes;
        size_t byte_count;
        CHECK_FAILS(ln_context_write(ctx, "onnx", &bytes, &byte_count), refused[i].status);
        if (!strstr(ln_error_message(), refused[i].message))
            fail_msg("%s: %s", refused[i].why, ln_error_message());
        ln_context_free(ctx);
    }
    ln_context *ctx = open_text(LINE "relu(src=x | dst=y |);");
    CHECK_OK(ln_context_compile(ctx, "ref"));
    char *bytes;
    size_t byte_count;
    CHECK_FAILS(ln_context_write(ctx, "onnx", &bytes, &byte_count), LN_STATE);
    ln_context_free(ctx);
    ln_arch_cleanup();
}

// ---- Weights ----

#define WEIGHTED                                                                                   \
    ONNX_INPUT("x", "20, 20")                                                                      \
    "create(| dst=w | dtype=TL_FLOAT, dims=[20, 20], from_file=true);"                             \
    "create(| dst=h | dtype=TL_FLOAT16, dims=[2], from_file=true);"                                \
    "forward(src=h | dst=halves |); elew(src1=x, src2=w | dst=y | elew_op=TL_SUM);"

static char folder[] = LN_BUILD_DIR "/onnx-write-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[4][256];
    static int next;
    char *room = path[next++ % 4];
    snprintf(room, sizeof path[0], "%s/%s", folder, name);
    return room;
}

static void save_weights(const char *path)
{
    float w[400];
    uint16_t h[2] = {0x3c00, 0xc000};
    for (int i = 0; i < 400; i++)
        w[i] = (float)i / 8;
    tl_tensor *tensors[2] = {tl_tensor_create(w, 2, (int[]){20, 20}, TL_FLOAT),
                             tl_tensor_create(h, 1, (int[]){2}, TL_FLOAT16)};
    ln_named_tensor named[2] = {{"w", tensors[0]}, {"h", tensors[1]}};
    CHECK_OK(ln_tensor_file_save(path, LN_TENSOR_FILE_SAFETENSORS, named, 2));
    tl_tensor_free(tensors[0]);
    tl_tensor_free(tensors[1]);
}

static void check_weighted(const char *path, const char *datafile)
{
    ln_context *ctx = ln_context_create();
    CHECK_OK(ln_context_init(ctx, path));
    CHECK_OK(ln_context_compile(ctx, "ref"));
    CHECK_OK(ln_context_load(ctx, datafile));
    onnx_set(ctx, "x", 21, 1);
    CHECK_OK(ln_context_run(ctx));
    CHECK_NEAR(onnx_get(ctx, "y", 21) * 8, 21 + 8, 0);
    CHECK_NEAR(onnx_get(ctx, "halves", 1), -2, 0);
    ln_context_free(ctx);
}

TEST(weights_of_a_data_file_go_into_the_model_or_beside_it_and_out_again)
{
    CHECK_OK(ln_arch_init());
    CHECK_NOT_NULL(mkdtemp(folder));
    save_weights(in_folder("in.safetensors"));
    ln_context *ctx = open_text(WEIGHTED);
    CHECK_OK(ln_context_carry_file(ctx, in_folder("in.safetensors")));
    CHECK_OK(ln_context_print(ctx, in_folder("a.onnx")));
    CHECK_OK(ln_context_print_with(ctx, in_folder("b.onnx"), LN_WRITE_WEIGHTS_BESIDE));
    CHECK_EQ(access(in_folder("b.onnx.data"), F_OK), 0);
    ln_context_free(ctx);

    check_weighted(in_folder("a.onnx"), NULL);
    check_weighted(in_folder("b.onnx"), NULL);
    ctx = ln_context_create();
    CHECK_OK(ln_context_init(ctx, in_folder("b.onnx")));
    size_t count;
    CHECK_OK(ln_context_save_weights(ctx, in_folder("out.safetensors"), &count));
    CHECK_EQ(count, 2);
    CHECK_OK(ln_context_print(ctx, in_folder("c.net")));
    ln_context_free(ctx);
    check_weighted(in_folder("c.net"), in_folder("out.safetensors"));

    static const char *const names[] = {"in.safetensors", "a.onnx",          "b.onnx",
                                        "b.onnx.data",    "out.safetensors", "c.net"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        CHECK_EQ(unlink(in_folder(names[i])), 0);
    CHECK_EQ(rmdir(folder), 0);
    ln_arch_cleanup();
}

TEST(bytes_that_are_no_text_go_to_onnx_only)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text("input(| dst=x | dtype=TL_STRING, dims=[1]);"
                                "StringSplit(X=x | Y=y, Z=z | delimiter=a);"
                                "output(src=y | | dtype=TL_STRING, dims=[-1, -1]);"
                                "output(src=z | | dtype=TL_INT64, dims=[-1]);");
    CHECK_OK(ln_context_set_param(ctx, "StringSplit0", "delimiter", "\xff"));
    static const char *const formats[] = {"ir", "il", "onnx"};
    for (size_t i = 0; i < 3; i++) {
        char *bytes = NULL;
        size_t byte_count;
        ln_status status = ln_context_write(ctx, formats[i], &bytes, &byte_count);
        CHECK_EQ(status, i < 2 ? LN_UNSUPPORTED : LN_OK);
        ln_free(bytes);
    }
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(writing_survives_every_failed_allocation)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(X4 WEIGHT("w", "2, 4, 3, 3") WEIGHT(
        "b", "2") "conv2d(src=x, weight=w, bias=b | dst=y | size=[3, 3], act=relu);"
                  "Add(A=y, B=y | C=z |);");
    CHECK_EQ(ln_context_output_count(ctx), 1); // the list of its ends, once asked for, stays
    OOM_SWEEP(n)
    {
        char *bytes = NULL;
        size_t byte_count;
        ln_status status = ln_context_write(ctx, "onnx", &bytes, &byte_count);
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
        ln_free(bytes);
    }
    close_context(ctx);
    ln_arch_cleanup();
}

TEST_LIST(operators_of_our_own_compute_the_same_in_onnx, a_relu_that_ends_at_a_constant_is_a_clip,
          stated_types_of_outputs_are_written, what_onnx_has_no_form_for_is_named,
          weights_of_a_data_file_go_into_the_model_or_beside_it_and_out_again,
          bytes_that_are_no_text_go_to_onnx_only, writing_survives_every_failed_allocation)
