// SPDX-License-Identifier: Apache-2.0
// Reference kernels of operators that change a shape or fill a tensor.

#include "op/onnx/shape.h"
#include "arch/ref/functions.h"
#include "arch/ref/onnx/move.h"
#include "op/onnx/shape_fill.h"
#include "tensor/elem.h"

// ---- Shapes ----

ln_status ln_ref_onnx_same_elements(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    return ln_call_dst(call, 0)->data == src->data ? LN_OK : ln_move_all(call, 0, src);
}

ln_status ln_ref_onnx_shape(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0);
    int64_t *dst = ln_call_dst(call, 0)->data;
    int start, end;
    ln_shape_range(call, data->ndim, &start, &end);
    for (int i = start; i < end; i++)
        dst[i - start] = data->dims[i];
    return LN_OK;
}

ln_status ln_ref_onnx_size(ln_call *call)
{
    *(int64_t *)ln_call_dst(call, 0)->data = ln_call_in(call, 0)->len;
    return LN_OK;
}

// ---- Filling ----

ln_status ln_ref_onnx_range(ln_call *call)
{
    const tl_tensor *start = ln_call_in(call, 0), *delta = ln_call_in(call, 2);
    tl_tensor *dst = ln_call_dst(call, 0);
    if (LN_TYPE(dst->dtype) & LN_TYPES_INT) {
        uint64_t first = (uint64_t)ln_elem_int(start, 0), step = (uint64_t)ln_elem_int(delta, 0);
        for (int i = 0; i < dst->len; i++)
            ln_elem_set_int(dst, (size_t)i, (int64_t)(first + (uint64_t)i * step));
        return LN_OK;
    }
    double first = ln_elem_real(start, 0), step = ln_elem_real(delta, 0);
    for (int i = 0; i < dst->len; i++)
        ln_elem_set_real(dst, (size_t)i, first + i * step);
    return LN_OK;
}

ln_status ln_ref_onnx_constant_of_shape(ln_call *call)
{
    return ln_move_fill(call, 0, ln_call_in_named(call, "value"));
}

ln_status ln_ref_onnx_eye_like(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    int64_t rows = dst->dims[0], columns = dst->dims[1], k = ln_call_int(call, "k");
    LN_TRY(ln_move_fill(call, 0, NULL));
    if (k <= -rows || k >= columns)
        return LN_OK;
    for (int64_t row = k < 0 ? -k : 0; row < rows && row + k < columns; row++)
        ln_elem_set_int(dst, (size_t)(row * columns + row + k), 1);
    return LN_OK;
}

// `index` as a row of the new axis; -1 if it is outside of it.
static int64_t hot_row(const tl_tensor *indices, size_t at, int64_t depth)
{
    double real = ln_elem_real(indices, at);
    if (!(real >= -(double)depth && real < (double)depth))
        return -1;
    int64_t index = (int64_t)real;
    return index < 0 ? index + depth : index;
}

ln_status ln_ref_onnx_one_hot(ln_call *call)
{
    const tl_tensor *indices = ln_call_in(call, 0), *values = ln_call_in(call, 2);
    const tl_tensor *dst = ln_call_dst(call, 0);
    int axis;
    int64_t depth, inner = 1;
    bool is_known;
    LN_TRY(ln_one_hot_find(call, &axis, &depth, &is_known));
    LN_TRY(ln_move_fill(call, 0, values));
    if (dst->len == 0)
        return LN_OK;
    for (int i = axis; i < indices->ndim; i++)
        inner *= indices->dims[i];
    for (int64_t i = 0; i < indices->len; i++) {
        int64_t row = hot_row(indices, (size_t)i, depth);
        if (row >= 0)
            LN_TRY(
                ln_move_run(call, 0, (i / inner * depth + row) * inner + i % inner, values, 1, 1));
    }
    return LN_OK;
}
