// SPDX-License-Identifier: Apache-2.0
// Picks the kernel, and deals rows to threads.

#include "arch/cpu/kernels/norm/norm.h"

#include "base/minmax.h"

#define BLOCK_ELEMS 8192
#define MIN_SHARED  16384 // below that one thread is done before another would have begun

typedef struct layernorm_job {
    ln_layernorm_f32_fn *run;
    const ln_layernorm_f32_args *args;
    size_t block_rows;
} layernorm_job;

static void layernorm_block(void *user, size_t index)
{
    const layernorm_job *job = user;
    size_t first = index * job->block_rows, left = job->args->rows - first;
    job->run(job->args, first, left < job->block_rows ? left : job->block_rows);
}

void ln_layernorm_f32(ln_cpu_isa isa, const ln_layernorm_f32_args *args, ln_pool *pool)
{
    if (args->n == 0 || args->rows == 0)
        return;
    layernorm_job job = {.run = ln_layernorm_f32_select(isa),
                         .args = args,
                         .block_rows = args->n < BLOCK_ELEMS ? BLOCK_ELEMS / args->n : 1};
    if (!pool || args->rows * args->n < MIN_SHARED) {
        job.run(args, 0, args->rows);
        return;
    }
    size_t count = ln_div_up(args->rows, job.block_rows);
    ln_pool_run(pool, count, layernorm_block, &job);
}
