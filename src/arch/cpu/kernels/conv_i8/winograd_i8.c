// SPDX-License-Identifier: Apache-2.0
// Drives F(2x2, 3x3) in integers: for some tiles and some channels, inputs are transformed, then
// for each of some panels the weights, and all positions are multiplied while both are in the
// cache.

#include "arch/cpu/kernels/conv_i8/winograd_i8.h"

#include <string.h>

#include "arch/cpu/kernels/tasks.h"

#define POSITIONS LN_WINOGRAD_I8_POSITIONS
#define COLUMNS   ((size_t)LN_TILE_I8_LANES)

// What is done at once. Of tiles a multiple of those that are multiplied together.
#define MAX_TILES    ((size_t)18)
#define MAX_CHANNELS ((size_t)32)
#define MAX_PANELS   ((size_t)2)

#define MAX_TASKS ((size_t)32)

// With fewer tiles transforming weights takes longer than it saves; with fewer channels so do the
// other transforms.
#define MIN_TILES    12
#define MIN_CHANNELS 16

// Channels for which sums are exact, without zero points of weights and with them.
#define MOST_INPUTS            1827
#define MOST_INPUTS_WITH_ZEROS 917

static size_t tiles_of(const ln_conv_shape *s)
{
    return s->batch * ln_div_up(s->out_h, 2) * ln_div_up(s->out_w, 2);
}

static size_t panels_of(const ln_conv_shape *s)
{
    return ln_div_up(s->out_channels, COLUMNS);
}

bool ln_winograd_i8_fits(const ln_conv_shape *s, bool has_zeros)
{
    return s->group == 1 && s->kernel_h == 3 && s->kernel_w == 3 && s->stride_h == 1 &&
           s->stride_w == 1 && s->dilation_h == 1 && s->dilation_w == 1 &&
           s->in_channels % 4 == 0 && s->in_channels >= MIN_CHANNELS &&
           s->in_channels <= (has_zeros ? MOST_INPUTS_WITH_ZEROS : MOST_INPUTS) &&
           s->out_channels >= MIN_CHANNELS && tiles_of(s) >= MIN_TILES;
}

// ---- Memory ----

#define PANEL_SUMS   (POSITIONS * MAX_TILES * COLUMNS)
#define ROW_SUMS     (2 * MAX_TILES * COLUMNS)
#define WEIGHT_WORDS (POSITIONS * COLUMNS * MAX_CHANNELS)

// What one task works with, on its stack: 70 KB.
typedef struct task_memory {
    _Alignas(
        64) int16_t inputs[POSITIONS * MAX_TILES * MAX_CHANNELS]; // [positions, tiles, channels]
    union {
        int16_t weights[WEIGHT_WORDS]; // [positions, pairs of channels, columns, 2]
        int32_t rows[2 * ROW_SUMS];    // [2, pixels, columns], when weights have been multiplied
    };
    int32_t sums[MAX_PANELS * PANEL_SUMS]; // [panels, positions, tiles, columns]
} task_memory;

static size_t addend_bytes(const ln_conv_shape *s)
{
    return ln_conv_i8_channels(s) * sizeof(int32_t);
}

size_t ln_winograd_i8_workspace(const ln_conv_shape *s)
{
    return addend_bytes(s);
}

// ---- Some tiles ----

typedef struct winograd_job {
    const ln_conv_i8_args *args;
    const ln_winograd_i8_kernels *kernels;
    ln_epilogue_i8 epilogue;
    size_t panels; // that sums are kept of: of all channels they are whole after one panel
    size_t blocks; // of tiles
    size_t block_tasks, panel_tasks;
} winograd_job;

typedef struct tile_place {
    size_t image, y, x; // in tiles
} tile_place;

static tile_place place_of(const ln_conv_shape *s, size_t tile)
{
    const size_t wide = ln_div_up(s->out_w, 2), high = ln_div_up(s->out_h, 2);
    return (tile_place){tile / wide / high, tile / wide % high, tile % wide};
}

