// SPDX-License-Identifier: Apache-2.0
// Channels-last pooling, written once in vector verbs. A kernel file includes the verbs of its
// instruction set, then this.

#ifndef LN_ARCH_CPU_KERNELS_POOL_NHWC_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_POOL_NHWC_F32_BODY_H

#include <stdbool.h>
#include <stddef.h>

#include "arch/cpu/kernels/pool/pool_nhwc.h"
#include "arch/cpu/simd/unroll.h"

// Vectors of channels that are reduced side by side.
#define POOL_VECTORS 4

// What one output pixel looks at.
typedef struct pool_window {
    const float *x; // its first input inside the image, channel 0
    size_t rows, columns;
    size_t row_step, column_step; // floats from one to the next
    float count;                  // an average is divided by it
} pool_window;

VF_VERB vf pool_nhwc_start(const ln_pool2d_kind kind)
{
    return vf_set1(kind == LN_POOL_MAX ? -__builtin_inff() : 0.0f);
}

// Joins the next element. It comes first in vf_max_nan, so that looking for NaN does not lengthen
// the chain.
VF_VERB vf pool_nhwc_join(const ln_pool2d_kind kind, vf a, vf next)
{
    return kind == LN_POOL_MAX ? vf_max_nan(next, a) : vf_add(a, next);
}

VF_VERB vf pool_nhwc_load(const float *x, int v, size_t lanes)
{
    return lanes ? vf_load_n(x, lanes) : vf_load(x + v * VF_LANES);
}

// `vectors` whole vectors of channels, or with `lanes` > 0 the first lanes of one. The first
// element is the maximum so far: nothing is below -infinity.
VF_VERB void pool_nhwc_block(const ln_pool2d_kind kind, const int vectors, size_t lanes,
                             const pool_window *w, size_t channel, float *y)
{
    vf all[POOL_VECTORS];
    const bool has_first = kind == LN_POOL_MAX && w->rows > 0 && w->columns > 0;
    LN_UNROLL
    for (int v = 0; v < vectors; v++)
        all[v] = has_first ? pool_nhwc_load(w->x + channel, v, lanes) : pool_nhwc_start(kind);
    for (size_t i = 0; i < w->rows; i++) {
        const float *x = w->x + i * w->row_step + channel;
        vf line[POOL_VECTORS];
        LN_UNROLL
        for (int v = 0; v < vectors; v++)
            line[v] = kind == LN_POOL_MAX ? all[v] : pool_nhwc_start(kind);
        size_t j = 0;
        if (kind == LN_POOL_MAX && i == 0) {
            x += w->column_step;
            j = 1;
        }
        for (; j < w->columns; j++, x += w->column_step) {
            LN_UNROLL
            for (int v = 0; v < vectors; v++)
                line[v] = pool_nhwc_join(kind, line[v], pool_nhwc_load(x, v, lanes));
        }
        LN_UNROLL
        for (int v = 0; v < vectors; v++)
            all[v] = kind == LN_POOL_MAX ? line[v] : vf_add(all[v], line[v]);
    }
    LN_UNROLL
    for (int v = 0; v < vectors; v++) {
        if (kind == LN_POOL_AVERAGE)
            all[v] = vf_div(all[v], vf_set1(w->count));
        if (lanes)
            vf_store_n(y + channel, all[v], lanes);
        else
            vf_store(y + channel + v * VF_LANES, all[v]);
    }
}

// One output pixel.
VF_VERB void pool_nhwc_pixel(const ln_pool2d_kind kind, const pool_window *w, size_t channel,
                             size_t channel_end, float *y)
{
    for (; channel + POOL_VECTORS * VF_LANES <= channel_end; channel += POOL_VECTORS * VF_LANES)
        pool_nhwc_block(kind, POOL_VECTORS, 0, w, channel, y);
    for (; channel + VF_LANES <= channel_end; channel += VF_LANES)
        pool_nhwc_block(kind, 1, 0, w, channel, y);
    if (channel < channel_end)
        pool_nhwc_block(kind, 1, channel_end - channel, w, channel, y);
}

// Output pixels beside each other, whose windows are the same but for their place: `step` floats
// from one to the next. The commonest size is a constant where this is inlined.
VF_VERB void pool_nhwc_pixels(const ln_pool2d_kind kind, pool_window w, size_t count, size_t step,
                              size_t channel, size_t channel_end, float *y, size_t y_step)
{
    bool is_small = w.rows == 2 && w.columns == 2;
    for (; count > 0 && is_small; count--, w.x += step, y += y_step) {
        pool_window small = w;
        small.rows = small.columns = 2;
        pool_nhwc_pixel(kind, &small, channel, channel_end, y);
    }
    for (; count > 0; count--, w.x += step, y += y_step)
        pool_nhwc_pixel(kind, &w, channel, channel_end, y);
}

