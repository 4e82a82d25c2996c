// SPDX-License-Identifier: Apache-2.0
// Drives the tile kernel over a matrix.

#include "arch/cpu/kernels/gemm/packed.h"

#include <stdint.h>

#include "arch/cpu/kernels/gemm/deal.h"
#include "arch/cpu/kernels/gemm/tile.h"
#include "base/checked.h"

// ---- Packing ----

// Fewer elements than these are packed by one thread.
#define PACK_MIN_WORK (double)(1 << 16)

// Columns that are packed at once: their panels may lie in the same set of the nearest cache.
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
    size_t panels, sets, tiles, chunk;
    ln_deal pieces;
} packed_job;

// Rows [first, first + m) with panels [panel, panel_end).
static void run_tile(const packed_job *job, size_t first, size_t m, size_t panel, size_t panel_end,
                     size_t ahead)
{
    const ln_gemm_packed_f32_args *a = job->args;
    const ln_tile_f32_run run = {.k = a->k};
    ptrdiff_t rows[LN_TILE_MAX_ROWS];
    for (size_t i = 0; i < m; i++)
        rows[i] = (ptrdiff_t)((first + i) * a->a_stride);
    ptrdiff_t next = (ptrdiff_t)(m * a->a_stride);
    for (; panel < panel_end; panel += job->size.panels, next = 0) {
        size_t end = ln_min(panel_end, panel + job->size.panels);
        size_t column = panel * LN_TILE_LANES;
        ln_tile_f32_args tile = {
            .m = m,
            .n = ln_min(a->n, end * LN_TILE_LANES) - column,
            .x = a->a,
            .rows = rows,
            .runs = &run,
            .run_count = 1,
            .panels = a->packed + column * a->k,
            .panel_stride = LN_TILE_LANES * a->k,
            .ahead = ahead,
            .next = next,
            .y = a->y + first * a->y_stride + column,
            .y_stride = a->y_stride,
            .epilogue = a->epilogue,
        };
        if (a->epilogue.bias)
            tile.epilogue.bias += column;
        if (a->epilogue.addend)
            tile.epilogue.addend += first * a->epilogue.addend_stride + column;
        job->kernel->run(&tile);
    }
}

static void run_piece(void *user, size_t index)
{
    const packed_job *job = user;
    size_t row = index / job->pieces.columns, column = index % job->pieces.columns;
    size_t tile_first = ln_share_start(job->tiles, job->pieces.rows, row);
    size_t tile_end = ln_share_start(job->tiles, job->pieces.rows, row + 1);
    size_t panel = ln_share_start(job->sets, job->pieces.columns, column) * job->size.panels;
    size_t panel_end = ln_share_start(job->sets, job->pieces.columns, column + 1);
    panel_end = ln_min(job->panels, panel_end * job->size.panels);
    for (size_t chunk = panel; chunk < panel_end; chunk += job->chunk) {
        for (size_t tile = tile_first; tile < tile_end; tile++) {
            size_t first = ln_share_start(job->args->m, job->tiles, tile);
            size_t end = ln_share_start(job->args->m, job->tiles, tile + 1);
            size_t ahead = ln_deal_ahead(tile - tile_first, tile_end - tile_first, chunk == panel,
                                         panel_end - chunk <= job->chunk,
                                         job->size.panels * job->args->k * LN_TILE_LANES,
                                         job->chunk * job->args->k * LN_TILE_LANES);
            run_tile(job, first, end - first, chunk, ln_min(panel_end, chunk + job->chunk), ahead);
        }
    }
}

void ln_gemm_packed_f32(ln_cpu_isa isa, const ln_gemm_packed_f32_args *a, ln_pool *pool)
{
    if (a->m == 0 || a->n == 0)
        return;
    packed_job job = {.args = a, .kernel = ln_tile_f32_select(isa)};
    job.panels = ln_div_up(a->n, LN_TILE_LANES);
    job.size = ln_tile_f32_choose(job.kernel, a->m, job.panels, a->a_stride);
    job.sets = ln_div_up(job.panels, job.size.panels);
    job.tiles = ln_div_up(a->m, job.size.rows);
    job.chunk = ln_deal_chunk(a->k * LN_TILE_LANES, job.size.panels);
    job.pieces =
        ln_deal_pieces(job.tiles, job.sets, a->n > a->m, (double)a->m * (double)a->n * (double)a->k,
                       ln_pool_thread_count(pool));
    ln_pool_run(pool, job.pieces.rows * job.pieces.columns, run_piece, &job);
}
