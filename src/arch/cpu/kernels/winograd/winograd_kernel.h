// SPDX-License-Identifier: Apache-2.0
// What the driver of Winograd's algorithm asks of an instruction set: transforms of tiles, and a
// product for each point.
//
// A tile of n x n inputs, n = m + 2, makes m x m outputs. In workspace, V is its transform and M
// the sums over input channels, both point by point: the value of point p, tile t and channel c is
// at p * plane + t * row + c.

#ifndef LN_ARCH_CPU_KERNELS_WINOGRAD_KERNEL_H
#define LN_ARCH_CPU_KERNELS_WINOGRAD_KERNEL_H

#include <stddef.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/act.h"
#include "arch/cpu/kernels/select.h"

#define LN_WINOGRAD_LANES      16 // output channels of a panel of packed weights
#define LN_WINOGRAD_MAX_SIDE   8
#define LN_WINOGRAD_MAX_POINTS 64

// B^T d B of one tile. Its n * n pixels are `row` and `pixel` floats from each other, or, where
// some of them are outside the image, anywhere.
typedef struct ln_winograd_f32_input {
    const float *x; // the first pixel; NULL: see `pixels`
    size_t row, pixel;
    const float *const *pixels; // row by row
    size_t channels;
    float *v;     // of the tile; written up to the next multiple of 16 channels, with zeros
    size_t plane; // floats from one point to the next
} ln_winograd_f32_input;

// For one point, M = V U: `rows` tiles, and panels of U that follow each other:
//     | c0: o0 ... o15 | c1: o0 ... o15 | ...
// A sum starts at +0 and takes fma(v, u, sum) with ascending channel.
typedef struct ln_winograd_f32_product {
    size_t rows;
    size_t channels;
    size_t panels;
    const float *v;
    size_t v_row;
    const float *u;
    const float *u_after; // that a following product will read; fetched, not used
    float *m;
    size_t m_row;
} ln_winograd_f32_product;

// A^T M A of one tile, the epilogue, and those of the outputs that are inside the image.
typedef struct ln_winograd_f32_output {
    const float *m; // of the tile
    size_t plane;
    size_t channels;
    size_t rows, columns; // that are inside
    float *y;             // the first output, of the first channel
    size_t y_row, y_pixel;
    ln_epilogue_f32 epilogue; // its pointers are those of the first output and channel
    size_t addend_row;
} ln_winograd_f32_output;

typedef void ln_winograd_f32_input_fn(const ln_winograd_f32_input *tile);
typedef void ln_winograd_f32_product_fn(const ln_winograd_f32_product *product);
typedef void ln_winograd_f32_output_fn(const ln_winograd_f32_output *tile);

typedef struct ln_winograd_f32_kernel {
    ln_winograd_f32_input_fn *input[3]; // for m = 2, 4, 6
    ln_winograd_f32_product_fn *product;
    ln_winograd_f32_output_fn *output[3];
} ln_winograd_f32_kernel;

LN_KERNELS(const ln_winograd_f32_kernel, winograd_f32)

#endif
