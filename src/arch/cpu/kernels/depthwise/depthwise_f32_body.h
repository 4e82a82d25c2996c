// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution, written once in vector verbs. A kernel file includes the verbs of its
// instruction set, then this.
//
// A tile is DEPTHWISE_TILE outputs next to each other, for one vector of channels: for each row of
// the kernel, each input that the windows look at is loaded once and goes to all sums that need it.
// Inputs come row by row, from the left, and so do the taps of every window. At the borders of the
// image a tile leaves out the inputs that are not there.
//
// Tiles follow each other downwards, for a block of channels that is small enough for the inputs of
// a tile to stay in the first cache until the tiles below have used them.

#ifndef LN_ARCH_CPU_KERNELS_DEPTHWISE_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_DEPTHWISE_F32_BODY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "arch/cpu/kernels/actf.h"
#include "arch/cpu/kernels/depthwise/depthwise.h"
#include "arch/cpu/kernels/eltwise/eltwise.h"
#include "arch/cpu/kernels/window.h"
#include "arch/cpu/simd/unroll.h"

// Sums of a tile: with the weights of a kernel row and an input they fill 16 registers, and all
// usual widths of images are multiples.
#define DEPTHWISE_TILE 7

// Kernel widths and steps that have tiles: X(columns, step). None where they would not be faster,
// and are long.
#define DEPTHWISE_MAX_KERNEL 7
#if VF_IS_PORTABLE
#define DEPTHWISE_SIZES(X)
#else
#define DEPTHWISE_SIZES(X) X(3, 1) X(3, 2) X(5, 1) X(5, 2) X(7, 1)
#endif

// Bytes of input that tiles below each other should find again.
#define DEPTHWISE_KEPT ((size_t)20 << 10)

// Where an epilogue is done.
typedef enum depthwise_form {
    DEPTHWISE_BOUNDED,    // in registers: bias; no activation, relu, clip
    DEPTHWISE_HARD_SWISH, // that, too
    DEPTHWISE_LATE,       // the activation in the output, when all channels of a tile are there
    DEPTHWISE_WAITING,    // from sums in memory: addends
} depthwise_form;

// What all tiles of a call have in common.
typedef struct depthwise_job {
    const ln_conv_nhwc_f32_args *args;
    size_t in_row;   // floats from one row of the input to the next
    size_t w_stride; // and from one tap of the weights
    ln_window_1d rows, columns;
    depthwise_form form;
    float low, high; // of BOUNDED and LATE; an infinite bound changes nothing
} depthwise_job;

VF_VERB vf depthwise_load(const float *p, size_t lanes)
{
    return lanes ? vf_load_n(p, lanes) : vf_load(p);
}

// ---- Epilogue ----

// Sums that wait for an epilogue of more than bias and bounds.
typedef struct depthwise_waiting {
    const depthwise_job *job;
    size_t pixel, count; // through images, rows and columns
    size_t c, lanes;
    float *sums; // `count` vectors; the epilogue is done in them
} depthwise_waiting;

static __attribute__((noinline)) void depthwise_finish(const depthwise_waiting *w)
{
    const ln_conv_nhwc_f32_args *args = w->job->args;
    const ln_epilogue_f32 *e = &args->epilogue;
    const ln_act_f32_args act = {.act = e->act, .alpha = e->alpha, .beta = e->beta};
    const vf bias =
        e->bias ? vf_load_n(e->bias + w->c, w->lanes) : vf_set1(-0.0f); // changes nothing
    const float *addend = e->addend ? e->addend + w->pixel * e->addend_stride + w->c : NULL;
    for (size_t i = 0; i < w->count; i++) {
        vf v = vf_add(vf_load(w->sums + i * VF_LANES), bias);
        if (addend && !e->is_addend_last)
            v = vf_add(v, vf_load_n(addend + i * e->addend_stride, w->lanes));
        vf_store(w->sums + i * VF_LANES, v);
    }
    VF_KERNEL(ln_k_act_f32)(&act, w->count * VF_LANES, w->sums, w->sums);
    for (size_t i = 0; i < w->count; i++) {
        vf v = vf_load(w->sums + i * VF_LANES);
        if (addend && e->is_addend_last)
            v = vf_add(v, vf_load_n(addend + i * e->addend_stride, w->lanes));
        vf_store_n(args->y + (w->pixel + i) * args->y_stride + w->c, v, w->lanes);
    }
}

