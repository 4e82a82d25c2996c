// SPDX-License-Identifier: Apache-2.0
// From tensors that are moved to the kernels' arguments. Outputs that the memory plan has put in
// their places, or inputs in the output, stay there.

#include "arch/cpu/functions.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/transpose/copy_rows.h"
#include "arch/cpu/kernels/transpose/transpose.h"
#include "arch/cpu/onnx/pool_of.h"
#include "op/onnx/shape_move.h"

ln_status ln_cpu_accepts_moved(ln_call *call)
{
    tl_dtype dtype = ln_call_in(call, 0)->dtype;
    size_t size = tl_size_of(dtype);
    if (dtype != TL_STRING && dtype != TL_OBJECT &&
        (size == 1 || size == 2 || size == 4 || size == 8))
        return LN_OK;
    return ln_call_fail(call, LN_UNSUPPORTED, "is not for this type here");
}

ln_status ln_cpu_transpose(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    int axes[TL_MAXDIM];
    LN_TRY(ln_transpose_perm(call, src->ndim, axes));
    if (dst->data == src->data)
        return LN_OK;
    ln_transpose_args args = {
        .elem_size = tl_size_of(src->dtype), .ndim = dst->ndim, .x = src->data, .y = dst->data};
    for (int i = 0; i < dst->ndim; i++) {
        args.dims[i] = (size_t)dst->dims[i];
        args.x_step[i] = 1;
        for (int d = axes[i] + 1; d < src->ndim; d++)
            args.x_step[i] *= (size_t)src->dims[d];
    }
    ln_transpose(ln_cpu_isa_get(), &args, ln_cpu_call_pool(call));
    return LN_OK;
}

// The product of dimensions [first, end).
static size_t product(const tl_tensor *t, int first, int end)
{
    size_t len = 1;
    for (int d = first; d < end; d++)
        len *= (size_t)t->dims[d];
    return len;
}

ln_status ln_cpu_slice(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    int axis = (int)ln_call_int(call, "axis");
    size_t inner = product(src, axis + 1, src->ndim) * tl_size_of(src->dtype);
    const ln_copy_rows_args args = {.rows = product(src, 0, axis),
                                    .row_bytes = (size_t)dst->dims[axis] * inner,
                                    .x = (const char *)src->data +
                                         (size_t)ln_call_int(call, "start") * inner,
                                    .x_step = (size_t)src->dims[axis] * inner,
                                    .y = dst->data,
                                    .y_step = (size_t)dst->dims[axis] * inner};
    if (dst->len > 0 && args.x != args.y)
        ln_copy_rows(&args, ln_cpu_call_pool(call));
    return LN_OK;
}

ln_status ln_cpu_concat(ln_call *call)
{
    const tl_tensor *dst = ln_call_dst(call, 0);
    int axis = (int)ln_call_int(call, "axis");
    size_t inner = product(dst, axis + 1, dst->ndim) * tl_size_of(dst->dtype), first = 0;
    for (int i = 0; dst->len > 0 && i < ln_call_in_count(call); i++) {
        const tl_tensor *src = ln_call_in(call, i);
        const ln_copy_rows_args args = {.rows = product(dst, 0, axis),
                                        .row_bytes = (size_t)src->dims[axis] * inner,
                                        .x = src->data,
                                        .x_step = (size_t)src->dims[axis] * inner,
                                        .y = (char *)dst->data + first,
                                        .y_step = (size_t)dst->dims[axis] * inner};
        first += args.row_bytes;
        if (src->len > 0 && args.x != args.y)
            ln_copy_rows(&args, ln_cpu_call_pool(call));
    }
    return LN_OK;
}
