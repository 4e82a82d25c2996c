// SPDX-License-Identifier: Apache-2.0
// Winograd f32 for NEON: products of 6 x 16, 24 of 32 registers for sums.

#include "arch/cpu/simd/f32__arm_neon.h"

#include "arch/cpu/kernels/winograd/winograd_f32_body.h"

// The one list of rows.
#define ROWS(X, np) X(1, np) X(2, np) X(3, np) X(4, np) X(5, np) X(6, np)
ROWS(PRODUCT_TILE, 1)

static product_tile_fn *const tiles[1][PRODUCT_MAX_ROWS] = {ROWS(PRODUCT_ENTRY, 1)};

static void product(const ln_winograd_f32_product *p)
{
    winograd_f32_product(p, 6, 1, tiles);
}

const ln_winograd_f32_kernel ln_k_winograd_f32_6x16__arm_neon = {
    .input = {input_2, input_4, input_6},
    .product = product,
    .output = {output_2, output_4, output_6},
};
