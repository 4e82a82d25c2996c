// SPDX-License-Identifier: Apache-2.0
// Shapes for the tests of convolutions, forwards and transposed.

#ifndef LN_CPU_KERNELS_CONV_CASES_H
#define LN_CPU_KERNELS_CONV_CASES_H

#include "arch/cpu/kernels/conv_shape.h"

// The same in height and width: images of `in` and `out` pixels, kernel, stride, dilation, padding.
static inline ln_conv_shape square_shape(size_t batch, size_t group, size_t in_channels,
                                         size_t out_channels, size_t in, size_t out, size_t kernel,
                                         size_t stride, size_t dilation, size_t pad)
{
    return (ln_conv_shape){.batch = batch,
                           .group = group,
                           .in_channels = in_channels,
                           .out_channels = out_channels,
                           .in_h = in,
                           .in_w = in,
                           .out_h = out,
                           .out_w = out,
                           .kernel_h = kernel,
                           .kernel_w = kernel,
                           .stride_h = stride,
                           .stride_w = stride,
                           .dilation_h = dilation,
                           .dilation_w = dilation,
                           .pad_top = pad,
                           .pad_left = pad};
}

#endif
