// SPDX-License-Identifier: Apache-2.0
// Shapes of operators that make a tensor from a few numbers.

#include "op/onnx/shape_fill.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "op/functions.h"
#include "tensor/elem.h"

// ---- Range ----

// The number of steps in [start, limit), with differences that no int64_t may hold.
static ln_status count_int_steps(ln_call *call, int64_t start, int64_t limit, int64_t delta,
                                 int64_t *out_count)
{
    *out_count = 0;
    if (delta == 0)
        return ln_call_fail(call, LN_INVALID, "delta is 0");
    if (delta > 0 ? limit <= start : limit >= start)
        return LN_OK;
    uint64_t span =
        delta > 0 ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;
    uint64_t step = delta > 0 ? (uint64_t)delta : 0 - (uint64_t)delta;
    uint64_t count = (span - 1) / step + 1;
    if (count > INT_MAX)
        return ln_call_fail(call, LN_LIMIT, "a range of %llu elements", (unsigned long long)count);
    *out_count = (int64_t)count;
    return LN_OK;
}

static ln_status count_real_steps(ln_call *call, double start, double limit, double delta,
                                  int64_t *out_count)
{
    double count = ceil((limit - start) / delta);
    *out_count = 0;
    if (delta == 0 || isnan(count))
        return ln_call_fail(call, LN_INVALID, "a range from %g to %g in steps of %g", start, limit,
                            delta);
    if (count > INT_MAX)
        return ln_call_fail(call, LN_LIMIT, "a range of %g elements", count);
    if (count > 0)
        *out_count = (int64_t)count;
    return LN_OK;
}

ln_status ln_infer_range(ln_call *call)
{
    tl_dtype dtype = ln_call_in(call, 0)->dtype;
    const void *values[3];
    for (int i = 0; i < 3; i++) {
        LN_TRY(ln_given_same_dtype(call, ln_call_in(call, 0), ln_call_in(call, i)));
        if (ln_call_in(call, i)->len != 1)
            return ln_call_fail(call, LN_INVALID, "input %d has %d elements instead of one", i,
                                ln_call_in(call, i)->len);
        values[i] = ln_call_value(call, i);
        if (!values[i])
            return ln_call_out_open(call);
    }
    int64_t count;
    if (LN_TYPE(dtype) & LN_TYPES_INT)
        LN_TRY(count_int_steps(call, ln_data_int(values[0], dtype, 0),
                               ln_data_int(values[1], dtype, 0), ln_data_int(values[2], dtype, 0),
                               &count));
    else
        LN_TRY(count_real_steps(call, ln_data_real(values[0], dtype, 0),
                                ln_data_real(values[1], dtype, 0),
                                ln_data_real(values[2], dtype, 0), &count));
    return ln_call_out64(call, 0, dtype, 1, &count);
}

// ---- ConstantOfShape, EyeLike ----

ln_status ln_infer_constant_of_shape(ln_call *call)
{
    const tl_tensor *value = ln_call_in_named(call, "value");
    int64_t dims[TL_MAXDIM];
    int ndim;
    if (value && value->len != 1)
        return ln_call_fail(call, LN_INVALID, "value has %d elements instead of one", value->len);
    LN_TRY(ln_given_ints(call, 0, NULL, TL_MAXDIM, dims, &ndim));
    if (ndim == LN_GIVEN_UNKNOWN)
        return ln_call_out_open(call);
    return ln_call_out64(call, 0, value ? value->dtype : TL_FLOAT, ndim, dims);
}

ln_status ln_infer_eye_like(ln_call *call)
{
    const tl_tensor *like = ln_call_in(call, 0);
    tl_dtype dtype = like->dtype;
    if (like->ndim != 2)
        return ln_call_fail(call, LN_INVALID, "input of rank %d, not 2", like->ndim);
    if (ln_call_has(call, "dtype"))
        LN_TRY(ln_call_dtype(call, "dtype", &dtype));
    if (!(LN_TYPE(dtype) & (LN_TYPES_NUMBER | LN_TYPE(TL_BOOL))))
        return ln_call_fail(call, LN_INVALID, "a matrix of type %s", tl_dtype_title(dtype));
    return ln_call_out(call, 0, dtype, 2, like->dims);
}

// ---- OneHot ----

ln_status ln_one_hot_find(ln_call *call, int *out_axis, int64_t *out_depth, bool *out_is_known)
{
    int ndim = ln_call_in(call, 0)->ndim + 1, count;
    double depth = 0;
    LN_TRY(ln_call_axis(call, "axis", ndim, out_axis));
    LN_TRY(ln_given_real(call, 1, &depth, &count));
    *out_is_known = count == 1;
    if (count == 1 && !(depth >= 0 && depth <= INT_MAX))
        return ln_call_fail(call, LN_INVALID, "depth is %g", depth);
    *out_depth = (int64_t)depth;
    return LN_OK;
}

ln_status ln_infer_one_hot(ln_call *call)
{
    const tl_tensor *indices = ln_call_in(call, 0), *values = ln_call_in(call, 2);
    int axis;
    int64_t depth, dims[TL_MAXDIM + 1];
    bool is_known;
    if (indices->ndim >= TL_MAXDIM)
        return ln_call_fail(call, LN_LIMIT, "rank %d is above %d", indices->ndim + 1, TL_MAXDIM);
    LN_TRY(ln_one_hot_find(call, &axis, &depth, &is_known));
    if (values->ndim != 1 || values->len != 2)
        return ln_call_fail(call, LN_INVALID, "values have %d elements, not 2", values->len);
    if (!is_known)
        return ln_call_out_open(call);
    for (int i = 0, from = 0; i <= indices->ndim; i++)
        dims[i] = i == axis ? depth : indices->dims[from++];
    return ln_call_out64(call, 0, values->dtype, indices->ndim + 1, dims);
}
