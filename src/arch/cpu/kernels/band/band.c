// SPDX-License-Identifier: Apache-2.0
// Drives the drivers of direct/ and depthwise/ over bands of rows.
//
// A band of outputs is a convolution of its own: of those rows of the image that its windows look
// at, with as many rows of padding above as are not there. A task is a run of bands; it goes
// downwards, so that it makes each row of the expanded image once, moving the rows that it needs
// again to the front of its buffer. The rows that two tasks look at, the edges, are made before.

#include "arch/cpu/kernels/band/band.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "arch/cpu/kernels/depthwise/depthwise.h"
#include "arch/cpu/kernels/direct/direct.h"
#include "arch/cpu/kernels/gemm/partition.h"
#include "base/checked.h"
#include "base/grain.h"
#include "base/minmax.h"

// Bytes of a band's buffers: what stays in a second cache of 1 MiB beside weights, inputs and
// outputs. With an expanded image, fewer rows would be moved too often.
#define EXPANDED_BYTES ((size_t)400 << 10)
#define FILTERED_BYTES ((size_t)128 << 10)

#define MAX_TASKS      8 // with a buffer each
#define TASKS_A_THREAD 2
#define MIN_TASK_ROWS  4 // of outputs: below, edges would be most of a task
#define MIN_BAND_ROWS  2 // of outputs, where all tasks have buffers

// Multiplications that take about 10 microseconds.
#define MIN_TASK_WORK (8 * LN_PRODUCTS_PER_MICROSECOND)

// ---- Sizes ----

// Floats of the buffers for bands of some rows: those before and after the depthwise
// convolution.
typedef struct band_size {
    size_t first, more; // in front: for one row of outputs, and for each other one
    size_t row;         // after: for each row of outputs
    size_t most;        // in all, if a band has several rows
    size_t edge_rows;   // that two tasks look at, at most
    size_t edge;        // floats of these
} band_size;

// Buffers begin at cache lines; floats that two of them need more for it.
#define SLACK 32

static size_t round_up(size_t floats)
{
    return ln_size_plus(floats, 15) / 16 * 16;
}

static size_t window_rows(const ln_conv_shape *s)
{
    return ln_size_plus(ln_size_times(s->kernel_h - 1, s->dilation_h), 1);
}

static band_size size_of(const ln_conv_shape *s, bool has_expand, bool has_project)
{
    const size_t line = ln_size_times(s->in_w, s->in_channels), window = window_rows(s);
    size_t edge_rows = 0;
    if (has_expand && window > s->stride_h)
        edge_rows = ln_min(window - s->stride_h, s->in_h);
    return (band_size){
        .first = has_expand ? ln_size_times(ln_min(window, s->in_h), line) : 0,
        .more = has_expand ? ln_size_times(ln_min(s->stride_h, s->in_h), line) : 0,
        .row = has_project ? ln_size_times(s->out_w, s->out_channels) : 0,
        .most = ln_grain(has_expand ? EXPANDED_BYTES : FILTERED_BYTES) / sizeof(float),
        .edge_rows = edge_rows,
        .edge = round_up(ln_size_times(edge_rows, line)),
    };
}

static size_t floats_in_front(const band_size *size, size_t rows)
{
    return round_up(ln_size_plus(size->first, ln_size_times(size->more, rows - 1)));
}

static size_t floats_of(const band_size *size, size_t rows)
{
    return ln_size_plus(floats_in_front(size, rows), round_up(ln_size_times(size->row, rows)));
}

// The rows of a band whose buffers have at most so many floats, at least one.
static size_t rows_within(const band_size *size, size_t floats, size_t most)
{
    floats = ln_min(floats, size->most);
    const size_t each = ln_size_plus(size->more, size->row),
                 one = ln_size_plus(floats_of(size, 1), SLACK);
    if (one >= floats)
        return 1;
    size_t rows = each ? 1 + (floats - one) / each : most;
    return ln_min(rows, most);
}

// Between tasks.
static size_t edge_floats(const band_size *size, size_t tasks)
{
    return ln_size_times(size->edge, tasks - 1);
}

// ---- Planning ----