// How many windows from the one of `ox` on, whose taps inside are [left, right), have all taps
// inside; 1 where it does not itself.
VF_VERB size_t pool_nhwc_alike(const ln_window_1d *columns, size_t ox, size_t out, size_t left,
                               size_t right)
{
    if (left > 0 || right < columns->kernel)
        return 1;
    size_t last = ln_window_at(columns, ox, columns->kernel - 1);
    size_t more = (columns->in - 1 - last) / columns->stride;
    return more < out - ox ? more + 1 : out - ox;
}

// ---- High windows that overlap ----

// Output rows that share the maxima of input rows, and the highest windows that do.
#define POOL_BAND    16
#define POOL_HIGHEST 33

static bool pool_nhwc_has_bands(const ln_pool_nhwc_f32_args *args)
{
    const ln_window_1d *rows = &args->rows;
    return args->kind == LN_POOL_MAX && rows->stride == 1 && rows->dilation == 1 &&
           rows->kernel >= 3 && rows->kernel <= POOL_HIGHEST && args->columns.kernel >= 3;
}

// The maxima of `count` output pixels below each other, in `vectors` whole vectors of channels, or
// with `lanes` > 0 the first lanes of one. `w` is the window of all pixels, `first` its first row.
VF_VERB void pool_nhwc_band_block(const int vectors, size_t lanes,
                                  const ln_pool_nhwc_f32_args *args, const pool_window *w,
                                  size_t first, size_t oy, size_t count, size_t channel, float *y)
{
    vf lines[POOL_BAND + POOL_HIGHEST][POOL_VECTORS];
    for (size_t i = 0; i < w->rows; i++) {
        const float *x = w->x + i * w->row_step + channel;
        vf line[POOL_VECTORS];
        LN_UNROLL
        for (int v = 0; v < vectors; v++)
            line[v] = w->columns ? pool_nhwc_load(x, v, lanes) : pool_nhwc_start(LN_POOL_MAX);
        x += w->column_step;
        for (size_t j = 1; j < w->columns; j++, x += w->column_step) {
            LN_UNROLL
            for (int v = 0; v < vectors; v++)
                line[v] = vf_max_nan(pool_nhwc_load(x, v, lanes), line[v]);
        }
        LN_UNROLL
        for (int v = 0; v < vectors; v++)
            lines[i][v] = line[v];
    }
    for (size_t i = 0; i < count; i++) {
        size_t top, bottom;
        ln_window_taps_inside(&args->rows, oy + i, &top, &bottom);
        size_t at = top < bottom ? ln_window_at(&args->rows, oy + i, top) - first : 0;
        float *to = y + i * args->out_w * args->y_stride + channel;
        vf all[POOL_VECTORS];
        LN_UNROLL
        for (int v = 0; v < vectors; v++)
            all[v] = top < bottom ? lines[at][v] : pool_nhwc_start(LN_POOL_MAX);
        for (top++, at++; top < bottom; top++, at++) {
            LN_UNROLL
            for (int v = 0; v < vectors; v++)
                all[v] = vf_max_nan(lines[at][v], all[v]);
        }
        LN_UNROLL
        for (int v = 0; v < vectors; v++) {
            if (lanes)
                vf_store_n(to, all[v], lanes);
            else
                vf_store(to + v * VF_LANES, all[v]);
        }
    }
}

VF_VERB void pool_nhwc_band(const ln_pool_nhwc_f32_args *args, const pool_window *w, size_t first,
                            size_t oy, size_t count, size_t c, size_t end, float *y)
{
    if (end - c == POOL_VECTORS * VF_LANES) {
        pool_nhwc_band_block(POOL_VECTORS, 0, args, w, first, oy, count, c, y);
        return;
    }
    for (; c + VF_LANES <= end; c += VF_LANES)
        pool_nhwc_band_block(1, 0, args, w, first, oy, count, c, y);
    if (c < end)
        pool_nhwc_band_block(1, end - c, args, w, first, oy, count, c, y);
}

