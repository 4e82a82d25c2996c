// SPDX-License-Identifier: Apache-2.0
// Reference kernels of GridSample and AffineGrid.

#include "arch/ref/functions.h"

#include <math.h>

#include "arch/ref/onnx/move.h"
#include "base/deadline.h"
#include "op/onnx/resample.h"
#include "op/resize.h"
#include "tensor/elem.h"

enum { ZEROS, BORDER, REFLECTION };
enum { MAX_TAPS = 4, MAX_RANK = TL_MAXDIM - 2 };

typedef struct sampler {
    int mode, padding, rank, tap_count;
    bool aligns_corners;
    const int *dims; // of one image
    int64_t strides[MAX_RANK];
    int64_t rows[MAX_RANK][MAX_TAPS]; // positions along each axis, -1: outside
    double weights[MAX_RANK][MAX_TAPS];
} sampler;

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

// The sum over all combinations of neighbours.
static double sample(const sampler *s, const tl_tensor *x, int64_t base)
{
    int at[MAX_RANK] = {0};
    double sum = 0;
    for (;;) {
        double weight = 1;
        int64_t position = base;
        for (int a = 0; a < s->rank && position >= 0; a++) {
            int64_t row = s->rows[a][at[a]];
            weight *= s->weights[a][at[a]];
            position = row < 0 ? -1 : position + row;
        }
        if (position >= 0 && weight != 0)
            sum += weight * ln_elem_real(x, (size_t)position);
        int a = s->rank - 1;
        while (a >= 0 && ++at[a] == s->tap_count)
            at[a--] = 0;
        if (a < 0)
            return sum;
    }
}

static ln_status move_nearest(ln_call *call, const sampler *s, const tl_tensor *x, int64_t base,
                              int64_t to)
{
    for (int a = 0; a < s->rank; a++) {
        if (s->rows[a][0] < 0)
            return LN_OK; // the output is 0 there already
        base += s->rows[a][0];
    }
    return ln_move_run(call, 0, to, x, base, 1);
}

ln_status ln_ref_onnx_grid_sample(ln_call *call)
{
    static const char *const paddings[] = {"zeros", "border", "reflection"};
    const tl_tensor *x = ln_call_in(call, 0), *grid = ln_call_in(call, 1);
    tl_tensor *dst = ln_call_dst(call, 0);
    sampler s = {.rank = x->ndim - 2, .dims = x->dims + 2};
    LN_TRY(ln_resize_mode(call, &s.mode));
    LN_TRY(ln_given_word(call, "padding_mode", paddings, 3, &s.padding));
    s.aligns_corners = ln_call_int(call, "align_corners") != 0;
    s.tap_count = s.mode == LN_RESIZE_NEAREST ? 1 : s.mode == LN_RESIZE_LINEAR ? 2 : 4;
    LN_TRY(ln_move_fill(call, 0, NULL));
    if (dst->len == 0 || x->len == 0)
        return LN_OK;

    ln_dense_strides(s.rank, s.dims, s.strides);
    int64_t image = s.strides[0] * s.dims[0], channels = x->dims[1];
    int64_t points = dst->len / (dst->dims[0] * channels);
    for (int64_t p = 0; p < dst->dims[0] * points && !ln_deadline_passed(); p++) {
        for (int a = 0; a < s.rank; a++)
            set_axis(&s, a, ln_elem_real(grid, (size_t)(p * s.rank + s.rank - 1 - a)),
                     grid->dtype != TL_DOUBLE);
        for (int64_t c = 0; c < channels; c++) {
            int64_t plane = p / points * channels + c, to = plane * points + p % points;
            if (s.mode == LN_RESIZE_NEAREST)
                LN_TRY(move_nearest(call, &s, x, plane * image, to));
            else
                ln_elem_set_real(dst, (size_t)to, sample(&s, x, plane * image));
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
