// SPDX-License-Identifier: Apache-2.0
// Drives the kernels for images of few channels, row of outputs by row of outputs.
//
// Windows that reach outside on the left or right are made one by one; those that reach outside at
// the top or bottom have fewer rows. What a kernel does not do to its sums is done to each row of
// results after it, in the cache.

#include "arch/cpu/kernels/few_inputs/few_inputs.h"

#include <math.h>
#include <stdint.h>

#include "arch/cpu/kernels/eltwise/eltwise.h"
#include "arch/cpu/kernels/gemm/partition.h"
#include "arch/cpu/kernels/gemm/tile.h"
#include "arch/cpu/kernels/window.h"

// Wider images have runs that direct's tiles do as well; shorter rows have too many borders.
#define MAX_CHANNELS 4
#define MIN_OUTPUTS  24

static bool is_in_kernel(ln_act act)
{
    return act == LN_ACT_NONE || act == LN_ACT_RELU || act == LN_ACT_CLIP || act == LN_ACT_LRELU;
}

bool ln_few_inputs_f32_fits(const ln_conv_nhwc_f32_args *a)
{
    const ln_conv_shape *s = &a->shape;
    return s->group == 1 && s->in_channels > 0 && s->in_channels <= MAX_CHANNELS &&
           a->x_stride == s->in_channels && s->dilation_w == 1 && s->out_w >= MIN_OUTPUTS &&
           s->kernel_h * s->kernel_w > 1 && !a->epilogue.addend &&
           (is_in_kernel(a->epilogue.act) || a->y_stride == s->out_channels);
}

typedef struct few_inputs_job {
    ln_cpu_isa isa;
    ln_few_inputs_f32_fn *kernel;
    const ln_conv_nhwc_f32_args *args;
    ln_few_inputs_f32_row row; // what all rows have in common
    size_t inner, inner_end;   // columns whose windows are inside from left to right
    size_t tasks;
} few_inputs_job;

// Outputs [column, column_end) of a row, whose windows have the kernel columns [first, end) inside.
static void run_columns(const few_inputs_job *job, const ln_few_inputs_f32_row *row,
                        const float *line, size_t column, size_t column_end, size_t first,
                        size_t end)
{
    const ln_conv_shape *s = &job->args->shape;
    ln_few_inputs_f32_row part = *row;
    if (column == column_end)
        return;
    ptrdiff_t x = (ptrdiff_t)(column * s->stride_w + first) - (ptrdiff_t)s->pad_left;
    part.k = (end - first) * s->in_channels;
    part.x = part.k ? line + x * (ptrdiff_t)s->in_channels : line;
    part.w += first * s->in_channels * LN_TILE_LANES;
    part.outputs = column_end - column;
    part.y += column * part.y_stride;
    job->kernel(&part);
}

static void run_borders(const few_inputs_job *job, const ln_few_inputs_f32_row *row,
                        const float *line, size_t column, size_t column_end)
{
    const ln_conv_shape *s = &job->args->shape;
    const ln_window_1d columns = ln_conv_columns(s);
    for (; column < column_end; column++) {
        const ln_taps taps = ln_window_taps(&columns, column);
        run_columns(job, row, line, column, column + 1, taps.first, taps.end);
    }
}

static void run_row(const few_inputs_job *job, size_t index)
{
    const ln_conv_nhwc_f32_args *a = job->args;
    const ln_conv_shape *s = &a->shape;
    ln_few_inputs_f32_row row = job->row;
    size_t image = index / s->out_h, y = index % s->out_h;
    const ln_window_1d rows = ln_conv_rows(s);
    const ln_taps taps = ln_window_taps(&rows, y);
    row.rows = taps.end - taps.first;
    row.w += taps.first * row.w_row;
    row.y += index * s->out_w * row.y_stride;
    const float *line = a->x + image * s->in_h * s->in_w * s->in_channels;
    if (row.rows)
        line += ln_window_at(&rows, y, taps.first) * s->in_w * s->in_channels;

    run_borders(job, &row, line, 0, job->inner);
    run_columns(job, &row, line, job->inner, job->inner_end, 0, s->kernel_w);
    run_borders(job, &row, line, job->inner_end, s->out_w);
    if (!is_in_kernel(a->epilogue.act)) {
        ln_act_f32_args act = {a->epilogue.act, a->epilogue.alpha, a->epilogue.beta};
        ln_act_f32(job->isa, &act, s->out_w * s->out_channels, row.y, row.y, NULL);
    }
}

static void run_task(void *user, size_t index)
{
    const few_inputs_job *job = user;
    const ln_conv_shape *s = &job->args->shape;
    size_t end = ln_task_start(s->batch * s->out_h, job->tasks, index + 1);
    for (size_t i = ln_task_start(s->batch * s->out_h, job->tasks, index); i < end; i++)
        run_row(job, i);
}

static ln_few_inputs_f32_row common_row(const ln_conv_nhwc_f32_args *a)
{
    const ln_conv_shape *s = &a->shape;
    const ln_epilogue_f32 *e = &a->epilogue;
    return (ln_few_inputs_f32_row){
        .distance = s->stride_w * s->in_channels,
        .x_row = s->dilation_h * s->in_w * s->in_channels,
        .w = a->packed,
        .w_row = s->kernel_w * s->in_channels * LN_TILE_LANES,
        .w_panel = s->kernel_h * s->kernel_w * s->in_channels * LN_TILE_LANES,
        .y = a->y,
        .channels = s->out_channels,
        .y_stride = a->y_stride,
        .bias = e->bias,
        .has_bounds = e->act == LN_ACT_RELU || e->act == LN_ACT_CLIP,
        .low = e->act == LN_ACT_CLIP ? e->alpha : 0.0f,
        .high = e->act == LN_ACT_CLIP ? e->beta : INFINITY,
        .is_lrelu = e->act == LN_ACT_LRELU,
        .slope = e->alpha,
    };
}

void ln_few_inputs_f32(ln_cpu_isa isa, const ln_conv_nhwc_f32_args *a, ln_pool *pool)
{
    const ln_conv_shape *s = &a->shape;
    few_inputs_job job = {
        .isa = isa, .kernel = ln_few_inputs_f32_select(isa), .args = a, .row = common_row(a)};
    job.inner = ln_min(ln_div_up(s->pad_left, s->stride_w), s->out_w);
    if (s->in_w + s->pad_left >= s->kernel_w)
        job.inner_end = ln_min((s->in_w + s->pad_left - s->kernel_w) / s->stride_w + 1, s->out_w);
    if (job.inner_end < job.inner)
        job.inner_end = job.inner;

    double outputs = (double)(s->batch * s->out_h * s->out_w) * (double)s->out_channels;
    double k = (double)(s->kernel_h * s->kernel_w * s->in_channels);
    job.tasks =
        ln_partition_product(s->batch * s->out_h, 1, false, outputs * k, ln_pool_thread_count(pool))
            .rows;
    ln_pool_run(pool, job.tasks, run_task, &job);
}
