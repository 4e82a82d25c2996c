// SPDX-License-Identifier: Apache-2.0
// Drives convolutions of bytes in floats, tile by tile: an image of its own, small enough for the
// first caches, whose padding is what the large one's windows have outside.

#include "arch/cpu/kernels/conv_i8/in_floats.h"

#include <string.h>

#include "arch/cpu/kernels/few_inputs/few_inputs.h"
#include "arch/cpu/kernels/tasks.h"
#include "arch/cpu/kernels/window.h"

// Of more, bytes are faster. Each product is at most 255 * 255 by absolute value, and sums of 258
// are below 2^24.
#define MAX_TERMS 100

// Floats of a tile's inputs and outputs.
#define TILE_FLOATS ((size_t)7 << 10)

// The largest tile where it is not cut for its size, and columns to which it may be cut. Inputs at
// the borders of tiles are widened again.
#define TILE_COLUMNS     56
#define TILE_MIN_COLUMNS 14
#define TILE_CHANNELS    64

#define MAX_TASKS 8 // that have a tile in the workspace
#define ALIGNED   16

static size_t terms_of(const ln_conv_shape *s)
{
    return s->in_channels / s->group * s->kernel_h * s->kernel_w;
}

// ---- Tiles ----

// Outputs of a tile, at most.
typedef struct tiling {
    size_t rows, columns, channels;
} tiling;

static size_t inputs_of(const ln_window_1d *w, size_t outputs)
{
    return ln_min(w->in, (outputs - 1) * w->stride + (w->kernel - 1) * w->dilation + 1);
}

static size_t tile_inputs(const ln_conv_shape *s, const tiling *t)
{
    const ln_window_1d rows = ln_conv_rows(s), columns = ln_conv_columns(s);
    return ln_div_up(inputs_of(&rows, t->rows) * inputs_of(&columns, t->columns) * s->in_channels,
                     ALIGNED) *
           ALIGNED;
}

static size_t tile_floats(const ln_conv_shape *s, const tiling *t)
{
    return tile_inputs(s, t) + ln_div_up(t->rows * t->columns * t->channels, ALIGNED) * ALIGNED;
}

// False: the smallest tile is too large.
static bool find_tiling(const ln_conv_shape *s, tiling *t)
{
    *t = (tiling){1, ln_min(s->out_w, (size_t)TILE_COLUMNS),
                  ln_min(s->out_channels, (size_t)TILE_CHANNELS)};
    while (tile_floats(s, t) > TILE_FLOATS && t->channels > ALIGNED)
        t->channels = ln_div_up(t->channels / 2, ALIGNED) * ALIGNED;
    while (tile_floats(s, t) > TILE_FLOATS && t->columns > TILE_MIN_COLUMNS)
        t->columns = ln_div_up(t->columns, 2);
    if (tile_floats(s, t) > TILE_FLOATS)
        return false;
    for (; t->rows < s->out_h; t->rows++)
        if (tile_floats(s, &(tiling){t->rows + 1, t->columns, t->channels}) > TILE_FLOATS)
            break;
    return true;
}

static bool is_of_few_inputs(const ln_conv_shape *s)
{
    const ln_conv_nhwc_f32_args args = {
        .shape = *s, .x_stride = s->in_channels, .y_stride = s->out_channels};
    return ln_few_inputs_f32_fits(&args);
}

bool ln_in_floats_fits(const ln_conv_shape *s)
{
    tiling t;
    return s->group == 1 && s->out_h > 0 && s->out_w > 0 && terms_of(s) <= MAX_TERMS &&
           is_of_few_inputs(s) && find_tiling(s, &t);
}

bool ln_in_floats_is_faster(ln_cpu_isa isa, const ln_conv_shape *s)
{
    return ln_in_floats_select(isa)->widen && ln_in_floats_fits(s);
}

// ---- Workspace ----

typedef struct parts {
    int32_t *addends;
    float *weights, *tiles;
} parts;

