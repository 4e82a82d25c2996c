// SPDX-License-Identifier: Apache-2.0
// Convolution of bytes: a product whose rows are gathered from the image, or, of depthwise ones,
// taps.

#include "arch/cpu/kernels/conv_i8/conv_i8.h"

#include <string.h>

#include "arch/cpu/kernels/conv_i8/taps_i8.h"
#include "arch/cpu/kernels/conv_i8/winograd_i8.h"
#include "arch/cpu/kernels/tasks.h"
#include "arch/cpu/kernels/window.h"
#include "base/checked.h"

#define MAX_TAPS 128 // of a depthwise convolution, a multiple of four

bool ln_conv_i8_is_depthwise(const ln_conv_shape *s)
{
    return s->group > 1 && s->group == s->in_channels && s->group == s->out_channels &&
           s->kernel_h <= MAX_TAPS && s->kernel_w <= MAX_TAPS / s->kernel_h;
}

static size_t products_of(const ln_conv_shape *s) // that an output sums up
{
    return s->in_channels / s->group * s->kernel_h * s->kernel_w;
}

static size_t fours_of(const ln_conv_shape *s)
{
    return ln_div_up(s->kernel_h * s->kernel_w, 4);
}

// An image is a volume of one plane.
static ln_conv_i8_depth depth_of(const ln_conv_i8_args *a)
{
    static const ln_conv_i8_depth plane = {{1, 1, 1, 1, 0}, 1};
    return a->depth.out ? a->depth : plane;
}

// The rows of one depth.
static ln_window_1d rows_of(const ln_conv_i8_args *a)
{
    ln_window_1d rows = ln_conv_rows(&a->shape);
    rows.kernel /= depth_of(a).window.kernel;
    return rows;
}

// The images or planes of the result.
static size_t plane_count(const ln_conv_i8_args *a)
{
    return a->shape.batch * depth_of(a).out;
}

size_t ln_conv_i8_channels(const ln_conv_shape *s)
{
    return ln_gemm_i8_columns(s->out_channels) + LN_TILE_I8_LANES;
}

// ---- Packing ----

static size_t depthwise_bytes(const ln_conv_shape *s)
{
    return ln_gemm_i8_columns(s->out_channels) * 4 * fours_of(s);
}

static int32_t *depthwise_sums(const ln_conv_shape *s, const int8_t *packed)
{
    return (int32_t *)(uintptr_t)(packed + depthwise_bytes(s));
}

size_t ln_conv_i8_packed_bytes(const ln_conv_shape *s)
{
    size_t bytes;
    if (ln_conv_i8_is_depthwise(s))
        return depthwise_bytes(s) + ln_gemm_i8_columns(s->out_channels) * sizeof(int32_t);
    size_t of_group = ln_gemm_i8_packed_bytes(products_of(s), s->out_channels / s->group);
    return of_group != SIZE_MAX && ln_size_mul(of_group, s->group, &bytes) ? bytes : SIZE_MAX;
}

static void pack_depthwise(const ln_conv_shape *s, const uint8_t *weight, uint8_t flip,
                           int8_t *packed)
{
    const size_t taps = s->kernel_h * s->kernel_w, padded = ln_gemm_i8_columns(s->out_channels);
    int32_t *sums = depthwise_sums(s, packed);
    memset(packed, 0, depthwise_bytes(s));
    memset(sums, 0, padded * sizeof *sums);
    for (size_t c = 0; c < s->out_channels; c++) {
        for (size_t t = 0; t < taps; t++) {
            int8_t w = (int8_t)(weight[c * taps + t] ^ flip);
            packed[4 * (t / 4 * padded + c) + t % 4] = w;
            sums[c] += w;
        }
    }
}

void ln_conv_i8_pack(const ln_conv_shape *s, const void *weight, bool is_signed, uint8_t *scratch,
                     int8_t *packed, ln_pool *pool)
{
    const size_t taps = s->kernel_h * s->kernel_w, in = s->in_channels / s->group;
    const size_t out = s->out_channels / s->group, k = in * taps;
    const uint8_t *from = weight;
    if (ln_conv_i8_is_depthwise(s)) {
        pack_depthwise(s, from, is_signed ? 0 : 128, packed);
        return;
    }
    // The channels of a tap next to each other, as in the image.
    for (size_t o = 0; o < s->out_channels; o++)
        for (size_t c = 0; c < in; c++)
            for (size_t t = 0; t < taps; t++)
                scratch[o * k + t * in + c] = from[o * k + c * taps + t];
    for (size_t g = 0; g < s->group; g++) {
        const ln_i8_weights weights = {scratch + g * out * k, 1, k, is_signed, true};
        ln_gemm_pack_i8(k, out, &weights, packed + g * ln_gemm_i8_packed_bytes(k, out), pool);
    }
}

