// SPDX-License-Identifier: Apache-2.0
// Drives Winograd's algorithm: packs weights, cuts the work into blocks of tiles.
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

#include "arch/cpu/kernels/select.h"
#include "arch/cpu/kernels/winograd/winograd_kernel.h"
#include "arch/cpu/kernels/winograd/winograd_points.h"
#include "base/checked.h"

#define LANES LN_WINOGRAD_LANES

typedef struct kernel_row {
    ln_cpu_isa isa;
    const ln_winograd_f32_kernel *kernel;
} kernel_row;

static const kernel_row kernels[] = {
#define K(isa, type, kernel) {LN_CPU_ISA_##isa, &kernel},
#include "arch/cpu/kernels/winograd/winograd.inc"
#undef K
};

static size_t ceil_div(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t round_up(size_t count)
{
    return ceil_div(count, LANES) * LANES;
}

// ---- Packing ----

// The rows of G: (g0 + x (g1 + x g2)) / n for each point but the last, which is g2.
typedef struct filter_transform {
    size_t side;
    double x[LN_WINOGRAD_MAX_SIDE], inverse_n[LN_WINOGRAD_MAX_SIDE];
} filter_transform;

static filter_transform transform_of(size_t m)
{
    static const double points[3][3] = {
        {1}, {LN_WINOGRAD4_A, LN_WINOGRAD4_B}, {LN_WINOGRAD6_A, LN_WINOGRAD6_B, LN_WINOGRAD6_C}};
    const double *magnitudes = points[m / 2 - 1];
    filter_transform t = {.side = m + 2};
    for (size_t i = 0; i <= m; i++) {
        double x = 0, n = 1;
        if (i > 0)
            x = i % 2 ? magnitudes[(i - 1) / 2] : -magnitudes[(i - 1) / 2];
        for (size_t k = 0; k < m / 2; k++) {
            double other = magnitudes[k];
            if (i > 0 && (i - 1) / 2 == k)
                n *= 2 * x; // x - (-x)
            else
                n *= x * x - other * other;
        }
        if (i > 0)
            n *= x; // x - 0
        t.x[i] = x;
        t.inverse_n[i] = 1 / n;
    }
    return t;
}

typedef double lanes[LANES];

// A column of filters, one in each lane, at all points.
static void to_points(const filter_transform *t, lanes *g, size_t step, lanes *out)
{
    for (size_t i = 0; i + 1 < t->side; i++)
        for (size_t l = 0; l < LANES; l++)
            out[i][l] =
                (g[0][l] + t->x[i] * (g[step][l] + t->x[i] * g[2 * step][l])) * t->inverse_n[i];
    memcpy(out[t->side - 1], g[2 * step], sizeof(lanes));
}

typedef struct pack_job {
    const ln_conv_shape *shape;
    const float *weight;
    float *packed;
    filter_transform transform;
} pack_job;

// The filters of LANES output channels from `o` on for one input channel; zeros behind the last.
static void gather_filters(const pack_job *job, size_t o, size_t c, lanes g[9])
{
    size_t in = job->shape->in_channels, count = least(job->shape->out_channels - o, LANES);
    if (count < LANES)
        memset(g, 0, 9 * sizeof *g);
    for (size_t l = 0; l < count; l++) {
        const float *filter = job->weight + ((o + l) * in + c) * 9;
        for (size_t k = 0; k < 9; k++)
            g[k][l] = (double)filter[k];
    }
}

static void pack_block(void *user, size_t index)
{
    const pack_job *job = user;
    const filter_transform *t = &job->transform;
    size_t in = job->shape->in_channels, side = t->side;
    size_t point_stride = round_up(job->shape->out_channels) * in;
    lanes g[9], half[3 * LN_WINOGRAD_MAX_SIDE], row[LN_WINOGRAD_MAX_SIDE];
    for (size_t c = 0; c < in; c++) {
        gather_filters(job, index * LANES, c, g);
        for (size_t k = 0; k < 3; k++)
            to_points(t, g + k, 3, half + k * side);
        float *to = job->packed + (index * in + c) * LANES;
        for (size_t i = 0; i < side; i++) {
            to_points(t, half + i, side, row);
            for (size_t j = 0; j < side; j++, to += point_stride)
                for (size_t l = 0; l < LANES; l++)
                    to[l] = (float)row[j][l];
        }
    }
}

void ln_winograd_f32_pack(size_t m, const ln_conv_shape *shape, const float *weight, float *packed,
                          ln_pool *pool)
{
    pack_job job = {
        .shape = shape, .weight = weight, .packed = packed, .transform = transform_of(m)};
    ln_pool_run(pool, ceil_div(shape->out_channels, LANES), pack_block, &job);
}

// ---- Errors ----

double ln_winograd_f32_error(size_t m, size_t in_channels)
{
    // The square, for two dimensions, of max over j of the sum over points i of
    // |A^T[j][i]| max_k |G[i][k]| sum_l |B^T[i][l]|.
    static const double amplification[3] = {16, 205, 1605};
    // Roundings on the longest way from an input to an output: 3 + 3 in B, 1 in U, a channel each
    // in the sum, 4 + 4 in A.
    double roundings = (double)in_channels + 15, unit = 0x1p-24;
    return amplification[m / 2 - 1] * roundings * unit / (1 - roundings * unit);
}

// ---- The plan ----

// Measured: more tiles in a block gain nothing, fewer read the weights too often; more channels at
// a time gain nothing either, and an odd number of panels costs a tenth to a third.
#define BLOCK_TILES 28
#define LEAST_TILES 12 // of a block that a thread has for itself
#define CHUNK       64
#define PAIR        (size_t)(2 * LANES)
// What the workspace should stay below; only half a block of very many channels does not.
#define MAX_BYTES   ((size_t)9 << 19)
#define MAX_SLOTS   8

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
    size_t zeros; // floats of the row that stands for pixels outside
    block_cut cut;
    size_t apart_slots;  // of V and M where threads have blocks of their own
    size_t shared_slots; // of M where they share V
} winograd_plan;

