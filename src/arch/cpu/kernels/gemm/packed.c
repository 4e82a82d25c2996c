// SPDX-License-Identifier: Apache-2.0
// Drives the tile kernel over a matrix.

#include "arch/cpu/kernels/gemm/packed.h"

#include <stdint.h>

#include "arch/cpu/kernels/eltwise/eltwise.h"
#include "arch/cpu/kernels/gemm/partition.h"
#include "arch/cpu/kernels/gemm/tile.h"
#include "base/checked.h"

// ---- Packing ----

// Fewer elements than these are packed by one thread.
#define PACK_MIN_WORK (double)(1 << 16)

// Columns that are packed at once: their panels may be in the same set of the nearest cache.
#define PACK_COLUMNS (size_t)(8 * LN_TILE_LANES)

size_t ln_gemm_packed_len(size_t k, size_t n)
{
    size_t panels = ln_div_up(n, LN_TILE_LANES), len;
    if (!ln_size_mul(panels, LN_TILE_LANES, &len) || !ln_size_mul(len, k, &len))
        return SIZE_MAX;
    return len;
}

typedef struct pack_job {
    const ln_tile_f32_kernel *kernel;
    size_t k, n, channels;
    const float *w;
    size_t row_step, column_step;
    float *packed;
} pack_job;

static void pack_some(void *user, size_t index)
{
    const pack_job *job = user;
    size_t first = index * PACK_COLUMNS;
    job->kernel->pack(job->k, ln_min(job->n - first, PACK_COLUMNS), job->channels,
                      job->k ? job->w + first * job->column_step : job->w, job->row_step,
                      job->column_step, job->packed + first * job->k);
}

void ln_gemm_pack_f32(ln_cpu_isa isa, size_t k, size_t n, const float *w, size_t row_step,
                      size_t column_step, float *packed, ln_pool *pool)
{
    ln_gemm_pack_image_f32(isa, k, n, 1, w, row_step, column_step, packed, pool);
}

void ln_gemm_pack_image_f32(ln_cpu_isa isa, size_t k, size_t n, size_t channels, const float *w,
                            size_t row_step, size_t column_step, float *packed, ln_pool *pool)
{
    pack_job job = {ln_tile_f32_select(isa), k, n, channels, w, row_step, column_step, packed};
    bool is_small = (double)k * (double)n < PACK_MIN_WORK;
    ln_pool_run(is_small ? NULL : pool, ln_div_up(n, PACK_COLUMNS), pack_some, &job);
}

// ---- The product ----

typedef struct packed_job {
    const ln_gemm_packed_f32_args *args;
    const ln_tile_f32_kernel *kernel;
    ln_tile_f32_size size;
    ln_epilogue_f32 epilogue;
    ln_act_f32_fn *act; // of what a tile has made; NULL: its epilogue does it
    size_t panels, sets, tiles, chunk;
    bool is_stream;
    size_t tile_rows, longer_tiles; // rows of a tile, and how many tiles have one more
    ln_partition tasks;
} packed_job;

// What the tiles of some panels have in common. The rest is written into `tile` for each of them, a
// word at a time: what goes through vector registers would wait for the sums of the tile before.
typedef struct panel_tiles {
    ln_tile_f32_args tile;
    float *y;            // of row 0
    const float *addend; // NULL: none
} panel_tiles;

static void start_panels(const packed_job *job, const ln_tile_f32_run *run, size_t panel,
                         size_t panel_end, panel_tiles *out)
{
    const ln_gemm_packed_f32_args *a = job->args;
    size_t column = panel * LN_TILE_LANES;
    *out = (panel_tiles){
        .tile = {.n = ln_min(a->n, panel_end * LN_TILE_LANES) - column,
                 .width = ln_min(job->size.panels, panel_end - panel),
                 .x = a->a,
                 .runs = run,
                 .run_count = 1,
                 .panels = a->packed + column * a->k,
                 .panel_stride = LN_TILE_LANES * a->k,
                 .y_stride = a->y_stride,
                 .epilogue = job->epilogue},
        .y = a->y + column,
        .addend = a->epilogue.addend ? a->epilogue.addend + column : NULL,
    };
    if (a->epilogue.bias)
        out->tile.epilogue.bias += column;
}

