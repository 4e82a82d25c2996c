// SPDX-License-Identifier: Apache-2.0
// Picks the kernel, and cuts the rows into tasks.

#include "arch/cpu/kernels/norm/norm.h"

#include "arch/cpu/kernels/tasks.h"
#include "base/minmax.h"

#define BLOCK_ELEMS           8192
#define ELEMS_PER_MICROSECOND 4096.0

typedef struct layernorm_job {
    ln_layernorm_f32_fn *run;
    const ln_layernorm_f32_args *args;
    size_t block_rows;
} layernorm_job;

static void layernorm_block(void *user, size_t index)
{
    const layernorm_job *job = user;
    size_t first = index * job->block_rows;
    job->run(job->args, first, ln_min(job->block_rows, job->args->rows - first));
}

void ln_layernorm_f32(ln_cpu_isa isa, const ln_layernorm_f32_args *args, ln_pool *pool)
{
    if (args->n == 0 || args->rows == 0)
        return;
    layernorm_job job = {.run = ln_layernorm_f32_select(isa),
                         .args = args,
                         .block_rows = args->n < BLOCK_ELEMS ? BLOCK_ELEMS / args->n : 1};
    double microseconds = (double)(args->rows * args->n) / ELEMS_PER_MICROSECOND;
    ln_pool_run(ln_tasks_pool(pool, microseconds), ln_div_up(args->rows, job.block_rows),
                layernorm_block, &job);
}
