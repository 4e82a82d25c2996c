// SPDX-License-Identifier: Apache-2.0
// Drives channels-last resizing: cuts the output into rows for the threads.

#include "arch/cpu/kernels/resize/resize_nhwc.h"

#include "arch/cpu/kernels/tasks.h"

#define FLOATS_PER_MICROSECOND 6500.0

typedef struct job {
    const ln_resize_nhwc_f32_args *args;
    ln_resize_nhwc_f32_fn *kernel;
    size_t tasks;
} job;

static void run_task(void *user, size_t index)
{
    const job *j = user;
    size_t rows = j->args->batch * j->args->out_h;
    j->kernel(j->args, index * rows / j->tasks, (index + 1) * rows / j->tasks);
}

void ln_resize_nhwc_f32(ln_cpu_isa isa, const ln_resize_nhwc_f32_args *args, ln_pool *pool)
{
    size_t rows = args->batch * args->out_h;
    if (rows == 0 || args->out_w == 0 || args->channels == 0)
        return;
    double floats = (double)(rows * args->out_w * args->channels);
    job j = {.args = args,
             .kernel = ln_resize_nhwc_f32_select(isa),
             .tasks = ln_task_count(floats / FLOATS_PER_MICROSECOND, rows, pool)};
    ln_pool_run(pool, j.tasks, run_task, &j);
}
