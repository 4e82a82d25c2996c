// SPDX-License-Identifier: Apache-2.0
// Convolution in groups of few channels in vector verbs. A kernel file includes the verbs of its
// instruction set, then this.

#ifndef LN_ARCH_CPU_KERNELS_GROUPED_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_GROUPED_F32_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/cpu/kernels/grouped/grouped.h"
#include "arch/cpu/kernels/window.h"
#include "arch/cpu/simd/unroll.h"

// Outputs of a tile, next to each other: of windows that share inputs, and of others.
#define GROUPED_NEIGHBOURS 8
#define GROUPED_PIXELS     4

// One vector of channels.
typedef struct grouped_vector {
    const ln_conv_nhwc_f32_args *args;
    const float *x; // where its inputs are in the first pixel
    float *y;
    const float *w;
    size_t inputs, outputs;           // floats to load, and lanes that are outputs
    bool is_aligned;                  // inputs are the groups' from the first on, a whole vector
    size_t in;                        // channels of a group
    vf_index from[LN_GROUPED_MAX_IN]; // for each of them: where a lane's is among the inputs
    vf bias;
} grouped_vector;

// Some outputs of a row next to each other.
typedef struct grouped_place {
    const float *line; // the image's row in which the windows start
    ln_taps rows;
    ptrdiff_t column; // where the first window starts
    ln_taps taps;     // of a kernel row
    float *y;
} grouped_place;

VF_VERB void grouped_finish(const grouped_vector *v, const grouped_place *at, vf *sum,
                            const int count)
{
    const ln_epilogue_f32 *e = &v->args->epilogue;
    const bool is_bounded = e->act != LN_ACT_NONE;
    const vf low = vf_set1(e->act == LN_ACT_RELU ? 0.0f : e->alpha);
    float *y = at->y;
    LN_UNROLL
    for (int p = 0; p < count; p++) {
        vf out = vf_add(sum[p], v->bias);
        if (is_bounded)
            out = vf_max(low, out);
        if (e->act == LN_ACT_CLIP)
            out = vf_min(vf_set1(e->beta), out);
        if (v->outputs == VF_LANES)
            vf_store(y, out);
        else
            vf_store_n(y, out, v->outputs);
        y += v->args->y_stride;
    }
}

#if !VF_IS_PORTABLE
// Input `j` of each lane's group, of which there are `in`; `from` is where the groups' are.
VF_VERB vf grouped_input(const grouped_vector *v, const size_t in, vf groups, const float *from,
                         const size_t j)
{
    if (in == 8 && VF_LANES == 8)
        return vf_set1(from[j]);
    return in == 4 ? vf_spread4(groups, (int)j) : vf_permute(groups, v->from[j]);
}

// GROUPED_NEIGHBOURS windows of three columns side by side, which are all in the image: what they
// share is spread once.
VF_VERB void grouped_neighbours(const grouped_vector *v, const size_t in, const grouped_place *at)
{
    const ln_conv_nhwc_f32_args *a = v->args;
    const ln_conv_shape *s = &a->shape;
    vf sum[GROUPED_NEIGHBOURS];
    LN_UNROLL
    for (int p = 0; p < GROUPED_NEIGHBOURS; p++)
        sum[p] = vf_set1(0.0f);
    for (size_t ky = at->rows.first; ky < at->rows.end; ky++) {
        const float *w = v->w + ky * 3 * in * LN_GROUPED_LANES;
        const float *from = at->line + ((ptrdiff_t)(ky * s->dilation_h * s->in_w) + at->column) *
                                           (ptrdiff_t)a->x_stride;
        LN_UNROLL
        for (int column = 0; column < GROUPED_NEIGHBOURS + 2; column++, from += a->x_stride) {
            const vf groups = vf_load(from);
            LN_UNROLL
            for (size_t j = 0; j < in; j++) {
                const vf spread = grouped_input(v, in, groups, from, j);
                LN_UNROLL
                for (int kx = 0; kx < 3; kx++) {
                    const int p = column - kx;
                    if (p >= 0 && p < GROUPED_NEIGHBOURS)
                        sum[p] = vf_fma(
                            spread, vf_load(w + ((size_t)kx * in + j) * LN_GROUPED_LANES), sum[p]);
                }
            }
        }
    }
    grouped_finish(v, at, sum, GROUPED_NEIGHBOURS);
}

