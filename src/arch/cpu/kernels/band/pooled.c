// SPDX-License-Identifier: Apache-2.0
// Drives the drivers of direct/, winograd/ and pool/ over bands of rows.
//
// A band is a convolution of its own: of those rows of its input that its windows look at, with as
// many rows of padding above as are not there. A task is a run of bands; it goes downwards, pools
// what it has whole windows of, and moves the rows that it needs again to the front of its buffer.
// No row is made twice: where a window looks at rows of two tasks, an edge, both copy theirs, and
// such windows are pooled when the tasks are done.

#include "arch/cpu/kernels/band/pooled.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "arch/cpu/kernels/direct/direct.h"
#include "arch/cpu/kernels/gemm/partition.h"
#include "arch/cpu/kernels/winograd/winograd.h"
#include "base/checked.h"
#include "base/grain.h"
#include "base/minmax.h"

// Bytes of the rows that a band makes: what stays in a second cache of 1 MiB beside weights and
// tiles.
#define BAND_BYTES ((size_t)256 << 10)

#define MAX_TASKS      8 // with a buffer each
#define TASKS_A_THREAD 2
#define MIN_TASK_ROWS  4

// Multiplications that take about 10 microseconds.
#define MIN_TASK_WORK (8 * LN_PRODUCTS_PER_MICROSECOND)

// ---- Sizes ----

// Buffers begin at cache lines.
static size_t round_up(size_t floats)
{
    return ln_size_plus(floats, 15) / 16 * 16;
}

// Rows are made by units, the rows of Winograd's tiles, since these begin at the first row of an
// image.
typedef struct pooled_plan {
    size_t unit;       // rows
    size_t units;      // of an image
    size_t total;      // of all images
    size_t line;       // floats of a row
    size_t window;     // rows that a window of the pooling spans
    size_t band_units; // at most, without tasks that are smaller
    size_t min_units;  // of a band and of a task
    size_t max_floats; // floats of workspace that several tasks may have
    size_t edge;       // floats
    size_t tiles;      // floats of Winograd's workspace
    size_t tasks;      // at most
    size_t floats;     // of workspace
} pooled_plan;

static size_t units_of_band(const pooled_plan *plan, size_t tasks)
{
    const size_t units = ln_min(plan->band_units, ln_div_up(plan->total, tasks));
    if (tasks == 1)
        return units;
    const size_t again = round_up(ln_size_times(plan->window - 1, plan->line));
    const size_t other = ln_size_plus(ln_size_plus(plan->tiles, plan->edge), again),
                 each = plan->max_floats / tasks;
    const size_t fit = each < other ? 0 : (each - other) / ln_size_times(plan->unit, plan->line);
    return ln_min(units, fit < plan->min_units ? plan->min_units : fit);
}

// With the rows that a window needs again in front of those of the band.
static size_t floats_of_rows(const pooled_plan *plan, size_t tasks)
{
    size_t rows =
        ln_size_plus(ln_size_times(units_of_band(plan, tasks), plan->unit), plan->window - 1);
    return round_up(
        ln_size_times(ln_min(rows, ln_size_times(plan->units, plan->unit)), plan->line));
}

static size_t floats_of_slot(const pooled_plan *plan, size_t tasks)
{
    return ln_size_plus(floats_of_rows(plan, tasks), plan->tiles);
}

static size_t floats_of_tasks(const pooled_plan *plan, size_t tasks)
{
    return ln_size_plus(ln_size_times(tasks, floats_of_slot(plan, tasks)),
                        ln_size_times(plan->edge, tasks - 1));
}

// One task, or as many as the workspace holds.
static void plan_tasks(pooled_plan *plan)
{
    const size_t most = ln_min(plan->total / plan->min_units, MAX_TASKS);
    plan->tasks = 1;
    plan->floats = floats_of_tasks(plan, 1);
    for (size_t tasks = 2; tasks <= most; tasks++) {
        size_t floats = floats_of_tasks(plan, tasks);
        if (floats > plan->max_floats)
            break;
        plan->tasks = tasks;
        plan->floats = floats > plan->floats ? floats : plan->floats;
    }
}

