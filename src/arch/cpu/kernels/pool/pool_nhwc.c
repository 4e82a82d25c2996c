// SPDX-License-Identifier: Apache-2.0
// Drives channels-last pooling: cuts the output into rows and blocks of channels for the threads.

#include "arch/cpu/kernels/pool/pool_nhwc.h"

#include "arch/cpu/kernels/tasks.h"
#include "base/minmax.h"

#define INPUTS_PER_MICROSECOND 30000.0
// Channels of a task are a multiple of this: whole cache lines.
#define CHANNEL_STEP           ((size_t)16)

typedef struct job {
    const ln_pool_nhwc_f32_args *args;
    ln_pool_nhwc_f32_fn *kernel;
    size_t row_tasks, channel_tasks;
} job;

static void run_task(void *user, size_t index)
{
    const job *j = user;
    const ln_pool_nhwc_f32_args *args = j->args;
    size_t rows = args->batch * args->out_h, steps = (args->channels - 1) / CHANNEL_STEP + 1;
    size_t y = index / j->channel_tasks, x = index % j->channel_tasks;
    size_t channel = x * steps / j->channel_tasks * CHANNEL_STEP;
    size_t channel_end = (x + 1) * steps / j->channel_tasks * CHANNEL_STEP;
    j->kernel(args, y * rows / j->row_tasks, (y + 1) * rows / j->row_tasks, channel,
              ln_min(channel_end, args->channels));
}

void ln_pool_nhwc_f32(ln_cpu_isa isa, const ln_pool_nhwc_f32_args *args, ln_pool *pool)
{
    size_t rows = args->batch * args->out_h;
    if (rows == 0 || args->out_w == 0 || args->channels == 0)
        return;

    double inputs = (double)(rows * args->out_w * args->channels);
    inputs *= (double)ln_min(args->rows.kernel, args->rows.in);
    inputs *= (double)ln_min(args->columns.kernel, args->columns.in);
    size_t steps = (args->channels - 1) / CHANNEL_STEP + 1;
    size_t tasks = ln_task_count(inputs / INPUTS_PER_MICROSECOND, rows * steps, pool);
    job j = {
        .args = args, .kernel = ln_pool_nhwc_f32_select(isa), .row_tasks = ln_min(tasks, rows)};
    j.channel_tasks = ln_min(tasks / j.row_tasks, steps);
    ln_pool_run(pool, j.row_tasks * j.channel_tasks, run_task, &j);
}