VF_VERB void depthwise_silu_abreast(float *y, size_t y_stride, const int count)
{
    vf v[VF_ABREAST_MAX];
    LN_UNROLL
    for (int i = 0; i < count; i++)
        v[i] = vf_load(y + (size_t)i * y_stride);
    vf_silu_each(v, count);
    LN_UNROLL
    for (int i = 0; i < count; i++)
        vf_store(y + (size_t)i * y_stride, v[i]);
}

// SiLU of whole vectors of `channels` of neighbouring pixels, in place: down the pixels, since rows
// of channels are short.
static __attribute__((noinline)) void depthwise_silu(float *y, size_t y_stride, size_t pixels,
                                                     size_t channels)
{
    const size_t many = VF_LANES == 16 ? 4 : 2, few = many - 1;
    for (size_t c = 0; c < channels; c += VF_LANES) {
        float *at = y + c;
        size_t left = pixels;
        for (; left >= many; left -= many, at += many * y_stride)
            depthwise_silu_abreast(at, y_stride, (int)many);
        for (; left >= few; left -= few, at += few * y_stride)
            depthwise_silu_abreast(at, y_stride, (int)few);
        for (; few > 1 && left > 0; left--, at += y_stride)
            depthwise_silu_abreast(at, y_stride, 1);
    }
}

// The activation of `channels` of neighbouring pixels, in place.
static __attribute__((noinline)) void depthwise_activate(const ln_epilogue_f32 *e, float *y,
                                                         size_t y_stride, size_t pixels,
                                                         size_t channels)
{
    const ln_act_f32_args act = {.act = e->act, .alpha = e->alpha, .beta = e->beta};
    if (e->act == LN_ACT_SILU && channels % VF_LANES == 0) {
        depthwise_silu(y, y_stride, pixels, channels);
        return;
    }
    if (channels == y_stride) { // they follow each other
        channels *= pixels;
        pixels = 1;
    }
    for (size_t i = 0; i < pixels; i++)
        VF_KERNEL(ln_k_act_f32)(&act, channels, y + i * y_stride, y + i * y_stride);
}

// ---- Tiles ----

// A column of tiles, one below the other: what they have in common. Stores to the output could be
// stores to anything, so these are at hand in copies.
typedef struct depthwise_column {
    const depthwise_job *job;
    size_t outputs;         // of a tile, at most DEPTHWISE_TILE
    int left, right;        // inputs of a row that are inside, counted from the first one
    size_t x_stride, x_row; // floats to the next input of a window, on each axis
    size_t w_stride, y_stride, y_row;
    const float *bias; // NULL: none
    depthwise_form form;
    float bounds[2]; // low and high, or alpha and beta
} depthwise_column;

// A tile of it, for one vector of channels.
typedef struct depthwise_place {
    size_t top, bottom; // the first input rows that are inside, and after them, of those below
    const float *x;     // the first input that the windows look at, if it were inside
    const float *w;
    float *y;
    size_t pixel, c; // which output y is
} depthwise_place;

VF_VERB vf depthwise_epilogue(const depthwise_column *column, vf v, vf bias)
{
    const vf low = vf_set1(column->bounds[0]), high = vf_set1(column->bounds[1]);
    v = vf_add(v, bias);
    if (column->form == DEPTHWISE_HARD_SWISH)
        return vf_act(LN_ACT_HARD_SWISH, low, high, v);
    return vf_clip(v, low, high);
}

static __attribute__((noinline)) void depthwise_wait(const depthwise_column *column,
                                                     const depthwise_place *at, size_t lanes,
                                                     float *sums)
{
    const depthwise_waiting waiting = {.job = column->job,
                                       .pixel = at->pixel,
                                       .count = column->outputs,
                                       .c = at->c,
                                       .lanes = lanes,
                                       .sums = sums};
    depthwise_finish(&waiting);
}

