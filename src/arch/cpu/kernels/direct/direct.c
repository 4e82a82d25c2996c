// SPDX-License-Identifier: Apache-2.0
// Drives the tile kernel (gemm/tile.h) over channels-last images.
//
// Outputs are numbered through images, rows and columns; a tile is some that follow each other. The
// window of an output is a row of the product: a run for each kernel row, because the channels of
// neighbouring pixels follow each other, or for each pixel where they do not. Where some windows of
// a tile reach outside the image, the runs there are made by the others alone, with sums that wait
// in memory in between. So nothing is copied, and padding costs nothing.

#include "arch/cpu/kernels/direct/direct.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "arch/cpu/kernels/few_inputs/few_inputs.h"
#include "arch/cpu/kernels/gemm/partition.h"
#include "arch/cpu/kernels/gemm/tile.h"
#include "arch/cpu/kernels/grouped/grouped.h"

// Runs that a tile makes in one go. Kernels with more make several.
#define MAX_RUNS 32

// ---- Packing ----

void ln_direct_f32_pack(const ln_conv_shape *s, const float *weight, float *packed)
{
    size_t of_group = s->out_channels / s->group, in = s->in_channels / s->group;
    size_t taps = s->kernel_h * s->kernel_w;
    for (size_t g = 0; g < s->group; g++) {
        for (size_t first = 0; first < of_group; first += LN_TILE_LANES) {
            const float *from = weight + (g * of_group + first) * in * taps;
            size_t count = ln_min(of_group - first, LN_TILE_LANES);
            for (size_t tap = 0; tap < taps; tap++) {
                for (size_t c = 0; c < in; c++) {
                    for (size_t o = 0; o < LN_TILE_LANES; o++)
                        packed[o] = o < count ? from[(o * in + c) * taps + tap] : 0;
                    packed += LN_TILE_LANES;
                }
            }
        }
    }
}

// ---- The job ----

typedef struct direct_job {
    const ln_conv_nhwc_f32_args *args;
    const ln_tile_f32_kernel *kernel;
    ln_tile_f32_size size;
    size_t in, of_group; // channels of a group
    size_t panels;       // of a group
    size_t panel_stride; // floats
    // Tiles of neighbours: from each of `lines` runs of `line` outputs those of [inner, inner_end).
    size_t lines, line, inner, inner_end, inner_tiles;
    size_t tile_rows, longer_tiles; // of these: rows of a tile, and how many have one more
    bool is_pointwise;              // windows are neighbouring pixels: `lines` is 1
    bool is_by_rows;                // lines are rows of an image
    // Tiles of the columns of outputs on both sides of these, from top to bottom of an image.
    size_t columns, column_tiles;
    bool is_stream;
    size_t chunk; // panels that all tiles of a task meet before the next ones
    size_t sets;  // of panels that a tile takes, in a group
    ln_partition tasks;
    ln_tile_f32_run runs[MAX_RUNS]; // of a window inside the image
    size_t run_count;               // 0: they are more than MAX_RUNS
} direct_job;

// Outputs number first, first + step, ...: neighbours, or some in a column.
typedef struct output_tile {
    size_t first, m, step;
} output_tile;

// The outputs of a tile, and where their windows start.
typedef struct window_rows {
    size_t m;
    ptrdiff_t rows[LN_TILE_MAX_ROWS]; // floats
    bool is_inside;
    ptrdiff_t y[LN_TILE_MAX_ROWS], x[LN_TILE_MAX_ROWS]; // pixels, unless all are inside
} window_rows;

static ln_tile_f32_run run_at(const direct_job *job, size_t ky, size_t kx)
{
    const ln_conv_shape *s = &job->args->shape;
    size_t pixels = ky * s->dilation_h * s->in_w + kx * s->dilation_w;
    return (ln_tile_f32_run){.x = (ptrdiff_t)(pixels * job->args->x_stride),
                             .panel = (ky * s->kernel_w + kx) * job->in * LN_TILE_LANES,
                             .k = job->in};
}