typedef struct band_plan {
    band_size size;
    size_t total;  // rows of outputs of all images
    size_t tasks;  // at most
    size_t floats; // of workspace
} band_plan;

static band_plan plan_of(const ln_conv_shape *s, bool has_expand, bool has_project)
{
    band_plan plan = {.size = size_of(s, has_expand, has_project),
                      .total = ln_size_times(s->batch, s->out_h)};
    if (plan.total == 0)
        return plan;
    size_t rows = rows_within(&plan.size, SIZE_MAX, s->out_h);
    size_t least = ln_size_plus(floats_of(&plan.size, ln_min(MIN_BAND_ROWS, s->out_h)), SLACK);
    size_t image = has_expand ? ln_size_times(ln_size_times(s->batch, s->in_h),
                                              ln_size_times(s->in_w, s->in_channels))
                              : ln_size_times(plan.total, plan.size.row);
    // Not more than the image has that is not stored.
    plan.tasks = ln_min(plan.total / MIN_TASK_ROWS, MAX_TASKS);
    plan.tasks = ln_min(plan.tasks, image / ln_size_plus(least, plan.size.edge));
    plan.tasks += plan.tasks == 0;
    size_t one = floats_of(&plan.size, rows);
    size_t all =
        ln_size_plus(ln_size_times(plan.tasks, least), edge_floats(&plan.size, plan.tasks));
    plan.floats = ln_max(one, all);
    return plan;
}

size_t ln_band_nhwc_f32_workspace(const ln_conv_shape *depthwise, bool has_expand, bool has_project)
{
    return ln_size_times(plan_of(depthwise, has_expand, has_project).floats, sizeof(float));
}

// ---- Rows of a convolution ----

typedef struct row_range {
    size_t first, end;
} row_range;

// The 1x1 convolution of some rows.
static ln_conv_nhwc_f32_args rows_of_pointwise(const ln_conv_nhwc_f32_args *whole, size_t count)
{
    ln_conv_nhwc_f32_args part = *whole;
    part.shape.batch = 1;
    part.shape.in_h = part.shape.out_h = count;
    return part;
}

static size_t pixel_at(const ln_conv_shape *s, size_t image, size_t row)
{
    return (image * s->out_h + row) * s->out_w;
}

// The input rows that windows of these outputs look at.
static row_range rows_in_sight(const ln_conv_shape *s, row_range out)
{
    size_t first = out.first * s->stride_h, after = (out.end - 1) * s->stride_h + window_rows(s);
    row_range in = {.first = first < s->pad_top ? 0 : first - s->pad_top,
                    .end = after < s->pad_top ? 0 : ln_min(after - s->pad_top, s->in_h)};
    if (in.first >= in.end)
        in.first = in.end = 0;
    return in;
}

// ---- Bands ----

typedef struct band_job {
    const ln_band_nhwc_f32_args *args;
    ln_cpu_isa isa;
    band_size size;
    size_t rows; // of outputs in a band, at most
    size_t total, tasks;
    float *slots, *edges; // a slot for each task, and edges between them
    size_t slot;          // floats
} band_job;

// What a task has at hand.
typedef struct band_buffers {
    float *in, *out;
    row_range rows; // of the expanded image that are in `in`
} band_buffers;

static size_t line_of(const band_job *job)
{
    const ln_conv_shape *s = &job->args->depthwise->shape;
    return s->in_w * s->in_channels;
}

// To `to`, row by row one after the other.
static void expand_rows(const band_job *job, size_t image, row_range rows, float *to)
{
    if (rows.first >= rows.end)
        return;
    const ln_conv_nhwc_f32_args *whole = job->args->expand;
    ln_conv_nhwc_f32_args part = rows_of_pointwise(whole, rows.end - rows.first);
    part.x += pixel_at(&whole->shape, image, rows.first) * whole->x_stride;
    part.y = to;
    part.y_stride = whole->shape.out_channels;
    ln_direct_f32(job->isa, &part, NULL);
}

// ---- Edges ----

