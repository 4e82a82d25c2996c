// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution, written once in vector verbs. A kernel file includes the verbs of its
// instruction set, then this.
//
// A tile is DEPTHWISE_TILE outputs next to each other, for one vector of channels: for each row of
// the kernel, each input that the windows look at is loaded once and goes to all sums that need it.
// Inputs come row by row, from the left, and so do the taps of every window. At the borders of the
// image a tile leaves out the inputs that are not there.
//
// Tiles follow each other downwards, for a block of channels that is small enough for the inputs of
// a tile to stay in the first cache until the tiles below have used them.

#ifndef LN_ARCH_CPU_KERNELS_DEPTHWISE_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_DEPTHWISE_F32_BODY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "arch/cpu/kernels/actf.h"
#include "arch/cpu/kernels/depthwise/depthwise.h"
#include "arch/cpu/kernels/window.h"
#include "arch/cpu/simd/unroll.h"

// Sums of a tile: with the weights of a kernel row and an input they fill 16 registers, and all
// usual widths of images are multiples.
#define DEPTHWISE_TILE 7

// Kernel widths and steps that have tiles: X(columns, step).
#define DEPTHWISE_MAX_KERNEL 7
#define DEPTHWISE_SIZES(X)   X(3, 1) X(3, 2) X(5, 1) X(5, 2) X(7, 1)

// Bytes of input that tiles below each other should find again.
#define DEPTHWISE_KEPT ((size_t)28 << 10)

// What all tiles of a call have in common.
typedef struct depthwise_job {
    const ln_conv_nhwc_f32_args *args;
    size_t in_row;   // floats from one row of the input to the next
    bool is_bounded; // the epilogue is a bias and bounds
    float low, high; // these
    ln_window_1d rows, columns;
} depthwise_job;

VF_VERB vf depthwise_load(const float *p, size_t lanes)
{
    return lanes ? vf_load_n(p, lanes) : vf_load(p);
}

// ---- Epilogue ----

// Sums that wait for an epilogue of more than bias and bounds.
typedef struct depthwise_waiting {
    const depthwise_job *job;
    size_t pixel, count; // through images, rows and columns
    size_t c, lanes;
    float sums[DEPTHWISE_TILE * VF_LANES];
} depthwise_waiting;

VF_VERB void depthwise_finish_with(const ln_act act, const depthwise_waiting *w)
{
    const ln_conv_nhwc_f32_args *args = w->job->args;
    const ln_epilogue_f32 *e = &args->epilogue;
    const vf alpha = vf_set1(e->alpha), beta = vf_set1(e->beta);
    const vf bias =
        e->bias ? vf_load_n(e->bias + w->c, w->lanes) : vf_set1(-0.0f); // changes nothing
    for (size_t i = 0; i < w->count; i++) {
        vf v = vf_add(vf_load(w->sums + i * VF_LANES), bias), addend = bias;
        if (e->addend)
            addend = vf_load_n(e->addend + (w->pixel + i) * e->addend_stride + w->c, w->lanes);
        if (e->addend && !e->is_addend_last)
            v = vf_add(v, addend);
        v = vf_act(act, alpha, beta, v);
        if (e->addend && e->is_addend_last)
            v = vf_add(v, addend);
        vf_store_n(args->y + (w->pixel + i) * args->y_stride + w->c, v, w->lanes);
    }
}

static __attribute__((noinline)) void depthwise_finish(const depthwise_waiting *w)
{
    switch (w->job->args->epilogue.act) {
#define CASE(constant, name, doc)                                                                  \
    case LN_ACT_##constant: depthwise_finish_with(LN_ACT_##constant, w); return;
        LN_ACT_LIST(CASE)
#undef CASE
    case LN_ACT_COUNT: break;
    }
}

// ---- Tiles ----

// A tile's place, and which of its inputs are inside the image.
typedef struct depthwise_place {
    size_t pixel, columns; // outputs, through images, rows and columns
    size_t top, bottom;    // rows of the kernel
    const float *x;        // the first input of row `top`, if it were inside
    int left, right;       // inputs of a row, counted from that one
} depthwise_place;

