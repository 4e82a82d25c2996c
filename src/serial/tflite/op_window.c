// SPDX-License-Identifier: Apache-2.0
// Operators on images: convolutions, pools, resizing. In the file channels are the last axis and
// here the second one; what transposes between them stays where the layout of a target needs it.

#include "serial/tflite/builder.h"

#include <string.h>

enum { SAME = 0, VALID = 1 };

// [O, H, W, I] and [1, H, W, O] become [O, I, H, W]; [O, H, W, I] of a transposed convolution too.
static const int of_conv[] = {0, 3, 1, 2};
static const int of_depthwise[] = {3, 0, 1, 2};
static const int of_transposed[] = {3, 0, 1, 2};

// What the parameters of windows are called: by ONNX, and by quant_conv of the core.
typedef struct words {
    const char *padding, *strides, *dilations;
} words;

static const words of_onnx = {"auto_pad", "strides", "dilations"};
static const words of_core = {"autopad", "stride", "dilation"};

static void padding(ln_tflite_op *op, const words *in, int64_t kind)
{
    if (kind != SAME && kind != VALID)
        ln_tflite_problem(op, NULL, "its padding is %lld, neither SAME nor VALID", (long long)kind);
    ln_tflite_string(op->b, in->padding, kind == SAME ? "SAME_UPPER" : "VALID");
}

// Options of height and width, of which the file has the width first.
static void pair(ln_tflite_op *op, const char *param, unsigned width_field, int64_t absent)
{
    int64_t width = ln_tflite_option(op, width_field, absent);
    int64_t height = ln_tflite_option(op, width_field + 1, absent);
    if (width < 1 || height < 1)
        ln_tflite_problem(op, NULL, "its %s are %lld and %lld", param, (long long)height,
                          (long long)width);
    ln_tflite_numbers(op->b, param, 2, (const double[]){(double)height, (double)width});
}

// ---- Convolutions ----

static const char *begin_product(ln_tflite_builder *b, const char *optype, const char *x,
                                 const char *w, const char *bias)
{
    const char *y = ln_tflite_binary(b, optype, x, w);
    if (bias)
        ln_tflite_in(b, bias);
    return y;
}

// An image by the weights at input 1, moved by `perm`, with the bias at input 2.
static const char *begin_conv(ln_tflite_op *op, const int *perm, bool is_fixed, bool is_symmetric)
{
    if (is_fixed) {
        const char *x = ln_tflite_raw_image(op, 0), *bias = ln_tflite_sum_bias(op, 2);
        return ln_tflite_sums(op, "quant_conv", x, ln_tflite_raw_weights(op, 1, 4, perm, 0), bias);
    }
    const char *x = ln_tflite_dynamic(op, ln_tflite_real_image(op, 0), 0, 1, 4, is_symmetric);
    const char *w = ln_tflite_weights(op, 1, 4, perm, 0);
    return begin_product(op->b, op->builtin->optype, x, w, ln_tflite_bias(op, 2, 0, 1));
}

static void give_conv(ln_tflite_op *op, const char *y, bool is_fixed, int64_t activation)
{
    if (!is_fixed) {
        ln_tflite_give_image(op, y, activation);
        return;
    }
    y = ln_tflite_rescaled_sums(op, y, 0, 1, 2, 1, activation);
    ln_tflite_give_raw(op, 0, ln_tflite_to_nhwc(op->b, y));
}

void ln_tflite_read_conv_2d(ln_tflite_op *op)
{
    const int64_t activation = ln_tflite_small_option(op, 3);
    const bool is_fixed = ln_tflite_is_fixed_product(op, 0, 1, 2, activation);
    const words *in = is_fixed ? &of_core : &of_onnx;
    const char *y = begin_conv(op, of_conv, is_fixed, ln_tflite_input(op, 1)->scales.count == 1);
    int channels = ln_tflite_input(op, 0)->dims[3], depth = ln_tflite_input(op, 1)->dims[3];
    if (channels > 0 && depth > 0 && channels % depth == 0)
        ln_tflite_number(op->b, "group", channels / depth);
    padding(op, in, ln_tflite_small_option(op, 0));
    pair(op, in->strides, 1, 0);
    pair(op, in->dilations, 4, 1);
    give_conv(op, y, is_fixed, activation);
}

