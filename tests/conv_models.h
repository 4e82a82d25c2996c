// SPDX-License-Identifier: Apache-2.0
// Random stacks of convolutions as text: what image models are made of, put together in ways that
// nobody designs.
//
// Every choice is taken from `next`, so that a test feeds it numbers of a seed and a fuzzer its
// bytes. The model has one input, `x`; what nobody reads is an output, some read tensors are too.

#ifndef LN_TESTS_CONV_MODELS_H
#define LN_TESTS_CONV_MODELS_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#define CONV_MODEL_MAX_TEXT    65536
#define CONV_MODEL_MAX_TENSORS 64

typedef struct conv_tensor {
    int channels, height, width;
} conv_tensor;

typedef struct conv_model {
    unsigned (*next)(void *user); // the next choice
    void *user;
    char text[CONV_MODEL_MAX_TEXT];
    size_t len;
    int batch, constant_count;
    conv_tensor tensors[CONV_MODEL_MAX_TENSORS]; // named t0, t1, ...
    int count;
} conv_model;

// ---- Choices and text ----

static inline int conv_pick(conv_model *m, int least, int most)
{
    return least + (int)(m->next(m->user) % (unsigned)(most - least + 1));
}

__attribute__((format(printf, 2, 3))) static inline void conv_say(conv_model *m, const char *format,
                                                                  ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(m->text + m->len, sizeof m->text - m->len, format, args);
    va_end(args);
    m->len += n > 0 && (size_t)n < sizeof m->text - m->len ? (size_t)n : 0;
}

static inline int conv_constant(conv_model *m, const char *dims, double least, double most)
{
    conv_say(m, "create(| dst=k%d | dtype=TL_FLOAT, dims=[%s], ran=[%g, %g]);\n", m->constant_count,
             dims, least, most);
    return m->constant_count++;
}

static inline int conv_row(conv_model *m, int count, double least, double most)
{
    char dims[16];
    snprintf(dims, sizeof dims, "%d", count);
    return conv_constant(m, dims, least, most);
}

static inline int conv_add(conv_model *m, int channels, int height, int width)
{
    m->tensors[m->count] = (conv_tensor){channels, height, width};
    return m->count++;
}

// Later tensors more often.
static inline int conv_any(conv_model *m)
{
    int a = conv_pick(m, 0, m->count - 1), b = conv_pick(m, 0, m->count - 1);
    return a > b ? a : b;
}

// One of the height and width of `t`, and of its channels unless they do not matter; `t` itself if
// there is no other.
static inline int conv_alike(conv_model *m, int t, int with_channels)
{
    int found = t;
    for (int tries = 0; tries < 6; tries++) {
        int other = conv_pick(m, 0, m->count - 1);
        if (m->tensors[other].height == m->tensors[t].height &&
            m->tensors[other].width == m->tensors[t].width &&
            (!with_channels || m->tensors[other].channels == m->tensors[t].channels))
            found = other;
    }
    return found;
}

// ---- Operators ----

static inline int conv_out(int in, int size, int stride, int pad, int dilation)
{
    int reach = in + pad - dilation * (size - 1) - 1;
    return reach < 0 ? 0 : reach / stride + 1;
}

static inline int conv_group(conv_model *m, int channels)
{
    switch (conv_pick(m, 0, 4)) {
    case 0: return channels;
    case 1: return channels % 2 == 0 ? 2 : 1;
    case 2: return channels % 3 == 0 ? 3 : 1;
    default: return 1;
    }
}

