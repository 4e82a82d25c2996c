// SPDX-License-Identifier: Apache-2.0
// Shape inference.

#include <lightnet/opshape.h>

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <lightnet/op.h>
#include <lightnet/shape.h>

#include "base/broadcast.h"

// `ndim` if the shape has a number of elements that fits an int, else -1 and the reason.
static int checked(int ndim, const int *dims)
{
    return ln_compute_length(ndim, dims) < 0 ? -1 : ndim;
}

static int fail(const char *what, long long value, long long limit)
{
    ln_fail(LN_INVALID, what, value, limit);
    return -1;
}

static bool has_axis(const tl_tensor *src, int axis)
{
    if (axis >= 0 && axis < src->ndim)
        return true;
    ln_fail(LN_INVALID, "axis %d is outside rank %d", axis, src->ndim);
    return false;
}

static void copy_dims(int *dims, const int *from, int ndim)
{
    for (int i = 0; i < ndim; i++)
        dims[i] = from[i];
}

int ln_shape_given(int *dims, const int *given, int dims_len)
{
    if (checked(dims_len, given) < 0)
        return -1;
    copy_dims(dims, given, dims_len);
    return dims_len;
}

int ln_shape_create(int *dims, const int *given, int dims_len, const double *data, int data_len)
{
    int len = ln_compute_length(dims_len, given);
    if (len < 0)
        return -1;
    bool is_zeros = data_len == 1 && data[0] == 0;
    if (data_len > len && !is_zeros) {
        ln_fail(LN_INVALID, "%d elements of data do not fit a tensor of %d elements", data_len,
                len);
        return -1;
    }
    copy_dims(dims, given, dims_len);
    return dims_len;
}

int ln_range_len(double start, double stop, double step, tl_dtype dtype)
{
    double least = tl_dtype_min_double(dtype), most = tl_dtype_max_double(dtype);
    if (!isfinite(start) || !isfinite(stop) || !isfinite(step) || step == 0) {
        ln_fail(LN_INVALID, "a range from %g to %g in steps of %g has no length", start, stop,
                step);
        return -1;
    }
    if (start < least || start > most || stop < least || stop > most || step < least ||
        step > most) {
        ln_fail(LN_INVALID, "a range from %g to %g in steps of %g is beyond %s", start, stop, step,
                tl_dtype_title(dtype));
        return -1;
    }
    double len = ceil((stop - start) / step);
    if (!(len <= 2147483647.0)) {
        ln_fail(LN_LIMIT, "a range from %g to %g in steps of %g has too many elements", start, stop,
                step);
        return -1;
    }
    return len > 0 ? (int)len : 0;
}

int ln_shape_arange(int *dims, double start, double stop, double step, tl_dtype dtype)
{
    dims[0] = ln_range_len(start, stop, step, dtype);
    return dims[0] < 0 ? -1 : 1;
}

int ln_shape_reshape(int *dims, const tl_tensor *src, const int *given, int dims_len)
{
    int len = ln_compute_length(dims_len, given);
    if (len < 0)
        return -1;
    if (len != src->len) {
        char from[LN_SHAPE_TEXT_BYTES], to[LN_SHAPE_TEXT_BYTES];
        ln_fail(LN_INVALID, "%s has %d elements and cannot become %s, which has %d",
                ln_sprint_shape(from, sizeof from, src->ndim, src->dims), src->len,
                ln_sprint_shape(to, sizeof to, dims_len, given), len);
        return -1;
    }
    copy_dims(dims, given, dims_len);
    return dims_len;
}

int ln_shape_with_dim(int *dims, const tl_tensor *src, int axis, int dim)
{
    if (!has_axis(src, axis))
        return -1;
    copy_dims(dims, src->dims, src->ndim);
    dims[axis] = dim;
    return checked(src->ndim, dims);
}

int ln_shape_reduce(int *dims, const tl_tensor *src, int axis)
{
    int ndim = ln_shape_with_dim(dims, src, axis, 1);
    if (ndim >= 0 && src->dims[axis] == 0 && ln_compute_length(ndim, dims) > 0)
        return fail("axis %lld has %lld elements, there is nothing to reduce", axis, 0);
    return ndim;
}