void ln_tflite_read_depthwise_conv_2d(ln_tflite_op *op)
{
    const int64_t activation = ln_tflite_small_option(op, 4);
    const bool is_fixed = ln_tflite_is_fixed_product(op, 0, 1, 2, activation);
    const words *in = is_fixed ? &of_core : &of_onnx;
    int64_t channels = ln_tflite_input(op, 0)->dims[3], factor = ln_tflite_option(op, 3, 0);
    if (channels < 0 && factor > 0)
        channels = ln_tflite_input(op, 1)->dims[3] / factor;
    if (channels < 1)
        ln_tflite_problem(op, NULL, "it has %lld channels", (long long)channels);
    const char *y = begin_conv(op, of_depthwise, is_fixed, false);
    ln_tflite_number(op->b, "group", (double)channels);
    padding(op, in, ln_tflite_small_option(op, 0));
    pair(op, in->strides, 1, 0);
    pair(op, in->dilations, 5, 1);
    give_conv(op, y, is_fixed, activation);
}

// [N, D, H, W, C] and weights [D, H, W, I, O].
void ln_tflite_read_conv_3d(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    static const int of_weights[] = {4, 3, 0, 1, 2};
    const char *x = ln_tflite_real(op, 0);
    if (ln_tflite_input(op, 0)->ndim != 5)
        ln_tflite_problem(op, NULL, "'%s' has rank %d in place of 5", ln_tflite_input(op, 0)->name,
                          ln_tflite_input(op, 0)->ndim);
    x = ln_tflite_transpose(b, x, 5, (const int[]){0, 4, 1, 2, 3});
    const char *w = ln_tflite_weights(op, 1, 5, of_weights, 0);
    const char *bias = ln_tflite_bias(op, 2, 0, 1);
    const int channels = ln_tflite_input(op, 0)->dims[4], depth = ln_tflite_input(op, 1)->dims[3];
    const double strides[] = {(double)ln_tflite_option(op, 1, 0),
                              (double)ln_tflite_option(op, 3, 0),
                              (double)ln_tflite_option(op, 2, 0)};
    const double dilations[] = {(double)ln_tflite_option(op, 5, 1),
                                (double)ln_tflite_option(op, 7, 1),
                                (double)ln_tflite_option(op, 6, 1)};
    for (int i = 0; i < 3; i++) {
        if (strides[i] < 1 || dilations[i] < 1)
            ln_tflite_problem(op, NULL, "its stride is %g and its dilation %g", strides[i],
                              dilations[i]);
    }
    const char *y = begin_product(b, "Conv", x, w, bias);
    if (channels > 0 && depth > 0 && channels % depth == 0)
        ln_tflite_number(b, "group", channels / depth);
    padding(op, &of_onnx, ln_tflite_small_option(op, 0));
    ln_tflite_numbers(b, "strides", 3, strides);
    ln_tflite_numbers(b, "dilations", 3, dilations);
    y = ln_tflite_transpose(b, y, 5, (const int[]){0, 2, 3, 4, 1});
    ln_tflite_give(op, 0, y, ln_tflite_small_option(op, 4));
}

// Of an axis: the outputs that the convolution, of which this is the transpose, leaves out before
// its first and after its last.
static void find_pads(int64_t kind, int64_t in, int64_t out, int64_t size, int64_t stride,
                      double *before, double *after, double *more)
{
    int64_t count = kind == SAME ? (out + stride - 1) / stride : (out - size + stride) / stride;
    int64_t total = (count - 1) * stride + size - out;
    *before = total > 0 ? (double)(total / 2) : 0;
    double rest = (double)((in - 1) * stride + size - out) - *before;
    *after = rest > 0 ? rest : 0;
    *more = rest < 0 ? -rest : 0;
}

// A transposed convolution of input `x` to an image of `shape`.
typedef struct upsampling {
    size_t x;
    int64_t kind; // of the padding
    int64_t strides[2], shape[4];
} upsampling;