// Rows and planes have an odd number of cache lines, so that those of several rows or planes do not
// meet in the same few sets.
static size_t odd_lines(size_t floats)
{
    return (ceil_div(floats, LANES) | 1) * LANES;
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
    size_t tiles = ceil_div(plan->tile_count, block_count);
    block_cut cut = {.block_count = block_count, .chunk = chunk, .m_row = odd_lines(chunk)};
    cut.v_plane = odd_lines(tiles * plan->v_row);
    cut.m_plane = odd_lines(tiles * cut.m_row);
    cut.v_floats = plan->points * cut.v_plane;
    cut.m_floats = plan->points * cut.m_plane;
    return cut;
}

// How many of so many floats there is room for: at least 1, and at most `most` otherwise.
static size_t fit(size_t room, size_t floats, size_t most)
{
    size_t count = least(room / sizeof(float) / floats, most);
    return count ? count : 1;
}

static size_t tiles_of_block(const winograd_plan *plan)
{
    size_t tile_bytes = plan->points * plan->v_row * sizeof(float);
    return tile_bytes * BLOCK_TILES <= MAX_BYTES ? BLOCK_TILES : BLOCK_TILES / 2;
}

static winograd_plan plan_of(size_t m, const ln_conv_shape *s)
{
    winograd_plan plan = {.m = m, .points = (m + 2) * (m + 2)};
    plan.tiles_y = ceil_div(s->out_h, m);
    plan.tiles_x = ceil_div(s->out_w, m);
    plan.tile_count = tiles_of_images(s, plan.tiles_y, plan.tiles_x);
    plan.v_row = odd_lines(s->in_channels);
    plan.zeros = plan.v_row;

    size_t out = round_up(s->out_channels);
    plan.cut =
        cut_blocks(&plan, ceil_div(plan.tile_count, tiles_of_block(&plan)), least(out, CHUNK));

    size_t v_floats = plan.cut.v_floats, m_floats = plan.cut.m_floats;
    size_t left = MAX_BYTES - least(v_floats * sizeof(float), MAX_BYTES);
    plan.apart_slots =
        fit(MAX_BYTES, v_floats + m_floats, least(plan.tile_count / LEAST_TILES, MAX_SLOTS));
    plan.shared_slots = fit(left, m_floats, least(ceil_div(out, PAIR), MAX_SLOTS));
    return plan;
}