// The activation of what a tile has made.
static void activate(const packed_job *job, const ln_tile_f32_args *tile)
{
    const ln_epilogue_f32 *e = &job->args->epilogue;
    const ln_act_f32_args act = {e->act, e->alpha, e->beta};
    float *y = tile->y;
    for (size_t i = 0; i < tile->m; i++, y += tile->y_stride)
        job->act(&act, tile->n, y, y);
}

// Rows [first, first + m).
static void run_tile(const packed_job *job, panel_tiles *panels, size_t first, size_t m,
                     size_t ahead)
{
    const ln_gemm_packed_f32_args *a = job->args;
    ln_tile_f32_args *tile = &panels->tile;
    ptrdiff_t rows[LN_TILE_MAX_ROWS];
    for (size_t i = 0; i < m; i++)
        rows[i] = (ptrdiff_t)((first + i) * a->a_stride);
    tile->m = m;
    tile->rows = rows;
    tile->ahead = ahead;
    tile->next = (ptrdiff_t)(m * a->a_stride);
    tile->y = panels->y + first * a->y_stride;
    if (panels->addend)
        tile->epilogue.addend = panels->addend + first * a->epilogue.addend_stride;
    job->kernel->run(tile);
    if (job->act)
        activate(job, tile);
}

static void run_task(void *user, size_t index)
{
    const packed_job *job = user;
    const ln_tile_f32_run run = {.k = job->args->k};
    ln_partition_task at = ln_partition_at(&job->tasks, index);
    size_t tile_first = ln_task_start(job->tiles, job->tasks.rows, at.row);
    size_t tile_end = ln_task_start(job->tiles, job->tasks.rows, at.row + 1);
    size_t panel = ln_task_start(job->sets, job->tasks.columns, at.column) * job->size.panels;
    size_t panel_end = ln_task_start(job->sets, job->tasks.columns, at.column + 1);
    panel_end = ln_min(job->panels, panel_end * job->size.panels);
    for (size_t chunk = panel; chunk < panel_end; chunk += job->chunk) {
        panel_tiles panels;
        start_panels(job, &run, chunk, ln_min(panel_end, chunk + job->chunk), &panels);
        for (size_t tile = tile_first; tile < tile_end; tile++) {
            size_t first = job->tile_rows * tile + ln_min(job->longer_tiles, tile);
            size_t m = job->tile_rows + (tile < job->longer_tiles);
            size_t ahead = ln_partition_ahead(
                tile - tile_first, tile_end - tile_first, chunk == panel,
                job->size.panels * job->args->k * LN_TILE_LANES,
                ln_min(job->chunk, panel_end - chunk) * job->args->k * LN_TILE_LANES);
            run_tile(job, &panels, first, m, job->is_stream ? LN_PARTITION_STREAM_FLOATS : ahead);
        }
    }
}

void ln_gemm_packed_f32(ln_cpu_isa isa, const ln_gemm_packed_f32_args *a, ln_pool *pool)
{
    if (a->m == 0 || a->n == 0)
        return;
    packed_job job = {.args = a, .kernel = ln_tile_f32_select(isa), .epilogue = a->epilogue};
    bool is_act_last = !a->epilogue.addend || !a->epilogue.is_addend_last;
    if (is_act_last && ln_act_is_costly(a->epilogue.act)) {
        job.act = ln_act_f32_select(isa);
        job.epilogue.act = LN_ACT_NONE;
    }
    job.panels = ln_div_up(a->n, LN_TILE_LANES);
    job.size = ln_tile_f32_choose_columns(job.kernel, a->m, a->n, a->a_stride);
    job.is_stream = ln_partition_is_stream(a->m, job.panels * LN_TILE_LANES * a->k);
    if (job.is_stream)
        job.size.panels = 1;
    job.sets = ln_div_up(job.panels, job.size.panels);
    job.tiles = ln_div_up(a->m, job.size.rows);
    job.tile_rows = a->m / job.tiles;
    job.longer_tiles = a->m % job.tiles;
    job.chunk =
        job.is_stream ? job.panels : ln_partition_chunk(a->k * LN_TILE_LANES, job.size.panels);
    job.tasks = ln_partition_product(job.tiles, job.sets, a->n > a->m,
                                     ((double)a->m + LN_PARTITION_WEIGHT_WORK) * (double)a->n *
                                         (double)a->k,
                                     ln_pool_thread_count(pool));
    ln_pool_run(pool, job.tasks.rows * job.tasks.columns, run_task, &job);
}
