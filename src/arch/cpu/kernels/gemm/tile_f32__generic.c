// SPDX-License-Identifier: Apache-2.0
// Tiles for any processor: 4 rows and a panel.

#include "arch/cpu/simd/f32__generic.h"

// Activations of tiles are calls of the kernel for rows of them.
#define TILE_ACT_LIST(X)

#ifndef vf_fma_inline
#define vf_fma vf_fma_inline
#endif

#include "arch/cpu/kernels/gemm/pack_f32.h"
#include "arch/cpu/kernels/gemm/tile_f32_body.h"

static void run_tile(const ln_tile_f32_args *tile)
{
    const size_t count = tile->more_tiles + 1;
    assert(tile->m >= 1 && tile->m <= 4);
    tile_f32(tile, 0, count, 0, tile->n, 4, tile->m, 1, false);
}

const ln_tile_f32_kernel VF_KERNEL(ln_k_tile_f32) = {
    .max_rows = {4}, .run = run_tile, .pack = pack_panels};
