// SPDX-License-Identifier: Apache-2.0
// Changing a parameter of a model.
//
// A copy of the operator with the new value is checked beside the model. Before memory is planned
// the value then goes to the operator and everything is derived again; afterwards it goes there
// only if the copy's outputs are what the plan was made for.

#include "ir/context.h"

#include <limits.h>
#include <stdarg.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/error_state.h"
#include "ir/op_life.h"
#include "ir/param_value.h"

// ---- Trying a value out ----

// A table that shows the operator's inputs only. It is freed with ln_hash_free.
static ln_status table_of_inputs(const ln_context *ctx, const ln_op *op, ln_hash **out_table)
{
    *out_table = ln_tensor_table_create();
    if (!*out_table)
        return LN_NO_MEMORY;
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, op->op_arg->tensors_in) {
        ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, in->name);
        if (entry && ln_hash_insert(*out_table, entry->name, entry) < 0)
            return ln_error_status();
    }
    return LN_OK;
}

static int is_same_tensor(const ln_tensor_entry *a, const ln_tensor_entry *b)
{
    const tl_tensor *s = a->tensor, *t = b->tensor;
    return s->dtype == t->dtype && s->ndim == t->ndim &&
           (s->ndim == 0 || memcmp(s->dims, t->dims, sizeof(int) * (size_t)s->ndim) == 0) &&
           a->mtype == b->mtype && !a->isstatic == !b->isstatic;
}

// The owner that the operator itself gives its output.
static const char *described_owner(const ln_tensor_entry *entry)
{
    return entry->is_placed ? NULL : entry->owner;
}

static int is_same_place(const ln_op *op, ln_tensor_entry *planned, const ln_op *trial,
                         ln_tensor_entry *tried)
{
    const char *a = described_owner(planned), *b = described_owner(tried);
    if (a != b && !ln_streq(a, b))
        return 0;
    return !planned->owner || !op->calc_offset ||
           op->calc_offset(op->op_arg, planned) == trial->calc_offset(trial->op_arg, tried);
}

// Where inputs are in the output, if they do.
static int are_parts_same(const ln_context *ctx, const ln_op *op, const ln_op *trial)
{
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, op->op_arg->tensors_in) {
        ln_tensor_entry *part = ln_tensor_table_find(ctx->tensor_table, in->name);
        if (op->calc_offset && part && part->owner &&
            op->calc_offset(op->op_arg, part) != trial->calc_offset(trial->op_arg, part))
            return 0;
    }
    return 1;
}

static ln_status compare_outputs(const ln_context *ctx, const ln_op *op, const ln_op *trial)
{
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, trial->op_arg->tensors_out) {
        ln_tensor_entry *planned = ln_tensor_table_find(ctx->tensor_table, out->name);
        ln_tensor_entry *tried = ln_tensor_table_find(trial->op_arg->tensor_table, out->name);
        if (!planned || !tried || !is_same_tensor(planned, tried) ||
            !is_same_place(op, planned, trial, tried) || !are_parts_same(ctx, op, trial))
            return LN_FAIL(LN_STATE,
                           "operator '%s': the parameter changes tensor '%s', for which memory is "
                           "planned already",
                           trial->op_arg->name, out->name);
    }
    return LN_OK;
}

// Checking an operator shows it what is known of its inputs, in the place of what they hold.
static ln_status check_trial(ln_op *trial)
{
    size_t count = (size_t)ln_list_length(trial->op_arg->tensors_in), i = 0;
    void **held = ln_alloc_array(count + 1, sizeof *held);
    if (!held)
        return LN_NO_MEMORY;
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, trial->op_arg->tensors_in) {
        const ln_tensor_entry *entry = ln_tensor_table_find(trial->op_arg->tensor_table, in->name);
        held[i++] = entry ? entry->tensor->data : NULL;
    }
    ln_status status = ln_op_pre_run(trial);
    i = 0;
    LN_LIST_FOREACH (in, trial->op_arg->tensors_in) {
        ln_tensor_entry *entry = ln_tensor_table_find(trial->op_arg->tensor_table, in->name);
        if (entry)
            entry->tensor->data = held[i];
        i++;
    }
    ln_free(held);
    return status;
}

