// SPDX-License-Identifier: Apache-2.0
// From tensors that are moved to the kernels' arguments.

#include "arch/cpu/shape.h"

#include <lightnet/op.h>
#include <lightnet/opshape.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/transpose/copy_rows.h"
#include "arch/cpu/kernels/transpose/transpose.h"

bool ln_cpu_moves(tl_dtype dtype)
{
    size_t size = tl_size_of(dtype);
    return dtype != TL_STRING && dtype != TL_OBJECT &&
           (size == 1 || size == 2 || size == 4 || size == 8);
}

static bool is_in_place(const tl_tensor *src, const tl_tensor *dst, size_t offset)
{
    return offset != LN_NO_OFFSET && dst->data == (const char *)src->data + offset;
}

ln_status ln_cpu_transpose(ln_pool *pool, const tl_tensor *src, tl_tensor *dst, const int *axes)
{
    if (is_in_place(src, dst, ln_offset_of_transpose(src, axes)))
        return LN_OK;
    ln_transpose_args args = {
        .elem_size = tl_size_of(src->dtype), .ndim = dst->ndim, .x = src->data, .y = dst->data};
    for (int i = 0; i < dst->ndim; i++) {
        args.dims[i] = (size_t)dst->dims[i];
        args.x_step[i] = 1;
        for (int d = axes[i] + 1; d < src->ndim; d++)
            args.x_step[i] *= (size_t)src->dims[d];
    }
    ln_transpose(ln_cpu_isa_get(), &args, pool);
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

ln_status ln_cpu_slice(ln_pool *pool, const tl_tensor *src, tl_tensor *dst, int axis, int start)
{
    if (dst->len == 0 || is_in_place(src, dst, ln_offset_of_slice(src, axis, start)))
        return LN_OK;
    size_t inner = product(src, axis + 1, src->ndim) * tl_size_of(src->dtype);
    const ln_copy_rows_args args = {.rows = product(src, 0, axis),
                                    .row_bytes = (size_t)dst->dims[axis] * inner,
                                    .x = (const char *)src->data + (size_t)start * inner,
                                    .x_step = (size_t)src->dims[axis] * inner,
                                    .y = dst->data,
                                    .y_step = (size_t)dst->dims[axis] * inner};
    ln_copy_rows(&args, pool);
    return LN_OK;
}

ln_status ln_cpu_concat(ln_pool *pool, tl_tensor *const *srcs, int count, tl_tensor *dst, int axis)
{
    if (dst->len == 0)
        return LN_OK;
    size_t inner = product(dst, axis + 1, dst->ndim) * tl_size_of(dst->dtype), first = 0;
    for (int i = 0; i < count; i++) {
        const tl_tensor *src = srcs[i];
        const ln_copy_rows_args args = {.rows = product(dst, 0, axis),
                                        .row_bytes = (size_t)src->dims[axis] * inner,
                                        .x = src->data,
                                        .x_step = (size_t)src->dims[axis] * inner,
                                        .y = (char *)dst->data + first,
                                        .y_step = (size_t)dst->dims[axis] * inner};
        first += args.row_bytes;
        if (src->len > 0 && args.x != args.y)
            ln_copy_rows(&args, pool);
    }
    return LN_OK;
}
