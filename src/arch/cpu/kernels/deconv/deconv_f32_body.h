// SPDX-License-Identifier: Apache-2.0
// A single pixel of a transposed convolution, written once in vector verbs. A kernel file includes
// the verbs of its instruction set, then this.

#ifndef LN_ARCH_CPU_KERNELS_DECONV_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_DECONV_F32_BODY_H

#include <stddef.h>

#include "arch/cpu/kernels/deconv/deconv.h"

// The input position from which tap `tap` reaches output `out`; not below `in` if there is none.
VF_VERB size_t reaching(size_t out, size_t pad, size_t tap, size_t dilation, size_t stride,
                        size_t in)
{
    size_t place = out + pad, distance = tap * dilation;
    return place < distance || (place - distance) % stride ? in : (place - distance) / stride;
}

// All lanes do the same; rare enough not to matter.
void VF_KERNEL(ln_k_deconv2d_pixel_f32)(const ln_deconv2d_pixel_f32_args *args)
{
    const ln_conv_shape *s = args->shape;
    vf sum = vf_set1(0.0f);
    for (size_t c = 0; c < args->channels; c++) {
        const float *plane = args->x + c * s->in_h * s->in_w;
        const float *weight = args->weight + c * args->weight_step;
        for (size_t ky = 0; ky < s->kernel_h; ky++) {
            size_t row = reaching(args->out_y, s->pad_top, ky, s->dilation_h, s->stride_h, s->in_h);
            for (size_t kx = 0; kx < s->kernel_w; kx++, weight++) {
                size_t col =
                    reaching(args->out_x, s->pad_left, kx, s->dilation_w, s->stride_w, s->in_w);
                if (row < s->in_h && col < s->in_w)
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

#endif