// The rows [row, row_end) of the output, all in one image.
VF_VERB void pool_nhwc_bands(const ln_pool_nhwc_f32_args *args, size_t row, size_t row_end,
                             size_t channel, size_t channel_end)
{
    const ln_window_1d *rows = &args->rows, *columns = &args->columns;
    size_t image = row / args->out_h;
    for (size_t end; row < row_end; row = end) {
        end = row_end - row < POOL_BAND ? row_end : row + POOL_BAND;
        size_t oy = row % args->out_h, top, bottom, left, right;
        ln_window_taps_inside(rows, oy, &top, &bottom);
        size_t first = top < bottom ? ln_window_at(rows, oy, top) : 0;
        size_t last = oy + (end - row) - 1 + rows->kernel; // after the last row, with padding
        size_t in_end = last <= rows->pad             ? 0
                        : last - rows->pad < rows->in ? last - rows->pad
                                                      : rows->in;
        if (oy >= rows->in + rows->pad) // below the image
            first = in_end;
        for (size_t ox = 0; ox < args->out_w; ox++) {
            ln_window_taps_inside(columns, ox, &left, &right);
            pool_window w = {.x = args->x,
                             .rows = in_end > first ? in_end - first : 0,
                             .columns = right - left,
                             .row_step = columns->in * args->x_stride,
                             .column_step = columns->dilation * args->x_stride};
            if (w.columns > 0)
                w.x +=
                    ((image * rows->in + first) * columns->in + ln_window_at(columns, ox, left)) *
                    args->x_stride;
            pool_nhwc_band(args, &w, first, oy, end - row, channel, channel_end,
                           args->y + (row * args->out_w + ox) * args->y_stride);
        }
    }
}

// ---- Rows ----

// `kind` is a constant where this is inlined.
VF_VERB void pool_nhwc_rows(const ln_pool2d_kind kind, const ln_pool_nhwc_f32_args *args,
                            size_t row, size_t row_end, size_t channel, size_t channel_end)
{
    const ln_window_1d *rows = &args->rows, *columns = &args->columns;
    while (kind == LN_POOL_MAX && row < row_end && pool_nhwc_has_bands(args)) {
        size_t rest = args->out_h - row % args->out_h;
        size_t end = rest < row_end - row ? row + rest : row_end;
        // A few channels of all the image stay in a cache.
        for (size_t c = channel; c < channel_end; c += POOL_VECTORS * VF_LANES) {
            size_t more = channel_end - c;
            pool_nhwc_bands(args, row, end, c,
                            more < POOL_VECTORS * VF_LANES ? channel_end
                                                           : c + POOL_VECTORS * VF_LANES);
        }
        row = end;
    }
    for (; row < row_end; row++) {
        size_t image = row / args->out_h, oy = row % args->out_h, top, bottom;
        ln_window_taps_inside(rows, oy, &top, &bottom);
        for (size_t ox = 0, alike; ox < args->out_w; ox += alike) {
            size_t left, right;
            ln_window_taps_inside(columns, ox, &left, &right);
            alike = pool_nhwc_alike(columns, ox, args->out_w, left, right);
            pool_window w = {.x = args->x,
                             .rows = bottom - top,
                             .columns = right - left,
                             .row_step = rows->dilation * columns->in * args->x_stride,
                             .column_step = columns->dilation * args->x_stride};
            size_t count = w.rows * w.columns;
            if (w.columns == 0)
                w.rows = 0;
            if (count > 0) {
                size_t in_row = image * rows->in + ln_window_at(rows, oy, top);
                w.x += (in_row * columns->in + ln_window_at(columns, ox, left)) * args->x_stride;
            }
            if (kind == LN_POOL_AVERAGE && args->counts_padding)
                count = ln_window_taps_before(rows, oy, rows->in + args->pad_after[0]) *
                        ln_window_taps_before(columns, ox, columns->in + args->pad_after[1]);
            w.count = (float)count;
            pool_nhwc_pixels(kind, w, alike, columns->stride * args->x_stride, channel, channel_end,
                             args->y + (row * args->out_w + ox) * args->y_stride, args->y_stride);
        }
    }
}

void VF_KERNEL(ln_k_pool_nhwc_f32)(const ln_pool_nhwc_f32_args *args, size_t row, size_t row_end,
                                   size_t channel, size_t channel_end)
{
    if (args->kind == LN_POOL_MAX)
        pool_nhwc_rows(LN_POOL_MAX, args, row, row_end, channel, channel_end);
    else
        pool_nhwc_rows(LN_POOL_AVERAGE, args, row, row_end, channel, channel_end);
}

#endif