// What the workspace holds: all of it, or how many bytes.
static size_t divide_workspace(const ln_conv_shape *s, char *block, parts *p)
{
    const size_t addends = ln_conv_i8_channels(s);
    const size_t weights = ln_gemm_i8_columns(s->out_channels) * terms_of(s);
    tiling t;
    find_tiling(s, &t);
    p->addends = (int32_t *)(void *)block;
    p->weights = (float *)(void *)(block ? block + addends * sizeof(int32_t) : NULL);
    p->tiles = block ? p->weights + weights : NULL;
    return (addends + weights + MAX_TASKS * tile_floats(s, &t)) * sizeof(float);
}

size_t ln_in_floats_workspace(const ln_conv_shape *shape)
{
    parts p;
    return divide_workspace(shape, NULL, &p);
}

// ---- One tile ----

typedef struct floats_job {
    ln_cpu_isa isa;
    const ln_conv_i8_args *args;
    const ln_in_floats_kernels *kernels;
    tiling tiling;
    size_t row_tiles, column_tiles, channel_tiles, task_count;
    parts parts;
} floats_job;

// Outputs of one axis, and the inputs that their windows look at, as an axis of its own.
typedef struct axis_part {
    size_t out_first, out, in_first, in, pad;
} axis_part;

static axis_part part_of(const ln_window_1d *w, size_t outputs, size_t tiles, size_t index)
{
    axis_part p = {.out_first = ln_task_start(outputs, tiles, index)};
    p.out = ln_task_start(outputs, tiles, index + 1) - p.out_first;
    const size_t start = p.out_first * w->stride;
    const size_t end = start + (p.out - 1) * w->stride + (w->kernel - 1) * w->dilation + 1;
    p.in_first = start > w->pad ? ln_min(start - w->pad, w->in) : 0;
    p.pad = start > w->pad ? 0 : w->pad - start;
    const size_t in_end = end > w->pad ? ln_min(end - w->pad, w->in) : 0;
    p.in = in_end > p.in_first ? in_end - p.in_first : 0;
    return p;
}

static void widen_tile(const floats_job *j, const axis_part *rows, const axis_part *columns,
                       size_t image, float *to)
{
    const ln_conv_i8_args *a = j->args;
    const ln_conv_shape *s = &a->shape;
    const size_t pixel = (image * s->in_h + rows->in_first) * s->in_w + columns->in_first;
    ln_widened_rows r = {.x = (const uint8_t *)a->x + pixel * s->in_channels,
                         .rows = rows->in,
                         .len = columns->in * s->in_channels,
                         .step = s->in_w * s->in_channels,
                         .flip = a->is_signed ? 128 : 0,
                         .zero = a->zero + (a->is_signed ? 128 : 0)};
    j->kernels->widen(&r, to);
}

static void finish_tile(const floats_job *j, const axis_part *rows, const axis_part *columns,
                        size_t image, size_t channel, size_t channels, const float *sums)
{
    const ln_conv_i8_args *a = j->args;
    const ln_conv_shape *s = &a->shape;
    const size_t bytes = a->epilogue.result == LN_I8_TO_BYTES ? 1 : sizeof(int32_t);
    const size_t pixel = (image * s->out_h + rows->out_first) * s->out_w + columns->out_first;
    ln_float_sums f = {.sums = sums,
                       .pixels = columns->out,
                       .channels = channels,
                       .y = (char *)a->y + (pixel * s->out_channels + channel) * bytes,
                       .y_step = s->out_channels,
                       .epilogue = a->epilogue};
    f.epilogue.addends = j->parts.addends + channel;
    f.epilogue.factors = a->epilogue.factors ? a->epilogue.factors + channel : NULL;
    f.epilogue.bias = a->epilogue.bias ? a->epilogue.bias + channel : NULL;
    for (size_t i = 0; i < rows->out; i++) {
        j->kernels->finish(&f);
        f.sums += columns->out * channels;
        f.y = (char *)f.y + s->out_w * s->out_channels * bytes;
    }
}