// The pixels of a tile; what is outside of the image stays NULL.
static void find_pixels(const ln_conv_i8_args *a, size_t tile, size_t channel,
                        const uint8_t **pixels)
{
    const ln_conv_shape *s = &a->shape;
    const tile_place at = place_of(s, tile);
    const uint8_t *image =
        (const uint8_t *)a->x + at.image * s->in_h * s->in_w * s->in_channels + channel;
    for (size_t i = 0; i < POSITIONS; i++) {
        const size_t y = 2 * at.y + i / 4 - s->pad_top, x = 2 * at.x + i % 4 - s->pad_left;
        pixels[i] = y < s->in_h && x < s->in_w ? image + (y * s->in_w + x) * s->in_channels : NULL;
    }
}

static void transform_inputs(const winograd_job *j, size_t tile, size_t tiles, size_t channel,
                             size_t channels, int16_t *to)
{
    const ln_conv_i8_args *a = j->args;
    ln_winograd_i8_inputs in = {.channels = channels,
                                .flip = a->is_signed ? 128 : 0,
                                .zero = a->zero + (a->is_signed ? 128 : 0),
                                .position_step = MAX_TILES * MAX_CHANNELS};
    for (size_t t = 0; t < tiles; t++, to += MAX_CHANNELS) {
        find_pixels(a, tile + t, channel, in.pixels);
        j->kernels->transform_inputs(&in, to);
    }
}

static void multiply_panel(const winograd_job *j, size_t panel, size_t tiles, size_t channel,
                           size_t channels, task_memory *memory, int32_t *sums)
{
    const ln_conv_i8_args *a = j->args;
    static const int32_t no_zeros[COLUMNS];
    const size_t in = a->shape.in_channels, step = MAX_CHANNELS;
    const ln_winograd_i8_weights weights = {
        .fours = a->packed + (panel * 9 * in + channel) * COLUMNS,
        .zeros = a->zeros ? a->zeros + panel * COLUMNS : no_zeros,
        .count = channels / 4,
        .tap_step = in * COLUMNS,
        .position_step = step * COLUMNS};
    j->kernels->transform_weights(&weights, memory->weights);
    for (size_t i = 0; i < POSITIONS; i++) {
        const ln_winograd_i8_product product = {.inputs = memory->inputs + i * MAX_TILES * step,
                                                .tiles = tiles,
                                                .tile_step = step,
                                                .weights =
                                                    memory->weights + i * weights.position_step,
                                                .fours = channels / 4,
                                                .is_first = channel == 0,
                                                .sums = sums + i * MAX_TILES * COLUMNS};
        j->kernels->multiply(&product);
    }
}

// Sums of 16 columns of pixels next to each other, which are rescaled.
static void put_rescaled(const winograd_job *j, const ln_winograd_i8_pixels *of)
{
    int32_t sums[ROW_SUMS];
    ln_epilogue_i8 epilogue = j->epilogue;
    epilogue.addends += of->column;
    ln_winograd_i8_pixels pixels = *of;
    pixels.column = 0;
    pixels.columns = ln_min(of->columns - of->column, (size_t)COLUMNS);
    pixels.y = sums;
    pixels.y_step = pixels.columns;
    pixels.epilogue = &epilogue;
    j->kernels->put(&pixels);
    ln_rescale_rows(j->args->rescale, of->column, of->count, pixels.columns, sums, pixels.columns,
                    (uint8_t *)of->y + of->column, of->y_step);
}

// The results of tiles next to each other, in one row of the image.
static void put_run(const winograd_job *j, const tile_place *at, size_t tiles, size_t column,
                    const int32_t *rows)
{
    const ln_conv_shape *s = &j->args->shape;
    const size_t step = ln_conv_i8_y_step(j->args);
    const size_t bytes = step * ln_conv_i8_element_bytes(j->args); // of a pixel
    for (size_t i = 0; i < 2 && 2 * at->y + i < s->out_h; i++) {
        const size_t pixel = (at->image * s->out_h + 2 * at->y + i) * s->out_w + 2 * at->x;
        const ln_winograd_i8_pixels pixels = {.sums = rows + i * ROW_SUMS,
                                              .count = ln_min(2 * tiles, s->out_w - 2 * at->x),
                                              .column = column,
                                              .columns = s->out_channels,
                                              .y = (char *)j->args->y + pixel * bytes,
                                              .y_step = step,
                                              .epilogue = &j->epilogue};
        if (j->args->rescale)
            put_rescaled(j, &pixels);
        else
            j->kernels->put(&pixels);
    }
}

