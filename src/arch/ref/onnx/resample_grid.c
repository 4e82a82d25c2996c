// SPDX-License-Identifier: Apache-2.0
// Reference kernels of GridSample and AffineGrid.

#include "arch/ref/functions.h"

#include <math.h>

#include "arch/ref/onnx/move.h"
#include "base/deadline.h"
#include "base/minmax.h"
#include "op/onnx/resample.h"
#include "op/resize.h"
#include "tensor/elem.h"

enum { ZEROS, BORDER, REFLECTION };
enum { MAX_TAPS = 4, MAX_RANK = TL_MAXDIM - 2, MAX_POINTS = 64, BLOCK_TAPS = 1024 };

typedef struct sampler {
    int mode, padding, rank, tap_count;
    bool aligns_corners;
    const int *dims; // of one image
    int64_t strides[MAX_RANK];
    int64_t rows[MAX_RANK][MAX_TAPS]; // positions along each axis, -1: outside
    double weights[MAX_RANK][MAX_TAPS];
} sampler;

typedef struct tap {
    int64_t offset; // in an image
    double weight;
} tap;

// Points of one image that are beside each other: where they are found serves all channels.
typedef struct point_block {
    int size, max_taps;
    int tap_counts[MAX_POINTS];
    tap *taps; // `max_taps` of each point
} point_block;

// ---- One axis ----

// Mirrors `x` at both ends until it is between them.
static double reflected(double x, double low, double high)
{
    double range = high - low;
    if (!(range > 0))
        return low;
    double distance = fmod(fabs(x - low), 2 * range);
    return distance <= range ? low + distance : high - (distance - range);
}

static double clamped(double x, double low, double high)
{
    return !(x > low) ? low : x > high ? high : x;
}

static double low_end(const sampler *s)
{
    return s->aligns_corners ? 0 : -0.5;
}

static double high_end(const sampler *s, int dim)
{
    return s->aligns_corners ? dim - 1 : dim - 0.5;
}

// The place on an axis of `dim` that `x` from -1 to 1 means. What is no number is outside.
static double place_of(const sampler *s, double x, int dim, bool is_float)
{
    double place = s->aligns_corners ? (x + 1) / 2 * (dim - 1) : ((x + 1) * dim - 1) / 2;
    if (is_float)
        place = (double)(float)place; // as other engines have it, for ties
    if (s->mode == LN_RESIZE_NEAREST)
        place = rint(place);
    if (place >= low_end(s) && place <= high_end(s, dim))
        return place;
    if (s->padding == BORDER && s->mode != LN_RESIZE_CUBIC) // whose rows are clamped one by one
        return clamped(place, 0, dim - 1);
    if (s->padding == REFLECTION && isfinite(place))
        return reflected(place, low_end(s), high_end(s, dim));
    return clamped(place, -10, dim + 10.0);
}

static int64_t row_of(const sampler *s, double row, int dim)
{
    if (row >= 0 && row < dim)
        return (int64_t)row;
    if (s->padding == ZEROS)
        return -1;
    if (s->padding == REFLECTION)
        row = trunc(reflected(row, low_end(s), high_end(s, dim)));
    return (int64_t)clamped(row, 0, dim - 1);
}

static void set_weights(const sampler *s, double ratio, double *weights)
{
    const double a = -0.75;
    if (s->mode == LN_RESIZE_NEAREST) {
        weights[0] = 1;
        return;
    }
    if (s->mode == LN_RESIZE_LINEAR) {
        weights[0] = 1 - ratio;
        weights[1] = ratio;
        return;
    }
    for (int i = 0; i < 4; i++) {
        double x = fabs(i - 1 - ratio);
        weights[i] = x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1
                            : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
    }
}

static void set_axis(sampler *s, int axis, double x, bool is_float)
{
    double place = place_of(s, x, s->dims[axis], is_float), before = floor(place);
    double first = s->mode == LN_RESIZE_CUBIC ? before - 1 : before;
    set_weights(s, place - before, s->weights[axis]);
    for (int i = 0; i < s->tap_count; i++) {
        int64_t row = row_of(s, first + i, s->dims[axis]);
        s->rows[axis][i] = row < 0 ? -1 : row * s->strides[axis];
    }
}

// ---- All axes ----

// All combinations of neighbours that count: how many are written to `taps`.
static int find_taps(const sampler *s, tap *taps)
{
    int at[MAX_RANK] = {0}, count = 0;
    for (;;) {
        tap t = {.weight = 1};
        for (int a = 0; a < s->rank && t.offset >= 0; a++) {
            int64_t row = s->rows[a][at[a]];
            t.weight *= s->weights[a][at[a]];
            t.offset = row < 0 ? -1 : t.offset + row;
        }
        if (t.offset >= 0 && t.weight != 0)
            taps[count++] = t;
        int a = s->rank - 1;
        while (a >= 0 && ++at[a] == s->tap_count)
            at[a--] = 0;
        if (a < 0)
            return count;
    }
}

static void find_points(sampler *s, const tl_tensor *grid, int64_t first, point_block *block)
{
    for (int p = 0; p < block->size; p++) {
        size_t place = (size_t)(first + p) * (size_t)s->rank;
        for (int a = 0; a < s->rank; a++)
            set_axis(s, a, ln_elem_real(grid, place + (size_t)(s->rank - 1 - a)),
                     grid->dtype != TL_DOUBLE);
        block->tap_counts[p] = find_taps(s, block->taps + p * block->max_taps);
    }
}

