// SPDX-License-Identifier: Apache-2.0
// Tensors: shapes, making, freeing, ranges.

#include <lightnet/tensor.h>

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/checked.h"
#include "tensor/tensor_check.h"

// ---- Shapes ----

bool tl_shape_len(int ndim, const int *dims, int *out_len)
{
    *out_len = 0;
    if (ndim < 0 || ndim > TL_MAXDIM || (ndim > 0 && !dims))
        return false;
    // A 0 anywhere makes the product 0, whatever the others would overflow to.
    bool is_empty = false;
    for (int i = 0; i < ndim; i++) {
        if (dims[i] < 0)
            return false;
        is_empty |= dims[i] == 0;
    }
    if (is_empty)
        return true;
    int len = 1;
    for (int i = 0; i < ndim; i++) {
        if (__builtin_mul_overflow(len, dims[i], &len))
            return false;
    }
    *out_len = len;
    return true;
}

int tl_compute_length(int ndim, const int *dims)
{
    int len;
    if (ndim < 0 || ndim > TL_MAXDIM) {
        ln_fail(LN_INVALID, "%d dimensions are outside 0..%d", ndim, TL_MAXDIM);
        return -1;
    }
    if (tl_shape_len(ndim, dims, &len))
        return len;
    if (!dims) {
        ln_fail(LN_INVALID, "the dimensions are NULL");
        return -1;
    }
    for (int i = 0; i < ndim; i++) {
        if (dims[i] < 0) {
            ln_fail(LN_INVALID, "dimension %d is negative: %d", i, dims[i]);
            return -1;
        }
    }
    ln_fail(LN_INVALID, "the shape has more than %d elements", INT_MAX);
    return -1;
}

size_t tl_tensor_size(const tl_tensor *t)
{
    return t && t->len > 0 ? (size_t)t->len * tl_size_of(t->dtype) : 0;
}

int tl_tensor_index(const tl_tensor *t, const int *coords)
{
    if (!tensor_is_shaped(t, "t"))
        return -1;
    if (t->ndim > 0 && !coords) {
        ln_fail(LN_INVALID, "the coordinates are NULL");
        return -1;
    }
    int index = 0;
    for (int i = 0; i < t->ndim; i++) {
        if (coords[i] < 0 || coords[i] >= t->dims[i]) {
            ln_fail(LN_INVALID, "coordinate %d is outside of dimension %d of size %d", coords[i], i,
                    t->dims[i]);
            return -1;
        }
    }
    // All dimensions are at least 1 here, so that no partial sum exceeds len.
    for (int i = 0; i < t->ndim; i++)
        index = index * t->dims[i] + coords[i];
    return index;
}

ln_status tl_tensor_coords(const tl_tensor *t, int index, int *coords)
{
    if (!tensor_is_shaped(t, "t"))
        return LN_INVALID;
    if (index < 0 || index >= t->len)
        return LN_FAIL(LN_INVALID, "index %d is outside of %d elements", index, t->len);
    if (t->ndim > 0 && !coords)
        return LN_FAIL(LN_INVALID, "the coordinates are NULL");
    for (int i = t->ndim - 1; i >= 0; i--) {
        coords[i] = index % t->dims[i];
        index /= t->dims[i];
    }
    return LN_OK;
}

int tl_tensor_issameshape(const tl_tensor *t1, const tl_tensor *t2)
{
    if (!t1 || !t2 || t1->ndim != t2->ndim)
        return 0;
    for (int i = 0; i < t1->ndim; i++) {
        if (t1->dims[i] != t2->dims[i])
            return 0;
    }
    return 1;
}

// ---- Checks ----

bool tensor_is_shaped(const tl_tensor *t, const char *arg_name)
{
    if (!t) {
        ln_fail(LN_INVALID, "tensor '%s' is NULL", arg_name);
        return false;
    }
    if (!tl_size_of(t->dtype)) {
        ln_fail(LN_INVALID, "tensor '%s' has the invalid dtype %d", arg_name, (int)t->dtype);
        return false;
    }
    int len;
    if (!tl_shape_len(t->ndim, t->dims, &len) || len != t->len) {
        ln_fail(LN_INVALID, "the shape of tensor '%s' does not fit its %d elements", arg_name,
                t->len);
        return false;
    }
    return true;
}

bool tensor_is_usable(const tl_tensor *t, const char *arg_name)
{
    if (!tensor_is_shaped(t, arg_name))
        return false;
    if (t->len > 0 && !t->data) {
        ln_fail(LN_INVALID, "tensor '%s' has no data", arg_name);
        return false;
    }
    return true;
}

