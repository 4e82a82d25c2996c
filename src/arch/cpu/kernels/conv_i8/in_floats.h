// SPDX-License-Identifier: Apache-2.0
// Convolution of bytes in floats, for processors that multiply floats faster than bytes. Of few
// products every sum is an integer below 2^24, so floats hold it exactly in any order.
//
// Bytes are widened tile by tile, less their zero points, convolved by the kernels of floats, and
// the sums go through the epilogue of tile_i8.h.

#ifndef LN_ARCH_CPU_KERNELS_IN_FLOATS_H
#define LN_ARCH_CPU_KERNELS_IN_FLOATS_H

#include "arch/cpu/kernels/conv_i8/conv_i8.h"

LN_CPPSTART

// Whether floats do it: convolutions of few channels and taps. And whether they do it faster than
// the bytes of a set of instructions.
bool ln_in_floats_fits(const ln_conv_shape *shape);
bool ln_in_floats_is_faster(ln_cpu_isa isa, const ln_conv_shape *shape);

// Only what fits. The workspace has the same size on every machine.
size_t ln_in_floats_workspace(const ln_conv_shape *shape);
void ln_in_floats(ln_cpu_isa isa, const ln_conv_i8_args *args, void *workspace, ln_pool *pool);

// ---- Kernels ----

// Rows of bytes, each exclusive-or `flip`, to floats that follow each other.
typedef struct ln_widened_rows {
    const uint8_t *x;
    size_t rows, len, step; // bytes of a row, and from row to row
    uint8_t flip;
    int32_t zero; // subtracted
} ln_widened_rows;

// Sums of pixels, and where their results go.
typedef struct ln_float_sums {
    const float *sums; // [pixels, channels]
    size_t pixels, channels;
    void *y;
    size_t y_step;           // elements from pixel to pixel
    ln_epilogue_i8 epilogue; // of these channels; addends are added to the sums
} ln_float_sums;

// NULL where bytes are faster.
typedef struct ln_in_floats_kernels {
    void (*widen)(const ln_widened_rows *rows, float *to);
    // The first `taps` of fours of packed weights less `zeros` (NULL: none), each to floats of all
    // channels, a multiple of 16.
    void (*widen_fours)(size_t channels, size_t taps, const int8_t *fours, const int32_t *zeros,
                        float *to, size_t to_step);
    void (*finish)(const ln_float_sums *sums);
} ln_in_floats_kernels;

LN_KERNELS_OF(LN_CPU_I8_LIST, const ln_in_floats_kernels, in_floats)

LN_CPPEND

#endif