// Blocks for so many threads, each with the same number of them; 0 if they would be too small, or
// there is no workspace for so many.
static size_t blocks_apart(const winograd_plan *plan, size_t threads)
{
    size_t count = plan->cut.block_count;
    if (threads == 1)
        return count;
    if (count / threads < MAX_SLOTS && plan->tile_count < SIZE_MAX / 2)
        count = ceil_div(count, threads) * threads;
    if (plan->tile_count / count < LEAST_TILES || plan->apart_slots < least(threads, MAX_SLOTS))
        return 0;
    return count;
}

// Not for images that have enough tiles for as many threads as there are slots.
static bool may_share_blocks(const winograd_plan *plan)
{
    return blocks_apart(plan, MAX_SLOTS) == 0;
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
    size_t apart = plan.apart_slots * (plan.cut.v_floats + plan.cut.m_floats);
    size_t shared = plan.cut.v_floats + plan.shared_slots * plan.cut.m_floats;
    bool is_apart = apart > shared || !may_share_blocks(&plan);
    return (plan.zeros + (is_apart ? apart : shared)) * sizeof(float);
}

size_t ln_winograd_f32_thread_workspace(size_t m, const ln_conv_shape *shape)
{
    if (has_too_many_channels(shape))
        return SIZE_MAX;
    if (is_empty(shape))
        return 0;
    winograd_plan plan = plan_of(m, shape);
    plan.tile_count = least(plan.tile_count, tiles_of_block(&plan));
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
    float *workspace;        // behind the zeros
    atomic_uint *free_slots; // a bit for each
    size_t pieces;
    size_t shares;            // of the channels of a block that threads share
    size_t first, tile_count; // of that block
} winograd_job;

