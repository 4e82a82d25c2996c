// SPDX-License-Identifier: Apache-2.0
// The order of execution that needs the least memory, of a few good ones: each is planned as the
// whole model will be, and the given order stays unless another one needs less.
//
// An arch that orders operators itself, or runs neighbours of the list as groups, has its reasons;
// then nothing is done. Nor is it where operators overwrite their inputs by their own description,
// since what else reads those must stay before them.

#include "pass/pass.h"

#include <lightnet/allocator.h>

#include "ir/context.h"
#include "ir/plan_records.h"
#include "pass/firing.h"
#include "plan/order.h"

static bool has_own_order(const ln_compilation *compilation)
{
    for (size_t i = 0; i < compilation->arch_count; i++) {
        const ln_arch *arch = compilation->archs[i];
        if (arch->sd_funcs && arch->sd_funcs[0])
            return true;
    }
    const ln_op *op;
    LN_LIST_FOREACH (op, compilation->ctx->ops) {
        const ln_arch *arch = ln_arch_find(op->op_arg->arch);
        if (arch && arch->prepare)
            return true;
    }
    return false;
}

static bool overwrites_inputs(const ln_plan *plan)
{
    for (size_t s = 0; s < plan->step_count; s++) {
        if (plan->steps[s].aliasing == LN_PLAN_IN_PLACE)
            return true;
    }
    return false;
}

// Operators that no arch has lowered yet have tensors without memory.
static bool has_places(const ln_context *ctx)
{
    for (const ln_list *l = ctx->ops; l; l = l->next) {
        const ln_op_arg *arg = ((const ln_op *)l->data)->op_arg;
        const ln_tensor_list_entry *out;
        LN_LIST_FOREACH (out, arg->tensors_out) {
            const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, out->name);
            if (!entry || entry->mtype == LN_MEM_NONE)
                return false;
        }
    }
    return true;
}

// The bytes of workspace that the context needs in its order, `limit` if not less.
static ln_status measure(const ln_context *ctx, size_t limit, size_t *out_byte_count)
{
    ln_plan_records *records;
    LN_TRY(ln_plan_records_create(ctx, &records));
    ln_plan_records_ask_offsets(ctx, records);
    ln_status status = ln_plan_records_measure(records, limit, out_byte_count);
    ln_plan_records_destroy(records);
    return status;
}

static ln_status find_makers(const ln_context *ctx, const ln_plan_records *records,
                             uint32_t *makers)
{
    uint32_t step = 0;
    for (const ln_list *l = ctx->ops; l; l = l->next, step++) {
        const ln_tensor_list_entry *out;
        LN_LIST_FOREACH (out, ((const ln_op *)l->data)->op_arg->tensors_out) {
            uint32_t index;
            if (!ln_plan_records_find(records, out->name, &index))
                return LN_FAIL(LN_INTERNAL, "tensor '%s' is in no record", out->name);
            makers[index] = step;
        }
    }
    return LN_OK;
}

// The orders to choose from. The records that they come from are gone, since those of each order
// need as much memory again.
typedef struct candidates {
    bool is_fixed; // the given order has to stay
    size_t count;
    ln_op **ops; // in the given order
    uint32_t *orders[LN_ORDER_WAYS];
} candidates;

static void candidates_deinit(candidates *c)
{
    ln_free(c->ops);
    for (int way = 0; way < LN_ORDER_WAYS; way++)
        ln_free(c->orders[way]);
}

static ln_status find_orders(candidates *c, const ln_context *ctx, ln_plan_records *records,
                             uint32_t *makers)
{
    const ln_plan *plan = &records->plan;
    LN_TRY(find_makers(ctx, records, makers));
    ln_plan_records_trim(records);
    for (int way = 0; way < LN_ORDER_WAYS; way++) {
        c->orders[way] = ln_alloc_array(plan->step_count, sizeof **c->orders);
        if (!c->orders[way])
            return LN_NO_MEMORY;
        LN_TRY(ln_plan_order(plan->values, records->owners, makers, plan->value_count, plan->steps,
                             plan->step_count, (ln_order_way)way, c->orders[way]));
    }
    return LN_OK;
}

