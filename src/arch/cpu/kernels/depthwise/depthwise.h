// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution of channels-last images: each output channel reads the input channel of its
// number. Any kernel, stride and dilation.
//
// Packed weights:   for each kernel row, kernel column:   | o0 ... o(O-1) |
//
// The bits: an output starts at +0 and takes fma(x, weight, sum) over the kernel's rows, then its
// columns, in ascending order; places outside the image take no part. Then the epilogue (act.h).

#ifndef LN_ARCH_CPU_KERNELS_DEPTHWISE_H
#define LN_ARCH_CPU_KERNELS_DEPTHWISE_H

#include "arch/cpu/kernels/conv_nhwc.h"
#include "arch/cpu/kernels/select.h"

LN_CPPSTART

// Packs weights [channels, 1, kernel_h, kernel_w].
void ln_depthwise_nhwc_f32_pack(const ln_conv_shape *shape, const float *weight, float *packed);

// in_channels = out_channels = group.
void ln_depthwise_nhwc_f32(ln_cpu_isa isa, const ln_conv_nhwc_f32_args *args, ln_pool *pool);

// ---- Kernels ----

// Does the rows [row, row_end) of the output; row y of image n is number n * out_h + y.
typedef void ln_depthwise_nhwc_f32_fn(const ln_conv_nhwc_f32_args *args, size_t row,
                                      size_t row_end);

LN_KERNELS(ln_depthwise_nhwc_f32_fn, depthwise_nhwc_f32)

LN_CPPEND

#endif
