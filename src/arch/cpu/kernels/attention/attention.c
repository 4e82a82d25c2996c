// SPDX-License-Identifier: Apache-2.0
// Drives attention: for some queries of a head, their scores for all keys, the softmax, the
// weighted values. Both products are made by the tile kernel (gemm/tile.h).
//
// Work is dealt in at most 8 ranges of blocks of queries, each with a part of the workspace of its
// own: the keys and values of the head that it is at, packed, and the scores of a block.

#include "arch/cpu/kernels/attention/attention.h"

#include <assert.h>
#include <limits.h>
#include <stdint.h>

#include "arch/cpu/kernels/gemm/partition.h"
#include "arch/cpu/kernels/gemm/tile.h"
#include "base/checked.h"
#include "base/minmax.h"

#define PANEL LN_TILE_LANES

#define MAX_RANGES 8

// More of them pack more heads twice, and fill more of a thread's cache.
#define RANGES_PER_THREAD 2

// Queries in a block: so many that their scores stay in the nearest cache, and few enough that
// threads have blocks to share.
#define SCORE_FLOATS 8192
#define MAX_BLOCK    56

#define PRODUCTS_PER_MICROSECOND 500000.0

// ---- Sizes ----

// Floats from one query's scores to the next; the panel too many keeps them apart in the cache.
static size_t score_stride(const ln_attention_f32_shape *s)
{
    return ln_round_up(s->keys, PANEL) + PANEL;
}

static size_t block_queries(const ln_attention_f32_shape *s)
{
    size_t rows = SCORE_FLOATS / score_stride(s) / LN_TILE_MAX_ROWS * LN_TILE_MAX_ROWS;
    return rows < LN_TILE_MAX_ROWS ? LN_TILE_MAX_ROWS : rows > MAX_BLOCK ? MAX_BLOCK : rows;
}

// Ranges that have workspace, on every machine.
static size_t range_count(const ln_attention_f32_shape *s)
{
    size_t items = s->batch * s->heads * ln_div_up(s->queries, block_queries(s));
    return ln_min(items, MAX_RANGES);
}

// Floats of a range's workspace: keys, values, scores.
static size_t keys_floats(const ln_attention_f32_shape *s)
{
    return ln_round_up(s->keys, PANEL) * s->size;
}

static size_t values_floats(const ln_attention_f32_shape *s)
{
    return s->keys * ln_round_up(s->size, PANEL);
}

static size_t range_floats(const ln_attention_f32_shape *s)
{
    return keys_floats(s) + values_floats(s) + block_queries(s) * score_stride(s);
}

ln_status ln_attention_f32_check(const ln_attention_f32_shape *s)
{
    if (s->size == 0 || s->kv_heads == 0 || s->heads == 0 || s->heads % s->kv_heads != 0)
        return LN_FAIL(LN_INVALID, "%zu heads of %zu cannot share %zu heads of keys", s->heads,
                       s->size, s->kv_heads);
    if (s->keys > INT_MAX / 64 || s->size > INT_MAX / 64 ||
        (double)ln_round_up(s->keys, PANEL) * (double)ln_round_up(s->size, PANEL) * 2 +
                (double)MAX_BLOCK * (double)score_stride(s) >
            (double)INT_MAX / MAX_RANGES)
        return LN_FAIL(LN_LIMIT, "attention to %zu keys of %zu is too large", s->keys, s->size);
    return LN_OK;
}

size_t ln_attention_f32_workspace(const ln_attention_f32_shape *s)
{
    return range_count(s) * range_floats(s);
}

// ---- Running ----

typedef struct attention_job {
    const ln_attention_f32_kernels *kernels;
    const ln_tile_f32_kernel *tile;
    const ln_attention_f32_args *args;
    float *workspace;
    size_t slot_floats;   // from one range's workspace to the next; 0: all use the same
    size_t tiles, blocks; // of the queries of a head; a block has whole tiles
    size_t ranges, items;
} attention_job;

