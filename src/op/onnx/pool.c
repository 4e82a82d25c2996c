// SPDX-License-Identifier: Apache-2.0
// Shapes of MaxPool, AveragePool, LpPool, the global ones, and MaxUnpool.

#include "op/onnx/pool.h"
#include "op/functions.h"

#include <limits.h>

static ln_status pooled_dims(ln_call *call, int64_t *dims)
{
    const tl_tensor *src = ln_call_in(call, 0);
    ln_window window;
    LN_TRY(ln_window_read(call, src, NULL, &window));
    dims[0] = src->dims[0];
    dims[1] = src->dims[1];
    ln_window_out_dims(&window, dims);
    return LN_OK;
}

ln_status ln_infer_pool(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    int64_t dims[TL_MAXDIM];
    LN_TRY(pooled_dims(call, dims));
    return ln_call_out64(call, 0, src->dtype, src->ndim, dims);
}

ln_status ln_infer_max_pool(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    int64_t dims[TL_MAXDIM];
    LN_TRY(pooled_dims(call, dims));
    LN_TRY(ln_call_out64(call, 0, src->dtype, src->ndim, dims));
    return ln_call_out64(call, 1, TL_INT64, src->ndim, dims);
}

// A window may be larger than its input; what is outside costs nothing.
double ln_cost_pool(const ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    double count = dst ? dst->len : 0;
    for (int i = 0; i < ln_call_count(call, "kernel_shape") && 2 + i < src->ndim; i++) {
        int64_t size = ln_call_int_at(call, "kernel_shape", i), in = src->dims[2 + i];
        count *= (double)(size < in ? size : in);
    }
    return ln_cost_steps(call) + count;
}

ln_status ln_infer_global_pool(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    LN_TRY(ln_window_check_rank(call, src));
    int dims[TL_MAXDIM] = {src->dims[0], src->dims[1]};
    for (int i = 2; i < src->ndim; i++)
        dims[i] = 1;
    return ln_call_out(call, 0, src->dtype, src->ndim, dims);
}

// ---- MaxUnpool ----

ln_status ln_max_unpool_image(ln_call *call, int64_t *out_dims)
{
    const tl_tensor *src = ln_call_in(call, 0);
    ln_window window;
    LN_TRY(ln_window_read_transposed(call, src, NULL, &window));
    out_dims[0] = src->dims[0];
    out_dims[1] = src->dims[1];
    ln_window_out_dims(&window, out_dims);
    return LN_OK;
}

ln_status ln_infer_max_unpool(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *places = ln_call_in(call, 1);
    if (!tl_tensor_issameshape(src, places))
        return ln_call_fail(call, LN_INVALID, "X and I have different shapes");

    int64_t dims[TL_MAXDIM];
    LN_TRY(ln_max_unpool_image(call, dims));
    const tl_tensor *shape = ln_call_in(call, 2);
    if (shape) {
        int count = ln_call_value_ints(call, 2, TL_MAXDIM, dims);
        if (count == -1)
            return ln_call_out_open(call);
        if (count < 0)
            return LN_LIMIT;
        if (count != src->ndim)
            return ln_call_fail(call, LN_INVALID, "output_shape has %d elements for rank %d", count,
                                src->ndim);
    }
    return ln_call_out64(call, 0, src->dtype, src->ndim, dims);
}
