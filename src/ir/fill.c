// SPDX-License-Identifier: Apache-2.0
// Weights are copied one operator at a time, so that what is only needed while loading is there
// when its turn comes and no earlier. Pages of files go as soon as they have been copied.

#include "ir/fill.h"

#include <stdbool.h>
#include <string.h>

#include <lightnet/op_info.h>

#include "ir/attached.h"
#include "ir/context.h"
#include "ir/dfg.h"
#include "plan/mem_copy.h"

// What is copied at once before its pages may go.
#define CHUNK_BYTES ((size_t)4 << 20)

static int says_from_file(const ln_op *op)
{
    const ln_param_entry *param = ln_param_list_find(op->op_arg->params, "from_file");
    return param && param->type == LN_PARAM_BOOL && param->value_bool;
}

int ln_op_is_from_file(const ln_op *op)
{
    return says_from_file(op) && !ln_op_is_input(op->op_arg);
}

int ln_op_is_first_from_file(const ln_op *op)
{
    return says_from_file(op) && ln_op_is_input(op->op_arg);
}

const tl_tensor *ln_find_first_attached(const ln_context *ctx, const ln_op *op)
{
    if (ctx->outer || !op->op_arg->tensors_out || !ln_op_is_first_from_file(op))
        return NULL;
    const ln_tensor_list_entry *out = op->op_arg->tensors_out->data;
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, out->name);
    const tl_tensor *first = entry ? ln_attached_find(ctx->attached, out->name) : NULL;
    bool fits = first && !entry->is_open && first->dtype == entry->tensor->dtype &&
                tl_tensor_issameshape(first, entry->tensor);
    return fits ? first : NULL;
}

int ln_op_takes_weights(const ln_context *ctx, const ln_op *op)
{
    return ln_op_is_from_file(op) || ln_find_first_attached(ctx, op) != NULL;
}

ln_status ln_check_fits(const ln_tensor_file *file, int index, const ln_tensor_entry *to,
                        const char *datafile)
{
    // .wts knows lengths only.
    int has_shapes = ln_tensor_file_get_format(file) != LN_TENSOR_FILE_WTS;
    const tl_tensor *from = ln_tensor_file_describe(file, index);
    if (!ln_tensor_file_holds(file, index, to->tensor->dtype))
        return LN_FAIL(LN_INVALID, "%s: tensor '%s' is %s, the model takes %s", datafile, to->name,
                       tl_dtype_title(from->dtype), tl_dtype_title(to->tensor->dtype));
    int fits = has_shapes ? tl_tensor_issameshape(from, to->tensor) : from->len == to->tensor->len;
    if (fits)
        return LN_OK;
    char from_shape[128], to_shape[128];
    ln_sprint_shape(from_shape, sizeof from_shape, from->ndim, from->dims);
    ln_sprint_shape(to_shape, sizeof to_shape, to->tensor->ndim, to->tensor->dims);
    return LN_FAIL(LN_INVALID, "%s: tensor '%s' has shape %s, the model takes %s", datafile,
                   to->name, from_shape, to_shape);
}

// ---- From a data file ----

static ln_status copy_in(const ln_tensor_entry *to, void *dst, const void *src, size_t byte_count)
{
    if (ln_mem_copy(to->mtype, dst, LN_MEM_CPU, src, byte_count) == LN_OK)
        return LN_OK;
    return ln_fail_prefix("tensor '%s'", to->name);
}

static ln_status copy_tensor(const ln_tensor_file *file, int index, const ln_tensor_entry *to)
{
    // Without a copy in between, where the memory can be written to.
    if (to->mtype == LN_MEM_CPU)
        return ln_tensor_file_read_as(file, index, to->tensor->dtype, to->tensor->data);
    tl_tensor *elements = tl_tensor_zeros(to->tensor->ndim, to->tensor->dims, to->tensor->dtype);
    if (!elements)
        return LN_NO_MEMORY;
    ln_status status = ln_tensor_file_read_as(file, index, elements->dtype, elements->data);
    if (status == LN_OK)
        status = copy_in(to, to->tensor->data, elements->data, tl_tensor_size(elements));
    tl_tensor_free_data_too(elements);
    return status;
}

ln_status ln_fill_open(ln_fill *fill)
{
    const char *datafile = fill->ctx->datafile;
    if (!datafile || fill->file)
        return LN_OK;
    return ln_tensor_file_open(datafile, &fill->file);
}

void ln_fill_close(ln_fill *fill)
{
    ln_tensor_file_close(fill->file);
    fill->file = NULL;
}

