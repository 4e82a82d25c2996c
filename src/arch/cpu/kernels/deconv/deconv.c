// SPDX-License-Identifier: Apache-2.0
// Drives a transposed convolution as stride_h * stride_w small convolutions.
//
// Each is a phase (deconv_phase.h), an implicit gemm over panels of pixels, with the weights of its
// taps alone:
//
//     workspace:   | weights of the phase, [O, K] | panel, [K, nr] | tile, [O, nr] |
//
// What a tap reads outside the input is zero there, which makes NaN of a weight that is not finite;
// those pixels are summed again, over the inside alone.

#include "arch/cpu/kernels/deconv/deconv.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "arch/cpu/kernels/deconv/deconv_phase.h"
#include "arch/cpu/kernels/gemm/gemm.h"
#include "base/checked.h"
#include "base/minmax.h"

// ---- Shapes ----

// Keeps products of two rests below 2^48.
#define MAX_STRIDE ((size_t)1 << 24)

// Whether positions on an axis are within reach of a size_t.
static bool axis_fits(size_t out, size_t pad, size_t kernel, size_t dilation, size_t stride)
{
    size_t last, distance;
    return ln_size_add(out, pad, &last) && ln_size_add(last, stride, &last) &&
           ln_size_mul(kernel, dilation, &distance) && last <= PTRDIFF_MAX &&
           distance <= PTRDIFF_MAX;
}

// Bytes of the workspace, and whether all tensors and positions are within reach.
static bool sizes_fit(const ln_conv_shape *s, size_t *out_workspace)
{
    size_t channels = s->in_channels / s->group, outs = s->out_channels / s->group;
    size_t ignored, packed, panel, tile;
    const size_t x[] = {s->batch, s->in_channels, s->in_h, s->in_w};
    const size_t y[] = {s->batch, s->out_channels, s->out_h, s->out_w};
    const size_t all_weights[] = {s->in_channels, outs, s->kernel_h, s->kernel_w};
    const size_t group_weights[] = {channels, outs, s->kernel_h, s->kernel_w};
    const size_t panels[] = {channels, s->kernel_h, s->kernel_w, LN_GEMM_F32_MAX_NR};
    const size_t tiles[] = {outs, LN_GEMM_F32_MAX_NR};

    *out_workspace = 0;
    return ln_float_bytes(x, 4, &ignored) && ln_float_bytes(y, 4, &ignored) &&
           ln_float_bytes(all_weights, 4, &ignored) && ln_float_bytes(group_weights, 4, &packed) &&
           ln_float_bytes(panels, 4, &panel) && ln_float_bytes(tiles, 2, &tile) &&
           ln_size_add(packed, panel, out_workspace) &&
           ln_size_add(*out_workspace, tile, out_workspace) && *out_workspace <= PTRDIFF_MAX &&
           axis_fits(s->out_h, s->pad_top, s->kernel_h, s->dilation_h, s->stride_h) &&
           axis_fits(s->out_w, s->pad_left, s->kernel_w, s->dilation_w, s->stride_w);
}

ln_status ln_deconv2d_check(const ln_conv_shape *shape)
{
    size_t workspace;
    LN_TRY(ln_conv_shape_check(shape, "deconv", MAX_STRIDE));
    if (!sizes_fit(shape, &workspace))
        return LN_FAIL(LN_INVALID, "deconv2d: sizes overflow");
    return LN_OK;
}

size_t ln_deconv2d_f32_workspace(const ln_conv_shape *shape)
{
    size_t byte_count;
    if (ln_deconv2d_check(shape) != LN_OK || !sizes_fit(shape, &byte_count))
        return SIZE_MAX;
    return byte_count;
}

// ---- Phases ----

// One group, and one of its phases.
typedef struct phase_work {
    const ln_conv2d_f32_args *args;
    size_t group;
    size_t channels; // in and out, of the group
    size_t outs;
    ln_deconv_phase rows, cols;
    size_t k; // products in an output
    float *weights, *panel, *tile;
} phase_work;

// The weights of the phase's taps, a row for each output channel.
static void pack_weights(const phase_work *w)
{
    const ln_conv_shape *s = &w->args->shape;
    size_t taps = s->kernel_h * s->kernel_w;
    const float *all = w->args->weight + w->group * w->channels * w->outs * taps;
    float *to = w->weights;
    for (size_t o = 0; o < w->outs; o++) {
        for (size_t c = 0; c < w->channels; c++) {
            const float *from = all + (c * w->outs + o) * taps;
            for (size_t v = 0; v < w->rows.tap_count; v++) {
                size_t row = (w->rows.tap + v * w->rows.tap_step) * s->kernel_w;
                for (size_t u = 0; u < w->cols.tap_count; u++)
                    *to++ = from[row + w->cols.tap + u * w->cols.tap_step];
            }
        }
    }
}

