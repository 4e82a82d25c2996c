// SPDX-License-Identifier: Apache-2.0
// Tiles for AVX2 with FMA: 6 rows and a panel, 12 of 16 registers for sums.

#include "arch/cpu/simd/f32__x86_avx2.h"

#include "arch/cpu/kernels/gemm/pack_f32.h"
#include "arch/cpu/kernels/gemm/tile_f32_body.h"

static void run_tile(const ln_tile_f32_args *tile)
{
    const size_t count = tile->more_tiles + 1;
    assert(tile->m >= 1 && tile->m <= 6);
    if (tile->m == 6)
        tile_f32(tile, 0, count, 0, tile->n, 6, 6, 1, false);
    else
        tile_f32(tile, 0, count, 0, tile->n, 5, tile->m, 1, false);
}

const ln_tile_f32_kernel VF_KERNEL(ln_k_tile_f32) = {
    .max_rows = {6}, .run = run_tile, .pack = pack_panels};
