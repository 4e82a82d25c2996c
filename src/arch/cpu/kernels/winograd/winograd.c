// SPDX-License-Identifier: Apache-2.0
// Drives Winograd's algorithm: cuts the work into blocks of tiles.
//
// A block of tiles is transformed whole; then, for some output channels at a time, its products are
// made point by point and transformed back. So weights are read once for each block, in order and
// fetched ahead of their use: measured, it does not matter then from where they come. What is read
// again, a point of V and the sums M, is small.
//
// Each thread has blocks of its own, as far as these can be of many tiles, because all weights are
// read for each. On small images threads share a block: its tiles while they are transformed, then
// its output channels, and thus the weights. Where there are too few channels for that, each has
// some of its tiles from beginning to end.

#include "arch/cpu/kernels/winograd/winograd.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "arch/cpu/kernels/gemm/partition.h"
#include "arch/cpu/kernels/winograd/winograd_kernel.h"
#include "base/checked.h"

#define LANES LN_WINOGRAD_LANES

// ---- The plan ----

// Measured: more tiles in a block gain nothing, fewer read the weights too often; more channels at
// a time gain nothing either, and an odd number of panels costs a tenth to a third.
#define BLOCK_TILES 28
#define MIN_TILES   12 // of a block that a thread has for itself
#define CHUNK       64
#define PAIR        (size_t)(2 * LANES)
#define MAX_SLOTS   8

// What the workspace should stay below; only half a block of very many channels does not. Weights
// that stay near may be read for smaller blocks, where many threads have one each.
#define MAX_BYTES      ((size_t)9 << 19)
#define MAX_BYTES_NEAR ((size_t)7 << 18)
#define NEAR_BYTES     ((size_t)2 << 20) // of weights

// How blocks and the workspace are cut.
typedef struct block_cut {
    size_t block_count; // tiles are dealt evenly
    size_t chunk;       // output channels at a time, a multiple of 16
    size_t m_row, v_plane, m_plane;
    size_t v_floats, m_floats; // of a block, of a chunk of it
} block_cut;

typedef struct winograd_plan {
    size_t m, points;
    size_t tiles_y, tiles_x; // of an image
    size_t tile_count;
    size_t v_row;
    size_t zeros;     // floats of the row that stands for pixels outside
    size_t pairs;     // of panels of output channels
    bool is_near;     // the weights
    size_t max_bytes; // of workspace
    block_cut cut;    // for one thread
} winograd_plan;

// How so many threads do it.
typedef struct work_cut {
    block_cut blocks;
    bool is_shared; // each block, by all threads; or each thread has blocks of its own
    size_t slots;   // of M where threads share V, or of both
} work_cut;

// Rows and planes have an odd number of cache lines, so that those of several rows or planes do not
// meet in the same few sets.
static size_t odd_lines(size_t floats)
{
    return (ln_div_up(floats, LANES) | 1) * LANES;
}

static size_t tiles_of_images(const ln_conv_shape *s, size_t tiles_y, size_t tiles_x)
{
    size_t count;
    if (!ln_size_mul(tiles_y, tiles_x, &count) || !ln_size_mul(count, s->batch, &count))
        return SIZE_MAX;
    return count;
}

static block_cut cut_blocks(const winograd_plan *plan, size_t block_count, size_t chunk)
{
    size_t tiles = ln_div_up(plan->tile_count, block_count);
    block_cut cut = {.block_count = block_count, .chunk = chunk, .m_row = odd_lines(chunk)};
    cut.v_plane = odd_lines(tiles * plan->v_row);
    cut.m_plane = odd_lines(tiles * cut.m_row);
    cut.v_floats = plan->points * cut.v_plane;
    cut.m_floats = plan->points * cut.m_plane;
    return cut;
}

static size_t tiles_of_block(const winograd_plan *plan)
{
    size_t tile_bytes = plan->points * plan->v_row * sizeof(float);
    return tile_bytes * BLOCK_TILES <= MAX_BYTES ? BLOCK_TILES : BLOCK_TILES / 2;
}

static winograd_plan plan_of(size_t m, const ln_conv_shape *s)
{
    winograd_plan plan = {.m = m, .points = (m + 2) * (m + 2)};
    plan.tiles_y = ln_div_up(s->out_h, m);
    plan.tiles_x = ln_div_up(s->out_w, m);
    plan.tile_count = tiles_of_images(s, plan.tiles_y, plan.tiles_x);
    plan.v_row = odd_lines(s->in_channels);
    plan.zeros = plan.v_row;

    size_t out = ln_round_up(s->out_channels, LANES);
    plan.pairs = ln_div_up(out, PAIR);
    plan.is_near =
        (double)plan.points * (double)s->in_channels * (double)out <= NEAR_BYTES / sizeof(float);
    plan.max_bytes = plan.is_near ? MAX_BYTES_NEAR : MAX_BYTES;
    plan.cut =
        cut_blocks(&plan, ln_div_up(plan.tile_count, tiles_of_block(&plan)), ln_min(out, CHUNK));
    return plan;
}