static inline void conv_conv(conv_model *m, int t)
{
    static const int sizes[] = {1, 1, 3, 3, 3, 3, 5, 2, 7};
    const conv_tensor in = m->tensors[t];
    int group = conv_group(m, in.channels), size[2], stride[2], dilation[2], pad[4], out[2];
    int channels = group * conv_pick(m, 1, group == 1 ? 40 : group == in.channels ? 1 : 9);
    size[0] = sizes[conv_pick(m, 0, 8)];
    size[1] = conv_pick(m, 0, 5) == 0 ? sizes[conv_pick(m, 0, 8)] : size[0];
    for (int i = 0; i < 2; i++) {
        stride[i] = i && conv_pick(m, 0, 4) ? stride[0] : conv_pick(m, 0, 3) == 0 ? 2 : 1;
        dilation[i] = conv_pick(m, 0, 7) == 0 ? 2 : 1;
        pad[i] = pad[2 + i] = size[i] / 2;
        if (conv_pick(m, 0, 4) == 0)
            pad[2 + i] = conv_pick(m, 0, size[i]);
        out[i] = conv_out(i ? in.width : in.height, size[i], stride[i], pad[i] + pad[2 + i],
                          dilation[i]);
    }
    if (out[0] < 1 || out[1] < 1)
        return;
    char dims[64], bias[32] = "";
    double scale = 2.0 / (1 + in.channels / group * size[0] * size[1] / 8);
    snprintf(dims, sizeof dims, "%d, %d, %d, %d", channels, in.channels / group, size[0], size[1]);
    int w = conv_constant(m, dims, -scale, scale);
    if (conv_pick(m, 0, 2)) {
        int b = conv_row(m, channels, -1, 1);
        snprintf(bias, sizeof bias, ", B=k%d", b);
    }
    conv_say(m,
             "Conv(X=t%d, W=k%d%s | Y=t%d | group=%d, strides=[%d, %d], pads=[%d, %d, %d, %d], "
             "dilations=[%d, %d]);\n",
             t, w, bias, conv_add(m, channels, out[0], out[1]), group, stride[0], stride[1], pad[0],
             pad[1], pad[2], pad[3], dilation[0], dilation[1]);
}

static inline void conv_deconv(conv_model *m, int t)
{
    const conv_tensor in = m->tensors[t];
    int group = conv_group(m, in.channels), size[2], stride[2], pad[4], extra[2], out[2];
    int of_group = conv_pick(m, 1, group == 1 ? 20 : group == in.channels ? 1 : 9);
    for (int i = 0; i < 2; i++) {
        size[i] = conv_pick(m, 1, 4);
        stride[i] = conv_pick(m, 1, 3);
        pad[i] = conv_pick(m, 0, size[i] / 2);
        pad[2 + i] = conv_pick(m, 0, size[i] / 2);
        extra[i] = conv_pick(m, 0, stride[i] - 1);
        out[i] =
            ((i ? in.width : in.height) - 1) * stride[i] + size[i] + extra[i] - pad[i] - pad[2 + i];
    }
    if (out[0] < 1 || out[1] < 1 || out[0] > 40 || out[1] > 40)
        return;
    char dims[64], bias[32] = "";
    snprintf(dims, sizeof dims, "%d, %d, %d, %d", in.channels, of_group, size[0], size[1]);
    double scale = 2.0 / (1 + in.channels / group * size[0] * size[1] / 8);
    int w = conv_constant(m, dims, -scale, scale);
    if (conv_pick(m, 0, 2)) {
        int b = conv_row(m, group * of_group, -1, 1);
        snprintf(bias, sizeof bias, ", B=k%d", b);
    }
    conv_say(m,
             "ConvTranspose(X=t%d, W=k%d%s | Y=t%d | group=%d, strides=[%d, %d], "
             "pads=[%d, %d, %d, %d], output_padding=[%d, %d]);\n",
             t, w, bias, conv_add(m, group * of_group, out[0], out[1]), group, stride[0], stride[1],
             pad[0], pad[1], pad[2], pad[3], extra[0], extra[1]);
}

static inline void conv_norm(conv_model *m, int t)
{
    const conv_tensor in = m->tensors[t];
    int s = conv_row(m, in.channels, 0.5, 1.5), b = conv_row(m, in.channels, -1, 1);
    int mean = conv_row(m, in.channels, -1, 1), var = conv_row(m, in.channels, 0.5, 2);
    conv_say(
        m,
        "BatchNormalization(X=t%d, scale=k%d, B=k%d, input_mean=k%d, input_var=k%d | Y=t%d |);\n",
        t, s, b, mean, var, conv_add(m, in.channels, in.height, in.width));
}