// What a tap reads for `count` neighbouring outputs: `count` floats from `row` + `start`, with
// zeros for what is outside of its `size`. Positions in front of it wrap to very large ones.
static void copy_inside(float *to, const float *row, size_t start, size_t size, size_t count)
{
    size_t before = start < size ? 0 : 0 - start; // how many outputs read in front of it
    before = ln_min(before, count);
    size_t first = start + before;
    size_t end = first < size && size - first < count - before ? before + (size - first) : count;
    if (first >= size)
        end = before;
    memset(to, 0, before * sizeof *to);
    if (end > before)
        memcpy(to + before, row + first, (end - before) * sizeof *to);
    memset(to + end, 0, (count - end) * sizeof *to);
}

// Neighbouring outputs in one row of a phase.
typedef struct pixel_run {
    size_t row, col; // counted in the phase
    size_t count;
    size_t at; // where they stand in the panel
} pixel_run;

// The run from `pixel` of the phase on, with at most `left` outputs.
static pixel_run find_run(const phase_work *w, size_t pixel, size_t at, size_t left)
{
    pixel_run run = {.row = pixel / w->cols.count, .col = pixel % w->cols.count, .at = at};
    run.count = ln_min(w->cols.count - run.col, left);
    return run;
}

// Copies what all taps of the phase read for one run into the rows of the panel.
static void gather_run(const phase_work *w, const float *x, const pixel_run *run, size_t nr)
{
    const ln_conv_shape *s = &w->args->shape;
    size_t plane = s->in_h * s->in_w, step = w->rows.tap_count * w->cols.tap_count * nr;
    float *to = w->panel + run->at;
    for (size_t v = 0; v < w->rows.tap_count; v++) {
        size_t ky = w->rows.tap + v * w->rows.tap_step;
        size_t y = w->rows.source + run->row - ky * s->dilation_h / s->stride_h;
        for (size_t u = 0; u < w->cols.tap_count; u++, to += nr) {
            size_t kx = w->cols.tap + u * w->cols.tap_step;
            size_t start = w->cols.source + run->col - kx * s->dilation_w / s->stride_w;
            for (size_t c = 0; c < w->channels; c++) {
                if (y < s->in_h)
                    copy_inside(to + c * step, x + c * plane + y * s->in_w, start, s->in_w,
                                run->count);
                else
                    memset(to + c * step, 0, run->count * sizeof *to);
            }
        }
    }
}

// Puts the run's columns of the tile where its outputs are.
static void scatter_run(const phase_work *w, float *y, const pixel_run *run, size_t nr)
{
    const ln_conv_shape *s = &w->args->shape;
    size_t out_y = w->rows.first + run->row * s->stride_h;
    size_t out_x = w->cols.first + run->col * s->stride_w;
    for (size_t o = 0; o < w->outs; o++) {
        float *to = y + (o * s->out_h + out_y) * s->out_w + out_x;
        const float *from = w->tile + o * nr + run->at;
        for (size_t i = 0; i < run->count; i++)
            to[i * s->stride_w] = from[i];
    }
}

// The outputs [pixel, pixel + count) of the phase, at most a panel.
static void run_panel(const ln_gemm_f32_kernel *gemm, const phase_work *w, const float *x, float *y,
                      size_t pixel, size_t count)
{
    const ln_conv2d_f32_args *args = w->args;
    pixel_run run;
    for (size_t at = 0; at < count; at += run.count) {
        run = find_run(w, pixel + at, at, count - at);
        gather_run(w, x, &run, gemm->nr);
    }
    ln_gemm_f32_args panel = {
        .m = w->outs,
        .n = count,
        .k = w->k,
        .a = w->weights,
        .a_stride = w->k,
        .b = w->panel,
        .b_stride = gemm->nr,
        .c = w->tile,
        .c_stride = gemm->nr,
        .row_bias = args->bias ? args->bias + w->group * w->outs : NULL,
        .act = args->act,
    };
    ln_gemm_f32_panel(gemm, &panel);
    for (size_t at = 0; at < count; at += run.count) {
        run = find_run(w, pixel + at, at, count - at);
        scatter_run(w, y, &run, gemm->nr);
    }
}

static void run_phase_of_image(const ln_gemm_f32_kernel *gemm, const phase_work *w, const float *x,
                               float *y)
{
    size_t pixels = w->rows.count * w->cols.count;
    if (w->k && pixels % gemm->nr) // a tile reads whole rows of the panel
        memset(w->panel, 0, w->k * gemm->nr * sizeof(float));
    for (size_t pixel = 0; pixel < pixels; pixel += gemm->nr)
        run_panel(gemm, w, x, y, pixel, ln_min(pixels - pixel, gemm->nr));
}

