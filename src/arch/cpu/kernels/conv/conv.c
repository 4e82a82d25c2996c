// SPDX-License-Identifier: Apache-2.0
// Drives convolution along one of three paths, which the shape alone decides:
//
//   pointwise   1x1, stride 1, no padding: a matrix product on the image as it is
//   depthwise   one input channel a group, few outputs: direct, on a padded copy of the channel
//   general     implicit gemm: panels of output pixels are gathered as a gemm tile needs them
//
// The last two put zeros around the image, and what that does to weights that are not finite is
// mended after them.
//
// The matrix of the general path is never whole in memory: the workspace is one panel.

#include "arch/cpu/kernels/conv/conv.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "arch/cpu/kernels/gemm/gemm.h"
#include "base/checked.h"
#include "base/minmax.h"

// ---- Shapes ----

// How far a vector's gather may step, in floats; keeps its 32-bit offsets from overflowing.
#define MAX_STRIDE ((size_t)1 << 24)

static bool is_pointwise(const ln_conv_shape *s)
{
    return s->kernel_h == 1 && s->kernel_w == 1 && s->stride_h == 1 && s->stride_w == 1 &&
           s->pad_top == 0 && s->pad_left == 0 && s->out_h == s->in_h && s->out_w == s->in_w;
}

// A channel that many outputs read is gathered once for all of them. With a 3x3 window the
// depthwise path takes half as long for 4 outputs, and longer for 12.
#define MAX_DEPTHWISE_OUTPUTS 8

static bool is_depthwise(const ln_conv_shape *s)
{
    return s->in_channels == s->group && s->out_channels / s->group <= MAX_DEPTHWISE_OUTPUTS &&
           !is_pointwise(s);
}

// *out = (count - 1) * step + 1, the places that `count` >= 1 steps span; false on overflow.
static bool span(size_t count, size_t step, size_t *out)
{
    return ln_size_mul(count - 1, step, out) && ln_size_add(*out, 1, out);
}

// Rows and columns per phase of the padded image that a depthwise convolution reads.
static bool padded_size(const ln_conv_shape *s, size_t *out_rows, size_t *out_phase_w)
{
    size_t ln_conv_f32_kernelss, kernel_cols;
    return span(s->kernel_h, s->dilation_h, &ln_conv_f32_kernelss) &&
           span(s->kernel_w, s->dilation_w, &kernel_cols) &&
           ln_size_mul(s->out_h, s->stride_h, out_rows) &&
           ln_size_add(*out_rows, ln_conv_f32_kernelss, out_rows) &&
           ln_size_add(s->out_w, (kernel_cols - 1) / s->stride_w + 1, out_phase_w);
}

// Bytes of the workspace, and whether all tensors and sums of positions are within reach.
static bool sizes_fit(const ln_conv_shape *s, size_t *out_workspace)
{
    *out_workspace = 0;
    size_t ignored, rows, phase_w, reach_h, reach_w;
    const size_t x[] = {s->batch, s->in_channels, s->in_h, s->in_w};
    const size_t y[] = {s->batch, s->out_channels, s->out_h, s->out_w};
    const size_t weight[] = {s->out_channels, s->in_channels / s->group, s->kernel_h, s->kernel_w};
    const size_t panel[] = {s->in_channels / s->group, s->kernel_h, s->kernel_w,
                            LN_GEMM_F32_MAX_NR};

    if (!ln_float_bytes(x, 4, &ignored) || !ln_float_bytes(y, 4, &ignored) ||
        !ln_float_bytes(weight, 4, &ignored))
        return false;
    if (!padded_size(s, &rows, &phase_w) || !ln_size_mul(s->out_w, s->stride_w, &reach_w) ||
        !ln_size_add(reach_w, phase_w, &reach_w) || !ln_size_mul(phase_w, s->stride_w, &reach_w) ||
        !ln_size_add(reach_w, s->pad_left, &reach_w) || !ln_size_add(rows, s->pad_top, &reach_h))
        return false;
    if (reach_h > PTRDIFF_MAX || reach_w > PTRDIFF_MAX)
        return false;

    if (is_depthwise(s)) {
        const size_t image[] = {rows, s->stride_w, phase_w};
        return ln_float_bytes(image, 3, out_workspace);
    }
    return ln_float_bytes(panel, 4, out_workspace);
}

