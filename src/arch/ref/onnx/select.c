// SPDX-License-Identifier: Apache-2.0
// Reference kernels of operators that choose elements by their values.
//
// What is chosen was counted when the shapes were stated. Where the count is not the same now, as
// the input is written to at the same time, nothing is written beyond the output.

#include "arch/ref/functions.h"

#include <math.h>
#include <string.h>

#include "arch/ref/onnx/move.h"
#include "base/deadline.h"
#include "op/onnx/select.h"
#include "tensor/elem.h"

static ln_status changed(ln_call *call)
{
    return ln_call_fail(call, LN_INVALID, "the input has changed while it was read");
}

ln_status ln_ref_onnx_non_zero(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    int64_t *positions = dst->data, strides[TL_MAXDIM];
    int count = dst->dims[1], at = 0;
    ln_dense_strides(data->ndim, data->dims, strides);
    for (int i = 0; i < data->len && !ln_deadline_passed_at((size_t)i); i++) {
        if (!ln_element_is_set(data, (size_t)i))
            continue;
        if (at == count)
            return changed(call);
        for (int axis = 0; axis < data->ndim; axis++)
            positions[(size_t)axis * (size_t)count + (size_t)at] =
                i / strides[axis] % data->dims[axis];
        at++;
    }
    return at == count ? LN_OK : changed(call);
}

ln_status ln_ref_onnx_compress(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0), *condition = ln_call_in(call, 1);
    const tl_tensor *dst = ln_call_dst(call, 0);
    int axis, limit, chosen;
    LN_TRY(ln_compress_find(call, condition, &axis, &limit, &chosen));
    if (chosen != dst->dims[axis < 0 ? 0 : axis])
        return changed(call);
    if (dst->len == 0)
        return LN_OK;

    int64_t inner = 1, rows = axis < 0 ? data->len : data->dims[axis];
    for (int i = axis + 1; axis >= 0 && i < data->ndim; i++)
        inner *= data->dims[i];
    int64_t outer = data->len / (rows * inner), to = 0;
    for (int64_t i = 0; i < limit; i++) {
        if (!ln_element_is_set(condition, (size_t)i))
            continue;
        for (int64_t o = 0; o < outer; o++)
            LN_TRY(ln_move_run(call, 0, (o * chosen + to) * inner, data, (o * rows + i) * inner,
                               inner));
        to++;
    }
    return LN_OK;
}

// ---- Unique ----

static void store_ints(const ln_call *call, int out_index, const int *values, int count)
{
    tl_tensor *dst = ln_call_dst(call, out_index);
    for (int i = 0; dst && i < count; i++)
        ((int64_t *)dst->data)[i] = values[i];
}

ln_status ln_ref_onnx_unique(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    ln_unique unique;
    LN_TRY(ln_unique_find(call, data, &unique));
    if (ln_call_is_counting(call))
        return LN_OK;
    int groups = unique.group_count;
    if (dst && dst->dims[unique.axis < 0 ? 0 : unique.axis] != groups)
        return changed(call);

    int64_t inner = 1;
    for (int i = unique.axis + 1; unique.axis >= 0 && i < data->ndim; i++)
        inner *= data->dims[i];
    int64_t outer = dst && dst->len > 0 ? dst->len / (groups * inner) : 0;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t g = 0; g < groups; g++)
            LN_TRY(ln_move_run(call, 0, (o * groups + g) * inner, data,
                               (o * unique.row_count + unique.first_of[g]) * inner, inner));
    store_ints(call, 1, unique.first_of, groups);
    store_ints(call, 2, unique.group_of, unique.row_count);
    store_ints(call, 3, unique.counts, groups);
    return LN_OK;
}

// ---- TopK ----

typedef struct column {
    const char *data;
    size_t stride; // in bytes
    tl_dtype dtype;
    tl_cmp_func compare;
    bool is_largest, has_nan_last;
} column;

static bool comes_first(const void *context, int a, int b)
{
    const column *c = context;
    const char *pa = c->data + (size_t)a * c->stride, *pb = c->data + (size_t)b * c->stride;
    if (c->has_nan_last) {
        double x = ln_data_real(pa, c->dtype, 0), y = ln_data_real(pb, c->dtype, 0);
        if (isnan(x) || isnan(y))
            return !isnan(x);
    }
    int order = c->compare(pa, pb);
    return c->is_largest ? order > 0 : order < 0;
}