#define GROUPED_NEIGHBOURS_OF(in)                                                                  \
    static __attribute__((noinline)) void grouped_neighbours_##in(const grouped_vector *v,         \
                                                                  const grouped_place *at)         \
    {                                                                                              \
        grouped_neighbours(v, in, at);                                                             \
    }
GROUPED_NEIGHBOURS_OF(1)
GROUPED_NEIGHBOURS_OF(2)
GROUPED_NEIGHBOURS_OF(4)
GROUPED_NEIGHBOURS_OF(8)
#endif

// `count` windows of any kind that meet the same taps of their rows.
VF_VERB void grouped_pixels(const grouped_vector *v, const int count, const grouped_place *at)
{
    const ln_conv_nhwc_f32_args *a = v->args;
    const ln_conv_shape *s = &a->shape;
    const size_t inputs = v->inputs, in = v->in, step = s->stride_w * a->x_stride;
    vf sum[GROUPED_PIXELS], groups[GROUPED_PIXELS];
    LN_UNROLL
    for (int p = 0; p < count; p++)
        sum[p] = vf_set1(0.0f);
    for (size_t ky = at->rows.first; ky < at->rows.end; ky++) {
        const float *w = v->w + (ky * s->kernel_w + at->taps.first) * in * LN_GROUPED_LANES;
        for (size_t kx = at->taps.first; kx < at->taps.end; kx++) {
            const ptrdiff_t place = (ptrdiff_t)(ky * s->dilation_h * s->in_w + kx * s->dilation_w);
            const float *from = at->line + (place + at->column) * (ptrdiff_t)a->x_stride;
            LN_UNROLL
            for (int p = 0; p < count; p++)
                groups[p] = vf_load_n(from + (size_t)p * step, inputs);
            for (size_t j = 0; j < in; j++, w += LN_GROUPED_LANES) {
                const vf_index lanes = v->from[j];
                const vf weights = vf_load(w);
                LN_UNROLL
                for (int p = 0; p < count; p++)
                    sum[p] = vf_fma(vf_permute(groups[p], lanes), weights, sum[p]);
            }
        }
    }
    grouped_finish(v, at, sum, count);
}

static __attribute__((noinline)) void grouped_some(const grouped_vector *v, const grouped_place *at)
{
    grouped_pixels(v, GROUPED_PIXELS, at);
}

static __attribute__((noinline)) void grouped_one(const grouped_vector *v, const grouped_place *at)
{
    grouped_pixels(v, 1, at);
}

typedef void grouped_fn(const grouped_vector *v, const grouped_place *at);

// What makes GROUPED_NEIGHBOURS windows side by side; NULL: nothing.
static grouped_fn *neighbours_of(const grouped_vector *v)
{
#if !VF_IS_PORTABLE
    const ln_conv_shape *s = &v->args->shape;
    const bool is_square = v->is_aligned && s->in_channels == s->out_channels;
    if (v->inputs < VF_LANES || s->kernel_w != 3 || s->stride_w != 1 || s->dilation_w != 1)
        return NULL;
    switch (v->in) {
    case 1: return grouped_neighbours_1;
    case 2: return grouped_neighbours_2;
    case 4: return is_square ? grouped_neighbours_4 : NULL;
    case 8: return is_square ? grouped_neighbours_8 : NULL;
    default: return NULL;
    }
#else
    (void)v;
    return NULL;
#endif
}

// The windows [x, end) of a row, which are inside the image; some are made again where tiles do not
// fit.
static void run_inside(const grouped_vector *v, grouped_fn *run, size_t most, size_t x, size_t end,
                       const grouped_place *row)
{
    const ln_conv_nhwc_f32_args *a = v->args;
    const size_t last = end - most;
    for (size_t next = x; next < end; next += most) {
        grouped_place at = *row;
        x = ln_min(next, last);
        at.column += (ptrdiff_t)(x * a->shape.stride_w);
        at.y += x * a->y_stride;
        run(v, &at);
    }
}

static void run_at_border(const grouped_vector *v, size_t x, size_t end, const grouped_place *row)
{
    const ln_window_1d columns = ln_conv_columns(&v->args->shape);
    for (; x < end; x++) {
        grouped_place at = *row;
        at.taps = ln_window_taps(&columns, x);
        at.column += (ptrdiff_t)(x * v->args->shape.stride_w);
        at.y += x * v->args->y_stride;
        grouped_one(v, &at);
    }
}

