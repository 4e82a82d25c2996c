// SPDX-License-Identifier: Apache-2.0
// Convolution in groups of few channels in vector verbs. A kernel file includes the verbs of its
// instruction set, then this.

#ifndef LN_ARCH_CPU_KERNELS_GROUPED_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_GROUPED_F32_BODY_H

#include "arch/cpu/kernels/grouped/grouped.h"
#include "arch/cpu/kernels/window.h"
#include "arch/cpu/simd/unroll.h"

#define GROUPED_PIXELS 8

// One vector of the channels of a row of outputs.
typedef struct grouped_row {
    const ln_conv_nhwc_f32_args *args;
    const float *line; // the image's row in which windows start, at the groups' first channel
    ln_taps rows;
    const float *w;
    const float *bias; // NULL: none
    float *y;
} grouped_row;

// Input `j` of each lane's group; `a` holds those of groups of four, `p` is where they are.
VF_VERB vf grouped_input(const int size, vf a, const float *p, const int j)
{
    return size == 4 ? vf_spread4(a, j) : vf_spread8(p, j);
}

VF_VERB void grouped_finish(const grouped_row *row, vf *sum, const int pixels, size_t x)
{
    const ln_epilogue_f32 *e = &row->args->epilogue;
    LN_UNROLL
    for (int p = 0; p < pixels; p++) {
        if (row->bias)
            sum[p] = vf_add(sum[p], vf_load(row->bias));
        if (e->act != LN_ACT_NONE)
            sum[p] = vf_max(vf_set1(e->act == LN_ACT_RELU ? 0.0f : e->alpha), sum[p]);
        if (e->act == LN_ACT_CLIP)
            sum[p] = vf_min(vf_set1(e->beta), sum[p]);
        vf_store(row->y + (x + (size_t)p) * row->args->y_stride, sum[p]);
    }
}

// Windows of three columns side by side: what they share is spread once.
VF_VERB void grouped_neighbours(const grouped_row *row, const int size, size_t x)
{
    const ln_conv_nhwc_f32_args *a = row->args;
    const ln_conv_shape *s = &a->shape;
    vf sum[GROUPED_PIXELS];
    LN_UNROLL
    for (int p = 0; p < GROUPED_PIXELS; p++)
        sum[p] = vf_set1(0.0f);
    for (size_t ky = row->rows.first; ky < row->rows.end; ky++) {
        const float *w = row->w + ky * 3 * (size_t)size * LN_GROUPED_LANES;
        const float *from =
            row->line + ((ptrdiff_t)(ky * s->dilation_h * s->in_w + x) - (ptrdiff_t)s->pad_left) *
                            (ptrdiff_t)a->x_stride;
        LN_UNROLL
        for (int column = 0; column < GROUPED_PIXELS + 2; column++) {
            const float *at = from + (size_t)column * a->x_stride;
            vf in = size == 4 ? vf_load(at) : vf_set1(0.0f);
            LN_UNROLL
            for (int j = 0; j < size; j++) {
                vf spread = grouped_input(size, in, at, j);
                LN_UNROLL
                for (int kx = 0; kx < 3; kx++) {
                    const int p = column - kx;
                    if (p >= 0 && p < GROUPED_PIXELS)
                        sum[p] =
                            vf_fma(spread, vf_load(w + (size_t)(kx * size + j) * LN_GROUPED_LANES),
                                   sum[p]);
                }
            }
        }
    }
    grouped_finish(row, sum, GROUPED_PIXELS, x);
}

// `pixels` outputs that meet the columns in `taps`.
VF_VERB void grouped_pixels(const grouped_row *row, const int size, const int pixels, size_t x,
                            ln_taps taps)
{
    const ln_conv_nhwc_f32_args *a = row->args;
    const ln_conv_shape *s = &a->shape;
    const size_t step = s->stride_w * a->x_stride;
    vf sum[GROUPED_PIXELS];
    LN_UNROLL
    for (int p = 0; p < pixels; p++)
        sum[p] = vf_set1(0.0f);
    ptrdiff_t first = (ptrdiff_t)(x * s->stride_w) - (ptrdiff_t)s->pad_left;
    for (size_t ky = row->rows.first; ky < row->rows.end; ky++) {
        for (size_t kx = taps.first; kx < taps.end; kx++) {
            const float *w = row->w + (ky * s->kernel_w + kx) * (size_t)size * LN_GROUPED_LANES;
            ptrdiff_t place = (ptrdiff_t)(ky * s->dilation_h * s->in_w + kx * s->dilation_w);
            const float *from = row->line + (place + first) * (ptrdiff_t)a->x_stride;
            LN_UNROLL
            for (int j = 0; j < size; j++) {
                vf weights = vf_load(w + (size_t)j * LN_GROUPED_LANES);
                LN_UNROLL
                for (int p = 0; p < pixels; p++) {
                    const float *at = from + (size_t)p * step;
                    vf in = size == 4 ? vf_load(at) : vf_set1(0.0f);
                    sum[p] = vf_fma(grouped_input(size, in, at, j), weights, sum[p]);
                }
            }
        }
    }
    grouped_finish(row, sum, pixels, x);
}

VF_VERB void grouped_row_f32(const grouped_row *row, const int size)
{
    const ln_conv_shape *s = &row->args->shape;
    const ln_window_1d columns = ln_conv_columns(s);
    const ln_taps all = {0, s->kernel_w};
    const size_t reach = (s->kernel_w - 1) * s->dilation_w;
    const bool are_neighbours = s->kernel_w == 3 && s->stride_w == 1 && s->dilation_w == 1;
    for (size_t x = 0; x < s->out_w;) {
        ptrdiff_t column = (ptrdiff_t)(x * s->stride_w) - (ptrdiff_t)s->pad_left;
        size_t last = (size_t)column + (GROUPED_PIXELS - 1) * s->stride_w + reach;
        size_t last_of_four = (size_t)column + 3 * s->stride_w + reach;
        if (column >= 0 && are_neighbours && x + GROUPED_PIXELS <= s->out_w && last < s->in_w) {
            grouped_neighbours(row, size, x);
            x += GROUPED_PIXELS;
        } else if (column >= 0 && x + 4 <= s->out_w && last_of_four < s->in_w) {
            grouped_pixels(row, size, 4, x, all);
            x += 4;
        } else {
            grouped_pixels(row, size, 1, x, ln_window_taps(&columns, x));
            x++;
        }
    }
}

void VF_KERNEL(ln_k_grouped_f32)(const ln_conv_nhwc_f32_args *a, size_t row, size_t channel,
                                 const float *weights)
{
    const ln_conv_shape *s = &a->shape;
    const size_t size = s->in_channels / s->group;
    const ln_window_1d rows = ln_conv_rows(s);
    ptrdiff_t start = (ptrdiff_t)(row % s->out_h * s->stride_h) - (ptrdiff_t)s->pad_top;
    ptrdiff_t line = ((ptrdiff_t)(row / s->out_h * s->in_h) + start) * (ptrdiff_t)s->in_w;
    for (size_t v = 0; v < LN_GROUPED_LANES; v += VF_LANES) {
        const grouped_row r = {
            .args = a,
            .line = a->x + line * (ptrdiff_t)a->x_stride + (channel + v) / size * size,
            .rows = ln_window_taps(&rows, row % s->out_h),
            .w = weights + v,
            .bias = a->epilogue.bias ? a->epilogue.bias + channel + v : NULL,
            .y = a->y + row * s->out_w * a->y_stride + channel + v,
        };
        if (size == 4)
            grouped_row_f32(&r, 4);
        else
            grouped_row_f32(&r, 8);
    }
}

#endif
