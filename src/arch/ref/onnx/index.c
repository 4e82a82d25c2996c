// SPDX-License-Identifier: Apache-2.0
// Reference kernels of operators with tensors of indices.

#include "arch/ref/functions.h"

#include <string.h>

#include "arch/ref/onnx/move.h"
#include "arch/ref/onnx/reduction.h"
#include "base/deadline.h"
#include "tensor/elem.h"

// Index number `at` as a row of `count`. A negative one counts from the end, unless the operator
// refuses it.
static ln_status checked_index(ln_call *call, const tl_tensor *indices, size_t at, int count,
                               int64_t *out_row)
{
    int64_t index = ln_elem_int(indices, at);
    bool is_refused = index < 0 && ln_call_int(call, "nonnegative") != 0;
    *out_row = index < 0 ? index + count : index;
    if (!is_refused && *out_row >= 0 && *out_row < count)
        return LN_OK;
    return ln_call_fail(call, LN_INVALID, "index %lld at %zu is outside %d rows", (long long)index,
                        at, count);
}

// Elements of the dimensions from `axis` on.
static int64_t len_from(const tl_tensor *t, int axis)
{
    int64_t len = 1;
    for (int i = axis; i < t->ndim; i++)
        len *= t->dims[i];
    return len;
}

// ---- Gather ----

ln_status ln_ref_onnx_gather(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0), *indices = ln_call_in(call, 1);
    int axis;
    int64_t outer = 1, row;
    LN_TRY(ln_call_axis(call, "axis", data->ndim, &axis));
    for (int i = 0; i < axis; i++)
        outer *= data->dims[i];
    int64_t inner = len_from(data, axis + 1), count = data->dims[axis];
    if (inner == 0)
        outer = 0; // there may be any number of rows without elements
    for (int64_t i = 0; i < indices->len && !ln_deadline_passed_at((size_t)i); i++) {
        LN_TRY(checked_index(call, indices, (size_t)i, data->dims[axis], &row));
        for (int64_t o = 0; o < outer; o++)
            LN_TRY(ln_move_run(call, 0, (o * indices->len + i) * inner, data,
                               (o * count + row) * inner, inner));
    }
    return LN_OK;
}

// Goes over the elements of a tensor of indices as positions in another of the same rank: the
// position is that of the element itself, with what `at` names instead on `axis`.
typedef struct element_walk {
    const tl_tensor *indices;
    int axis, axis_dim;
    int64_t strides[TL_MAXDIM];
    int coords[TL_MAXDIM];
    size_t at;
} element_walk;

static ln_status start_elements(ln_call *call, const tl_tensor *data, const tl_tensor *indices,
                                element_walk *walk)
{
    *walk = (element_walk){.indices = indices};
    LN_TRY(ln_call_axis(call, "axis", data->ndim, &walk->axis));
    walk->axis_dim = data->dims[walk->axis];
    ln_dense_strides(data->ndim, data->dims, walk->strides);
    return LN_OK;
}

static ln_status next_element(ln_call *call, element_walk *walk, int64_t *out_position)
{
    int64_t row;
    LN_TRY(checked_index(call, walk->indices, walk->at++, walk->axis_dim, &row));
    *out_position = row * walk->strides[walk->axis];
    for (int i = 0; i < walk->indices->ndim; i++)
        if (i != walk->axis)
            *out_position += walk->coords[i] * walk->strides[i];
    for (int i = walk->indices->ndim - 1; i >= 0; i--) {
        if (++walk->coords[i] < walk->indices->dims[i])
            break;
        walk->coords[i] = 0;
    }
    return LN_OK;
}

ln_status ln_ref_onnx_gather_elements(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0), *indices = ln_call_in(call, 1);
    element_walk walk;
    int64_t from;
    LN_TRY(start_elements(call, data, indices, &walk));
    for (int i = 0; i < indices->len && !ln_deadline_passed_at((size_t)i); i++) {
        LN_TRY(next_element(call, &walk, &from));
        LN_TRY(ln_move_run(call, 0, i, data, from, 1));
    }
    return LN_OK;
}

// Position of the row that tuple number `at` of `indices` names among the dimensions from `axis`
// on.
static ln_status tuple_position(ln_call *call, const tl_tensor *data, int axis,
                                const tl_tensor *indices, int64_t at, int64_t *out_position)
{
    int count = indices->dims[indices->ndim - 1];
    *out_position = 0;
    for (int i = 0; i < count; i++) {
        int64_t row;
        int dim = data->dims[axis + i];
        LN_TRY(checked_index(call, indices, (size_t)(at * count + i), dim, &row));
        *out_position = *out_position * dim + row;
    }
    *out_position *= len_from(data, axis + count);
    return LN_OK;
}

