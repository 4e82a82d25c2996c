// SPDX-License-Identifier: Apache-2.0
// Shapes of operators that change a shape and keep the elements in order.

#include "op/onnx/shape.h"
#include "op/functions.h"

#include <limits.h>
#include <stdbool.h>

// ---- Reshape ----

// Replaces a 0 of `dims` by the dimension of `data` at its place. *out_wild is the place of the -1,
// or -1. The products are those of what is given and of the elements it has to hold: dimensions
// that are kept count in neither, so that a -1 has its value even where a kept dimension is 0.
static ln_status settle_dims(ln_call *call, const tl_tensor *data, int ndim, int64_t *dims,
                             int *out_wild, int64_t *out_given, int64_t *out_wanted)
{
    bool allows_zero = ln_call_int(call, "allowzero") != 0;
    bool is_kept[TL_MAXDIM] = {false};
    *out_wild = -1;
    *out_given = *out_wanted = 1;
    for (int i = 0; i < ndim; i++) {
        if (dims[i] < -1 || dims[i] > INT_MAX)
            return ln_call_fail(call, LN_INVALID, "dimension %lld of the new shape",
                                (long long)dims[i]);
        if (dims[i] == -1) {
            if (*out_wild >= 0)
                return ln_call_fail(call, LN_INVALID, "the new shape has -1 twice");
            *out_wild = i;
        } else if (dims[i] == 0 && !allows_zero) {
            if (i >= data->ndim)
                return ln_call_fail(call, LN_INVALID,
                                    "dimension %d is to be kept of a tensor of rank %d", i,
                                    data->ndim);
            dims[i] = data->dims[i];
            is_kept[i] = true;
        } else if (__builtin_mul_overflow(*out_given, dims[i], out_given)) {
            return ln_call_fail(call, LN_LIMIT, "the new shape has too many elements");
        }
    }
    for (int i = 0; i < data->ndim; i++)
        if (!is_kept[i] && __builtin_mul_overflow(*out_wanted, data->dims[i], out_wanted))
            return ln_call_fail(call, LN_LIMIT, "the shape has too many elements");
    return LN_OK;
}

static ln_status reshaped(ln_call *call, const tl_tensor *data, int ndim, int64_t *dims)
{
    int wild;
    int64_t given, wanted;
    LN_TRY(settle_dims(call, data, ndim, dims, &wild, &given, &wanted));
    if (wild >= 0) {
        if (given == 0 || wanted % given != 0)
            return ln_call_fail(call, LN_INVALID,
                                "%d elements leave no integer for the dimension -1", data->len);
        dims[wild] = wanted / given;
    }
    int64_t len = 1;
    bool is_empty = false;
    for (int i = 0; i < ndim; i++) {
        is_empty = is_empty || dims[i] == 0;
        if (!is_empty && __builtin_mul_overflow(len, dims[i], &len))
            return ln_call_fail(call, LN_LIMIT, "the new shape has too many elements");
    }
    len = is_empty ? 0 : len;
    if (len != data->len)
        return ln_call_fail(call, LN_INVALID, "%d elements do not fit a shape of %lld", data->len,
                            (long long)len);
    return ln_call_out64(call, 0, data->dtype, ndim, dims);
}

ln_status ln_infer_reshape(ln_call *call)
{
    int64_t dims[TL_MAXDIM];
    int ndim;
    LN_TRY(ln_given_ints(call, 1, "shape", TL_MAXDIM, dims, &ndim));
    if (ndim == LN_GIVEN_UNKNOWN)
        return ln_call_out_open(call);
    if (ndim == LN_GIVEN_ABSENT)
        return ln_call_fail(call, LN_INVALID, "there is no new shape");
    return reshaped(call, ln_call_in(call, 0), ndim, dims);
}

// ---- Flatten ----