// The tiles that a block may have for as many of them as there are threads to fit the workspace.
static size_t tiles_that_fit(const winograd_plan *plan, size_t threads, size_t chunk)
{
    size_t most = tiles_of_block(plan), floats = plan->max_bytes / sizeof(float) / threads;
    size_t of_point = floats / plan->points, lines = 4 * LANES; // that planes are rounded up by
    size_t tiles = of_point < lines ? 0 : (of_point - lines) / (plan->v_row + odd_lines(chunk));
    if (tiles >= most)
        return most;
    return plan->is_near ? tiles : 0;
}

// Blocks for so many threads, each with the same number of them; 0 if they would be too small.
static size_t blocks_apart(const winograd_plan *plan, size_t threads, size_t chunk)
{
    size_t tiles = tiles_that_fit(plan, threads, chunk);
    if (tiles < MIN_TILES)
        return 0;
    size_t count = ln_div_up(plan->tile_count, tiles);
    if (count / threads < MAX_SLOTS && plan->tile_count < SIZE_MAX / 2)
        count = ln_div_up(count, threads) * threads;
    return plan->tile_count / count < MIN_TILES ? 0 : count;
}

static work_cut cut_shared(const winograd_plan *plan, size_t chunk)
{
    work_cut work = {.is_shared = true};
    work.blocks = cut_blocks(plan, plan->cut.block_count, chunk);
    size_t floats = plan->max_bytes / sizeof(float), v_floats = work.blocks.v_floats;
    size_t left = floats - ln_min(v_floats, floats);
    work.slots = ln_min(left / work.blocks.m_floats, ln_min(plan->pairs, MAX_SLOTS));
    work.slots += work.slots == 0;
    return work;
}

// With half as many channels at a time, if they are a pair, where the workspace does not hold all
// threads otherwise.
static work_cut cut_work(const winograd_plan *plan, size_t threads)
{
    size_t chunk = plan->cut.chunk, half = plan->is_near && chunk == CHUNK ? CHUNK / 2 : chunk;
    threads = ln_min(threads, MAX_SLOTS);
    if (threads == 1)
        return (work_cut){.blocks = plan->cut, .slots = 1};
    size_t count = blocks_apart(plan, threads, chunk);
    if (count == 0)
        count = blocks_apart(plan, threads, chunk = half);
    if (count)
        return (work_cut){.blocks = cut_blocks(plan, count, chunk), .slots = threads};
    work_cut work = cut_shared(plan, plan->cut.chunk);
    return work.slots < ln_min(threads, plan->pairs) ? cut_shared(plan, half) : work;
}

static size_t floats_of(const work_cut *work)
{
    size_t v = work->blocks.v_floats, m = work->blocks.m_floats;
    return work->is_shared ? v + work->slots * m : work->slots * (v + m);
}

static bool is_empty(const ln_conv_shape *s)
{
    return s->batch == 0 || s->out_h == 0 || s->out_w == 0 || s->out_channels == 0;
}

// Far above what a tensor has, and far below what the plan's products overflow with.
static bool has_too_many_channels(const ln_conv_shape *s)
{
    return s->in_channels > (size_t)1 << 31 || s->out_channels > (size_t)1 << 31;
}

size_t ln_winograd_f32_workspace(size_t m, const ln_conv_shape *shape)
{
    if (has_too_many_channels(shape))
        return SIZE_MAX;
    if (is_empty(shape))
        return 0;
    winograd_plan plan = plan_of(m, shape);
    size_t most = 0;
    for (size_t threads = 1; threads <= MAX_SLOTS; threads++) {
        work_cut work = cut_work(&plan, threads);
        most = floats_of(&work) > most ? floats_of(&work) : most;
    }
    return (plan.zeros + most) * sizeof(float);
}

size_t ln_winograd_f32_thread_workspace(size_t m, const ln_conv_shape *shape)
{
    if (has_too_many_channels(shape))
        return SIZE_MAX;
    if (is_empty(shape))
        return 0;
    winograd_plan plan = plan_of(m, shape);
    plan.tile_count = ln_min(plan.tile_count, tiles_of_block(&plan));
    block_cut largest = cut_blocks(&plan, 1, plan.cut.chunk);
    return (plan.zeros + largest.v_floats + largest.m_floats) * sizeof(float);
}

