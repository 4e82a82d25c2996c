// SPDX-License-Identifier: Apache-2.0
// Shape inference.

#include <lightnet/opshape.h>

#include <math.h>
#include <stdbool.h>

#include <lightnet/op.h>
#include <lightnet/shape.h>

// `ndim` if the shape has a number of elements that fits an int, else -1 and the reason.
static int checked(int ndim, const int *dims)
{
    return ln_compute_length(ndim, dims) < 0 ? -1 : ndim;
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
