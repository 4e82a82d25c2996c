// SPDX-License-Identifier: Apache-2.0
// Picks the kernels, and cuts rows or columns into tasks.

#include "arch/cpu/kernels/reduce/reduce.h"

#include <assert.h>
#include <stdbool.h>

#include "arch/cpu/kernels/tasks.h"
#include "base/minmax.h"

#define BLOCK_COLUMNS         64
#define BLOCK_ELEMS           8192
#define ELEMS_PER_MICROSECOND 16384.0

typedef struct reduce_job {
    const ln_reduce_f32_kernels *kernels;
    const ln_reduce_f32_args *args;
    size_t block, blocks; // rows or columns of a block, and blocks of an outer part
} reduce_job;

static void reduce_rows(void *user, size_t index)
{
    const reduce_job *job = user;
    const ln_reduce_f32_args *a = job->args;
    size_t row = index * job->block;
    job->kernels->rows(a->op, ln_min(job->block, a->outer - row), a->n, a->x + row * a->n,
                       a->y + row);
}

static void reduce_columns(void *user, size_t index)
{
    const reduce_job *job = user;
    const ln_reduce_f32_args *a = job->args;
    size_t outer = index / job->blocks, col = index % job->blocks * job->block;
    job->kernels->columns(a->op, ln_min(job->block, a->inner - col), a->n, a->inner,
                          a->x + outer * a->n * a->inner + col, a->y + outer * a->inner + col);
}

void ln_reduce_f32(ln_cpu_isa isa, const ln_reduce_f32_args *args, ln_pool *pool)
{
    assert(args->op < LN_REDUCE_COUNT && args->n >= 1);
    if (args->outer == 0 || args->inner == 0)
        return;
    reduce_job job = {.kernels = ln_reduce_f32_select(isa), .args = args};
    bool is_row = args->inner == 1;
    size_t whole = is_row ? args->outer : args->inner;
    job.block = is_row ? (args->n < BLOCK_ELEMS ? BLOCK_ELEMS / args->n : 1) : BLOCK_COLUMNS;
    job.blocks = ln_div_up(whole, job.block);
    size_t count = is_row ? job.blocks : job.blocks * args->outer;
    ln_pool_task *task = is_row ? reduce_rows : reduce_columns;
    double microseconds = (double)(args->outer * args->inner * args->n) / ELEMS_PER_MICROSECOND;
    ln_pool_run(ln_tasks_pool(pool, microseconds), count, task, &job);
}