static pooled_plan plan_of(size_t winograd, const ln_conv_shape *s, const ln_window_1d *rows)
{
    pooled_plan plan = {.unit = winograd ? winograd : 1};
    plan.units = ln_div_up(s->out_h, plan.unit);
    plan.total = ln_size_times(s->batch, plan.units);
    plan.line = ln_size_times(s->out_w, s->out_channels);
    plan.window = ln_size_plus(ln_size_times(rows->kernel - 1, rows->dilation), 1);
    if (plan.total == 0 || plan.line == 0)
        return plan;

    // An edge has no more rows than a band.
    size_t least = ln_max(plan.window, MIN_TASK_ROWS);
    plan.min_units = ln_div_up(least, plan.unit);
    plan.band_units = ln_grain(BAND_BYTES) / sizeof(float) / ln_size_times(plan.line, plan.unit);
    if (plan.band_units < plan.min_units)
        plan.band_units = plan.min_units;
    plan.edge =
        round_up(ln_size_times(ln_min(ln_size_times(2, plan.window - 1), s->out_h), plan.line));

    // Half of the image that is not there: the result is, meanwhile.
    plan.max_floats = ln_size_times(ln_size_times(s->batch, s->out_h), plan.line) / 2;
    if (winograd) {
        ln_conv_shape band = *s;
        band.batch = 1;
        band.out_h = ln_min(ln_size_times(plan.band_units, plan.unit), s->out_h);
        plan.tiles = round_up(ln_winograd_f32_thread_workspace(winograd, &band) / sizeof(float));
        plan.max_floats =
            ln_size_plus(plan.max_floats, ln_winograd_f32_workspace(winograd, s) / sizeof(float));
    }
    plan_tasks(&plan);
    return plan;
}

size_t ln_pooled_nhwc_f32_workspace(size_t winograd, const ln_conv_shape *conv,
                                    const ln_window_1d *rows)
{
    return ln_size_times(plan_of(winograd, conv, rows).floats, sizeof(float));
}

// ---- Windows ----

typedef struct row_range {
    size_t first, end;
} row_range;

typedef struct pooled_job {
    const ln_pooled_nhwc_f32_args *args;
    ln_cpu_isa isa;
    pooled_plan plan;
    size_t tasks, band_rows;
    float *slots, *edges; // a slot for each task, and edges between them
    size_t slot;          // floats
} pooled_job;

// How many windows end in front of a row of the image between.
static size_t windows_above(const pooled_job *job, size_t row)
{
    const ln_pool_nhwc_f32_args *pool = job->args->pool;
    const ln_window_1d *w = &pool->rows;
    if (row == job->args->conv->shape.out_h)
        return pool->out_h;
    if (row + w->pad < job->plan.window)
        return 0;
    return ln_min((row + w->pad - job->plan.window) / w->stride + 1, pool->out_h);
}

// How many windows start before it; the others, if there are any, at it or after it.
static size_t windows_from_above(const pooled_job *job, size_t row)
{
    const ln_window_1d *w = &job->args->pool->rows;
    return row == 0 ? 0 : ln_min(ln_div_up(row + w->pad, w->stride), job->args->pool->out_h);
}

// The first row of the image that a window looks at, or the image's first.
static size_t start_of(const pooled_job *job, size_t window)
{
    const ln_window_1d *w = &job->args->pool->rows;
    const size_t start = window * w->stride;
    return start < w->pad ? 0 : start - w->pad;
}

// Pools some windows; `x` are the rows of the image from the first one's start on.
static void pool_windows(const pooled_job *job, size_t image, row_range windows, const float *x,
                         size_t rows)
{
    ln_pool_nhwc_f32_args part = *job->args->pool;
    const size_t start = windows.first * part.rows.stride;
    part.y += (image * part.out_h + windows.first) * part.out_w * part.y_stride;
    part.x = x;
    part.x_stride = part.channels;
    part.batch = 1;
    part.out_h = windows.end - windows.first;
    part.rows.in = rows;
    part.rows.pad = start < part.rows.pad ? part.rows.pad - start : 0;
    ln_pool_nhwc_f32(job->isa, &part, NULL);
}

