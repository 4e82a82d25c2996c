// SPDX-License-Identifier: Apache-2.0
// Convolution with few output channels in vector verbs. A kernel file includes the verbs of its
// instruction set, then this.

#ifndef LN_ARCH_CPU_KERNELS_FEW_OUTPUTS_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_FEW_OUTPUTS_F32_BODY_H

#include "arch/cpu/kernels/few_outputs/few_outputs.h"
#include "arch/cpu/kernels/lanes.h"
#include "arch/cpu/kernels/window.h"
#include "arch/cpu/simd/unroll.h"

#define FEW_OUTPUTS_VECTORS    (LN_FEW_OUTPUTS_LANES / VF_LANES)
#define FEW_OUTPUTS_MAX_PIXELS 8

// A row of outputs.
typedef struct few_outputs_row {
    const ln_conv_nhwc_f32_args *args;
    const float *line; // the image's row that the window starts in; may be outside of it
    ln_taps rows;
} few_outputs_row;

// The lanes of each sum become one. Not inlined: it would be as much code as all else.
static __attribute__((noinline)) void few_outputs_finish(const float *bias, const float *stored,
                                                         size_t pixels, size_t outs, float *y,
                                                         size_t y_stride)
{
    for (size_t p = 0; p < pixels; p++, y += y_stride) {
        for (size_t o = 0; o < outs; o++, stored += LN_FEW_OUTPUTS_LANES) {
            vf lanes[FEW_OUTPUTS_VECTORS];
            LN_UNROLL
            for (size_t v = 0; v < FEW_OUTPUTS_VECTORS; v++)
                lanes[v] = vf_load(stored + v * VF_LANES);
            vf sum = vf_sum_lanes(lanes, LN_FEW_OUTPUTS_LANES);
            if (bias)
                sum = vf_add(sum, vf_set1(bias[o]));
            vf_store_n(y + o, sum, 1);
        }
    }
}

// `pixels` neighbours from column `x` on, which all meet the columns in `taps`; pixels and outs are
// constants where this is inlined.
VF_VERB void few_outputs_tile(const few_outputs_row *row, const size_t pixels, const size_t outs,
                              size_t x, ln_taps taps, float *y, size_t y_stride)
{
    const ln_conv_nhwc_f32_args *a = row->args;
    const ln_conv_shape *s = &a->shape;
    const size_t step = s->stride_w * a->x_stride, blocks = s->in_channels / LN_FEW_OUTPUTS_LANES;
    const size_t tap_floats = outs * s->in_channels;
    vf lanes[FEW_OUTPUTS_MAX_PIXELS][LN_FEW_OUTPUTS_MAX][FEW_OUTPUTS_VECTORS];
    LN_UNROLL
    for (size_t p = 0; p < pixels; p++) {
        LN_UNROLL
        for (size_t o = 0; o < outs; o++) {
            LN_UNROLL
            for (size_t v = 0; v < FEW_OUTPUTS_VECTORS; v++)
                lanes[p][o][v] = vf_set1(0.0f);
        }
    }
    ptrdiff_t column = (ptrdiff_t)(x * s->stride_w) - (ptrdiff_t)s->pad_left;
    for (size_t ky = row->rows.first; ky < row->rows.end; ky++) {
        const float *w = a->packed + (ky * s->kernel_w + taps.first) * tap_floats;
        ptrdiff_t line = (ptrdiff_t)(ky * s->dilation_h * s->in_w) + column;
        for (size_t kx = taps.first; kx < taps.end; kx++) {
            const float *from =
                row->line + (line + (ptrdiff_t)(kx * s->dilation_w)) * (ptrdiff_t)a->x_stride;
            for (size_t block = 0; block < blocks; block++) {
                LN_UNROLL
                for (size_t v = 0; v < FEW_OUTPUTS_VECTORS; v++) {
                    vf weights[LN_FEW_OUTPUTS_MAX];
                    LN_UNROLL
                    for (size_t o = 0; o < outs; o++)
                        weights[o] = vf_load(w + o * LN_FEW_OUTPUTS_LANES + v * VF_LANES);
                    LN_UNROLL
                    for (size_t p = 0; p < pixels; p++) {
                        vf in = vf_load(from + p * step + v * VF_LANES);
                        LN_UNROLL
                        for (size_t o = 0; o < outs; o++)
                            lanes[p][o][v] = vf_fma(in, weights[o], lanes[p][o][v]);
                    }
                }
                from += LN_FEW_OUTPUTS_LANES;
                w += outs * LN_FEW_OUTPUTS_LANES;
            }
        }
    }
    float stored[FEW_OUTPUTS_MAX_PIXELS * LN_FEW_OUTPUTS_MAX * LN_FEW_OUTPUTS_LANES], *to = stored;
    LN_UNROLL
    for (size_t p = 0; p < pixels; p++) {
        LN_UNROLL
        for (size_t o = 0; o < outs; o++) {
            LN_UNROLL
            for (size_t v = 0; v < FEW_OUTPUTS_VECTORS; v++, to += VF_LANES)
                vf_store(to, lanes[p][o][v]);
        }
    }
    few_outputs_finish(a->epilogue.bias, stored, pixels, outs, y, y_stride);
}