// The rows of the expanded image that both this task and the one above look at.
static row_range edge_above(const band_job *job, size_t task)
{
    const ln_conv_shape *s = &job->args->depthwise->shape;
    const size_t row = ln_task_start(job->total, job->tasks, task) % s->out_h;
    const row_range none = {0, 0};
    if (!job->args->expand || row == 0)
        return none;
    const row_range above = rows_in_sight(s, (row_range){row - 1, row});
    const row_range below = rows_in_sight(s, (row_range){row, row + 1});
    if (below.first >= below.end || below.first >= above.end)
        return none;
    return (row_range){below.first, above.end};
}

static float *edge_floats_above(const band_job *job, size_t task)
{
    return job->edges + (task - 1) * job->size.edge;
}

// One row, so that all threads have some.
static void run_edge_row(void *user, size_t index)
{
    const band_job *job = user;
    const size_t task = 1 + index / job->size.edge_rows, i = index % job->size.edge_rows;
    const size_t image =
        ln_task_start(job->total, job->tasks, task) / job->args->depthwise->shape.out_h;
    const row_range edge = edge_above(job, task);
    const row_range row = {edge.first + i, edge.first + i + 1};
    if (row.end <= edge.end)
        expand_rows(job, image, row, edge_floats_above(job, task) + i * line_of(job));
}

// ---- Tasks ----

// What a task does in an image.
typedef struct band_part {
    size_t task, image;
    row_range out;
} band_part;

static void take_edge_above(const band_job *job, size_t task, band_buffers *at)
{
    at->rows = edge_above(job, task);
    if (at->rows.first < at->rows.end)
        memcpy(at->in, edge_floats_above(job, task),
               (at->rows.end - at->rows.first) * line_of(job) * sizeof(float));
}

// Makes `in` the rows that are wanted: those that are there move, those of the edge below are
// copied, the others made.
static void advance(const band_job *job, const band_part *part, row_range wanted, band_buffers *at)
{
    const size_t line = line_of(job);
    row_range new = wanted;
    if (at->rows.first <= wanted.first && wanted.first < at->rows.end) {
        new.first = at->rows.end;
        memmove(at->in, at->in + (wanted.first - at->rows.first) * line,
                (at->rows.end - wanted.first) * line * sizeof(float));
    }
    at->rows = wanted;
    const bool is_cut = part->out.end < job->args->depthwise->shape.out_h;
    const row_range edge = is_cut ? edge_above(job, part->task + 1) : (row_range){0, 0};
    const bool has_edge = edge.first < edge.end;
    if (has_edge && edge.first < new.end &&new.first < new.end) {
        row_range shared = {ln_max(edge.first, new.first), new.end};
        memcpy(at->in + (shared.first - wanted.first) * line,
               edge_floats_above(job, part->task + 1) + (shared.first - edge.first) * line,
               (shared.end - shared.first) * line * sizeof(float));
        new.end = shared.first;
    }
    expand_rows(job, part->image, new, at->in + (new.first - wanted.first) * line);
}

static void filter_rows(const band_job *job, size_t image, row_range out, row_range in,
                        const band_buffers *at)
{
    ln_conv_nhwc_f32_args part = *job->args->depthwise;
    ln_conv_shape *s = &part.shape;
    const size_t top = out.first * s->stride_h, in_h = s->in_h,
                 pixel = pixel_at(s, image, out.first);
    s->batch = 1;
    s->in_h = in.end - in.first;
    s->out_h = out.end - out.first;
    s->pad_top = top < s->pad_top ? s->pad_top - top : 0;
    if (s->in_h == 0) // nothing in sight: as if all of it were above the image
        s->pad_top = s->out_h * s->stride_h + window_rows(s);
    if (job->args->expand) {
        part.x = at->in;
        part.x_stride = s->in_channels;
    } else {
        part.x += (image * in_h + in.first) * s->in_w * part.x_stride;
    }
    part.y = job->args->project ? at->out : part.y + pixel * part.y_stride;
    if (job->args->project)
        part.y_stride = s->out_channels;
    ln_depthwise_nhwc_f32(job->isa, &part, NULL);
}

