// SPDX-License-Identifier: Apache-2.0
// What a plan cannot say.

#include <lightnet/context.h>

#include "ir/context.h"
#include "op/call.h"

enum { NAMED = 3 };

static void note(size_t *count, const char *names[NAMED], const char *name)
{
    if (*count < NAMED)
        names[*count] = name;
    ++*count;
}

static bool makes_open(const ln_context *ctx, const ln_op *op, ln_unplanned *u)
{
    bool is_open = false;
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, out->name);
        if (!entry || !entry->is_open || entry->isstatic)
            continue;
        is_open = true;
        note(&u->tensor_count, u->tensors, entry->name);
    }
    return is_open;
}

// What is static runs when the model is loaded.
static bool is_static(const ln_context *ctx, const ln_op *op)
{
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, out->name);
        if (entry && !entry->isstatic)
            return false;
    }
    return op->op_arg->tensors_out != NULL;
}

static ln_status add_up(ln_context *ctx, void *user)
{
    ln_unplanned *u = user;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        bool is_open = makes_open(ctx, op, u);
        if (!is_open && ln_call_unplanned_workspace(op->op_arg) > 0 && !is_static(ctx, op))
            note(&u->op_count, u->ops, op->op_arg->name);
    }
    return LN_OK;
}

ln_unplanned ln_context_unplanned(const ln_context *ctx)
{
    ln_unplanned u = {0};
    if (!ctx)
        return u;
    (void)add_up((ln_context *)(uintptr_t)ctx, &u);
    (void)ln_context_each_graph(ctx, add_up, &u);
    return u;
}
