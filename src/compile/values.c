// SPDX-License-Identifier: Apache-2.0
// Values of any kind in and out of a loaded context.

#include <lightnet/context.h>

#include "ir/context.h"
#include "ir/open.h"

static ln_status find_loaded(const ln_context *ctx, const char *tname, ln_tensor_entry **out_entry)
{
    *out_entry = NULL;
    if (!ctx || ctx->state != LN_CONTEXT_LOADED)
        return LN_FAIL(LN_STATE, "the model is not loaded; call ln_context_load first");
    *out_entry = ln_tensor_table_find(ctx->tensor_table, tname);
    if (!*out_entry)
        return LN_FAIL(LN_NOT_FOUND, "the model has no tensor '%s'", tname ? tname : "(null)");
    return LN_OK;
}

static ln_status fail_shape(const ln_tensor_entry *entry, const tl_tensor *given)
{
    const tl_tensor *tensor = entry->tensor;
    char wanted[LN_SHAPE_TEXT_BYTES], got[LN_SHAPE_TEXT_BYTES], advice[512];
    ln_sprint_shape(wanted, sizeof wanted, tensor->ndim, tensor->dims);
    ln_sprint_shape(got, sizeof got, given->ndim, given->dims);
    return LN_FAIL(LN_INVALID, "tensor '%s' is %s %s, not %s %s%s", entry->name,
                   tl_dtype_title(tensor->dtype), wanted, tl_dtype_title(given->dtype), got,
                   ln_shape_advice(advice, sizeof advice, given->ndim, given->dims, tensor->ndim,
                                   tensor->dims));
}

ln_status ln_context_set_object(ln_context *ctx, const char *tname, ln_object *object)
{
    ln_tensor_entry *entry;
    LN_TRY(find_loaded(ctx, tname, &entry));
    if (!object)
        return LN_FAIL(LN_INVALID, "the value for tensor '%s' is NULL", tname);
    if (entry->is_open) {
        const ln_op *op = ln_op_table_find(ctx->op_table, entry->creater);
        if (!op || !ln_op_is_type(op->op_arg, "input"))
            return LN_FAIL(LN_INVALID, "tensor '%s' is not an input", tname);
        LN_TRY(ln_context_check_value(ctx, tname, object));
        ln_open_hold(entry, object);
        return LN_OK;
    }
    const tl_tensor *given = ln_object_tensor(object);
    if (!given)
        return LN_FAIL(LN_INVALID, "tensor '%s' is no sequence, optional or map", tname);
    if (given->dtype != entry->tensor->dtype ||
        !ln_shape_fit(given->ndim, given->dims, entry->tensor->ndim, entry->tensor->dims, NULL))
        return fail_shape(entry, given);
    return ln_context_set_data(ctx, tname, given->data ? given->data : given);
}

static ln_status fail_no_value(const ln_tensor_entry *entry)
{
    return LN_FAIL(LN_STATE,
                   "tensor '%s' has no value: it was not set, the model has not run, or "
                   "the value was needed no more",
                   entry->name);
}

ln_status ln_context_get_object(const ln_context *ctx, const char *tname, ln_object **out_object)
{
    if (!out_object)
        return LN_FAIL(LN_INVALID, "the place for the value is NULL");
    *out_object = NULL;
    ln_tensor_entry *entry;
    LN_TRY(find_loaded(ctx, tname, &entry));
    if (entry->held) {
        *out_object = ln_object_retain(entry->held);
        return LN_OK;
    }
    if (entry->is_open)
        return fail_no_value(entry);
    if (entry->mtype == LN_MEM_CPU) {
        *out_object = ln_object_copy_tensor(entry->tensor, NULL);
        return *out_object ? LN_OK : ln_error_status();
    }
    (void)ln_context_finish_devices(ctx, NULL); // which may write it
    *out_object =
        ln_object_new_tensor(entry->tensor->dtype, entry->tensor->ndim, entry->tensor->dims, NULL);
    if (!*out_object)
        return ln_error_status();
    if (ln_tensor_table_get_data(ctx->tensor_table, tname, ln_object_tensor(*out_object)->data))
        return LN_OK;
    ln_object_release(*out_object);
    *out_object = NULL;
    return ln_error_status();
}

