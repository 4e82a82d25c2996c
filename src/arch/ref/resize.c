// SPDX-License-Identifier: Apache-2.0
// Other dimensions: the nearest element, or a blend of neighbours on each axis.
//
// The nearest elements are moved as they are. LightNet's TL_LINEAR blends element by element, in
// the order in which `tl_tensor_resize` goes: axes that shrink first. Linear and cubic filters of
// ONNX resize one axis after the other, in double.

#include "arch/ref/functions.h"

#include <math.h>
#include <string.h>

#include "arch/ref/element.h"
#include "arch/ref/onnx/move.h"
#include "base/deadline.h"
#include "op/resize.h"
#include "tensor/elem.h"

// ---- Nearest ----

enum { CHUNK = 256 }; // elements of a row that are looked up at once

// Elements map[0], map[1], ... of a row of `src` from `from` on become those from `to` on. Where
// one of these is negative, the output stays as it is.
static ln_status take_chunk(ln_call *call, int64_t to, int64_t from, const int32_t *map, int count)
{
    const tl_tensor *src = ln_call_in(call, 0);
    if (src->dtype == TL_STRING) {
        for (int i = 0; i < count; i++)
            if (map[i] >= 0)
                LN_TRY(ln_move_run(call, 0, to + i, src, from + map[i], 1));
        return LN_OK;
    }
    size_t size = tl_size_of(src->dtype);
    const char *x = (const char *)src->data + (size_t)from * size;
    char *y = (char *)ln_call_dst(call, 0)->data + (size_t)to * size;
    // A constant size makes the memcpy one load and one store.
#define TAKE(bytes)                                                                                \
    case bytes:                                                                                    \
        for (int i = 0; i < count; i++)                                                            \
            if (map[i] >= 0)                                                                       \
                memcpy(y + (size_t)i * bytes, x + (size_t)map[i] * bytes, bytes);                  \
        break;
    switch (size) {
        TAKE(1)
        TAKE(2)
        TAKE(4)
        TAKE(8)
        TAKE(16)
    }
#undef TAKE
    return LN_OK;
}

// Below 0 if element `i` of the output has none.
static int64_t nearest(const ln_resize_axis *axis, int i)
{
    return ln_resize_is_beyond(axis, i) ? -1 : ln_resize_nearest(axis, i);
}

// A chunk at the same place of each row of the last axis.
static ln_status take_chunks(ln_call *call, const ln_resizing *r, int first, const int32_t *map,
                             int count)
{
    const tl_tensor *src = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    int last = dst->ndim - 1, changed = 0, coords[TL_MAXDIM] = {0};
    int64_t row = last < 0 ? 1 : dst->dims[last], strides[TL_MAXDIM];
    int64_t from[TL_MAXDIM + 1] = {0}; // from[d]: along the axes before d; below 0 beyond the input
    ln_dense_strides(src->ndim, src->dims, strides);
    for (int64_t to = first; to < dst->len && !ln_deadline_passed(); to += row) {
        for (int d = changed; d < last; d++) {
            int64_t at = nearest(&r->axes[d], coords[d]);
            from[d + 1] = from[d] < 0 || at < 0 ? -1 : from[d] + at * strides[d];
        }
        if (last < 0 || from[last] >= 0)
            LN_TRY(take_chunk(call, to, last < 0 ? 0 : from[last], map, count));
        for (changed = last - 1; changed > 0 && coords[changed] + 1 == dst->dims[changed];)
            coords[changed--] = 0;
        if (changed >= 0)
            coords[changed]++;
    }
    return LN_OK;
}

static ln_status take_nearest(ln_call *call, const ln_resizing *r)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    int last = dst->ndim - 1, row = last < 0 ? 1 : dst->dims[last];
    int32_t map[CHUNK] = {0};
    if (ln_call_in(call, 1)) { // a part of the input, or beyond it
        LN_TRY(ln_move_fill(call, 0, NULL));
        for (int i = 0; i < dst->len && dst->dtype != TL_STRING; i++)
            ln_elem_set_real(dst, (size_t)i, ln_call_float(call, "extrapolation_value"));
    }
    for (int first = 0; first < row; first += CHUNK) {
        int count = row - first < CHUNK ? row - first : CHUNK;
        for (int i = 0; i < count && last >= 0; i++)
            map[i] = (int32_t)nearest(&r->axes[last], first + i);
        LN_TRY(take_chunks(call, r, first, map, count));
    }
    return LN_OK;
}

