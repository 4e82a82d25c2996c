// SPDX-License-Identifier: Apache-2.0
// Tiles for AVX-512: 14 rows and two panels, 28 of 32 registers for sums; fewer rows with more
// panels.

#include "arch/cpu/simd/f32__x86_avx512.h"

#define TILE_LOAD_TWICE vf_load_half_twice

#include "arch/cpu/kernels/gemm/pack_f32_body.h"
#include "arch/cpu/kernels/gemm/tile_f32_body.h"

// The one list of rows for each number of panels.
#define ROWS_TO_6(X, np)  X(1, np) X(2, np) X(3, np) X(4, np) X(5, np) X(6, np)
#define ROWS_TO_9(X, np)  ROWS_TO_6(X, np) X(7, np) X(8, np) X(9, np)
#define ROWS_TO_14(X, np) ROWS_TO_9(X, np) X(10, np) X(11, np) X(12, np) X(13, np) X(14, np)

#define TILE(mr, np)                                                                               \
    static void tile_##mr##x##np(const ln_tile_f32_args *t, size_t tile, size_t tile_end,          \
                                 size_t first, size_t end)                                         \
    {                                                                                              \
        tile_f32(t, tile, tile_end, first, end, mr, np, false);                                    \
    }
ROWS_TO_14(TILE, 1)
ROWS_TO_14(TILE, 2)
ROWS_TO_9(TILE, 3)
ROWS_TO_6(TILE, 4)

// Those that a network's layers meet, of whose columns a last half panel is a notable part.
#define ROWS_OF_PAIRS(X) X(8, 2) X(9, 2) X(12, 2) X(13, 2) X(14, 2) X(8, 3) X(9, 3)

#define TILE_OF_PAIRS(mr, np)                                                                      \
    static void tile_of_pairs_##mr##x##np(const ln_tile_f32_args *t, size_t tile, size_t tile_end, \
                                          size_t first, size_t end)                                \
    {                                                                                              \
        tile_f32(t, tile, tile_end, first, end, mr, np, true);                                     \
    }
ROWS_OF_PAIRS(TILE_OF_PAIRS)

typedef void tile_fn(const ln_tile_f32_args *t, size_t tile, size_t tile_end, size_t first,
                     size_t end);

#define ENTRY(mr, np) [(np)-1][(mr)-1] = tile_##mr##x##np,
static tile_fn *const tiles[LN_TILE_MAX_PANELS][LN_TILE_MAX_ROWS] = {
    ROWS_TO_14(ENTRY, 1) ROWS_TO_14(ENTRY, 2) ROWS_TO_9(ENTRY, 3) ROWS_TO_6(ENTRY, 4)};

#define ENTRY_OF_PAIRS(mr, np) [(np)-1][(mr)-1] = tile_of_pairs_##mr##x##np,
static tile_fn *const tiles_of_pairs[LN_TILE_MAX_PANELS][LN_TILE_MAX_ROWS] = {
    ROWS_OF_PAIRS(ENTRY_OF_PAIRS)};

// For the last columns, whose last panel may be filled to a half.
static tile_fn *last_tile(const ln_tile_f32_args *t, size_t panels)
{
    const size_t filled = t->n % LN_TILE_LANES;
    tile_fn *tile = tiles_of_pairs[panels - 1][t->m - 1];
    if (tile && filled && filled <= LN_TILE_LANES / 2 && !t->starts_from_sums && !t->ends_in_sums)
        return tile;
    return tiles[panels - 1][t->m - 1];
}

// Bytes of A that should be found again by the last columns.
#define NEAR_BYTES (size_t)(16 << 10)

// How many tiles take turns with the last columns, which other functions make.
static size_t tiles_near(const ln_tile_f32_args *t)
{
    const size_t bytes = t->more_tiles ? t->m * t->runs[0].k * sizeof(float) : NEAR_BYTES;
    return bytes < NEAR_BYTES ? NEAR_BYTES / (bytes + 1) : 1;
}

// The last columns may be those of fewer panels than the others.
void ln_k_tile_f32_14x32__x86_avx512(const ln_tile_f32_args *tile)
{
    const size_t width = tile_width(tile), columns = width * LN_TILE_LANES;
    assert(width >= 1 && width <= LN_TILE_MAX_PANELS);
    assert(tile->m >= 1 && tile->m <= LN_TILE_MAX_ROWS && tiles[width - 1][tile->m - 1]);
    const size_t rest = tile->n % columns, end = tile->n - rest;
    const size_t count = tile->more_tiles + 1, at_once = rest && end ? tiles_near(tile) : count;
    tile_fn *const last = rest ? last_tile(tile, (rest + LN_TILE_LANES - 1) / LN_TILE_LANES) : NULL;
    for (size_t i = 0; i < count; i += at_once) {
        const size_t until = count - i < at_once ? count : i + at_once;
        if (end)
            tiles[width - 1][tile->m - 1](tile, i, until, 0, end);
        if (last)
            last(tile, i, until, end, tile->n);
    }
}

void ln_k_panel_f32_16__x86_avx512(size_t k, size_t columns, size_t channels, const float *w,
                                   size_t row_step, size_t column_step, float *panel)
{
    pack_panels(k, columns, channels, w, row_step, column_step, panel);
}