// All outputs of a whole vector.
VF_VERB void depthwise_store_tile(const depthwise_column *column, const depthwise_place *at,
                                  const vf *sums)
{
    if (column->form == DEPTHWISE_WAITING) {
        float stored[DEPTHWISE_TILE * VF_LANES];
        LN_UNROLL
        for (int i = 0; i < DEPTHWISE_TILE; i++)
            vf_store(stored + i * VF_LANES, sums[i]);
        depthwise_wait(column, at, VF_LANES, stored);
        return;
    }
    // -0 changes nothing.
    const vf bias = column->bias ? vf_load(column->bias + at->c) : vf_set1(-0.0f);
    vf out[DEPTHWISE_TILE];
    LN_UNROLL
    for (int i = 0; i < DEPTHWISE_TILE; i++)
        out[i] = depthwise_epilogue(column, sums[i], bias);
    LN_UNROLL
    for (int i = 0; i < DEPTHWISE_TILE; i++)
        vf_store(at->y + (size_t)i * column->y_stride, out[i]);
}

// The outputs that `column` says, for the first `lanes` channels.
static __attribute__((noinline)) void depthwise_store_some(const depthwise_column *column,
                                                           const depthwise_place *at, size_t lanes,
                                                           float *sums)
{
    if (column->form == DEPTHWISE_WAITING) {
        depthwise_wait(column, at, lanes, sums);
        return;
    }
    const vf bias = column->bias ? vf_load_n(column->bias + at->c, lanes) : vf_set1(-0.0f);
    float *y = at->y;
    for (size_t i = 0; i < column->outputs; i++, y += column->y_stride) {
        const vf out = depthwise_epilogue(column, vf_load(sums + i * VF_LANES), bias);
        if (lanes == VF_LANES)
            vf_store(y, out);
        else
            vf_store_n(y, out, lanes);
    }
}

// Bytes to the inputs or weights of a row, for addresses of a sum and a multiple.
typedef struct depthwise_steps {
    uintptr_t one, three, five, seven;
} depthwise_steps;

VF_VERB depthwise_steps depthwise_steps_of(size_t stride)
{
    const uintptr_t one = stride * sizeof(float);
    return (depthwise_steps){one, 3 * one, 5 * one, 7 * one};
}

// Compilers would compute the distances of all inputs before a loop, which are more than there are
// registers, and load them again each time. Here they cannot know that distances stay the same.
VF_VERB void depthwise_forget(depthwise_steps *s)
{
    __asm__("" : "+r"(s->one), "+r"(s->three), "+r"(s->five), "+r"(s->seven));
}

VF_VERB const float *depthwise_step_few(uintptr_t row, const depthwise_steps *s, const int i)
{
    switch (i) {
    case 3: return (const float *)(row + s->three);
    case 5: return (const float *)(row + s->five);
    case 6: return (const float *)(row + 2 * s->three);
    case 7: return (const float *)(row + s->seven);
    default: return (const float *)(row + (uintptr_t)i * s->one);
    }
}

// Float number i, a constant, of a row.
VF_VERB const float *depthwise_step(uintptr_t row, const depthwise_steps *s, const int i)
{
    if (i > 8) {
        row += 8 * s->one;
        return i <= 16 ? depthwise_step_few(row, s, i - 8)
                       : (const float *)(row + (uintptr_t)(i - 8) * s->one);
    }
    return depthwise_step_few(row, s, i);
}

// The inputs that the windows of a row of outputs look at.
#define DEPTHWISE_INPUTS(k, s) ((DEPTHWISE_TILE - 1) * (s) + (k))

// Those that a padding of half a kernel takes from the first tile of a row, and from the last one.
#define DEPTHWISE_LESS_LEFT(k)     ((k) / 2)
#define DEPTHWISE_LESS_RIGHT(k, s) ((k) / 2 + 1 - (s))

// What may be left out of the inputs of a whole tile is one of these, or both: a branch for each
// is foreseen, and takes less code than a tile for each of four cases. Wide kernels are rare, and
// large when they are written out; theirs have all inputs.
#define DEPTHWISE_HAS_BORDERS(k) ((k) < DEPTHWISE_MAX_KERNEL)

