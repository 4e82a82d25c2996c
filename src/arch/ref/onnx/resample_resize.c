// SPDX-License-Identifier: Apache-2.0
// Reference kernels of Resize.
//
// The nearest elements are moved as they are. Linear and cubic filters are separable: one axis
// after the other is resized, in double.

#include "arch/ref/functions.h"

#include <math.h>

#include "arch/ref/onnx/move.h"
#include "base/deadline.h"
#include "op/onnx/resample.h"
#include "tensor/elem.h"

enum {
    HALF_PIXEL,
    HALF_PIXEL_SYMMETRIC,
    PYTORCH_HALF_PIXEL,
    ALIGN_CORNERS,
    ASYMMETRIC,
    TF_CROP_AND_RESIZE,
    TF_HALF_PIXEL_FOR_NN
};

// The last one is that of the older forms: up where an axis becomes smaller, else down.
enum { PREFER_FLOOR, PREFER_CEIL, FLOOR, CEIL, TOWARD_INPUT };

typedef struct settings {
    int mode, transform, nearest;
    bool is_antialiased, excludes_outside;
    double cubic_a, extrapolation;
} settings;

// One axis of a plan.
typedef struct axis_plan {
    int in_dim, out_dim;
    double scale, length, start, end;
} axis_plan;

static axis_plan axis_of(const ln_resize_plan *plan, const tl_tensor *x, int axis)
{
    return (axis_plan){x->dims[axis],       plan->out_dims[axis], plan->scales[axis],
                       plan->lengths[axis], plan->starts[axis],   plan->ends[axis]};
}

// The place in the input of element `i` of the output.
static double place_of(const axis_plan *axis, int transform, int i)
{
    double last = axis->in_dim - 1;
    switch (transform) {
    case HALF_PIXEL_SYMMETRIC: {
        double offset = axis->in_dim / 2.0 * (1 - axis->out_dim / axis->length);
        return offset + (i + 0.5) / axis->scale - 0.5;
    }
    case PYTORCH_HALF_PIXEL: return axis->length > 1 ? (i + 0.5) / axis->scale - 0.5 : 0;
    case ALIGN_CORNERS: return axis->length == 1 ? 0 : i * last / (axis->length - 1);
    case ASYMMETRIC: return i / axis->scale;
    case TF_CROP_AND_RESIZE:
        if (axis->length == 1)
            return (axis->end - axis->start) * last / 2 + axis->start * last;
        return i * (axis->end - axis->start) * last / (axis->length - 1) + axis->start * last;
    case TF_HALF_PIXEL_FOR_NN: return (i + 0.5) / axis->scale;
    default: return (i + 0.5) / axis->scale - 0.5;
    }
}

static bool is_beyond(const axis_plan *axis, int transform, double place)
{
    return transform == TF_CROP_AND_RESIZE && !(place >= 0 && place <= axis->in_dim - 1);
}

// ---- Nearest ----

static int64_t nearest_row(const axis_plan *axis, int nearest, double place)
{
    switch (nearest) {
    case PREFER_CEIL: place = floor(place + 0.5); break;
    case FLOOR: place = floor(place); break;
    case CEIL: place = ceil(place); break;
    case TOWARD_INPUT: place = axis->scale < 1 ? ceil(place) : floor(place); break;
    default: place = ceil(place - 0.5); break;
    }
    if (!(place > 0))
        return 0;
    return place < axis->in_dim - 1 ? (int64_t)place : axis->in_dim - 1;
}

static ln_status fill_extrapolated(ln_call *call, double value)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    LN_TRY(ln_move_fill(call, 0, NULL));
    for (int i = 0; i < dst->len && dst->dtype != TL_STRING; i++)
        ln_elem_set_real(dst, (size_t)i, value);
    return LN_OK;
}