// ---- Rows of the product ----

typedef struct gathering {
    const ln_conv_i8_args *args;
    const uint8_t *x; // from the first channel of the group on
    size_t pixel;     // the output that is row 0
    size_t channels;  // of the group
    uint8_t outside;
    ln_conv_i8_depth depth;
    ln_window_1d rows, columns;
    ln_taps whole; // columns of outputs whose windows are inside, and lie in lines without gaps
} gathering;

static ln_taps whole_columns(const ln_conv_shape *s)
{
    const size_t reach = (s->kernel_w - 1) * s->dilation_w,
                 first = ln_div_up(s->pad_left, s->stride_w);
    if (s->dilation_w > 1 || s->group > 1 || s->in_w + s->pad_left <= reach)
        return (ln_taps){0, 0};
    const size_t end = (s->in_w + s->pad_left - reach - 1) / s->stride_w + 1;
    return (ln_taps){first, ln_min(end, s->out_w)};
}

// From so many bytes on a call is faster: what it writes, in wide vectors, is read soon, in wider
// ones, and a processor waits for each of many small parts.
#define LONG_LINE ((size_t)128)

// A call takes longer than the few bytes of a line; parts that overlap need no loop over the rest.
static inline void copy_line(uint8_t *to, const uint8_t *from, size_t n)
{
    if (n < 4) {
        for (size_t i = 0; i < n; i++)
            to[i] = from[i];
    } else if (n < 8) {
        memcpy(to, from, 4);
        memcpy(to + n - 4, from + n - 4, 4);
    } else if (n < 16) {
        memcpy(to, from, 8);
        memcpy(to + n - 8, from + n - 8, 8);
    } else if (n >= LONG_LINE) {
        memcpy(to, from, n);
    } else {
        for (size_t i = 0; i + 16 < n; i += 16)
            memcpy(to + i, from + i, 16);
        memcpy(to + n - 16, from + n - 16, 16);
    }
}

static inline void fill_line(uint8_t *to, uint8_t byte, size_t n)
{
    if (n < 8) {
        for (size_t i = 0; i < n; i++)
            to[i] = byte;
        return;
    }
    const uint64_t bytes = UINT64_C(0x0101010101010101) * byte;
    for (size_t i = 0; i + 8 < n; i += 8)
        memcpy(to + i, &bytes, 8);
    memcpy(to + n - 8, &bytes, 8);
}

// The taps of a line, of which those outside of [first, end) are outside.
static void gather_line(const gathering *g, const uint8_t *line, size_t column, ln_taps taps,
                        uint8_t *to)
{
    const ln_conv_shape *s = &g->args->shape;
    fill_line(to, g->outside, taps.first * g->channels);
    fill_line(to + taps.end * g->channels, g->outside, (s->kernel_w - taps.end) * g->channels);
    if (taps.first == taps.end)
        return;
    const uint8_t *from = line + ln_window_at(&g->columns, column, taps.first) * s->in_channels;
    const size_t step = s->dilation_w * s->in_channels;
    to += taps.first * g->channels;
    if (step == g->channels)
        copy_line(to, from, (taps.end - taps.first) * g->channels);
    else
        for (size_t t = taps.first; t < taps.end; t++, from += step, to += g->channels)
            copy_line(to, from, g->channels);
}

// All taps of an output, whose window inside has the rows `y`.
static void gather_output(const gathering *g, const uint8_t *image, size_t row, ln_taps y,
                          size_t column, uint8_t *to)
{
    const ln_conv_shape *s = &g->args->shape;
    const size_t line_bytes = s->kernel_w * g->channels, pitch = s->in_w * s->in_channels;
    if (y.end - y.first < g->rows.kernel)
        memset(to, g->outside, line_bytes * g->rows.kernel);
    if (y.first == y.end)
        return;
    const uint8_t *line = image + ln_window_at(&g->rows, row, y.first) * pitch;
    to += y.first * line_bytes;
    if (column >= g->whole.first && column < g->whole.end) {
        line += ln_window_at(&g->columns, column, 0) * s->in_channels;
        for (size_t t = y.first; t < y.end; t++, to += line_bytes, line += s->dilation_h * pitch)
            copy_line(to, line, line_bytes);
        return;
    }
    const ln_taps x = ln_window_taps(&g->columns, column);
    for (size_t t = y.first; t < y.end; t++, to += line_bytes, line += s->dilation_h * pitch)
        gather_line(g, line, column, x, to);
}