// A kernel of k columns that steps by s. All numbers but `lanes` are constants where this is
// inlined. `is_whole`: all lanes and outputs are wanted, and the inputs of a row are all, but for
// those of the borders; else those that `column` says.
VF_VERB void depthwise_tile(const int k, const int s, const bool is_whole, size_t lanes,
                            const depthwise_column *column, const depthwise_place *at)
{
    const int inputs = DEPTHWISE_INPUTS(k, s);
    const size_t some = is_whole ? 0 : lanes;
    const bool less_left = DEPTHWISE_HAS_BORDERS(k) && column->left > 0;
    const bool less_right = DEPTHWISE_HAS_BORDERS(k) && column->right < inputs;
    const float *w = at->w + at->top * (size_t)k * column->w_stride;
    const float *row = at->x + at->top * column->x_row;
    vf sums[DEPTHWISE_TILE], weights[DEPTHWISE_MAX_KERNEL];
    LN_UNROLL
    for (int i = 0; i < DEPTHWISE_TILE; i++)
        sums[i] = vf_set1(0);
    depthwise_steps x_steps = depthwise_steps_of(column->x_stride);
    depthwise_steps w_steps = depthwise_steps_of(column->w_stride);
    for (size_t ky = at->top; ky < at->bottom; ky++) {
        depthwise_forget(&x_steps);
        depthwise_forget(&w_steps);
        LN_UNROLL
        for (int i = 0; i < k; i++)
            weights[i] = depthwise_load(depthwise_step((uintptr_t)w, &w_steps, i), some);
        LN_UNROLL
        for (int x = 0; x < inputs; x++) {
            if (is_whole && x < DEPTHWISE_LESS_LEFT(k) && less_left)
                continue;
            if (is_whole && x >= inputs - DEPTHWISE_LESS_RIGHT(k, s) && less_right)
                continue;
            if (!is_whole && (x < column->left || x >= column->right))
                continue;
            vf in = depthwise_load(depthwise_step((uintptr_t)row, &x_steps, x), some);
            LN_UNROLL
            for (int i = 0; i < DEPTHWISE_TILE; i++) {
                const int kx = x - i * s;
                if (kx >= 0 && kx < k)
                    sums[i] = vf_fma(in, weights[kx], sums[i]);
            }
        }
        row += column->x_row;
        w += (size_t)k * column->w_stride;
    }
    if (is_whole) {
        depthwise_store_tile(column, at, sums);
        return;
    }
    float stored[DEPTHWISE_TILE * VF_LANES];
    LN_UNROLL
    for (int i = 0; i < DEPTHWISE_TILE; i++)
        vf_store(stored + i * VF_LANES, sums[i]);
    depthwise_store_some(column, at, lanes, stored);
}

#if VF_REGISTERS >= 32
// The same for two tiles below each other, 3x3 and step 1: four rows of inputs, all weights in
// registers. A whole vector, and `is_whole`.
VF_VERB void depthwise_pair(const depthwise_column *column, const depthwise_place *at)
{
    const int inputs = DEPTHWISE_INPUTS(3, 1);
    const bool less_left = column->left > 0, less_right = column->right < inputs;
    vf sums[2][DEPTHWISE_TILE], weights[3][3];
    LN_UNROLL
    for (int i = 0; i < DEPTHWISE_TILE; i++)
        sums[0][i] = sums[1][i] = vf_set1(0);
    LN_UNROLL
    for (int i = 0; i < 9; i++)
        weights[i / 3][i % 3] = vf_load(at->w + (size_t)i * column->w_stride);
    const float *row = at->x;
    LN_UNROLL
    for (int y = 0; y < 4; y++, row += column->x_row) {
        if ((size_t)y < at->top || (size_t)y >= at->bottom)
            continue;
        LN_UNROLL
        for (int x = 0; x < inputs; x++) {
            if ((x == 0 && less_left) || (x + 1 == inputs && less_right))
                continue;
            vf in = vf_load(row + (size_t)x * column->x_stride);
            LN_UNROLL
            for (int i = 0; i < 2 * DEPTHWISE_TILE; i++) {
                const int down = i / DEPTHWISE_TILE, ky = y - down;
                const int across = i % DEPTHWISE_TILE, kx = x - across;
                if (ky >= 0 && ky < 3 && kx >= 0 && kx < 3)
                    sums[down][across] = vf_fma(in, weights[ky][kx], sums[down][across]);
            }
        }
    }
    depthwise_store_tile(column, at, sums[0]);
    depthwise_place below = *at;
    below.pixel += column->y_row / column->y_stride;
    below.y += column->y_row;
    depthwise_store_tile(column, &below, sums[1]);
}
#endif