VF_VERB void depthwise_store_tile(const bool is_whole, size_t lanes, const depthwise_job *job,
                                  const depthwise_place *at, size_t c, const vf *sums)
{
    const ln_conv_nhwc_f32_args *args = job->args;
    if (!job->is_bounded) {
        depthwise_waiting waiting = {.job = job,
                                     .pixel = at->pixel,
                                     .count = at->columns,
                                     .c = c,
                                     .lanes = lanes ? lanes : VF_LANES};
        LN_UNROLL
        for (int i = 0; i < DEPTHWISE_TILE; i++)
            vf_store(waiting.sums + i * VF_LANES, sums[i]);
        depthwise_finish(&waiting);
        return;
    }
    const float *bias = args->epilogue.bias;
    const vf low = vf_set1(job->low), high = vf_set1(job->high);
    const vf b = bias ? depthwise_load(bias + c, lanes) : vf_set1(-0.0f); // changes nothing
    float *y = args->y + at->pixel * args->y_stride + c;
    LN_UNROLL
    for (int i = 0; i < DEPTHWISE_TILE; i++, y += args->y_stride) {
        vf v = vf_clip(vf_add(sums[i], b), low, high);
        if (!is_whole && (size_t)i >= at->columns)
            continue;
        if (lanes)
            vf_store_n(y, v, lanes);
        else
            vf_store(y, v);
    }
}

// A kernel of k columns that steps by s. All numbers but `lanes` are constants where this is
// inlined; `lanes` 0: a whole vector. `is_whole`: all outputs are wanted, and all inputs of a row
// are there.
VF_VERB void depthwise_tile(const int k, const int s, const bool is_whole, size_t lanes,
                            const depthwise_job *job, const depthwise_place *at, size_t c)
{
    const ln_conv_nhwc_f32_args *args = job->args;
    const int in_w = (DEPTHWISE_TILE - 1) * s + k;
    const size_t channels = args->shape.out_channels, row_step = job->rows.dilation * job->in_row;
    const float *w = args->packed + at->top * (size_t)k * channels + c, *row = at->x + c;
    vf sums[DEPTHWISE_TILE], weights[DEPTHWISE_MAX_KERNEL];
    LN_UNROLL
    for (int i = 0; i < DEPTHWISE_TILE; i++)
        sums[i] = vf_set1(0);
    for (size_t ky = at->top; ky < at->bottom; ky++) {
        LN_UNROLL
        for (int i = 0; i < k; i++)
            weights[i] = depthwise_load(w + (size_t)i * channels, lanes);
        LN_UNROLL
        for (int x = 0; x < in_w; x++) {
            if (!is_whole && (x < at->left || x >= at->right))
                continue;
            vf in = depthwise_load(row + (size_t)x * args->x_stride, lanes);
            LN_UNROLL
            for (int i = 0; i < DEPTHWISE_TILE; i++) {
                const int kx = x - i * s;
                if (kx >= 0 && kx < k)
                    sums[i] = vf_fma(in, weights[kx], sums[i]);
            }
        }
        row += row_step;
        w += (size_t)k * channels;
    }
    depthwise_store_tile(is_whole, lanes, job, at, c, sums);
}

// ---- Any kernel, stride and dilation ----

#define DEPTHWISE_VECTORS 4

