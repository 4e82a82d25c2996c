// SPDX-License-Identifier: Apache-2.0
// Transposed two-dimensional convolution, NCHW input, [C, O / group, kernel] weights, with groups.
//
// Output (y, x) is reached by input (i, j) through tap (v, u) where y + pad_top = i * stride + v *
// dilation, likewise x.
//
// The bits: an output starts at +0, takes fma(weight, x, sum) over the input channels of its group,
// then the taps' rows, then their columns, in ascending order, where they reach it from inside the
// input. Then the bias is added, then the activation applied.

#ifndef LN_ARCH_CPU_KERNELS_DECONV_H
#define LN_ARCH_CPU_KERNELS_DECONV_H

#include <stddef.h>

#include <lightnet/status.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/act.h"
#include "arch/cpu/kernels/conv_shape.h"
#include "arch/cpu/kernels/select.h"

LN_CPPSTART

// LN_INVALID, with the reason, for a shape that the functions below do not take: a group, kernel,
// stride or dilation of 0, channels that the groups do not divide, or sizes that overflow.
// Batch, channels and sizes of images may be 0.
ln_status ln_deconv2d_check(const ln_conv_shape *shape);

// Bytes of workspace, the same on every machine; SIZE_MAX for a shape that the check refuses.
size_t ln_deconv2d_f32_workspace(const ln_conv_shape *shape);

// The shape has passed the check. `workspace` is aligned for float and may hold anything.
void ln_deconv2d_f32(ln_cpu_isa isa, const ln_conv2d_f32_args *args, float *workspace);

// ---- Kernels ----

// One output pixel of one channel.
typedef struct ln_deconv2d_pixel_f32_args {
    const ln_conv_shape *shape;
    const float *x;      // one image of one group: [channels, in_h, in_w]
    size_t channels;     // of the group
    const float *weight; // of the output channel: [channels] of [kernel_h, kernel_w] ...
    size_t weight_step;  // ... that are so many floats apart
    const float *bias;   // one float; NULL: none
    size_t out_y, out_x;
    ln_act act;
    float *y; // the pixel
} ln_deconv2d_pixel_f32_args;

typedef void ln_deconv2d_pixel_f32_fn(const ln_deconv2d_pixel_f32_args *args);

LN_KERNELS(ln_deconv2d_pixel_f32_fn, deconv2d_pixel_f32)

LN_CPPEND

#endif
