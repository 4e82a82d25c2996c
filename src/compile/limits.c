// SPDX-License-Identifier: Apache-2.0
// Limits on operators and work. Moving elements has no multiply-accumulates, yet takes time, so
// each element written counts as well.

#include "compile/limits.h"

static double written_elements(const ln_context *ctx, const ln_op *op)
{
    double count = 0;
    for (const ln_list *out = op->op_arg->tensors_out; out; out = out->next) {
        const ln_tensor_list_entry *listed = out->data;
        const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, listed->name);
        if (entry && !entry->owner)
            count += entry->tensor->len;
    }
    return count;
}

ln_status ln_context_check_limits(const ln_context *ctx)
{
    size_t op_count = 0;
    double work = ln_context_work(ctx);
    for (const ln_list *l = ctx->ops; l; l = l->next) {
        work += written_elements(ctx, l->data);
        op_count++;
    }
    if (op_count > ctx->limits.op_count)
        return LN_FAIL(LN_LIMIT, "%zu operators are over the limit of %zu", op_count,
                       ctx->limits.op_count);
    if (!(work <= ctx->limits.work))
        return LN_FAIL(LN_LIMIT,
                       "%.4g multiply-accumulates and written elements a run are over the limit of "
                       "%.4g",
                       work, ctx->limits.work);
    return LN_OK;
}