// ---- Any kernel, stride and dilation ----

#define DEPTHWISE_VECTORS 4

VF_VERB void depthwise_block(const int vectors, size_t lanes, const depthwise_job *job,
                             size_t pixel, const float *x, const size_t taps[4], size_t c)
{
    const ln_conv_nhwc_f32_args *args = job->args;
    const ln_conv_shape *shape = &args->shape;
    const size_t column_step = shape->dilation_w * args->x_stride;
    const size_t row_step = shape->dilation_h * job->in_row;
    vf sums[DEPTHWISE_VECTORS];
    LN_UNROLL
    for (int v = 0; v < vectors; v++)
        sums[v] = vf_set1(0);
    for (size_t ky = taps[0]; ky < taps[1]; ky++) {
        const float *in = x + (ky - taps[0]) * row_step + c;
        const float *w = args->packed + (ky * shape->kernel_w + taps[2]) * job->w_stride + c;
        for (size_t kx = taps[2]; kx < taps[3]; kx++) {
            LN_UNROLL
            for (int v = 0; v < vectors; v++)
                sums[v] = vf_fma(depthwise_load(in + v * VF_LANES, lanes),
                                 depthwise_load(w + v * VF_LANES, lanes), sums[v]);
            in += column_step;
            w += job->w_stride;
        }
    }
    LN_UNROLL
    for (int v = 0; v < vectors; v++) {
        float stored[VF_LANES];
        const depthwise_waiting waiting = {.job = job,
                                           .pixel = pixel,
                                           .count = 1,
                                           .c = c + (size_t)v * VF_LANES,
                                           .lanes = lanes ? lanes : VF_LANES,
                                           .sums = stored};
        vf_store(stored, sums[v]);
        depthwise_finish(&waiting);
    }
}

// One output pixel.
static void depthwise_pixel(const depthwise_job *job, size_t image, size_t oy, size_t ox)
{
    const ln_conv_nhwc_f32_args *args = job->args;
    size_t taps[4], c = 0, end = args->shape.out_channels;
    ln_window_taps_inside(&job->rows, oy, &taps[0], &taps[1]);
    ln_window_taps_inside(&job->columns, ox, &taps[2], &taps[3]);
    const float *x = args->x;
    if (taps[0] == taps[1])
        taps[3] = taps[2];
    if (taps[2] < taps[3]) {
        size_t row = image * args->shape.in_h + ln_window_at(&job->rows, oy, taps[0]);
        x += row * job->in_row + ln_window_at(&job->columns, ox, taps[2]) * args->x_stride;
    }
    size_t pixel = (image * args->shape.out_h + oy) * args->shape.out_w + ox;
    for (; c + DEPTHWISE_VECTORS * VF_LANES <= end; c += DEPTHWISE_VECTORS * VF_LANES)
        depthwise_block(DEPTHWISE_VECTORS, 0, job, pixel, x, taps, c);
    for (; c + VF_LANES <= end; c += VF_LANES)
        depthwise_block(1, 0, job, pixel, x, taps, c);
    if (c < end)
        depthwise_block(1, end - c, job, pixel, x, taps, c);
}

// ---- Images ----

// Whether two tiles below each other may be made at once.
VF_VERB bool depthwise_has_pairs(const int k, const int s, const depthwise_job *job, size_t c,
                                 size_t end)
{
#if VF_REGISTERS >= 32
    const bool is_vectors = (end - c) % VF_LANES == 0 || !job->args->epilogue.addend;
    return k == 3 && s == 1 && job->rows.kernel == 3 && job->rows.stride == 1 &&
           job->rows.dilation == 1 && job->rows.pad <= 2 && end >= VF_LANES && is_vectors;
#else
    (void)k, (void)s, (void)job, (void)c, (void)end;
    return false;
#endif
}

