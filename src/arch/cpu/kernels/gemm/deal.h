// SPDX-License-Identifier: Apache-2.0
// Dealing the tiles of a product to pieces, and their panels to chunks that stay in a cache.

#ifndef LN_ARCH_CPU_KERNELS_GEMM_DEAL_H
#define LN_ARCH_CPU_KERNELS_GEMM_DEAL_H

#include <stdbool.h>
#include <stddef.h>

// Bytes of packed weights that should stay in the cache of the second level between tiles.
#define LN_DEAL_CHUNK_BYTES (size_t)(384 << 10)

// Panels of more bytes are not fetched as a whole while others are used, but so many floats in
// front of their use.
#define LN_DEAL_FAR_BYTES   (size_t)(192 << 10)
#define LN_DEAL_NEAR_FLOATS (size_t)2048

// Fewer multiplications than these, some 10 microseconds of one thread, are not worth a piece.
#define LN_DEAL_MIN_WORK          (1 << 20)
#define LN_DEAL_PIECES_PER_THREAD 6

static inline size_t ln_div_up(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

static inline size_t ln_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

// Where share `index` of `count` begins when `total` is dealt evenly.
static inline size_t ln_share_start(size_t total, size_t count, size_t index)
{
    return total / count * index + ln_min(total % count, index);
}

// Pieces of a product, a grid.
typedef struct ln_deal {
    size_t rows, columns;
} ln_deal;

// `tiles` of rows times `sets` of panels, `work` multiplications in all. Of `tiles` and `sets` the
// side with more memory behind it is the one to share out, because everyone reads the other.
static inline ln_deal ln_deal_pieces(size_t tiles, size_t sets, bool are_sets_larger, double work,
                                     size_t threads)
{
    size_t count = threads * LN_DEAL_PIECES_PER_THREAD;
    if (threads == 1 || work < 2.0 * LN_DEAL_MIN_WORK)
        return (ln_deal){1, 1};
    if (work < (double)LN_DEAL_MIN_WORK * (double)count)
        count = (size_t)(work / LN_DEAL_MIN_WORK);
    if (are_sets_larger && sets >= threads) {
        size_t columns = ln_min(sets, count);
        return (ln_deal){ln_min(tiles, ln_div_up(count, columns)), columns};
    }
    size_t rows = ln_min(tiles, count);
    return (ln_deal){rows, ln_min(sets, ln_div_up(count, rows))};
}

// Panels that all tiles of a piece meet before the next ones: a multiple of those of a tile.
static inline size_t ln_deal_chunk(size_t panel_floats, size_t tile_panels)
{
    size_t tile_bytes = panel_floats * tile_panels * sizeof(float);
    size_t sets = tile_bytes ? LN_DEAL_CHUNK_BYTES / tile_bytes : 1;
    return (sets ? sets : 1) * tile_panels;
}

// Floats from what a tile reads of the packed weights to what it should fetch meanwhile: in a
// piece's first tile the panels behind its own, so that these come from memory while others are
// used; in the second tile of a chunk the next chunk. 0: everything is near.
static inline size_t ln_deal_ahead(size_t tile, size_t tile_count, bool is_first_chunk,
                                   bool is_last_chunk, size_t tile_floats, size_t chunk_floats)
{
    if (is_first_chunk && tile == 0)
        return tile_floats * sizeof(float) <= LN_DEAL_FAR_BYTES ? tile_floats : LN_DEAL_NEAR_FLOATS;
    return !is_last_chunk && tile == (tile_count > 1) ? chunk_floats : 0;
}

#endif