ln_status ln_conv2d_check(const ln_conv_shape *shape)
{
    size_t workspace;
    LN_TRY(ln_conv_shape_check(shape, "conv", MAX_STRIDE));
    if (!sizes_fit(shape, &workspace))
        return LN_FAIL(LN_INVALID, "conv2d: sizes overflow");
    return LN_OK;
}

size_t ln_conv2d_f32_workspace(const ln_conv_shape *shape)
{
    size_t byte_count;
    if (ln_conv2d_check(shape) != LN_OK || !sizes_fit(shape, &byte_count))
        return SIZE_MAX;
    return byte_count;
}

// ---- Paths ----

// One image of one group; x, y, weight and bias are the group's.
typedef struct group_work {
    const ln_conv_shape *shape;
    size_t in_channels;
    size_t out_channels;
    const float *x;
    const float *weight;
    const float *bias;
    float *y;
    ln_act act;
    float *workspace;
} group_work;

static void run_pointwise(ln_cpu_isa isa, const group_work *w)
{
    size_t pixels = w->shape->out_h * w->shape->out_w;
    ln_gemm_f32_args args = {.m = w->out_channels,
                             .n = pixels,
                             .k = w->in_channels,
                             .a = w->weight,
                             .a_stride = w->in_channels,
                             .b = w->x,
                             .b_stride = pixels,
                             .c = w->y,
                             .c_stride = pixels,
                             .row_bias = w->bias,
                             .act = w->act};
    ln_gemm_f32(isa, &args, w->workspace);
}

// Copies an image between zeros, its columns dealt to the phases of the stride.
static void pad_image(const ln_conv_shape *s, const float *x, float *image, size_t rows,
                      size_t phase_w)
{
    size_t stride = s->stride_w;
    memset(image, 0, rows * stride * phase_w * sizeof *image);
    for (size_t row = 0; row < rows; row++) {
        if (row < s->pad_top || row - s->pad_top >= s->in_h)
            continue;
        const float *from = x + (row - s->pad_top) * s->in_w;
        float *to = image + row * stride * phase_w;
        for (size_t phase = 0; phase < stride; phase++) {
            // The first number of the phase whose column is inside the input.
            size_t i = s->pad_left > phase ? ln_div_up(s->pad_left - phase, stride) : 0;
            for (; i < phase_w; i++) {
                size_t col = i * stride + phase - s->pad_left;
                if (col >= s->in_w)
                    break;
                to[phase * phase_w + i] = from[col];
            }
        }
    }
}

static void run_depthwise(const ln_conv_f32_kernels *set, const group_work *w)
{
    const ln_conv_shape *s = w->shape;
    size_t rows, phase_w;
    if (!padded_size(s, &rows, &phase_w))
        return; // the check has refused it

    pad_image(s, w->x, w->workspace, rows, phase_w);
    for (size_t channel = 0; channel < w->out_channels; channel++) {
        ln_depthwise_f32_args args = {.image = w->workspace,
                                      .phase_w = phase_w,
                                      .shape = s,
                                      .weight = w->weight + channel * s->kernel_h * s->kernel_w,
                                      .bias = w->bias ? w->bias + channel : NULL,
                                      .y = w->y + channel * s->out_h * s->out_w,
                                      .act = w->act};
        set->depthwise(&args);
    }
}

// Gathers the pixels [pixel, pixel + count) into a panel.
static void gather_panel(const ln_conv_f32_kernels *set, const group_work *w, size_t pixel,
                         size_t count, size_t nr)
{
    const ln_conv_shape *s = w->shape;
    ln_im2col_run run = {
        .x = w->x, .channels = w->in_channels, .shape = s, .panel = w->workspace, .nr = nr};
    while (run.first < count) {
        run.out_y = (pixel + run.first) / s->out_w;
        run.out_x = (pixel + run.first) % s->out_w;
        run.count = s->out_w - run.out_x;
        if (run.count > count - run.first)
            run.count = count - run.first;
        set->im2col(&run);
        run.first += run.count;
    }
}

