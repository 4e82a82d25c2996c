// SPDX-License-Identifier: Apache-2.0
// Channels-last poolings and resizing: what they give between two transposes is what the operators
// of ONNX give without, on ref; and what is refused.

#include "tests/api/onnx_model.h"

#define X ONNX_INPUT("x", "2, 3, 7, 6")

// Between a channels-last image `t` and its result `u`.
#define AROUND(text)                                                                               \
    X "transpose(src=x | dst=t | axes=[0, 2, 3, 1]);\n" text                                       \
      "transpose(src=u | dst=y | axes=[0, 3, 1, 2]);\n"
#define MAX(params)    AROUND("maxpool2d_nhwc_cpu(src=t | dst=u | " params ");\n")
#define AVG(params)    AROUND("avgpool2d_nhwc_cpu(src=t | dst=u | " params ");\n")
#define RESIZE(params) AROUND("resize_nhwc_cpu(src=t | dst=u | " params ");\n")

#define ONNX_MAX(params) X "MaxPool(X=x | Y=y | " params ");\n"
#define ONNX_AVG(params) X "AveragePool(X=x | Y=y | " params ");\n"
#define ONNX_SIZES(dims, params)                                                                   \
    X "create(| dst=s | dtype=TL_INT64, dims=[4], data=[" dims "]);\n"                             \
      "Resize(X=x, sizes=s | Y=y | " params ");\n"
#define ONNX_SCALES(dims, params)                                                                  \
    X "create(| dst=s | dtype=TL_FLOAT, dims=[4], data=[" dims "]);\n"                             \
      "Resize(X=x, scales=s | Y=y | " params ");\n"

static void check_equal(const char *why, const char *expected_text, const char *text)
{
    printf("%s\n", why);
    ln_context *expected = onnx_load(expected_text, AS_READ), *got = onnx_load(text, "cpu");
    onnx_fill(expected, 1);
    onnx_fill(got, 1);
    CHECK_OK(ln_context_run(expected));
    CHECK_OK(ln_context_run(got));
    const tl_tensor *y = ln_tensor_table_find(expected->tensor_table, "y")->tensor;
    CHECK(y->len > 0);
    CHECK(tl_tensor_issameshape(y, ln_tensor_table_find(got->tensor_table, "y")->tensor));
    for (int i = 0; i < y->len; i++) {
        double a = onnx_get(expected, "y", i), b = onnx_get(got, "y", i);
        if (!(isnan(a) && isnan(b)) && a != b)
            CHECK_NEAR(b, a, 1e-5);
    }
    onnx_close(expected);
    onnx_close(got);
}