// ---- Rows ----

// Makes rows of the image between, at `to`. The last ones of an image have all of the input below
// at hand, as there tiles may reach over the end.
static void make_rows(const pooled_job *job, size_t image, row_range rows, float *tiles, float *to)
{
    ln_conv_nhwc_f32_args part = *job->args->conv;
    ln_conv_shape *s = &part.shape;
    const size_t top = rows.first * s->stride_h, first = top < s->pad_top ? 0 : top - s->pad_top;
    const size_t after = (rows.end - 1) * s->stride_h + (s->kernel_h - 1) * s->dilation_h + 1;
    size_t end = after < s->pad_top ? 0 : ln_min(after - s->pad_top, s->in_h);
    if (rows.end == s->out_h)
        end = s->in_h;
    const size_t in_first = ln_min(first, end);
    part.x += (image * s->in_h + in_first) * s->in_w * part.x_stride;
    part.y = to;
    part.y_stride = s->out_channels;
    s->batch = 1;
    s->in_h = end - in_first;
    s->out_h = rows.end - rows.first;
    s->pad_top = top < s->pad_top ? s->pad_top - top : 0;
    if (job->args->winograd)
        ln_winograd_f32(job->isa, job->args->winograd, &part, NULL, tiles);
    else
        ln_direct_f32(job->isa, &part, NULL);
}

// ---- Edges ----

// Where a task begins.
typedef struct task_start {
    size_t image, row;
} task_start;

static task_start start_of_task(const pooled_job *job, size_t task)
{
    const pooled_plan *plan = &job->plan;
    const size_t unit = ln_task_start(plan->total, job->tasks, task);
    return (task_start){unit / plan->units, unit % plan->units * plan->unit};
}

// The windows that look at rows on both sides of a row.
static row_range windows_across(const pooled_job *job, size_t row)
{
    return (row_range){windows_above(job, row), windows_from_above(job, row)};
}

// The rows that these look at.
static row_range rows_of_windows(const pooled_job *job, row_range windows)
{
    const ln_window_1d *w = &job->args->pool->rows;
    const size_t end = (windows.end - 1) * w->stride + job->plan.window - w->pad;
    return (row_range){start_of(job, windows.first), ln_min(end, job->args->conv->shape.out_h)};
}

// Copies to an edge, that in front of a task, what it needs of some rows of the image.
static void give_edge(const pooled_job *job, size_t task, size_t edge_row, row_range rows,
                      const float *from)
{
    const row_range windows = windows_across(job, edge_row);
    if (edge_row == 0 || windows.first == windows.end)
        return;
    const size_t line = job->plan.line;
    const row_range edge = rows_of_windows(job, windows);
    const size_t first = ln_max(edge.first, rows.first);
    const size_t end = ln_min(edge.end, rows.end);
    float *to = job->edges + (task - 1) * job->plan.edge;
    if (first < end)
        memcpy(to + (first - edge.first) * line, from + (first - rows.first) * line,
               (end - first) * line * sizeof(float));
}

static void run_edge(void *user, size_t index)
{
    const pooled_job *job = user;
    const task_start at = start_of_task(job, index + 1);
    const row_range windows = windows_across(job, at.row);
    if (at.row == 0 || windows.first == windows.end)
        return;
    const row_range rows = rows_of_windows(job, windows);
    pool_windows(job, at.image, windows, job->edges + index * job->plan.edge,
                 rows.end - rows.first);
}

// ---- Tasks ----

