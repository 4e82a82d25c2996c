// SPDX-License-Identifier: Apache-2.0
// Tiles for NEON: 6 rows and a panel, 24 of 32 registers for sums.

#include "arch/cpu/simd/f32__arm_neon.h"

#include "arch/cpu/kernels/gemm/pack_f32_body.h"
#include "arch/cpu/kernels/gemm/tile_f32_body.h"

void ln_k_tile_f32_6x16__arm_neon(const ln_tile_f32_args *tile)
{
    const size_t count = tile->more_tiles + 1;
    assert(tile->m >= 1 && tile->m <= 6);
    if (tile->m == 6)
        tile_f32(tile, 0, count, 0, tile->n, 6, 6, 1, false);
    else
        tile_f32(tile, 0, count, 0, tile->n, 5, tile->m, 1, false);
}

void ln_k_panel_f32_16__arm_neon(size_t k, size_t columns, size_t channels, const float *w,
                                 size_t row_step, size_t column_step, float *panel)
{
    pack_panels(k, columns, channels, w, row_step, column_step, panel);
}
