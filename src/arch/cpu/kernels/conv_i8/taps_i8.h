// SPDX-License-Identifier: Apache-2.0
// The innermost part of a depthwise convolution of bytes: the taps of some output pixels, for all
// channels, then the epilogue of tile_i8.h.

#ifndef LN_ARCH_CPU_KERNELS_TAPS_I8_H
#define LN_ARCH_CPU_KERNELS_TAPS_I8_H

#include <stdbool.h>

#include "arch/cpu/kernels/gemm_i8/tile_i8.h"

LN_CPPSTART

// Of a block, of all instruction sets, and bytes of a weight. The last block overlaps the one
// before it where channels are no multiple of it, and is narrower where they are fewer.
#define LN_TAPS_I8_MIN_CHANNELS     16
#define LN_TAPS_I8_MAX_CHANNELS     32
#define LN_TAPS_I8_MAX_WEIGHT_BYTES 2

// Numbers of each channel that are arranged.
#define LN_TAPS_I8_COLUMNS 4

typedef struct ln_taps_i8_args {
    size_t channels, taps, pixels;
    const uint8_t **at;  // of the taps of the first pixel, up to a multiple of four; moved
    const size_t *steps; // by how many bytes each of them moves to the next pixel
    bool has_more; // LN_TAPS_I8_MAX_CHANNELS bytes can be read at each tap, however few channels
    uint8_t flip;  // bytes are exclusive-ored with it, to be unsigned
    const int8_t *weights;   // arranged: for each block, each four
    const int8_t *ones;      // likewise for one block, 1 for each tap; NULL: no zero points
    int32_t row_zero;        // what is taken from the sum of the taps alone
    void *y;                 // of the first pixel
    size_t y_step;           // bytes from pixel to pixel
    ln_epilogue_i8 epilogue; // addends and column_zeros of channels; no row_sums
    const int32_t *columns;  // arranged: addends, factors, bias and zero points of each block
} ln_taps_i8_args;

typedef void ln_taps_i8_fn(const ln_taps_i8_args *args);

// Packed weights, [fours][channels, as 16s of them][4], to blocks.
typedef void ln_arrange_taps_i8_fn(size_t channels, size_t fours, const int8_t *packed, int8_t *to);

// Of 3x3 taps: for each block the three taps of each column together, and a zero.
#define LN_TAPS_I8_WINDOW_BYTES ((size_t)12 * LN_TAPS_I8_MAX_CHANNELS)
typedef void ln_arrange_window_i8_fn(size_t channels, const int8_t *packed, int8_t *to);

typedef void ln_arrange_columns_i8_fn(size_t channels, const ln_epilogue_i8 *epilogue, int32_t *to);

typedef struct ln_taps_i8_kernel {
    size_t channels; // of a block
    size_t weight_bytes;
    int32_t offset; // what is taken from each byte
    ln_taps_i8_fn *run;
    ln_arrange_taps_i8_fn *arrange;
    ln_arrange_columns_i8_fn *arrange_columns; // NULL: not needed
    // Bytes or sums of pixels whose windows of 3x3 taps overlap in two columns. The first one may
    // begin outside. The weights are those that arrange_window makes, channels are at least those
    // of a block. NULL: there is none.
    ln_taps_i8_fn *run_windows;
    ln_arrange_window_i8_fn *arrange_window;
} ln_taps_i8_kernel;

LN_KERNELS_OF(LN_CPU_I8_LIST, const ln_taps_i8_kernel, taps_i8)

LN_CPPEND

#endif