int ln_shape_concat(int *dims, tl_tensor *const *srcs, int count, int axis)
{
    if (count < 1)
        return fail("%lld tensors to join, at least %lld is needed", count, 1);
    const tl_tensor *first = srcs[0];
    if (!has_axis(first, axis))
        return -1;
    copy_dims(dims, first->dims, first->ndim);
    for (int i = 1; i < count; i++) {
        bool fits = srcs[i]->ndim == first->ndim;
        for (int d = 0; fits && d < first->ndim; d++)
            fits = d == axis || srcs[i]->dims[d] == first->dims[d];
        if (!fits) {
            char a[LN_SHAPE_TEXT_BYTES], b[LN_SHAPE_TEXT_BYTES];
            ln_fail(LN_INVALID, "%s and %s cannot be joined on axis %d",
                    ln_sprint_shape(a, sizeof a, first->ndim, first->dims),
                    ln_sprint_shape(b, sizeof b, srcs[i]->ndim, srcs[i]->dims), axis);
            return -1;
        }
        if (__builtin_add_overflow(dims[axis], srcs[i]->dims[axis], &dims[axis])) {
            ln_fail(LN_LIMIT, "joined on axis %d, %d tensors have too many elements", axis, count);
            return -1;
        }
    }
    return checked(first->ndim, dims);
}

int ln_shape_transpose(int *dims, const tl_tensor *src, const int *axes, int axes_len)
{
    if (axes_len != src->ndim)
        return fail("%lld axes for a tensor of rank %lld", axes_len, src->ndim);
    unsigned seen = 0;
    for (int i = 0; i < axes_len; i++) {
        if (!has_axis(src, axes[i]))
            return -1;
        if (seen & (1u << axes[i]))
            return fail("axis %lld is there twice among %lld axes, which should be a permutation",
                        axes[i], axes_len);
        seen |= 1u << axes[i];
        dims[i] = src->dims[axes[i]];
    }
    return axes_len;
}

// ---- Stacks ----

int ln_shape_gather(int *dims, const tl_tensor *first, int count)
{
    if (count < 1 || first->ndim >= TL_MAXDIM)
        return fail("%lld tensors of rank %lld cannot be stacked", count, first->ndim);
    dims[0] = count;
    copy_dims(dims + 1, first->dims, first->ndim);
    return checked(first->ndim + 1, dims);
}

int ln_shape_scatter(int *dims, const tl_tensor *src, int count)
{
    if (src->ndim < 1)
        return fail("a tensor of rank %lld has no parts, %lld are wanted", src->ndim, count);
    if (src->dims[0] != count)
        return fail("the first axis has %lld elements for %lld parts", src->dims[0], count);
    copy_dims(dims, src->dims + 1, src->ndim - 1);
    return src->ndim - 1;
}

// ---- Images, sorting, detection ----

int ln_shape_resize(int *dims, const tl_tensor *src, const int *given, int dims_len)
{
    if (dims_len != src->ndim)
        return fail("%lld new dimensions for a tensor of rank %lld", dims_len, src->ndim);
    int len = ln_compute_length(dims_len, given);
    if (len < 0)
        return -1;
    if (len > 0 && src->len == 0)
        return fail("%lld elements cannot be made from %lld", len, 0);
    copy_dims(dims, given, dims_len);
    return dims_len;
}

int ln_shape_upsample(int *dims, const tl_tensor *src, const double *scales, int scales_len)
{
    if (scales_len != src->ndim)
        return fail("%lld scales for a tensor of rank %lld", scales_len, src->ndim);
    int scaled[TL_MAXDIM];
    for (int i = 0; i < scales_len; i++) {
        double dim = floor(scales[i] * src->dims[i]);
        if (!(scales[i] > 0) || !(dim <= INT_MAX)) {
            ln_fail(LN_INVALID, "scale %g of axis %d, which has %d elements, is out of range",
                    scales[i], i, src->dims[i]);
            return -1;
        }
        scaled[i] = (int)dim;
    }
    return ln_shape_resize(dims, src, scaled, scales_len);
}

