// SPDX-License-Identifier: Apache-2.0
// Drives the rows of conv_i8/ and maxpool_i8.h over bands.
//
// A task is a run of rows of results. It goes downwards, band by band, makes the lines that the
// windows of a band look at, and moves those that the next band looks at again to the front of its
// buffer. Lines that two tasks look at are made by both.

#include "arch/cpu/kernels/band/band_i8.h"

#include <assert.h>
#include <string.h>

#include "arch/cpu/kernels/tasks.h"
#include "base/checked.h"

// What stays in a second cache beside weights, inputs and outputs.
#define BAND_BYTES ((size_t)128 << 10)

#define MAX_TASKS     ((size_t)8) // with a buffer each
#define MIN_TASK_ROWS ((size_t)4)
#define MIN_BAND_ROWS ((size_t)2)

// Buffers of all tasks are at most this part of the image that is not stored.
#define IMAGE_PART 4

// ---- Sizes ----

typedef struct band_size {
    ln_window_1d windows; // from top to bottom
    size_t out_h, total;  // rows of results, of an image and of all of them
    size_t line;          // bytes of a line between
    size_t scratch;       // bytes that a task makes lines with
    size_t shared;        // bytes that all tasks read
    size_t tasks;         // at most
    size_t bytes;         // of workspace
} band_size;

static size_t round_up(size_t bytes)
{
    return ln_size_times(ln_size_plus(bytes, 63) / 64, 64);
}

static size_t lines_of(const band_size *size, size_t rows)
{
    const ln_window_1d *w = &size->windows;
    const size_t window = ln_size_plus(ln_size_times(w->kernel - 1, w->dilation), 1);
    return ln_min(ln_size_plus(ln_size_times(rows - 1, w->stride), window), w->in);
}

// A task's buffer, which may be read a block of channels beyond its end, and what it works with.
static size_t slot_of(const band_size *size, size_t rows)
{
    const size_t lines =
        ln_size_plus(ln_size_times(lines_of(size, rows), size->line), LN_TAPS_I8_MAX_CHANNELS);
    return ln_size_plus(round_up(lines), size->scratch);
}

// The rows of a band whose buffer has at most so many bytes, at least one.
static size_t rows_within(const band_size *size, size_t slot)
{
    size_t rows = 1;
    while (rows < size->out_h && slot_of(size, rows + 1) <= slot)
        rows++;
    return rows;
}

static band_size size_of(const ln_conv_shape *conv, const ln_conv_shape *depthwise,
                         const ln_window_1d *windows, size_t out_h)
{
    band_size size = {
        .windows = *windows,
        .out_h = out_h,
        .total = ln_size_times(conv->batch, out_h),
        .line = ln_size_times(conv->out_w, conv->out_channels),
        .scratch = round_up(ln_conv_i8_rows_workspace(conv)),
        .shared = depthwise ? round_up(ln_depthwise_i8_workspace(depthwise)) : 0,
    };
    if (size.total == 0)
        return size;
    const size_t image = ln_size_times(ln_size_times(conv->batch, conv->out_h), size.line);
    const size_t least = slot_of(&size, ln_min(MIN_BAND_ROWS, out_h));
    const size_t one = slot_of(&size, rows_within(&size, ln_grain(BAND_BYTES)));
    size.tasks = ln_min(size.total / MIN_TASK_ROWS, MAX_TASKS);
    size.tasks = ln_min(size.tasks, image / IMAGE_PART / least);
    size.tasks += size.tasks == 0;
    size.bytes = ln_size_plus(size.shared, ln_max(one, ln_size_times(size.tasks, least)));
    return size;
}

size_t ln_band_i8_workspace(const ln_conv_shape *conv, const ln_conv_shape *depthwise,
                            const ln_window_1d *windows, size_t out_h)
{
    return size_of(conv, depthwise, windows, out_h).bytes;
}

// ---- Bands ----

typedef struct row_range {
    size_t first, end;
} row_range;

typedef struct band_job {
    const ln_band_i8_args *args;
    ln_cpu_isa isa;
    band_size size;
    ln_depthwise_i8 depthwise;
    size_t tasks, rows; // rows of results in a band, at most
    size_t slot;        // bytes
    char *slots;
} band_job;

// What a task has at hand.
typedef struct band_lines {
    uint8_t *at;
    row_range have; // of the image between
    void *scratch;
} band_lines;

// The lines that windows of these rows look at.
static row_range lines_in_sight(const ln_window_1d *w, row_range rows)
{
    const size_t first = rows.first * w->stride, window = (w->kernel - 1) * w->dilation + 1;
    const size_t after = (rows.end - 1) * w->stride + window;
    const row_range lines = {.first = first < w->pad ? 0 : first - w->pad,
                             .end = after < w->pad ? 0 : ln_min(after - w->pad, w->in)};
    return lines.first < lines.end ? lines : (row_range){0, 0};
}