// The tiles of a column in the rows [row, row_end) of an image, for the channels [c, end); `first`
// is the first input of its windows, which may be in front of the image.
VF_VERB void depthwise_tiles(const int k, const int s, const bool is_whole,
                             const depthwise_column *given, size_t image, size_t row,
                             size_t row_end, size_t out, ptrdiff_t first, size_t c, size_t end)
{
    const depthwise_column column = *given;
    const depthwise_job *job = column.job;
    const ln_conv_nhwc_f32_args *args = job->args;
    const ln_conv_shape *shape = &args->shape;
    const bool is_pairs = is_whole && depthwise_has_pairs(k, s, job, c, end);
    // The last vector may do channels again, if there is nothing that it would add twice.
    const bool overlaps = end >= VF_LANES && !args->epilogue.addend;
    for (size_t step = 1; row < row_end; row += step) {
        step = is_pairs && row + 1 < row_end ? 2 : 1;
        size_t top, bottom;
        ln_window_taps_inside(&job->rows, row, &top, &bottom);
        if (step == 2) { // the window below ends a row later
            const size_t limit = shape->in_h + shape->pad_top;
            bottom = limit <= row ? 0 : limit - row < 4 ? limit - row : 4;
        }
        const size_t pixel = (image * shape->out_h + row) * shape->out_w + out;
        const ptrdiff_t in_row = (ptrdiff_t)(image * shape->in_h + row * shape->stride_h);
        const ptrdiff_t x = (in_row - (ptrdiff_t)shape->pad_top) * (ptrdiff_t)job->in_row +
                            first * (ptrdiff_t)column.x_stride;
        for (size_t i = c; i < end; i += VF_LANES) {
            size_t lanes = VF_LANES;
            if (end - i < VF_LANES && overlaps)
                i = end - VF_LANES;
            else if (end - i < VF_LANES)
                lanes = end - i;
            const depthwise_place at = {.top = top,
                                        .bottom = bottom,
                                        .x = args->x + (x + (ptrdiff_t)i),
                                        .w = args->packed + i,
                                        .y = args->y + pixel * column.y_stride + i,
                                        .pixel = pixel,
                                        .c = i};
#if VF_REGISTERS >= 32
            if (is_whole && k == 3 && s == 1 && step == 2) {
                depthwise_pair(&column, &at);
                continue;
            }
#endif
            depthwise_tile(k, s, is_whole, lanes, &column, &at);
        }
        for (size_t i = 0; column.form == DEPTHWISE_LATE && i < step; i++) {
            // with the channels in front of c that the last vector did again
            const size_t from = end - c >= VF_LANES || !overlaps ? c : end - VF_LANES;
            depthwise_activate(&args->epilogue,
                               args->y + (pixel + i * shape->out_w) * column.y_stride + from,
                               column.y_stride, column.outputs, end - from);
        }
    }
}

// A column of tiles whose first output is number `out` of a row.
VF_VERB void depthwise_do_column(const int k, const int s, const depthwise_job *job, size_t image,
                                 size_t row, size_t row_end, size_t out, size_t c, size_t end)
{
    const ln_conv_nhwc_f32_args *args = job->args;
    const ln_conv_shape *shape = &args->shape;
    const int inputs = DEPTHWISE_INPUTS(k, s);
    const size_t rest = shape->out_w - out;
    const ptrdiff_t first = (ptrdiff_t)(out * (size_t)s) - (ptrdiff_t)shape->pad_left;
    const ptrdiff_t after = (ptrdiff_t)shape->in_w - first;
    const depthwise_column column = {
        .job = job,
        .outputs = rest < DEPTHWISE_TILE ? rest : DEPTHWISE_TILE,
        .left = first >= 0        ? 0
                : -first < inputs ? (int)-first
                                  : inputs,
        .right = after < 0        ? 0
                 : after < inputs ? (int)after
                                  : inputs,
        .x_stride = args->x_stride,
        .x_row = job->rows.dilation * job->in_row,
        .w_stride = job->w_stride,
        .y_stride = args->y_stride,
        .y_row = shape->out_w * args->y_stride,
        .bias = args->epilogue.bias,
        .form = job->form,
        .bounds = {job->low, job->high},
    };
    const bool is_vector = end >= VF_LANES && (end % VF_LANES == 0 || !args->epilogue.addend);
    const int most = DEPTHWISE_HAS_BORDERS(k) ? DEPTHWISE_LESS_LEFT(k) : 0;
    const int least = inputs - (DEPTHWISE_HAS_BORDERS(k) ? DEPTHWISE_LESS_RIGHT(k, s) : 0);
    const bool is_usual = (column.left == 0 || column.left == most) &&
                          (column.right == inputs || column.right == least);
    if (is_usual && is_vector && column.outputs == DEPTHWISE_TILE)
        depthwise_tiles(k, s, true, &column, image, row, row_end, out, first, c, end);
    else
        depthwise_tiles(k, s, false, &column, image, row, row_end, out, first, c, end);
}

