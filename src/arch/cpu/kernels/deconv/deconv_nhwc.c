// SPDX-License-Identifier: Apache-2.0
// Drives a transposed convolution as a convolution of stride 1 for each phase of the stride.
//
// A band of rows of a phase is made in the workspace by the drivers of ordinary convolutions, and
// copied from there, while it is in a cache, to its places between the outputs of other phases.

#include "arch/cpu/kernels/deconv/deconv_nhwc.h"

#include <stdint.h>
#include <string.h>

#include "arch/cpu/kernels/deconv/deconv_phase.h"
#include "arch/cpu/kernels/depthwise/depthwise.h"
#include "arch/cpu/kernels/direct/direct.h"
#include "arch/cpu/kernels/gemm/partition.h"
#include "arch/cpu/kernels/gemm/tile.h"
#include "arch/cpu/kernels/transpose/copy_rows.h"
#include "base/checked.h"
#include "base/grain.h"

// Floats of a band, unless a row has more: they stay in the cache of the second level.
#define BAND_FLOATS ((size_t)32 << 10)
#define MAX_SLOTS   ((size_t)8)
// Multiplications that are worth a task.
#define TASK_WORK   2e6

// ---- Packing ----

static bool is_depthwise(const ln_conv_shape *s)
{
    return s->group > 1 && s->in_channels == s->group && s->out_channels == s->group;
}

// Floats of packed weights for each tap.
static size_t tap_floats(const ln_conv_shape *s)
{
    if (is_depthwise(s))
        return s->group;
    size_t of_group = s->out_channels / s->group;
    return s->in_channels * ln_div_up(of_group, LN_TILE_LANES) * LN_TILE_LANES;
}

// Taps of one axis in the phases that start with a tap below `tap`.
static size_t taps_before(size_t tap, size_t kernel, size_t tap_step)
{
    return tap * (kernel / tap_step) + ln_min(tap, kernel % tap_step);
}

static const float *phase_weights(const ln_conv_nhwc_f32_args *a, const ln_deconv_phase *rows,
                                  const ln_deconv_phase *cols)
{
    const ln_conv_shape *s = &a->shape;
    size_t taps = taps_before(rows->tap, s->kernel_h, rows->tap_step) * s->kernel_w +
                  taps_before(cols->tap, s->kernel_w, cols->tap_step) * rows->tap_count;
    return a->packed + taps * tap_floats(s);
}

// The taps of a phase on one axis: `start` and those every `step` after it.
typedef struct tap_walk {
    size_t start, step;
} tap_walk;

static size_t last_of_phase(size_t start, size_t kernel, size_t step)
{
    return start + (kernel - 1 - start) / step * step;
}

// One tap, for the inputs of a group and a panel of its outputs. Returns where the next one goes.
static float *pack_tap(const ln_conv_shape *s, const float *weight, size_t panel_first, size_t tap,
                       float *packed)
{
    size_t in = s->in_channels / s->group, of_group = s->out_channels / s->group;
    size_t taps = s->kernel_h * s->kernel_w;
    size_t count = ln_min(of_group - panel_first, LN_TILE_LANES);
    for (size_t c = 0; c < in; c++) {
        const float *from = weight + (c * of_group + panel_first) * taps + tap;
        for (size_t o = 0; o < LN_TILE_LANES; o++)
            packed[o] = o < count ? from[o * taps] : 0;
        packed += LN_TILE_LANES;
    }
    return packed;
}

// Taps from the last to the first, so that their places in the input ascend.
static float *pack_phase(const ln_conv_shape *s, const float *weight, tap_walk rows, tap_walk cols,
                         float *packed)
{
    size_t in = s->in_channels / s->group, of_group = s->out_channels / s->group;
    size_t group_floats = in * of_group * s->kernel_h * s->kernel_w;
    size_t last_row = last_of_phase(rows.start, s->kernel_h, rows.step);
    size_t last_col = last_of_phase(cols.start, s->kernel_w, cols.step);
    if (is_depthwise(s)) {
        for (size_t v = last_row + rows.step; v > rows.start; v -= rows.step)
            for (size_t u = last_col + cols.step; u > cols.start; u -= cols.step)
                for (size_t c = 0; c < s->group; c++)
                    *packed++ = weight[c * s->kernel_h * s->kernel_w +
                                       (v - rows.step) * s->kernel_w + u - cols.step];
        return packed;
    }
    for (size_t g = 0; g < s->group; g++)
        for (size_t first = 0; first < of_group; first += LN_TILE_LANES)
            for (size_t v = last_row + rows.step; v > rows.start; v -= rows.step)
                for (size_t u = last_col + cols.step; u > cols.start; u -= cols.step)
                    packed = pack_tap(s, weight + g * group_floats, first,
                                      (v - rows.step) * s->kernel_w + u - cols.step, packed);
    return packed;
}

// How far apart the taps of a phase are.
static size_t tap_step(size_t dilation, size_t stride)
{
    return ln_deconv_find_phase(0, 1, 0, 1, dilation, stride).tap_step;
}

