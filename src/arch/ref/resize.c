// SPDX-License-Identifier: Apache-2.0
// Other dimensions: the nearest element, or a blend of the neighbours on each axis.
//
// Element by element. Axes are blended one after the other, those that shrink first, in double: the
// order in which `tl_tensor_resize` goes, which keeps whole tensors in between instead.

#include "arch/ref/kernels.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "arch/ref/element.h"
#include "base/deadline.h"

typedef struct resize {
    const tl_tensor *src;
    tl_tensor *dst;
} resize;

static ln_status check(const tl_tensor *src, const tl_tensor *dst, tl_resize_type type)
{
    LN_TRY(ln_ref_expect_any(src, "src"));
    LN_TRY(ln_ref_expect_any(dst, "dst"));
    if (!tl_resize_type_name(type))
        return LN_FAIL(LN_INVALID, "%d is not a resize type", (int)type);
    if (src->dtype != dst->dtype || src->ndim != dst->ndim)
        return LN_FAIL(LN_INVALID, "%s of rank %d cannot be resized to %s of rank %d",
                       tl_dtype_title(src->dtype), src->ndim, tl_dtype_title(dst->dtype),
                       dst->ndim);
    if (src->len == 0 && dst->len > 0)
        return LN_FAIL(LN_INVALID, "an empty tensor cannot be resized to %d elements", dst->len);
    return LN_OK;
}

// coords = the position of element `i` of `t` on each axis.
static void find_coords(const tl_tensor *t, int i, int coords[TL_MAXDIM])
{
    for (int d = t->ndim - 1; d >= 0; d--) {
        coords[d] = i % t->dims[d];
        i /= t->dims[d];
    }
}

// ---- TL_NEAREST ----

// (i + 0.5) * in / out - 0.5, rounded half away from zero.
static size_t nearest(int i, int in, int out)
{
    return (size_t)((2 * (int64_t)i + 1) * in / (2 * (int64_t)out));
}

// `out` elements from a row of `in`, both of `size` bytes each.
static void take_row(char *to, const char *from, int in, int out, size_t size)
{
    // A constant size makes the memcpy one load and one store.
#define TAKE(bytes)                                                                                \
    case bytes:                                                                                    \
        for (int i = 0; i < out; i++)                                                              \
            memcpy(to + (size_t)i * bytes, from + nearest(i, in, out) * bytes, bytes);             \
        break;
    if (in == out) {
        memcpy(to, from, (size_t)out * size);
        return;
    }
    switch (size) {
        TAKE(1)
        TAKE(2)
        TAKE(4)
        TAKE(8)
    }
#undef TAKE
}

// Row by row of the last axis; a row that comes from the same one as the row before is a copy of
// it.
static void take_nearest(const resize *r)
{
    const tl_tensor *src = r->src, *dst = r->dst;
    if (dst->len == 0)
        return;
    size_t size = tl_size_of(src->dtype);
    int last = src->ndim - 1;
    int in = last < 0 ? 1 : src->dims[last], out = last < 0 ? 1 : dst->dims[last];
    char *to = dst->data;
    size_t before = SIZE_MAX;
    for (int i = 0; i < dst->len && !ln_deadline_passed(); i += out, to += (size_t)out * size) {
        int coords[TL_MAXDIM];
        find_coords(dst, i, coords);
        size_t row = 0;
        for (int d = 0; d < last; d++)
            row = row * (size_t)src->dims[d] + nearest(coords[d], src->dims[d], dst->dims[d]);
        if (row == before)
            memcpy(to, to - (size_t)out * size, (size_t)out * size);
        else
            take_row(to, (const char *)src->data + row * (size_t)in * size, in, out, size);
        before = row;
    }
}

// ---- TL_LINEAR ----

// Where an element lies between two others: `step` elements apart, `weight` of the second.
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

ln_status ln_ref_resize(const tl_tensor *src, tl_tensor *dst, tl_resize_type type)
{
    resize problem = {src, dst};
    LN_TRY(check(src, dst, type));
    if (type == TL_NEAREST)
        take_nearest(&problem);
    else
        LN_REF_FOR_DTYPE(src->dtype, interpolate, &problem);
    return LN_OK;
}
