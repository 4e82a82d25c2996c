// SPDX-License-Identifier: Apache-2.0
// Drives the tile of bytes over a matrix.
//
// Of (a - zero) * (w - zeros) only a * w is summed; what is left depends on columns alone, or on
// the sum of a row times a number of the column:
//
//     sum (a - z)(w - v) = sum a w  -  z sum w  -  v (sum a - k z)

#include "arch/cpu/kernels/gemm_i8/packed_i8.h"

#include <string.h>

#include "arch/cpu/kernels/gemm/partition.h"
#include "arch/cpu/kernels/gemm_i8/byte_sum.h"
#include "arch/cpu/kernels/gemm_i8/panels_i8.h"
#include "base/checked.h"
#include "base/grain.h"
#include "base/minmax.h"

// Each task expands its rows in a part of the workspace. There are as many parts as these bytes
// hold, within the two bounds.
#define ALL_TASKS_BYTES ((size_t)128 << 10)
#define MIN_TASKS       ((size_t)8)
#define MAX_TASKS       ((size_t)32)

// How many products take as long as one of floats.
#define PRODUCTS_PER_PRODUCT 3.0

// What is taken from bytes where a kernel allows any offset: few are so much below the zero point,
// and the smaller they are, the more products are summed in 16 bits.
#define BYTES_BELOW_ZERO 96

size_t ln_gemm_i8_columns(size_t n)
{
    return ln_div_up(n, LN_TILE_I8_LANES) * LN_TILE_I8_LANES;
}

// ---- The product ----

// What one task works with: the rows of a tile, which are gathered, or expanded, or both, and,
// where words are used, fewer rows, then these widened, then limits.
static size_t task_bytes(size_t k, bool has_words)
{
    const size_t of_rows = LN_TILE_I8_MAX_ROWS * 4, of_words = LN_TILE_I8_MAX_WIDE_ROWS * 12 + 1;
    return fours_of(k) * (has_words ? ln_max(of_rows, of_words) : of_rows) + 64;
}

static size_t most_tasks(size_t k)
{
    return ln_min(ln_max(ALL_TASKS_BYTES / task_bytes(k, true), MIN_TASKS), MAX_TASKS);
}

static size_t addend_bytes(size_t n)
{
    return ln_gemm_i8_columns(n) * sizeof(int32_t);
}

static size_t workspace_of(size_t k, size_t n, size_t tasks, bool has_words)
{
    size_t bytes;
    if (k > SIZE_MAX / 1024 || n > SIZE_MAX / 1024 ||
        !ln_size_add(tasks * task_bytes(k, has_words), addend_bytes(n), &bytes))
        return SIZE_MAX;
    return bytes;
}

size_t ln_gemm_i8_workspace(size_t k, size_t n)
{
    return workspace_of(k, n, k > SIZE_MAX / 1024 ? 1 : most_tasks(k), true);
}

size_t ln_gemm_i8_bytes_workspace(size_t k, size_t n)
{
    return workspace_of(k, n, k > SIZE_MAX / 1024 ? 1 : most_tasks(k), false);
}

size_t ln_gemm_i8_task_workspace(size_t k, size_t n)
{
    return workspace_of(k, n, 1, true);
}

typedef struct product {
    const ln_gemm_i8_args *args;
    const ln_tile_i8_kernel *kernel;
    ln_epilogue_i8 epilogue;
    uint8_t flip;
    int32_t zero;   // of A as it is unsigned
    int32_t offset; // what is taken from each byte of A
    bool expands;
    size_t tiles, sets;             // of rows, and of panels that a tile makes at once
    size_t row_tasks, column_tasks; // how these are divided
    char *expanded;                 // of the first task
} product;

// What is added to the sums of each column.
static void find_addends(const product *p, int32_t *addends)
{
    const ln_gemm_i8_args *a = p->args;
    const int32_t *sums = column_sums(a->packed, a->k, a->n);
    const uint32_t zero = (uint32_t)p->zero - (uint32_t)p->offset;
    for (size_t j = 0; j < ln_gemm_i8_columns(a->n); j++)
        addends[j] = (int32_t)((a->bias ? (uint32_t)a->bias[j] : 0) - zero * (uint32_t)sums[j]);
}

// Sums of rows less those of their zero point.
static void find_row_sums(const product *p, const uint8_t *rows, size_t step, size_t m,
                          int32_t *row_sums)
{
    const ln_gemm_i8_args *a = p->args;
    for (size_t i = 0; i < m; i++) {
        const uint32_t sum = byte_sum(rows + i * step, a->k, p->flip);
        row_sums[i] = (int32_t)(sum - (uint32_t)a->k * (uint32_t)p->zero);
    }
}

