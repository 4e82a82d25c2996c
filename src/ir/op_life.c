// SPDX-License-Identifier: Apache-2.0
// Calls operators' functions. Operators may be written by anyone, so what a function must have done
// is looked at, and what it forgot is made up for where that is possible.

#include "ir/op_life.h"

#include <stdbool.h>

#include <lightnet/op_info.h>

#include "ir/context.h"
#include "ir/open.h"

// Outputs are compared with each other; this bounds the time that takes.
#define MAX_OUTPUTS 4096

// The failure of the function just called, with the operator's place.
static ln_status finish(ln_op_arg *arg)
{
    if (arg->status == LN_OK)
        return LN_OK;
    if (ln_error_status() == LN_OK) { // set by hand, without a message
        ln_status status = arg->status;
        arg->status = LN_OK;
        (void)ln_op_fail(arg, status, "failed: %s", ln_status_text(status));
    }
    if (arg->place)
        (void)ln_fail_prefix("%s", arg->place);
    return arg->status;
}

ln_status ln_op_check_inputs(ln_op *op)
{
    ln_op_arg *arg = op->op_arg;
    arg->status = LN_OK;
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, arg->tensors_in) {
        if (!ln_tensor_table_find(arg->tensor_table, in->name)) {
            ln_error_clear();
            (void)ln_op_fail(arg, LN_INVALID, "tensor `%s` should have been defined before",
                             in->name);
            return finish(arg);
        }
    }
    return LN_OK;
}

// A function that replaced another operator's tensor would leave dangling pointers.
static void check_outputs_new(ln_op_arg *arg)
{
    int count = 0;
    for (const ln_list *l = arg->tensors_out; l; l = l->next) {
        const ln_tensor_list_entry *out = l->data;
        if (++count > MAX_OUTPUTS) {
            (void)ln_op_fail(arg, LN_LIMIT, "has more than %d output tensors", MAX_OUTPUTS);
            return;
        }
        if (ln_tensor_table_find(arg->tensor_table, out->name) ||
            ln_tensor_list_find_by_name(l->next, out->name)) {
            (void)ln_op_fail(arg, LN_INVALID, "tensor `%s` shouldn't have been defined before",
                             out->name);
            return;
        }
    }
}

static void check_outputs_defined(ln_op_arg *arg)
{
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, arg->tensors_out) {
        if (ln_tensor_table_find(arg->tensor_table, out->name))
            continue;
        // A function that does not look whether memory is gone ends up here.
        ln_status status = ln_error_status() == LN_NO_MEMORY ? LN_NO_MEMORY : LN_INVALID;
        (void)ln_op_fail(arg, status, "has not defined its output tensor `%s`", out->name);
        return;
    }
}

// A view of a static tensor is static: nothing is written when the model runs.
static void adopt_static(const ln_op *op, ln_tensor_entry *entry)
{
    const ln_tensor_entry *owner =
        entry->owner ? ln_tensor_table_find(op->op_arg->tensor_table, entry->owner) : NULL;
    if (!op->run && owner && owner->isstatic)
        entry->isstatic = 1;
    entry->is_input = ln_op_is_input(op->op_arg) || (owner && owner->is_input);
    // What is attached to the model is used where it is, and so is a view of it.
    if (!op->run && owner && owner->attached && entry->isstatic) {
        size_t offset = op->calc_offset ? op->calc_offset(op->op_arg, entry) : 0;
        if (offset != LN_NO_OFFSET)
            entry->attached = (const char *)owner->attached + offset;
    }
}

int ln_op_is_random(const ln_op_arg *arg)
{
    if (arg->info && arg->info->is_random && arg->info->is_random(arg))
        return 1;
    const ln_param_entry *param;
    LN_LIST_FOREACH (param, arg->context ? arg->params : NULL) {
        const ln_context *graph = param->type == LN_PARAM_STRING
                                      ? ln_context_find_graph(arg->context, param->value_string)
                                      : NULL;
        if (graph && graph->is_random)
            return 1;
    }
    return 0;
}

int ln_op_is_constant(const ln_op *op)
{
    const ln_op_arg *arg = op->op_arg;
    // An operator of arch `none` says what its variants will do.
    if (!arg->tensors_in || !arg->tensors_out || op->run == ln_op_run_in_group ||
        (!op->run && !ln_streq(arg->arch, "none")))
        return 0;
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, arg->tensors_in) {
        const ln_tensor_entry *entry = ln_tensor_table_find(arg->tensor_table, in->name);
        if (!entry || !entry->isstatic || entry->is_input)
            return 0;
    }
    return !ln_op_is_random(arg);
}

static void adopt_outputs(const ln_op *op)
{
    ln_op_arg *arg = op->op_arg;
    int is_constant = ln_op_is_constant(op);
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, arg->tensors_out) {
        ln_tensor_entry *entry = ln_tensor_table_find(arg->tensor_table, out->name);
        if (!entry)
            continue; // left out, which the caller does not mind
        adopt_static(op, entry);
        if (is_constant && !ln_op_is_scratch(arg, out->arg_name))
            entry->isstatic = 1;
        if (entry->offset == 0)
            entry->offset = out->offset;
        if (!ln_streq(entry->creater, arg->name) &&
            ln_tensor_entry_set_creater(entry, arg->name) != LN_OK) {
            (void)ln_op_fail(arg, LN_NO_MEMORY, "out of memory");
            return;
        }
    }
}