static void put_panel(const winograd_job *j, size_t tile, size_t tiles, size_t panel,
                      const int32_t *sums, int32_t *rows)
{
    const ln_conv_shape *s = &j->args->shape;
    const ln_winograd_i8_outputs outputs = {.sums = sums,
                                            .tiles = tiles,
                                            .position_step = MAX_TILES * COLUMNS,
                                            .rows = {rows, rows + ROW_SUMS}};
    j->kernels->transform_outputs(&outputs);
    for (size_t t = 0, run; t < tiles; t += run) {
        const tile_place at = place_of(s, tile + t);
        run = ln_min(tiles - t, ln_div_up(s->out_w, 2) - at.x);
        put_run(j, &at, run, panel * COLUMNS, rows + 2 * t * COLUMNS);
    }
}

static void run_block(const winograd_job *j, size_t block, size_t panel, size_t panel_end,
                      task_memory *memory)
{
    const ln_conv_shape *s = &j->args->shape;
    const size_t tile = block * MAX_TILES, tiles = ln_min(tiles_of(s) - tile, MAX_TILES);
    const size_t in = s->in_channels, begin = panel;
    for (; panel < panel_end; panel += j->panels) {
        const size_t panels = ln_min(panel_end - panel, j->panels);
        for (size_t c = 0; c < in; c += MAX_CHANNELS) {
            const size_t channels = ln_min(in - c, MAX_CHANNELS);
            if (in > MAX_CHANNELS || panel == begin)
                transform_inputs(j, tile, tiles, c, channels, memory->inputs);
            for (size_t i = 0; i < panels; i++)
                multiply_panel(j, panel + i, tiles, c, channels, memory,
                               memory->sums + i * PANEL_SUMS);
        }
        for (size_t i = 0; i < panels; i++)
            put_panel(j, tile, tiles, panel + i, memory->sums + i * PANEL_SUMS, memory->rows);
    }
}

// ---- All tiles ----

static void run_task(void *user, size_t index)
{
    const winograd_job *j = user;
    const size_t panels = panels_of(&j->args->shape);
    const size_t block_task = index / j->panel_tasks, panel_task = index % j->panel_tasks;
    task_memory memory;
    const size_t panel = ln_task_start(panels, j->panel_tasks, panel_task);
    const size_t panel_end = ln_task_start(panels, j->panel_tasks, panel_task + 1);
    const size_t end = ln_task_start(j->blocks, j->block_tasks, block_task + 1);
    for (size_t i = ln_task_start(j->blocks, j->block_tasks, block_task); i < end; i++)
        run_block(j, i, panel, panel_end, &memory);
}

void ln_winograd_i8(ln_cpu_isa isa, const ln_conv_i8_args *a, void *workspace, ln_pool *pool)
{
    const ln_conv_shape *s = &a->shape;
    winograd_job j = {.args = a,
                      .kernels = ln_winograd_i8_select(isa),
                      .epilogue = a->epilogue,
                      .panels = s->in_channels <= MAX_CHANNELS ? 1 : MAX_PANELS,
                      .blocks = ln_div_up(tiles_of(s), MAX_TILES)};
    memset(workspace, 0, addend_bytes(s));
    if (a->bias)
        memcpy(workspace, a->bias, s->out_channels * sizeof *a->bias);
    j.epilogue.addends = workspace;
    const double products =
        (double)(tiles_of(s) * POSITIONS) * (double)s->in_channels * (double)s->out_channels;
    const size_t count = ln_task_count(products / LN_PRODUCTS_PER_MICROSECOND, MAX_TASKS, pool);
    j.block_tasks = ln_min(j.blocks, count);
    j.panel_tasks = ln_min(panels_of(s), count / j.block_tasks);
    ln_pool_run(pool, j.block_tasks * j.panel_tasks, run_task, &j);
}