static ln_status try_out(const ln_context *ctx, const ln_op *op, ln_op *trial)
{
    ln_hash *table;
    ln_status status = table_of_inputs(ctx, trial, &table);
    if (status == LN_OK) {
        trial->op_arg->tensor_table = table;
        status = check_trial(trial);
    }
    if (status == LN_OK) {
        if (ctx->state >= LN_CONTEXT_PLANNED)
            status = compare_outputs(ctx, op, trial);
        (void)ln_op_post_run(trial);
    }
    ln_hash_free(table);
    return status;
}

// ---- Taking it over ----

static ln_status derive_again(ln_context *ctx, const ln_op *op)
{
    if (ctx->state == LN_CONTEXT_READY)
        return ln_context_recheck(ctx);
    if (ctx->state != LN_CONTEXT_LOADED || (!op->static_run && !ln_op_is_constant(op)))
        return LN_OK;
    return ln_context_rerun_static(ctx, op, NULL);
}

static ln_status take_over(ln_context *ctx, const ln_op *op, ln_param_entry *param,
                           ln_param_entry *tried)
{
    ln_context_forget_ends(ctx); // zeros are an input, other numbers are none
    ln_param_swap_values(param, tried);
    ln_context_root(ctx)->params_version++;
    ln_status status = derive_again(ctx, op);
    if (status == LN_OK)
        return LN_OK;
    ln_error_state reason;
    ln_error_save(&reason);
    ln_context_forget_ends(ctx);
    ln_param_swap_values(param, tried);
    ln_context_root(ctx)->params_version++;
    ln_status undone = derive_again(ctx, op);
    ln_error_restore(&reason);
    if (undone != LN_OK && ctx->state == LN_CONTEXT_READY)
        return ln_context_abandon(ctx, status);
    return status;
}

typedef ln_status set_value(ln_param_entry *entry, void *value);

static ln_status set_param(ln_context *ctx, const char *opname, const char *pname, set_value *set,
                           void *value);

// A device was asked whether it takes the operator as it is, and has prepared it so.
static ln_status check_not_on_device(const ln_context *ctx, const ln_op *op)
{
    if (ctx->state < LN_CONTEXT_PLANNED || op->run != ln_op_run_in_group)
        return LN_OK;
    return LN_FAIL(
        LN_UNSUPPORTED,
        "operator '%s' (%s) is computed by device '%s', which takes it as it is; set its "
        "parameters before compiling, or compile the model without the device",
        op->op_arg->name, op->op_arg->optype, op->op_arg->arch);
}

static ln_status set_in_failover(const ln_context *ctx, const char *opname, const char *pname,
                                 set_value *set, void *value)
{
    ln_status status = set_param(ctx->failover, opname, pname, set, value);
    return status == LN_OK ? LN_OK : ln_fail_prefix("failover");
}

static ln_status set_param(ln_context *ctx, const char *opname, const char *pname, set_value *set,
                           void *value)
{
    if (!ctx)
        return LN_FAIL(LN_INVALID, "the context is NULL");
    ln_op *op;
    ln_param_entry *param;
    LN_TRY(ln_op_table_find_param(ctx->op_table, opname, pname, &op, &param));
    LN_TRY(check_not_on_device(ctx, op));
    ln_op *trial = ln_op_copy(op);
    if (!trial)
        return ln_error_status();
    ln_param_entry *tried = ln_param_list_find(trial->op_arg->params, param->arg_name);
    ln_status status = set(tried, value);
    if (status == LN_OK)
        status = try_out(ctx, op, trial);
    if (status == LN_OK && ctx->failover)
        status = set_in_failover(ctx, opname, pname, set, value);
    if (status == LN_OK) {
        status = take_over(ctx, op, param, tried);
        ctx->has_stale_failover = ctx->has_stale_failover || status != LN_OK;
    }
    ln_op_free_lists_too(trial);
    return status;
}