// Channels that a column of tiles is made for.
VF_VERB size_t depthwise_block_channels(const depthwise_job *job)
{
    size_t width = (DEPTHWISE_TILE - 1) * job->columns.stride + job->columns.kernel;
    size_t count = DEPTHWISE_KEPT / sizeof(float) / (width * job->rows.kernel);
    count -= count % 16;
    return count ? count : 16;
}

VF_VERB void depthwise_rows(const int k, const int s, const depthwise_job *job, size_t row,
                            size_t row_end)
{
    const ln_conv_shape *shape = &job->args->shape;
    const size_t block = depthwise_block_channels(job);
    while (row < row_end) {
        size_t image = row / shape->out_h, first = row % shape->out_h;
        size_t rows = shape->out_h - first < row_end - row ? shape->out_h - first : row_end - row;
        for (size_t c = 0; c < shape->out_channels; c += block) {
            size_t rest = shape->out_channels - c, end = c + (rest < block ? rest : block);
            for (size_t x = 0; x < shape->out_w; x += DEPTHWISE_TILE)
                depthwise_do_column(k, s, job, image, first, first + rows, x, c, end);
        }
        row += rows;
    }
}

#define DEPTHWISE_ROWS(k, s)                                                                       \
    static __attribute__((noinline)) void depthwise_rows_##k##_##s(const depthwise_job *job,       \
                                                                   size_t row, size_t row_end)     \
    {                                                                                              \
        depthwise_rows(k, s, job, row, row_end);                                                   \
    }
DEPTHWISE_SIZES(DEPTHWISE_ROWS)

static void depthwise_rows_any(const depthwise_job *job, size_t row, size_t row_end)
{
    const ln_conv_shape *shape = &job->args->shape;
    for (; row < row_end; row++)
        for (size_t ox = 0; ox < shape->out_w; ox++)
            depthwise_pixel(job, row / shape->out_h, row % shape->out_h, ox);
}

// ---- The kernel ----

static void depthwise_choose_form(const ln_epilogue_f32 *e, depthwise_job *job)
{
    job->form = DEPTHWISE_BOUNDED;
    job->low = -__builtin_inff();
    job->high = __builtin_inff();
    if (e->addend)
        job->form = DEPTHWISE_WAITING;
    else if (e->act == LN_ACT_RELU)
        job->low = 0;
    else if (e->act == LN_ACT_CLIP || e->act == LN_ACT_HARD_SWISH) {
        job->form = e->act == LN_ACT_CLIP ? DEPTHWISE_BOUNDED : DEPTHWISE_HARD_SWISH;
        job->low = e->alpha;
        job->high = e->beta;
    } else if (e->act != LN_ACT_NONE)
        job->form = DEPTHWISE_LATE;
}

void VF_KERNEL(ln_k_depthwise_nhwc_f32)(const ln_conv_nhwc_f32_args *args, size_t row,
                                        size_t row_end)
{
    const ln_conv_shape *s = &args->shape;
    depthwise_job job = {.args = args,
                         .in_row = s->in_w * args->x_stride,
                         .w_stride = args->tap_stride ? args->tap_stride : s->out_channels,
                         .rows = ln_conv_rows(s),
                         .columns = ln_conv_columns(s)};
    depthwise_choose_form(&args->epilogue, &job);
#define DEPTHWISE_CALL(k, s)                                                                       \
    if (args->shape.kernel_w == k && args->shape.stride_w == s && args->shape.dilation_w == 1) {   \
        depthwise_rows_##k##_##s(&job, row, row_end);                                              \
        return;                                                                                    \
    }
    DEPTHWISE_SIZES(DEPTHWISE_CALL)
#undef DEPTHWISE_CALL
    depthwise_rows_any(&job, row, row_end);
}

#endif
