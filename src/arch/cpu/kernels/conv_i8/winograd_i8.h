// SPDX-License-Identifier: Apache-2.0
// Convolution of bytes by F(2x2, 3x3) in integers, for processors that multiply words: 2.25 times
// fewer products, and exact.
//
// Winograd's transforms of inputs only add, and those of weights halve: twice each of them is an
// integer, so what comes out is four times the sum. Transformed inputs are at most 4 * 255,
// weights 9 * 128, or 9 * 255 less a zero point, by absolute value. Products are summed in 32 bits,
// which wrap; four times a sum of at most 9 * 1827 products of 255 * 128, or 9 * 917 of 255 * 255,
// is below 2^31, and comes out right.
//
// Weights are transformed in the run, some panels at a time, from those of conv_i8.h: packed ones
// are the same for all sets of instructions.

#ifndef LN_ARCH_CPU_KERNELS_WINOGRAD_I8_H
#define LN_ARCH_CPU_KERNELS_WINOGRAD_I8_H

#include "arch/cpu/kernels/conv_i8/conv_i8.h"

LN_CPPSTART

// With zero points of weights or without.
bool ln_winograd_i8_fits(const ln_conv_shape *shape, bool has_zeros);

// Only what fits. The workspace has the same size on every machine.
size_t ln_winograd_i8_workspace(const ln_conv_shape *shape);
void ln_winograd_i8(ln_cpu_isa isa, const ln_conv_i8_args *args, void *workspace, ln_pool *pool);

// ---- Kernels ----

// Of a tile of 2x2 outputs 4x4 inputs are read, and 4x4 products are summed: their positions.
#define LN_WINOGRAD_I8_POSITIONS 16

typedef struct ln_winograd_i8_inputs {
    const uint8_t *pixels[LN_WINOGRAD_I8_POSITIONS]; // from the first channel on; NULL: outside
    size_t channels;                                 // a multiple of four
    uint8_t flip;                                    // bytes are exclusive-ored with it
    int32_t zero;                                    // then subtracted
    size_t position_step; // words of the result, in sixteens for channels
} ln_winograd_i8_inputs;

typedef struct ln_winograd_i8_weights {
    const int8_t *fours;  // of a panel's 16 columns
    const int32_t *zeros; // of these, which are subtracted
    size_t count;         // of fours
    size_t tap_step;      // bytes from a tap to the next
    size_t position_step; // words of the result
} ln_winograd_i8_weights;

// One position: sums of 16 columns for each tile.
typedef struct ln_winograd_i8_product {
    const int16_t *inputs;
    size_t tiles, tile_step; // words from tile to tile
    const int16_t *weights;
    size_t fours;
    bool is_first; // sums are stored, else added
    int32_t *sums;
} ln_winograd_i8_product;

// Sums of 16 columns in two rows of pixels.
typedef struct ln_winograd_i8_outputs {
    const int32_t *sums;
    size_t tiles, position_step;
    int32_t *rows[2];
} ln_winograd_i8_outputs;

// Results of pixels next to each other.
typedef struct ln_winograd_i8_pixels {
    const int32_t *sums; // 16 columns for each
    size_t count;
    size_t column, columns; // the first one, and how many there are in all
    void *y;                // of the first pixel
    size_t y_step;          // elements from pixel to pixel
    const ln_epilogue_i8 *epilogue;
} ln_winograd_i8_pixels;

// NULL where dot products of bytes are faster.
typedef struct ln_winograd_i8_kernels {
    void (*transform_inputs)(const ln_winograd_i8_inputs *inputs, int16_t *to);
    void (*transform_weights)(const ln_winograd_i8_weights *weights, int16_t *to);
    void (*multiply)(const ln_winograd_i8_product *product);
    void (*transform_outputs)(const ln_winograd_i8_outputs *outputs);
    void (*put)(const ln_winograd_i8_pixels *pixels);
} ln_winograd_i8_kernels;

LN_KERNELS_OF(LN_CPU_I8_LIST, const ln_winograd_i8_kernels, winograd_i8)

LN_CPPEND

#endif
