// SPDX-License-Identifier: Apache-2.0
// Drives convolution with few output channels: runs of outputs, and what follows their sums.

#include "arch/cpu/kernels/few_outputs/few_outputs.h"

#include "arch/cpu/kernels/eltwise/eltwise.h"
#include "arch/cpu/kernels/gemm/partition.h"

void ln_few_outputs_f32_pack(const ln_conv_shape *s, const float *weight, float *packed)
{
    size_t taps = s->kernel_h * s->kernel_w;
    for (size_t tap = 0; tap < taps; tap++)
        for (size_t first = 0; first < s->in_channels; first += LN_FEW_OUTPUTS_LANES)
            for (size_t o = 0; o < s->out_channels; o++)
                for (size_t c = first; c < first + LN_FEW_OUTPUTS_LANES; c++)
                    *packed++ = weight[(o * s->in_channels + c) * taps + tap];
}

// Outputs that are finished together, while they are in the first cache.
#define RUN_PIXELS ((size_t)128)

typedef struct few_outputs_job {
    ln_cpu_isa isa;
    const ln_conv_nhwc_f32_args *args;
    ln_few_outputs_f32_fn *kernel;
    size_t tasks;
} few_outputs_job;

static void add(float *sums, const float *addend, size_t addend_stride, size_t pixels, size_t outs)
{
    for (size_t p = 0; p < pixels; p++)
        for (size_t o = 0; o < outs; o++)
            sums[p * outs + o] += addend[p * addend_stride + o];
}

// Outputs [first, first + count) of a row, through a buffer.
static void run_with_epilogue(const few_outputs_job *job, size_t row, size_t first, size_t count)
{
    const ln_conv_nhwc_f32_args *a = job->args;
    const ln_epilogue_f32 *e = &a->epilogue;
    size_t outs = a->shape.out_channels, pixel = row * a->shape.out_w + first;
    float sums[RUN_PIXELS * LN_FEW_OUTPUTS_MAX];
    const ln_act_f32_args act = {.act = e->act, .alpha = e->alpha, .beta = e->beta};
    job->kernel(a, row, first, count, sums, outs);
    if (e->addend && !e->is_addend_last)
        add(sums, e->addend + pixel * e->addend_stride, e->addend_stride, count, outs);
    if (e->act != LN_ACT_NONE)
        ln_act_f32(job->isa, &act, count * outs, sums, sums, NULL);
    if (e->addend && e->is_addend_last)
        add(sums, e->addend + pixel * e->addend_stride, e->addend_stride, count, outs);
    float *y = a->y + pixel * a->y_stride;
    for (size_t p = 0; p < count; p++)
        for (size_t o = 0; o < outs; o++)
            y[p * a->y_stride + o] = sums[p * outs + o];
}

static void run_row(const few_outputs_job *job, size_t row)
{
    const ln_conv_nhwc_f32_args *a = job->args;
    size_t width = a->shape.out_w;
    if (a->epilogue.act == LN_ACT_NONE && !a->epilogue.addend) {
        job->kernel(a, row, 0, width, a->y + row * width * a->y_stride, a->y_stride);
        return;
    }
    for (size_t first = 0; first < width; first += RUN_PIXELS)
        run_with_epilogue(job, row, first, ln_min(RUN_PIXELS, width - first));
}

static void run_task(void *user, size_t index)
{
    const few_outputs_job *job = user;
    size_t rows = job->args->shape.batch * job->args->shape.out_h;
    size_t end = ln_task_start(rows, job->tasks, index + 1);
    for (size_t row = ln_task_start(rows, job->tasks, index); row < end; row++)
        run_row(job, row);
}

void ln_few_outputs_f32(ln_cpu_isa isa, const ln_conv_nhwc_f32_args *args, ln_pool *pool)
{
    const ln_conv_shape *s = &args->shape;
    size_t rows = s->batch * s->out_h;
    if (rows * s->out_w * s->out_channels == 0)
        return;
    double work = (double)(rows * s->out_w * s->out_channels) *
                  (double)(s->in_channels * s->kernel_h) * (double)s->kernel_w;
    few_outputs_job job = {
        .isa = isa,
        .args = args,
        .kernel = ln_few_outputs_f32_select(isa),
        .tasks = ln_partition_product(rows, 1, false, work, ln_pool_thread_count(pool)).rows};
    ln_pool_run(pool, job.tasks, run_task, &job);
}
