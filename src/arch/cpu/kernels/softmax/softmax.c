// SPDX-License-Identifier: Apache-2.0
// Picks the softmax kernel, and cuts the outer dimension into tasks.
//
// Short rows leave most of a vector empty, and wait for its lanes twice; so many of them are turned
// into columns and back.

#include "arch/cpu/kernels/softmax/softmax.h"

#include "arch/cpu/kernels/tasks.h"
#include "arch/cpu/kernels/transpose/transpose.h"
#include "base/minmax.h"

#define BLOCK_ELEMS           4096
#define MAX_SHORT_ROW         (LN_SOFTMAX_LANES - 1)
#define MIN_SHORT_ROWS        16
#define ELEMS_PER_MICROSECOND 8192.0

typedef struct softmax_job {
    ln_softmax_f32_fn *run;
    ln_transpose_u32_fn *transpose; // NULL: rows are done one by one
    const ln_softmax_f32_args *args;
    size_t block; // parts
} softmax_job;

static void softmax_short_rows(const softmax_job *job, size_t rows, const float *x, float *y)
{
    float columns[BLOCK_ELEMS];
    size_t n = job->args->n;
    const ln_transpose_matrices in = {
        .rows = n, .columns = rows, .x = x, .x_step = n, .y = columns, .y_step = rows, .count = 1};
    const ln_transpose_matrices out = {
        .rows = rows, .columns = n, .x = columns, .x_step = rows, .y = y, .y_step = n, .count = 1};
    job->transpose(&in);
    job->run(n, rows, job->args->is_log, columns, columns);
    job->transpose(&out);
}

static void softmax_block(void *user, size_t index)
{
    const softmax_job *job = user;
    const ln_softmax_f32_args *args = job->args;
    size_t part = args->n * args->inner, first = index * job->block;
    size_t count = ln_min(job->block, args->outer - first);
    if (job->transpose) {
        softmax_short_rows(job, count, args->x + first * part, args->y + first * part);
        return;
    }
    for (size_t i = first; i < first + count; i++)
        job->run(args->n, args->inner, args->is_log, args->x + i * part, args->y + i * part);
}

void ln_softmax_f32(ln_cpu_isa isa, const ln_softmax_f32_args *args, ln_pool *pool)
{
    size_t part = args->n * args->inner;
    if (part == 0 || args->outer == 0)
        return;
    softmax_job job = {.run = ln_softmax_f32_select(isa),
                       .args = args,
                       .block = part < BLOCK_ELEMS ? BLOCK_ELEMS / part : 1};
    if (args->inner == 1 && args->n <= MAX_SHORT_ROW && args->outer >= MIN_SHORT_ROWS)
        job.transpose = ln_transpose_u32_select(isa);
    size_t count = ln_div_up(args->outer, job.block);
    double microseconds = (double)(args->outer * part) / ELEMS_PER_MICROSECOND;
    ln_pool_run(ln_tasks_pool(pool, microseconds), count, softmax_block, &job);
}