// Normalised by its own moments.
static inline void conv_own_norm(conv_model *m, int t)
{
    const conv_tensor in = m->tensors[t];
    int s = conv_row(m, in.channels, 0.5, 1.5), b = conv_row(m, in.channels, -1, 1);
    int y = conv_add(m, in.channels, in.height, in.width);
    if (in.height * in.width < 4)
        conv_say(m, "Relu(X=t%d | Y=t%d |);\n", t, y);
    else if (conv_pick(m, 0, 1))
        conv_say(m, "InstanceNormalization(input=t%d, scale=k%d, B=k%d | output=t%d |);\n", t, s, b,
                 y);
    else
        conv_say(m, "GroupNormalization(X=t%d, scale=k%d, bias=k%d | Y=t%d | num_groups=%d);\n", t,
                 s, b, y, in.channels % 2 == 0 ? 2 : 1);
}

static inline void conv_prelu(conv_model *m, int t)
{
    const conv_tensor in = m->tensors[t];
    char dims[64];
    switch (conv_pick(m, 0, 3)) {
    case 0: snprintf(dims, sizeof dims, "1"); break;
    case 1: snprintf(dims, sizeof dims, "%d", in.width); break;
    default: snprintf(dims, sizeof dims, "%d, 1, 1", in.channels); break;
    }
    int s = conv_constant(m, dims, -0.5, 0.5);
    conv_say(m, "PRelu(X=t%d, slope=k%d | Y=t%d |);\n", t, s,
             conv_add(m, in.channels, in.height, in.width));
}

static inline void conv_act(conv_model *m, int t)
{
    const conv_tensor in = m->tensors[t];
    int y = conv_add(m, in.channels, in.height, in.width), low, high;
    switch (conv_pick(m, 0, 7)) {
    case 0: conv_say(m, "LeakyRelu(X=t%d | Y=t%d | alpha=0.2);\n", t, y); break;
    case 1: conv_say(m, "Sigmoid(X=t%d | Y=t%d |);\n", t, y); break;
    case 2: conv_say(m, "HardSwish(X=t%d | Y=t%d |);\n", t, y); break;
    case 3:
        low = conv_constant(m, "", 0, 0);
        high = conv_constant(m, "", 0.5, 1);
        conv_say(m, "Clip(input=t%d, min=k%d, max=k%d | output=t%d |);\n", t, low, high, y);
        break;
    case 4:
        conv_say(m, "Sigmoid(X=t%d | Y=u%d |);\nMul(A=t%d, B=u%d | C=t%d |);\n", t, y, t, y, y);
        break;
    case 5: conv_say(m, "lrelu(src=t%d | dst=t%d | negslope=0.1);\n", t, y); break;
    default: conv_say(m, "Relu(X=t%d | Y=t%d |);\n", t, y); break;
    }
}

static inline void conv_binary(conv_model *m, int t)
{
    const conv_tensor in = m->tensors[t];
    int other = conv_alike(m, t, 1), y = conv_add(m, in.channels, in.height, in.width);
    int is_swapped = conv_pick(m, 0, 1);
    conv_say(m, "%s(A=t%d, B=t%d | C=t%d |);\n", conv_pick(m, 0, 3) ? "Add" : "Mul",
             is_swapped ? other : t, is_swapped ? t : other, y);
}

// As many channels as `t`, one pixel each.
static inline void conv_squeeze(conv_model *m, int t)
{
    const conv_tensor in = m->tensors[t];
    int y = conv_add(m, in.channels, in.height, in.width);
    conv_say(m,
             "GlobalAveragePool(X=t%d | Y=g%d |);\nSigmoid(X=g%d | Y=h%d |);\n"
             "Mul(A=t%d, B=h%d | C=t%d |);\n",
             t, y, y, y, t, y, y);
}

static inline void conv_concat(conv_model *m, int t)
{
    conv_tensor in = m->tensors[t];
    int count = conv_pick(m, 2, 4), is_of_rows = conv_pick(m, 0, 9) == 0;
    conv_say(m, "Concat(inputs1=t%d", t);
    for (int i = 2; i <= count; i++) {
        int other = conv_alike(m, t, is_of_rows);
        conv_say(m, ", inputs%d=t%d", i, other);
        in.channels += is_of_rows ? 0 : m->tensors[other].channels;
        in.height += is_of_rows ? m->tensors[other].height : 0;
    }
    conv_say(m, " | concat_result=t%d | axis=%d);\n", conv_add(m, in.channels, in.height, in.width),
             is_of_rows ? 2 : 1);
}

