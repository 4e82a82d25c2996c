// SPDX-License-Identifier: Apache-2.0
// Shapes of operators with tensors of indices.

#include "op/functions.h"
#include "op/onnx/given.h"

#include <string.h>

// ---- Gather ----

ln_status ln_infer_gather(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0), *indices = ln_call_in(call, 1);
    int axis, dims[2 * TL_MAXDIM], ndim = 0;
    LN_TRY(ln_call_axis(call, "axis", data->ndim, &axis));
    for (int i = 0; i < axis; i++)
        dims[ndim++] = data->dims[i];
    for (int i = 0; i < indices->ndim; i++)
        dims[ndim++] = indices->dims[i];
    for (int i = axis + 1; i < data->ndim; i++)
        dims[ndim++] = data->dims[i];
    if (ndim > TL_MAXDIM)
        return ln_call_fail(call, LN_LIMIT, "rank %d is above %d", ndim, TL_MAXDIM);
    return ln_call_out(call, 0, data->dtype, ndim, dims);
}

// `indices` name elements of one axis, and have no more rows than `data` on the others.
static ln_status check_element_indices(ln_call *call, const tl_tensor *data,
                                       const tl_tensor *indices)
{
    int axis;
    LN_TRY(ln_call_axis(call, "axis", data->ndim, &axis));
    if (indices->ndim != data->ndim)
        return ln_call_fail(call, LN_INVALID, "indices of rank %d for data of rank %d",
                            indices->ndim, data->ndim);
    for (int i = 0; i < data->ndim; i++)
        if (i != axis && indices->dims[i] > data->dims[i])
            return ln_call_fail(call, LN_INVALID, "indices have dimension %d on axis %d, data %d",
                                indices->dims[i], i, data->dims[i]);
    return LN_OK;
}

ln_status ln_infer_gather_elements(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0), *indices = ln_call_in(call, 1);
    LN_TRY(check_element_indices(call, data, indices));
    return ln_call_out(call, 0, data->dtype, indices->ndim, indices->dims);
}

ln_status ln_infer_gather_nd(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0), *indices = ln_call_in(call, 1);
    int64_t batch = ln_call_int(call, "batch_dims");
    if (data->ndim < 1 || indices->ndim < 1)
        return ln_call_fail(call, LN_INVALID, "data of rank %d and indices of rank %d", data->ndim,
                            indices->ndim);
    if (batch < 0 || batch >= indices->ndim || batch >= data->ndim)
        return ln_call_fail(call, LN_INVALID, "batch_dims is %lld", (long long)batch);
    for (int i = 0; i < batch; i++)
        if (data->dims[i] != indices->dims[i])
            return ln_call_fail(call, LN_INVALID, "data has dimension %d on axis %d, indices %d",
                                data->dims[i], i, indices->dims[i]);
    int tuple = indices->dims[indices->ndim - 1];
    if (tuple > data->ndim - batch)
        return ln_call_fail(call, LN_INVALID, "%d indices for %d dimensions", tuple,
                            data->ndim - (int)batch);

    int dims[2 * TL_MAXDIM], ndim = 0;
    for (int i = 0; i < indices->ndim - 1; i++)
        dims[ndim++] = indices->dims[i];
    for (int i = (int)batch + tuple; i < data->ndim; i++)
        dims[ndim++] = data->dims[i];
    if (ndim > TL_MAXDIM)
        return ln_call_fail(call, LN_LIMIT, "rank %d is above %d", ndim, TL_MAXDIM);
    return ln_call_out(call, 0, data->dtype, ndim, dims);
}

// ---- Scatter ----

