// SPDX-License-Identifier: Apache-2.0
// Tensors of a loaded context as arrays: copied in, seen from outside, or laid into the caller's
// memory.
//
// Binding moves a tensor, so everybody who works on it has to look at its address at each run:
// operators do, groups that a device has prepared do not, and what an operator keeps of its static
// part is unknown.

#include <lightnet/context.h>

#include <stdint.h>

#include <lightnet/arch.h>
#include <lightnet/msg.h>
#include <lightnet/util.h>

#include "arch/registry.h"
#include "compile/runner.h"
#include "ir/attached.h"
#include "ir/bound.h"
#include "ir/context.h"
#include "ir/op_life.h"
#include "tensor/ndarray.h"

// ---- Types ----

// The type whose elements have the bytes of the dtype's: a TL_BOOL has four, no DLPack bool does.
static DLDataType type_in_memory(tl_dtype dtype)
{
    return tl_dtype_to_dl(dtype == TL_BOOL ? TL_INT32 : dtype);
}

static bool is_same_type(DLDataType a, DLDataType b)
{
    return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

static ln_status check_type(const ln_tensor_entry *entry, const ln_ndarray *array)
{
    tl_dtype dtype = entry->tensor->dtype;
    DLDataType type = ln_ndarray_dtype(array);
    if (tl_dtype_from_dl(type) == dtype || is_same_type(type, type_in_memory(dtype)))
        return LN_OK;
    char text[LN_DL_TEXT_BYTES];
    return LN_FAIL(LN_INVALID,
                   "tensor '%s' is %s, the array has elements of type %s; ln_ndarray_convert "
                   "changes them",
                   entry->name, tl_dtype_title(dtype), ln_dl_dtype_text(text, type));
}

// Dimensions of 1 may be there or not.
static ln_status check_shape(const ln_tensor_entry *entry, const ln_ndarray *array)
{
    const tl_tensor *tensor = entry->tensor;
    const int64_t *shape = ln_ndarray_shape(array);
    int ndim = ln_ndarray_ndim(array), dims[LN_MAXDIM];
    bool is_small = ndim <= LN_MAXDIM;
    for (int i = 0; is_small && i < ndim; i++) {
        is_small = shape[i] <= INT32_MAX;
        dims[i] = (int)shape[i];
    }
    if (is_small && ln_shape_fit(ndim, dims, tensor->ndim, tensor->dims, NULL))
        return LN_OK;
    char text[LN_ND_SHAPE_TEXT_BYTES], tensor_text[LN_SHAPE_TEXT_BYTES], advice[512] = "";
    if (is_small)
        ln_shape_advice(advice, sizeof advice, ndim, dims, tensor->ndim, tensor->dims);
    return LN_FAIL(LN_INVALID, "tensor '%s' has shape %s, the array %s%s", entry->name,
                   ln_sprint_shape(tensor_text, sizeof tensor_text, tensor->ndim, tensor->dims),
                   ln_nd_shape_text(text, ndim, shape), advice);
}

static ln_status check_array(const ln_tensor_entry *entry, const ln_ndarray *array)
{
    LN_TRY(ln_ndarray_check_access(array, false, "the array"));
    LN_TRY(check_type(entry, array));
    return check_shape(entry, array);
}

// An operator may leave the memory type open; its data is then main memory.
static bool is_in_main_memory(const ln_tensor_entry *entry)
{
    return entry->mtype == LN_MEM_CPU || entry->mtype == LN_MEM_NONE;
}

// ---- A tensor as an array ----

static void release_memory(void *user)
{
    ln_memory_release(user);
}

static ln_status hold_memory(const ln_context *ctx, const ln_tensor_entry *entry, bool is_read_only,
                             ln_nd_memory **out_memory)
{
    ln_memory *memory = ln_memory_retain(ln_context_memory_of(ctx, entry));
    ln_status status = ln_nd_memory_create(is_read_only, true, release_memory, memory, out_memory);
    if (status != LN_OK)
        ln_memory_release(memory);
    return status;
}

static ln_status make_view(const ln_tensor_entry *entry, ln_nd_memory *memory,
                           ln_ndarray **out_array)
{
    const tl_tensor *tensor = entry->tensor;
    int64_t shape[TL_MAXDIM];
    for (int i = 0; i < tensor->ndim; i++)
        shape[i] = tensor->dims[i];
    DLTensor view = {.data = tensor->len > 0 ? tensor->data : NULL,
                     .device = {kDLCPU, 0},
                     .ndim = tensor->ndim,
                     .dtype = type_in_memory(tensor->dtype),
                     .shape = shape};
    return ln_ndarray_make(&view, memory, out_array);
}

static bool is_filled(const ln_context *ctx, const ln_tensor_entry *entry)
{
    const ln_op *op = ln_op_table_find(ctx->op_table, entry->creater);
    return op && ln_op_is_filled(op, entry);
}

static ln_status see(const ln_context *ctx, const ln_tensor_entry *entry, bool is_read_only,
                     ln_ndarray **out_array)
{
    ln_nd_memory *memory;
    LN_TRY(hold_memory(ctx, entry, is_read_only, &memory));
    ln_status status = make_view(entry, memory, out_array);
    ln_nd_memory_release(memory);
    return status;
}

ln_status ln_context_get_array(ln_context *ctx, const char *tname, ln_ndarray **out_array)
{
    if (!out_array)
        return LN_FAIL(LN_INVALID, "no place for the array");
    *out_array = NULL;
    const ln_tensor_entry *entry = ln_context_find_loaded(ctx, tname);
    if (!entry)
        return ln_error_status();
    if (!is_in_main_memory(entry))
        return LN_FAIL(LN_UNSUPPORTED,
                       "tensor '%s' is in %s, which arrays do not show; ln_context_get_data "
                       "copies it",
                       tname, ln_mem_type_title(entry->mtype));
    if (entry->is_load && !ln_entry_is_in_place(entry))
        return LN_FAIL(LN_STATE, LN_GONE_AFTER_LOAD, tname);
    ln_ndarray *bound = ln_bound_find(ctx, entry);
    if (bound)
        return make_view(entry, bound->memory, out_array);
    return see(ctx, entry, !is_filled(ctx, entry), out_array);
}

// ---- Setting ----

// Elements into main memory, converted where a bool of one byte becomes a TL_BOOL.
static ln_status copy_elements(ln_context *ctx, const ln_tensor_entry *entry,
                               const ln_ndarray *array)
{
    ln_ndarray *view, *shaped;
    LN_TRY(see(ctx, entry, false, &view));
    ln_status status =
        ln_ndarray_reshape(view, ln_ndarray_ndim(array), ln_ndarray_shape(array), &shaped);
    ln_ndarray_release(view);
    LN_TRY(status);
    bool is_bool = entry->tensor->dtype == TL_BOOL;
    status = is_bool ? ln_ndarray_convert(array, shaped) : ln_ndarray_copy(array, shaped);
    ln_ndarray_release(shaped);
    return status;
}

// By way of an array without gaps.
static ln_status copy_compact(ln_context *ctx, const ln_tensor_entry *entry,
                              const ln_ndarray *array)
{
    const tl_tensor *tensor = entry->tensor;
    ln_ndarray *compact;
    LN_TRY(ln_ndarray_create(ln_ndarray_ndim(array), ln_ndarray_shape(array),
                             type_in_memory(tensor->dtype), &compact));
    ln_status status = ln_ndarray_convert(array, compact);
    static char none; // an empty tensor has no data to point to
    const void *data = tensor->len > 0 ? ln_ndarray_data(compact) : &none;
    if (status == LN_OK)
        status = ln_tensor_table_set_data(ctx->tensor_table, entry->name, data);
    ln_ndarray_release(compact);
    return status;
}

static ln_status copy_array(ln_context *ctx, ln_tensor_entry *entry, const ln_ndarray *array)
{
    ln_bound_remove(ctx, entry);
    if (entry->isstatic)
        LN_TRY(ln_context_prepare_static(ctx, entry->name));
    LN_TRY(ln_context_make_writable(ctx, entry));
    LN_TRY(is_in_main_memory(entry) && !entry->is_load ? copy_elements(ctx, entry, array)
                                                       : copy_compact(ctx, entry, array));
    return entry->isstatic ? ln_context_rerun_static(ctx, NULL, entry->name) : LN_OK;
}

ln_status ln_context_set_array(ln_context *ctx, const char *tname, const ln_ndarray *array)
{
    ln_tensor_entry *entry = ln_context_find_loaded(ctx, tname);
    if (!entry)
        return ln_error_status();
    LN_TRY(check_array(entry, array));
    return copy_array(ctx, entry, array);
}

// ---- Binding ----

static bool has_any_in(const ln_context *ctx, const ln_list *listed_tensors,
                       const ln_tensor_entry *owner)
{
    const ln_tensor_list_entry *listed;
    LN_LIST_FOREACH (listed, listed_tensors) {
        const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, listed->name);
        if (ln_context_lies_in(ctx, entry, owner))
            return true;
    }
    return false;
}

