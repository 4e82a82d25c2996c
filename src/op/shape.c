// SPDX-License-Identifier: Apache-2.0
// The core's operators that move elements: what their parameters have to be besides what ONNX's of
// the same meaning check, and where their tensors may be inside each other.

#include <string.h>

#include <lightnet/opshape.h>

#include "op/call.h"
#include "op/functions.h"

// ---- Shapes ----

// The integers of `param`, at most TL_MAXDIM of them.
static int read_ints(const ln_call *call, const char *param, int *numbers)
{
    int count = ln_call_count(call, param);
    for (int i = 0; i < count && i < TL_MAXDIM; i++)
        numbers[i] = (int)ln_call_int_at(call, param, i);
    return count;
}

ln_status ln_infer_core_reshape(ln_call *call)
{
    int given[TL_MAXDIM], dims[TL_MAXDIM];
    int count = read_ints(call, "dims", given);
    if (count > TL_MAXDIM)
        return ln_call_fail(call, LN_LIMIT, "param 'dims' has %d dimensions; the most is %d", count,
                            TL_MAXDIM);
    const tl_tensor *src = ln_call_in(call, 0);
    int ndim = ln_shape_reshape(dims, src, given, count);
    return ndim < 0 ? ln_error_status() : ln_call_out(call, 0, src->dtype, ndim, dims);
}

static void place_copy(ln_call *call)
{
    ln_tensor_entry *entry = call->outs[0].entry;
    if (entry && !entry->is_open)
        entry->mtype = (ln_mem_type)ln_mem_type_from_str(ln_call_string(call, "mtype"));
    // Shapes may follow from the elements, of constants that may be set too.
    const ln_tensor_entry *src = call->ins[0];
    if (!entry || !src->known || src->is_input)
        return;
    if (src->isstatic)
        (void)ln_call_value(call, 0);
    (void)ln_call_know(entry, src->known); // a failure: nothing is known, and nothing is wrong
}

ln_status ln_infer_copy(ln_call *call)
{
    const char *name = ln_call_string(call, "mtype");
    if (ln_mem_type_from_str(name) <= LN_MEM_NONE)
        return ln_call_fail(call, LN_INVALID,
                            "param 'mtype': '%s' is not a memory type; main memory is LN_MEM_CPU",
                            name);
    if (ln_call_in_dtype(call, 0) == TL_STRING)
        return ln_call_fail(call, LN_INVALID,
                            "strings are in main memory only and cannot be copied to %s", name);
    call->when_defined = place_copy;
    return ln_call_out_like(call, 0, 0);
}

ln_status ln_infer_wait(ln_call *call)
{
    (void)call;
    return LN_OK;
}

// Unlike ONNX's, axes count from the front only: rules and the layout read them as they are.
static ln_status check_axis(ln_call *call, int64_t axis)
{
    int ndim = ln_call_in(call, 0)->ndim;
    if (axis >= 0 && axis < ndim)
        return LN_OK;
    return ln_call_fail(call, LN_INVALID, "axis %lld is outside rank %d", (long long)axis, ndim);
}

ln_status ln_infer_core_slice(ln_call *call)
{
    int64_t axis = ln_call_int(call, "axis"), start = ln_call_int(call, "start"),
            len = ln_call_int(call, "len");
    LN_TRY(check_axis(call, axis));
    int dim = ln_call_in(call, 0)->dims[axis];
    if (start < 0 || len < 0 || start > dim || len > dim - start)
        return ln_call_fail(call, LN_INVALID,
                            "%lld elements from %lld on are not on axis %lld, which has %d",
                            (long long)len, (long long)start, (long long)axis, dim);
    return ln_infer_slice(call);
}

ln_status ln_infer_core_concat(ln_call *call)
{
    LN_TRY(check_axis(call, ln_call_int(call, "axis")));
    return ln_infer_concat(call);
}

ln_status ln_infer_core_transpose(ln_call *call)
{
    int count = ln_call_count(call, "axes"), ndim = ln_call_in(call, 0)->ndim;
    if (count != ndim)
        return ln_call_fail(call, LN_INVALID, "%d axes for a tensor of rank %d", count, ndim);
    for (int i = 0; i < count; i++)
        LN_TRY(check_axis(call, ln_call_int_at(call, "axes", i)));
    return ln_infer_transpose(call);
}

ln_status ln_infer_stack(ln_call *call)
{
    const tl_tensor *first = ln_call_in(call, 0);
    int dims[TL_MAXDIM + 1] = {ln_call_in_count(call)};
    for (int i = 1; i < dims[0]; i++)
        if (!tl_tensor_issameshape(first, ln_call_in(call, i)))
            return ln_call_fail(call, LN_INVALID, "input %d has another shape than the first", i);
    memcpy(dims + 1, first->dims, (size_t)first->ndim * sizeof *dims);
    return ln_call_out(call, 0, first->dtype, first->ndim + 1, dims);
}

ln_status ln_infer_unstack(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    int count = ln_call_out_count(call);
    for (int i = 0; i < count; i++)
        if (!ln_call_wants(call, i))
            return ln_call_fail(call, LN_INVALID, "output dst%d is missing", i + 1);
    if (src->ndim < 1 || src->dims[0] != count)
        return ln_call_fail(call, LN_INVALID, "the first axis has %d elements for %d parts",
                            src->ndim < 1 ? 0 : src->dims[0], count);
    for (int i = 0; i < count; i++)
        LN_TRY(ln_call_out(call, i, src->dtype, src->ndim - 1, src->dims + 1));
    return LN_OK;
}

// ---- Places ----

size_t ln_place_of_slice(ln_op_arg *op_arg, ln_tensor_entry *te)
{
    const ln_call *call = op_arg->priv;
    (void)te;
    return ln_offset_of_slice(ln_call_in(call, 0), (int)ln_call_int(call, "axis"),
                              (int)ln_call_int(call, "start"));
}

size_t ln_place_of_transpose(ln_op_arg *op_arg, ln_tensor_entry *te)
{
    int axes[TL_MAXDIM];
    (void)te;
    read_ints(op_arg->priv, "axes", axes);
    return ln_offset_of_transpose(ln_call_in(op_arg->priv, 0), axes);
}

// An input of concat, or of a stack, whose axis is 0.
size_t ln_place_in_joined(ln_op_arg *op_arg, ln_tensor_entry *te)
{
    const ln_call *call = op_arg->priv;
    const tl_tensor *dst = ln_call_dst(call, 0);
    size_t offset = 0;
    for (int d = 0; d < (int)ln_call_int(call, "axis"); d++)
        if (dst->dims[d] != 1)
            return LN_NO_OFFSET;
    for (int i = 0; i < ln_call_in_count(call); i++) {
        if (ln_call_in(call, i) == te->tensor)
            return offset;
        offset += tl_tensor_size(ln_call_in(call, i));
    }
    return LN_NO_OFFSET;
}

size_t ln_place_of_part(ln_op_arg *op_arg, ln_tensor_entry *te)
{
    for (int i = 0; i < ln_call_out_count(op_arg->priv); i++)
        if (ln_call_dst(op_arg->priv, i) == te->tensor)
            return (size_t)i * tl_tensor_size(te->tensor);
    return LN_NO_OFFSET;
}