ln_status ln_ref_onnx_gather_nd(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0), *indices = ln_call_in(call, 1);
    const tl_tensor *dst = ln_call_dst(call, 0);
    int batch_ndim = (int)ln_call_int(call, "batch_dims");
    if (dst->len == 0)
        return LN_OK;
    int64_t batches = 1;
    for (int i = 0; i < batch_ndim; i++)
        batches *= data->dims[i];
    int64_t inner = len_from(data, batch_ndim + indices->dims[indices->ndim - 1]);
    int64_t tuples = dst->len / inner, batch_len = len_from(data, batch_ndim), from;
    for (int64_t i = 0; i < tuples; i++) {
        LN_TRY(tuple_position(call, data, batch_ndim, indices, i, &from));
        from += i / (tuples / batches) * batch_len;
        LN_TRY(ln_move_run(call, 0, i * inner, data, from, inner));
    }
    return LN_OK;
}

// ---- Scatter ----

ln_status ln_ref_onnx_scatter_elements(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0), *indices = ln_call_in(call, 1),
                    *updates = ln_call_in(call, 2);
    ln_reduction reduction = ln_reduction_of(ln_call_string(call, "reduction"));
    element_walk walk;
    int64_t to;
    LN_TRY(ln_move_all(call, 0, data));
    LN_TRY(start_elements(call, data, indices, &walk));
    for (int i = 0; i < indices->len && !ln_deadline_passed_at((size_t)i); i++) {
        LN_TRY(next_element(call, &walk, &to));
        LN_TRY(ln_reduce_run(call, 0, to, updates, i, 1, reduction));
    }
    return LN_OK;
}

ln_status ln_ref_onnx_scatter_nd(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0), *indices = ln_call_in(call, 1),
                    *updates = ln_call_in(call, 2);
    ln_reduction reduction = ln_reduction_of(ln_call_string(call, "reduction"));
    LN_TRY(ln_move_all(call, 0, data));
    if (updates->len == 0)
        return LN_OK;
    int64_t inner = len_from(data, indices->dims[indices->ndim - 1]), to;
    for (int64_t i = 0; i < updates->len / inner; i++) {
        LN_TRY(tuple_position(call, data, 0, indices, i, &to));
        LN_TRY(ln_reduce_run(call, 0, to, updates, i * inner, inner, reduction));
    }
    return LN_OK;
}

// The row of the cache that row `i` of an update goes to which starts at `start`.
static ln_status cache_row(ln_call *call, int64_t start, int64_t i, int64_t rows, bool is_circular,
                           int64_t *out_row)
{
    if (is_circular) {
        *out_row = ((start % rows + rows) % rows + i) % rows;
        return LN_OK;
    }
    if (start < 0 || start > rows - 1 - i)
        return ln_call_fail(call, LN_INVALID,
                            "row %lld of an update at %lld is beyond a cache of %lld", (long long)i,
                            (long long)start, (long long)rows);
    *out_row = start + i;
    return LN_OK;
}

ln_status ln_ref_onnx_tensor_scatter(ln_call *call)
{
    const tl_tensor *cache = ln_call_in(call, 0), *update = ln_call_in(call, 1),
                    *starts = ln_call_in(call, 2);
    const char *mode = ln_call_string(call, "mode");
    bool is_circular = mode && strcmp(mode, "circular") == 0;
    int axis;
    LN_TRY(ln_call_axis(call, "axis", cache->ndim, &axis));
    LN_TRY(ln_move_all(call, 0, cache));
    if (update->len == 0)
        return LN_OK;

    int64_t inner = len_from(cache, axis + 1), rows = cache->dims[axis], count = update->dims[axis];
    int64_t outer = update->len / (count * inner), per_batch = outer / cache->dims[0];
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < count; i++) {
            int64_t start = starts ? ln_elem_int(starts, (size_t)(o / per_batch)) : 0;
            int64_t row = 0;
            LN_TRY(cache_row(call, start, i, rows, is_circular, &row));
            LN_TRY(ln_move_run(call, 0, (o * rows + row) * inner, update, (o * count + i) * inner,
                               inner));
        }
    return LN_OK;
}
