// SPDX-License-Identifier: Apache-2.0
// Gathering pixels into panels, direct depthwise convolution, and single pixels, written once in
// vector verbs. A kernel file includes the verbs of its instruction set, then this.

#ifndef LN_ARCH_CPU_KERNELS_CONV_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_CONV_F32_BODY_H

#include <assert.h>
#include <stddef.h>

#include "arch/cpu/kernels/conv/conv.h"
#include "arch/cpu/simd/unroll.h"

// ---- Gathering ----

VF_VERB void fill_zero(float *to, size_t count)
{
    for (size_t i = 0; i < count; i += VF_LANES)
        vf_store_n(to + i, vf_set1(0.0f), count - i < VF_LANES ? count - i : VF_LANES);
}

VF_VERB void copy_step(float *to, const float *from, size_t step, size_t count)
{
    for (size_t i = 0; i < count; i += VF_LANES) {
        size_t lanes = count - i < VF_LANES ? count - i : VF_LANES;
        vf v =
            step == 1 ? vf_load_n(from + i, lanes) : vf_load_step_n(from + i * step, step, lanes);
        vf_store_n(to + i, v, lanes);
    }
}

// The numbers i < count for which i * step + start - back is in [0, size): [*out_low, *out_high).
VF_VERB void inside(size_t start, size_t back, size_t step, size_t size, size_t count,
                    size_t *out_low, size_t *out_high)
{
    size_t low = start >= back ? 0 : (back - start + step - 1) / step;
    size_t high = size + back > start ? (size + back - start + step - 1) / step : 0;
    high = high < count ? high : count;
    *out_low = low < high ? low : high;
    *out_high = high;
}

// The kernel's place is the outer loop and the channel the inner one, so that the borders are
// worked out once for all channels.
static void im2col_f32(const ln_im2col_run *run)
{
    const ln_conv_shape *s = run->shape;
    size_t places = s->kernel_h * s->kernel_w, plane = s->in_h * s->in_w;
    assert(run->count >= 1 && run->first + run->count <= run->nr);

    for (size_t place = 0; place < places; place++) {
        size_t start_y = run->out_y * s->stride_h + place / s->kernel_w * s->dilation_h;
        size_t start_x = run->out_x * s->stride_w + place % s->kernel_w * s->dilation_w;
        size_t low = 0, high = 0;
        if (start_y >= s->pad_top && start_y - s->pad_top < s->in_h)
            inside(start_x, s->pad_left, s->stride_w, s->in_w, run->count, &low, &high);

        float *to = run->panel + place * run->nr + run->first;
        size_t to_step = places * run->nr;
        if (low == high) {
            for (size_t c = 0; c < run->channels; c++)
                fill_zero(to + c * to_step, run->count);
            continue;
        }
        const float *from =
            run->x + (start_y - s->pad_top) * s->in_w + (low * s->stride_w + start_x - s->pad_left);
        for (size_t c = 0; c < run->channels; c++) {
            fill_zero(to, low);
            copy_step(to + low, from, s->stride_w, high - low);
            fill_zero(to + high, run->count - high);
            to += to_step;
            from += plane;
        }
    }
}

// ---- Depthwise ----

#define DEPTHWISE_MAX_ROWS 4

// `rows` output rows, a constant where inlined, and `lanes` columns from `out_x`: independent sums
// that hide the latency of fma and share the broadcast weights.
VF_VERB void depthwise_f32_rows(const ln_depthwise_f32_args *args, size_t out_y, size_t out_x,
                                const size_t rows, size_t lanes)
{
    const ln_conv_shape *s = args->shape;
    size_t row_w = s->stride_w * args->phase_w;
    vf sum[DEPTHWISE_MAX_ROWS];
    LN_UNROLL
    for (size_t i = 0; i < rows; i++)
        sum[i] = vf_set1(0.0f);

    const float *weight = args->weight;
    for (size_t ky = 0; ky < s->kernel_h; ky++) {
        const float *line = args->image + (out_y * s->stride_h + ky * s->dilation_h) * row_w;
        size_t phase = 0, col = out_x; // of the kernel's column
        for (size_t kx = 0; kx < s->kernel_w; kx++) {
            vf w = vf_set1(*weight++);
            const float *from = line + phase * args->phase_w + col;
            LN_UNROLL
            for (size_t i = 0; i < rows; i++) {
                const float *p = from + i * s->stride_h * row_w;
                vf x = lanes == VF_LANES ? vf_load(p) : vf_load_n(p, lanes);
                sum[i] = vf_fma(w, x, sum[i]);
            }
            phase += s->dilation_w;
            col += phase / s->stride_w;
            phase %= s->stride_w;
        }
    }

    LN_UNROLL
    for (size_t i = 0; i < rows; i++) {
        vf y = sum[i];
        if (args->bias)
            y = vf_add(y, vf_set1(*args->bias));
        if (args->act == LN_ACT_RELU)
            y = vf_max(vf_set1(0.0f), y);
        vf_store_n(args->y + (out_y + i) * s->out_w + out_x, y, lanes);
    }
}

static void depthwise_f32(const ln_depthwise_f32_args *args)
{
    const ln_conv_shape *s = args->shape;
    for (size_t out_y = 0; out_y < s->out_h; out_y += DEPTHWISE_MAX_ROWS) {
        size_t rows = s->out_h - out_y;
        for (size_t out_x = 0; out_x < s->out_w; out_x += VF_LANES) {
            size_t lanes = s->out_w - out_x < VF_LANES ? s->out_w - out_x : VF_LANES;
            if (rows >= 4)
                depthwise_f32_rows(args, out_y, out_x, 4, lanes);
            else if (rows == 3)
                depthwise_f32_rows(args, out_y, out_x, 3, lanes);
            else if (rows == 2)
                depthwise_f32_rows(args, out_y, out_x, 2, lanes);
            else
                depthwise_f32_rows(args, out_y, out_x, 1, lanes);
        }
    }
}

// ---- Pixels ----

// All lanes do the same; rare enough not to matter.
static void conv2d_pixel_f32(const ln_conv2d_pixel_f32_args *args)
{
    const ln_conv_shape *s = args->shape;
    const float *weight = args->weight;
    vf sum = vf_set1(0.0f);
    for (size_t c = 0; c < args->channels; c++) {
        const float *plane = args->x + c * s->in_h * s->in_w;
        for (size_t ky = 0; ky < s->kernel_h; ky++) {
            size_t row = args->out_y * s->stride_h + ky * s->dilation_h - s->pad_top;
            for (size_t kx = 0; kx < s->kernel_w; kx++, weight++) {
                size_t col = args->out_x * s->stride_w + kx * s->dilation_w - s->pad_left;
                if (row < s->in_h && col < s->in_w) // what is left of 0 wraps to beyond the end
                    sum = vf_fma(vf_set1(*weight), vf_set1(plane[row * s->in_w + col]), sum);
            }
        }
    }
    if (args->bias)
        sum = vf_add(sum, vf_set1(*args->bias));
    if (args->act == LN_ACT_RELU)
        sum = vf_max(vf_set1(0.0f), sum);
    vf_store_n(args->y, sum, 1);
}

const ln_conv_f32_kernels VF_KERNEL(ln_k_conv_f32) = {
    .im2col = im2col_f32,
    .depthwise = depthwise_f32,
    .pixel = conv2d_pixel_f32,
};

#endif