static bool is_continued(const ln_tile_f32_run *run, const ln_tile_f32_run *next)
{
    return run->x + (ptrdiff_t)run->k == next->x &&
           run->panel + run->k * LN_TILE_LANES == next->panel;
}

static void list_runs(direct_job *job)
{
    const ln_conv_shape *s = &job->args->shape;
    job->run_count = 0;
    for (size_t ky = 0; ky < s->kernel_h; ky++) {
        for (size_t kx = 0; kx < s->kernel_w; kx++) {
            ln_tile_f32_run run = run_at(job, ky, kx);
            if (job->run_count && is_continued(&job->runs[job->run_count - 1], &run)) {
                job->runs[job->run_count - 1].k += run.k;
                continue;
            }
            if (job->run_count == MAX_RUNS) {
                job->run_count = 0;
                return;
            }
            job->runs[job->run_count++] = run;
        }
    }
}

// ---- Tiles ----

// Windows of one row of outputs that are all inside the image.
static bool place_inner_windows(const direct_job *job, size_t image, size_t row, size_t column,
                                size_t step, window_rows *out)
{
    const ln_conv_shape *s = &job->args->shape;
    size_t y = row * s->stride_h, x = column * s->stride_w;
    size_t last = x + (out->m - 1) * s->stride_w;
    if (step != 1 || y < s->pad_top || x < s->pad_left || column + out->m > s->out_w ||
        y - s->pad_top + (s->kernel_h - 1) * s->dilation_h >= s->in_h ||
        last - s->pad_left + (s->kernel_w - 1) * s->dilation_w >= s->in_w)
        return false;
    size_t line = image * s->in_h + y - s->pad_top;
    size_t first = (line * s->in_w + x - s->pad_left) * job->args->x_stride;
    size_t distance = s->stride_w * job->args->x_stride;
    for (size_t i = 0; i < out->m; i++)
        out->rows[i] = (ptrdiff_t)(first + i * distance);
    return true;
}

static void place_windows(const direct_job *job, const output_tile *tile, window_rows *out)
{
    const ln_conv_shape *s = &job->args->shape;
    if (job->is_pointwise) { // far cheaper than the rest, which needs divisions
        const size_t distance = job->args->x_stride;
        out->m = tile->m;
        out->is_inside = true;
        for (size_t i = 0; i < tile->m; i++)
            out->rows[i] = (ptrdiff_t)((tile->first + i) * distance);
        return;
    }
    size_t column = tile->first % s->out_w, row = tile->first / s->out_w % s->out_h;
    size_t image = tile->first / s->out_w / s->out_h, m = tile->m;
    ptrdiff_t height = (ptrdiff_t)((s->kernel_h - 1) * s->dilation_h);
    ptrdiff_t width = (ptrdiff_t)((s->kernel_w - 1) * s->dilation_w);
    out->m = m;
    out->is_inside = true;
    if (job->run_count && place_inner_windows(job, image, row, column, tile->step, out))
        return;
    for (size_t i = 0; i < m; i++) {
        ptrdiff_t y = (ptrdiff_t)(row * s->stride_h) - (ptrdiff_t)s->pad_top;
        ptrdiff_t x = (ptrdiff_t)(column * s->stride_w) - (ptrdiff_t)s->pad_left;
        ptrdiff_t line = (ptrdiff_t)(image * s->in_h) + y;
        out->y[i] = y;
        out->x[i] = x;
        out->rows[i] = (line * (ptrdiff_t)s->in_w + x) * (ptrdiff_t)job->args->x_stride;
        if (y < 0 || x < 0 || y + height >= (ptrdiff_t)s->in_h || x + width >= (ptrdiff_t)s->in_w)
            out->is_inside = false;
        if (tile->step == 1 && ++column < s->out_w)
            continue;
        if (tile->step == 1)
            column = 0;
        if (++row < s->out_h)
            continue;
        row = 0;
        image++;
    }
}

