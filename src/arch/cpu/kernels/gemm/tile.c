// SPDX-License-Identifier: Apache-2.0
// Which tile kernel, and which size of tile.

#include "arch/cpu/kernels/gemm/tile.h"

#include "base/minmax.h"

// Rows at such a distance, in floats, are in the same few ways of a cache of the first level.
#define SET_DISTANCE 1024
#define CACHE_WAYS   12

static bool is_crowded(size_t row_distance)
{
    return row_distance && row_distance % SET_DISTANCE == 0;
}

// Whether tiles of three panels leave more than a lone panel where tiles of two do not. A tile of
// one panel loads a float of A for each fma, which takes up to half as long again.
static bool leaves_no_lone_panel(const ln_tile_f32_kernel *kernel, size_t panels)
{
    return panels > 1 && panels % 2 == 1 && panels % 3 != 1 && kernel->max_rows[2] &&
           kernel->max_rows[1] > kernel->max_rows[2];
}

// Wide tiles for few rows: a tile should have enough sums to hide the latency of fma. Rows that
// compete for the same ways of the cache make it fewer rows and more panels.
ln_tile_f32_size ln_tile_f32_choose(const ln_tile_f32_kernel *kernel, size_t m, size_t panels,
                                    size_t row_distance)
{
    const bool has_few_ways = is_crowded(row_distance);
    size_t best = 1;
    for (size_t p = 2; p <= LN_TILE_MAX_PANELS && p <= panels; p++) {
        size_t rows = kernel->max_rows[p - 1];
        bool is_fit = rows >= m || rows >= kernel->max_rows[best - 1] ||
                      (has_few_ways && kernel->max_rows[best - 1] > CACHE_WAYS - best);
        if (rows && is_fit)
            best = p;
    }
    if (best == 2 && leaves_no_lone_panel(kernel, panels))
        best = 3;
    return (ln_tile_f32_size){.rows = kernel->max_rows[best - 1], .panels = best};
}

ln_tile_f32_size ln_tile_f32_choose_columns(const ln_tile_f32_kernel *kernel, size_t m,
                                            size_t columns, size_t row_distance)
{
    const size_t panels = ln_div_up(columns, LN_TILE_LANES), filled = columns % LN_TILE_LANES;
    const bool is_half = filled && filled <= LN_TILE_LANES / 2 && panels <= 2;
    const size_t rows = is_half && !is_crowded(row_distance) ? kernel->half_rows[panels - 1] : 0;
    if (rows)
        return (ln_tile_f32_size){.rows = rows, .panels = panels};
    return ln_tile_f32_choose(kernel, m, panels, row_distance);
}