// How operator `position` of the list treats the bytes that its outputs share with its inputs.
static ln_status find_aliasing(const ln_context *ctx, size_t position, ln_plan_aliasing *out)
{
    ln_plan *plan;
    LN_TRY(ln_context_plan_create(ctx, &plan));
    *out = plan->steps[position].aliasing;
    ln_context_plan_free(plan);
    return LN_OK;
}

// Why an operator that has the tensor among its inputs or outputs does not let it move; NULL if it
// does. A view is let alone by `run`, which finds it in its place there, too.
static ln_status find_reason_of_op(const ln_context *ctx, const ln_op *op, size_t position,
                                   bool writes, const char **out_reason)
{
    ln_plan_aliasing aliasing = LN_PLAN_VIEW;
    if (writes && op->run)
        LN_TRY(find_aliasing(ctx, position, &aliasing));
    if (aliasing != LN_PLAN_VIEW)
        *out_reason = "an operator computes in its place";
    else if (op->static_run || ln_op_is_constant(op))
        *out_reason = "an operator has looked at it when the model was loaded";
    else if (ln_arch_runs_groups(ln_arch_find(op->op_arg->arch)))
        *out_reason = "it is read by operators that run as a group";
    return LN_OK;
}

static ln_status find_reason_of_operators(const ln_context *ctx, const ln_tensor_entry *entry,
                                          const char **out_reason)
{
    size_t position = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        const ln_op_arg *arg = op->op_arg;
        bool writes = has_any_in(ctx, arg->tensors_out, entry);
        bool is_concerned = writes || has_any_in(ctx, arg->tensors_in, entry);
        if (is_concerned && !ln_streq(arg->name, entry->creater))
            LN_TRY(find_reason_of_op(ctx, op, position, writes, out_reason));
        if (*out_reason)
            return LN_OK;
        position++;
    }
    return LN_OK;
}