void ln_deconv_nhwc_f32_pack(const ln_conv_shape *s, const float *weight, float *packed)
{
    size_t row_step = tap_step(s->dilation_h, s->stride_h);
    size_t col_step = tap_step(s->dilation_w, s->stride_w);
    for (size_t v = 0; v < row_step && v < s->kernel_h; v++)
        for (size_t u = 0; u < col_step && u < s->kernel_w; u++)
            packed = pack_phase(s, weight, (tap_walk){.start = v, .step = row_step},
                                (tap_walk){.start = u, .step = col_step}, packed);
}

// ---- Planning ----

typedef struct plan {
    size_t row_phases, col_phases;
    size_t band_rows, bands; // of a phase
    size_t slot_floats;
    size_t items; // bands of all phases and images
    size_t slots;
} plan;

// A phase of one axis as a convolution: the window of its first output starts at `start` - `pad`.
typedef struct phase_axis {
    ln_deconv_phase phase;
    size_t distance; // of its taps, in inputs
    size_t start, pad;
} phase_axis;

static phase_axis axis_at(size_t first, size_t in, size_t out, size_t pad, size_t kernel,
                          size_t dilation, size_t stride)
{
    phase_axis axis = {.phase = ln_deconv_find_phase(first, out, pad, kernel, dilation, stride)};
    const ln_deconv_phase *p = &axis.phase;
    axis.distance = p->tap_step * dilation / stride;
    if (p->tap_count == 0)
        return axis;
    size_t reach = (p->tap_count - 1) * axis.distance + p->tap * dilation / stride;
    axis.start = p->source > reach ? ln_min(p->source - reach, in) : 0;
    axis.pad = reach > p->source ? reach - p->source : 0;
    return axis;
}

static phase_axis row_axis(const ln_conv_shape *s, size_t first)
{
    return axis_at(first, s->in_h, s->out_h, s->pad_top, s->kernel_h, s->dilation_h, s->stride_h);
}

static phase_axis col_axis(const ln_conv_shape *s, size_t first)
{
    return axis_at(first, s->in_w, s->out_w, s->pad_left, s->kernel_w, s->dilation_w, s->stride_w);
}

// Outputs of a row that are computed: some in front of the phase's first, where its windows would
// start after the first column of the image.
static size_t row_length(const phase_axis *axis)
{
    return axis->start + axis->phase.count;
}

static double work_of(const ln_conv_shape *s)
{
    return (double)(s->batch * s->in_h * s->in_w) * (double)(s->in_channels / s->group) *
           (double)(s->out_channels * s->kernel_h) * (double)s->kernel_w;
}

static bool make_plan(const ln_conv_shape *s, plan *out)
{
    *out = (plan){.row_phases = ln_min(s->stride_h, s->out_h),
                  .col_phases = ln_min(s->stride_w, s->out_w)};
    size_t length = 0, row, rows = ln_div_up(s->out_h, s->stride_h);
    for (size_t i = 0; i < out->col_phases; i++) {
        phase_axis axis = col_axis(s, i);
        length = row_length(&axis) > length ? row_length(&axis) : length;
    }
    if (!ln_size_mul(length, s->out_channels, &row))
        return false;
    const size_t most = ln_grain(BAND_FLOATS);
    out->band_rows = row < most ? ln_min(most / (row ? row : 1), rows) : 1;
    out->band_rows = out->band_rows ? out->band_rows : 1;
    out->bands = ln_div_up(rows, out->band_rows);
    size_t in_batch = out->bands * out->row_phases * out->col_phases;
    if (!ln_size_mul(row, out->band_rows, &out->slot_floats) ||
        !ln_size_mul(in_batch, s->batch, &out->items))
        return false;
    double tasks = work_of(s) / TASK_WORK;
    out->slots = tasks < (double)MAX_SLOTS ? (size_t)tasks + 1 : MAX_SLOTS;
    out->slots = ln_min(out->slots, out->items ? out->items : 1);
    return true;
}

size_t ln_deconv_nhwc_f32_workspace(const ln_conv_shape *shape)
{
    plan p;
    size_t floats, bytes;
    if (!make_plan(shape, &p) || !ln_size_mul(p.slot_floats, p.slots, &floats) ||
        !ln_size_mul(floats, sizeof(float), &bytes))
        return SIZE_MAX;
    return bytes;
}

// ---- Bands ----

typedef struct deconv_job {
    ln_cpu_isa isa;
    const ln_conv_nhwc_f32_args *args;
    plan plan;
    float *workspace;
    size_t tasks;
} deconv_job;

// Rows [row, row_end) of a phase.
typedef struct band {
    phase_axis rows, cols;
    size_t image, row, row_end;
} band;

