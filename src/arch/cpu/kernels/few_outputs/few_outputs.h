// SPDX-License-Identifier: Apache-2.0
// Convolution of channels-last images with few output channels: as an output channel each of one
// lane would leave most lanes idle, a sum has lanes instead, of input channels.
//
// Packed weights, n = 16:   for each kernel row, kernel column, n input channels, output channel:
//     | c0 ... c15 |
//
// The bits: an output has sixteen lanes that start at +0; lane i takes fma(x, weight, lane) over
// the kernel's rows, then its columns, then the input channels i, i + 16, ..., in ascending order;
// places outside the image take no part. Lanes are added as lanes.h says, then the epilogue
// (act.h).

#ifndef LN_ARCH_CPU_KERNELS_FEW_OUTPUTS_H
#define LN_ARCH_CPU_KERNELS_FEW_OUTPUTS_H

#include "arch/cpu/kernels/conv_nhwc.h"
#include "arch/cpu/kernels/select.h"

LN_CPPSTART

#define LN_FEW_OUTPUTS_MAX   4
#define LN_FEW_OUTPUTS_LANES 16

// Packs weights [out_channels, in_channels, kernel_h, kernel_w]; of `shape` only these matter.
void ln_few_outputs_f32_pack(const ln_conv_shape *shape, const float *weight, float *packed);

// One group, in_channels a multiple of LN_FEW_OUTPUTS_LANES, at most LN_FEW_OUTPUTS_MAX output
// channels.
void ln_few_outputs_f32(ln_cpu_isa isa, const ln_conv_nhwc_f32_args *args, ln_pool *pool);

// ---- Kernels ----

// Outputs [first, first + count) of row `row` of the output; row y of image n is number n * out_h +
// y. With the bias, but nothing else of the epilogue; y is that of the first output.
typedef void ln_few_outputs_f32_fn(const ln_conv_nhwc_f32_args *args, size_t row, size_t first,
                                   size_t count, float *y, size_t y_stride);

LN_KERNELS(ln_few_outputs_f32_fn, few_outputs_f32)

LN_CPPEND

#endif