// Rows of the product, each all taps of an output in an image or a plane.
static void gather_rows(const void *self, size_t first, size_t count, uint8_t *to, size_t step)
{
    const gathering *g = self;
    const ln_conv_shape *s = &g->args->shape;
    first += g->pixel;
    size_t column = first % s->out_w, row = first / s->out_w % s->out_h;
    const size_t image_bytes = s->in_h * s->in_w * s->in_channels;
    const uint8_t *image = g->x + first / s->out_w / s->out_h * image_bytes;
    ln_taps taps = ln_window_taps(&g->rows, row);
    for (size_t i = 0; i < count; i++, to += step) {
        gather_output(g, image, row, taps, column, to);
        if (++column < s->out_w)
            continue;
        column = 0;
        if (++row == s->out_h) {
            row = 0;
            image += image_bytes;
        }
        taps = ln_window_taps(&g->rows, row);
    }
}

// Outputs [first, first + count) of a plane of the result: the taps of one depth of all of them,
// then those of the next one.
static void gather_depths(const gathering *g, size_t plane, size_t first, size_t count, uint8_t *to,
                          size_t step)
{
    const ln_conv_shape *s = &g->args->shape;
    const ln_window_1d *window = &g->depth.window;
    const size_t bytes = g->rows.kernel * s->kernel_w * g->channels, at = plane % g->depth.out;
    const ln_taps inside = ln_window_taps(window, at);
    gathering of_plane = *g;
    for (size_t t = 0; t < window->kernel; t++, to += bytes) {
        if (t < inside.first || t >= inside.end) {
            for (size_t i = 0; i < count; i++)
                memset(to + i * step, g->outside, bytes);
            continue;
        }
        const size_t in = plane / g->depth.out * window->in + ln_window_at(window, at, t);
        of_plane.x = g->x + in * s->in_h * s->in_w * s->in_channels;
        gather_rows(&of_plane, first, count, to, step);
    }
}

static void gather_volume_rows(const void *self, size_t first, size_t count, uint8_t *to,
                               size_t step)
{
    const gathering *g = self;
    const size_t of_plane = g->args->shape.out_h * g->args->shape.out_w;
    while (count > 0) {
        const size_t at = first % of_plane, some = ln_min(count, of_plane - at);
        gather_depths(g, first / of_plane, at, some, to, step);
        first += some;
        count -= some;
        to += some * step;
    }
}

// Outputs are as many as pixels, and each reads its own.
static bool is_pointwise(const ln_conv_i8_args *a)
{
    const ln_conv_shape *s = &a->shape;
    const ln_conv_i8_depth d = depth_of(a);
    return d.window.stride == 1 && d.window.pad == 0 && d.out == d.window.in && s->kernel_h == 1 &&
           s->kernel_w == 1 && s->stride_h == 1 && s->stride_w == 1 && s->pad_top == 0 &&
           s->pad_left == 0 && s->out_h == s->in_h && s->out_w == s->in_w;
}

size_t ln_conv_i8_element_bytes(const ln_conv_i8_args *a)
{
    return a->rescale || a->epilogue.result == LN_I8_TO_BYTES ? 1 : sizeof(int32_t);
}

size_t ln_conv_i8_y_step(const ln_conv_i8_args *a)
{
    return a->y_step ? a->y_step : a->shape.out_channels;
}

// Outputs of a group, pixel by pixel.
typedef struct group_part {
    size_t group, first, count; // pixels of all images
    void *y;                    // of the first one, from the first channel on
} group_part;

