// SPDX-License-Identifier: Apache-2.0
// Drives convolution in groups: sixteen channels at a time, of which the weights are brought
// together, since direct's panels hold but one group each.

#include "arch/cpu/kernels/grouped/grouped.h"

#include "arch/cpu/kernels/gemm/partition.h"

bool ln_grouped_f32_fits(const ln_conv_nhwc_f32_args *a)
{
    const ln_conv_shape *s = &a->shape;
    size_t in = s->in_channels / s->group;
    bool is_plain = a->epilogue.act == LN_ACT_NONE || a->epilogue.act == LN_ACT_RELU ||
                    a->epilogue.act == LN_ACT_CLIP;
    return (in == 4 || in == 8) && s->out_channels == s->in_channels && is_plain &&
           !a->epilogue.addend && s->out_channels % LN_GROUPED_LANES == 0 &&
           s->kernel_h <= LN_GROUPED_MAX_TAPS && s->kernel_w <= LN_GROUPED_MAX_TAPS &&
           s->kernel_h * s->kernel_w * in <= LN_GROUPED_MAX_TAPS;
}

typedef struct grouped_job {
    const ln_conv_nhwc_f32_args *args;
    ln_grouped_f32_fn *run;
    ln_partition tasks;
} grouped_job;

// The weights of sixteen channels from `channel` on.
static void gather(const ln_conv_nhwc_f32_args *a, size_t channel, float *weights)
{
    const ln_conv_shape *s = &a->shape;
    size_t of_group = s->out_channels / s->group;
    size_t rows = s->kernel_h * s->kernel_w * of_group; // of a panel
    for (size_t o = 0; o < LN_GROUPED_LANES; o++) {
        size_t group = (channel + o) / of_group;
        const float *from = a->packed + group * rows * LN_GROUPED_LANES + (channel + o) % of_group;
        for (size_t row = 0; row < rows; row++)
            weights[row * LN_GROUPED_LANES + o] = from[row * LN_GROUPED_LANES];
    }
}

static void run_task(void *user, size_t index)
{
    const grouped_job *job = user;
    const ln_conv_shape *s = &job->args->shape;
    size_t rows = s->batch * s->out_h, sets = s->out_channels / LN_GROUPED_LANES;
    size_t row = index / job->tasks.columns, column = index % job->tasks.columns;
    size_t first = ln_task_start(rows, job->tasks.rows, row);
    size_t end = ln_task_start(rows, job->tasks.rows, row + 1);
    size_t set_end = ln_task_start(sets, job->tasks.columns, column + 1);
    _Alignas(64) float weights[LN_GROUPED_MAX_TAPS * LN_GROUPED_LANES];
    for (size_t set = ln_task_start(sets, job->tasks.columns, column); set < set_end; set++) {
        gather(job->args, set * LN_GROUPED_LANES, weights);
        for (size_t y = first; y < end; y++)
            job->run(job->args, y, set * LN_GROUPED_LANES, weights);
    }
}

void ln_grouped_f32(ln_cpu_isa isa, const ln_conv_nhwc_f32_args *args, ln_pool *pool)
{
    const ln_conv_shape *s = &args->shape;
    size_t rows = s->batch * s->out_h, sets = s->out_channels / LN_GROUPED_LANES;
    double work = (double)(rows * s->out_w * s->out_channels) *
                  (double)(s->kernel_h * s->kernel_w * (s->in_channels / s->group));
    grouped_job job = {
        .args = args,
        .run = ln_grouped_f32_select(isa),
        .tasks = ln_partition_product(rows, sets, false, work, ln_pool_thread_count(pool))};
    ln_pool_run(pool, job.tasks.rows * job.tasks.columns, run_task, &job);
}
