// SPDX-License-Identifier: Apache-2.0
// The archs' schedule functions: another order of the same operators; then the overlap of devices
// and the host, where no arch has such a function.
//
// The new order is taken over only if it holds exactly the context's operators and each of them
// still comes after those it reads from.

#include "pass/pass.h"

#include <lightnet/util.h>

#include "ir/context.h"
#include "pass/firing.h"
#include "pass/overlap.h"

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

// The first operator that the order puts elsewhere; the first of all if there is none.
static const ln_op *first_moved(const ln_list *ops, const ln_list *order)
{
    const ln_op *first = order->data;
    while (ops && order && ops->data == order->data) {
        ops = ops->next;
        order = order->next;
    }
    return order ? order->data : first;
}

static ln_status reorder(ln_compilation *compilation, const ln_arch *arch, size_t index)
{
    ln_context *ctx = compilation->ctx;
    ln_error_clear();
    ln_list *order = arch->sd_funcs[index](ctx);
    if (!order)
        return ln_error_status() == LN_NO_MEMORY ? LN_NO_MEMORY : LN_OK;

    ln_firing_names names;
    ln_firing firing = {0};
    bool fires = false;
    ln_status status = check_permutation(ctx, order);
    if (status == LN_OK) {
        firing =
            ln_firing_of_function(arch, "schedule", index, first_moved(ctx->ops, order), &names);
        status = ln_firing_decide(compilation, &firing, &fires);
    }
    ln_list *old_order = ctx->ops;
    if (fires) {
        ctx->ops = order;
        if (ln_context_check(ctx)) {
            ln_list_free(old_order);
            ctx->ops_last = NULL;
            ln_context_forget_ends(ctx);
            return ln_firing_done(compilation, &firing, LN_OK);
        }
        ctx->ops = old_order;
        status = ln_firing_done(compilation, &firing,
                                ln_fail_prefix("the schedule breaks the data flow"));
    }
    ln_list_free(order);
    return status;
}

ln_status ln_pass_schedule(ln_compilation *compilation)
{
    bool has_own = false;
    for (size_t i = 0; i < compilation->arch_count; i++) {
        const ln_arch *arch = compilation->archs[i];
        for (size_t k = 0; arch->sd_funcs && arch->sd_funcs[k]; k++) {
            LN_TRY(reorder(compilation, arch, k));
            has_own = true;
        }
    }
    return has_own ? LN_OK : ln_overlap(compilation);
}
