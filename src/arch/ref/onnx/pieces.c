// SPDX-License-Identifier: Apache-2.0
// Tensor objects cut into parts and joined. A tensor is seen as `outer` rows of `len` blocks of
// `inner` neighbouring elements, with `len` on the axis.

#include "arch/ref/onnx/pieces.h"

#include <limits.h>
#include <string.h>

static size_t product(const int *dims, int start, int end)
{
    size_t result = 1;
    for (int i = start; i < end; i++)
        result *= (size_t)dims[i];
    return result;
}

// Copies `count` neighbouring elements.
static ln_status copy_run(ln_object *to, size_t to_index, const tl_tensor *from, size_t from_index,
                          size_t count)
{
    if (count == 0)
        return LN_OK;
    if (from->dtype != TL_STRING) {
        size_t size = tl_size_of(from->dtype);
        memcpy((char *)ln_object_tensor(to)->data + to_index * size,
               (const char *)from->data + from_index * size, count * size);
        return LN_OK;
    }
    const char *const *strings = from->data;
    for (size_t i = 0; i < count; i++) {
        const char *s = strings[from_index + i];
        if (s)
            LN_TRY(ln_object_set_string(to, to_index + i, s, strlen(s)));
    }
    return LN_OK;
}

ln_object *ln_ref_slice_object(ln_call *call, const tl_tensor *src, int axis, int start, int len,
                               bool keeps_axis)
{
    int dims[TL_MAXDIM], ndim = 0;
    for (int i = 0; i < src->ndim; i++) {
        if (i == axis && !keeps_axis)
            continue;
        dims[ndim++] = i == axis ? len : src->dims[i];
    }
    ln_object *part = ln_object_new_tensor(src->dtype, ndim, dims, ln_call_meter(call));
    if (!part)
        return NULL;
    size_t outer = product(src->dims, 0, axis), inner = product(src->dims, axis + 1, src->ndim);
    size_t row = (size_t)src->dims[axis] * inner, count = (size_t)len * inner;
    for (size_t o = 0; o < outer; o++) {
        if (copy_run(part, o * count, src, o * row + (size_t)start * inner, count) == LN_OK)
            continue;
        ln_object_release(part);
        return NULL;
    }
    return part;
}

// The shape of the joined items, or -1.
static int joined_shape(ln_call *call, int axis, bool is_new_axis, size_t count,
                        ln_object *const *items, int *out_dims)
{
    const tl_tensor *first = ln_object_tensor(items[0]);
    int64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        const tl_tensor *item = ln_object_tensor(items[i]);
        bool fits = item && item->dtype == first->dtype && item->ndim == first->ndim;
        for (int d = 0; fits && d < first->ndim; d++)
            fits = item->dims[d] == first->dims[d] || (d == axis && !is_new_axis);
        if (!fits) {
            (void)ln_call_fail(call, LN_INVALID, "item %zu differs in type or shape from the first",
                               i);
            return -1;
        }
        total += is_new_axis ? 1 : item->dims[axis];
    }
    if (total > INT_MAX) {
        (void)ln_call_fail(call, LN_LIMIT, "%lld elements on the joined axis are too many",
                           (long long)total);
        return -1;
    }
    int ndim = first->ndim + is_new_axis;
    for (int d = 0, from = 0; d < ndim; d++) {
        if (d == axis) {
            out_dims[d] = (int)total;
            from += !is_new_axis;
        } else {
            out_dims[d] = first->dims[from++];
        }
    }
    return ndim;
}

ln_object *ln_ref_join_objects(ln_call *call, int64_t axis, bool is_new_axis, size_t count,
                               ln_object *const *items)
{
    const tl_tensor *first = ln_object_tensor(items[0]);
    if (!first || first->ndim + is_new_axis > TL_MAXDIM) {
        (void)ln_call_fail(call, LN_INVALID, "items to be joined are tensors of rank %d at most",
                           TL_MAXDIM - is_new_axis);
        return NULL;
    }
    int at, dims[TL_MAXDIM];
    if (ln_call_check_axis(call, "axis", axis, first->ndim + is_new_axis, &at) != LN_OK)
        return NULL;
    int ndim = joined_shape(call, at, is_new_axis, count, items, dims);
    if (ndim < 0)
        return NULL;
    ln_object *joined = ln_object_new_tensor(first->dtype, ndim, dims, ln_call_meter(call));
    if (!joined)
        return NULL;

    size_t outer = product(dims, 0, at), inner = product(dims, at + 1, ndim);
    size_t row = (size_t)dims[at] * inner, start = 0;
    for (size_t i = 0; i < count; i++) {
        const tl_tensor *item = ln_object_tensor(items[i]);
        size_t run = (is_new_axis ? 1 : (size_t)item->dims[at]) * inner;
        for (size_t o = 0; o < outer; o++) {
            if (copy_run(joined, o * row + start, item, o * run, run) == LN_OK)
                continue;
            ln_object_release(joined);
            return NULL;
        }
        start += run;
    }
    return joined;
}

void ln_ref_release_all(ln_object **objects, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ln_object_release(objects[i]);
        objects[i] = NULL;
    }
}