TEST(they_give_what_onnx_gives)
{
    static const struct {
        const char *why, *onnx, *nhwc;
    } models[] = {
        {"maxima", ONNX_MAX("kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1]"),
         MAX("size=[3, 2], stride=[2, 1], padding=[1, 0, 1, 1]")},
        {"maxima of a last window beyond the image",
         ONNX_MAX("kernel_shape=[2, 4], strides=[2, 3], ceil_mode=1"),
         MAX("size=[2, 4], stride=[2, 3], out=[4, 2]")},
        {"dilated maxima", ONNX_MAX("kernel_shape=[3, 2], dilations=[2, 3]"),
         MAX("size=[3, 2], dilation=[2, 3]")},
        {"the greatest of all", X "GlobalMaxPool(X=x | Y=y |);\n", MAX("size=[7, 6]")},
        {"means", ONNX_AVG("kernel_shape=[3, 2], strides=[1, 2], pads=[1, 1, 1, 0]"),
         AVG("size=[3, 2], stride=[1, 2], padding=[1, 1, 1, 0]")},
        {"means that count padding",
         ONNX_AVG("kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 2, 1], count_include_pad=1"),
         AVG("size=[3, 3], stride=[2, 2], padding=[1, 1, 2, 1], count_padding=true")},
        {"means that count padding, but not what is beyond it",
         ONNX_AVG("kernel_shape=[3, 3], strides=[3, 3], pads=[1, 0, 1, 1], ceil_mode=1, "
                  "count_include_pad=1"),
         AVG("size=[3, 3], stride=[3, 3], padding=[1, 0, 1, 1], out=[3, 2], count_padding=true")},
        {"dilated means", ONNX_AVG("kernel_shape=[2, 2], dilations=[3, 2], pads=[2, 2, 2, 2]"),
         AVG("size=[2, 2], dilation=[3, 2], padding=[2, 2, 2, 2]")},
        {"windows in the padding alone", ONNX_AVG("kernel_shape=[1, 2], pads=[1, 3, 0, 0]"),
         AVG("size=[1, 2], padding=[1, 3, 0, 0]")},
        {"the mean of all", X "GlobalAveragePool(X=x | Y=y |);\n", AVG("size=[7, 6]")},
        {"twice as large", ONNX_SCALES("1, 1, 2, 2", "mode=nearest"), RESIZE("out=[14, 12]")},
        {"twice as large, by places that are not between pixels",
         ONNX_SCALES("1, 1, 2, 2",
                     "mode=nearest, coordinate_transformation_mode=asymmetric, nearest_mode=floor"),
         RESIZE("out=[14, 12], coordinates=asymmetric, rounding=floor")},
        {"smaller, rounded up",
         ONNX_SIZES("2, 3, 4, 5",
                    "mode=nearest, coordinate_transformation_mode=asymmetric, nearest_mode=ceil"),
         RESIZE("out=[4, 5], coordinates=asymmetric, rounding=ceil")},
        {"rounded up at halves",
         ONNX_SIZES("2, 3, 3, 12", "mode=nearest, nearest_mode=round_prefer_ceil"),
         RESIZE("out=[3, 12], rounding=round_prefer_ceil")},
        {"nearest with corners that stay",
         ONNX_SIZES("2, 3, 4, 1", "mode=nearest, coordinate_transformation_mode=align_corners"),
         RESIZE("out=[4, 1], coordinates=align_corners")},
        {"linear", ONNX_SIZES("2, 3, 9, 4", "mode=linear"), RESIZE("out=[9, 4], mode=linear")},
        {"linear, asymmetric",
         ONNX_SCALES("1, 1, 2, 3", "mode=linear, coordinate_transformation_mode=asymmetric"),
         RESIZE("out=[14, 18], mode=linear, coordinates=asymmetric")},
        {"linear with corners that stay",
         ONNX_SIZES("2, 3, 13, 11", "mode=linear, coordinate_transformation_mode=align_corners"),
         RESIZE("out=[13, 11], mode=linear, coordinates=align_corners")},
        {"linear to a single row",
         ONNX_SIZES("2, 3, 1, 7", "mode=linear, coordinate_transformation_mode=pytorch_half_pixel"),
         RESIZE("out=[1, 7], mode=linear, coordinates=pytorch_half_pixel")},
        {"a scale that is not the quotient of the sizes",
         ONNX_SCALES("1, 1, 1.3, 1.7", "mode=linear"),
         RESIZE("out=[9, 10], scale=[1.2999999523162842, 1.7000000476837158], mode=linear")},
    };
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        check_equal(models[i].why, models[i].onnx, models[i].nhwc);
    }
}

#define BYTES(dtype, text)                                                                         \
    X "create(| dst=s | dtype=TL_FLOAT, dims=[], data=[0.02]);\n"                                  \
      "create(| dst=z | dtype=" dtype ", dims=[], data=[100]);\n"                                  \
      "QuantizeLinear(x=x, y_scale=s, y_zero_point=z | y=q |);\n" text
#define MAX_BYTES(dtype, params)                                                                   \
    BYTES(dtype, "transpose(src=q | dst=t | axes=[0, 2, 3, 1]);\n"                                 \
                 "maxpool2d_nhwc_cpu(src=t | dst=u | " params ");\n"                               \
                 "transpose(src=u | dst=y | axes=[0, 3, 1, 2]);\n")
#define ONNX_MAX_BYTES(dtype, params) BYTES(dtype, "MaxPool(X=q | Y=y | " params ");\n")
#define BOTH_BYTES(onnx, nhwc)                                                                     \
    {ONNX_MAX_BYTES("TL_UINT8", onnx), MAX_BYTES("TL_UINT8", nhwc)},                               \
    {                                                                                              \
        ONNX_MAX_BYTES("TL_INT8", onnx), MAX_BYTES("TL_INT8", nhwc)                                \
    }