// ---- A block ----

typedef struct winograd_job {
    const ln_conv_nhwc_f32_args *args;
    const ln_winograd_f32_kernel *kernel;
    winograd_plan plan;
    block_cut cut;
    const float *zeros;
    float *workspace;        // after the zeros
    atomic_uint *free_slots; // a bit for each
    size_t tasks;
    size_t parts;             // of the channels of a block that threads share
    size_t first, tile_count; // of that block
} winograd_job;

// The slot of a task while it runs. The lowest one that is free: where threads take turns it is
// the one that the thread had before, which is in its cache.
static size_t take_slot(const winograd_job *job)
{
    unsigned old = atomic_load_explicit(job->free_slots, memory_order_relaxed);
    while (old == 0 ||
           !atomic_compare_exchange_weak_explicit(job->free_slots, &old, old & (old - 1),
                                                  memory_order_acquire, memory_order_relaxed)) {
        if (old == 0) // more tasks at the same time than the pool has threads
            old = atomic_load_explicit(job->free_slots, memory_order_relaxed);
    }
    return (size_t)__builtin_ctz(old);
}

static void give_slot(const winograd_job *job, size_t slot)
{
    atomic_fetch_or_explicit(job->free_slots, 1u << slot, memory_order_release);
}

// The tile `index` of all images: its image, and its first output.
typedef struct tile_place {
    size_t image, y, x;
} tile_place;

static tile_place place_of(const winograd_plan *plan, size_t index)
{
    size_t per_image = plan->tiles_y * plan->tiles_x, in_image = index % per_image;
    return (tile_place){.image = index / per_image,
                        .y = in_image / plan->tiles_x * plan->m,
                        .x = in_image % plan->tiles_x * plan->m};
}

static void transform_input(const winograd_job *job, size_t index, float *v)
{
    const winograd_plan *plan = &job->plan;
    const ln_conv_nhwc_f32_args *args = job->args;
    const ln_conv_shape *s = &args->shape;
    size_t n = plan->m + 2;
    tile_place place = place_of(plan, index);
    size_t top = place.y - s->pad_top, left = place.x - s->pad_left; // large numbers outside
    const float *image = args->x + place.image * s->in_h * s->in_w * args->x_stride;
    const float *pixels[LN_WINOGRAD_MAX_POINTS];
    ln_winograd_f32_input tile = {.row = s->in_w * args->x_stride,
                                  .pixel = args->x_stride,
                                  .pixels = pixels,
                                  .channels = s->in_channels,
                                  .v = v,
                                  .plane = job->cut.v_plane};
    if (top < s->in_h && left < s->in_w && n <= s->in_h - top && n <= s->in_w - left) {
        tile.x = image + top * tile.row + left * tile.pixel;
    } else {
        for (size_t i = 0; i < n * n; i++) {
            size_t y = top + i / n, x = left + i % n;
            bool is_inside = y < s->in_h && x < s->in_w;
            pixels[i] = is_inside ? image + y * tile.row + x * tile.pixel : job->zeros;
        }
    }
    job->kernel->input[plan->m / 2 - 1](&tile);
}

static void transform_output(const winograd_job *job, size_t index, size_t channel, size_t count,
                             const float *m)
{
    const winograd_plan *plan = &job->plan;
    const ln_conv_nhwc_f32_args *args = job->args;
    const ln_conv_shape *s = &args->shape;
    const ln_epilogue_f32 *e = &args->epilogue;
    tile_place place = place_of(plan, index);
    size_t pixel = (place.image * s->out_h + place.y) * s->out_w + place.x;
    ln_winograd_f32_output tile = {.m = m,
                                   .plane = job->cut.m_plane,
                                   .channels = count,
                                   .rows = ln_min(plan->m, s->out_h - place.y),
                                   .columns = ln_min(plan->m, s->out_w - place.x),
                                   .y = args->y + pixel * args->y_stride + channel,
                                   .y_row = s->out_w * args->y_stride,
                                   .y_pixel = args->y_stride,
                                   .epilogue = *e,
                                   .addend_row = s->out_w * e->addend_stride};
    if (e->bias)
        tile.epilogue.bias += channel;
    if (e->addend)
        tile.epilogue.addend += pixel * e->addend_stride + channel;
    job->kernel->output[plan->m / 2 - 1](&tile);
}

