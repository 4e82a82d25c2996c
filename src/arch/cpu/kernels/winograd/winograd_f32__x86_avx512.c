// SPDX-License-Identifier: Apache-2.0
// Winograd f32 for AVX-512: products of 14 x 32, 28 of 32 registers for sums.

#include "arch/cpu/simd/f32__x86_avx512.h"

#include "arch/cpu/kernels/winograd/winograd_f32_body.h"

// Those that are dealt when there are many rows.
#define ROWS(X, np) X(8, np) X(9, np) X(10, np) X(11, np) X(12, np) X(13, np) X(14, np)

ROWS(PRODUCT_TILE, 2)
PRODUCT_TO(7, 2)
PRODUCT_TO(14, 1)

static product_tile_fn *const tiles[2][PRODUCT_MAX_ROWS + 1] = {
    {product_to_14x1}, {product_to_7x2, ROWS(PRODUCT_ENTRY, 2)}};

static void product(const ln_winograd_f32_product *p)
{
    winograd_f32_product(p, 14, 2, tiles);
}

const ln_winograd_f32_kernel VF_KERNEL(ln_k_winograd_f32) = {
    .input = {input_2, input_4, input_6},
    .product = product,
    .output = {output_2, output_4, output_6},
};
