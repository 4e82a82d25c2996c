// SPDX-License-Identifier: Apache-2.0
// What operators call from their functions: failures and output tensors. And what asks about them
// without running them: whether a type accepts an operator, its multiply-accumulates and its cost.

#include <lightnet/op.h>

#include <stdio.h>
#include <string.h>

#include <lightnet/op_info.h>

#include "base/error_state.h"
#include "ir/op_life.h"

#define MESSAGE_BYTES 4096

ln_status ln_op_fail(ln_op_arg *op_arg, ln_status status, const char *fmt, ...)
{
    if (op_arg && op_arg->status != LN_OK)
        return op_arg->status;
    char message[MESSAGE_BYTES];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    if (status == LN_OK)
        status = LN_INTERNAL; // a failure that says it is none
    // The operator names itself in what it is told of a copy.
    bool is_of_device = ln_error_is_of_device() && ln_error_status() == status;
    if (op_arg)
        op_arg->status = status;
    if (op_arg)
        ln_fail(status, "%s: `%s` %s", op_arg->optype ? op_arg->optype : "(no type)",
                op_arg->name ? op_arg->name : "", message);
    else
        ln_fail(status, "%s", message);
    return is_of_device ? ln_error_note_device(status) : status;
}

// ---- Outputs ----

static int is_described_static(const ln_op_arg *op_arg, const char *arg_name)
{
    const ln_arg_info *out = op_arg->info ? op_arg->info->outs : NULL;
    for (; out && out->arg_name; out++)
        if (ln_streq(out->arg_name, arg_name))
            return (out->flags & LN_ARG_STATIC) != 0;
    return 0;
}

// The entry of output `listed` with everything but its place in the table; takes `tensor` over.
static ln_tensor_entry *make_entry(const ln_op_arg *op_arg, const ln_tensor_list_entry *listed,
                                   tl_tensor *tensor, const char *owner_name)
{
    ln_tensor_entry *entry = ln_tensor_entry_create_made(listed->name, tensor, op_arg->name);
    if (!entry) {
        tl_tensor_free(tensor);
        return NULL;
    }
    entry->offset = listed->offset;
    if (ln_tensor_entry_set_owner(entry, op_arg->tensor_table, owner_name) != LN_OK) {
        ln_tensor_entry_free_tensor_too(entry);
        return NULL;
    }
    return entry;
}

ln_tensor_entry *ln_op_define_output(ln_op_arg *op_arg, const char *arg_name, int ndim,
                                     const int *dims, tl_dtype dtype, ln_mem_type mtype,
                                     int is_static, const char *owner_name)
{
    if (!op_arg) {
        ln_fail(LN_INVALID, "no operator to define an output of");
        return NULL;
    }
    const ln_tensor_list_entry *listed =
        ln_tensor_list_find_by_arg_name(op_arg->tensors_out, arg_name);
    if (!listed) {
        (void)ln_op_fail(op_arg, LN_INVALID, "needs a `%s` output tensor",
                         arg_name ? arg_name : "");
        return NULL;
    }
    if (ln_tensor_table_find(op_arg->tensor_table, listed->name)) {
        (void)ln_op_fail(op_arg, LN_INVALID, "tensor `%s` shouldn't have been defined before",
                         listed->name);
        return NULL;
    }
    tl_tensor *tensor = tl_tensor_create(NULL, ndim, dims, dtype);
    ln_tensor_entry *entry = tensor ? make_entry(op_arg, listed, tensor, owner_name) : NULL;
    if (entry) {
        entry->mtype = mtype;
        entry->isstatic = is_static || is_described_static(op_arg, arg_name);
        if (ln_tensor_table_insert(op_arg->tensor_table, entry) >= 0)
            return entry;
        ln_tensor_entry_free_tensor_too(entry);
    }
    // The old message is read before the new one is recorded.
    (void)ln_op_fail(op_arg, ln_error_status(), "output tensor `%s`: %s", listed->name,
                     ln_error_message());
    return NULL;
}

void ln_op_undefine_outputs(ln_op_arg *op_arg)
{
    if (!op_arg)
        return;
    const ln_tensor_list_entry *listed;
    LN_LIST_FOREACH (listed, op_arg->tensors_out) {
        const ln_tensor_entry *entry = ln_tensor_table_find(op_arg->tensor_table, listed->name);
        if (entry && ln_streq(entry->creater, op_arg->name))
            ln_tensor_table_remove(op_arg->tensor_table, listed->name);
    }
}

// ---- Questions ----

ln_status ln_op_accepts(const ln_op *proto, const ln_op *op)
{
    if (!proto || !proto->op_arg || !op || !op->op_arg)
        return LN_FAIL(LN_INVALID, "no operator type, or no operator to ask it about");
    const ln_op_info *info = proto->op_arg->info;
    if (!info || !info->check)
        return LN_OK;
    ln_op_arg asked = *proto->op_arg;
    asked.name = op->op_arg->name;
    asked.tensors_in = op->op_arg->tensors_in;
    asked.tensors_out = op->op_arg->tensors_out;
    asked.params = op->op_arg->params;
    asked.tensor_table = op->op_arg->tensor_table;
    asked.context = op->op_arg->context;
    asked.priv = NULL;
    asked.status = LN_OK;
    asked.is_checked = 0;
    info->check(&asked);
    return asked.status;
}

double ln_op_macs(const ln_op *op)
{
    if (!op || !op->op_arg || !op->op_arg->is_checked || op->op_arg->is_waiting)
        return 0;
    const ln_op_info *info = op->op_arg->info;
    double macs = info && info->macs ? info->macs(op->op_arg) : 0;
    return macs > 0 ? macs : 0;
}

// Without a description of its cost, an operator is taken to touch each element once.
static double elements_of(const ln_op_arg *arg)
{
    double count = 0;
    const ln_list *const lists[] = {arg->tensors_in, arg->tensors_out};
    for (int i = 0; i < 2; i++) {
        const ln_tensor_list_entry *l;
        LN_LIST_FOREACH (l, lists[i]) {
            const ln_tensor_entry *entry = ln_tensor_table_find(arg->tensor_table, l->name);
            count += entry ? entry->tensor->len : 0;
        }
    }
    return count;
}

double ln_op_cost_as(const ln_op *op, const ln_op *variant)
{
    if (!op->op_arg->is_checked || !(variant->run || variant->static_run))
        return 0;
    const ln_op_info *info = op->op_arg->info, *runs = variant->op_arg->info;
    double steps =
        info && info->cost ? info->cost(op->op_arg) : ln_op_macs(op) + elements_of(op->op_arg);
    double step_cost = runs && runs->step_cost > 0 ? runs->step_cost : 1;
    return LN_CALL_COST + (steps > 0 ? steps : 0) * step_cost;
}

double ln_op_cost(const ln_op *op)
{
    return op && op->op_arg ? ln_op_cost_as(op, op) : 0;
}

int ln_op_is_scratch(const ln_op_arg *op_arg, const char *arg_name)
{
    const ln_arg_info *out = op_arg && op_arg->info ? op_arg->info->outs : NULL;
    for (; out && out->arg_name; out++) {
        if (ln_streq(out->arg_name, arg_name))
            return (out->flags & LN_ARG_SCRATCH) != 0;
    }
    return out && op_arg->info->compute && ln_streq(arg_name, LN_SCRATCH);
}