// Four bytes at the ends of rows, which are not all gathered.
static void clear_ends(uint8_t *rows, size_t m, size_t step)
{
    for (size_t i = 1; i <= m; i++)
        memset(rows + i * step - 4, 0, 4);
}

// Rows that are gathered have whole fours.
static void ready_rows(const product *p, ln_tile_i8_args *tile, const uint8_t *rows, size_t step,
                       char *expanded)
{
    char *words = expanded + LN_TILE_I8_MAX_WIDE_ROWS * 4 * tile->fours;
    uint8_t *limits = (uint8_t *)words + LN_TILE_I8_MAX_WIDE_ROWS * 8 * tile->fours;
    tile->words = words;
    tile->limits = limits;
    p->kernel->ready(&(ln_ready_i8_args){.m = tile->m,
                                         .k = p->args->gather ? tile->fours * 4 : p->args->k,
                                         .from = rows,
                                         .step = step,
                                         .flip = p->flip,
                                         .offset = (uint8_t)p->offset,
                                         .bytes = p->expands ? expanded : NULL,
                                         .words = words,
                                         .limits = limits});
}

// Rows [first, first + m), of which some panels follow.
static void begin_rows(const product *p, ln_tile_i8_args *tile, size_t first, size_t m,
                       char *expanded, int32_t *row_sums)
{
    const ln_gemm_i8_args *a = p->args;
    const uint8_t *rows = (const uint8_t *)a->a + first * a->a_step;
    size_t step = a->a_step;
    if (a->gather) {
        uint8_t *gathered = (uint8_t *)expanded;
        step = fours_of(a->k) * 4;
        if (a->k % 4)
            clear_ends(gathered, m, step);
        a->gather(a->gathered, first, m, gathered, step);
        rows = gathered;
    }
    if (a->zeros)
        find_row_sums(p, rows, step, m, row_sums);
    tile->m = m;
    tile->a = (const char *)rows;
    tile->a_step = step;
    if (p->expands) {
        tile->a = expanded;
        tile->a_step = tile->fours * 4;
    }
    if (p->kernel->ready)
        ready_rows(p, tile, rows, step, expanded);
    else if (p->expands)
        for (size_t i = 0; i < m; i++)
            p->kernel->expand(expanded + i * tile->a_step, rows + i * step, a->k, p->flip);
}

static size_t element_bytes(const ln_gemm_i8_args *a)
{
    return a->rescale || a->epilogue.result == LN_I8_TO_BYTES ? 1 : 4;
}

// Columns of sums that wait to be rescaled: whole sets of panels.
#define SUMS_COLUMNS ((size_t)2 * LN_TILE_I8_MAX_PANELS * LN_TILE_I8_LANES)

// A tile of columns from `first` on, some at a time.
static void run_rescaled(const product *p, const ln_tile_i8_args *tile, size_t first)
{
    const ln_gemm_i8_args *a = p->args;
    _Alignas(64) int32_t sums[LN_TILE_I8_MAX_ROWS * SUMS_COLUMNS];
    ln_tile_i8_args some = *tile;
    some.y = sums;
    some.y_step = SUMS_COLUMNS;
    for (size_t column = 0; column < tile->n; column += SUMS_COLUMNS) {
        some.n = ln_min(tile->n - column, SUMS_COLUMNS);
        p->kernel->run(&some);
        ln_rescale_rows(a->rescale, first + column, some.m, some.n, sums, SUMS_COLUMNS,
                        (uint8_t *)tile->y + column, a->y_step);
        some.panels += SUMS_COLUMNS / LN_TILE_I8_LANES * some.panel_step;
        some.spans += SUMS_COLUMNS / LN_TILE_I8_LANES * span_bytes(a->k);
        some.epilogue.addends += SUMS_COLUMNS;
        if (some.epilogue.column_zeros)
            some.epilogue.column_zeros += SUMS_COLUMNS;
    }
}

