// SPDX-License-Identifier: Apache-2.0
// How the tiles of a product are divided among tasks, and their panels among chunks that stay in a
// cache.

#ifndef LN_ARCH_CPU_KERNELS_GEMM_PARTITION_H
#define LN_ARCH_CPU_KERNELS_GEMM_PARTITION_H

#include <stdbool.h>
#include <stddef.h>

#include "arch/cpu/kernels/tasks.h"
#include "base/grain.h"
#include "base/minmax.h"

// Bytes of packed weights that should stay in the cache of the second level between tiles.
#define LN_PARTITION_CHUNK_BYTES (size_t)(384 << 10)

// Panels of more bytes are not fetched as a whole while others are used, but so many floats in
// front of their use.
#define LN_PARTITION_FAR_BYTES   (size_t)(192 << 10)
#define LN_PARTITION_NEAR_FLOATS (size_t)2048

// A weight that is read once for few rows takes as long as so many multiplications.
#define LN_PARTITION_WEIGHT_WORK 10.0

// And a sum's beginning and end as so many.
#define LN_PARTITION_SUM_WORK 8.0

// Tasks of a product, a grid. They are numbered row by row, or column by column, so that those of
// one thread, which follow each other, need the same tiles or the same panels.
typedef struct ln_partition {
    size_t rows, columns;
    bool is_by_columns;
} ln_partition;

typedef struct ln_partition_task {
    size_t row, column;
} ln_partition_task;

static inline ln_partition_task ln_partition_at(const ln_partition *p, size_t index)
{
    if (p->is_by_columns)
        return (ln_partition_task){index % p->rows, index / p->rows};
    return (ln_partition_task){index / p->columns, index % p->columns};
}

// How `major` things are cut, each of which may be cut into `minor`, for about `count` tasks: the
// first number of two whose product is that of the tasks. Few things are given out one by one, and
// cut where threads would get different numbers of them.
static inline void ln_partition_cut(size_t major, size_t minor, size_t count, size_t threads,
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
// side with more memory is the one to divide, because all tasks read the other.
static inline ln_partition ln_partition_product(size_t tiles, size_t sets, bool are_sets_larger,
                                                double work, size_t threads)
{
    ln_partition p = {1, 1, are_sets_larger && sets >= threads};
    size_t count = ln_tasks_wanted(work / LN_PRODUCTS_PER_MICROSECOND, threads);
    if (count == 1)
        return p;
    if (p.is_by_columns)
        ln_partition_cut(sets, tiles, count, threads, &p.columns, &p.rows);
    else
        ln_partition_cut(tiles, sets, count, threads, &p.rows, &p.columns);
    return p;
}

// A product of one row waits for its weights, unless they stay in a near cache until it runs again.
// Memory is read fastest from one end to the other, thus one panel after the other, and fetched so
// many floats in front of its use.
#define LN_PARTITION_STREAM_FLOATS (size_t)4096

static inline bool ln_partition_is_stream(size_t rows, size_t weight_floats)
{
    return rows == 1 && weight_floats > ln_grain(LN_PARTITION_CHUNK_BYTES) / sizeof(float);
}

// Panels that all tiles of a task meet before the next ones: a multiple of those of a tile.
static inline size_t ln_partition_chunk(size_t panel_floats, size_t tile_panels)
{
    size_t tile_bytes = panel_floats * tile_panels * sizeof(float);
    size_t sets = tile_bytes ? ln_grain(LN_PARTITION_CHUNK_BYTES) / tile_bytes : 1;
    return (sets ? sets : 1) * tile_panels;
}

// Tiles of a chunk that may fetch something ahead.
#define LN_PARTITION_AHEAD_TILES (size_t)2

// Floats from what a tile reads of the packed weights to what it should fetch meanwhile: in a
// task's first tile the panels after its own, so that these come from memory while others are
// used; in the second tile of a chunk what is after the chunk. That is the next one, or, after
// the last, as a rule what the next operators read: packed weights follow each other in their
// order. Of panels that are too large for that the first tile fetches what it reads itself a little
// later. 0: everything is near.
static inline size_t ln_partition_ahead(size_t tile, size_t tile_count, bool is_first_chunk,
                                        size_t tile_floats, size_t chunk_floats)
{
    if (tile_floats * sizeof(float) > LN_PARTITION_FAR_BYTES)
        return tile == 0 ? LN_PARTITION_NEAR_FLOATS : 0;
    if (is_first_chunk && tile == 0)
        return tile_floats;
    return tile == (tile_count > 1) ? chunk_floats : 0;
}

#endif
