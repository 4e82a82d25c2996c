// SPDX-License-Identifier: Apache-2.0
// Direct convolution of channels-last images: any kernel, stride, dilation and number of groups.
//
// Packed weights, n = 16:   for each group, n output channels of it, kernel row, kernel column,
// input channel:   | o0 ... o15 |   with zeros after the last channel of the group.
//
// The bits: an output starts at +0 and takes fma(x, weight, sum) over the kernel's rows, then its
// columns, then the input channels, in ascending order; places outside the image take no part.
// Then the epilogue (act.h).

#ifndef LN_ARCH_CPU_KERNELS_DIRECT_H
#define LN_ARCH_CPU_KERNELS_DIRECT_H

#include "arch/cpu/kernels/conv_nhwc.h"

LN_CPPSTART

// Packs weights [out_channels, in_channels / group, kernel_h, kernel_w]; of `shape` only these and
// the groups matter.
void ln_direct_f32_pack(const ln_conv_shape *shape, const float *weight, float *packed);

void ln_direct_f32(ln_cpu_isa isa, const ln_conv_nhwc_f32_args *args, ln_pool *pool);

LN_CPPEND

#endif