static const char *upsample(ln_tflite_op *op, const upsampling *u, const char *x, const char *w,
                            const char *bias)
{
    ln_tflite_builder *b = op->b;
    const ln_tflite_tensor *in = ln_tflite_input(op, u->x), *weights = ln_tflite_input(op, 1);
    double pads[4], more[2];
    for (int i = 0; i < 2; i++) {
        const int64_t size = weights->dims[1 + i], stride = u->strides[i], to = u->shape[1 + i];
        if (in->dims[1 + i] < 1 || size < 1 || stride < 1 || stride > INT32_MAX || to < 1 ||
            to > INT32_MAX) {
            ln_tflite_problem(op, "fix the size of its input when the model is converted",
                              "it makes an image of %lld from one of %d, with weights of %lld and "
                              "a stride of %lld",
                              (long long)to, in->dims[1 + i], (long long)size, (long long)stride);
            return "";
        }
        find_pads(u->kind, in->dims[1 + i], to, size, stride, &pads[i], &pads[2 + i], &more[i]);
    }
    const char *y = begin_product(b, "ConvTranspose", x, w, bias);
    ln_tflite_numbers(b, "pads", 4, pads);
    ln_tflite_numbers(b, "output_padding", 2, more);
    ln_tflite_numbers(b, "strides", 2,
                      (const double[]){(double)u->strides[0], (double)u->strides[1]});
    return y;
}

// What the file states of the output.
static void find_shape(ln_tflite_op *op, upsampling *u)
{
    const ln_tflite_tensor *out = ln_tflite_output(op, 0);
    for (int i = 0; i < 4 && out->ndim == 4; i++)
        u->shape[i] = out->dims[i];
}

// Doubles hold the sums exactly.
static void read_fixed_upsampling(ln_tflite_op *op, const upsampling *u, int64_t activation)
{
    ln_tflite_builder *b = op->b;
    const char *x = ln_tflite_integers(op, u->x, ln_tflite_raw_image(op, u->x), TL_DOUBLE);
    const char *w = ln_tflite_raw_weights(op, 1, 4, of_transposed, 1);
    const char *y = upsample(op, u, x, ln_tflite_integers(op, 1, w, TL_DOUBLE), NULL);
    const bool is_int16 = ln_tflite_input(op, u->x)->dtype == TL_INT16;
    y = ln_tflite_cast(b, y, is_int16 ? TL_INT64 : TL_INT32);
    const char *units = ln_tflite_sum_bias(op, 3);
    if (units)
        y = ln_tflite_binary(b, "Add", y,
                             ln_tflite_reshape(b, units, 3, (const int64_t[]){-1, 1, 1}));
    y = ln_tflite_rescaled_sums(op, y, 2, 1, 3, 1, activation);
    ln_tflite_give_raw(op, 0, ln_tflite_to_nhwc(b, y));
}

void ln_tflite_read_transpose_conv(ln_tflite_op *op)
{
    upsampling u = {.x = 2,
                    .kind = ln_tflite_small_option(op, 0),
                    .strides = {ln_tflite_option(op, 2, 0), ln_tflite_option(op, 1, 0)}};
    size_t count = 4;
    find_shape(op, &u); // one that is computed is this one, too
    if (ln_tflite_is_known(op, 0) && !ln_tflite_known(op, 0, "shape", 4, u.shape, &count))
        return;
    if (count != 4)
        ln_tflite_problem(op, NULL, "its shape has %zu dimensions in place of 4", count);
    const int64_t activation = ln_tflite_small_option(op, 3);
    if (ln_tflite_is_fixed_product(op, 2, 1, 3, activation)) {
        read_fixed_upsampling(op, &u, activation);
        return;
    }
    const char *x = ln_tflite_real_image(op, 2), *w = ln_tflite_weights(op, 1, 4, of_transposed, 1);
    const char *y = upsample(op, &u, x, w, ln_tflite_bias(op, 3, 2, 1));
    ln_tflite_give_image(op, y, activation);
}

// MediaPipe's form, whose options are three integers: the padding, 1 for SAME and 2 for VALID, and
// strides along rows and columns.
void ln_tflite_read_transpose_bias(ln_tflite_op *op)
{
    int32_t options[3] = {0};
    if (op->custom.count >= sizeof options)
        memcpy(options, op->b->file->bytes + op->custom.at, sizeof options);
    upsampling u = {.kind = options[0] - 1, .strides = {options[2], options[1]}};
    find_shape(op, &u);
    if (options[0] != 1 && options[0] != 2)
        ln_tflite_problem(op, NULL, "its padding is %d, where 1 and 2 are known", (int)options[0]);
    const char *x = ln_tflite_real_image(op, 0), *w = ln_tflite_weights(op, 1, 4, of_transposed, 1);
    const char *bias = ln_tflite_has(op, 2) ? ln_tflite_bias(op, 2, 0, 1) : NULL;
    ln_tflite_give_image(op, upsample(op, &u, x, w, bias), 0);
}