// ---- Bytes with their number ----

// Strings and objects are held by pointers, which mean nothing elsewhere.
static ln_status check_has_bytes(const ln_tensor_entry *entry)
{
    tl_dtype dtype = entry->tensor->dtype;
    if (dtype != TL_STRING && dtype != TL_OBJECT)
        return LN_OK;
    return LN_FAIL(
        LN_UNSUPPORTED,
        "tensor '%s' is %s, which has no bytes of its own; use ln_context_get_object and "
        "ln_context_set_object",
        entry->name, tl_dtype_title(dtype));
}

static ln_status check_size(const ln_tensor_entry *entry, const void *data, size_t byte_count,
                            const char *what)
{
    size_t wanted = tl_tensor_size(entry->tensor);
    if (byte_count != wanted)
        return LN_FAIL(LN_INVALID, "tensor '%s' has %zu bytes, the %s %zu", entry->name, wanted,
                       what, byte_count);
    if (!data && byte_count > 0)
        return LN_FAIL(LN_INVALID, "the %s for tensor '%s' is NULL", what, entry->name);
    return LN_OK;
}

ln_status ln_context_set_data_n(ln_context *ctx, const char *tname, const void *data,
                                size_t byte_count)
{
    ln_tensor_entry *entry;
    LN_TRY(find_loaded(ctx, tname, &entry));
    if (!entry->is_open) { // else it has no size yet, and is refused with what to do
        LN_TRY(check_has_bytes(entry));
        LN_TRY(check_size(entry, data, byte_count, "data"));
    }
    return ln_context_set_data(ctx, tname, data ? data : "");
}

// A tensor whose bytes can be looked at.
static ln_status find_bytes(const ln_context *ctx, const char *tname, ln_tensor_entry **out_entry)
{
    LN_TRY(find_loaded(ctx, tname, out_entry));
    if ((*out_entry)->is_open && !(*out_entry)->held)
        return fail_no_value(*out_entry);
    return check_has_bytes(*out_entry);
}

ln_status ln_context_get_data_n(ln_context *ctx, const char *tname, void *data, size_t byte_count)
{
    ln_tensor_entry *entry;
    LN_TRY(find_bytes(ctx, tname, &entry));
    LN_TRY(check_size(entry, data, byte_count, "buffer"));
    if (byte_count == 0)
        return LN_OK;
    return ln_context_get_data(ctx, tname, data) ? LN_OK : ln_error_status();
}

ln_status ln_context_borrow_data(ln_context *ctx, const char *tname, const void **out_data,
                                 size_t *out_byte_count)
{
    if (!out_data || !out_byte_count)
        return LN_FAIL(LN_INVALID, "the place for the bytes of tensor '%s' is NULL",
                       tname ? tname : "(null)");
    *out_data = NULL;
    *out_byte_count = 0;
    ln_tensor_entry *entry;
    LN_TRY(find_bytes(ctx, tname, &entry));
    size_t byte_count = tl_tensor_size(entry->tensor);
    if (entry->mtype != LN_MEM_CPU && entry->mtype != LN_MEM_NONE)
        return LN_FAIL(LN_UNSUPPORTED, "tensor '%s' is in %s; ln_context_get_data_n copies it",
                       tname, ln_mem_type_title(entry->mtype));
    if (byte_count == 0)
        return LN_OK;
    if (!entry->tensor->data && !entry->is_load)
        return fail_no_value(entry);
    *out_data = ln_context_get_data(ctx, tname, NULL);
    if (!*out_data)
        return ln_error_status();
    *out_byte_count = byte_count;
    return LN_OK;
}
