// SPDX-License-Identifier: Apache-2.0
// The shape of a convolution over images, forwards or transposed.

#ifndef LN_CPU_KERNELS_CONV_SHAPE_H
#define LN_CPU_KERNELS_CONV_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

#include <lightnet/act.h>
#include <lightnet/status.h>

LN_CPPSTART

// Padding at the bottom and right is what the output size leaves: a kernel may reach outside the
// image on every side.
typedef struct ln_conv_shape {
    size_t batch;
    size_t group;
    size_t in_channels;  // a multiple of `group`
    size_t out_channels; // a multiple of `group`
    size_t in_h, in_w;
    size_t out_h, out_w;
    size_t kernel_h, kernel_w;
    size_t stride_h, stride_w;
    size_t dilation_h, dilation_w;
    size_t pad_top, pad_left;
} ln_conv_shape;

// A convolution of channels-first images, or its transpose.
typedef struct ln_conv2d_f32_args {
    ln_conv_shape shape;
    const float *x;      // [batch, in_channels, in_h, in_w]
    const float *weight; // [out_channels, in_channels / group, kernel_h, kernel_w]; of a transpose
                         // [in_channels, out_channels / group, kernel_h, kernel_w]
    const float *bias;   // [out_channels]; NULL: none
    float *y;            // [batch, out_channels, out_h, out_w], apart from the inputs
    ln_act act;
} ln_conv2d_f32_args;

// LN_INVALID, with the reason, for a group, kernel, stride or dilation of 0, a stride above
// `max_stride`, and channels that the groups do not divide. `name` stands in the message.
ln_status ln_conv_shape_check(const ln_conv_shape *shape, const char *name, size_t max_stride);

// The bytes of so many floats; false when they are more than a pointer reaches.
bool ln_float_bytes(const size_t *factors, size_t count, size_t *out_byte_count);

LN_CPPEND

#endif
