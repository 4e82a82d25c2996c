// SPDX-License-Identifier: Apache-2.0
// Picks the softmax kernel, and cuts the outer dimension into tasks.

#include "arch/cpu/kernels/softmax/softmax.h"

#include "arch/cpu/kernels/tasks.h"
#include "base/minmax.h"

#define BLOCK_ELEMS           4096
#define ELEMS_PER_MICROSECOND 8192.0

typedef struct softmax_job {
    ln_softmax_f32_fn *run;
    const ln_softmax_f32_args *args;
    size_t block; // parts
} softmax_job;

static void softmax_block(void *user, size_t index)
{
    const softmax_job *job = user;
    const ln_softmax_f32_args *args = job->args;
    size_t part = args->n * args->inner, first = index * job->block;
    size_t count = ln_min(job->block, args->outer - first);
    for (size_t i = first; i < first + count; i++)
        job->run(args->n, args->inner, args->x + i * part, args->y + i * part);
}

void ln_softmax_f32(ln_cpu_isa isa, const ln_softmax_f32_args *args, ln_pool *pool)
{
    size_t part = args->n * args->inner;
    if (part == 0 || args->outer == 0)
        return;
    softmax_job job = {.run = ln_softmax_f32_select(isa),
                       .args = args,
                       .block = part < BLOCK_ELEMS ? BLOCK_ELEMS / part : 1};
    size_t count = ln_div_up(args->outer, job.block);
    double microseconds = (double)(args->outer * part) / ELEMS_PER_MICROSECOND;
    ln_pool_run(ln_tasks_pool(pool, microseconds), count, softmax_block, &job);
}