// y = x times the packed panels, for `rows` rows of k floats.
typedef struct product {
    size_t rows, n, k;
    const float *x;
    size_t x_stride;
    const float *panels;
    float *y;
    size_t y_stride;
} product;

// All rows times the panels of a tile, which stay in the nearest cache: first the tiles that have a
// row more than the others.
static void multiply_panels(const ln_tile_f32_kernel *kernel, ln_tile_f32_args tile, size_t rows,
                            size_t max_rows, size_t x_stride)
{
    const size_t tiles = ln_div_up(rows, max_rows), longer = rows % tiles;
    const size_t counts[] = {longer, tiles - longer};
    for (size_t i = 0; i < 2; i++) {
        tile.m = rows / tiles + (i == 0);
        if (counts[i] == 0)
            continue;
        tile.more_tiles = counts[i] - 1;
        tile.tile_step = (ptrdiff_t)(tile.m * x_stride);
        kernel->run(&tile);
        tile.x += counts[i] * tile.m * x_stride;
        tile.y += counts[i] * tile.m * tile.y_stride;
    }
}

static void multiply(const attention_job *job, const product *p)
{
    ln_tile_f32_size size =
        ln_tile_f32_choose(job->tile, p->rows, ln_div_up(p->n, PANEL), p->x_stride);
    ptrdiff_t starts[LN_TILE_MAX_ROWS];
    for (size_t i = 0; i < LN_TILE_MAX_ROWS; i++)
        starts[i] = (ptrdiff_t)(i * p->x_stride);
    const ln_tile_f32_run run = {.k = p->k};
    ln_tile_f32_args tile = {.width = size.panels,
                             .x = p->x,
                             .rows = starts,
                             .runs = &run,
                             .run_count = 1,
                             .panels = p->panels,
                             .panel_stride = PANEL * p->k,
                             .y = p->y,
                             .y_stride = p->y_stride};
    for (size_t column = 0; column < p->n; column += size.panels * PANEL) {
        tile.n = ln_min(p->n - column, size.panels * PANEL);
        multiply_panels(job->tile, tile, p->rows, size.rows, p->x_stride);
        tile.panels += size.panels * tile.panel_stride;
        tile.y += size.panels * PANEL;
    }
}

// Queries [first, first + rows) of a head, whose keys and values are packed.
static void attend(const attention_job *job, size_t image, size_t head, size_t first, size_t rows,
                   const float *keys, const float *values, float *scores)
{
    const ln_attention_f32_args *a = job->args;
    const ln_attention_f32_shape *s = &a->shape;
    float totals[MAX_BLOCK];
    size_t stride = score_stride(s);
    float *y = a->y + image * a->y_image + first * a->y_stride + head * a->y_head;

    multiply(job,
             &(product){.rows = rows,
                        .n = ln_round_up(s->keys, PANEL),
                        .k = s->size,
                        .x = a->q + image * a->q_image + first * a->q_stride + head * a->q_head,
                        .x_stride = a->q_stride,
                        .panels = keys,
                        .y = scores,
                        .y_stride = stride});
    const size_t *mask = a->mask_strides;
    job->kernels->weigh(&(ln_attention_scores){
        .rows = rows,
        .keys = s->keys,
        .p = scores,
        .stride = stride,
        .mask = a->mask ? a->mask + image * mask[0] + head * mask[1] + first * mask[2] : NULL,
        .mask_stride = mask[2],
        .is_causal = a->is_causal,
        .first_query = first + a->keys_before,
        .is_guarded = a->is_guarded,
        .totals = totals});
    multiply(job, &(product){.rows = rows,
                             .n = s->size,
                             .k = s->keys,
                             .x = scores,
                             .x_stride = stride,
                             .panels = values,
                             .y = y,
                             .y_stride = a->y_stride});
    job->kernels->divide(rows, s->size, totals, y, a->y_stride);
}