// Neighbours whose windows are inside the image from left to right are done side by side.
VF_VERB void few_outputs_row_f32(const few_outputs_row *row, const size_t pixels, const size_t outs,
                                 size_t first, size_t count, float *y, size_t y_stride)
{
    const ln_conv_shape *s = &row->args->shape;
    const ln_window_1d columns = ln_conv_columns(s);
    const ln_taps all = {0, s->kernel_w};
    const size_t reach = (s->kernel_w - 1) * s->dilation_w + (pixels - 1) * s->stride_w;
    size_t x = first, end = first + count;
    while (x < end) {
        ptrdiff_t column = (ptrdiff_t)(x * s->stride_w) - (ptrdiff_t)s->pad_left;
        if (x + pixels <= end && column >= 0 && (size_t)column + reach < s->in_w) {
            few_outputs_tile(row, pixels, outs, x, all, y, y_stride);
            x += pixels;
            y += pixels * y_stride;
            continue;
        }
        few_outputs_tile(row, 1, outs, x, ln_window_taps(&columns, x), y, y_stride);
        x++;
        y += y_stride;
    }
}

// As many pixels as fill the registers.
#define FEW_OUTPUTS_PIXELS(outs)                                                                   \
    (VF_LANES < 8    ? 1                                                                           \
     : VF_LANES == 8 ? ((outs) < 3 ? 4 / (outs) : 1)                                               \
     : (outs) < 3    ? 8                                                                           \
                     : 24 / (outs))

void VF_KERNEL(ln_k_few_outputs_f32)(const ln_conv_nhwc_f32_args *args, size_t row, size_t first,
                                     size_t count, float *y, size_t y_stride)
{
    const ln_conv_shape *s = &args->shape;
    const ln_window_1d rows = ln_conv_rows(s);
    size_t image = row / s->out_h;
    ptrdiff_t start = (ptrdiff_t)(row % s->out_h * s->stride_h) - (ptrdiff_t)s->pad_top;
    ptrdiff_t line = ((ptrdiff_t)(image * s->in_h) + start) * (ptrdiff_t)s->in_w;
    const few_outputs_row r = {.args = args,
                               .line = args->x + line * (ptrdiff_t)args->x_stride,
                               .rows = ln_window_taps(&rows, row % s->out_h)};
    switch (s->out_channels) {
    case 1: few_outputs_row_f32(&r, FEW_OUTPUTS_PIXELS(1), 1, first, count, y, y_stride); break;
    case 2: few_outputs_row_f32(&r, FEW_OUTPUTS_PIXELS(2), 2, first, count, y, y_stride); break;
    case 3: few_outputs_row_f32(&r, FEW_OUTPUTS_PIXELS(3), 3, first, count, y, y_stride); break;
    default: few_outputs_row_f32(&r, FEW_OUTPUTS_PIXELS(4), 4, first, count, y, y_stride); break;
    }
}

#endif