// ---- Values in an argument list ----

typedef struct listed_value {
    va_list ap;
} listed_value;

static ln_status set_listed(ln_param_entry *entry, void *value)
{
    va_list ap; // failover takes the values, too
    va_copy(ap, ((listed_value *)value)->ap);
    ln_status status = ln_param_vset(entry, ap);
    va_end(ap);
    return status;
}

ln_status ln_context_set_param(ln_context *ctx, const char *opname, const char *pname, ...)
{
    listed_value value;
    va_start(value.ap, pname);
    ln_status status = set_param(ctx, opname, pname, set_listed, &value);
    va_end(value.ap);
    return status;
}

// ---- Values in arrays ----

typedef struct array_value {
    const void *values;
    size_t count;
} array_value;

// Whether the parameter takes the value: an array any number of its type, else one.
static ln_status check_array_value(const ln_param_entry *entry, const array_value *value,
                                   ln_param_type scalar, ln_param_type array, const char *what)
{
    if (entry->type != scalar && entry->type != array)
        return LN_FAIL(LN_INVALID, "parameter '%s' does not take %s", entry->arg_name, what);
    if (entry->type == scalar && value->count != 1)
        return LN_FAIL(LN_INVALID, "parameter '%s' takes one value, not %zu", entry->arg_name,
                       value->count);
    if (value->count > INT_MAX || (value->count > 0 && !value->values))
        return LN_FAIL(LN_INVALID, "the values for parameter '%s' are NULL, or too many",
                       entry->arg_name);
    return LN_OK;
}

static ln_status set_numbers(ln_param_entry *entry, void *user)
{
    const array_value *value = user;
    const double *numbers = value->values;
    LN_TRY(check_array_value(entry, value, LN_PARAM_NUMBER, LN_PARAM_ARRAY_NUMBER, "numbers"));
    return entry->type == LN_PARAM_NUMBER
               ? ln_param_set_satu_number(entry, *numbers)
               : ln_param_set_satu_array_double(entry, (int)value->count, numbers);
}

static ln_status set_strings(ln_param_entry *entry, void *user)
{
    const array_value *value = user;
    const char *const *strings = value->values;
    LN_TRY(check_array_value(entry, value, LN_PARAM_STRING, LN_PARAM_ARRAY_STRING, "strings"));
    return entry->type == LN_PARAM_STRING
               ? ln_param_set_string(entry, *strings)
               : ln_param_set_array_string(entry, (int)value->count, strings);
}

static ln_status set_bools(ln_param_entry *entry, void *user)
{
    const array_value *value = user;
    const ln_bool *bools = value->values;
    LN_TRY(check_array_value(entry, value, LN_PARAM_BOOL, LN_PARAM_ARRAY_BOOL, "bools"));
    return entry->type == LN_PARAM_BOOL ? ln_param_set_bool(entry, *bools)
                                        : ln_param_set_array_bool(entry, (int)value->count, bools);
}

ln_status ln_context_set_param_numbers(ln_context *ctx, const char *opname, const char *pname,
                                       size_t count, const double *numbers)
{
    array_value value = {.values = numbers, .count = count};
    return set_param(ctx, opname, pname, set_numbers, &value);
}

ln_status ln_context_set_param_strings(ln_context *ctx, const char *opname, const char *pname,
                                       size_t count, const char *const *strings)
{
    array_value value = {.values = strings, .count = count};
    return set_param(ctx, opname, pname, set_strings, &value);
}

ln_status ln_context_set_param_bools(ln_context *ctx, const char *opname, const char *pname,
                                     size_t count, const ln_bool *bools)
{
    array_value value = {.values = bools, .count = count};
    return set_param(ctx, opname, pname, set_bools, &value);
}