// A bit for each window whose places at this distance are inside the image.
static uint32_t inside(const ptrdiff_t *starts, size_t m, size_t distance, size_t extent)
{
    uint32_t mask = 0;
    for (size_t i = 0; i < m; i++)
        mask |= (uint32_t)((size_t)starts[i] + distance < extent) << i;
    return mask;
}

// Adds runs to the sums of the windows in `mask`.
static void add_runs(const direct_job *job, const window_rows *windows, uint32_t mask,
                     const ln_tile_f32_args *tile, ln_tile_f32_sums sums)
{
    ptrdiff_t rows[LN_TILE_MAX_ROWS];
    float *places[LN_TILE_MAX_ROWS];
    ln_tile_f32_args part = *tile;
    part.m = 0;
    for (size_t i = 0; i < windows->m; i++) {
        if (!(mask >> i & 1))
            continue;
        rows[part.m] = windows->rows[i];
        places[part.m++] = sums[i];
    }
    part.rows = rows;
    part.sums = places;
    part.starts_from_sums = part.ends_in_sums = true;
    job->kernel->run(&part);
}

// A tile of which some windows reach outside, or whose runs are too many for one go.
static void run_at_border(const direct_job *job, const window_rows *windows, ln_tile_f32_args *tile)
{
    const ln_conv_shape *s = &job->args->shape;
    _Alignas(64) ln_tile_f32_sums sums;
    float *places[LN_TILE_MAX_ROWS];
    ln_tile_f32_run runs[MAX_RUNS];
    uint32_t mask = 0;
    size_t count = 0;

    for (size_t i = 0; i < windows->m; i++) {
        memset(sums[i], 0, ln_div_up(tile->n, LN_TILE_LANES) * LN_TILE_LANES * sizeof(float));
        places[i] = sums[i];
    }
    tile->runs = runs;
    for (size_t ky = 0; ky < s->kernel_h; ky++) {
        uint32_t row_mask = inside(windows->y, windows->m, ky * s->dilation_h, s->in_h);
        for (size_t kx = 0; row_mask && kx < s->kernel_w; kx++) {
            uint32_t now = row_mask & inside(windows->x, windows->m, kx * s->dilation_w, s->in_w);
            if (!now)
                continue;
            ln_tile_f32_run run = run_at(job, ky, kx);
            if (count && now == mask && is_continued(&runs[count - 1], &run)) {
                runs[count - 1].k += run.k;
                continue;
            }
            if (count && (now != mask || count == MAX_RUNS)) {
                tile->run_count = count;
                add_runs(job, windows, mask, tile, sums);
                count = 0;
            }
            mask = now;
            runs[count++] = run;
        }
    }
    if (count && mask != (1u << windows->m) - 1) {
        tile->run_count = count;
        add_runs(job, windows, mask, tile, sums);
        count = 0;
    }
    tile->run_count = count;
    tile->sums = places;
    tile->starts_from_sums = true;
    job->kernel->run(tile);
}

// What the tiles of some panels of a group have in common. The rest is written into `tile` for each
// of them, a word at a time: what goes through vector registers would wait for the sums of the tile
// before.
typedef struct panel_tiles {
    const direct_job *job;
    ln_tile_f32_args tile;
    float *y;            // of output 0
    const float *addend; // NULL: none
} panel_tiles;

static void start_panels(const direct_job *job, size_t group, size_t panel, size_t panel_end,
                         panel_tiles *out)
{
    const ln_conv_nhwc_f32_args *a = job->args;
    size_t column = panel * LN_TILE_LANES, channel = group * job->of_group + column;
    *out = (panel_tiles){
        .job = job,
        .tile = {.n = ln_min(job->of_group, panel_end * LN_TILE_LANES) - column,
                 .width = ln_min(job->size.panels, panel_end - panel),
                 .x = a->x + group * job->in,
                 .runs = job->runs,
                 .run_count = job->run_count,
                 .panels = a->packed + (group * job->panels + panel) * job->panel_stride,
                 .panel_stride = job->panel_stride,
                 .epilogue = a->epilogue},
        .y = a->y + channel,
        .addend = a->epilogue.addend ? a->epilogue.addend + channel : NULL,
    };
    if (a->epilogue.bias)
        out->tile.epilogue.bias += channel;
}