static ln_status resize_nearest(ln_call *call, const ln_resize_plan *plan, const settings *how)
{
    const tl_tensor *x = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    int64_t *maps[TL_MAXDIM], strides[TL_MAXDIM], total = 0;
    for (int i = 0; i < dst->ndim; i++)
        total += dst->dims[i];
    int64_t *room = ln_call_scratch(call, (size_t)total + 1, sizeof *room);
    if (!room)
        return LN_NO_MEMORY;
    if (ln_call_is_counting(call))
        return LN_OK;
    ln_dense_strides(x->ndim, x->dims, strides);
    for (int a = 0; a < dst->ndim; a++) {
        axis_plan axis = axis_of(plan, x, a);
        maps[a] = room;
        room += axis.out_dim;
        for (int i = 0; i < axis.out_dim; i++) {
            double place = place_of(&axis, how->transform, i);
            maps[a][i] = is_beyond(&axis, how->transform, place)
                             ? -1
                             : nearest_row(&axis, how->nearest, place) * strides[a];
        }
    }
    if (how->transform == TF_CROP_AND_RESIZE)
        LN_TRY(fill_extrapolated(call, how->extrapolation));
    return ln_move_mapped(call, 0, x, maps);
}

// ---- Filters ----

static double filter(const settings *how, double x)
{
    double a = how->cubic_a;
    x = fabs(x);
    if (how->mode == LN_RESIZE_LINEAR)
        return x < 1 ? 1 - x : 0;
    if (x <= 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// The elements of the input that one of the output is made of, and their weights.
typedef struct tap_list {
    int count, first; // `first` counts from the element before the place
    double stretch;   // of the filter, 1 or less
    double *weights;
    int64_t *rows;
} tap_list;

static ln_status make_taps(ln_call *call, const axis_plan *axis, const settings *how,
                           tap_list *taps)
{
    double reach = how->mode == LN_RESIZE_LINEAR ? 1 : 2;
    taps->stretch = how->is_antialiased && axis->scale < 1 ? axis->scale : 1;
    double first = floor(-reach / taps->stretch) + 1;
    if (first < -1e8)
        return ln_call_fail(call, LN_LIMIT, "a filter that is 1/%g times as wide", axis->scale);
    taps->first = (int)first;
    taps->count = 2 - 2 * taps->first;
    taps->weights = ln_call_scratch(call, (size_t)taps->count, sizeof *taps->weights);
    taps->rows = ln_call_scratch(call, (size_t)taps->count, sizeof *taps->rows);
    return taps->weights && taps->rows ? LN_OK : LN_NO_MEMORY;
}

static void set_taps(const axis_plan *axis, const settings *how, double place, tap_list *taps)
{
    // Far outside of the input all elements are its outermost one.
    double beyond = taps->count + 2;
    place = !(place > -beyond) ? -beyond : place;
    place = place > axis->in_dim + beyond ? axis->in_dim + beyond : place;
    double before = ceil(place) - 1, ratio = place - before, sum = 0;
    for (int i = 0; i < taps->count; i++) {
        int64_t row = (int64_t)before + taps->first + i;
        bool is_outside = row < 0 || row >= axis->in_dim;
        taps->weights[i] = filter(how, (taps->first + i - ratio) * taps->stretch);
        if (is_outside && how->excludes_outside)
            taps->weights[i] = 0;
        taps->rows[i] = row < 0 ? 0 : row >= axis->in_dim ? axis->in_dim - 1 : row;
        sum += taps->weights[i];
    }
    if ((taps->stretch >= 1 && !how->excludes_outside) || sum == 0)
        return;
    for (int i = 0; i < taps->count; i++)
        taps->weights[i] /= sum;
}

// src [outer, in_dim, inner] becomes dst [outer, out_dim, inner].
static ln_status resize_axis(ln_call *call, const axis_plan *axis, const settings *how,
                             const double *src, double *dst, size_t outer, size_t inner)
{
    tap_list taps = {0};
    LN_TRY(make_taps(call, axis, how, &taps));
    if (ln_call_is_counting(call))
        return LN_OK;
    for (int i = 0; i < axis->out_dim && !ln_deadline_passed(); i++) {
        double place = place_of(axis, how->transform, i);
        bool beyond = is_beyond(axis, how->transform, place);
        set_taps(axis, how, place, &taps);
        for (size_t o = 0; o < outer; o++) {
            double *row = dst + (o * (size_t)axis->out_dim + (size_t)i) * inner;
            for (size_t k = 0; k < inner; k++)
                row[k] = beyond ? how->extrapolation : 0;
            for (int t = 0; t < taps.count && !beyond; t++) {
                double weight = taps.weights[t];
                const double *from =
                    src + (o * (size_t)axis->in_dim + (size_t)taps.rows[t]) * inner;
                if (weight != 0)
                    for (size_t k = 0; k < inner; k++)
                        row[k] += weight * from[k];
            }
        }
    }
    return LN_OK;
}

static bool changes(const axis_plan *axis, int transform)
{
    return axis->in_dim != axis->out_dim || fabs(axis->scale - 1) > 1e-9 ||
           (transform == TF_CROP_AND_RESIZE && (axis->start != 0 || axis->end != 1));
}

// Integers are rounded to the nearest.
static void store(tl_tensor *dst, const double *values)
{
    bool is_int = (LN_TYPE(dst->dtype) & LN_TYPES_INT) != 0;
    for (int i = 0; i < dst->len && !ln_deadline_passed_at((size_t)i); i++)
        ln_elem_set_real(dst, (size_t)i, is_int ? rint(values[i]) : values[i]);
}

static ln_status resize_filtered(ln_call *call, const ln_resize_plan *plan, const settings *how)
{
    const tl_tensor *x = ln_call_in(call, 0);
    double *values = ln_call_scratch(call, (size_t)x->len + 1, sizeof *values);
    if (!values)
        return LN_NO_MEMORY;
    bool is_counting = ln_call_is_counting(call);
    for (int i = 0; !is_counting && i < x->len && !ln_deadline_passed_at((size_t)i); i++)
        values[i] = ln_elem_real(x, (size_t)i);

    size_t outer = 1, inner = (size_t)x->len;
    for (int a = 0; a < x->ndim; a++) {
        axis_plan axis = axis_of(plan, x, a);
        inner /= (size_t)x->dims[a];
        if (changes(&axis, how->transform)) {
            size_t count, rows = outer * (size_t)axis.out_dim;
            double *resized = NULL;
            if (!__builtin_mul_overflow(rows, inner, &count))
                resized = ln_call_scratch(call, count, sizeof *resized);
            if (!resized)
                return LN_NO_MEMORY;
            LN_TRY(resize_axis(call, &axis, how, values, resized, outer, inner));
            values = resized;
        }
        outer *= (size_t)axis.out_dim;
    }
    if (!is_counting)
        store(ln_call_dst(call, 0), values);
    return LN_OK;
}

ln_status ln_ref_onnx_resize(ln_call *call)
{
    static const char *const transforms[] = {
        "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",  "align_corners",
        "asymmetric", "tf_crop_and_resize",   "tf_half_pixel_for_nn"};
    static const char *const nearests[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                           "ceil"};
    ln_resize_plan plan;
    settings how = {.transform = ASYMMETRIC, .nearest = TOWARD_INPUT};
    LN_TRY(ln_resize_find(call, &plan));
    LN_TRY(ln_resize_mode(call, &how.mode));
    if (ln_call_since(call) >= 11) {
        LN_TRY(
            ln_given_word(call, "coordinate_transformation_mode", transforms, 7, &how.transform));
        LN_TRY(ln_given_word(call, "nearest_mode", nearests, 4, &how.nearest));
    }
    how.is_antialiased = ln_call_int(call, "antialias") != 0;
    how.excludes_outside = ln_call_int(call, "exclude_outside") != 0;
    how.cubic_a = ln_call_float(call, "cubic_coeff_a");
    how.extrapolation = ln_call_float(call, "extrapolation_value");
    if (ln_call_dst(call, 0)->len == 0)
        return LN_OK;
    return how.mode == LN_RESIZE_NEAREST ? resize_nearest(call, &plan, &how)
                                         : resize_filtered(call, &plan, &how);
}