// Tiles from `first` on of a block whose first one is `block`.
static void transform_inputs(const winograd_job *job, size_t block, size_t first, size_t count,
                             float *v)
{
    for (size_t t = first; t < first + count; t++)
        transform_input(job, block + t, v + t * job->plan.v_row);
}

// What is read after the weights of the output channels up to `end` for a block: those of the next
// channels, or of the first ones for the next block, or, as a rule, of the next operator.
static const float *weights_after(const winograd_job *job, size_t end, bool is_last_block)
{
    const ln_conv_shape *s = &job->args->shape;
    if (end < s->out_channels)
        return job->args->packed + end * s->in_channels;
    size_t floats = job->plan.points * ln_round_up(s->out_channels, LANES) * s->in_channels;
    return job->args->packed + (is_last_block ? floats : 0);
}

// The output channels [first, end), some at a time.
static void multiply_channels(const winograd_job *job, size_t block, size_t tiles, size_t first,
                              size_t end, const float *v, float *m)
{
    const winograd_plan *plan = &job->plan;
    const block_cut *cut = &job->cut;
    const ln_conv_shape *s = &job->args->shape;
    size_t point_stride = ln_round_up(s->out_channels, LANES) * s->in_channels;
    bool is_last_block = block + tiles == plan->tile_count;
    for (size_t channel = first; channel < end; channel += cut->chunk) {
        size_t channels = ln_min(cut->chunk, end - channel);
        const float *u = job->args->packed + channel * s->in_channels;
        const float *after = weights_after(job, channel + channels, is_last_block);
        for (size_t p = 0; p < plan->points; p++) {
            job->kernel->product(&(ln_winograd_f32_product){
                .rows = tiles,
                .channels = s->in_channels,
                .panels = ln_div_up(channels, LANES),
                .v = v + p * cut->v_plane,
                .v_row = plan->v_row,
                .u = u + p * point_stride,
                .u_after = p + 1 < plan->points ? u + (p + 1) * point_stride : after,
                .m = m + p * cut->m_plane,
                .m_row = cut->m_row});
        }
        for (size_t t = 0; t < tiles; t++)
            transform_output(job, block + t, channel, channels, m + t * cut->m_row);
    }
}

// ---- Blocks of one thread ----

static void run_blocks(void *user, size_t task)
{
    const winograd_job *job = user;
    const block_cut *cut = &job->cut;
    size_t slot = take_slot(job), end = ln_task_start(cut->block_count, job->tasks, task + 1);
    float *v = job->workspace + slot * (cut->v_floats + cut->m_floats);
    for (size_t b = ln_task_start(cut->block_count, job->tasks, task); b < end; b++) {
        size_t first = ln_task_start(job->plan.tile_count, cut->block_count, b);
        size_t tiles = ln_task_start(job->plan.tile_count, cut->block_count, b + 1) - first;
        transform_inputs(job, first, 0, tiles, v);
        multiply_channels(job, first, tiles, 0, job->args->shape.out_channels, v,
                          v + cut->v_floats);
    }
    give_slot(job, slot);
}

static void run_apart(winograd_job *job, size_t slots, size_t threads, ln_pool *pool)
{
    job->tasks = threads <= slots ? job->cut.block_count : ln_min(job->cut.block_count, slots);
    ln_pool_run(pool, job->tasks, run_blocks, job);
}

// ---- Blocks that threads share ----

// Tiles of a part that a thread has for itself, where there are fewer pairs of panels than threads.
#define MIN_TILES_OF_PART 6

static void run_input_task(void *user, size_t task)
{
    const winograd_job *job = user;
    size_t first = ln_task_start(job->tile_count, job->tasks, task);
    size_t end = ln_task_start(job->tile_count, job->tasks, task + 1);
    transform_inputs(job, job->first, first, end - first, job->workspace);
}

// Some tiles of the block with the channels of the pairs of panels [first, end).
static void multiply_pairs(const winograd_job *job, size_t tile, size_t count, size_t first,
                           size_t end, float *m)
{
    const float *v = job->workspace + tile * job->plan.v_row;
    multiply_channels(job, job->first + tile, count, first * PAIR,
                      ln_min(end * PAIR, job->args->shape.out_channels), v,
                      m + tile * job->cut.m_row);
}