// As run_at_border, for more panels than are made at once.
static void run_sets_at_border(const direct_job *job, const window_rows *windows,
                               const ln_tile_f32_args *tile)
{
    const size_t columns = tile->width * LN_TILE_LANES;
    for (size_t column = 0; column < tile->n; column += columns) {
        ln_tile_f32_args set = *tile;
        set.n = ln_min(columns, tile->n - column);
        set.width = 0;
        set.panels += column / LN_TILE_LANES * tile->panel_stride;
        set.y += column;
        if (set.epilogue.bias)
            set.epilogue.bias += column;
        if (set.epilogue.addend)
            set.epilogue.addend += column;
        if (column)
            set.next = 0;
        run_at_border(job, windows, &set);
    }
}

// The tile and, where its windows are inside the image, `more` tiles that follow it in its row.
// Returns how many tiles these are.
static size_t run_tile(panel_tiles *panels, const output_tile *outputs, size_t more, size_t ahead)
{
    const direct_job *job = panels->job;
    const ln_conv_nhwc_f32_args *a = job->args;
    ln_tile_f32_args *tile = &panels->tile;
    window_rows windows;
    place_windows(job, outputs, &windows);
    tile->m = outputs->m;
    tile->rows = windows.rows;
    const bool is_one_go = windows.is_inside && job->run_count;
    tile->more_tiles = is_one_go ? more : 0;
    tile->ahead = ahead;
    // The next tile's windows, unless they have gaps between them.
    tile->next = 0;
    tile->tile_step = (ptrdiff_t)(outputs->m * a->shape.stride_w * a->x_stride);
    if (a->shape.stride_w <= a->shape.kernel_w && outputs->step == 1)
        tile->next = windows.rows[windows.m - 1] - windows.rows[0] +
                     (ptrdiff_t)(a->shape.stride_w * a->x_stride);
    tile->y = panels->y + outputs->first * a->y_stride;
    tile->y_stride = outputs->step * a->y_stride;
    if (panels->addend)
        tile->epilogue.addend = panels->addend + outputs->first * a->epilogue.addend_stride;
    tile->epilogue.addend_stride = outputs->step * a->epilogue.addend_stride;
    if (is_one_go)
        job->kernel->run(tile);
    else
        run_sets_at_border(job, &windows, tile);
    return 1 + tile->more_tiles;
}

static size_t tile_count(const direct_job *job)
{
    return job->lines * job->inner_tiles +
           job->columns * job->column_tiles * job->args->shape.batch;
}

static output_tile tile_at(const direct_job *job, size_t tile)
{
    const ln_conv_shape *s = &job->args->shape;
    size_t inner_count = job->lines * job->inner_tiles;
    if (tile < inner_count) {
        size_t line = job->lines == 1 ? 0 : tile / job->inner_tiles;
        size_t index = tile - line * job->inner_tiles;
        size_t start = job->tile_rows * index + ln_min(job->longer_tiles, index);
        size_t m = job->tile_rows + (index < job->longer_tiles);
        return (output_tile){line * job->line + job->inner + start, m, 1};
    }
    tile -= inner_count;
    size_t index = tile % job->column_tiles, column = tile / job->column_tiles % job->columns;
    size_t image = tile / job->column_tiles / job->columns;
    size_t start = ln_task_start(s->out_h, job->column_tiles, index);
    size_t end = ln_task_start(s->out_h, job->column_tiles, index + 1);
    if (column >= job->inner)
        column += job->inner_end - job->inner;
    return (output_tile){(image * s->out_h + start) * s->out_w + column, end - start, s->out_w};
}