// The same where no two are equal.
static bool is_ahead(const void *context, int a, int b)
{
    return comes_first(context, a, b) || (a < b && !comes_first(context, b, a));
}

// Restores the heap below position `at` of it: no parent is ahead of its children.
static void sift_down(const column *c, int *heap, int count, int at)
{
    int moved = heap[at], child;
    for (; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_ahead(c, heap[child], heap[child + 1]))
            child++;
        if (is_ahead(c, heap[child], moved))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

// The first `wanted` of `count` positions in order. A few of many are found in a heap whose root is
// the last of those found so far: most elements are compared with it alone.
static void sort_column(const column *c, int *order, int count, int wanted)
{
    bool is_few = wanted <= count / 4;
    int sorted = is_few ? wanted : count;
    for (int i = 0; i < sorted; i++)
        order[i] = i;
    for (int i = wanted / 2 - 1; is_few && i >= 0; i--)
        sift_down(c, order, wanted, i);
    for (int i = wanted; is_few && i < count && !ln_deadline_passed_at((size_t)i); i++) {
        if (comes_first(c, i, order[0])) {
            order[0] = i;
            sift_down(c, order, wanted, 0);
        }
    }
    ln_sort_positions(order, order + count, sorted, is_ahead, c);
}

ln_status ln_ref_topk(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0);
    const tl_tensor *values = ln_call_dst(call, 0), *positions = ln_call_dst(call, 1);
    int axis;
    int64_t k, inner = 1;
    bool is_known;
    LN_TRY(ln_top_k_find(call, &axis, &k, &is_known));
    if (data->len == 0 || k == 0)
        return LN_OK;
    for (int i = axis + 1; i < data->ndim; i++)
        inner *= data->dims[i];
    int count = data->dims[axis];
    int *order = ln_call_scratch(call, (size_t)count, 2 * sizeof *order);
    if (!order)
        return LN_NO_MEMORY;
    if (ln_call_is_counting(call))
        return LN_OK;

    size_t size = tl_size_of(data->dtype);
    column c = {.stride = (size_t)inner * size,
                .dtype = data->dtype,
                .compare = tl_cmp_getfunc(data->dtype),
                .is_largest = ln_call_int(call, "largest") != 0,
                .has_nan_last = ln_call_int(call, "nan_last") != 0};
    for (int64_t row = 0; row < data->len / count; row++) {
        int64_t from = row / inner * count * inner + row % inner;
        int64_t to = row / inner * k * inner + row % inner;
        c.data = (const char *)data->data + (size_t)from * size;
        sort_column(&c, order, count, (int)k);
        for (int64_t i = 0; i < k; i++) {
            if (values)
                LN_TRY(ln_move_run(call, 0, to + i * inner, data, from + order[i] * inner, 1));
            if (positions)
                ((int64_t *)positions->data)[to + i * inner] = order[i];
        }
    }
    return LN_OK;
}

// Of keys whose number is known in a run only; elsewhere it is topk and take.
ln_status ln_ref_sort1d_by_key(ln_call *call)
{
    const tl_tensor *keys = ln_call_in(call, 0);
    int *order = ln_call_scratch(call, (size_t)keys->len, 2 * sizeof *order);
    if (!order)
        return ln_error_status();
    if (ln_call_is_counting(call))
        return LN_OK;
    const column c = {.data = keys->data,
                      .stride = tl_size_of(keys->dtype),
                      .dtype = keys->dtype,
                      .compare = tl_cmp_getfunc(keys->dtype),
                      .is_largest = tl_sort_dir_from_str(ln_call_string(call, "dir")) ==
                                    TL_SORT_DIR_DESCENDING,
                      .has_nan_last = true};
    sort_column(&c, order, keys->len, keys->len);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < keys->len; i++)
            LN_TRY(ln_move_run(call, side, i, ln_call_in(call, side), order[i], 1));
    return LN_OK;
}

// ---- NonMaxSuppression ----

ln_status ln_ref_onnx_non_max_suppression(ln_call *call)
{
    const tl_tensor *dst = ln_call_dst(call, 0);
    int64_t *chosen;
    int count;
    LN_TRY(ln_nms_find(call, &chosen, &count));
    if (ln_call_is_counting(call))
        return LN_OK;
    if (count != dst->dims[0])
        return changed(call);
    if (count > 0)
        memcpy(dst->data, chosen, tl_tensor_size(dst));
    return LN_OK;
}