static inline void conv_split(conv_model *m, int t)
{
    const conv_tensor in = m->tensors[t];
    int part = (in.channels + 1) / 2;
    if (in.channels < 2)
        return;
    int a = conv_add(m, part, in.height, in.width);
    int b = conv_add(m, in.channels - part, in.height, in.width);
    conv_say(m, "Split(input=t%d | outputs1=t%d, outputs2=t%d | axis=1, num_outputs=2);\n", t, a,
             b);
}

static inline void conv_slice(conv_model *m, int t)
{
    conv_tensor in = m->tensors[t];
    int axis = conv_pick(m, 0, 3) ? 1 : conv_pick(m, 2, 3);
    int *dim = axis == 1 ? &in.channels : axis == 2 ? &in.height : &in.width;
    int start = conv_pick(m, 0, *dim - 1);
    *dim = conv_pick(m, 1, *dim - start);
    conv_say(m, "slice(src=t%d | dst=t%d | axis=%d, start=%d, len=%d);\n", t,
             conv_add(m, in.channels, in.height, in.width), axis, start, *dim);
}

// A last window that begins behind the image and its first padding is left out.
static inline int conv_pool_out(int in, int size, int stride, const int pad[2], int is_ceil)
{
    int reach = in + pad[0] + pad[1] - size;
    if (reach < 0)
        return 0;
    int out = (reach + (is_ceil ? stride - 1 : 0)) / stride + 1;
    return (out - 1) * stride >= in + pad[0] ? out - 1 : out;
}

static inline void conv_pool(conv_model *m, int t)
{
    const conv_tensor in = m->tensors[t];
    int is_max = conv_pick(m, 0, 1), is_ceil = conv_pick(m, 0, 2) == 0;
    int size[2], stride[2], pad[4], out[2];
    for (int i = 0; i < 2; i++) {
        size[i] = conv_pick(m, 1, 4);
        stride[i] = conv_pick(m, 1, 3);
        pad[i] = conv_pick(m, 0, size[i] - 1);
        pad[2 + i] = conv_pick(m, 0, size[i] - 1);
        out[i] = conv_pool_out(i ? in.width : in.height, size[i], stride[i],
                               (int[]){pad[i], pad[2 + i]}, is_ceil);
    }
    if (out[0] < 1 || out[1] < 1)
        return;
    conv_say(m,
             "%s(X=t%d | Y=t%d | kernel_shape=[%d, %d], strides=[%d, %d], pads=[%d, %d, %d, %d]"
             "%s%s);\n",
             is_max ? "MaxPool" : "AveragePool", t, conv_add(m, in.channels, out[0], out[1]),
             size[0], size[1], stride[0], stride[1], pad[0], pad[1], pad[2], pad[3],
             is_ceil ? ", ceil_mode=1" : "",
             !is_max && conv_pick(m, 0, 1) ? ", count_include_pad=1" : "");
}

static inline void conv_resize(conv_model *m, int t)
{
    static const char *const places[] = {"half_pixel", "pytorch_half_pixel", "asymmetric",
                                         "align_corners"};
    const conv_tensor in = m->tensors[t];
    int height = conv_pick(m, 1, 2 * in.height), width = conv_pick(m, 1, 2 * in.width);
    if (height > 32 || width > 32)
        return;
    int y = conv_add(m, in.channels, height, width);
    conv_say(m,
             "create(| dst=s%d | dtype=TL_INT64, dims=[4], data=[%d, %d, %d, %d]);\n"
             "Resize(X=t%d, sizes=s%d | Y=t%d | mode=\"%s\", "
             "coordinate_transformation_mode=\"%s\");\n",
             y, m->batch, in.channels, height, width, t, y, y,
             conv_pick(m, 0, 1) ? "linear" : "nearest", places[conv_pick(m, 0, 3)]);
}

static inline void conv_shuffle(conv_model *m, int t)
{
    const conv_tensor in = m->tensors[t];
    int n = m->batch, group = in.channels % 2 == 0 ? 2 : in.channels % 3 == 0 ? 3 : 1;
    int y = conv_add(m, in.channels, in.height, in.width);
    conv_say(m,
             "reshape(src=t%d | dst=d%d | dims=[%d, %d, %d, %d, %d]);\n"
             "transpose(src=d%d | dst=e%d | axes=[0, 2, 1, 3, 4]);\n"
             "reshape(src=e%d | dst=t%d | dims=[%d, %d, %d, %d]);\n",
             t, y, n, group, in.channels / group, in.height, in.width, y, y, y, y, n, in.channels,
             in.height, in.width);
}

