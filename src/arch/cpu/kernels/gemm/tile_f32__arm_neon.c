// SPDX-License-Identifier: Apache-2.0
// Tiles for NEON: 6 rows and a panel, 24 of 32 registers for sums.

#include "arch/cpu/simd/f32__arm_neon.h"

#include "arch/cpu/kernels/gemm/pack_f32_body.h"
#include "arch/cpu/kernels/gemm/tile_f32_body.h"

void ln_k_tile_f32_6x16__arm_neon(const ln_tile_f32_args *tile)
{
    const size_t count = tile->more_tiles + 1;
    switch (tile->m) {
    case 1: tile_f32(tile, 0, count, 0, tile->n, 1, 1, false); break;
    case 2: tile_f32(tile, 0, count, 0, tile->n, 2, 1, false); break;
    case 3: tile_f32(tile, 0, count, 0, tile->n, 3, 1, false); break;
    case 4: tile_f32(tile, 0, count, 0, tile->n, 4, 1, false); break;
    case 5: tile_f32(tile, 0, count, 0, tile->n, 5, 1, false); break;
    case 6: tile_f32(tile, 0, count, 0, tile->n, 6, 1, false); break;
    default: assert(false);
    }
}

void ln_k_panel_f32_16__arm_neon(size_t k, size_t columns, size_t channels, const float *w,
                                 size_t row_step, size_t column_step, float *panel)
{
    pack_panels(k, columns, channels, w, row_step, column_step, panel);
}