static ln_status find_reason_of_tensor(const ln_context *ctx, const ln_tensor_entry *entry,
                                       const char **out_reason)
{
    if (!is_filled(ctx, entry))
        *out_reason = "it is no input, or a constant";
    else if (entry->mtype != LN_MEM_CPU)
        *out_reason = "it is not in main memory";
    else if (entry->owner)
        *out_reason = "the plan has laid it into another tensor";
    return *out_reason ? LN_OK : find_reason_of_operators(ctx, entry, out_reason);
}

static const char *reason_of_array(const ln_tensor_entry *entry, const ln_ndarray *array)
{
    if (!is_same_type(ln_ndarray_dtype(array), type_in_memory(entry->tensor->dtype)))
        return "the array's bools have another size";
    if (!ln_ndarray_is_contiguous(array))
        return "the array has gaps, or another order";
    if (ln_ndarray_elem_count(array) == 0)
        return "it is empty";
    if ((uintptr_t)ln_ndarray_data(array) % LN_MEM_ALIGN != 0)
        return "the array does not begin at a multiple of 64 bytes";
    return NULL;
}

static ln_status bind_or_copy(ln_context *ctx, ln_tensor_entry *entry, ln_ndarray *array,
                              int *out_is_bound)
{
    const char *reason = reason_of_array(entry, array);
    if (!reason)
        LN_TRY(find_reason_of_tensor(ctx, entry, &reason));
    if (!reason) {
        LN_TRY(ln_bound_add(ctx, entry, array));
        if (out_is_bound)
            *out_is_bound = 1;
        return LN_OK;
    }
    if (!out_is_bound)
        return LN_FAIL(LN_UNSUPPORTED, "tensor '%s' cannot use the array's memory: %s", entry->name,
                       reason);
    ln_msg_debug("tensor '%s': the array is copied: %s", entry->name, reason);
    return copy_array(ctx, entry, array);
}

ln_status ln_context_bind_array(ln_context *ctx, const char *tname, ln_ndarray *array,
                                int *out_is_bound)
{
    if (out_is_bound)
        *out_is_bound = 0;
    ln_tensor_entry *entry = ln_context_find_loaded(ctx, tname);
    if (!entry)
        return ln_error_status();
    if (!array) {
        ln_bound_remove(ctx, entry);
        return LN_OK;
    }
    LN_TRY(check_array(entry, array));
    return bind_or_copy(ctx, entry, array, out_is_bound);
}