// Pixels as channels, and back.
static inline void conv_blocks(conv_model *m, int t)
{
    const conv_tensor in = m->tensors[t];
    if (in.channels % 4 == 0 && in.height <= 16 && in.width <= 16)
        conv_say(m, "DepthToSpace(input=t%d | output=t%d | blocksize=2, mode=%s);\n", t,
                 conv_add(m, in.channels / 4, 2 * in.height, 2 * in.width),
                 conv_pick(m, 0, 1) ? "CRD" : "DCR");
    else if (in.height % 2 == 0 && in.width % 2 == 0 && in.channels <= 20)
        conv_say(m, "SpaceToDepth(input=t%d | output=t%d | blocksize=2);\n", t,
                 conv_add(m, in.channels * 4, in.height / 2, in.width / 2));
}

static inline void conv_pad(conv_model *m, int t)
{
    static const char *const modes[] = {"constant", "edge", "reflect", "wrap"};
    const conv_tensor in = m->tensors[t];
    int pads[4], mode = conv_pick(m, 0, 3), y;
    for (int i = 0; i < 4; i++) {
        int room = i % 2 ? in.width : in.height;
        pads[i] = conv_pick(m, 0, mode == 0 ? 3 : room > 3 ? 2 : room - 1);
    }
    y = conv_add(m, in.channels, in.height + pads[0] + pads[2], in.width + pads[1] + pads[3]);
    conv_say(m,
             "create(| dst=s%d | dtype=TL_INT64, dims=[8], data=[0, 0, %d, %d, 0, 0, %d, %d]);\n"
             "create(| dst=z%d | dtype=TL_FLOAT, dims=[], data=[%d]);\n"
             "Pad(data=t%d, pads=s%d, constant_value=z%d | output=t%d | mode=%s);\n",
             y, pads[0], pads[1], pads[2], pads[3], y, conv_pick(m, 0, 1), t, y, y, y, modes[mode]);
}

// What has no channels-last form in the middle of a stack.
static inline void conv_stranger(conv_model *m, int t)
{
    const conv_tensor in = m->tensors[t];
    int y = conv_add(m, in.channels, in.height, in.width);
    if (conv_pick(m, 0, 1))
        conv_say(m, "softmax(src=t%d | dst=t%d | axis=%d);\n", t, y, conv_pick(m, 1, 3));
    else
        conv_say(m,
                 "reshape(src=t%d | dst=r%d | dims=[%d]);\nrelu(src=r%d | dst=q%d |);\n"
                 "reshape(src=q%d | dst=t%d | dims=[%d, %d, %d, %d]);\n",
                 t, y, m->batch * in.channels * in.height * in.width, y, y, y, y, m->batch,
                 in.channels, in.height, in.width);
}

// A convolution along a row of all pixels, forwards or transposed, and what follows it.
static inline void conv_line(conv_model *m, int t)
{
    const conv_tensor in = m->tensors[t];
    int length = in.height * in.width, size = conv_pick(m, 1, 5), stride = conv_pick(m, 1, 2);
    int channels = conv_pick(m, 1, 20), is_transposed = conv_pick(m, 0, 2) == 0;
    int out =
        is_transposed ? (length - 1) * stride + size : conv_out(length, size, stride, size - 1, 1);
    int y = conv_add(m, channels, 1, out);
    char dims[64];
    snprintf(dims, sizeof dims, "%d, %d, %d", is_transposed ? in.channels : channels,
             is_transposed ? channels : in.channels, size);
    int w = conv_constant(m, dims, -0.3, 0.3), s = conv_row(m, channels, 0.5, 1.5);
    conv_say(m, "reshape(src=t%d | dst=l%d | dims=[%d, %d, %d]);\n", t, y, m->batch, in.channels,
             length);
    if (is_transposed)
        conv_say(m, "ConvTranspose(X=l%d, W=k%d | Y=m%d | strides=[%d]);\n", y, w, y, stride);
    else
        conv_say(m, "Conv(X=l%d, W=k%d | Y=m%d | strides=[%d], pads=[%d, 0]);\n", y, w, y, stride,
                 size - 1);
    conv_say(m, "Mul(A=m%d, B=m%d | C=n%d |);\n", y, y, y);
    conv_say(m, "reshape(src=k%d | dst=o%d | dims=[%d, 1]);\n", s, y, channels);
    conv_say(m, "Add(A=n%d, B=o%d | C=p%d |);\n", y, y, y);
    conv_say(m, "Concat(inputs1=m%d, inputs2=p%d | concat_result=q%d | axis=2);\n", y, y, y);
    conv_say(m, "MaxPool(X=q%d | Y=u%d | kernel_shape=[2], strides=[2]);\n", y, y);
    conv_say(m, "reshape(src=u%d | dst=t%d | dims=[%d, %d, 1, %d]);\n", y, y, m->batch, channels,
             out);
}