// The slot of a piece while it runs. The lowest one that is free: where threads take turns it is
// the one that the thread had before, which is in its cache.
static size_t take_slot(const winograd_job *job)
{
    unsigned old = atomic_load_explicit(job->free_slots, memory_order_relaxed);
    while (old == 0 ||
           !atomic_compare_exchange_weak_explicit(job->free_slots, &old, old & (old - 1),
                                                  memory_order_acquire, memory_order_relaxed)) {
        if (old == 0) // more pieces at the same time than the pool has threads
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
                                   .rows = least(plan->m, s->out_h - place.y),
                                   .columns = least(plan->m, s->out_w - place.x),
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

// What is read behind the weights of the output channels up to `end` for a block: those of the next
// channels, or of the first ones for the next block, or, as a rule, of the next operator.
static const float *weights_behind(const winograd_job *job, size_t end, bool is_last_block)
{
    const ln_conv_shape *s = &job->args->shape;
    if (end < s->out_channels)
        return job->args->packed + end * s->in_channels;
    size_t floats = job->plan.points * round_up(s->out_channels) * s->in_channels;
    return job->args->packed + (is_last_block ? floats : 0);
}

// The output channels [first, end), some at a time.
static void multiply_channels(const winograd_job *job, size_t block, size_t tiles, size_t first,
                              size_t end, const float *v, float *m)
{
    const winograd_plan *plan = &job->plan;
    const block_cut *cut = &job->cut;
    const ln_conv_shape *s = &job->args->shape;
    size_t point_stride = round_up(s->out_channels) * s->in_channels;
    bool is_last_block = block + tiles == plan->tile_count;
    for (size_t channel = first; channel < end; channel += cut->chunk) {
        size_t channels = least(cut->chunk, end - channel);
        const float *u = job->args->packed + channel * s->in_channels;
        const float *behind = weights_behind(job, channel + channels, is_last_block);
        for (size_t p = 0; p < plan->points; p++) {
            job->kernel->product(&(ln_winograd_f32_product){
                .rows = tiles,
                .channels = s->in_channels,
                .panels = ceil_div(channels, LANES),
                .v = v + p * cut->v_plane,
                .v_row = plan->v_row,
                .u = u + p * point_stride,
                .u_after = p + 1 < plan->points ? u + (p + 1) * point_stride : behind,
                .m = m + p * cut->m_plane,
                .m_row = cut->m_row});
        }
        for (size_t t = 0; t < tiles; t++)
            transform_output(job, block + t, channel, channels, m + t * cut->m_row);
    }
}

// The part `index` of `parts` of `count` things: where it begins.
static size_t part_begin(size_t count, size_t index, size_t parts)
{
    return count / parts * index + count % parts * index / parts;
}

// ---- Blocks of one thread ----

static void run_blocks(void *user, size_t piece)
{
    const winograd_job *job = user;
    const block_cut *cut = &job->cut;
    size_t slot = take_slot(job), end = part_begin(cut->block_count, piece + 1, job->pieces);
    float *v = job->workspace + slot * (cut->v_floats + cut->m_floats);
    for (size_t b = part_begin(cut->block_count, piece, job->pieces); b < end; b++) {
        size_t first = part_begin(job->plan.tile_count, b, cut->block_count);
        size_t tiles = part_begin(job->plan.tile_count, b + 1, cut->block_count) - first;
        transform_inputs(job, first, 0, tiles, v);
        multiply_channels(job, first, tiles, 0, job->args->shape.out_channels, v,
                          v + cut->v_floats);
    }
    give_slot(job, slot);
}

static void run_apart(winograd_job *job, size_t threads, ln_pool *pool)
{
    const winograd_plan *plan = &job->plan;
    size_t slots = plan->apart_slots, count = blocks_apart(plan, least(threads, slots));
    if (count)
        job->cut = cut_blocks(plan, count, plan->cut.chunk);
    assert(job->cut.v_floats <= plan->cut.v_floats && job->cut.m_floats <= plan->cut.m_floats);
    job->pieces = threads <= slots ? job->cut.block_count : least(job->cut.block_count, slots);
    atomic_store_explicit(job->free_slots, (1u << slots) - 1, memory_order_relaxed);
    ln_pool_run(pool, job->pieces, run_blocks, job);
}

// ---- Blocks that threads share ----

// Tiles of a part that a thread has for itself, where there are fewer pairs of panels than threads.
#define LEAST_TILES_OF_PART 6

static void run_input_piece(void *user, size_t piece)
{
    const winograd_job *job = user;
    size_t first = part_begin(job->tile_count, piece, job->pieces);
    size_t end = part_begin(job->tile_count, piece + 1, job->pieces);
    transform_inputs(job, job->first, first, end - first, job->workspace);
}

// Some tiles of the block with the channels of the pairs of panels [first, end).
static void multiply_pairs(const winograd_job *job, size_t tile, size_t count, size_t first,
                           size_t end, float *m)
{
    const float *v = job->workspace + tile * job->plan.v_row;
    multiply_channels(job, job->first + tile, count, first * PAIR,
                      least(end * PAIR, job->args->shape.out_channels), v,
                      m + tile * job->cut.m_row);
}

// Where a piece begins, in halves: pairs of panels with the first or the second half of the tiles.
// Each thread has as many of them as the others, so that an odd number of pairs is no loss; inside
// its share pieces are whole pairs, because a half reads all weights of its pair.
static size_t halves_begin(const winograd_job *job, size_t piece)
{
    size_t halves = 2 * ceil_div(job->args->shape.out_channels, PAIR);
    size_t of_share = job->pieces / job->shares, share = piece / of_share;
    size_t first = part_begin(halves, share, job->shares);
    size_t count = part_begin(halves, share + 1, job->shares) - first;
    if (piece % of_share == 0)
        return first;
    return ceil_div(first + part_begin(count, piece % of_share, of_share), 2) * 2;
}

static void run_channels_piece(void *user, size_t piece)
{
    const winograd_job *job = user;
    size_t first = halves_begin(job, piece), end = halves_begin(job, piece + 1);
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
static void run_tiles_piece(void *user, size_t piece)
{
    const winograd_job *job = user;
    size_t first = part_begin(job->tile_count, piece, job->pieces);
    size_t count = part_begin(job->tile_count, piece + 1, job->pieces) - first;
    size_t pairs = ceil_div(job->args->shape.out_channels, PAIR);
    transform_inputs(job, job->first + first, 0, count, job->workspace + first * job->plan.v_row);
    multiply_pairs(job, first, count, 0, pairs, job->workspace + job->cut.v_floats);
}

static void run_shared_channels(winograd_job *job, size_t of_share, ln_pool *pool)
{
    job->pieces = least(job->tile_count, MAX_SLOTS);
    ln_pool_run(pool, job->pieces, run_input_piece, job);
    job->pieces = job->shares * of_share;
    ln_pool_run(pool, job->pieces, run_channels_piece, job);
}

// How many pieces a thread's share is cut into: two or more, and of as many channels as are made at
// a time, since V is read again for those that follow.
static size_t pieces_of_share(size_t halves)
{
    size_t chunks = halves * PAIR / 2 / CHUNK;
    return chunks >= 2 ? chunks : halves >= 4 ? 2 : 1;
}

static void run_shared(winograd_job *job, size_t threads, ln_pool *pool)
{
    const winograd_plan *plan = &job->plan;
    size_t pairs = ceil_div(job->args->shape.out_channels, PAIR);
    job->shares = least(least(threads, pairs), plan->shared_slots);
    size_t of_share = 1;
    if (threads <= plan->shared_slots)
        of_share = pieces_of_share(2 * pairs / job->shares);
    atomic_store_explicit(job->free_slots, (1u << plan->shared_slots) - 1, memory_order_relaxed);
    for (size_t b = 0; b < job->cut.block_count; b++) {
        job->first = part_begin(plan->tile_count, b, job->cut.block_count);
        job->tile_count = part_begin(plan->tile_count, b + 1, job->cut.block_count) - job->first;
        size_t parts = least(threads, job->tile_count / LEAST_TILES_OF_PART);
        if (pairs >= threads || parts < 2) {
            run_shared_channels(job, of_share, pool);
            continue;
        }
        job->pieces = parts;
        ln_pool_run(pool, parts, run_tiles_piece, job);
    }
}

// ---- The job ----

// Below so many multiplications, some 10 microseconds, it takes as long to hand over a half.
#define POOL_ABOVE_PRODUCTS 1e6

void ln_winograd_f32(ln_cpu_isa isa, size_t m, const ln_conv_nhwc_f32_args *args, ln_pool *pool,
                     float *workspace)
{
    const ln_conv_shape *s = &args->shape;
    assert(m == 2 || m == 4 || m == 6);

    if (is_empty(s))
        return;
    atomic_uint free_slots = 0;
    winograd_job job = {.args = args,
                        .kernel = LN_SELECT_KERNEL(kernels, isa)->kernel,
                        .plan = plan_of(m, s),
                        .zeros = workspace,
                        .free_slots = &free_slots};
    const winograd_plan *plan = &job.plan;
    double products = (double)plan->points * (double)plan->tile_count * (double)s->in_channels *
                      (double)s->out_channels;
    size_t threads = products < POOL_ABOVE_PRODUCTS ? 1 : ln_pool_thread_count(pool);
    job.cut = plan->cut;
    job.workspace = workspace + plan->zeros;
    memset(workspace, 0, plan->zeros * sizeof *workspace);
    if (blocks_apart(plan, least(threads, MAX_SLOTS)) == 0 && may_share_blocks(plan))
        run_shared(&job, threads, pool);
    else
        run_apart(&job, threads, threads == 1 ? NULL : pool);
}
