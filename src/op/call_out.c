// SPDX-License-Identifier: Apache-2.0
// Outputs of a call: stated by `infer`, made for the tensor table while a model is planned, given
// memory and filled in a run.

#include "op/call.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/context.h>
#include <lightnet/shape.h>

#include "ir/open.h"

// ---- Stating ----

int ln_call_out_count(const ln_call *call)
{
    return call->out_count;
}

int ln_call_wants(const ln_call *call, int index)
{
    return index >= 0 && index < call->out_count && call->outs[index].is_wanted;
}

static ln_status fail_shape(ln_call *call, int index, int ndim, const int *dims)
{
    char shape[256];
    ln_sprint_shape(shape, sizeof shape, ndim, dims);
    for (int i = 0; i < ndim; i++) {
        if (dims[i] < 0)
            return ln_call_fail(call, LN_INVALID,
                                "output %d would have the shape %s, with a negative dimension",
                                index, shape);
    }
    return ln_call_fail(call, LN_LIMIT,
                        "output %d would have the shape %s, which are too many elements; the most "
                        "is %d",
                        index, shape, INT_MAX);
}

ln_status ln_call_out(ln_call *call, int index, tl_dtype dtype, int ndim, const int *dims)
{
    if (!ln_call_wants(call, index))
        return LN_OK;
    ln_call_output *out = &call->outs[index];
    if (dtype <= TL_DTYPE_INVALID || dtype >= TL_DTYPE_SIZE)
        return ln_call_fail(call, LN_INVALID, "output %d has no element type", index);
    if (ndim < 0 || ndim > TL_MAXDIM)
        return ln_call_fail(call, LN_LIMIT, "output %d would have rank %d; the most is %d", index,
                            ndim, TL_MAXDIM);
    int len;
    if (!tl_shape_len(ndim, dims, &len))
        return fail_shape(call, index, ndim, dims);
    out->is_stated = true;
    out->dtype = dtype;
    out->ndim = ndim;
    for (int d = 0; d < ndim; d++)
        out->dims[d] = dims[d];
    return LN_OK;
}

ln_status ln_call_out_like(ln_call *call, int index, int in_index)
{
    const tl_tensor *in = ln_call_in(call, in_index);
    if (!in)
        return ln_call_fail(call, LN_INVALID, "input %d is missing", in_index);
    return ln_call_out(call, index, in->dtype, in->ndim, in->dims);
}

ln_status ln_call_out64(ln_call *call, int index, tl_dtype dtype, int ndim, const int64_t *dims)
{
    int narrow[TL_MAXDIM] = {0};
    for (int d = 0; d < ndim && d < TL_MAXDIM; d++) {
        if (dims[d] < 0 || dims[d] > INT32_MAX)
            return ln_call_fail(call, LN_LIMIT, "dimension %d of output %d would be %lld", d, index,
                                (long long)dims[d]);
        narrow[d] = (int)dims[d];
    }
    return ln_call_out(call, index, dtype, ndim, narrow);
}

ln_status ln_call_out_object(ln_call *call, int index)
{
    if (!ln_call_wants(call, index))
        return LN_OK;
    call->outs[index].is_stated = true;
    call->outs[index].is_object = true;
    return LN_OK;
}

ln_status ln_call_out_open(ln_call *call)
{
    call->is_open = true;
    return LN_OK;
}

// ---- Making ----

// The argument name of output `index`, in `name` where it is one of a variadic argument.
static const char *name_of(const ln_call *call, int index, char name[LN_MAX_NAME_LEN])
{
    const ln_arg_info *info = ln_call_info_at(call->info->outs, index);
    if (!(info->flags & LN_ARG_VARIADIC))
        return info->arg_name;
    int fixed = (int)(info - call->info->outs);
    snprintf(name, LN_MAX_NAME_LEN, "%s%d", info->arg_name, index - fixed + 1);
    return name;
}

static ln_mem_type mem_type_of(const ln_call *call, int index)
{
    ln_mem_type mtype = ln_call_info_at(call->info->outs, index)->mtype;
    return mtype == LN_MEM_NONE && call->info->compute ? LN_MEM_CPU : mtype;
}

static bool is_closed(const ln_call *call, const ln_call_output *out)
{
    return !call->is_open && !out->is_object && out->dtype != TL_STRING && out->dtype != TL_OBJECT;
}

// The tensor whose elements a closed output has; NULL: its own.
static const char *owner_of(const ln_call *call, bool is_open)
{
    const ln_place_info *place = call->info->places;
    return !is_open && place && place->kind == LN_PLACE_VIEW
               ? ln_tensor_list_find_name(call->op_arg->tensors_in, place->in)
               : NULL;
}

static ln_status define_output(ln_call *call, int index)
{
    ln_call_output *out = &call->outs[index];
    bool is_open = !is_closed(call, out);
    char name[LN_MAX_NAME_LEN];
    const char *arg_name = name_of(call, index, name);
    int none[TL_MAXDIM] = {0};
    out->entry = ln_op_define_output(call->op_arg, arg_name, is_open ? TL_MAXDIM : out->ndim,
                                     is_open ? none : out->dims, is_open ? TL_FLOAT : out->dtype,
                                     mem_type_of(call, index), 0, owner_of(call, is_open));
    if (!out->entry)
        return call->op_arg->status;
    call->step.tensors[call->in_count + index] = out->entry->tensor;
    if (is_open) {
        out->entry->is_open = 1;
        ln_open_drop(out->entry);
    }
    return LN_OK;
}

ln_status ln_call_define_outputs(ln_call *call)
{
    for (int i = 0; i < call->out_count; i++)
        if (call->outs[i].is_wanted)
            LN_TRY(define_output(call, i));
    if (call->when_defined)
        call->when_defined(call);
    return LN_OK;
}