// All of them: none was there before the operator's function ran.
static void remove_outputs(ln_op_arg *arg)
{
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, arg->tensors_out)
        ln_tensor_table_remove(arg->tensor_table, out->name);
}

// ---- Waiting for shapes ----

static const ln_tensor_list_entry *find_open_input(const ln_op_arg *arg)
{
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, arg->tensors_in) {
        const ln_tensor_entry *entry = ln_tensor_table_find(arg->tensor_table, in->name);
        if (entry && entry->is_open)
            return in;
    }
    return NULL;
}

// Operators in call form compute with open tensors.
static bool has_to_wait(const ln_op_arg *arg)
{
    return arg->may_wait && arg->info && !arg->info->infer && find_open_input(arg);
}

// What `pre_run` would define, as far as it is known: tensors of any shape.
static void define_open_outputs(ln_op_arg *arg)
{
    const int none[TL_MAXDIM] = {0};
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, arg->tensors_out) {
        ln_tensor_entry *entry = ln_op_define_output(arg, out->arg_name, TL_MAXDIM, none, TL_FLOAT,
                                                     LN_MEM_NONE, 0, NULL);
        if (!entry)
            return;
        entry->is_open = 1;
        ln_open_drop(entry);
    }
}

ln_status ln_op_check_waiting(ln_op *op)
{
    ln_op_arg *arg = op->op_arg;
    const ln_tensor_list_entry *open = arg->is_waiting ? find_open_input(arg) : NULL;
    if (!open)
        return LN_OK;
    arg->status = LN_OK;
    ln_error_clear();
    (void)ln_op_fail(arg, LN_UNSUPPORTED, "needs the shape of tensor '%s', which %s", open->name,
                     ln_context_has_open_input(arg->context)
                         ? "is not known yet; bind the open dimensions of the model's inputs first "
                           "(ln_context_set_shape, -s)"
                         : "depends on data");
    return finish(arg);
}

// ---- Life ----

static void call_pre_run(ln_op *op)
{
    ln_op_arg *arg = op->op_arg;
    arg->is_waiting = has_to_wait(arg);
    if (arg->info && arg->info->open_run)
        op->run = find_open_input(arg) ? arg->info->open_run : NULL;
    if (arg->is_waiting)
        define_open_outputs(arg);
    else if (op->pre_run)
        op->pre_run(arg);
}

// Takes back what the above did.
static void call_post_run(ln_op *op)
{
    if (!op->op_arg->is_waiting && op->post_run)
        op->post_run(op->op_arg);
    op->op_arg->is_waiting = 0;
}

static ln_status pre_run(ln_op *op, bool needs_outputs)
{
    if (!op || !op->op_arg)
        return LN_FAIL(LN_INVALID, "an operator is NULL");
    ln_op_arg *arg = op->op_arg;
    ln_error_clear();
    arg->status = LN_OK;
    check_outputs_new(arg);
    if (arg->status != LN_OK)
        return finish(arg);

    call_pre_run(op);
    if (arg->status == LN_OK && needs_outputs)
        check_outputs_defined(arg);
    if (arg->status == LN_OK) {
        adopt_outputs(op);
        arg->is_checked = arg->status == LN_OK;
        if (!arg->is_checked)
            call_post_run(op); // its pre_run did succeed
    }
    if (!arg->is_checked)
        remove_outputs(arg);
    return finish(arg);
}

ln_status ln_op_pre_run(ln_op *op)
{
    return pre_run(op, true);
}

ln_status ln_op_pre_run_alone(ln_op *op)
{
    return pre_run(op, false);
}

ln_status ln_op_call(ln_op *op, ln_op_func function)
{
    if (!op || !op->op_arg)
        return LN_FAIL(LN_INVALID, "an operator is NULL");
    op->op_arg->status = LN_OK;
    if (!function)
        return LN_OK;
    ln_error_clear();
    function(op->op_arg);
    return finish(op->op_arg);
}

void ln_op_run_in_group(ln_op_arg *op_arg)
{
    (void)ln_op_fail(op_arg, LN_UNSUPPORTED,
                     "runs in groups of arch '%s' only: load it in a context", op_arg->arch);
}

ln_status ln_op_run_static(ln_op *op)
{
    LN_TRY(ln_op_call(op, op ? op->static_run : NULL));
    return op->run && ln_op_is_constant(op) ? ln_op_call(op, op->run) : LN_OK;
}

ln_status ln_op_post_run(ln_op *op)
{
    if (!op || !op->op_arg)
        return LN_FAIL(LN_INVALID, "an operator is NULL");
    ln_op_arg *arg = op->op_arg;
    arg->status = LN_OK;
    // The message of an earlier failure stays: this is how operators end when one is undone.
    call_post_run(op);
    arg->is_checked = 0;
    arg->priv = NULL;
    ln_op_undefine_outputs(arg);
    return arg->status;
}