// Rows [out.first, out.end) of an image, all that the task has of it.
static void run_part(const pooled_job *job, size_t task, size_t image, row_range out)
{
    const size_t line = job->plan.line;
    float *const buffer = job->slots + task * job->slot;
    float *const tiles = buffer + (job->slot - job->plan.tiles);
    row_range have = {out.first, out.first};
    size_t window = windows_from_above(job, out.first);
    while (have.end < out.end) {
        const row_range band = {have.end, ln_min(have.end + job->band_rows, out.end)};
        float *const made = buffer + (band.first - have.first) * line;
        make_rows(job, image, band, tiles, made);
        have.end = band.end;
        if (band.first == out.first && out.first > 0)
            give_edge(job, task, out.first, band, made);
        if (band.end == out.end && out.end < job->args->conv->shape.out_h)
            give_edge(job, task + 1, out.end, have, buffer);

        const row_range windows = {window, windows_above(job, have.end)};
        if (windows.first < windows.end) {
            const size_t start = ln_min(start_of(job, window), have.end);
            pool_windows(job, image, windows, buffer + (start - have.first) * line,
                         have.end - start);
            window = windows.end;
        }
        if (window == job->args->pool->out_h) // nobody looks at rows below
            return;
        const size_t keep = ln_min(start_of(job, window), have.end);
        memmove(buffer, buffer + (keep - have.first) * line,
                (have.end - keep) * line * sizeof(float));
        have.first = keep;
    }
}

static void run_task(void *user, size_t task)
{
    const pooled_job *job = user;
    const pooled_plan *plan = &job->plan;
    const size_t out_h = job->args->conv->shape.out_h;
    const size_t end = ln_task_start(plan->total, job->tasks, task + 1);
    for (size_t unit = ln_task_start(plan->total, job->tasks, task); unit < end;) {
        const size_t image = unit / plan->units, first = unit % plan->units;
        const size_t count = ln_min(end - unit, plan->units - first);
        const row_range out = {first * plan->unit, ln_min((first + count) * plan->unit, out_h)};
        run_part(job, task, image, out);
        unit += count;
    }
}

// ---- The job ----

// One for one thread; for more some for each, but not more than their work is worth.
static size_t count_tasks(const ln_pooled_nhwc_f32_args *args, const pooled_plan *plan,
                          size_t threads)
{
    const ln_conv_shape *s = &args->conv->shape;
    const double outputs = (double)plan->total * (double)(plan->unit * plan->line);
    const double taps = args->winograd ? (double)((plan->unit + 2) * (plan->unit + 2)) /
                                             (double)(plan->unit * plan->unit)
                                       : (double)(s->kernel_h * s->kernel_w);
    const double work = outputs * taps * (double)(s->in_channels / s->group);
    const double worth = ln_grain_work(work) / MIN_TASK_WORK;
    size_t count = ln_min(ln_min(threads, MAX_TASKS) * TASKS_A_THREAD, plan->tasks);
    if (threads == 1 || worth < 2)
        return 1;
    if (count > threads)
        count -= count % threads;
    return worth < (double)count ? (size_t)worth : count;
}

void ln_pooled_nhwc_f32(ln_cpu_isa isa, const ln_pooled_nhwc_f32_args *args, ln_pool *pool,
                        float *workspace)
{
    const ln_conv_shape *s = &args->conv->shape;
    const ln_pool_nhwc_f32_args *p = args->pool;
    assert(p->kind == LN_POOL_MAX && !args->conv->epilogue.addend);
    if (p->batch * p->out_h * p->out_w * p->channels == 0)
        return;
    pooled_job job = {.args = args, .isa = isa, .plan = plan_of(args->winograd, s, &p->rows)};
    if (s->out_h * s->out_w == 0) { // nothing but padding
        ln_pool_nhwc_f32(isa, p, pool);
        return;
    }
    job.tasks = count_tasks(args, &job.plan, ln_pool_thread_count(pool));
    job.band_rows = units_of_band(&job.plan, job.tasks) * job.plan.unit;
    job.edges = workspace;
    job.slots = workspace + job.plan.edge * (job.tasks - 1);
    job.slot = floats_of_slot(&job.plan, job.tasks);
    ln_pool_run(pool, job.tasks, run_task, &job);
    ln_pool_run(pool, job.tasks - 1, run_edge, &job);
}