// ---- Pools ----

static void windows(ln_tflite_op *op)
{
    padding(op, &of_onnx, ln_tflite_small_option(op, 0));
    pair(op, "strides", 1, 0);
    pair(op, "kernel_shape", 3, 0);
}

// Means of integers are rounded to nearest, ties away from zero, whatever the zero point is. They
// are made larger by 2^-21 of themselves, so that ties are none: that is more than the 2^-22 by
// which the mean and its quantization in floats may be off, and a mean of 2^11 taps that is not
// halfway is at least 2^-12 from there, of which 256 * (2^-21 + 2^-22) is less; so is
// 2^15 * (2^-21 + 2^-22) than the 2^-5 of 2^4 taps of int16.
#define MEAN_UNIT (1 - 0x1p-21)

static int64_t max_taps(tl_dtype dtype)
{
    switch (dtype) {
    case TL_INT8:
    case TL_UINT8: return 2048;
    case TL_INT16: return 16;
    default: return 0;
    }
}

static bool has_means_of_integers(ln_tflite_op *op)
{
    const int64_t most = max_taps(ln_tflite_input(op, 0)->dtype);
    const int64_t width = ln_tflite_option(op, 3, 0), height = ln_tflite_option(op, 4, 0);
    return ln_tflite_small_option(op, 5) == 0 && width > 0 && height > 0 && width <= most &&
           height <= most / width && ln_tflite_is_quantized(ln_tflite_input(op, 0)) &&
           ln_tflite_is_moved(op, 0, 1);
}

static void give_means_of_integers(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const char *zero = ln_tflite_scalar(b, ln_tflite_input(op, 0)->dtype, 0);
    const char *x = ln_tflite_raw_image(op, 0);
    x = ln_tflite_ternary(b, "DequantizeLinear", x, ln_tflite_scalar(b, TL_FLOAT, 1), zero);
    const char *y = ln_tflite_unary(b, "AveragePool", x);
    windows(op);
    y = ln_tflite_ternary(b, "QuantizeLinear", y, ln_tflite_scalar(b, TL_FLOAT, MEAN_UNIT), zero);
    ln_tflite_give_raw(op, 0, ln_tflite_to_nhwc(b, y));
}

// Doubles hold the sums exactly.
static void give_fixed_means(ln_tflite_op *op, int64_t activation)
{
    ln_tflite_builder *b = op->b;
    const char *x = ln_tflite_cast(b, ln_tflite_raw_image(op, 0), TL_DOUBLE);
    const char *y = ln_tflite_unary(b, "AveragePool", x);
    windows(op);
    y = ln_tflite_fixed_means(op, y, activation);
    ln_tflite_give_raw(op, 0, ln_tflite_to_nhwc(b, y));
}

void ln_tflite_read_average_pool(ln_tflite_op *op)
{
    if (has_means_of_integers(op)) {
        give_means_of_integers(op);
        return;
    }
    const int64_t activation = ln_tflite_small_option(op, 5);
    if (ln_tflite_has_fixed_means(op, ln_tflite_option(op, 3, 0), ln_tflite_option(op, 4, 0),
                                  activation)) {
        give_fixed_means(op, activation);
        return;
    }
    const char *y = ln_tflite_unary(op->b, "AveragePool", ln_tflite_real_image(op, 0));
    windows(op);
    ln_tflite_give_image(op, y, activation);
}

// The root of the mean of squares.
void ln_tflite_read_l2_pool(ln_tflite_op *op)
{
    const char *x = ln_tflite_real_image(op, 0);
    const char *y = ln_tflite_unary(op->b, "AveragePool", ln_tflite_binary(op->b, "Mul", x, x));
    windows(op);
    ln_tflite_give_image(op, ln_tflite_unary(op->b, "Sqrt", y), ln_tflite_small_option(op, 5));
}