// Some panels, for all rows of a task.
static void run_chunk(const product *p, size_t row, size_t row_end, size_t column,
                      size_t column_end, char *expanded)
{
    const ln_gemm_i8_args *a = p->args;
    int32_t row_sums[LN_TILE_I8_MAX_ROWS];
    ln_tile_i8_args tile = {
        .n = column_end - column,
        .fours = fours_of(a->k),
        .panels = a->packed + column / LN_TILE_I8_LANES * panel_bytes(a->k),
        .panel_step = panel_bytes(a->k),
        .spans = spans_of(a->packed, a->k, a->n) + column / LN_TILE_I8_LANES * span_bytes(a->k),
        .y_step = a->y_step,
        .epilogue = p->epilogue,
    };
    tile.epilogue.addends += column;
    tile.epilogue.factors = a->epilogue.factors ? a->epilogue.factors + column : NULL;
    tile.epilogue.bias = a->epilogue.bias ? a->epilogue.bias + column : NULL;
    tile.epilogue.column_zeros = a->zeros ? a->zeros + column : NULL;
    tile.epilogue.row_sums = a->zeros ? row_sums : NULL;
    size_t begun = 0;
    for (size_t i = row; i < row_end; i += tile.m) {
        begin_rows(p, &tile, i, ln_min(row_end - i, p->kernel->rows), expanded, row_sums);
        if (p->kernel->begin && tile.m != begun)
            p->kernel->begin(tile.m, tile.fours);
        begun = tile.m;
        tile.y = (char *)a->y + (i * a->y_step + column) * element_bytes(a);
        if (a->rescale)
            run_rescaled(p, &tile, column);
        else
            p->kernel->run(&tile);
    }
}

static void run_task(void *user, size_t index)
{
    const product *p = user;
    const ln_gemm_i8_args *a = p->args;
    const size_t row_task = index / p->column_tasks, column_task = index % p->column_tasks;
    const size_t rows = p->kernel->rows, set = p->kernel->panels * LN_TILE_I8_LANES;
    size_t row = ln_task_start(p->tiles, p->row_tasks, row_task) * rows;
    size_t row_end = ln_min(a->m, ln_task_start(p->tiles, p->row_tasks, row_task + 1) * rows);
    size_t column = ln_task_start(p->sets, p->column_tasks, column_task) * set;
    size_t end = ln_min(a->n, ln_task_start(p->sets, p->column_tasks, column_task + 1) * set);
    size_t chunk = ln_grain(LN_PARTITION_CHUNK_BYTES) / (panel_bytes(a->k) * p->kernel->panels + 1);
    chunk = (chunk ? chunk : 1) * set;
    char *expanded = p->expanded + index * task_bytes(a->k, p->kernel->ready);
    for (; column < end; column += chunk)
        run_chunk(p, row, row_end, column, ln_min(end, column + chunk), expanded);
    if (p->kernel->end)
        p->kernel->end();
}

// Of rows and columns the side with more memory is divided.
static void divide(product *p, const ln_pool *pool)
{
    const ln_gemm_i8_args *a = p->args;
    const size_t threads = ln_pool_thread_count(pool);
    const double products = (double)a->m * (double)a->n * (double)a->k;
    size_t count =
        ln_tasks_wanted(products / (PRODUCTS_PER_PRODUCT * LN_PRODUCTS_PER_MICROSECOND), threads);
    count = ln_min(count, most_tasks(a->k));
    p->tiles = ln_div_up(a->m, p->kernel->rows);
    p->sets = ln_div_up(ln_div_up(a->n, LN_TILE_I8_LANES), p->kernel->panels);
    if (a->n > a->m && p->sets >= threads) {
        p->column_tasks = ln_min(p->sets, count);
        p->row_tasks = ln_min(p->tiles, count / p->column_tasks);
    } else {
        p->row_tasks = ln_min(p->tiles, count);
        p->column_tasks = ln_min(p->sets, count / p->row_tasks);
    }
}

void ln_gemm_i8(ln_cpu_isa isa, const ln_gemm_i8_args *args, void *workspace, ln_pool *pool)
{
    if (args->m == 0 || args->n == 0)
        return;
    int32_t *addends = workspace;
    product p = {
        .args = args,
        .kernel = ln_tile_i8_select(isa),
        .epilogue = args->epilogue,
        .flip = args->is_signed ? 128 : 0,
        .zero = args->zero + (args->is_signed ? 128 : 0),
        .expanded = (char *)workspace + addend_bytes(args->n),
    };
    p.offset = p.kernel->offset;
    if (p.kernel->ready)
        p.offset = p.zero > BYTES_BELOW_ZERO ? p.zero - BYTES_BELOW_ZERO : 0;
    p.expands = p.offset != 0 || p.flip || (args->k % 4 && !args->gather);
    p.epilogue.addends = addends;
    find_addends(&p, addends);
    divide(&p, pool);
    ln_pool_run(pool, p.row_tasks * p.column_tasks, run_task, &p);
}