// ---- Pixels that read beyond the input ----

// Whether some tap of the kernel may read outside of `size`.
static bool is_at_border(size_t out, size_t pad, size_t kernel, size_t dilation, size_t stride,
                         size_t size)
{
    size_t place = out + pad, reach = (kernel - 1) * dilation;
    return place < reach || place / stride >= size;
}

static void mend_image(ln_deconv2d_pixel_f32_fn *run_pixel, const phase_work *w, const float *x,
                       float *y)
{
    const ln_conv2d_f32_args *args = w->args;
    const ln_conv_shape *s = &args->shape;
    size_t taps = s->kernel_h * s->kernel_w;
    for (size_t o = 0; o < w->outs; o++) {
        ln_deconv2d_pixel_f32_args pixel = {
            .shape = s,
            .x = x,
            .channels = w->channels,
            .weight = args->weight + (w->group * w->channels * w->outs + o) * taps,
            .weight_step = w->outs * taps,
            .bias = args->bias ? args->bias + w->group * w->outs + o : NULL,
            .act = args->act,
        };
        for (size_t i = 0; i < s->out_h * s->out_w; i++, y++) {
            if (*y == *y)
                continue;
            pixel.out_y = i / s->out_w;
            pixel.out_x = i % s->out_w;
            pixel.y = y;
            if (is_at_border(pixel.out_y, s->pad_top, s->kernel_h, s->dilation_h, s->stride_h,
                             s->in_h) ||
                is_at_border(pixel.out_x, s->pad_left, s->kernel_w, s->dilation_w, s->stride_w,
                             s->in_w))
                run_pixel(&pixel);
        }
    }
}

// ---- All ----

static void run_phase(const ln_gemm_f32_kernel *gemm, phase_work *w, size_t first_y, size_t first_x)
{
    const ln_conv2d_f32_args *args = w->args;
    const ln_conv_shape *s = &args->shape;
    size_t in_size = w->channels * s->in_h * s->in_w, out_size = w->outs * s->out_h * s->out_w;
    w->rows = ln_deconv_find_phase(first_y, s->out_h, s->pad_top, s->kernel_h, s->dilation_h,
                                   s->stride_h);
    w->cols = ln_deconv_find_phase(first_x, s->out_w, s->pad_left, s->kernel_w, s->dilation_w,
                                   s->stride_w);
    w->k = w->channels * w->rows.tap_count * w->cols.tap_count;
    pack_weights(w);
    for (size_t n = 0; n < s->batch; n++)
        run_phase_of_image(gemm, w, args->x + (n * s->group + w->group) * in_size,
                           args->y + (n * s->group + w->group) * out_size);
}

static void run_group(ln_deconv2d_pixel_f32_fn *run_pixel, const ln_gemm_f32_kernel *gemm,
                      phase_work *w)
{
    const ln_conv2d_f32_args *args = w->args;
    const ln_conv_shape *s = &args->shape;
    size_t in_size = w->channels * s->in_h * s->in_w, out_size = w->outs * s->out_h * s->out_w;
    for (size_t y = 0; y < s->stride_h && y < s->out_h; y++)
        for (size_t x = 0; x < s->stride_w && x < s->out_w; x++)
            run_phase(gemm, w, y, x);
    for (size_t n = 0; n < s->batch; n++)
        mend_image(run_pixel, w, args->x + (n * s->group + w->group) * in_size,
                   args->y + (n * s->group + w->group) * out_size);
}

void ln_deconv2d_f32(ln_cpu_isa isa, const ln_conv2d_f32_args *args, float *workspace)
{
    const ln_conv_shape *s = &args->shape;
    ln_deconv2d_pixel_f32_fn *run_pixel = ln_deconv2d_pixel_f32_select(isa);
    const ln_gemm_f32_kernel *gemm = ln_gemm_f32_select(isa);
    size_t channels = s->in_channels / s->group, outs = s->out_channels / s->group;
    size_t weights = channels * outs * s->kernel_h * s->kernel_w;
    if (s->batch == 0 || outs == 0 || s->out_h == 0 || s->out_w == 0)
        return;
    for (size_t g = 0; g < s->group; g++) {
        phase_work work = {
            .args = args,
            .group = g,
            .channels = channels,
            .outs = outs,
            .weights = workspace,
            .panel = workspace + weights,
            .tile = workspace + weights + channels * s->kernel_h * s->kernel_w * LN_GEMM_F32_MAX_NR,
        };
        run_group(run_pixel, gemm, &work);
    }
}
