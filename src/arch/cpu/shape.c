// SPDX-License-Identifier: Apache-2.0
// Operators that move elements: transpose, slice, concat, take, expand, trilu. Outputs that the
// memory plan has put into an input, or inputs into the output, stay there.

#include "arch/cpu/functions.h"

#include <string.h>

#include "arch/cpu/broadcast_rows.h"
#include "arch/cpu/call.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/transpose/copy_rows.h"
#include "arch/cpu/kernels/transpose/take_rows.h"
#include "arch/cpu/kernels/transpose/transpose.h"
#include "base/minmax.h"
#include "op/onnx/given.h"
#include "op/onnx/shape_move.h"
#include "op/prepare.h"

ln_status ln_cpu_accepts_moved(ln_call *call)
{
    tl_dtype dtype = ln_call_in(call, 0)->dtype;
    size_t size = tl_size_of(dtype);
    if (dtype != TL_STRING && dtype != TL_OBJECT &&
        (size == 1 || size == 2 || size == 4 || size == 8))
        return LN_OK;
    return ln_call_fail(call, LN_UNSUPPORTED, "is not for this type here");
}

static ln_status prepare_transpose(ln_call *call, ln_transpose_args *args)
{
    const tl_tensor *src = ln_call_in(call, 0);
    int axes[TL_MAXDIM];
    LN_TRY(ln_transpose_perm(call, src->ndim, axes));
    *args = (ln_transpose_args){.elem_size = tl_size_of(src->dtype), .ndim = src->ndim};
    for (int i = 0; i < src->ndim; i++) {
        args->dims[i] = (size_t)src->dims[axes[i]];
        args->x_step[i] = 1;
        for (int d = axes[i] + 1; d < src->ndim; d++)
            args->x_step[i] *= (size_t)src->dims[d];
    }
    return LN_OK;
}

LN_PREPARE(ln_cpu_prepare_transpose, ln_transpose_args, prepare_transpose)

ln_status ln_cpu_transpose(ln_call *call)
{
    ln_transpose_args args = *(const ln_transpose_args *)ln_call_prepared(call);
    args.x = ln_call_in(call, 0)->data;
    args.y = ln_call_dst(call, 0)->data;
    if (args.x == args.y)
        return LN_OK;
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

// Of slice and concat.
typedef struct along_axis {
    int axis;
    size_t start;
} along_axis;

static ln_status prepare_along_axis(ln_call *call, along_axis *along)
{
    *along = (along_axis){(int)ln_call_int(call, "axis"), (size_t)ln_call_int(call, "start")};
    return LN_OK;
}

LN_PREPARE(ln_cpu_prepare_along_axis, along_axis, prepare_along_axis)

ln_status ln_cpu_slice(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    const along_axis *along = ln_call_prepared(call);
    int axis = along->axis;
    size_t inner = product(src, axis + 1, src->ndim) * tl_size_of(src->dtype);
    const ln_copy_rows_args args = {.rows = product(src, 0, axis),
                                    .row_bytes = (size_t)dst->dims[axis] * inner,
                                    .x = (const char *)src->data + along->start * inner,
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
    int axis = ((const along_axis *)ln_call_prepared(call))->axis;
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

// ---- Rows by index ----

typedef struct taking {
    int axis;
    bool is_from_end;
} taking;

static ln_status prepare_take(ln_call *call, taking *t)
{
    t->is_from_end = ln_call_int(call, "nonnegative") == 0;
    return ln_call_axis(call, "axis", ln_call_in(call, 0)->ndim, &t->axis);
}

LN_PREPARE(ln_cpu_prepare_take, taking, prepare_take)

ln_status ln_cpu_take(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0), *indices = ln_call_in(call, 1);
    const taking *t = ln_call_prepared(call);
    const ln_take_rows_args args = {.outer = product(data, 0, t->axis),
                                    .rows = (size_t)data->dims[t->axis],
                                    .row_bytes = product(data, t->axis + 1, data->ndim) *
                                                 tl_size_of(data->dtype),
                                    .x = data->data,
                                    .numbers = indices->data,
                                    .is_wide = indices->dtype == TL_INT64,
                                    .is_from_end = t->is_from_end,
                                    .count = (size_t)indices->len,
                                    .y = ln_call_dst(call, 0)->data};
    size_t bad = ln_take_rows_find_bad(&args);
    if (bad < args.count) {
        long long index = args.is_wide ? (long long)((const int64_t *)args.numbers)[bad]
                                       : (long long)((const int32_t *)args.numbers)[bad];
        return ln_call_fail(call, LN_INVALID, "index %lld at %zu is outside %zu rows", index, bad,
                            args.rows);
    }
    ln_take_rows(&args, ln_cpu_call_pool(call));
    return LN_OK;
}

// ---- Expand ----

typedef struct expansion {
    const char *src;
    char *dst;
    size_t size;
} expansion;

static void expand_row(const void *self, size_t n, const size_t *at, const size_t *step, size_t to)
{
    const expansion *e = self;
    const char *src = e->src + at[0] * e->size;
    char *dst = e->dst + to * e->size;
    if (step[0]) {
        memcpy(dst, src, n * e->size);
        return;
    }
    // What is there already is copied after itself, twice as much each time.
    memcpy(dst, src, e->size);
    for (size_t done = 1; done < n; done *= 2)
        memcpy(dst + done * e->size, dst, ln_min(n - done, done) * e->size);
}

ln_status ln_cpu_expand(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    const expansion e = {src->data, dst->data, tl_size_of(src->dtype)};
    ln_cpu_rows rows;
    ln_cpu_rows_init(&rows, dst, &src, 1);
    ln_cpu_rows_run(&rows, ln_cpu_call_pool(call), expand_row, &e);
    return LN_OK;
}

// ---- Trilu ----

static ln_status prepare_trilu(ln_call *call, bool *is_upper)
{
    *is_upper = ln_call_int(call, "upper") != 0;
    return LN_OK;
}

LN_PREPARE(ln_cpu_prepare_trilu, bool, prepare_trilu)

ln_status ln_cpu_trilu(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    bool is_upper = *(const bool *)ln_call_prepared(call);
    int64_t rows = src->dims[src->ndim - 2], columns = src->dims[src->ndim - 1], k = 0;
    int count;
    LN_TRY(ln_given_int(call, 1, &k, &count));
    if (src->len == 0)
        return LN_OK;
    k = ln_clamp64(k, -rows, columns);
    size_t size = tl_size_of(src->dtype), row_bytes = (size_t)columns * size;
    for (int64_t row = 0; row < src->len / columns; row++) {
        const char *from = (const char *)src->data + (size_t)row * row_bytes;
        char *to = (char *)ln_call_dst(call, 0)->data + (size_t)row * row_bytes;
        int64_t border = row % rows + k; // the first column that is upper, and the last lower one
        size_t first = (size_t)(is_upper ? ln_clamp64(border, 0, columns) : 0) * size;
        size_t end = (size_t)(is_upper ? columns : ln_clamp64(border + 1, 0, columns)) * size;
        memset(to, 0, first);
        memcpy(to + first, from + first, end - first);
        memset(to + end, 0, row_bytes - end);
    }
    return LN_OK;
}
