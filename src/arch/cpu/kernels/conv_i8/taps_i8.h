// SPDX-License-Identifier: Apache-2.0
// The innermost part of a depthwise convolution of bytes: the taps of one output pixel, for all
// channels, then the epilogue of tile_i8.h.

#ifndef LN_ARCH_CPU_KERNELS_TAPS_I8_H
#define LN_ARCH_CPU_KERNELS_TAPS_I8_H

#include "arch/cpu/kernels/gemm_i8/tile_i8.h"

LN_CPPSTART

#define LN_TAPS_I8_MAX_CHANNELS 64 // of a block, of all instruction sets

typedef struct ln_taps_i8_args {
    size_t channels, fours;
    const uint8_t *const *taps; // four times `fours` pixels
    uint8_t flip;               // bytes are exclusive-ored with it, to be unsigned
    const int8_t *weights;      // arranged: for each block, each four
    const int8_t *ones;         // likewise for one block, 1 for each tap; NULL: no zero points
    int32_t row_zero;           // what is taken from the sum of the taps alone
    void *y;                    // of the pixel
    ln_epilogue_i8 epilogue;    // addends and column_zeros of channels; no row_sums
} ln_taps_i8_args;

typedef void ln_taps_i8_fn(const ln_taps_i8_args *args);

// Packed weights, [fours][channels, as 16s of them][4], to blocks.
typedef void ln_arrange_taps_i8_fn(size_t channels, size_t fours, const int8_t *packed, int8_t *to);

typedef struct ln_taps_i8_kernel {
    size_t channels; // of a block
    int32_t offset;  // what is taken from each byte
    ln_taps_i8_fn *run;
    ln_arrange_taps_i8_fn *arrange;
} ln_taps_i8_kernel;

LN_KERNELS_OF(LN_CPU_I8_LIST, const ln_taps_i8_kernel, taps_i8)

LN_CPPEND

#endif