ln_status ln_call_know(ln_tensor_entry *entry, const void *elements)
{
    size_t byte_count = tl_tensor_size(entry->tensor);
    void *block = ln_alloc(byte_count ? byte_count : 1);
    if (!block)
        return LN_NO_MEMORY;
    memcpy(block, elements, byte_count);
    ln_free(entry->known_block);
    entry->known = entry->known_block = block;
    return LN_OK;
}

// ---- Filling ----

ln_meter *ln_call_meter(const ln_call *call)
{
    ln_context *ctx = call->op_arg->context;
    while (ctx && ctx->outer)
        ctx = ctx->outer;
    return ctx ? ctx->meter : NULL;
}

static ln_status check_as_planned(ln_call *call, int index)
{
    const ln_call_output *out = &call->outs[index];
    const tl_tensor *planned = out->entry->tensor;
    bool is_same = out->dtype == planned->dtype && out->ndim == planned->ndim;
    for (int d = 0; is_same && d < out->ndim; d++)
        is_same = out->dims[d] == planned->dims[d];
    if (is_same)
        return LN_OK;
    return ln_call_fail(
        call, LN_STATE,
        "tensor '%s' would have another shape than planned; a constant that decides "
        "it has changed: compile the model again",
        out->entry->name);
}

static ln_status allocate(ln_call *call, ln_call_output *out)
{
    ln_object *object = ln_object_new_tensor(out->dtype, out->ndim, out->dims, ln_call_meter(call));
    if (!object)
        return ln_call_fail(call, ln_error_status(), "output '%s': %s", out->entry->name,
                            ln_error_message());
    ln_open_hold(out->entry, object);
    ln_object_release(object);
    return LN_OK;
}

// `compute` gives the object of an output that has no shape before.
static bool has_shape(const ln_call *call, const ln_call_output *out)
{
    return out->entry && !call->is_open && !out->is_object;
}

void ln_call_show_outputs(ln_call *call)
{
    for (int i = 0; i < call->out_count; i++) {
        const ln_call_output *out = &call->outs[i];
        if (!out->entry || !out->entry->is_open)
            continue;
        ln_open_drop(out->entry);
        if (!has_shape(call, out))
            continue;
        tl_tensor *shown = out->entry->tensor;
        shown->dtype = out->dtype;
        shown->ndim = out->ndim;
        memcpy(shown->dims, out->dims, (size_t)out->ndim * sizeof *out->dims);
        (void)tl_shape_len(out->ndim, out->dims, &shown->len); // it has fitted when it was stated
    }
}

void ln_call_drop_outputs(ln_call *call)
{
    for (int i = 0; i < call->out_count; i++)
        if (call->outs[i].entry && call->outs[i].entry->is_open)
            ln_open_drop(call->outs[i].entry);
}

ln_status ln_call_prepare_outputs(ln_call *call)
{
    for (int i = 0; i < call->out_count; i++) {
        ln_call_output *out = &call->outs[i];
        if (has_shape(call, out))
            LN_TRY(out->entry->is_open ? allocate(call, out) : check_as_planned(call, i));
    }
    return LN_OK;
}

ln_status ln_call_finish_outputs(ln_call *call)
{
    for (int i = 0; i < call->out_count; i++) {
        const ln_tensor_entry *entry = call->outs[i].entry;
        if (entry && entry->is_open && !entry->held)
            return ln_call_fail(call, LN_INTERNAL, "has not given output '%s'", entry->name);
    }
    return LN_OK;
}

tl_tensor *ln_call_dst(const ln_call *call, int index)
{
    bool is_listed = index >= 0 && index < call->out_count;
    return is_listed ? call->step.tensors[call->in_count + index] : NULL;
}

// Work units for a string that an operator makes, and for each of its bytes.
#define STRING_COST      50.0
#define STRING_BYTE_COST 0.5

ln_status ln_call_set_string(ln_call *call, int index, size_t at, const char *bytes, size_t len)
{
    if (!ln_call_wants(call, index))
        return LN_OK;
    ln_object *held = call->outs[index].entry->held;
    if (!held || ln_object_elem_dtype(held) != TL_STRING)
        return ln_call_fail(call, LN_INTERNAL, "output %d holds no strings", index);
    LN_TRY(ln_call_charge_units(call, STRING_COST + (double)len * STRING_BYTE_COST));
    ln_status status = ln_object_set_string(held, at, bytes, len);
    if (status != LN_OK)
        return ln_call_fail(call, status, "output %d: %s", index, ln_error_message());
    return LN_OK;
}

static ln_status copy_into(ln_call *call, ln_tensor_entry *entry, const ln_object *object)
{
    const tl_tensor *from = ln_object_tensor(object);
    if (!from || from->dtype != entry->tensor->dtype || !tl_tensor_issameshape(from, entry->tensor))
        return ln_call_fail(call, LN_INVALID,
                            "output '%s' has got another type or shape than stated", entry->name);
    memcpy(entry->tensor->data, from->data, tl_tensor_size(from));
    return LN_OK;
}

ln_status ln_call_set_object(ln_call *call, int index, ln_object *object)
{
    if (!ln_call_wants(call, index))
        return LN_OK;
    if (!object)
        return ln_call_fail(call, LN_INTERNAL, "output %d has got no object", index);
    // The items of a sequence are named one by one, elements are copied or made.
    const tl_tensor *tensor = ln_object_tensor(object);
    LN_TRY(ln_call_charge(call, tensor ? ln_object_steps(object)
                                       : 5.0 * (double)ln_object_count(object)));
    ln_tensor_entry *entry = call->outs[index].entry;
    if (!entry->is_open)
        return copy_into(call, entry, object);
    ln_open_hold(entry, object);
    return LN_OK;
}
