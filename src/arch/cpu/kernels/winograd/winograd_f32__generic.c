// SPDX-License-Identifier: Apache-2.0
// Winograd f32 for any processor: tiles of 4 x 16.

#include "arch/cpu/simd/f32__generic.h"

#include "arch/cpu/kernels/winograd/winograd_f32_body.h"

PRODUCT_TO(4, 1)

static product_tile_fn *const tiles[1][PRODUCT_MAX_ROWS + 1] = {{product_to_4x1}};

static void product(const ln_winograd_f32_product *p)
{
    winograd_f32_product(p, 4, 1, tiles);
}

const ln_winograd_f32_kernel VF_KERNEL(ln_k_winograd_f32) = {
    .input = {input_2, input_4, input_6},
    .product = product,
    .output = {output_2, output_4, output_6},
};