// How many tiles of neighbours that have as many rows follow a tile in its row.
static size_t tiles_after(const direct_job *job, size_t tile, size_t tile_end)
{
    if (!job->is_pointwise && !job->is_by_rows)
        return 0;
    const size_t index = tile % job->inner_tiles;
    const size_t end = index < job->longer_tiles ? job->longer_tiles : job->inner_tiles;
    return ln_min(tile_end - tile, end - index) - 1;
}

// Tiles [tile, tile_end) with panels [panel, panel_end) of a group.
static void run_tiles(const direct_job *job, size_t tile, size_t tile_end, size_t group,
                      size_t panel, size_t panel_end)
{
    for (size_t chunk = panel; chunk < panel_end; chunk += job->chunk) {
        panel_tiles panels;
        start_panels(job, group, chunk, ln_min(panel_end, chunk + job->chunk), &panels);
        for (size_t t = tile, more; t < tile_end;) {
            size_t ahead = ln_partition_ahead(
                t - tile, tile_end - tile, chunk == panel, job->size.panels * job->panel_stride,
                ln_min(job->chunk, panel_end - chunk) * job->panel_stride);
            more = t - tile < LN_PARTITION_AHEAD_TILES ? 0 : tiles_after(job, t, tile_end);
            output_tile outputs = tile_at(job, t);
            t += run_tile(&panels, &outputs, more,
                          job->is_stream ? LN_PARTITION_STREAM_FLOATS : ahead);
        }
    }
}

static void run_task(void *user, size_t index)
{
    const direct_job *job = user;
    size_t groups = job->args->shape.group, tiles = tile_count(job);
    ln_partition_task at = ln_partition_at(&job->tasks, index);
    size_t tile = ln_task_start(tiles, job->tasks.rows, at.row);
    size_t tile_end = ln_task_start(tiles, job->tasks.rows, at.row + 1);
    size_t sets = job->sets;
    size_t first = ln_task_start(groups * sets, job->tasks.columns, at.column);
    size_t end = ln_task_start(groups * sets, job->tasks.columns, at.column + 1);
    while (first < end) {
        size_t group = first / sets, set = first % sets;
        size_t set_end = ln_min(sets, set + end - first);
        run_tiles(job, tile, tile_end, group, set * job->size.panels,
                  ln_min(job->panels, set_end * job->size.panels));
        first += set_end - set;
    }
}

// ---- Planning ----

// The columns of outputs whose windows are inside the image from left to right.
static void find_inner_columns(direct_job *job)
{
    const ln_conv_shape *s = &job->args->shape;
    size_t reach = (s->kernel_w - 1) * s->dilation_w, end = 0;
    if (s->in_w + s->pad_left > reach)
        end = (s->in_w + s->pad_left - reach - 1) / s->stride_w + 1;
    job->inner = ln_min(ln_div_up(s->pad_left, s->stride_w), s->out_w);
    job->inner_end = ln_min(end, s->out_w);
    if (job->inner_end < job->inner)
        job->inner_end = job->inner;
}

// Whether no window reaches outside the image.
static bool are_all_inside(const direct_job *job)
{
    const ln_conv_shape *s = &job->args->shape;
    return s->pad_top == 0 && job->inner == 0 && job->inner_end == s->out_w &&
           (s->out_h - 1) * s->stride_h + (s->kernel_h - 1) * s->dilation_h < s->in_h;
}

