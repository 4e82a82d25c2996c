// SPDX-License-Identifier: Apache-2.0
// Convolution of channels-last images of few channels, such as a network's first layer: windows
// are short, and their distance is small.
//
// What it computes, bit for bit, and the layout of its weights are those of direct/direct.h, which
// hands over to it.

#ifndef LN_ARCH_CPU_KERNELS_FEW_INPUTS_H
#define LN_ARCH_CPU_KERNELS_FEW_INPUTS_H

#include <stdbool.h>

#include "arch/cpu/kernels/conv_nhwc.h"
#include "arch/cpu/kernels/select.h"

LN_CPPSTART

// Whether it can do this, and does it faster than direct's tiles.
bool ln_few_inputs_f32_fits(const ln_conv_nhwc_f32_args *args);

// Only what fits. `pool` may be NULL.
void ln_few_inputs_f32(ln_cpu_isa isa, const ln_conv_nhwc_f32_args *args, ln_pool *pool);

// ---- For the kernels ----

// Some neighbouring outputs of one row.
typedef struct ln_few_inputs_f32_row {
    const float *x;        // the first one's window, from its first float inside the image on
    size_t distance;       // floats from a window to the next
    size_t x_row;          // floats from a row of a window to the next
    size_t rows, k;        // of a window: rows, and floats that follow each other in each
    const float *w;        // of panel 0: the weights of the window's first float
    size_t w_row, w_panel; // floats to those of a window's next row, to the next panel
    size_t outputs;
    float *y;
    size_t channels; // of the result, floats from an output to the next is y_stride
    size_t y_stride;
    const float *bias; // NULL: none
    bool has_bounds, is_lrelu;
    float low, high; // bounds
    float slope;     // of lrelu
} ln_few_inputs_f32_row;

typedef void ln_few_inputs_f32_fn(const ln_few_inputs_f32_row *row);

LN_KERNELS(ln_few_inputs_f32_fn, few_inputs_f32)

LN_CPPEND

#endif