void ln_tflite_read_max_pool(ln_tflite_op *op)
{
    int64_t activation = ln_tflite_small_option(op, 5);
    const ln_tflite_tensor *in = ln_tflite_input(op, 0);
    bool is_moved = activation == 0 && in->dtype != TL_INT16 && ln_tflite_is_moved(op, 0, 1);
    const char *x = is_moved ? ln_tflite_raw_image(op, 0) : ln_tflite_real_image(op, 0);
    const char *y = ln_tflite_unary(op->b, "MaxPool", x);
    windows(op);
    if (is_moved)
        ln_tflite_give_raw(op, 0, ln_tflite_to_nhwc(op->b, y));
    else
        ln_tflite_give_image(op, y, activation);
}

// ---- Sizes ----

static void resize(ln_tflite_op *op, const char *mode, const char *places, const char *rounding)
{
    ln_tflite_builder *b = op->b;
    const char *x = ln_tflite_real_image(op, 0), *sizes;
    int64_t size[2];
    size_t count;
    if (!ln_tflite_is_known(op, 1))
        sizes = ln_tflite_dims(op, 1);
    else if (!ln_tflite_known(op, 1, "size", 2, size, &count))
        return;
    else
        sizes = ln_tflite_ints(b, count, size);
    ln_tflite_begin(b, "Resize");
    ln_tflite_in(b, x);
    ln_tflite_in(b, NULL);
    ln_tflite_in(b, NULL);
    ln_tflite_in(b, sizes);
    const char *y = ln_tflite_out(b);
    ln_tflite_numbers(b, "axes", 2, (const double[]){2, 3});
    ln_tflite_string(b, "mode", mode);
    ln_tflite_string(b, "coordinate_transformation_mode", places);
    ln_tflite_string(b, "nearest_mode", rounding);
    ln_tflite_give_image(op, y, 0);
}

void ln_tflite_read_resize_bilinear(ln_tflite_op *op)
{
    int64_t is_aligned = ln_tflite_small_option(op, 2), is_half = ln_tflite_small_option(op, 3);
    if (ln_tflite_read_fixed_resize(op, is_aligned != 0, is_half != 0))
        return;
    resize(op, "linear",
           is_aligned ? "align_corners"
           : is_half  ? "half_pixel"
                      : "asymmetric",
           "floor");
}

void ln_tflite_read_resize_nearest_neighbor(ln_tflite_op *op)
{
    int64_t is_aligned = ln_tflite_small_option(op, 0), is_half = ln_tflite_small_option(op, 1);
    const char *places = is_aligned ? "align_corners"
                         : is_half  ? "tf_half_pixel_for_nn"
                                    : "asymmetric";
    resize(op, "nearest", places, is_aligned ? "round_prefer_ceil" : "floor");
}

static void move_blocks(ln_tflite_op *op)
{
    bool is_moved = ln_tflite_is_moved(op, 0, 1);
    const char *x = is_moved ? ln_tflite_raw_image(op, 0) : ln_tflite_real_image(op, 0);
    const char *y = ln_tflite_unary(op->b, op->builtin->optype, x);
    ln_tflite_number(op->b, "blocksize", (double)ln_tflite_option(op, 0, 0));
    if (is_moved)
        ln_tflite_give_raw(op, 0, ln_tflite_to_nhwc(op->b, y));
    else
        ln_tflite_give_image(op, y, 0);
}

void ln_tflite_read_space_to_depth(ln_tflite_op *op)
{
    move_blocks(op);
}

void ln_tflite_read_depth_to_space(ln_tflite_op *op)
{
    move_blocks(op);
}

void ln_tflite_read_local_response_normalization(ln_tflite_op *op)
{
    const char *y = ln_tflite_unary(op->b, "LRN", ln_tflite_real_image(op, 0));
    double size = 2.0 * (double)ln_tflite_option(op, 0, 0) + 1;
    ln_tflite_number(op->b, "size", size);
    ln_tflite_number(op->b, "bias", ln_tflite_float_option(op, 1, 0));
    ln_tflite_number(op->b, "alpha", ln_tflite_float_option(op, 2, 0) * size);
    ln_tflite_number(op->b, "beta", ln_tflite_float_option(op, 3, 0));
    ln_tflite_give_image(op, y, 0);
}
