// SPDX-License-Identifier: Apache-2.0
// Drives the gemm kernels: one panel of B at a time, all rows of A past it.
//
// A panel is packed when enough rows use it; below that its rows are read where they are. A is
// read in place: a tile's rows are few streams, which the hardware follows.

#include "arch/cpu/kernels/gemm/gemm.h"

#include <assert.h>
#include <stdint.h>

#include "base/checked.h"
#include "base/minmax.h"

// Up to so many tiles of rows, packing a panel of B costs more than it saves. Measured.
#define PACK_ABOVE_TILES 2

size_t ln_gemm_f32_workspace(size_t k)
{
    size_t byte_count;
    return ln_size_mul(k, LN_GEMM_F32_MAX_NR * sizeof(float), &byte_count) ? byte_count : SIZE_MAX;
}

// The rows are dealt evenly: 13 rows of a 12-row kernel are 7 and 6, not 12 and 1, because small
// tiles do not hide the latency of fma.
void ln_gemm_f32_panel(const ln_gemm_f32_kernel *kernel, const ln_gemm_f32_args *panel)
{
    assert(panel->n <= kernel->nr);

    if (panel->m == 0 || panel->n == 0)
        return;
    size_t tile_count = panel->m / kernel->mr + (panel->m % kernel->mr != 0);
    size_t tall = panel->m % tile_count; // so many tiles have a row more than the others
    ln_gemm_f32_args tile = *panel;
    for (size_t i = 0; i < tile_count; i++) {
        tile.m = panel->m / tile_count + (i < tall);
        kernel->tile(&tile);
        tile.c += tile.m * panel->c_stride;
        if (panel->k)
            tile.a += tile.m * panel->a_stride;
        if (panel->row_bias)
            tile.row_bias += tile.m;
    }
}

void ln_gemm_f32(ln_cpu_isa isa, const ln_gemm_f32_args *args, float *workspace)
{
    const ln_gemm_f32_kernel *kernel = ln_gemm_f32_select(isa);
    size_t nr = kernel->nr;

    for (size_t col = 0; col < args->n; col += nr) {
        ln_gemm_f32_args panel = *args;
        panel.n = ln_min(args->n - col, nr);
        panel.c += col;
        if (args->col_bias)
            panel.col_bias += col;
        if (args->k) {
            panel.b += col;
            // The kernel reads whole rows of a panel, so a narrow last one is always packed.
            if (panel.n < nr || args->m > PACK_ABOVE_TILES * kernel->mr) {
                kernel->pack(args->k, panel.n, panel.b, args->b_stride, workspace);
                panel.b = workspace;
                panel.b_stride = nr;
            }
        }
        ln_gemm_f32_panel(kernel, &panel);
    }
}