static void project_rows(const band_job *job, size_t image, row_range out, const band_buffers *at)
{
    const ln_conv_nhwc_f32_args *whole = job->args->project;
    const size_t pixel = pixel_at(&whole->shape, image, out.first);
    ln_conv_nhwc_f32_args part = rows_of_pointwise(whole, out.end - out.first);
    part.x = at->out;
    part.x_stride = whole->shape.in_channels;
    part.y += pixel * whole->y_stride;
    if (part.epilogue.addend)
        part.epilogue.addend += pixel * whole->epilogue.addend_stride;
    ln_direct_f32(job->isa, &part, NULL);
}

// In bands of equal size.
static void run_part(const band_job *job, const band_part *part, band_buffers *at)
{
    const ln_conv_shape *s = &job->args->depthwise->shape;
    const row_range out = part->out;
    const size_t total = out.end - out.first, bands = ln_div_up(total, job->rows);
    at->rows = (row_range){0, 0};
    if (out.first > 0)
        take_edge_above(job, part->task, at);
    for (size_t i = 0; i < bands; i++) {
        const row_range band = {out.first + ln_task_start(total, bands, i),
                                out.first + ln_task_start(total, bands, i + 1)};
        const row_range in = rows_in_sight(s, band);
        if (job->args->expand)
            advance(job, part, in, at);
        filter_rows(job, part->image, band, in, at);
        if (job->args->project)
            project_rows(job, part->image, band, at);
    }
}

static void run_task(void *user, size_t task)
{
    const band_job *job = user;
    const size_t out_h = job->args->depthwise->shape.out_h;
    const size_t end = ln_task_start(job->total, job->tasks, task + 1);
    band_buffers at = {.in = job->slots + task * job->slot};
    at.out = at.in + floats_in_front(&job->size, job->rows);
    for (size_t row = ln_task_start(job->total, job->tasks, task); row < end;) {
        const size_t image = row / out_h, first = row % out_h;
        const size_t count = ln_min(end - row, out_h - first);
        const band_part part = {task, image, {first, first + count}};
        run_part(job, &part, &at);
        row += count;
    }
}

static double work_of(const ln_conv_nhwc_f32_args *conv)
{
    const ln_conv_shape *s = &conv->shape;
    return (double)(s->batch * s->out_h * s->out_w * s->out_channels) *
           (double)(s->in_channels / s->group * s->kernel_h * s->kernel_w);
}

// One for one thread; for more some for each, but not more than their work is worth.
static size_t count_tasks(const ln_band_nhwc_f32_args *args, const band_plan *plan, size_t threads)
{
    double work = work_of(args->depthwise);
    if (args->expand)
        work += work_of(args->expand);
    if (args->project)
        work += work_of(args->project);
    double worth = ln_grain_work(work) / MIN_TASK_WORK;
    size_t count = threads == 1 ? 1 : ln_min(threads, MAX_TASKS) * TASKS_A_THREAD;
    if (worth < (double)count)
        count = worth < 2 ? 1 : (size_t)worth;
    return ln_min(count, plan->tasks);
}

void ln_band_nhwc_f32(ln_cpu_isa isa, const ln_band_nhwc_f32_args *args, ln_pool *pool,
                      float *workspace)
{
    const ln_conv_shape *s = &args->depthwise->shape;
    const ln_conv_nhwc_f32_args *last = args->project ? args->project : args->depthwise;
    assert(args->expand || args->project);
    if (s->batch * s->out_h * s->out_w * last->shape.out_channels == 0)
        return;
    const band_plan plan = plan_of(s, args->expand != NULL, args->project != NULL);
    band_job job = {.args = args,
                    .isa = isa,
                    .size = plan.size,
                    .total = plan.total,
                    .tasks = count_tasks(args, &plan, ln_pool_thread_count(pool)),
                    .edges = workspace};
    const size_t edges = edge_floats(&plan.size, job.tasks);
    job.slots = workspace + edges;
    job.slot = (plan.floats - edges) / job.tasks / 16 * 16;
    job.rows = rows_within(&plan.size, job.slot, s->out_h);
    ln_pool_run(pool, (job.tasks - 1) * plan.size.edge_rows, run_edge_row, &job);
    ln_pool_run(pool, job.tasks, run_task, &job);
}