static void run_group(ln_cpu_isa isa, const ln_conv_i8_args *a, const group_part *part,
                      void *workspace, ln_pool *pool)
{
    const ln_conv_shape *s = &a->shape;
    const size_t in = s->in_channels / s->group, out = s->out_channels / s->group;
    const size_t k = products_of(s), column = part->group * out;
    const size_t y_bytes = ln_conv_i8_element_bytes(a);
    const gathering rows = {.args = a,
                            .x = (const uint8_t *)a->x + part->group * in,
                            .pixel = part->first,
                            .channels = in,
                            .outside = (uint8_t)a->zero,
                            .depth = depth_of(a),
                            .rows = rows_of(a),
                            .columns = ln_conv_columns(s),
                            .whole = whole_columns(s)};
    ln_gemm_i8_args product = {
        .m = part->count,
        .n = out,
        .k = k,
        .a = rows.x + part->first * s->in_channels,
        .a_step = s->in_channels,
        .gather = is_pointwise(a) ? NULL
                  : a->depth.out  ? gather_volume_rows
                                  : gather_rows,
        .gathered = &rows,
        .is_signed = a->is_signed,
        .zero = a->zero,
        .packed = a->packed + part->group * ln_gemm_i8_packed_bytes(k, out),
        .zeros = a->zeros ? a->zeros + column : NULL,
        .bias = a->bias ? a->bias + column : NULL,
        .y = (char *)part->y + column * y_bytes,
        .y_step = ln_conv_i8_y_step(a),
        .epilogue = a->epilogue,
    };
    product.epilogue.factors = a->epilogue.factors ? a->epilogue.factors + column : NULL;
    product.epilogue.bias = a->epilogue.bias ? a->epilogue.bias + column : NULL;
    ln_rescale_columns rescale;
    if (a->rescale) {
        rescale = *a->rescale;
        rescale.factors.multiplier += column;
        rescale.factors.left += column;
        rescale.factors.right += column;
        rescale.factors.half += column;
        product.rescale = &rescale;
    }
    ln_gemm_i8(isa, &product, workspace, pool);
}

size_t ln_conv_i8_rows_workspace(const ln_conv_shape *s)
{
    return ln_gemm_i8_task_workspace(products_of(s), s->out_channels / s->group);
}

void ln_conv_i8_rows(ln_cpu_isa isa, const ln_conv_i8_args *args, size_t first, size_t count,
                     void *y, void *workspace)
{
    const size_t out_w = args->shape.out_w;
    group_part part = {.first = first * out_w, .count = count * out_w, .y = y};
    for (; part.group < args->shape.group; part.group++)
        run_group(isa, args, &part, workspace, NULL);
}

// ---- Depthwise ----

// What the workspace holds: all of it, or how much.
typedef struct depthwise_parts {
    int8_t *weights, *ones, *windows;
    int32_t *addends, *columns;
    uint8_t *outside;
} depthwise_parts;

// Neighbouring windows of 3x3 have two columns in common.
static bool has_windows(const ln_conv_shape *s)
{
    return s->kernel_h == 3 && s->kernel_w == 3 && s->stride_w == 1 && s->dilation_w == 1;
}

static size_t divide_workspace(const ln_conv_shape *s, char *block, depthwise_parts *parts)
{
    const size_t blocks = ln_div_up(s->out_channels, LN_TAPS_I8_MAX_CHANNELS);
    const size_t fours_bytes =
        fours_of(s) * 4 * LN_TAPS_I8_MAX_CHANNELS * LN_TAPS_I8_MAX_WEIGHT_BYTES;
    size_t taken = 0;
    parts->weights = (int8_t *)block;
    taken += blocks * fours_bytes;
    parts->ones = (int8_t *)(block ? block + taken : NULL);
    taken += fours_bytes;
    parts->windows = (int8_t *)(block ? block + taken : NULL);
    taken += has_windows(s) ? blocks * LN_TAPS_I8_WINDOW_BYTES : 0;
    parts->addends = (int32_t *)(void *)(block ? block + taken : NULL);
    taken += ln_conv_i8_channels(s) * sizeof(int32_t);
    parts->columns = (int32_t *)(void *)(block ? block + taken : NULL);
    taken += blocks * LN_TAPS_I8_COLUMNS * LN_TAPS_I8_MAX_CHANNELS * sizeof(int32_t);
    parts->outside = (uint8_t *)(block ? block + taken : NULL);
    taken += blocks * LN_TAPS_I8_MAX_CHANNELS;
    return taken;
}