int ln_shape_submean(int *dims, const tl_tensor *src)
{
    if (src->ndim != 3 || src->dims[2] != 3)
        return fail("rank %lld with %lld channels, but a picture is [height, width, 3]", src->ndim,
                    src->ndim > 0 ? src->dims[src->ndim - 1] : 0);
    if (src->dtype == TL_BOOL) {
        ln_fail(LN_INVALID, "a mean cannot be subtracted from bool");
        return -1;
    }
    dims[0] = 3;
    copy_dims(dims + 1, src->dims, 2);
    return 3;
}

int ln_shape_pick1d(int *dims, const tl_tensor *index, int stride, int len)
{
    if (len < 0 || len > index->len)
        return fail("%lld positions are wanted, but there are %lld", len, index->len);
    if (stride < 1 || __builtin_mul_overflow(len, stride, &dims[0]))
        return fail("%lld groups of %lld elements are out of range", len, stride);
    return 1;
}

int ln_shape_yolov3(int *dims, const tl_tensor *feature, const tl_tensor *anchors, int channels)
{
    if (feature->ndim != 4 || anchors->ndim != 2)
        return fail("feature has rank %lld instead of 4, or anchors %lld instead of 2",
                    feature->ndim, anchors->ndim);
    int count = anchors->dims[0];
    if (feature->dims[0] != 1 || anchors->dims[1] != 2)
        return fail(
            "feature is %lld images instead of 1, or anchors have %lld numbers instead of 2",
            feature->dims[0], anchors->dims[1]);
    if (count < 1 || feature->dims[1] % count != 0 || feature->dims[1] / count < 5)
        return fail("%lld channels are not %lld anchors times 5 or more", feature->dims[1], count);
    dims[0] = 1;
    dims[1] = count;
    dims[2] = channels >= 0 ? channels : feature->dims[1] / count - 5;
    copy_dims(dims + 3, feature->dims + 2, 2);
    return checked(5, dims);
}

// ---- Where parts are ----

static bool is_row(const tl_tensor *t, int axis)
{
    for (int d = 0; d < axis; d++)
        if (t->dims[d] != 1)
            return false;
    return true;
}

// Bytes of one element on `axis`, with all that is after it.
static size_t bytes_on(const tl_tensor *t, int axis)
{
    size_t bytes = tl_size_of(t->dtype);
    for (int d = axis + 1; d < t->ndim; d++)
        bytes *= (size_t)t->dims[d];
    return bytes;
}

size_t ln_offset_of_slice(const tl_tensor *src, int axis, int start)
{
    return is_row(src, axis) ? (size_t)start * bytes_on(src, axis) : LN_NO_OFFSET;
}

size_t ln_offset_in_concat(tl_tensor *const *srcs, int count, const tl_tensor *dst, int axis,
                           const tl_tensor *part)
{
    if (!is_row(dst, axis))
        return LN_NO_OFFSET;
    size_t offset = 0;
    for (int i = 0; i < count; i++) {
        if (srcs[i] == part)
            return offset;
        offset += tl_tensor_size(srcs[i]);
    }
    return LN_NO_OFFSET;
}

size_t ln_offset_in_stack(tl_tensor *const *parts, int count, const tl_tensor *part)
{
    for (int i = 0; i < count; i++)
        if (parts[i] == part)
            return (size_t)i * tl_tensor_size(part);
    return LN_NO_OFFSET;
}

size_t ln_offset_of_transpose(const tl_tensor *src, const int *axes)
{
    int last = -1; // of the axes with more than one element, those must stay in their order
    for (int d = 0; d < src->ndim; d++) {
        if (src->dims[axes[d]] == 1)
            continue;
        if (axes[d] < last)
            return LN_NO_OFFSET;
        last = axes[d];
    }
    return 0;
}