ln_status ln_infer_flatten(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0);
    int64_t axis = ln_call_int(call, "axis");
    if (axis < -data->ndim || axis > data->ndim)
        return ln_call_fail(call, LN_INVALID, "axis %lld is outside rank %d", (long long)axis,
                            data->ndim);
    axis += axis < 0 ? data->ndim : 0;

    int64_t dims[2] = {1, 1};
    for (int i = 0; i < data->ndim; i++)
        if (__builtin_mul_overflow(dims[i >= axis], data->dims[i], &dims[i >= axis]))
            return ln_call_fail(call, LN_LIMIT, "the shape has too many elements");
    return ln_call_out64(call, 0, data->dtype, 2, dims);
}

// ---- Squeeze, Unsqueeze ----

ln_status ln_infer_squeeze(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0);
    int64_t given[TL_MAXDIM];
    int axes[TL_MAXDIM], count;
    LN_TRY(ln_given_ints(call, 1, "axes", TL_MAXDIM, given, &count));
    if (count == LN_GIVEN_UNKNOWN)
        return ln_call_out_open(call);

    bool drops[TL_MAXDIM] = {false};
    for (int i = 0; i < data->ndim && count == LN_GIVEN_ABSENT; i++)
        drops[i] = data->dims[i] == 1;
    if (count >= 0)
        LN_TRY(ln_given_axes(call, data->ndim, given, count, axes));
    for (int i = 0; i < count; i++) {
        if (data->dims[axes[i]] != 1)
            return ln_call_fail(call, LN_INVALID, "axis %d has dimension %d, not 1", axes[i],
                                data->dims[axes[i]]);
        drops[axes[i]] = true;
    }

    int dims[TL_MAXDIM], ndim = 0;
    for (int i = 0; i < data->ndim; i++)
        if (!drops[i])
            dims[ndim++] = data->dims[i];
    return ln_call_out(call, 0, data->dtype, ndim, dims);
}

ln_status ln_infer_unsqueeze(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0);
    int64_t given[TL_MAXDIM];
    int axes[TL_MAXDIM], count;
    LN_TRY(ln_given_ints(call, 1, "axes", TL_MAXDIM, given, &count));
    if (count == LN_GIVEN_UNKNOWN)
        return ln_call_out_open(call);
    if (count == LN_GIVEN_ABSENT)
        return ln_call_fail(call, LN_INVALID, "there are no axes");
    int ndim = data->ndim + count;
    if (ndim > TL_MAXDIM)
        return ln_call_fail(call, LN_LIMIT, "rank %d is above %d", ndim, TL_MAXDIM);
    LN_TRY(ln_given_axes(call, ndim, given, count, axes));

    int dims[TL_MAXDIM] = {0};
    bool is_new[TL_MAXDIM] = {false};
    for (int i = 0; i < count; i++)
        is_new[axes[i]] = true;
    for (int i = 0, from = 0; i < ndim; i++)
        dims[i] = is_new[i] ? 1 : data->dims[from++];
    return ln_call_out(call, 0, data->dtype, ndim, dims);
}

// ---- Shape, Size ----

static int clamped_axis(int64_t axis, int ndim)
{
    axis = axis < -ndim ? 0 : axis < 0 ? axis + ndim : axis;
    return axis > ndim ? ndim : (int)axis;
}

void ln_shape_range(const ln_call *call, int ndim, int *out_start, int *out_end)
{
    *out_start = clamped_axis(ln_call_int(call, "start"), ndim);
    *out_end = ln_call_has(call, "end") ? clamped_axis(ln_call_int(call, "end"), ndim) : ndim;
    if (*out_end < *out_start)
        *out_end = *out_start;
}

ln_status ln_infer_shape(ln_call *call)
{
    int start, end;
    ln_shape_range(call, ln_call_in(call, 0)->ndim, &start, &end);
    int count = end - start;
    return ln_call_out(call, 0, TL_INT64, 1, &count);
}

ln_status ln_infer_one_int64(ln_call *call)
{
    return ln_call_out(call, 0, TL_INT64, 0, NULL);
}