// Sets that multiply words convolve by Winograd what fits.
static size_t workspace_of_rows(const ln_conv_shape *s, bool is_winograd)
{
    const size_t k = products_of(s), out = s->out_channels / s->group;
    return is_winograd ? ln_gemm_i8_bytes_workspace(k, out) : ln_gemm_i8_workspace(k, out);
}

size_t ln_conv_i8_workspace(const ln_conv_shape *s, const ln_conv_i8_depth *depth)
{
    if (s->out_channels > SIZE_MAX / 4096 / (fours_of(s) + 1))
        return SIZE_MAX;
    if (ln_conv_i8_is_depthwise(s))
        return ln_depthwise_i8_workspace(s);
    const size_t bytes = workspace_of_rows(s, !depth->out && ln_winograd_i8_fits(s, true));
    return ln_winograd_i8_fits(s, false) ? ln_max(bytes, ln_winograd_i8_workspace(s)) : bytes;
}

// Where the lines begin that the windows of a row of the result have in all depths; NULL: outside.
static void find_lines(const ln_depthwise_i8 *d, const ln_lines_i8 *there, size_t depth, size_t row,
                       const uint8_t **lines)
{
    const ln_conv_shape *s = &d->args->shape;
    const ln_window_1d *window = &d->depth.window;
    const ln_taps depths = ln_window_taps(window, depth), rows = ln_window_taps(&d->rows, row);
    for (size_t t = 0; t < window->kernel; t++) {
        const bool is_inside = t >= depths.first && t < depths.end;
        const size_t first = is_inside ? ln_window_at(window, depth, t) * s->in_h : 0;
        for (size_t r = 0; r < d->rows.kernel; r++)
            *lines++ = is_inside && r >= rows.first && r < rows.end
                           ? there->at + (first + ln_window_at(&d->rows, row, r) - there->first) *
                                             s->in_w * s->in_channels
                           : NULL;
    }
}

// Addresses of the taps of an output, up to a multiple of four, and by how much they move to the
// next one.
static void find_taps(const ln_depthwise_i8 *d, const uint8_t *const *lines,
                      const ln_window_1d *columns, size_t column, const uint8_t **taps,
                      size_t *steps)
{
    const ln_conv_shape *s = &d->args->shape;
    const ln_taps at = ln_window_taps(columns, column);
    size_t i = 0;
    for (size_t t = 0; t < s->kernel_h; t++) {
        for (size_t u = 0; u < s->kernel_w; u++, i++) {
            const bool is_inside = lines[t] && u >= at.first && u < at.end;
            steps[i] = is_inside ? s->stride_w * s->in_channels : 0;
            taps[i] = is_inside ? lines[t] + ln_window_at(columns, column, u) * s->in_channels
                                : d->outside;
        }
    }
    for (; i % 4 != 0; i++) {
        taps[i] = d->outside;
        steps[i] = 0;
    }
}

// Whether the taps of the next output are those of this one, moved. Windows may begin outside: the
// columns that come after it are inside, if its last one is.
static bool is_followed(const ln_depthwise_i8 *d, const ln_window_1d *columns, size_t column)
{
    const ln_taps taps = ln_window_taps(columns, column);
    const size_t most = d->windows ? columns->kernel - 1 : 0; // columns outside
    return taps.first <= most && taps.end == columns->kernel;
}

// Of how many of so many pixels as many bytes as a block has channels can be read at each tap.
static size_t readable_pixels(const ln_depthwise_i8 *d, const uint8_t *x_end,
                              const uint8_t *const *taps, const size_t *steps, size_t pixels)
{
    for (size_t i = 0; i < d->taps.taps; i++) {
        const size_t left = steps[i] > 0 ? (size_t)(x_end - taps[i]) : SIZE_MAX;
        if (left < LN_TAPS_I8_MAX_CHANNELS)
            return 0;
        if (steps[i] > 0 && (pixels - 1) * steps[i] > left - LN_TAPS_I8_MAX_CHANNELS)
            pixels = (left - LN_TAPS_I8_MAX_CHANNELS) / steps[i] + 1;
    }
    return pixels;
}

// Sums of some pixels wait to be rescaled, those of at least one.
#define SUMS_LEN ((size_t)8192)

static size_t most_pixels(const ln_conv_i8_args *a)
{
    return a->rescale ? ln_max(SUMS_LEN / a->shape.out_channels, (size_t)1) : SIZE_MAX;
}