VF_VERB void depthwise_block(const int vectors, size_t lanes, const depthwise_job *job,
                             size_t pixel, const float *x, const size_t taps[4], size_t c)
{
    const ln_conv_nhwc_f32_args *args = job->args;
    const ln_conv_shape *shape = &args->shape;
    const size_t column_step = shape->dilation_w * args->x_stride;
    const size_t row_step = shape->dilation_h * job->in_row;
    vf sums[DEPTHWISE_VECTORS];
    LN_UNROLL
    for (int v = 0; v < vectors; v++)
        sums[v] = vf_set1(0);
    for (size_t ky = taps[0]; ky < taps[1]; ky++) {
        const float *in = x + (ky - taps[0]) * row_step + c;
        const float *w = args->packed + (ky * shape->kernel_w + taps[2]) * shape->out_channels + c;
        for (size_t kx = taps[2]; kx < taps[3]; kx++) {
            LN_UNROLL
            for (int v = 0; v < vectors; v++)
                sums[v] = vf_fma(depthwise_load(in + v * VF_LANES, lanes),
                                 depthwise_load(w + v * VF_LANES, lanes), sums[v]);
            in += column_step;
            w += shape->out_channels;
        }
    }
    LN_UNROLL
    for (int v = 0; v < vectors; v++) {
        depthwise_waiting waiting = {.job = job,
                                     .pixel = pixel,
                                     .count = 1,
                                     .c = c + (size_t)v * VF_LANES,
                                     .lanes = lanes ? lanes : VF_LANES};
        vf_store(waiting.sums, sums[v]);
        depthwise_finish(&waiting);
    }
}

// One output pixel.
static void depthwise_pixel(const depthwise_job *job, size_t image, size_t oy, size_t ox)
{
    const ln_conv_nhwc_f32_args *args = job->args;
    size_t taps[4], c = 0, end = args->shape.out_channels;
    ln_window_taps_inside(&job->rows, oy, &taps[0], &taps[1]);
    ln_window_taps_inside(&job->columns, ox, &taps[2], &taps[3]);
    const float *x = args->x;
    if (taps[0] == taps[1])
        taps[3] = taps[2];
    if (taps[2] < taps[3]) {
        size_t row = image * args->shape.in_h + ln_window_at(&job->rows, oy, taps[0]);
        x += row * job->in_row + ln_window_at(&job->columns, ox, taps[2]) * args->x_stride;
    }
    size_t pixel = (image * args->shape.out_h + oy) * args->shape.out_w + ox;
    for (; c + DEPTHWISE_VECTORS * VF_LANES <= end; c += DEPTHWISE_VECTORS * VF_LANES)
        depthwise_block(DEPTHWISE_VECTORS, 0, job, pixel, x, taps, c);
    for (; c + VF_LANES <= end; c += VF_LANES)
        depthwise_block(1, 0, job, pixel, x, taps, c);
    if (c < end)
        depthwise_block(1, end - c, job, pixel, x, taps, c);
}

// ---- Images ----

// The outputs [row, row_end) x [column, column + at->columns) of an image, one below the other, for
// the channels [c, end).
VF_VERB void depthwise_column(const int k, const int s, const depthwise_job *job, size_t image,
                              size_t row, size_t row_end, size_t column, size_t c, size_t end)
{
    const ln_conv_shape *shape = &job->args->shape;
    const int in_w = (DEPTHWISE_TILE - 1) * s + k;
    const size_t stride = job->args->x_stride, rest = shape->out_w - column;
    const ptrdiff_t start = (ptrdiff_t)(column * (size_t)s) - (ptrdiff_t)shape->pad_left;
    const ptrdiff_t after = (ptrdiff_t)shape->in_w - start;
    depthwise_place at = {.columns = rest < DEPTHWISE_TILE ? rest : DEPTHWISE_TILE};
    at.left = start >= 0 ? 0 : -start < in_w ? (int)-start : in_w;
    at.right = after < 0 ? 0 : after < in_w ? (int)after : in_w;
    const bool is_whole = at.columns == DEPTHWISE_TILE && at.left == 0 && at.right == in_w;
    for (; row < row_end; row++) {
        ln_window_taps_inside(&job->rows, row, &at.top, &at.bottom);
        at.pixel = (image * shape->out_h + row) * shape->out_w + column;
        at.x = job->args->x;
        if (at.top < at.bottom) {
            size_t y = image * shape->in_h + ln_window_at(&job->rows, row, at.top);
            at.x += (ptrdiff_t)(y * job->in_row) + start * (ptrdiff_t)stride;
        }
        size_t i = c;
        if (is_whole)
            for (; i + VF_LANES <= end; i += VF_LANES)
                depthwise_tile(k, s, true, 0, job, &at, i);
        else
            for (; i + VF_LANES <= end; i += VF_LANES)
                depthwise_tile(k, s, false, 0, job, &at, i);
        if (i < end)
            depthwise_tile(k, s, false, end - i, job, &at, i);
    }
}

