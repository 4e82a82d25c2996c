// SPDX-License-Identifier: Apache-2.0
// Convolution of channels-last images in groups of few channels: lanes are the channels of several
// groups, and each takes the inputs of its own.
//
// What it computes, bit for bit, and the layout of its weights are those of direct/direct.h, which
// hands over to it.

#ifndef LN_ARCH_CPU_KERNELS_GROUPED_H
#define LN_ARCH_CPU_KERNELS_GROUPED_H

#include <stdbool.h>

#include "arch/cpu/kernels/conv_nhwc.h"
#include "arch/cpu/kernels/select.h"

LN_CPPSTART

// Whether it can do this: groups of 4 or 8 channels to as many, and a plain epilogue.
bool ln_grouped_f32_fits(const ln_conv_nhwc_f32_args *args);

// Only what fits. `pool` may be NULL.
void ln_grouped_f32(ln_cpu_isa isa, const ln_conv_nhwc_f32_args *args, ln_pool *pool);

// ---- For the kernels ----

#define LN_GROUPED_LANES    16
#define LN_GROUPED_MAX_TAPS 256 // times channels of a group

// Row `row` of all images' outputs, of channels [channel, channel + LN_GROUPED_LANES). `weights`
// are those of these channels: for each kernel row, kernel column, input channel of a group
// | o0 ... o15 |.
typedef void ln_grouped_f32_fn(const ln_conv_nhwc_f32_args *args, size_t row, size_t channel,
                               const float *weights);

LN_KERNELS(ln_grouped_f32_fn, grouped_f32)

LN_CPPEND

#endif