static void convolve_tile(const floats_job *j, const axis_part *rows, const axis_part *columns,
                          size_t channel, size_t channels, const float *x, float *y)
{
    const ln_conv_shape *s = &j->args->shape;
    ln_conv_nhwc_f32_args args = {.shape = *s,
                                  .x = x,
                                  .x_stride = s->in_channels,
                                  .packed = j->parts.weights + channel * terms_of(s),
                                  .tap_stride = ln_gemm_i8_columns(s->out_channels),
                                  .y = y,
                                  .y_stride = channels};
    args.shape.batch = 1;
    args.shape.in_h = rows->in;
    args.shape.in_w = columns->in;
    args.shape.out_h = rows->out;
    args.shape.out_w = columns->out;
    args.shape.pad_top = rows->pad;
    args.shape.pad_left = columns->pad;
    args.shape.out_channels = channels;
    ln_few_inputs_f32(j->isa, &args, NULL);
}

static void run_tile(const floats_job *j, size_t index, float *tile)
{
    const ln_conv_shape *s = &j->args->shape;
    const ln_window_1d row_window = ln_conv_rows(s), column_window = ln_conv_columns(s);
    const size_t channel = index % j->channel_tiles * j->tiling.channels;
    const size_t channels = ln_min(s->out_channels - channel, j->tiling.channels);
    index /= j->channel_tiles;
    const axis_part columns =
        part_of(&column_window, s->out_w, j->column_tiles, index % j->column_tiles);
    index /= j->column_tiles;
    const axis_part rows = part_of(&row_window, s->out_h, j->row_tiles, index % j->row_tiles);
    const size_t image = index / j->row_tiles;
    float *sums = tile + tile_inputs(s, &j->tiling);
    if (channel == 0)
        widen_tile(j, &rows, &columns, image, tile);
    convolve_tile(j, &rows, &columns, channel, channels, tile, sums);
    finish_tile(j, &rows, &columns, image, channel, channels, sums);
}

// ---- All tiles ----

static size_t place_count(const floats_job *j)
{
    return j->args->shape.batch * j->row_tiles * j->column_tiles;
}

static void run_task(void *user, size_t index)
{
    const floats_job *j = user;
    const size_t end = ln_task_start(place_count(j), j->task_count, index + 1) * j->channel_tiles;
    size_t i = ln_task_start(place_count(j), j->task_count, index) * j->channel_tiles;
    float *tile = j->parts.tiles + index * tile_floats(&j->args->shape, &j->tiling);
    for (; i < end; i++)
        run_tile(j, i, tile);
}

static void widen_weights(const floats_job *j)
{
    const ln_conv_i8_args *a = j->args;
    const ln_conv_shape *s = &a->shape;
    const size_t columns = ln_gemm_i8_columns(s->out_channels), terms = terms_of(s);
    const size_t panel = LN_TILE_I8_LANES, panel_bytes = ln_div_up(terms, 4) * 4 * panel;
    for (size_t c = 0; c < columns; c += panel)
        for (size_t t = 0; t < terms; t += 4)
            j->kernels->widen_fours(panel, ln_min(terms - t, (size_t)4),
                                    a->packed + c / panel * panel_bytes + t * panel,
                                    a->zeros ? a->zeros + c : NULL,
                                    j->parts.weights + c * terms + t * panel, panel);
}

void ln_in_floats(ln_cpu_isa isa, const ln_conv_i8_args *a, void *workspace, ln_pool *pool)
{
    const ln_conv_shape *s = &a->shape;
    floats_job j = {.isa = isa, .args = a, .kernels = ln_in_floats_select(isa)};
    divide_workspace(s, workspace, &j.parts);
    find_tiling(s, &j.tiling);
    j.row_tiles = ln_div_up(s->out_h, j.tiling.rows);
    j.column_tiles = ln_div_up(s->out_w, j.tiling.columns);
    j.channel_tiles = ln_div_up(s->out_channels, j.tiling.channels);
    const size_t channel_bytes = s->out_channels * sizeof(int32_t);
    if (a->bias)
        memcpy(j.parts.addends, a->bias, channel_bytes);
    else
        memset(j.parts.addends, 0, channel_bytes);
    widen_weights(&j);
    const double outputs = (double)(s->batch * s->out_h * s->out_w) * (double)s->out_channels;
    const double microseconds = outputs * (double)(terms_of(s) + 8) / LN_PRODUCTS_PER_MICROSECOND;
    j.task_count = ln_task_count(microseconds, ln_min(place_count(&j), (size_t)MAX_TASKS), pool);
    ln_pool_run(pool, j.task_count, run_task, &j);
}
