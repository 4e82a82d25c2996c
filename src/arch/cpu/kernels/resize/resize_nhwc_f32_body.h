// SPDX-License-Identifier: Apache-2.0
// Channels-last resizing, written once in vector verbs. A kernel file includes the verbs of its
// instruction set, then this.

#ifndef LN_ARCH_CPU_KERNELS_RESIZE_NHWC_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_RESIZE_NHWC_F32_BODY_H

#include <stddef.h>

#include "arch/cpu/kernels/resize/resize_nhwc.h"

// ---- Copies ----

VF_VERB void resize_copy_pixel(const float *x, float *y, size_t channels)
{
    size_t c = 0;
    for (; c + VF_LANES <= channels; c += VF_LANES)
        vf_store(y + c, vf_load(x + c));
    if (c < channels)
        vf_store_n(y + c, vf_load_n(x + c, channels - c), channels - c);
}

VF_VERB void resize_nhwc_nearest(const ln_resize_nhwc_f32_args *args, size_t row, size_t row_end)
{
    for (; row < row_end; row++) {
        size_t image = row / args->out_h, in_row = (size_t)args->rows[row % args->out_h];
        const float *x = args->x + (image * args->in_h + in_row) * args->in_w * args->x_stride;
        float *y = args->y + row * args->out_w * args->y_stride;
        for (size_t i = 0; i < args->out_w; i++, y += args->y_stride)
            resize_copy_pixel(x + (size_t)args->columns[i] * args->x_stride, y, args->channels);
    }
}

// ---- Between pixels ----

// The four neighbours of a pixel, and the weights of the lower and the right ones.
typedef struct resize_corners {
    const float *x[2][2];
    float down, right;
} resize_corners;

VF_VERB vf resize_mix(vf a, vf b, float weight)
{
    return vf_fma(b, vf_set1(weight), vf_mul(a, vf_set1(1 - weight)));
}

// `lanes` > 0: the first lanes of a vector.
VF_VERB void resize_mix_at(const resize_corners *from, size_t c, size_t lanes, float *y)
{
    vf line[2];
    for (int i = 0; i < 2; i++) {
        const float *a = from->x[i][0] + c, *b = from->x[i][1] + c;
        line[i] = lanes ? vf_load_n(a, lanes) : vf_load(a);
        if (from->right != 0)
            line[i] = resize_mix(line[i], lanes ? vf_load_n(b, lanes) : vf_load(b), from->right);
    }
    if (from->down != 0)
        line[0] = resize_mix(line[0], line[1], from->down);
    if (lanes)
        vf_store_n(y + c, line[0], lanes);
    else
        vf_store(y + c, line[0]);
}

VF_VERB void resize_nhwc_linear(const ln_resize_nhwc_f32_args *args, size_t row, size_t row_end)
{
    for (; row < row_end; row++) {
        size_t image = row / args->out_h, oy = row % args->out_h;
        float *y = args->y + row * args->out_w * args->y_stride;
        for (size_t ox = 0; ox < args->out_w; ox++, y += args->y_stride) {
            resize_corners from = {.down = args->row_weights[oy],
                                   .right = args->column_weights[ox]};
            for (size_t i = 0; i < 4; i++) {
                size_t in_row = image * args->in_h + (size_t)args->rows[2 * oy + i / 2];
                size_t column = (size_t)args->columns[2 * ox + i % 2];
                from.x[i / 2][i % 2] = args->x + (in_row * args->in_w + column) * args->x_stride;
            }
            size_t c = 0;
            for (; c + VF_LANES <= args->channels; c += VF_LANES)
                resize_mix_at(&from, c, 0, y);
            if (c < args->channels)
                resize_mix_at(&from, c, args->channels - c, y);
        }
    }
}

void VF_KERNEL(ln_k_resize_nhwc_f32)(const ln_resize_nhwc_f32_args *args, size_t row,
                                     size_t row_end)
{
    if (args->row_weights)
        resize_nhwc_linear(args, row, row_end);
    else
        resize_nhwc_nearest(args, row, row_end);
}

#endif