static ln_status check_reduction(ln_call *call, tl_dtype dtype)
{
    static const char *const reductions[] = {"none", "add", "mul", "max", "min"};
    const char *reduction = ln_call_string(call, "reduction");
    if (!reduction || strcmp(reduction, "none") == 0)
        return LN_OK;
    size_t i = 1;
    while (i < 5 && strcmp(reduction, reductions[i]) != 0)
        i++;
    if (i == 5)
        return ln_call_fail(call, LN_INVALID,
                            "reduction \"%s\" is none of none, add, mul, max, min", reduction);
    if (dtype == TL_STRING || (i >= 3 && (LN_TYPE(dtype) & LN_TYPES_COMPLEX)))
        return ln_call_fail(call, LN_UNSUPPORTED, "reduction %s of type %s", reduction,
                            tl_dtype_title(dtype));
    return LN_OK;
}

ln_status ln_infer_scatter_elements(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0), *indices = ln_call_in(call, 1),
                    *updates = ln_call_in(call, 2);
    LN_TRY(ln_given_same_dtype(call, data, updates));
    LN_TRY(check_reduction(call, data->dtype));
    LN_TRY(check_element_indices(call, data, indices));
    if (!tl_tensor_issameshape(indices, updates))
        return ln_call_fail(call, LN_INVALID, "indices and updates differ in shape");
    return ln_call_out_like(call, 0, 0);
}

ln_status ln_infer_scatter_nd(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0), *indices = ln_call_in(call, 1),
                    *updates = ln_call_in(call, 2);
    LN_TRY(ln_given_same_dtype(call, data, updates));
    LN_TRY(check_reduction(call, data->dtype));
    if (data->ndim < 1 || indices->ndim < 1)
        return ln_call_fail(call, LN_INVALID, "data of rank %d and indices of rank %d", data->ndim,
                            indices->ndim);
    int tuple = indices->dims[indices->ndim - 1], rows = indices->ndim - 1;
    if (tuple > data->ndim)
        return ln_call_fail(call, LN_INVALID, "%d indices for %d dimensions", tuple, data->ndim);
    if (updates->ndim != rows + data->ndim - tuple)
        return ln_call_fail(call, LN_INVALID, "updates of rank %d, not %d", updates->ndim,
                            rows + data->ndim - tuple);
    for (int i = 0; i < updates->ndim; i++) {
        int dim = i < rows ? indices->dims[i] : data->dims[tuple + i - rows];
        if (updates->dims[i] != dim)
            return ln_call_fail(call, LN_INVALID, "updates have dimension %d on axis %d, not %d",
                                updates->dims[i], i, dim);
    }
    return ln_call_out_like(call, 0, 0);
}

ln_status ln_infer_tensor_scatter(ln_call *call)
{
    const tl_tensor *cache = ln_call_in(call, 0), *update = ln_call_in(call, 1),
                    *starts = ln_call_in(call, 2);
    const char *mode = ln_call_string(call, "mode");
    int axis;
    LN_TRY(ln_given_same_dtype(call, cache, update));
    LN_TRY(ln_call_axis(call, "axis", cache->ndim, &axis));
    if (axis == 0)
        return ln_call_fail(call, LN_INVALID, "axis 0 is the batch");
    if (mode && strcmp(mode, "linear") != 0 && strcmp(mode, "circular") != 0)
        return ln_call_fail(call, LN_INVALID, "mode \"%s\" is neither linear nor circular", mode);
    if (update->ndim != cache->ndim)
        return ln_call_fail(call, LN_INVALID, "an update of rank %d for a cache of rank %d",
                            update->ndim, cache->ndim);
    for (int i = 0; i < cache->ndim; i++)
        if (update->dims[i] > cache->dims[i] || (i != axis && update->dims[i] != cache->dims[i]))
            return ln_call_fail(call, LN_INVALID, "an update of dimension %d on axis %d of %d",
                                update->dims[i], i, cache->dims[i]);
    if (starts && (starts->ndim != 1 || starts->len != cache->dims[0]))
        return ln_call_fail(call, LN_INVALID, "%d write_indices for a batch of %d", starts->len,
                            cache->dims[0]);
    return ln_call_out_like(call, 0, 0);
}