TEST(bytes_are_pooled_as_onnx_pools_them)
{
    static const struct {
        const char *onnx, *nhwc;
    } models[] = {
        BOTH_BYTES("kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1]",
                   "size=[3, 2], stride=[2, 1], padding=[1, 0, 1, 1]"),
        BOTH_BYTES("kernel_shape=[2, 3], strides=[1, 2], pads=[0, 2, 1, 1]",
                   "size=[2, 3], stride=[1, 2], padding=[0, 2, 1, 1]"),
        BOTH_BYTES("kernel_shape=[3, 2], dilations=[2, 3]", "size=[3, 2], dilation=[2, 3]"),
        BOTH_BYTES("kernel_shape=[1, 2], pads=[1, 3, 0, 0]", "size=[1, 2], padding=[1, 3, 0, 0]"),
    };
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        check_equal(models[i].nhwc, models[i].onnx, models[i].nhwc);
}

// Channels 1 and 2 go between channels of another image.
#define INTO(text)                                                                                 \
    ONNX_INPUT("x", "1, 4, 6, 3")                                                                  \
    ONNX_INPUT("z", "1, 2, 3, 5")                                                                  \
    text
#define INTO_PART(text)                                                                            \
    INTO("slice(src=x | dst=c | axis=3, start=1, len=2);\n"                                        \
         "slice(src=z | dst=l | axis=3, start=0, len=2);\n"                                        \
         "slice(src=z | dst=r | axis=3, start=4, len=1);\n" text                                   \
         "concat(src1=l, src2=m, src3=r | dst=y | axis=3);\n")

TEST(some_channels_go_into_another_image)
{
    static const struct {
        const char *why, *parts, *into;
    } models[] = {
        {"maxima",
         INTO_PART("maxpool2d_nhwc_cpu(src=c | dst=m | size=[2, 2], stride=[2, 2], out=[2, 3]);\n"),
         INTO("maxpool2d_nhwc_cpu(src=x, into=z | dst=y | size=[2, 2], stride=[2, 2], out=[2, 3], "
              "src_first=1, src_channels=2, dst_first=2);\n")},
        {"means", INTO_PART("avgpool2d_nhwc_cpu(src=c | dst=m | size=[2, 4], stride=[2, 1]);\n"),
         INTO("avgpool2d_nhwc_cpu(src=x, into=z | dst=y | size=[2, 4], stride=[2, 1], src_first=1, "
              "src_channels=2, dst_first=2);\n")},
        {"resized", INTO_PART("resize_nhwc_cpu(src=c | dst=m | out=[2, 3], mode=linear);\n"),
         INTO("resize_nhwc_cpu(src=x, into=z | dst=y | out=[2, 3], mode=linear, src_first=1, "
              "src_channels=2, dst_first=2);\n")},
    };
    for (size_t i = 0; i < 3; i++) {
        check_equal(models[i].why, models[i].parts, models[i].into);
    }
}

TEST(what_does_not_fit_is_refused)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {MAX("size=[8, 1]"), "size"},
        {MAX("size=[1, 1], out=[8, 6]"), "window 7 is past the end of an image of 7 pixels"},
        {MAX("size=[1, 1], src_first=1"), "channels from 1 on are not among 3"},
        {MAX("size=[1, 1], src_channels=4"), "channels from 0 on are not among 3"},
        {MAX("size=[1, 1], dst_first=1"), "channels from 1 on are not among 3"},
        {X "maxpool2d_nhwc_cpu(src=x, into=x | dst=y | size=[2, 2], dst_first=0);\n", "`into` has"},
        {AVG("size=[2147483647, 1], padding=[2147483647, 0, 2147483647, 0]"), ""},
        {RESIZE("out=[2147483647, 2147483647]"), ""},
        {RESIZE("out=[0, 3]"), "out"},
        {RESIZE("out=[3, 3], mode=cubic"), "mode"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        onnx_check_refused(cases[i].text, cases[i].words);
}

TEST_LIST(they_give_what_onnx_gives, bytes_are_pooled_as_onnx_pools_them,
          some_channels_go_into_another_image, what_does_not_fit_is_refused)