// An image as a volume of depth, height, and width 1.
static inline void conv_volume(conv_model *m, int t)
{
    const conv_tensor in = m->tensors[t];
    int group = conv_group(m, in.channels), size[2], stride[2], pad[2], out[2];
    int channels = group * conv_pick(m, 1, 5);
    for (int i = 0; i < 2; i++) {
        size[i] = conv_pick(m, 1, 3);
        stride[i] = conv_pick(m, 1, 2);
        pad[i] = conv_pick(m, 0, 3);
        out[i] = conv_out(i ? in.width : in.height, size[i], stride[i], 2 * pad[i], 1);
    }
    if (out[0] < 1 || out[1] < 1)
        return;
    char dims[64];
    snprintf(dims, sizeof dims, "%d, %d, %d, %d, 1", channels, in.channels / group, size[0],
             size[1]);
    int w = conv_constant(m, dims, -0.3, 0.3), b = conv_row(m, channels, -1, 1);
    int y = conv_add(m, channels, out[0], out[1]);
    conv_say(m, "reshape(src=t%d | dst=v%d | dims=[%d, %d, %d, %d, 1]);\n", t, y, m->batch,
             in.channels, in.height, in.width);
    conv_say(m,
             "Conv(X=v%d, W=k%d, B=k%d | Y=w%d | group=%d, strides=[%d, %d, 1], "
             "pads=[%d, %d, 0, %d, %d, 0]);\n",
             y, w, b, y, group, stride[0], stride[1], pad[0], pad[1], pad[0], pad[1]);
    conv_say(m, "Relu(X=w%d | Y=x%d |);\n", y, y);
    conv_say(m, "reshape(src=x%d | dst=t%d | dims=[%d, %d, %d, %d]);\n", y, y, m->batch, channels,
             out[0], out[1]);
}

static inline void conv_step(conv_model *m)
{
    static void (*const makers[])(conv_model *, int) = {
        conv_conv,     conv_conv,   conv_conv,   conv_conv,    conv_conv,     conv_norm,
        conv_act,      conv_act,    conv_act,    conv_binary,  conv_binary,   conv_squeeze,
        conv_concat,   conv_concat, conv_concat, conv_split,   conv_slice,    conv_slice,
        conv_pool,     conv_pool,   conv_resize, conv_shuffle, conv_stranger, conv_deconv,
        conv_own_norm, conv_prelu,  conv_blocks, conv_line,    conv_volume,   conv_pad,
    };
    int t = conv_any(m);
    makers[conv_pick(m, 0, (int)(sizeof makers / sizeof makers[0]) - 1)](m, t);
}

// Fills in `text`; `next` and `user` are set.
static inline void conv_model_write(conv_model *m)
{
    m->len = 0;
    m->count = m->constant_count = 0;
    m->batch = conv_pick(m, 1, 3);
    int c = conv_pick(m, 1, 36), h = conv_pick(m, 1, 14), w = conv_pick(m, 1, 14);
    conv_say(m, "input(| dst=t0 | dtype=TL_FLOAT, dims=[%d, %d, %d, %d]);\n", m->batch, c, h, w);
    conv_add(m, c, h, w);
    for (int steps = conv_pick(m, 2, 14); steps > 0 && m->count < CONV_MODEL_MAX_TENSORS - 2;
         steps--)
        if (m->tensors[m->count - 1].channels < 160)
            conv_step(m);
    for (int outputs = conv_pick(m, 0, 5) - 3; m->count > 1 && outputs > 0; outputs--)
        conv_say(m, "output(src=t%d | |);\n", conv_pick(m, 1, m->count - 1));
}

#endif