static void run_row(const grouped_vector *v, grouped_fn *neighbours, ln_taps inside, size_t row)
{
    const ln_conv_nhwc_f32_args *a = v->args;
    const ln_conv_shape *s = &a->shape;
    const ln_window_1d rows = ln_conv_rows(s);
    const size_t count = inside.end - inside.first;
    const ptrdiff_t start = (ptrdiff_t)(row % s->out_h * s->stride_h) - (ptrdiff_t)s->pad_top;
    const ptrdiff_t line = ((ptrdiff_t)(row / s->out_h * s->in_h) + start) * (ptrdiff_t)s->in_w;
    const grouped_place at = {.line = v->x + line * (ptrdiff_t)a->x_stride,
                              .rows = ln_window_taps(&rows, row % s->out_h),
                              .column = -(ptrdiff_t)s->pad_left,
                              .taps = {0, s->kernel_w},
                              .y = v->y + row * s->out_w * a->y_stride};
    run_at_border(v, 0, inside.first, &at);
    if (neighbours && count >= GROUPED_NEIGHBOURS)
        run_inside(v, neighbours, GROUPED_NEIGHBOURS, inside.first, inside.end, &at);
    else if (count >= GROUPED_PIXELS)
        run_inside(v, grouped_some, GROUPED_PIXELS, inside.first, inside.end, &at);
    else
        run_at_border(v, inside.first, inside.end, &at);
    run_at_border(v, inside.end, s->out_w, &at);
}

// The windows of a row whose columns are all inside the image.
static ln_taps windows_inside(const ln_conv_shape *s)
{
    const size_t reach = (s->kernel_w - 1) * s->dilation_w, in = s->in_w + s->pad_left;
    const size_t end = in > reach ? (in - reach - 1) / s->stride_w + 1 : 0;
    const size_t first = ln_min(ln_div_up(s->pad_left, s->stride_w), s->out_w);
    return (ln_taps){first, ln_max(first, ln_min(end, s->out_w))};
}

// The `outputs` channels from `channel` on.
static grouped_vector vector_at(const ln_conv_nhwc_f32_args *a, size_t channel, size_t outputs,
                                const float *weights)
{
    const ln_conv_shape *s = &a->shape;
    const size_t of_group = s->out_channels / s->group, in = s->in_channels / s->group;
    const size_t first = channel / of_group * in;
    const size_t inputs = ln_min(VF_LANES, s->in_channels);
    const size_t start = ln_min(first, s->in_channels - inputs);
    const float *bias = a->epilogue.bias;
    grouped_vector v = {
        .args = a,
        .x = a->x + start,
        .y = a->y + channel,
        .w = weights,
        .inputs = inputs,
        .outputs = outputs,
        .is_aligned = start == first,
        .in = in,
        .bias = bias ? vf_load_n(bias + channel, outputs) : vf_set1(-0.0f), // no change
    };
    for (size_t j = 0; j < in; j++) {
        uint32_t lanes[VF_LANES];
        for (size_t lane = 0; lane < VF_LANES; lane++) {
            const size_t output = channel + (lane < outputs ? lane : outputs - 1);
            lanes[lane] = (uint32_t)(output / of_group * in + j - start);
        }
        v.from[j] = vf_index_of(lanes);
    }
    return v;
}

static void run_rows(const ln_conv_nhwc_f32_args *a, size_t row, size_t row_end, size_t channel,
                     const float *weights)
{
    const ln_conv_shape *s = &a->shape;
    const size_t count = ln_grouped_channels(s->out_channels / s->group, VF_LANES);
    const ln_taps inside = windows_inside(s);
    for (size_t i = 0; i < LN_GROUPED_LANES && channel < s->out_channels; i += VF_LANES) {
        const size_t rest = s->out_channels - channel, outputs = rest < count ? rest : count;
        const grouped_vector v = vector_at(a, channel, outputs, weights + i);
        grouped_fn *const neighbours = neighbours_of(&v);
        for (size_t y = row; y < row_end; y++)
            run_row(&v, neighbours, inside, y);
        channel += outputs;
    }
}

const ln_grouped_f32_kernel VF_KERNEL(ln_k_grouped_f32) = {.lanes = VF_LANES, .run = run_rows};

#endif