static ln_status candidates_init(candidates *c, const ln_context *ctx)
{
    c->count = (size_t)ln_list_length(ctx->ops);
    c->ops = ln_alloc_array(c->count, sizeof(ln_op *));
    if (!c->ops)
        return LN_NO_MEMORY;
    size_t count = 0;
    for (const ln_list *l = ctx->ops; l; l = l->next)
        c->ops[count++] = l->data;
    ln_plan_records *records;
    LN_TRY(ln_plan_records_create(ctx, &records));
    c->is_fixed = overwrites_inputs(&records->plan);
    uint32_t *makers = ln_alloc_array(records->plan.value_count, sizeof *makers);
    ln_status status = makers ? LN_OK : LN_NO_MEMORY;
    if (status == LN_OK && !c->is_fixed)
        status = find_orders(c, ctx, records, makers);
    ln_free(makers);
    ln_plan_records_destroy(records);
    return status;
}

// *out_list receives the operators in the order of `way`.
static ln_status list_in_order(const candidates *c, int way, ln_list **out_list)
{
    ln_list_builder builder = {0};
    ln_status status = LN_OK;
    for (size_t k = 0; k < c->count && status == LN_OK; k++)
        status = ln_list_builder_push(&builder, c->ops[c->orders[way][k]]);
    if (status != LN_OK) {
        ln_list_free(builder.list);
        return status;
    }
    *out_list = builder.list;
    return LN_OK;
}

// *out_best receives the best order if it is better than the given one, else NULL. The context is
// the same afterwards.
static ln_status find_best(ln_context *ctx, const candidates *c, ln_list **out_best)
{
    ln_list *given = ctx->ops;
    size_t least;
    *out_best = NULL;
    ln_status status = measure(ctx, SIZE_MAX, &least);
    for (int way = 0; way < LN_ORDER_WAYS && status == LN_OK; way++) {
        ln_list *list = NULL;
        size_t byte_count = least;
        status = list_in_order(c, way, &list);
        if (status == LN_OK) {
            ctx->ops = list;
            status = measure(ctx, least, &byte_count);
            ctx->ops = given;
        }
        ln_list *worse = list;
        if (status == LN_OK && byte_count < least) {
            worse = *out_best;
            *out_best = list;
            least = byte_count;
        }
        ln_list_free(worse);
    }
    if (status != LN_OK) {
        ln_list_free(*out_best);
        *out_best = NULL;
    }
    return status;
}

static const ln_op *first_moved(const ln_list *ops, const ln_list *order)
{
    while (ops->next && ops->data == order->data) {
        ops = ops->next;
        order = order->next;
    }
    return order->data;
}

// Takes `order` over, or frees it.
static ln_status reorder(ln_compilation *compilation, ln_list *order)
{
    ln_context *ctx = compilation->ctx;
    ln_firing_names names;
    ln_firing firing = ln_firing_of_pass("order", "exact", first_moved(ctx->ops, order), &names);
    bool fires = false;
    ln_status status = ln_firing_decide(compilation, &firing, &fires);
    if (!fires) {
        ln_list_free(order);
        return status;
    }
    ln_list_free(ctx->ops);
    ctx->ops = order;
    ctx->ops_last = NULL;
    ln_context_forget_ends(ctx);
    return ln_firing_done(compilation, &firing, LN_OK);
}

ln_status ln_pass_order(ln_compilation *compilation)
{
    ln_context *ctx = compilation->ctx;
    if (!ctx->ops || has_own_order(compilation) || !has_places(ctx))
        return LN_OK;
    // Entries of tensors that the passes have replaced go before the largest arrays come.
    if (ctx->retired) {
        LN_TRY(ln_context_rerun_ops(ctx));
        compilation->is_rechecked = true;
    }
    candidates c = {0};
    ln_list *best = NULL;
    ln_status status = candidates_init(&c, ctx);
    if (status == LN_OK && !c.is_fixed)
        status = find_best(ctx, &c, &best);
    candidates_deinit(&c);
    return best ? reorder(compilation, best) : status;
}