static ln_status fill_from_file(ln_fill *fill, const ln_tensor_entry *entry)
{
    const char *datafile = fill->ctx->datafile;
    LN_TRY(ln_fill_open(fill));
    int index = ln_tensor_file_find(fill->file, entry->name);
    if (index < 0)
        return LN_FAIL(LN_NOT_FOUND, "%s: tensor '%s' is missing", datafile, entry->name);
    LN_TRY(ln_check_fits(fill->file, index, entry, datafile));
    return copy_tensor(fill->file, index, entry);
}

// ---- From the model ----

// Whether loading can read the elements in the model's file, though they are not aligned there.
// The memory that is planned for them then is not touched.
static bool is_read_in_file(const ln_context *ctx, const ln_tensor_entry *entry)
{
    if (!entry->is_load || entry->mtype != LN_MEM_CPU)
        return false;
    ln_dfg_readers readers = ln_dfg_find_readers(ctx->dfg, entry->name);
    bool is_any = false;
    const ln_op *reader;
    while ((reader = ln_dfg_next_reader(&readers)) != NULL) {
        const ln_op_info *info = reader->op_arg->info;
        if (!info || !info->takes_any_address)
            return false;
        is_any = true;
    }
    return is_any;
}

// What is in the model's file where it cannot be used: the plan has memory for it.
static ln_status fill_from_attached(const ln_fill *fill, const ln_tensor_entry *entry,
                                    const void *elements)
{
    const ln_attached *attached = ln_context_root(fill->ctx)->attached;
    size_t byte_count = tl_tensor_size(entry->tensor);
    size_t most = entry->mtype == LN_MEM_CPU ? CHUNK_BYTES : byte_count;
    for (size_t at = 0; at < byte_count;) {
        size_t count = byte_count - at < most ? byte_count - at : most;
        const char *from = (const char *)elements + at;
        LN_TRY(copy_in(entry, (char *)entry->tensor->data + at, from, count));
        ln_attached_let_go(attached, from, count);
        at += count;
    }
    return LN_OK;
}

// Where neither has it, the program gives it.
static ln_status fill_input(ln_fill *fill, const ln_op *op, const ln_tensor_entry *entry)
{
    LN_TRY(ln_fill_open(fill));
    if (fill->file && ln_tensor_file_find(fill->file, entry->name) >= 0)
        return fill_from_file(fill, entry);
    const tl_tensor *first = ln_find_first_attached(fill->ctx, op);
    return first && entry->tensor->data ? fill_from_attached(fill, entry, first->data) : LN_OK;
}

// What has no value from anywhere: its memory may have held another tensor while the model was
// loaded.
static ln_status fill_with_zeros(ln_fill *fill, const ln_tensor_entry *entry)
{
    fill->missing_count++;
    if (!entry->tensor->data)
        return LN_OK;
    if (ln_mem_clear(entry->mtype, entry->tensor->data, tl_tensor_size(entry->tensor)) == LN_OK)
        return LN_OK;
    return ln_fail_prefix("tensor '%s'", entry->name);
}

ln_status ln_fill_op(ln_fill *fill, const ln_op *op)
{
    const ln_tensor_list_entry *out;
    if (!says_from_file(op))
        return LN_OK;
    const ln_context *root = ln_context_root(fill->ctx);
    int is_input = ln_op_is_input(op->op_arg), has_file = fill->ctx->datafile != NULL;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        const ln_tensor_entry *entry = ln_tensor_table_find(fill->ctx->tensor_table, out->name);
        if (is_input)
            LN_TRY(fill_input(fill, op, entry));
        else if (has_file && ln_attached_count(root->attached) == 0)
            LN_TRY(fill_from_file(fill, entry));
        else if (!entry->attached && root->weights)
            return LN_FAIL(LN_INVALID, "%s: tensor '%s' has another shape than the model says",
                           root->weights, entry->name);
        else if (!entry->attached)
            LN_TRY(fill_with_zeros(fill, entry));
        else if (is_read_in_file(fill->ctx, entry))
            entry->tensor->data = (void *)(uintptr_t)entry->attached;
        else if (!ln_entry_is_in_place(entry))
            LN_TRY(fill_from_attached(fill, entry, entry->attached));
    }
    return LN_OK;
}

void ln_fill_let_go(const ln_context *ctx, const ln_op *op)
{
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, op->op_arg->tensors_in) {
        const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, in->name);
        if (entry && entry->is_load && entry->attached && entry->tensor->data == entry->attached)
            ln_context_let_go(ctx, entry->attached, tl_tensor_size(entry->tensor));
    }
}