// The shape of the convolution that makes a band, of which an image's rows before `start` are cut.
static ln_conv_shape band_shape(const ln_conv_shape *s, const band *b, size_t start)
{
    size_t first = b->rows.start + b->row; // places, of which the padding comes first
    return (ln_conv_shape){.batch = 1,
                           .group = s->group,
                           .in_channels = s->in_channels,
                           .out_channels = s->out_channels,
                           .in_h = s->in_h - start,
                           .in_w = s->in_w,
                           .out_h = b->row_end - b->row,
                           .out_w = row_length(&b->cols),
                           .kernel_h = b->rows.phase.tap_count,
                           .kernel_w = b->cols.phase.tap_count,
                           .stride_h = 1,
                           .stride_w = 1,
                           .dilation_h = b->rows.distance,
                           .dilation_w = b->cols.distance,
                           .pad_top = b->rows.pad > first ? b->rows.pad - first : 0,
                           .pad_left = b->cols.pad};
}

// No tap reaches them: sums of nothing.
static ln_conv_shape empty_shape(const ln_conv_shape *s, const band *b)
{
    return (ln_conv_shape){.batch = 1,
                           .group = 1,
                           .out_channels = s->out_channels,
                           .in_h = b->row_end - b->row,
                           .in_w = row_length(&b->cols),
                           .out_h = b->row_end - b->row,
                           .out_w = row_length(&b->cols),
                           .kernel_h = 1,
                           .kernel_w = 1,
                           .stride_h = 1,
                           .stride_w = 1,
                           .dilation_h = 1,
                           .dilation_w = 1};
}

static void compute_band(const deconv_job *job, const band *b, float *slot)
{
    const ln_conv_nhwc_f32_args *a = job->args;
    const ln_conv_shape *s = &a->shape;
    size_t first = b->rows.start + b->row;
    size_t start = first > b->rows.pad ? ln_min(first - b->rows.pad, s->in_h) : 0;
    bool is_empty = b->rows.phase.tap_count == 0 || b->cols.phase.tap_count == 0;
    ln_conv_nhwc_f32_args band_args = {
        .shape = is_empty ? empty_shape(s, b) : band_shape(s, b, start),
        .x = a->x + (b->image * s->in_h + start) * s->in_w * a->x_stride,
        .x_stride = is_empty ? 0 : a->x_stride,
        .packed = is_empty ? a->packed : phase_weights(a, &b->rows.phase, &b->cols.phase),
        .y = slot,
        .y_stride = s->out_channels,
        .epilogue = a->epilogue,
    };
    if (is_depthwise(s) && !is_empty)
        ln_depthwise_nhwc_f32(job->isa, &band_args, NULL);
    else
        ln_direct_f32(job->isa, &band_args, NULL);
}

static void copy_band(const deconv_job *job, const band *b, const float *slot)
{
    const ln_conv_nhwc_f32_args *a = job->args;
    const ln_conv_shape *s = &a->shape;
    size_t length = row_length(&b->cols);
    for (size_t row = b->row; row < b->row_end; row++) {
        size_t y = b->image * s->out_h + b->rows.phase.first + row * s->stride_h;
        const float *from = slot + ((row - b->row) * length + b->cols.start) * s->out_channels;
        ln_copy_rows_args copy = {
            .rows = b->cols.phase.count,
            .row_bytes = s->out_channels * sizeof(float),
            .x = from,
            .x_step = s->out_channels * sizeof(float),
            .y = a->y + (y * s->out_w + b->cols.phase.first) * a->y_stride,
            .y_step = s->stride_w * a->y_stride * sizeof(float),
        };
        ln_copy_rows(&copy, NULL);
    }
}

static void run_item(const deconv_job *job, size_t item, float *slot)
{
    const ln_conv_shape *s = &job->args->shape;
    const plan *p = &job->plan;
    size_t col = item % p->col_phases, row = item / p->col_phases % p->row_phases;
    size_t index = item / p->col_phases / p->row_phases;
    band b = {.rows = row_axis(s, row), .cols = col_axis(s, col), .image = index / p->bands};
    b.row = ln_min(index % p->bands * p->band_rows, b.rows.phase.count);
    b.row_end = ln_min(b.row + p->band_rows, b.rows.phase.count);
    if (b.row == b.row_end)
        return;
    compute_band(job, &b, slot);
    copy_band(job, &b, slot);
}

static void run_task(void *user, size_t index)
{
    const deconv_job *job = user;
    size_t end = ln_task_start(job->plan.items, job->tasks, index + 1);
    for (size_t i = ln_task_start(job->plan.items, job->tasks, index); i < end; i++)
        run_item(job, i, job->workspace + index * job->plan.slot_floats);
}

void ln_deconv_nhwc_f32(ln_cpu_isa isa, const ln_conv_nhwc_f32_args *args, ln_pool *pool,
                        float *workspace)
{
    const ln_conv_shape *s = &args->shape;
    deconv_job job = {.isa = isa, .args = args, .workspace = workspace};
    if (s->batch * s->out_h * s->out_w * s->out_channels == 0 || !make_plan(s, &job.plan))
        return;
    job.tasks = ln_pool_thread_count(pool) == 1 ? 1 : job.plan.slots;
    ln_pool_run(pool, job.tasks, run_task, &job);
}
