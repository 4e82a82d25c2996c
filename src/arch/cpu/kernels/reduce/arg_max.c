// SPDX-License-Identifier: Apache-2.0
// Picks the kernel, and cuts rows into tasks. A long row is cut into chunks, as rows of their own,
// whose winners compete in their order.

#include "arch/cpu/kernels/reduce/arg_max.h"

#include <assert.h>
#include <limits.h>

#include "arch/cpu/kernels/tasks.h"
#include "base/minmax.h"

#define BLOCK_ROWS            64
#define CHUNKS                16
#define MIN_CHUNK             16
#define ELEMS_PER_MICROSECOND 4096.0

typedef struct arg_max_job {
    ln_arg_max_f32_fn *kernel;
    const ln_arg_max_f32_args *args;
    size_t blocks; // of rows that are beside each other
} arg_max_job;

// Whether x comes before y, which is found earlier.
static bool beats(float x, float y, bool is_smallest)
{
    if (x != x || y != y)
        return is_smallest ? x == x && y != y : x != x && y == y;
    return is_smallest ? x < y : x > y;
}

int64_t ln_arg_max_row(const float *x, size_t n, size_t step, bool is_smallest)
{
    size_t best = 0;
    for (size_t k = 1; k < n; k++)
        if (beats(x[k * step], x[best * step], is_smallest))
            best = k;
    return (int64_t)best;
}

// Neighbours, as CHUNKS rows and what is left.
static int64_t find_in_chunks(const arg_max_job *job, const float *x)
{
    const ln_arg_max_f32_args *a = job->args;
    size_t len = a->n / CHUNKS;
    int64_t positions[CHUNKS];
    job->kernel(&(ln_arg_max_rows){.count = CHUNKS,
                                   .row_step = len,
                                   .n = len,
                                   .step = 1,
                                   .is_smallest = a->is_smallest,
                                   .x = x,
                                   .positions = positions});
    size_t best = (size_t)positions[0];
    for (size_t c = 1; c < CHUNKS; c++) {
        size_t at = c * len + (size_t)positions[c];
        best = beats(x[at], x[best], a->is_smallest) ? at : best;
    }
    for (size_t at = CHUNKS * len; at < a->n; at++)
        best = beats(x[at], x[best], a->is_smallest) ? at : best;
    return (int64_t)best;
}

// A block of rows along the last axis.
static void run_rows(void *user, size_t index)
{
    const arg_max_job *job = user;
    const ln_arg_max_f32_args *a = job->args;
    size_t first = index * BLOCK_ROWS, count = ln_min(BLOCK_ROWS, a->outer - first);
    const ln_arg_max_rows rows = {.count = count,
                                  .row_step = a->n,
                                  .n = a->n,
                                  .step = 1,
                                  .is_smallest = a->is_smallest,
                                  .x = a->x + first * a->n,
                                  .positions = a->positions + first};
    if (a->n < CHUNKS * MIN_CHUNK) {
        job->kernel(&rows);
        return;
    }
    for (size_t i = 0; i < count; i++)
        rows.positions[i] = find_in_chunks(job, rows.x + i * a->n);
}

// A block of columns of an outer part.
static void run_columns(void *user, size_t index)
{
    const arg_max_job *job = user;
    const ln_arg_max_f32_args *a = job->args;
    size_t outer = index / job->blocks, first = index % job->blocks * BLOCK_ROWS;
    job->kernel(&(ln_arg_max_rows){.count = ln_min(BLOCK_ROWS, a->inner - first),
                                   .row_step = 1,
                                   .n = a->n,
                                   .step = a->inner,
                                   .is_smallest = a->is_smallest,
                                   .x = a->x + outer * a->n * a->inner + first,
                                   .positions = a->positions + outer * a->inner + first});
}

void ln_arg_max_f32(ln_cpu_isa isa, const ln_arg_max_f32_args *args, ln_pool *pool)
{
    assert(args->n >= 1 && args->n <= LN_ARG_MAX_LEN);
    if (args->outer == 0 || args->inner == 0)
        return;
    bool is_row = args->inner == 1;
    arg_max_job job = {.kernel = ln_arg_max_f32_select(isa),
                       .args = args,
                       .blocks = ln_div_up(is_row ? args->outer : args->inner, BLOCK_ROWS)};
    double microseconds =
        (double)args->outer * (double)args->inner * (double)args->n / ELEMS_PER_MICROSECOND;
    ln_pool_run(ln_tasks_pool(pool, microseconds), is_row ? job.blocks : job.blocks * args->outer,
                is_row ? run_rows : run_columns, &job);
}
