// SPDX-License-Identifier: Apache-2.0
// Dealing the tiles of a product to pieces, and their panels to chunks that stay in a cache.

#ifndef LN_ARCH_CPU_KERNELS_GEMM_PARTITION_H
#define LN_ARCH_CPU_KERNELS_GEMM_PARTITION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/minmax.h"

// Bytes of packed weights that should stay in the cache of the second level between tiles.
#define LN_DEAL_CHUNK_BYTES (size_t)(384 << 10)

// Panels of more bytes are not fetched as a whole while others are used, but so many floats in
// front of their use.
#define LN_DEAL_FAR_BYTES   (size_t)(192 << 10)
#define LN_DEAL_NEAR_FLOATS (size_t)2048

// Multiplications, some 4 microseconds of one thread, below which a product is not shared out:
// threads that are far from each other take 2 to hand it over. And those of the smallest pieces.
#define LN_DEAL_MIN_SHARED        (1 << 19)
#define LN_DEAL_MIN_WORK          (1 << 18)
#define LN_DEAL_PIECES_PER_THREAD 6

// A weight that is read once for few rows takes as long as so many multiplications.
#define LN_DEAL_WEIGHT_WORK 10.0

// And a sum's beginning and end as so many.
#define LN_DEAL_SUM_WORK 8.0

// Where share `index` of `count` begins when `total` is dealt evenly: half of the shares, and any
// other part of them that follow each other, have as near to that part of the total as can be.
static inline size_t ln_share_start(size_t total, size_t count, size_t index)
{
    return total / count * index + total % count * index / count;
}

// Pieces of a product, a grid. They are numbered row by row, or column by column, so that those of
// one thread, which follow each other, need the same tiles or the same panels.
typedef struct ln_deal {
    size_t rows, columns;
    bool is_by_columns;
} ln_deal;

typedef struct ln_deal_place {
    size_t row, column;
} ln_deal_place;

static inline ln_deal_place ln_deal_at(const ln_deal *deal, size_t index)
{
    if (deal->is_by_columns)
        return (ln_deal_place){index % deal->rows, index / deal->rows};
    return (ln_deal_place){index / deal->columns, index % deal->columns};
}

// How `major` things are cut, each of which may be cut into `minor`, for about `count` pieces: the
// first number of two whose product is that of the pieces. Few things are dealt one by one, and cut
// where threads would get different numbers of them.
static inline void ln_deal_cut(size_t major, size_t minor, size_t count, size_t threads,
                               size_t *out_major, size_t *out_minor)
{
    size_t cuts = 1;
    if (major < 2 * count) {
        cuts = ln_div_up(count, major);
        if (major % threads && cuts < threads && major < 8 * threads)
            cuts = threads;
    }
    *out_major = major < 2 * count ? major : count;
    *out_minor = ln_min(minor, cuts);
}

// `tiles` of rows times `sets` of panels, `work` multiplications in all. Of `tiles` and `sets` the
// side with more memory is the one to share out, because everyone reads the other.
static inline ln_deal ln_deal_pieces(size_t tiles, size_t sets, bool are_sets_larger, double work,
                                     size_t threads)
{
    ln_deal deal = {1, 1, are_sets_larger && sets >= threads};
    size_t count = threads * LN_DEAL_PIECES_PER_THREAD;
    if (threads == 1 || work < LN_DEAL_MIN_SHARED)
        return deal;
    if (work < (double)LN_DEAL_MIN_WORK * (double)count)
        count = (size_t)(work / LN_DEAL_MIN_WORK);
    if (deal.is_by_columns)
        ln_deal_cut(sets, tiles, count, threads, &deal.columns, &deal.rows);
    else
        ln_deal_cut(tiles, sets, count, threads, &deal.rows, &deal.columns);
    return deal;
}

// A product of one row waits for its weights, unless they stay in a near cache until it runs again.
// Memory is read fastest from one end to the other, thus one panel after the other, and fetched so
// many floats in front of its use.
#define LN_DEAL_STREAM_FLOATS (size_t)4096

static inline bool ln_deal_is_stream(size_t rows, size_t weight_floats)
{
    return rows == 1 && weight_floats > LN_DEAL_CHUNK_BYTES / sizeof(float);
}

// Panels that all tiles of a piece meet before the next ones: a multiple of those of a tile.
static inline size_t ln_deal_chunk(size_t panel_floats, size_t tile_panels)
{
    size_t tile_bytes = panel_floats * tile_panels * sizeof(float);
    size_t sets = tile_bytes ? LN_DEAL_CHUNK_BYTES / tile_bytes : 1;
    return (sets ? sets : 1) * tile_panels;
}

// Tiles of a chunk that may fetch something ahead.
#define LN_DEAL_AHEAD_TILES (size_t)2

// Floats from what a tile reads of the packed weights to what it should fetch meanwhile: in a
// piece's first tile the panels after its own, so that these come from memory while others are
// used; in the second tile of a chunk what lies after the chunk. That is the next one, or, after
// the last, as a rule what the next operators read: packed weights follow each other in their
// order. Of panels that are too large for that the first tile fetches what it reads itself a little
// later. 0: everything is near.
static inline size_t ln_deal_ahead(size_t tile, size_t tile_count, bool is_first_chunk,
                                   size_t tile_floats, size_t chunk_floats)
{
    if (tile_floats * sizeof(float) > LN_DEAL_FAR_BYTES)
        return tile == 0 ? LN_DEAL_NEAR_FLOATS : 0;
    if (is_first_chunk && tile == 0)
        return tile_floats;
    return tile == (tile_count > 1) ? chunk_floats : 0;
}

#endif