static void run_taps(const ln_depthwise_i8 *d, const ln_taps_i8_args *taps, bool is_windows)
{
    if (is_windows)
        d->kernel->run_windows(taps);
    else
        d->kernel->run(taps);
}

static void run_rescaled(const ln_depthwise_i8 *d, const ln_taps_i8_args *taps, bool is_windows)
{
    _Alignas(64) int32_t sums[SUMS_LEN];
    const size_t channels = taps->channels;
    ln_taps_i8_args args = *taps;
    args.y = sums;
    args.y_step = channels * sizeof *sums;
    run_taps(d, &args, is_windows);
    ln_rescale_rows(d->args->rescale, 0, args.pixels, channels, sums, channels, taps->y,
                    taps->y_step);
}

static void run_row(const ln_depthwise_i8 *d, const ln_lines_i8 *there, size_t depth, size_t row,
                    void *y)
{
    const ln_conv_shape *s = &d->args->shape;
    const ln_window_1d columns = ln_conv_columns(s);
    const uint8_t *taps[MAX_TAPS], *lines[MAX_TAPS];
    size_t steps[MAX_TAPS];
    ln_taps_i8_args args = d->taps;
    args.at = taps;
    args.steps = steps;
    args.y = y;
    const size_t most = most_pixels(d->args);
    find_lines(d, there, depth, row, lines);
    for (size_t x = 0; x < s->out_w; x += args.pixels) {
        const bool is_run = is_followed(d, &columns, x);
        args.pixels = 1;
        if (is_run)
            while (args.pixels < most && x + args.pixels < s->out_w &&
                   is_followed(d, &columns, x + args.pixels))
                args.pixels++;
        find_taps(d, lines, &columns, x, taps, steps);
        const size_t readable = readable_pixels(d, there->end, taps, steps, args.pixels);
        args.has_more = readable > 0;
        if (s->out_channels < d->kernel->channels && args.has_more)
            args.pixels = readable;
        args.weights = is_run && d->windows ? d->windows : d->taps.weights;
        if (d->args->rescale)
            run_rescaled(d, &args, is_run && d->windows);
        else
            run_taps(d, &args, is_run && d->windows);
        args.y = (char *)args.y + args.pixels * args.y_step;
    }
}

void ln_depthwise_i8_row(const ln_depthwise_i8 *d, const ln_lines_i8 *lines, size_t row, void *y)
{
    run_row(d, lines, 0, row, y);
}

typedef struct depthwise_job {
    ln_depthwise_i8 depthwise;
    size_t row_count, task_count; // rows of all images or planes
} depthwise_job;

static void run_rows(void *user, size_t index)
{
    const depthwise_job *j = user;
    const ln_conv_i8_args *a = j->depthwise.args;
    const ln_conv_shape *s = &a->shape;
    const size_t depth = j->depthwise.depth.out,
                 volume = j->depthwise.depth.window.in * s->in_h * s->in_w * s->in_channels;
    const size_t line_bytes = s->out_w * j->depthwise.taps.y_step;
    const uint8_t *x = a->x;
    size_t end = ln_task_start(j->row_count, j->task_count, index + 1);
    for (size_t row = ln_task_start(j->row_count, j->task_count, index); row < end; row++) {
        const size_t plane = row / s->out_h;
        const ln_lines_i8 lines = {.at = x + plane / depth * volume, .end = x + s->batch * volume};
        run_row(&j->depthwise, &lines, plane % depth, row % s->out_h,
                (char *)a->y + row * line_bytes);
    }
}

// The weights of a block with 1 in the place of each tap.
static void make_ones(const ln_conv_shape *s, const ln_taps_i8_kernel *kernel, int8_t *ones)
{
    const size_t taps = s->kernel_h * s->kernel_w, channels = kernel->channels;
    int8_t four[4 * LN_TAPS_I8_MAX_CHANNELS];
    for (size_t t = 0; t < taps; t += 4, ones += 4 * channels * kernel->weight_bytes) {
        for (size_t i = 0; i < 4 * channels; i++)
            four[i] = t + i % 4 < taps;
        kernel->arrange(channels, 1, four, ones);
    }
}

static void find_addends(const ln_conv_i8_args *a, uint32_t zero, int32_t *addends)
{
    const int32_t *sums = depthwise_sums(&a->shape, a->packed);
    for (size_t c = 0; c < ln_gemm_i8_columns(a->shape.out_channels); c++)
        addends[c] = (int32_t)((a->bias ? (uint32_t)a->bias[c] : 0) - zero * (uint32_t)sums[c]);
}

