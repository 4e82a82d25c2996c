// SPDX-License-Identifier: Apache-2.0
// Winograd f32 for AVX-512: products of 14 x 32, 28 of 32 registers for sums.

#include "arch/cpu/simd/f32__x86_avx512.h"

#include "arch/cpu/kernels/winograd/winograd_f32_body.h"

// The one list of rows for each number of panels.
#define ROWS_TO_7(X, np)  X(1, np) X(2, np) X(3, np) X(4, np) X(5, np) X(6, np) X(7, np)
#define ROWS_TO_12(X, np) ROWS_TO_7(X, np) X(8, np) X(9, np) X(10, np) X(11, np) X(12, np)
#define ROWS(X, np)       ROWS_TO_12(X, np) X(13, np) X(14, np)

ROWS(PRODUCT_TILE, 1)
ROWS(PRODUCT_TILE, 2)

static product_tile_fn *const tiles[2][PRODUCT_MAX_ROWS] = {ROWS(PRODUCT_ENTRY, 1)
                                                                ROWS(PRODUCT_ENTRY, 2)};

static void product(const ln_winograd_f32_product *p)
{
    winograd_f32_product(p, 14, 2, tiles);
}

const ln_winograd_f32_kernel ln_k_winograd_f32_14x32__x86_avx512 = {
    .input = {input_2, input_4, input_6},
    .product = product,
    .output = {output_2, output_4, output_6},
};