static void run_general(ln_cpu_isa isa, const ln_conv_f32_kernels *set, const group_work *w)
{
    const ln_conv_shape *s = w->shape;
    const ln_gemm_f32_kernel *gemm = ln_gemm_f32_select(isa);
    size_t pixels = s->out_h * s->out_w;
    size_t k = w->in_channels * s->kernel_h * s->kernel_w;

    // A tile reads whole rows of the panel; what no pixel fills must be defined.
    if (k && pixels % gemm->nr)
        memset(w->workspace, 0, k * gemm->nr * sizeof(float));
    for (size_t pixel = 0; pixel < pixels; pixel += gemm->nr) {
        size_t count = ln_min(pixels - pixel, gemm->nr);
        gather_panel(set, w, pixel, count, gemm->nr);
        ln_gemm_f32_args panel = {.m = w->out_channels,
                                  .n = count,
                                  .k = k,
                                  .a = w->weight,
                                  .a_stride = k,
                                  .b = w->workspace,
                                  .b_stride = gemm->nr,
                                  .c = w->y + pixel,
                                  .c_stride = pixels,
                                  .row_bias = w->bias,
                                  .act = w->act};
        ln_gemm_f32_panel(gemm, &panel);
    }
}

// ---- The border ----

// The outputs [*out_first, *out_end) of one axis whose kernel is inside the input.
static void find_inner(size_t out, size_t in, size_t reach, size_t stride, size_t pad,
                       size_t *out_first, size_t *out_end)
{
    size_t first = ln_div_up(pad, stride);
    size_t end = in + pad > reach ? (in + pad - reach - 1) / stride + 1 : 0;
    *out_end = ln_min(end, out);
    *out_first = first < *out_end ? first : *out_end;
}

static void mend_row(const ln_conv_f32_kernels *set, ln_conv2d_pixel_f32_args *pixel, float *row,
                     size_t first, size_t end)
{
    for (size_t x = first; x < end; x++) {
        if (row[x] == row[x])
            continue;
        pixel->out_x = x;
        pixel->y = row + x;
        set->pixel(pixel);
    }
}

// Sums every NaN again that may come from a weight outside the input times zero.
static void mend_border(const ln_conv_f32_kernels *set, const group_work *w)
{
    const ln_conv_shape *s = w->shape;
    size_t top, bottom, left, right;
    find_inner(s->out_h, s->in_h, (s->kernel_h - 1) * s->dilation_h, s->stride_h, s->pad_top, &top,
               &bottom);
    find_inner(s->out_w, s->in_w, (s->kernel_w - 1) * s->dilation_w, s->stride_w, s->pad_left,
               &left, &right);
    for (size_t o = 0; o < w->out_channels; o++) {
        ln_conv2d_pixel_f32_args pixel = {
            .shape = s,
            .x = w->x,
            .channels = w->in_channels,
            .weight = w->weight + o * w->in_channels * s->kernel_h * s->kernel_w,
            .bias = w->bias ? w->bias + o : NULL,
            .act = w->act,
        };
        float *row = w->y + o * s->out_h * s->out_w;
        for (size_t y = 0; y < s->out_h; y++, row += s->out_w) {
            bool is_inner = y >= top && y < bottom;
            pixel.out_y = y;
            mend_row(set, &pixel, row, 0, is_inner ? left : s->out_w);
            if (is_inner)
                mend_row(set, &pixel, row, right, s->out_w);
        }
    }
}

void ln_conv2d_f32(ln_cpu_isa isa, const ln_conv2d_f32_args *args, float *workspace)
{
    const ln_conv_shape *s = &args->shape;
    const ln_conv_f32_kernels *set = ln_conv_f32_select(isa);
    size_t in_channels = s->in_channels / s->group;
    size_t out_channels = s->out_channels / s->group;
    size_t in_size = in_channels * s->in_h * s->in_w;
    size_t out_size = out_channels * s->out_h * s->out_w;
    size_t weight_size = out_channels * in_channels * s->kernel_h * s->kernel_w;
    if (out_size == 0)
        return;

    for (size_t i = 0; i < s->batch; i++) {
        for (size_t g = 0; g < s->group; g++) {
            group_work work = {.shape = s,
                               .in_channels = in_channels,
                               .out_channels = out_channels,
                               .x = args->x + (i * s->group + g) * in_size,
                               .weight = args->weight + g * weight_size,
                               .bias = args->bias ? args->bias + g * out_channels : NULL,
                               .y = args->y + (i * s->group + g) * out_size,
                               .act = args->act,
                               .workspace = workspace};
            if (is_pointwise(s)) {
                run_pointwise(isa, &work);
                continue;
            }
            if (is_depthwise(s))
                run_depthwise(set, &work);
            else
                run_general(isa, set, &work);
            mend_border(set, &work);
        }
    }
}
