// SPDX-License-Identifier: Apache-2.0
// Static operators compute from constants once, at load. When a constant changes afterwards, those
// that depend on it run again.

#include "ir/context.h"

#include <lightnet/allocator.h>

#include "base/name_hash.h"
#include "ir/op_life.h"

// The name of the tensor in whose memory tensor `tname` lies: its own, unless it is a view.
static const char *memory_of(const ln_context *ctx, const char *tname)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, tname);
    while (entry && entry->owner) {
        tname = entry->owner;
        entry = ln_tensor_table_find(ctx->tensor_table, tname);
    }
    return tname;
}

static ln_status mark(const ln_context *ctx, const char *tname, ln_hash *changed)
{
    const char *memory = memory_of(ctx, tname);
    return ln_hash_insert(changed, memory, changed) < 0 ? ln_error_status() : LN_OK;
}

static int reads_any(const ln_context *ctx, const ln_op *op, const ln_hash *changed)
{
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, op->op_arg->tensors_in) {
        if (ln_hash_find(changed, memory_of(ctx, in->name)))
            return 1;
    }
    return 0;
}

static ln_status rerun(const ln_context *ctx, const ln_op *first, ln_hash *changed)
{
    ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (!op->static_run || (op != first && !reads_any(ctx, op, changed)))
            continue;
        LN_TRY(ln_op_call(op, op->static_run));
        const ln_tensor_list_entry *out;
        LN_LIST_FOREACH (out, op->op_arg->tensors_out)
            LN_TRY(mark(ctx, out->name, changed));
    }
    return LN_OK;
}

ln_status ln_context_rerun_static(ln_context *ctx, const ln_op *first, const char *tname)
{
    LN_TRY(ln_context_own_static(ctx));
    ln_hash *changed = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    if (!changed)
        return LN_NO_MEMORY;
    ln_status status = tname ? mark(ctx, tname, changed) : LN_OK;
    if (status == LN_OK)
        status = rerun(ctx, first, changed);
    ln_hash_free(changed);
    return status;
}