static void sample_floats(const point_block *block, const float *image, float *y)
{
    for (int p = 0; p < block->size; p++) {
        const tap *t = block->taps + p * block->max_taps, *end = t + block->tap_counts[p];
        double sum = 0;
        for (; end - t >= 4; t += 4) // as one expression, sums of points overlap
            sum = sum + t[0].weight * (double)image[t[0].offset] +
                  t[1].weight * (double)image[t[1].offset] +
                  t[2].weight * (double)image[t[2].offset] +
                  t[3].weight * (double)image[t[3].offset];
        for (; t < end; t++)
            sum += t->weight * (double)image[t->offset];
        y[p] = (float)sum;
    }
}

static double sample(const tl_tensor *x, int64_t base, const tap *taps, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += taps[i].weight * ln_elem_real(x, (size_t)(base + taps[i].offset));
    return sum;
}

// The points of a block in the image that begins at `base`. The output is 0 already.
static ln_status sample_block(ln_call *call, bool is_nearest, const point_block *block,
                              int64_t base, int64_t to)
{
    const tl_tensor *x = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    if (x->dtype == TL_FLOAT && !is_nearest) {
        sample_floats(block, (const float *)x->data + base, (float *)dst->data + to);
        return LN_OK;
    }
    for (int p = 0; p < block->size; p++) {
        const tap *taps = block->taps + p * block->max_taps;
        int count = block->tap_counts[p];
        if (!is_nearest)
            ln_elem_set_real(dst, (size_t)(to + p), sample(x, base, taps, count));
        else if (count > 0)
            LN_TRY(ln_move_run(call, 0, to + p, x, base + taps[0].offset, 1));
    }
    return LN_OK;
}

static ln_status read_sampler(ln_call *call, sampler *s)
{
    static const char *const paddings[] = {"zeros", "border", "reflection"};
    const tl_tensor *x = ln_call_in(call, 0);
    *s = (sampler){.rank = x->ndim - 2, .dims = x->dims + 2};
    LN_TRY(ln_resize_mode(call, &s->mode));
    LN_TRY(ln_given_word(call, "padding_mode", paddings, 3, &s->padding));
    s->aligns_corners = ln_call_int(call, "align_corners") != 0;
    s->tap_count = s->mode == LN_RESIZE_NEAREST ? 1 : s->mode == LN_RESIZE_LINEAR ? 2 : 4;
    ln_dense_strides(s->rank, s->dims, s->strides);
    return LN_OK;
}

static ln_status make_block(ln_call *call, const sampler *s, point_block *block)
{
    block->max_taps = 1;
    for (int a = 0; a < s->rank; a++)
        block->max_taps *= s->tap_count;
    block->size = (int)ln_clamp64(BLOCK_TAPS / block->max_taps, 1, MAX_POINTS);
    block->taps = ln_call_scratch(call, (size_t)block->size * (size_t)block->max_taps, sizeof(tap));
    return block->taps ? LN_OK : ln_error_status();
}

ln_status ln_ref_onnx_grid_sample(ln_call *call)
{
    const tl_tensor *x = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    sampler s;
    point_block block;
    LN_TRY(read_sampler(call, &s));
    LN_TRY(make_block(call, &s, &block));
    if (ln_call_is_counting(call))
        return LN_OK;
    LN_TRY(ln_move_fill(call, 0, NULL));
    if (dst->len == 0 || x->len == 0)
        return LN_OK;

    int64_t image = s.strides[0] * s.dims[0], channels = x->dims[1], step = block.size;
    int64_t points = dst->len / (dst->dims[0] * channels);
    for (int64_t plane = 0; plane < dst->dims[0] * channels; plane += channels) {
        for (int64_t p = 0; p < points; p += step) {
            block.size = (int)ln_clamp64(points - p, 1, step);
            find_points(&s, ln_call_in(call, 1), plane / channels * points + p, &block);
            for (int64_t c = plane; c < plane + channels && !ln_deadline_passed(); c++)
                LN_TRY(sample_block(call, s.mode == LN_RESIZE_NEAREST, &block, c * image,
                                    c * points + p));
        }
    }
    return LN_OK;
}

// ---- AffineGrid ----

static double corner_to_corner(int i, int dim, bool aligns_corners)
{
    if (!aligns_corners)
        return (2 * (double)i + 1) / dim - 1;
    return dim == 1 ? -1 : 2 * (double)i / (dim - 1) - 1;
}

ln_status ln_ref_onnx_affine_grid(ln_call *call)
{
    const tl_tensor *theta = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    int rank = theta->dims[1], coords[3] = {0};
    bool aligns_corners = ln_call_int(call, "align_corners") != 0;
    if (dst->len == 0)
        return LN_OK;
    int64_t points = dst->len / (dst->dims[0] * rank);
    for (int64_t p = 0; p < dst->dims[0] * points && !ln_deadline_passed(); p++) {
        double at[4] = {0};
        for (int a = 0; a < rank; a++)
            at[rank - 1 - a] = corner_to_corner(coords[a], dst->dims[1 + a], aligns_corners);
        at[rank] = 1;
        for (int row = 0; row < rank; row++) {
            double sum = 0;
            for (int k = 0; k <= rank; k++)
                sum += at[k] *
                       ln_elem_real(theta, (size_t)((p / points * rank + row) * (rank + 1) + k));
            ln_elem_set_real(dst, (size_t)(p * rank + row), sum);
        }
        for (int a = rank - 1; a >= 0 && ++coords[a] == dst->dims[1 + a]; a--)
            coords[a] = 0;
    }
    return LN_OK;
}
