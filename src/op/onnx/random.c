// SPDX-License-Identifier: Apache-2.0
// Shapes of ONNX's operators that draw random numbers.

#include "op/functions.h"

ln_status ln_infer_random(ln_call *call)
{
    tl_dtype dtype = TL_FLOAT;
    LN_TRY(ln_call_dtype(call, "dtype", &dtype));
    if (!(LN_TYPE(dtype) & LN_TYPES_FLOAT))
        return ln_call_fail(call, LN_INVALID, "has a `dtype` that is no floating type");
    int ndim = ln_call_count(call, "shape");
    if (ndim > TL_MAXDIM)
        return ln_call_fail(call, LN_LIMIT, "has a shape of %d dimensions", ndim);
    int64_t dims[TL_MAXDIM];
    for (int d = 0; d < ndim; d++)
        dims[d] = ln_call_int_at(call, "shape", d);
    return ln_call_out64(call, 0, dtype, ndim, dims);
}

ln_status ln_infer_random_like(ln_call *call)
{
    const tl_tensor *like = ln_call_in(call, 0);
    tl_dtype dtype = like->dtype;
    if (ln_call_has(call, "dtype"))
        LN_TRY(ln_call_dtype(call, "dtype", &dtype));
    if (!(LN_TYPE(dtype) & (LN_TYPES_NUMBER | LN_TYPE(TL_BOOL))))
        return ln_call_fail(call, LN_INVALID, "has a `dtype` without numbers");
    return ln_call_out(call, 0, dtype, like->ndim, like->dims);
}

ln_status ln_infer_multinomial(ln_call *call)
{
    const tl_tensor *odds = ln_call_in(call, 0);
    tl_dtype dtype = TL_INT32;
    LN_TRY(ln_call_dtype(call, "dtype", &dtype));
    if (dtype != TL_INT32 && dtype != TL_INT64)
        return ln_call_fail(call, LN_INVALID, "has a `dtype` other than int32 and int64");
    if (odds->ndim != 2)
        return ln_call_fail(call, LN_INVALID, "has an input of rank %d, not 2", odds->ndim);
    int64_t dims[] = {odds->dims[0], ln_call_int(call, "sample_size")};
    if (dims[1] > 0 && odds->dims[0] > 0 && odds->dims[1] == 0)
        return ln_call_fail(call, LN_INVALID, "has no outcome to draw");
    return ln_call_out64(call, 0, dtype, 2, dims);
}

// For each sample the classes are gone through.
double ln_cost_multinomial(const ln_call *call)
{
    const tl_tensor *odds = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    // A sample draws a number, which is worth some twenty classes, and walks over the classes.
    return ln_cost_steps(call) + (dst ? (double)dst->len * (20.0 + odds->dims[1]) : 0);
}

int ln_is_without_seed(const ln_op_arg *op_arg)
{
    return !ln_param_list_find(op_arg->params, "seed");
}