// Makes the lines those that are wanted.
static void advance(const band_job *job, size_t image, row_range wanted, band_lines *lines)
{
    const ln_conv_i8_args *conv = job->args->conv;
    const size_t line = job->size.line;
    const row_range have = lines->have;
    size_t first = wanted.first;
    if (have.first <= wanted.first && wanted.first < have.end) {
        first = ln_min(have.end, wanted.end);
        memmove(lines->at, lines->at + (wanted.first - have.first) * line,
                (first - wanted.first) * line);
    }
    if (first < wanted.end)
        ln_conv_i8_rows(job->isa, conv, image * conv->shape.out_h + first, wanted.end - first,
                        lines->at + (first - wanted.first) * line, lines->scratch);
    lines->have = wanted;
}

static void make_row(const band_job *job, const band_lines *lines, size_t image, size_t row)
{
    const ln_band_i8_args *a = job->args;
    const size_t count = lines->have.end - lines->have.first;
    const ln_lines_i8 at = {.at = lines->at,
                            .end = lines->at + count * job->size.line + LN_TAPS_I8_MAX_CHANNELS,
                            .first = lines->have.first};
    const size_t out_w = a->depthwise ? a->depthwise->shape.out_w : a->pool->out_w;
    uint8_t *y =
        (uint8_t *)a->y + (image * job->size.out_h + row) * out_w * a->conv->shape.out_channels;
    if (a->depthwise)
        ln_depthwise_i8_row(&job->depthwise, &at, row, y);
    else
        ln_maxpool_i8_row(job->isa, a->pool, &at, row, y);
}

// Rows of one image, in bands of equal size.
static void run_part(const band_job *job, size_t image, row_range part, band_lines *lines)
{
    const size_t total = part.end - part.first, bands = ln_div_up(total, job->rows);
    lines->have = (row_range){0, 0};
    for (size_t i = 0; i < bands; i++) {
        const row_range band = {part.first + ln_task_start(total, bands, i),
                                part.first + ln_task_start(total, bands, i + 1)};
        advance(job, image, lines_in_sight(&job->size.windows, band), lines);
        for (size_t row = band.first; row < band.end; row++)
            make_row(job, lines, image, row);
    }
}

static void run_task(void *user, size_t task)
{
    const band_job *job = user;
    const size_t out_h = job->size.out_h,
                 end = ln_task_start(job->size.total, job->tasks, task + 1);
    band_lines lines = {.at = (uint8_t *)job->slots + task * job->slot};
    lines.scratch = lines.at + (job->slot - job->size.scratch);
    for (size_t row = ln_task_start(job->size.total, job->tasks, task), count; row < end;
         row += count) {
        count = ln_min(end - row, out_h - row % out_h);
        run_part(job, row / out_h, (row_range){row % out_h, row % out_h + count}, &lines);
    }
}

// As many as threads: lines that two tasks look at are made twice.
static size_t count_tasks(const band_job *job, ln_pool *pool)
{
    const ln_conv_shape *s = &job->args->conv->shape;
    const double products = (double)(s->batch * s->out_h) * (double)job->size.line *
                            (double)(s->in_channels / s->group * s->kernel_h * s->kernel_w);
    const size_t worth =
        ln_tasks_wanted(products / LN_PRODUCTS_PER_MICROSECOND, ln_pool_thread_count(pool));
    return ln_min(ln_min(worth, ln_pool_thread_count(pool)), job->size.tasks);
}

void ln_band_i8(ln_cpu_isa isa, const ln_band_i8_args *args, void *workspace, ln_pool *pool)
{
    const ln_conv_shape *s = args->depthwise ? &args->depthwise->shape : NULL;
    const ln_window_1d windows = s ? ln_conv_rows(s) : args->pool->rows;
    const size_t out_h = s ? s->out_h : args->pool->out_h;
    const size_t out_w = s ? s->out_w : args->pool->out_w;
    assert(!ln_conv_i8_is_depthwise(&args->conv->shape));
    band_job job = {
        .args = args, .isa = isa, .size = size_of(&args->conv->shape, s, &windows, out_h)};
    if (job.size.bytes == 0 || out_w == 0)
        return;
    job.tasks = count_tasks(&job, pool);
    job.slots = (char *)workspace + job.size.shared;
    job.slot = (job.size.bytes - job.size.shared) / job.tasks / 64 * 64;
    job.rows = rows_within(&job.size, job.slot);
    if (s)
        ln_depthwise_i8_begin(isa, args->depthwise, workspace, &job.depthwise);
    ln_pool_run(pool, job.tasks, run_task, &job);
}
