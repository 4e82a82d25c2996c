// SPDX-License-Identifier: Apache-2.0
// Two-dimensional convolution (cross-correlation), NCHW input, OIHW weights, with groups.
//
// The bits: an output starts at +0, takes fma(weight, x, sum) over the input channels of its
// group, then the kernel's rows, then its columns, in ascending order. Places outside the input
// take no part: a weight there may be infinite or NaN. Then the bias is added, then the activation
// applied. All paths below keep this order.
//
// The fast paths do multiply weights with zeros there. That shows only where such a weight is not
// finite, and then always as NaN; so each NaN at the border is summed again, over the inside alone.

#ifndef LN_ARCH_CPU_KERNELS_CONV_H
#define LN_ARCH_CPU_KERNELS_CONV_H

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
ln_status ln_conv2d_check(const ln_conv_shape *shape);

// Bytes of workspace, the same on every machine; SIZE_MAX for a shape that the check refuses.
size_t ln_conv2d_f32_workspace(const ln_conv_shape *shape);

// The shape has passed the check. `workspace` is aligned for float and may hold anything.
void ln_conv2d_f32(ln_cpu_isa isa, const ln_conv2d_f32_args *args, float *workspace);

// ---- Kernels ----

// Neighbouring output pixels of one output row, and where their inputs are.
typedef struct ln_im2col_run {
    const float *x;  // one image of one group: [channels, in_h, in_w]
    size_t channels; // of the group
    size_t first;    // the first pixel's column in the panel
    size_t count;    // pixels; 0 <= first < first + count <= nr
    size_t out_y;    // the output row
    size_t out_x;    // the first output column
    const ln_conv_shape *shape;
    float *panel; // rows of nr floats: one for each channel, kernel row, kernel column
    size_t nr;
} ln_im2col_run;

// Copies one run into all rows of the panel; zeros where the kernel is outside the input.
typedef void ln_im2col_f32_fn(const ln_im2col_run *run);

// One channel of a depthwise convolution over a padded image whose rows are split into `phases`
// runs of columns: column c is number c / stride of phase c % stride. So neighbours of the output
// read neighbours of the input for every stride.
typedef struct ln_depthwise_f32_args {
    const float *image;
    size_t phase_w; // floats of one phase of one row
    const ln_conv_shape *shape;
    const float *weight; // [kernel_h, kernel_w]
    const float *bias;   // one float; NULL: none
    float *y;            // [out_h, out_w]
    ln_act act;
} ln_depthwise_f32_args;

typedef void ln_depthwise_f32_fn(const ln_depthwise_f32_args *args);

// One output pixel of one channel, summed over the places inside the input alone.
typedef struct ln_conv2d_pixel_f32_args {
    const ln_conv_shape *shape;
    const float *x;      // one image of one group: [channels, in_h, in_w]
    size_t channels;     // of the group
    const float *weight; // of the output channel: [channels, kernel_h, kernel_w]
    const float *bias;   // one float; NULL: none
    size_t out_y, out_x;
    ln_act act;
    float *y; // the pixel
} ln_conv2d_pixel_f32_args;

typedef void ln_conv2d_pixel_f32_fn(const ln_conv2d_pixel_f32_args *args);

typedef struct ln_conv_f32_kernels {
    ln_im2col_f32_fn *im2col;
    ln_depthwise_f32_fn *depthwise;
    ln_conv2d_pixel_f32_fn *pixel;
} ln_conv_f32_kernels;

LN_KERNELS(const ln_conv_f32_kernels, conv_f32)

LN_CPPEND

#endif
