// SPDX-License-Identifier: Apache-2.0
// Shapes of LightNet's operators on pictures, boxes, positions and maxima.

#include <limits.h>
#include <math.h>

#include <lightnet/opshape.h>
#include <lightnet/shape.h>

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

// ---- Pictures ----

ln_status ln_infer_submean(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    int count = ln_call_count(call, "mean");
    tl_dtype dtype;
    if (src->ndim != 3 || src->dims[2] != 3 || src->dtype == TL_BOOL)
        return ln_call_fail(call, LN_INVALID, "takes a picture [height, width, 3] of numbers");
    if (count != 3)
        return ln_call_fail(call, LN_INVALID, "param 'mean' has %d numbers, but should have 3",
                            count);
    LN_TRY(ln_call_dtype(call, "dtype", &dtype));
    if (!TL_DTYPE_IS_NATIVE(dtype) || dtype == TL_BOOL)
        return ln_call_fail(call, LN_INVALID, "dtype should not be %s", tl_dtype_name(dtype));
    return ln_call_out(call, 0, dtype, 3, (const int[]){3, src->dims[0], src->dims[1]});
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
    const tl_tensor *feature = ln_call_in(call, 0), *anchors = ln_call_in(call, 1);
    LN_TRY(check_sizes(call, 2, sizes));
    if (feature->ndim != 4 || feature->dims[0] != 1 || anchors->ndim != 2 || anchors->dims[1] != 2)
        return ln_call_fail(call, LN_INVALID, "takes one image of features, and anchors [A, 2]");
    int count = anchors->dims[0], all = feature->dims[1];
    if (count < 1 || all % count != 0 || all / count < 5)
        return ln_call_fail(call, LN_INVALID, "%d channels are not %d anchors times 5 or more", all,
                            count);
    const int channels[] = {2, 2, 4, 1, all / count - 5}; // of the outputs
    for (int i = 0; i < 5; i++)
        LN_TRY(
            ln_call_out(call, i, TL_FLOAT, 5,
                        (const int[]){1, count, channels[i], feature->dims[2], feature->dims[3]}));
    return LN_OK;
}

// ---- Positions and maxima ----

ln_status ln_infer_pick1d(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *index = ln_call_in(call, 1);
    int stride, len;
    if (src->ndim != 1 || index->ndim != 1)
        return ln_call_fail(call, LN_INVALID, "takes tensors of rank 1");
    LN_TRY(read_int(call, "stride", 1, INT_MAX, &stride));
    LN_TRY(read_int(call, "len", 0, index->len, &len));
    return ln_call_out64(call, 0, src->dtype, 1, (const int64_t[]){(int64_t)len * stride});
}

ln_status ln_infer_maxreduce(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    int axis, dims[TL_MAXDIM];
    LN_TRY(read_int(call, "axis", 0, src->ndim - 1, &axis));
    int ndim = ln_shape_with_dim(dims, src, axis, 1);
    if (ndim < 0)
        return ln_call_fail(call, ln_error_status(), "%s", ln_error_message());
    if (src->dims[axis] == 0 && ln_compute_length(ndim, dims) > 0)
        return ln_call_fail(call, LN_INVALID, "axis %d has no elements to find the largest of",
                            axis);
    LN_TRY(ln_call_out(call, 0, src->dtype, ndim, dims));
    return ln_call_out(call, 1, TL_INT32, ndim, dims);
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
