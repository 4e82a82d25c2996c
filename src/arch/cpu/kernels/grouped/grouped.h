// SPDX-License-Identifier: Apache-2.0
// Convolution of channels-last images in groups of few channels: lanes are the outputs of several
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

// Whether it can do this, and faster than direct: groups of few channels, and no addend.
bool ln_grouped_f32_fits(ln_cpu_isa isa, const ln_conv_nhwc_f32_args *args);

// Only what fits. `pool` may be NULL.
void ln_grouped_f32(ln_cpu_isa isa, const ln_conv_nhwc_f32_args *args, ln_pool *pool);

// ---- For the kernels ----

#define LN_GROUPED_LANES    16
#define LN_GROUPED_MAX_IN   8   // channels of a group
#define LN_GROUPED_MAX_TAPS 256 // times channels of a group

// How many outputs a vector of so many lanes has: those of whole groups, unless one fills it.
static inline size_t ln_grouped_channels(size_t of_group, size_t lanes)
{
    return of_group < lanes ? lanes / of_group * of_group : lanes;
}

// The rows [row, row_end) of all images' outputs, of the channels from `channel` on that
// LN_GROUPED_LANES lanes have. `weights` are those of these lanes: for each kernel row, kernel
// column, input channel of a group    | lane 0 ... lane 15 |. An activation is none or bounds.
typedef void ln_grouped_f32_fn(const ln_conv_nhwc_f32_args *args, size_t row, size_t row_end,
                               size_t channel, const float *weights);

typedef struct ln_grouped_f32_kernel {
    size_t lanes; // of a vector
    ln_grouped_f32_fn *run;
} ln_grouped_f32_kernel;

LN_KERNELS(const ln_grouped_f32_kernel, grouped_f32)

LN_CPPEND

#endif