// ---- TL_LINEAR ----

typedef struct resize {
    const tl_tensor *src;
    tl_tensor *dst;
} resize;

// coords = the position of element `i` of `t` on each axis.
static void find_coords(const tl_tensor *t, int i, int coords[TL_MAXDIM])
{
    for (int d = t->ndim - 1; d >= 0; d--) {
        coords[d] = i % t->dims[d];
        i /= t->dims[d];
    }
}

// Where an element is between two others: `step` elements apart, `weight` of the second.
typedef struct blend {
    size_t step;
    double weight;
} blend;

// The first of the two neighbours on an axis; *out_weight is 0 where there is only one.
static int lower_neighbour(int i, int in, int out, double *out_weight)
{
    double x = ((double)i + 0.5) * in / out - 0.5;
    *out_weight = 0;
    if (in == out)
        return i;
    if (x <= 0)
        return 0;
    if (x >= in - 1)
        return in - 1;
    *out_weight = x - (int)x;
    return (int)x;
}

// Fills in `blends`, in the order in which they are made, and the element from which they start.
static int find_blends(const resize *r, const int *coords, blend blends[TL_MAXDIM],
                       size_t *out_first)
{
    int count = 0;
    *out_first = 0;
    for (int grows = 0; grows <= 1; grows++) {
        size_t step = (size_t)r->src->len;
        for (int d = 0; d < r->src->ndim; d++) {
            int in = r->src->dims[d], out = r->dst->dims[d];
            double weight;
            step /= (size_t)in;
            if ((out > in) != grows)
                continue;
            *out_first += step * (size_t)lower_neighbour(coords[d], in, out, &weight);
            if (weight > 0)
                blends[count++] = (blend){step, weight};
        }
    }
    return count;
}

LN_REF_INLINE double blend_all(const resize *r, tl_dtype dtype, size_t first, const blend *blends,
                               int count)
{
    double corners[1 << TL_MAXDIM];
    for (int c = 0; c < 1 << count; c++) {
        size_t from = first;
        for (int b = 0; b < count; b++)
            from += (c >> b & 1) ? blends[b].step : 0;
        corners[c] = ln_ref_load_double(r->src->data, from, dtype);
    }
    for (int b = 0; b < count; b++) {
        double weight = blends[b].weight;
        for (int c = 0; c < 1 << (count - b - 1); c++)
            corners[c] = corners[2 * c] * (1 - weight) + corners[2 * c + 1] * weight;
    }
    return corners[0];
}

LN_REF_INLINE void interpolate(const resize *r, tl_dtype dtype)
{
    for (int i = 0; i < r->dst->len && !ln_deadline_passed_at((size_t)i); i++) {
        int coords[TL_MAXDIM];
        blend blends[TL_MAXDIM];
        size_t first;
        find_coords(r->dst, i, coords);
        int count = find_blends(r, coords, blends, &first);
        double value = blend_all(r, dtype, first, blends, count);
        ln_ref_store_double(r->dst->data, (size_t)i, dtype,
                            ln_ref_is_floating(dtype) ? value : round(value));
    }
}

// ---- Filters ----

typedef struct settings {
    bool is_linear; // else cubic
    bool is_antialiased, excludes_outside;
    double cubic_a, extrapolation;
} settings;