bool tensor_is_native(const tl_tensor *t, const char *arg_name)
{
    if (TL_DTYPE_IS_NATIVE(t->dtype))
        return true;
    (void)tensor_fail_arithmetic(t->dtype);
    (void)ln_fail_prefix("tensor '%s'", arg_name);
    return false;
}

ln_status tensor_fail_arithmetic(tl_dtype dtype)
{
    if (!tl_size_of(dtype))
        return LN_FAIL(LN_INVALID, "%d is not a dtype", (int)dtype);
    return LN_FAIL(LN_UNSUPPORTED, "%s has no arithmetic", tl_dtype_title(dtype));
}

bool tensor_has_axis(const tl_tensor *t, int axis)
{
    if (axis >= 0 && axis < t->ndim)
        return true;
    ln_fail(LN_INVALID, "axis %d is outside of %d dimensions", axis, t->ndim);
    return false;
}

static bool share_bytes(const tl_tensor *a, const tl_tensor *b)
{
    uintptr_t a_start = (uintptr_t)a->data, b_start = (uintptr_t)b->data;
    size_t a_size = tl_tensor_size(a), b_size = tl_tensor_size(b);
    return a_size && b_size && a_start < b_start + b_size && b_start < a_start + a_size;
}

bool tensors_are_apart(const tl_tensor *a, const tl_tensor *b)
{
    if (!a || !b || !share_bytes(a, b))
        return true;
    ln_fail(LN_INVALID, "the result shares memory with a source");
    return false;
}

bool tensors_are_one_or_apart(const tl_tensor *a, const tl_tensor *b)
{
    if (a && b && a->data == b->data && tl_tensor_size(a) == tl_tensor_size(b))
        return true;
    return tensors_are_apart(a, b);
}

tl_tensor *tensor_result(tl_tensor *dst, int ndim, const int *dims, tl_dtype dtype)
{
    if (!dst)
        return tl_tensor_zeros(ndim, dims, dtype);
    if (!tensor_is_usable(dst, "dst"))
        return NULL;
    if (dst->dtype != dtype) {
        ln_fail(LN_INVALID, "'dst' is %s instead of %s", tl_dtype_title(dst->dtype),
                tl_dtype_title(dtype));
        return NULL;
    }
    if (dst->ndim != ndim) {
        ln_fail(LN_INVALID, "'dst' has %d dimensions instead of %d", dst->ndim, ndim);
        return NULL;
    }
    for (int i = 0; i < ndim; i++) {
        if (dst->dims[i] != dims[i]) {
            ln_fail(LN_INVALID, "dimension %d of 'dst' is %d instead of %d", i, dst->dims[i],
                    dims[i]);
            return NULL;
        }
    }
    return dst;
}

tl_tensor *tensor_unconst(const tl_tensor *t)
{
    return (tl_tensor *)(uintptr_t)t;
}

// ---- Making and freeing ----

// A tensor with its dimensions. A tensor that gets more of them has others, in their own memory.
typedef struct whole_tensor {
    tl_tensor tensor;
    int dims[];
} whole_tensor;

tl_tensor *tl_tensor_create(void *data, int ndim, const int *dims, tl_dtype dtype)
{
    int len = tl_compute_length(ndim, dims);
    if (len < 0)
        return NULL;
    if (!tl_size_of(dtype)) {
        ln_fail(LN_INVALID, "%d is not a dtype", (int)dtype);
        return NULL;
    }
    whole_tensor *whole = ln_alloc(sizeof *whole + (size_t)ndim * sizeof *dims);
    if (!whole)
        return NULL;
    if (ndim > 0)
        memcpy(whole->dims, dims, (size_t)ndim * sizeof *dims);
    whole->tensor =
        (tl_tensor){.dtype = dtype, .len = len, .ndim = ndim, .dims = whole->dims, .data = data};
    return &whole->tensor;
}

bool tensor_has_inline_dims(const tl_tensor *t)
{
    return t->dims == ((const whole_tensor *)t)->dims;
}

void tl_tensor_free(tl_tensor *t)
{
    if (!t)
        return;
    if (!tensor_has_inline_dims(t))
        ln_free(t->dims);
    ln_free(t);
}

void tl_tensor_free_data_too(tl_tensor *t)
{
    if (t && !t->owner)
        ln_free(t->data);
    tl_tensor_free(t);
}

