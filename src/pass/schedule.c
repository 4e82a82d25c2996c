// SPDX-License-Identifier: Apache-2.0
// The archs' schedule functions: another order of the same operators.
//
// The new order is taken over only if it holds exactly the context's operators and each of them
// still comes after those it reads from.

#include "pass/pass.h"

#include <lightnet/util.h>

// LN_OK if `order` is a permutation of the context's operators: as many, each known, none twice.
static ln_status check_permutation(const ln_context *ctx, const ln_list *order)
{
    ln_hash *seen = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL);
    if (!seen)
        return LN_NO_MEMORY;
    ln_status status = LN_OK;
    int count = 0;
    for (const ln_list *l = order; l && status == LN_OK; l = l->next, count++) {
        const ln_op *op = l->data;
        if (!op || ln_op_table_find(ctx->op_table, op->op_arg->name) != op)
            status =
                LN_FAIL(LN_INVALID, "the schedule holds an operator that is not the context's");
        else if (ln_hash_find(seen, op))
            status =
                LN_FAIL(LN_INVALID, "the schedule holds operator '%s' twice", op->op_arg->name);
        else if (ln_hash_insert(seen, op, l->data) < 0)
            status = LN_NO_MEMORY;
    }
    int op_count = ln_hash_size(ctx->op_table);
    if (status == LN_OK && count != op_count)
        status = LN_FAIL(LN_INVALID, "the schedule holds %d of %d operators", count, op_count);
    ln_hash_free(seen);
    return status;
}

static ln_status reorder(ln_compilation *compilation, ln_schedule_func function)
{
    ln_context *ctx = compilation->ctx;
    ln_error_clear();
    ln_list *order = function(ctx);
    if (!order)
        return ln_error_status() == LN_NO_MEMORY ? LN_NO_MEMORY : LN_OK;

    ln_status status = check_permutation(ctx, order);
    ln_list *old_order = ctx->ops;
    if (status == LN_OK) {
        ctx->ops = order;
        if (ln_context_check(ctx)) {
            ln_list_free(old_order);
            ctx->ops_last = NULL;
            compilation->firing_count++;
            return LN_OK;
        }
        ctx->ops = old_order;
        status = ln_fail_prefix("the schedule breaks the data flow");
    }
    ln_list_free(order);
    return status;
}

ln_status ln_pass_schedule(ln_compilation *compilation)
{
    for (size_t i = 0; i < compilation->arch_count; i++) {
        ln_schedule_func *function = compilation->archs[i]->sd_funcs;
        for (; function && *function; function++)
            LN_TRY(reorder(compilation, *function));
    }
    return LN_OK;
}