// Channels that a column of tiles is made for.
static size_t depthwise_block_channels(const depthwise_job *job)
{
    size_t width = (DEPTHWISE_TILE - 1) * job->columns.stride + job->columns.kernel;
    size_t count = DEPTHWISE_KEPT / sizeof(float) / (width * job->rows.kernel);
    count -= count % 16;
    return count ? count : 16;
}

VF_VERB void depthwise_rows(const int k, const int s, const depthwise_job *job, size_t row,
                            size_t row_end)
{
    const ln_conv_shape *shape = &job->args->shape;
    const size_t block = depthwise_block_channels(job);
    while (row < row_end) {
        size_t image = row / shape->out_h, first = row % shape->out_h;
        size_t rows = shape->out_h - first < row_end - row ? shape->out_h - first : row_end - row;
        for (size_t c = 0; c < shape->out_channels; c += block) {
            size_t rest = shape->out_channels - c, end = c + (rest < block ? rest : block);
            for (size_t x = 0; x < shape->out_w; x += DEPTHWISE_TILE)
                depthwise_column(k, s, job, image, first, first + rows, x, c, end);
        }
        row += rows;
    }
}

#define DEPTHWISE_ROWS(k, s)                                                                       \
    static __attribute__((noinline)) void depthwise_rows_##k##_##s(const depthwise_job *job,       \
                                                                   size_t row, size_t row_end)     \
    {                                                                                              \
        depthwise_rows(k, s, job, row, row_end);                                                   \
    }
DEPTHWISE_SIZES(DEPTHWISE_ROWS)

static void depthwise_rows_any(const depthwise_job *job, size_t row, size_t row_end)
{
    const ln_conv_shape *shape = &job->args->shape;
    for (; row < row_end; row++)
        for (size_t ox = 0; ox < shape->out_w; ox++)
            depthwise_pixel(job, row / shape->out_h, row % shape->out_h, ox);
}

// ---- The kernel ----

// Whether the epilogue is a bias and bounds, and which: an infinite one changes nothing.
static bool depthwise_bounds(const ln_epilogue_f32 *e, float *low, float *high)
{
    *low = -__builtin_inff();
    *high = __builtin_inff();
    if (e->addend)
        return false;
    if (e->act == LN_ACT_RELU)
        *low = 0;
    if (e->act == LN_ACT_CLIP) {
        *low = e->alpha;
        *high = e->beta;
    }
    return e->act == LN_ACT_NONE || e->act == LN_ACT_RELU || e->act == LN_ACT_CLIP;
}

VF_VERB void depthwise_f32(const ln_conv_nhwc_f32_args *args, size_t row, size_t row_end)
{
    const ln_conv_shape *s = &args->shape;
    depthwise_job job = {.args = args,
                         .in_row = s->in_w * args->x_stride,
                         .rows = {.in = s->in_h,
                                  .kernel = s->kernel_h,
                                  .stride = s->stride_h,
                                  .dilation = s->dilation_h,
                                  .pad = s->pad_top},
                         .columns = {.in = s->in_w,
                                     .kernel = s->kernel_w,
                                     .stride = s->stride_w,
                                     .dilation = s->dilation_w,
                                     .pad = s->pad_left}};
    job.is_bounded = depthwise_bounds(&args->epilogue, &job.low, &job.high);
#define DEPTHWISE_CALL(k, s)                                                                       \
    if (args->shape.kernel_w == k && args->shape.stride_w == s && args->shape.dilation_w == 1) {   \
        depthwise_rows_##k##_##s(&job, row, row_end);                                              \
        return;                                                                                    \
    }
    DEPTHWISE_SIZES(DEPTHWISE_CALL)
#undef DEPTHWISE_CALL
    depthwise_rows_any(&job, row, row_end);
}

#endif
