// SPDX-License-Identifier: Apache-2.0
// Transposed convolution of channels-last images, with groups, strides and dilations.
//
// Output (y, x) is reached by input (i, j) through tap (v, u) where y + pad_top = i * stride + v *
// dilation, likewise x. Layout of the packed weights: src/arch/cpu/nhwc_deconv.c.
//
// The bits: an output starts at +0 and takes fma(x, weight, sum) over the taps that reach it from
// inside the input, from the last row of the kernel to the first, in each from the last column to
// the first, over the input channels of its group in ascending order. Then the epilogue (act.h).

#ifndef LN_ARCH_CPU_KERNELS_DECONV_NHWC_H
#define LN_ARCH_CPU_KERNELS_DECONV_NHWC_H

#include "arch/cpu/kernels/conv_nhwc.h"

LN_CPPSTART

// Packs weights [in_channels, out_channels / group, kernel_h, kernel_w]; of `shape` these, groups,
// strides and dilations matter.
void ln_deconv_nhwc_f32_pack(const ln_conv_shape *shape, const float *weight, float *packed);

// Bytes of workspace, the same on every machine; SIZE_MAX if they are too many.
size_t ln_deconv_nhwc_f32_workspace(const ln_conv_shape *shape);

// Without an addend. `workspace` is aligned for float and may hold anything.
void ln_deconv_nhwc_f32(ln_cpu_isa isa, const ln_conv_nhwc_f32_args *args, ln_pool *pool,
                        float *workspace);

LN_CPPEND

#endif