// All windows of a tile should reach outside the image in the same way, because then it is made in
// one go: so tiles do not cross the ends of rows, and the columns on the left and right have tiles
// of their own. Not so where that would make tiles of few rows, on small images, or more of them
// than windows need that are all inside.
static void choose_tiles(direct_job *job)
{
    const ln_conv_shape *s = &job->args->shape;
    size_t outputs = s->batch * s->out_h * s->out_w;
    size_t distance = s->stride_w * job->args->x_stride;
    job->size = ln_tile_f32_choose_columns(job->kernel, outputs, job->of_group, distance);
    job->is_stream = ln_partition_is_stream(outputs, job->panels * job->panel_stride);
    if (job->is_stream)
        job->size.panels = 1;
    job->sets = ln_div_up(job->panels, job->size.panels);
    size_t rows = job->size.rows;

    find_inner_columns(job);
    size_t extent = job->inner_end - job->inner;
    job->inner_tiles = ln_div_up(extent, rows);
    bool is_window = s->kernel_h * s->kernel_w > 1 || s->pad_top || s->pad_left;
    const size_t lines = s->batch * s->out_h;
    if (is_window && extent * 4 >= job->inner_tiles * rows * 3 && extent &&
        (!are_all_inside(job) || lines * job->inner_tiles <= ln_div_up(outputs, rows))) {
        job->is_by_rows = true;
        job->lines = lines;
        job->line = s->out_w;
        job->columns = s->out_w - extent;
        job->column_tiles = ln_div_up(s->out_h, rows);
        return;
    }
    job->lines = 1;
    job->line = job->inner_end = outputs;
    job->inner = job->columns = job->column_tiles = 0;
    job->inner_tiles = ln_div_up(outputs, rows);
}

static void plan_tiles(direct_job *job)
{
    const ln_conv_shape *s = &job->args->shape;
    choose_tiles(job);
    size_t extent = job->inner_end - job->inner;
    job->tile_rows = job->inner_tiles ? extent / job->inner_tiles : 0;
    job->longer_tiles = extent - job->tile_rows * job->inner_tiles;
    job->is_pointwise = job->run_count && s->kernel_h == 1 && s->kernel_w == 1 &&
                        s->stride_h == 1 && s->stride_w == 1 && s->pad_top == 0 &&
                        s->pad_left == 0 && s->in_h == s->out_h && s->in_w == s->out_w;
}

static void plan_tasks(direct_job *job, size_t threads)
{
    const ln_conv_shape *s = &job->args->shape;
    double k = (double)(job->in * s->kernel_h * s->kernel_w);
    double outputs = (double)(s->batch * s->out_h * s->out_w), o = (double)s->out_channels;
    double image = (double)(s->batch * s->in_h * s->in_w) * (double)s->in_channels;
    double lanes = (double)(job->panels * s->group) * LN_TILE_LANES;
    job->tasks = ln_partition_product(
        tile_count(job), job->sets * s->group, k * o > image,
        (outputs + LN_PARTITION_WEIGHT_WORK) * (k + LN_PARTITION_SUM_WORK) * lanes, threads);
}

void ln_direct_f32(ln_cpu_isa isa, const ln_conv_nhwc_f32_args *a, ln_pool *pool)
{
    const ln_conv_shape *s = &a->shape;
    if (s->batch * s->out_h * s->out_w * s->out_channels == 0)
        return;
    if (ln_few_inputs_f32_fits(a)) {
        ln_few_inputs_f32(isa, a, pool);
        return;
    }
    if (ln_grouped_f32_fits(isa, a)) {
        ln_grouped_f32(isa, a, pool);
        return;
    }
    direct_job job = {.args = a,
                      .kernel = ln_tile_f32_select(isa),
                      .in = s->in_channels / s->group,
                      .of_group = s->out_channels / s->group};
    job.panels = ln_div_up(job.of_group, LN_TILE_LANES);
    job.panel_stride = s->kernel_h * s->kernel_w * job.in * LN_TILE_LANES;
    list_runs(&job);
    plan_tiles(&job);
    plan_tasks(&job, ln_pool_thread_count(pool));
    job.chunk = job.is_stream ? job.panels : ln_partition_chunk(job.panel_stride, job.size.panels);
    ln_pool_run(pool, job.tasks.rows * job.tasks.columns, run_task, &job);
}