// Where a task begins, in halves: pairs of panels with the first or the second half of the tiles.
// Each thread has as many of them as the others, so that an odd number of pairs is no loss; inside
// its part tasks are whole pairs, because a half reads all weights of its pair.
static size_t halves_begin(const winograd_job *job, size_t task)
{
    size_t halves = 2 * job->plan.pairs;
    size_t of_part = job->tasks / job->parts, part = task / of_part;
    size_t first = ln_task_start(halves, job->parts, part);
    size_t count = ln_task_start(halves, job->parts, part + 1) - first;
    if (task % of_part == 0)
        return first;
    return ln_div_up(first + ln_task_start(count, of_part, task % of_part), 2) * 2;
}

static void run_channels_task(void *user, size_t task)
{
    const winograd_job *job = user;
    size_t first = halves_begin(job, task), end = halves_begin(job, task + 1);
    size_t slot = take_slot(job), half = job->tile_count / 2;
    float *m = job->workspace + job->cut.v_floats + slot * job->cut.m_floats;
    if (first % 2)
        multiply_pairs(job, half, job->tile_count - half, first / 2, first / 2 + 1, m);
    multiply_pairs(job, 0, job->tile_count, (first + 1) / 2, end / 2, m);
    if (end % 2)
        multiply_pairs(job, 0, half, end / 2, end / 2 + 1, m);
    give_slot(job, slot);
}

// Some tiles of the block, with all channels.
static void run_tiles_task(void *user, size_t task)
{
    const winograd_job *job = user;
    size_t first = ln_task_start(job->tile_count, job->tasks, task);
    size_t count = ln_task_start(job->tile_count, job->tasks, task + 1) - first;
    transform_inputs(job, job->first + first, 0, count, job->workspace + first * job->plan.v_row);
    multiply_pairs(job, first, count, 0, job->plan.pairs, job->workspace + job->cut.v_floats);
}

static void run_shared_channels(winograd_job *job, size_t of_part, ln_pool *pool)
{
    job->tasks = ln_min(job->tile_count, MAX_SLOTS);
    ln_pool_run(pool, job->tasks, run_input_task, job);
    job->tasks = job->parts * of_part;
    ln_pool_run(pool, job->tasks, run_channels_task, job);
}

// How many tasks a thread's part is cut into: two or more, and of as many channels as are made at
// a time, since V is read again for those that follow.
static size_t tasks_of_part(size_t halves)
{
    size_t chunks = halves * PAIR / 2 / CHUNK;
    return chunks >= 2 ? chunks : halves >= 4 ? 2 : 1;
}

static void run_shared(winograd_job *job, size_t slots, size_t threads, ln_pool *pool)
{
    const winograd_plan *plan = &job->plan;
    job->parts = ln_min(ln_min(threads, plan->pairs), slots);
    size_t of_part = 1;
    if (threads <= slots)
        of_part = tasks_of_part(2 * plan->pairs / job->parts);
    for (size_t b = 0; b < job->cut.block_count; b++) {
        job->first = ln_task_start(plan->tile_count, job->cut.block_count, b);
        job->tile_count = ln_task_start(plan->tile_count, job->cut.block_count, b + 1) - job->first;
        size_t tasks = ln_min(threads, job->tile_count / MIN_TILES_OF_PART);
        if (plan->pairs >= threads || tasks < 2) {
            run_shared_channels(job, of_part, pool);
            continue;
        }
        job->tasks = tasks;
        ln_pool_run(pool, tasks, run_tiles_task, job);
    }
}

// ---- The job ----

#define PRODUCTS_PER_MICROSECOND 250000.0

void ln_winograd_f32(ln_cpu_isa isa, size_t m, const ln_conv_nhwc_f32_args *args, ln_pool *pool,
                     float *workspace)
{
    const ln_conv_shape *s = &args->shape;
    assert(m == 2 || m == 4 || m == 6);

    if (is_empty(s))
        return;
    const winograd_plan plan = plan_of(m, s);
    double products = (double)plan.points * (double)plan.tile_count * (double)s->in_channels *
                      (double)s->out_channels;
    pool = ln_tasks_pool(pool, products / PRODUCTS_PER_MICROSECOND);
    size_t threads = ln_pool_thread_count(pool);
    const work_cut work = cut_work(&plan, threads);
    atomic_uint free_slots = (1u << work.slots) - 1;
    winograd_job job = {.args = args,
                        .kernel = ln_winograd_f32_select(isa),
                        .plan = plan,
                        .cut = work.blocks,
                        .zeros = workspace,
                        .workspace = workspace + plan.zeros,
                        .free_slots = &free_slots};
    memset(workspace, 0, plan.zeros * sizeof *workspace);
    if (work.is_shared)
        run_shared(&job, work.slots, threads, pool);
    else
        run_apart(&job, work.slots, threads, pool);
}