static double filter(const settings *how, double x)
{
    double a = how->cubic_a;
    x = fabs(x);
    if (how->is_linear)
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

static ln_status make_taps(ln_call *call, const ln_resize_axis *axis, const settings *how,
                           tap_list *taps)
{
    double reach = how->is_linear ? 1 : 2;
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

static void set_taps(const ln_resize_axis *axis, const settings *how, double place, tap_list *taps)
{
    // Far outside of the input all elements are its outermost one.
    double beyond = taps->count + 2;
    place = !(place > -beyond) ? -beyond : place;
    place = place > axis->in + beyond ? axis->in + beyond : place;
    double before = ceil(place) - 1, ratio = place - before, sum = 0;
    for (int i = 0; i < taps->count; i++) {
        int64_t row = (int64_t)before + taps->first + i;
        bool is_outside = row < 0 || row >= axis->in;
        taps->weights[i] = filter(how, (taps->first + i - ratio) * taps->stretch);
        if (is_outside && how->excludes_outside)
            taps->weights[i] = 0;
        taps->rows[i] = row < 0 ? 0 : row >= axis->in ? axis->in - 1 : row;
        sum += taps->weights[i];
    }
    if ((taps->stretch >= 1 && !how->excludes_outside) || sum == 0)
        return;
    for (int i = 0; i < taps->count; i++)
        taps->weights[i] /= sum;
}

// src [outer, in_dim, inner] becomes dst [outer, out_dim, inner].
static ln_status resize_axis(ln_call *call, const ln_resize_axis *axis, const settings *how,
                             const double *src, double *dst, size_t outer, size_t inner)
{
    tap_list taps = {0};
    LN_TRY(make_taps(call, axis, how, &taps));
    if (ln_call_is_counting(call))
        return LN_OK;
    for (int i = 0; i < axis->out && !ln_deadline_passed(); i++) {
        bool beyond = ln_resize_is_beyond(axis, i);
        set_taps(axis, how, ln_resize_place(axis, i), &taps);
        for (size_t o = 0; o < outer; o++) {
            double *row = dst + (o * (size_t)axis->out + (size_t)i) * inner;
            for (size_t k = 0; k < inner; k++)
                row[k] = beyond ? how->extrapolation : 0;
            for (int t = 0; t < taps.count && !beyond; t++) {
                double weight = taps.weights[t];
                const double *from = src + (o * (size_t)axis->in + (size_t)taps.rows[t]) * inner;
                if (weight != 0)
                    for (size_t k = 0; k < inner; k++)
                        row[k] += weight * from[k];
            }
        }
    }
    return LN_OK;
}

static bool changes(const ln_resize_axis *axis)
{
    return axis->in != axis->out || fabs(axis->scale - 1) > 1e-9 || axis->start != 0 ||
           axis->end != 1;
}

// Integers are rounded to the nearest.
static void store(tl_tensor *dst, const double *values)
{
    bool is_int = (LN_TYPE(dst->dtype) & LN_TYPES_INT) != 0;
    for (int i = 0; i < dst->len && !ln_deadline_passed_at((size_t)i); i++)
        ln_elem_set_real(dst, (size_t)i, is_int ? rint(values[i]) : values[i]);
}

static ln_status resize_filtered(ln_call *call, const ln_resizing *r)
{
    const tl_tensor *x = ln_call_in(call, 0);
    const settings how = {.is_linear = r->mode == LN_RESIZE_LINEAR,
                          .is_antialiased = ln_call_int(call, "antialias") != 0,
                          .excludes_outside = ln_call_int(call, "exclude_outside") != 0,
                          .cubic_a = ln_call_float(call, "cubic_coeff_a"),
                          .extrapolation = ln_call_float(call, "extrapolation_value")};
    double *values = ln_call_scratch(call, (size_t)x->len + 1, sizeof *values);
    if (!values)
        return LN_NO_MEMORY;
    bool is_counting = ln_call_is_counting(call);
    for (int i = 0; !is_counting && i < x->len && !ln_deadline_passed_at((size_t)i); i++)
        values[i] = ln_elem_real(x, (size_t)i);

    size_t outer = 1, inner = (size_t)x->len;
    for (int a = 0; a < x->ndim; a++) {
        const ln_resize_axis *axis = &r->axes[a];
        inner /= (size_t)x->dims[a];
        if (changes(axis)) {
            size_t count, rows = outer * (size_t)axis->out;
            double *resized = NULL;
            if (!__builtin_mul_overflow(rows, inner, &count))
                resized = ln_call_scratch(call, count, sizeof *resized);
            if (!resized)
                return LN_NO_MEMORY;
            LN_TRY(resize_axis(call, axis, &how, values, resized, outer, inner));
            values = resized;
        }
        outer *= (size_t)axis->out;
    }
    if (!is_counting)
        store(ln_call_dst(call, 0), values);
    return LN_OK;
}

ln_status ln_ref_resize(ln_call *call)
{
    resize problem = {ln_call_in(call, 0), ln_call_dst(call, 0)};
    bool is_counting = ln_call_is_counting(call);
    ln_resizing r;
    LN_TRY(ln_resizing_read(call, &r));
    if (problem.dst->len == 0)
        return LN_OK;
    switch (r.mode) {
    case LN_RESIZE_LINEAR:
    case LN_RESIZE_CUBIC: return resize_filtered(call, &r);
    case LN_RESIZE_TL_LINEAR:
        if (!is_counting)
            LN_REF_FOR_DTYPE(problem.src->dtype, interpolate, &problem);
        return LN_OK;
    default: return is_counting ? LN_OK : take_nearest(call, &r);
    }
}
