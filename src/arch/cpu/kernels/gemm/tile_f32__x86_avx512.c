// SPDX-License-Identifier: Apache-2.0
// Tiles for AVX-512: 14 rows and two panels, 28 of 32 registers for sums; fewer rows with more
// panels.

#include "arch/cpu/simd/f32__x86_avx512.h"

#define TILE_LOAD_TWICE vf_load_half_twice

// Half of 14 is fastest: the other rows keep the units for loads busy, these those for permutes.
#define TILE_SPREAD_ROWS     7
#define TILE_SPREAD_MIN_ROWS 12
#define TILE_LOAD_FOUR       vf_load_four_times

#include "arch/cpu/kernels/gemm/tile_f32_body.h"

// Tiles that networks are mostly made of have functions of their own; the others share one for each
// number of panels.
#define ROWS_OF_1(X)     X(14, 1)
#define ROWS_OF_2(X)     X(12, 2) X(13, 2) X(14, 2)
#define ROWS_OF_3(X)     X(8, 3) X(9, 3)
#define ROWS_OF_4(X)     X(1, 4)
#define ROWS_OF_PAIRS(X) X(9, 2) X(14, 2) X(8, 3) X(9, 3)
#define MOST_ROWS(X)     X(13, 1) X(11, 2) X(7, 3) X(6, 4)

#define TILE(name, mr, rows, np, kind)                                                             \
    static void name(const ln_tile_f32_args *t, size_t tile, size_t tile_end, size_t first,        \
                     size_t end)                                                                   \
    {                                                                                              \
        tile_f32(t, tile, tile_end, first, end, mr, rows, np, kind);                               \
    }
#define TILE_OF_ROWS(mr, np)  TILE(tile_##mr##x##np, mr, mr, np, TILE_PLAIN)
#define TILE_OF_PAIRS(mr, np) TILE(tile_of_pairs_##mr##x##np, mr, mr, np, TILE_PAIRS)
#define TILE_TO(mr, np)       TILE(tile_to_##mr##x##np, mr, t->m, np, TILE_PLAIN)
ROWS_OF_1(TILE_OF_ROWS)
ROWS_OF_2(TILE_OF_ROWS)
ROWS_OF_3(TILE_OF_ROWS)
ROWS_OF_4(TILE_OF_ROWS)
ROWS_OF_PAIRS(TILE_OF_PAIRS)
MOST_ROWS(TILE_TO)

typedef void tile_fn(const ln_tile_f32_args *t, size_t tile, size_t tile_end, size_t first,
                     size_t end);

#define ENTRY(mr, np) [mr] = tile_##mr##x##np,
static tile_fn *const tiles[LN_TILE_MAX_PANELS][LN_TILE_MAX_ROWS + 1] = {
    {ROWS_OF_1(ENTRY)}, {ROWS_OF_2(ENTRY)}, {ROWS_OF_3(ENTRY)}, {ROWS_OF_4(ENTRY)}};

#define ENTRY_TO(mr, np) tile_to_##mr##x##np,
static tile_fn *const other_tiles[LN_TILE_MAX_PANELS] = {MOST_ROWS(ENTRY_TO)};

static tile_fn *tile_of(const ln_tile_f32_args *t, size_t panels)
{
    tile_fn *tile = tiles[panels - 1][t->m];
    return tile ? tile : other_tiles[panels - 1];
}

#define ENTRY_OF_PAIRS(mr, np) [(np)-1][mr] = tile_of_pairs_##mr##x##np,
static tile_fn *const tiles_of_pairs[LN_TILE_MAX_PANELS][LN_TILE_MAX_ROWS + 1] = {
    ROWS_OF_PAIRS(ENTRY_OF_PAIRS)};

// For the last columns, whose last panel may be filled to a half.
static tile_fn *last_tile(const ln_tile_f32_args *t, size_t panels)
{
    const size_t filled = t->n % LN_TILE_LANES;
    tile_fn *tile = tiles_of_pairs[panels - 1][t->m];
    if (tile && filled && filled <= LN_TILE_LANES / 2 && !t->starts_from_sums && !t->ends_in_sums)
        return tile;
    return tile_of(t, panels);
}

// The last columns may be those of fewer panels than the others.
static void run_tile(const ln_tile_f32_args *tile)
{
    const size_t width = tile_width(tile), columns = width * LN_TILE_LANES;
    assert(width >= 1 && width <= LN_TILE_MAX_PANELS);
    assert(tile->m >= 1 && tile->m <= (width < 3 ? 14 : width == 3 ? 9 : 6));
    const size_t rest = tile->n % columns, end = tile->n - rest;
    const size_t count = tile->more_tiles + 1, at_once = rest && end ? tiles_near(tile) : count;
    tile_fn *const last = rest ? last_tile(tile, (rest + LN_TILE_LANES - 1) / LN_TILE_LANES) : NULL;
    tile_fn *const whole = tile_of(tile, width);
    for (size_t i = 0; i < count; i += at_once) {
        const size_t until = count - i < at_once ? count : i + at_once;
        if (end)
            whole(tile, i, until, 0, end);
        if (last)
            last(tile, i, until, end, tile->n);
    }
}

const ln_tile_f32_kernel VF_KERNEL(ln_k_tile_f32) = {
    .max_rows = {14, 14, 9, 6}, .run = run_tile, .pack = pack_panels};
