// SPDX-License-Identifier: Apache-2.0
// Shapes of NonZero, Compress, Unique and TopK, and what they choose.

#include "op/onnx/select.h"

#include <string.h>

#include <lightnet/op_support.h>

#include "base/deadline.h"
#include "op/call.h"
#include "op/functions.h"
#include "tensor/elem.h"

// ---- Sorting ----

// Merges the sorted halves [from, middle) and [middle, end); false if the deadline has passed.
static bool merge(const int *src, int *dst, int from, int middle, int end, ln_position_less less,
                  const void *context)
{
    int a = from, b = middle;
    for (int to = from; to < end; to++) {
        bool takes_b = a == middle || (b < end && less(context, src[b], src[a]));
        dst[to] = takes_b ? src[b++] : src[a++];
        if (ln_deadline_passed_at((size_t)to))
            return false;
    }
    return true;
}

static int at_most(int64_t x, int limit)
{
    return x < limit ? (int)x : limit;
}

void ln_sort_positions(int *order, int *buffer, int count, ln_position_less less,
                       const void *context)
{
    // What is late keeps the order of the last whole pass: each position is there once.
    int *src = order, *dst = buffer;
    bool is_late = false;
    for (int64_t width = 1; width < count && !is_late; width *= 2) {
        for (int64_t from = 0; from < count && !is_late; from += 2 * width)
            is_late = !merge(src, dst, (int)from, at_most(from + width, count),
                             at_most(from + 2 * width, count), less, context);
        if (is_late)
            break;
        int *other = src;
        src = dst;
        dst = other;
    }
    if (src != order)
        memcpy(order, src, (size_t)count * sizeof *order);
}

// ---- NonZero ----

bool ln_element_is_set(const tl_tensor *t, size_t i)
{
    switch (t->dtype) {
    case TL_STRING: {
        const char *s = ((const char *const *)t->data)[i];
        return s && *s;
    }
    case TL_COMPLEX64: {
        const tl_complex64 *z = (const tl_complex64 *)t->data + i;
        return z->real != 0 || z->imag != 0;
    }
    case TL_COMPLEX128: {
        const tl_complex128 *z = (const tl_complex128 *)t->data + i;
        return z->real != 0 || z->imag != 0;
    }
    case TL_INT64:
    case TL_UINT64: return ln_elem_int(t, i) != 0;
    default: return ln_elem_real(t, i) != 0;
    }
}

ln_status ln_infer_non_zero(ln_call *call)
{
    tl_tensor data;
    if (!ln_given_tensor(call, 0, &data))
        return ln_call_out_open(call);
    int dims[] = {data.ndim, 0};
    for (int i = 0; i < data.len; i++)
        dims[1] += ln_element_is_set(&data, (size_t)i);
    return ln_call_out(call, 0, TL_INT64, 2, dims);
}

// ---- Compress ----

ln_status ln_compress_find(ln_call *call, const tl_tensor *condition, int *out_axis, int *out_limit,
                           int *out_chosen)
{
    const tl_tensor *data = ln_call_in(call, 0);
    *out_axis = -1;
    *out_limit = data->len;
    *out_chosen = 0;
    if (ln_call_has(call, "axis")) {
        LN_TRY(ln_call_axis(call, "axis", data->ndim, out_axis));
        *out_limit = data->dims[*out_axis];
    }
    for (int i = 0; i < condition->len; i++) {
        bool is_chosen = ln_element_is_set(condition, (size_t)i);
        if (is_chosen && i >= *out_limit)
            return ln_call_fail(call, LN_INVALID, "condition %d is beyond the last element %d", i,
                                *out_limit - 1);
        *out_chosen += is_chosen;
    }
    if (*out_limit > condition->len)
        *out_limit = condition->len;
    return LN_OK;
}

ln_status ln_infer_compress(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0);
    tl_tensor condition;
    int axis, limit, chosen, dims[TL_MAXDIM];
    bool is_known = ln_given_tensor(call, 1, &condition);
    if (condition.ndim != 1)
        return ln_call_fail(call, LN_INVALID, "condition of rank %d, not 1", condition.ndim);
    if (!is_known)
        return ln_call_out_open(call);
    LN_TRY(ln_compress_find(call, &condition, &axis, &limit, &chosen));
    if (axis < 0)
        return ln_call_out(call, 0, data->dtype, 1, &chosen);
    memcpy(dims, data->dims, (size_t)data->ndim * sizeof *dims);
    dims[axis] = chosen;
    return ln_call_out(call, 0, data->dtype, data->ndim, dims);
}

// ---- TopK ----

ln_status ln_top_k_find(ln_call *call, int *out_axis, int64_t *out_k, bool *out_is_known)
{
    const tl_tensor *data = ln_call_in(call, 0);
    int count = 1;
    LN_TRY(ln_call_axis(call, "axis", data->ndim, out_axis));
    if (ln_call_in(call, 1))
        LN_TRY(ln_given_int(call, 1, out_k, &count));
    else if (ln_call_has(call, "k"))
        *out_k = ln_call_int(call, "k");
    else if (ln_call_since(call) == 0) // the core has no versions
        *out_k = data->dims[*out_axis];
    else
        return ln_call_fail(call, LN_INVALID, "there is no K");
    *out_is_known = count == 1;
    if (*out_is_known && (*out_k < 0 || *out_k > data->dims[*out_axis]))
        return ln_call_fail(call, LN_INVALID, "K is %lld on an axis of %d", (long long)*out_k,
                            data->dims[*out_axis]);
    return LN_OK;
}

ln_status ln_infer_sort1d(ln_call *call)
{
    const char *dir = ln_call_string(call, "dir");
    if (tl_sort_dir_from_str(dir) < 0)
        return ln_op_fail_unknown(call->op_arg, "dir", dir);
    for (int i = 0; i < ln_call_in_count(call); i++) {
        const tl_tensor *src = ln_call_in(call, i);
        if (src->ndim != 1 || src->len != ln_call_in(call, 0)->len)
            return ln_call_fail(call, LN_INVALID, "takes tensors of rank 1 and one length");
        LN_TRY(ln_call_out_like(call, i, i));
    }
    return LN_OK;
}

ln_status ln_infer_top_k(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0);
    int axis, dims[TL_MAXDIM];
    int64_t k = 0;
    bool is_known;
    LN_TRY(ln_top_k_find(call, &axis, &k, &is_known));
    if (!is_known)
        return ln_call_out_open(call);
    memcpy(dims, data->dims, (size_t)data->ndim * sizeof *dims);
    dims[axis] = (int)k;
    LN_TRY(ln_call_out(call, 0, data->dtype, data->ndim, dims));
    return ln_call_out(call, 1, TL_INT64, data->ndim, dims);
}
