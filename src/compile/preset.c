// SPDX-License-Identifier: Apache-2.0
// Inputs live from the first step to the last, so what is written at load stays.

#include "compile/preset.h"

#include <stdbool.h>

#include <lightnet/mem.h>

#include "compile/runner.h"
#include "ir/context.h"
#include "ir/fill.h"
#include "ir/open.h"
#include "op/first_values.h"
#include "plan/mem_copy.h"

static const double no_ran[2] = {0, 0};

static const ln_param_entry *find_numbers(const ln_op *op, const char *name)
{
    const ln_param_entry *param = ln_param_list_find(op->op_arg->params, name);
    return param && param->type == LN_PARAM_ARRAY_NUMBER ? param : NULL;
}

static bool has_numbers(const ln_op *op)
{
    return ln_op_is_input(op->op_arg) && !ln_op_is_first_from_file(op) &&
           (find_numbers(op, "ran") || find_numbers(op, "data"));
}

// In main memory, and copied where the tensor has other memory.
static ln_status fill(const ln_op *op, ln_tensor_entry *entry)
{
    const ln_param_entry *ran = find_numbers(op, "ran"), *data = find_numbers(op, "data");
    const double *range = ran && ran->array_len == 2 ? ran->value_array_double : no_ran;
    const double *numbers = data ? data->value_array_double : NULL;
    int count = data ? data->array_len : 0;
    if (entry->mtype == LN_MEM_CPU)
        return ln_first_values(entry->tensor, entry->name, range, numbers, count);
    tl_tensor *host =
        tl_tensor_zeros(entry->tensor->ndim, entry->tensor->dims, entry->tensor->dtype);
    if (!host)
        return ln_error_status();
    ln_status status = ln_first_values(host, entry->name, range, numbers, count);
    if (status == LN_OK)
        status = ln_mem_copy(entry->mtype, entry->tensor->data, LN_MEM_CPU, host->data,
                             tl_tensor_size(host));
    tl_tensor_free_data_too(host);
    return status;
}

ln_status ln_preset_input(const ln_context *ctx, const ln_op *op)
{
    if (!has_numbers(op))
        return LN_OK;
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, out->name);
        if (entry && !entry->is_open && entry->tensor->data)
            LN_TRY(fill(op, entry));
    }
    return LN_OK;
}

// ---- Again ----

static ln_status clear(ln_tensor_entry *entry)
{
    if (entry->is_open)
        ln_open_drop(entry);
    else if (entry->tensor->data)
        return ln_mem_clear(entry->mtype, entry->tensor->data, tl_tensor_size(entry->tensor));
    return LN_OK;
}

static ln_status reset_input(const ln_context *ctx, const char *tname, ln_fill *fill)
{
    ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, tname);
    const ln_op *op = ln_op_table_find(ctx->op_table, entry->creater);
    LN_TRY(clear(entry));
    LN_TRY(ln_preset_input(ctx, op));
    return ln_op_is_first_from_file(op) ? ln_fill_op(fill, op) : LN_OK;
}

ln_status ln_context_reset_inputs(ln_context *ctx)
{
    ln_fill fill = {.ctx = ctx};
    ln_status status = LN_OK;
    const ln_tensor_entry *input;
    for (size_t i = 0; status == LN_OK && (input = ln_context_input(ctx, i)); i++)
        status = reset_input(ctx, input->name, &fill);
    ln_fill_close(&fill);
    return status;
}

// ---- In clones ----

static ln_status copy_input(const ln_tensor_entry *from, const ln_tensor_entry *to)
{
    size_t byte_count = tl_tensor_size(from->tensor);
    if (from->is_open || !from->tensor->data || byte_count == 0)
        return LN_OK;
    if (ln_mem_copy(to->mtype, to->tensor->data, from->mtype, from->tensor->data, byte_count) ==
        LN_OK)
        return LN_OK;
    return ln_fail_prefix("the first value of input '%s'", from->name);
}

ln_status ln_preset_copy(const ln_context *ctx, const ln_context *clone)
{
    const ln_op *op;
    if (!ctx->memory)
        return LN_OK;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (!has_numbers(op) && !ln_op_is_first_from_file(op))
            continue;
        const ln_tensor_list_entry *out;
        LN_LIST_FOREACH (out, op->op_arg->tensors_out)
            LN_TRY(copy_input(ln_tensor_table_find(ctx->tensor_table, out->name),
                              ln_tensor_table_find(clone->tensor_table, out->name)));
    }
    return LN_OK;
}