// The weights and what columns have, as the kernel wants them.
static void arrange(const ln_conv_i8_args *a, const ln_taps_i8_kernel *kernel,
                    const depthwise_parts *parts, ln_taps_i8_args *taps)
{
    const ln_conv_shape *s = &a->shape;
    kernel->arrange(s->out_channels, fours_of(s), a->packed, parts->weights);
    if (a->zeros)
        make_ones(s, kernel, parts->ones);
    memset(parts->outside, (uint8_t)a->zero,
           ln_div_up(s->out_channels, LN_TAPS_I8_MAX_CHANNELS) * LN_TAPS_I8_MAX_CHANNELS);
    const uint32_t zero = (uint32_t)a->zero + taps->flip - (uint32_t)kernel->offset;
    taps->row_zero = (int32_t)((uint32_t)taps->taps * zero);
    find_addends(a, zero, parts->addends);
    taps->weights = parts->weights;
    taps->ones = a->zeros ? parts->ones : NULL;
    taps->epilogue = a->epilogue;
    taps->epilogue.addends = parts->addends;
    taps->epilogue.column_zeros = a->zeros;
    if (kernel->arrange_columns)
        kernel->arrange_columns(s->out_channels, &taps->epilogue, parts->columns);
    taps->columns = parts->columns;
}

size_t ln_depthwise_i8_workspace(const ln_conv_shape *s)
{
    depthwise_parts parts;
    return divide_workspace(s, NULL, &parts);
}

void ln_depthwise_i8_begin(ln_cpu_isa isa, const ln_conv_i8_args *a, void *workspace,
                           ln_depthwise_i8 *d)
{
    const ln_conv_shape *s = &a->shape;
    const ln_taps_i8_kernel *kernel = ln_taps_i8_select(isa);
    const size_t y_bytes = ln_conv_i8_element_bytes(a);
    depthwise_parts parts;
    divide_workspace(s, workspace, &parts);
    *d = (ln_depthwise_i8){
        .args = a,
        .kernel = kernel,
        .taps = {.channels = s->out_channels,
                 .taps = s->kernel_h * s->kernel_w,
                 .flip = a->is_signed ? 128 : 0,
                 .y_step = ln_conv_i8_y_step(a) * y_bytes},
        .outside = parts.outside,
        .depth = depth_of(a),
        .rows = rows_of(a),
    };
    arrange(a, kernel, &parts, &d->taps);
    if (kernel->run_windows && has_windows(s) && a->epilogue.result != LN_I8_TO_FLOATS &&
        !a->zeros && s->out_channels >= kernel->channels) {
        kernel->arrange_window(s->out_channels, a->packed, parts.windows);
        d->windows = parts.windows;
    }
}

static void run_depthwise(ln_cpu_isa isa, const ln_conv_i8_args *a, void *workspace, ln_pool *pool)
{
    const ln_conv_shape *s = &a->shape;
    depthwise_job j = {.row_count = plane_count(a) * s->out_h};
    ln_depthwise_i8_begin(isa, a, workspace, &j.depthwise);
    const double outputs = (double)j.row_count * (double)(s->out_w * s->out_channels);
    j.task_count = ln_task_count(outputs * (double)fours_of(s) / 16 / 1000, j.row_count, pool);
    ln_pool_run(pool, j.task_count, run_rows, &j);
}

// ---- Both ----

void ln_conv_i8(ln_cpu_isa isa, const ln_conv_i8_args *args, void *workspace, ln_pool *pool)
{
    const ln_conv_shape *s = &args->shape;
    if (plane_count(args) * s->out_h * s->out_w * s->out_channels == 0)
        return;
    if (ln_winograd_i8_select(isa)->multiply && !args->depth.out &&
        ln_winograd_i8_fits(s, args->zeros != NULL)) {
        ln_winograd_i8(isa, args, workspace, pool);
        return;
    }
    if (ln_conv_i8_is_depthwise(s)) {
        run_depthwise(isa, args, workspace, pool);
        return;
    }
    group_part part = {.count = plane_count(args) * s->out_h * s->out_w, .y = args->y};
    for (; part.group < s->group; part.group++)
        run_group(isa, args, &part, workspace, pool);
}