static void pack(const attention_job *job, size_t image, size_t head, float *keys, float *values)
{
    const ln_attention_f32_args *a = job->args;
    const ln_attention_f32_shape *s = &a->shape;
    size_t kv_head = head / (s->heads / s->kv_heads);
    job->kernels->pack_keys(s->keys, s->size, a->k + image * a->k_image + kv_head * a->k_head,
                            a->k_stride, a->scale, keys);
    job->kernels->pack_values(s->keys, s->size, a->v + image * a->v_image + kv_head * a->v_head,
                              a->v_stride, values);
}

static size_t first_query(const attention_job *job, size_t block)
{
    return ln_task_start(job->args->shape.queries, job->tiles,
                         ln_task_start(job->tiles, job->blocks, block));
}

static void run_range(void *user, size_t index)
{
    const attention_job *job = user;
    const ln_attention_f32_shape *s = &job->args->shape;
    float *keys = job->workspace + index * job->slot_floats;
    float *values = keys + keys_floats(s), *scores = values + values_floats(s);
    size_t last = ln_task_start(job->items, job->ranges, index + 1), packed = SIZE_MAX;
    for (size_t item = ln_task_start(job->items, job->ranges, index); item < last; item++) {
        size_t head = item / job->blocks, block = item % job->blocks;
        if (head != packed)
            pack(job, head / s->heads, head % s->heads, keys, values);
        packed = head;
        size_t first = first_query(job, block), rows = first_query(job, block + 1) - first;
        attend(job, head / s->heads, head % s->heads, first, rows, keys, values, scores);
    }
}

static void divide(attention_job *job)
{
    const ln_attention_f32_shape *s = &job->args->shape;
    const size_t tile_rows = job->tile->max_rows[0], block_tiles = block_queries(s) / tile_rows;
    job->tiles = ln_div_up(s->queries, tile_rows);
    job->blocks = ln_div_up(job->tiles, block_tiles);
    job->items = s->batch * s->heads * job->blocks;
}

static size_t or_else(size_t given, size_t otherwise)
{
    return given ? given : otherwise;
}

// With what 0 stands for.
static ln_attention_f32_args complete(const ln_attention_f32_args *given)
{
    ln_attention_f32_args a = *given;
    const ln_attention_f32_shape *s = &given->shape;
    size_t *heads[] = {&a.q_head, &a.k_head, &a.v_head, &a.y_head};
    for (size_t i = 0; i < 4; i++)
        *heads[i] = or_else(*heads[i], s->size);
    a.q_image = or_else(a.q_image, s->queries * a.q_stride);
    a.k_image = or_else(a.k_image, s->keys * a.k_stride);
    a.v_image = or_else(a.v_image, s->keys * a.v_stride);
    a.y_image = or_else(a.y_image, s->queries * a.y_stride);
    return a;
}

void ln_attention_f32(ln_cpu_isa isa, const ln_attention_f32_args *given, float *workspace,
                      ln_pool *pool)
{
    const ln_attention_f32_args completed = complete(given), *args = &completed;
    const ln_attention_f32_shape *s = &args->shape;
    if (s->batch == 0 || s->queries == 0)
        return;
    assert(s->keys > 0);
    attention_job job = {.kernels = ln_attention_f32_select(isa),
                         .tile = ln_tile_f32_select(isa),
                         .args = args,
                         .workspace = workspace};
    divide(&job);
    double products = (double)(s->batch * s->heads * s->queries) * (double)(s->keys * s->size) * 2;
    ln_pool *shared = ln_tasks_pool(pool, products / PRODUCTS_PER_MICROSECOND);
    size_t threads = ln_pool_thread_count(shared);
    if (threads > 1) {
        job.slot_floats = range_floats(s);
        job.ranges = ln_min(ln_min(job.items, range_count(s)), RANGES_PER_THREAD * threads);
        ln_pool_run(shared, job.ranges, run_range, &job);
        return;
    }
    job.ranges = 1; // what it packs stays in a cache
    run_range(&job, 0);
}