tl_tensor *tl_tensor_zeros(int ndim, const int *dims, tl_dtype dtype)
{
    tl_tensor *t = tl_tensor_create(NULL, ndim, dims, dtype);
    if (!t)
        return NULL;
    t->data = ln_alloc_array((size_t)t->len, tl_size_of(dtype));
    if (!t->data) {
        tl_tensor_free(t);
        return NULL;
    }
    return t;
}

tl_tensor *tl_tensor_clone(const tl_tensor *src)
{
    if (!tensor_is_usable(src, "src"))
        return NULL;
    tl_tensor *dst = tl_tensor_zeros(src->ndim, src->dims, src->dtype);
    if (dst)
        tl_memcpy(dst->data, src->data, tl_tensor_size(src));
    return dst;
}

tl_tensor *tl_tensor_repeat(const tl_tensor *src, int times)
{
    if (!tensor_is_usable(src, "src"))
        return NULL;
    int dims[TL_MAXDIM + 1] = {times};
    for (int i = 0; i < src->ndim; i++)
        dims[i + 1] = src->dims[i];
    tl_tensor *dst = tl_tensor_zeros(src->ndim + 1, dims, src->dtype);
    if (!dst || dst->len == 0)
        return dst;
    size_t byte_count = tl_tensor_size(src);
    for (int i = 0; i < times; i++)
        memcpy((char *)dst->data + (size_t)i * byte_count, src->data, byte_count);
    return dst;
}

// ---- Ranges ----

// The number of elements of a range; -1 on failure.
static int range_len(double start, double stop, double step, tl_dtype dtype)
{
    const double values[] = {start, stop, step};
    for (int i = 0; i < 3; i++) {
        if (!(values[i] >= tl_dtype_min_double(dtype) && values[i] <= tl_dtype_max_double(dtype))) {
            ln_fail(LN_INVALID, "range value %g is outside of %s", values[i],
                    tl_dtype_title(dtype));
            return -1;
        }
    }
    if (step == 0) {
        ln_fail(LN_INVALID, "a range needs a step that is not 0");
        return -1;
    }
    double count = ceil((stop - start) / step);
    if (count > INT_MAX) {
        ln_fail(LN_INVALID, "a range of %g elements is too long", count);
        return -1;
    }
    return count > 0 ? (int)count : 0;
}

static void fill_range(tl_tensor *t, double start, double step)
{
    char *element = t->data;
    for (int i = 0; i < t->len; i++) {
        double value = start + i * step;
        (void)tl_convert(element, t->dtype, &value, TL_DOUBLE);
        element += tl_size_of(t->dtype);
    }
}

tl_tensor *tl_tensor_arange(double start, double stop, double step, tl_dtype dtype)
{
    if (!tl_size_of(dtype)) {
        ln_fail(LN_INVALID, "%d is not a dtype", (int)dtype);
        return NULL;
    }
    int len = range_len(start, stop, step, dtype);
    if (len < 0)
        return NULL;
    tl_tensor *t = tl_tensor_zeros(1, &len, dtype);
    if (t)
        fill_range(t, start, step);
    return t;
}

ln_status tl_tensor_rearange(tl_tensor *src, double start, double stop, double step)
{
    if (!tensor_is_usable(src, "src"))
        return LN_INVALID;
    if (src->ndim != 1)
        return LN_FAIL(LN_INVALID, "a range has 1 dimension, 'src' has %d", src->ndim);
    int len = range_len(start, stop, step, src->dtype);
    if (len < 0)
        return LN_INVALID;
    if (len != src->len)
        return LN_FAIL(LN_INVALID, "the range has %d elements, 'src' has %d", len, src->len);
    fill_range(src, start, step);
    return LN_OK;
}

// ---- The shape of a slice ----

static tl_tensor *make_slice(void *data, const tl_tensor *src, int axis, int len, tl_dtype dtype,
                             bool with_data)
{
    if (!tensor_is_shaped(src, "src") || !tensor_has_axis(src, axis))
        return NULL;
    int dims[TL_MAXDIM];
    memcpy(dims, src->dims, (size_t)src->ndim * sizeof *dims);
    dims[axis] = len;
    return with_data ? tl_tensor_zeros(src->ndim, dims, dtype)
                     : tl_tensor_create(data, src->ndim, dims, dtype);
}

tl_tensor *tl_tensor_create_slice(void *data, const tl_tensor *src, int axis, int len,
                                  tl_dtype dtype)
{
    return make_slice(data, src, axis, len, dtype, false);
}

tl_tensor *tl_tensor_zeros_slice(const tl_tensor *src, int axis, int len, tl_dtype dtype)
{
    return make_slice(NULL, src, axis, len, dtype, true);
}
