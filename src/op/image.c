// SPDX-License-Identifier: Apache-2.0
// Shapes of LightNet's operators on pictures, boxes, positions and maxima.

#include <limits.h>
#include <math.h>

#include <lightnet/opshape.h>

#include "op/functions.h"

// The integer that `param` has to be, at least `min` and at most `max`.
static ln_status read_int(ln_call *call, const char *param, int min, int max, int *out_number)
{
    double number = ln_call_float(call, param);
    *out_number = 0;
    if (number != floor(number))
        return ln_call_fail(call, LN_INVALID, "param '%s' is %g, which is no integer", param,
                            number);
    if (!(number >= min))
        return ln_call_fail(call, LN_INVALID, "param '%s' is %g; it should be >= %d", param, number,
                            min);
    if (number > max)
        return ln_call_fail(call, LN_INVALID, "param '%s' is %g; it should be <= %d", param, number,
                            max);
    *out_number = (int)number;
    return LN_OK;
}

static ln_status check_sizes(ln_call *call, int count, const char *const *params)
{
    int size;
    for (int i = 0; i < count; i++)
        LN_TRY(read_int(call, params[i], 1, INT_MAX, &size));
    return LN_OK;
}

// `ndim` as functions of opshape.h give it: below 0 there is a message already.
static ln_status give(ln_call *call, int index, tl_dtype dtype, int ndim, const int *dims)
{
    return ndim < 0 ? ln_call_fail(call, ln_error_status(), "%s", ln_error_message())
                    : ln_call_out(call, index, dtype, ndim, dims);
}

// ---- Pictures ----

ln_status ln_infer_submean(ln_call *call)
{
    int dims[TL_MAXDIM], count = ln_call_count(call, "mean");
    tl_dtype dtype;
    if (count != 3)
        return ln_call_fail(call, LN_INVALID, "param 'mean' has %d numbers, but should have 3",
                            count);
    LN_TRY(ln_call_dtype(call, "dtype", &dtype));
    if (!TL_DTYPE_IS_NATIVE(dtype) || dtype == TL_BOOL)
        return ln_call_fail(call, LN_INVALID, "dtype should not be %s", tl_dtype_name(dtype));
    return give(call, 0, dtype, ln_shape_submean(dims, ln_call_in(call, 0)), dims);
}

// ---- Boxes ----

ln_status ln_infer_transform_bbox(ln_call *call)
{
    static const char *const sizes[] = {"width", "height", "img_width", "img_height"};
    const tl_tensor *delta = ln_call_in(call, 0);
    int shift;
    if (delta->ndim < 1 || delta->dims[delta->ndim - 1] != 4)
        return ln_call_fail(call, LN_INVALID, "the last dimension of src_delta should be 4");
    if (!tl_tensor_issameshape(delta, ln_call_in(call, 1)))
        return ln_call_fail(call, LN_INVALID, "src_anchor should have the shape of src_delta");
    LN_TRY(check_sizes(call, 4, sizes));
    LN_TRY(read_int(call, "x_shift", INT_MIN, INT_MAX, &shift));
    LN_TRY(read_int(call, "y_shift", INT_MIN, INT_MAX, &shift));
    return ln_call_out_like(call, 0, 0);
}

ln_status ln_infer_yolov3(ln_call *call)
{
    static const char *const sizes[] = {"img_width", "img_height"};
    static const int channels[] = {2, 2, 4, 1, -1}; // of the outputs; -1: the classes
    LN_TRY(check_sizes(call, 2, sizes));
    for (int i = 0; i < 5; i++) {
        int dims[TL_MAXDIM];
        int ndim = ln_shape_yolov3(dims, ln_call_in(call, 0), ln_call_in(call, 1), channels[i]);
        LN_TRY(give(call, i, TL_FLOAT, ndim, dims));
    }
    return LN_OK;
}

// ---- Positions and maxima ----

ln_status ln_infer_pick1d(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *index = ln_call_in(call, 1);
    int stride, len, dims[TL_MAXDIM];
    if (src->ndim != 1 || index->ndim != 1)
        return ln_call_fail(call, LN_INVALID, "takes tensors of rank 1");
    LN_TRY(read_int(call, "stride", 1, INT_MAX, &stride));
    LN_TRY(read_int(call, "len", 0, index->len, &len));
    return give(call, 0, src->dtype, ln_shape_pick1d(dims, index, stride, len), dims);
}

ln_status ln_infer_maxreduce(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    int axis, dims[TL_MAXDIM];
    LN_TRY(read_int(call, "axis", 0, src->ndim - 1, &axis));
    int ndim = ln_shape_reduce(dims, src, axis);
    LN_TRY(give(call, 0, src->dtype, ndim, dims));
    return give(call, 1, TL_INT32, ndim, dims);
}

ln_status ln_infer_dot_product(ln_call *call)
{
    const tl_tensor *src1 = ln_call_in(call, 0);
    if (!tl_tensor_issameshape(src1, ln_call_in(call, 1)))
        return ln_call_fail(call, LN_INVALID, "src2 should have the shape of src1");
    return ln_call_out(call, 0, src1->dtype, 1, (const int[]){1});
}

double ln_macs_dot_product(const ln_call *call)
{
    return ln_call_in(call, 0)->len;
}
