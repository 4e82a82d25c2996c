// SPDX-License-Identifier: Apache-2.0
// Clones: the operators and the plan are copied, static tensors are shared.

#include "compile/clone.h"

#include <stdbool.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/util.h>

#include "compile/context_plan.h"
#include "compile/preset.h"
#include "compile/range.h"
#include "compile/reshape.h"
#include "compile/runner.h"
#include "compile/threads.h"
#include "ir/attached.h"
#include "ir/context.h"
#include "ir/devices.h"
#include "ir/graph_order.h"
#include "ir/model_info.h"
#include "ir/open.h"
#include "ir/use.h"
#include "ir/writes.h"
#include "op/call_prepare.h"

static ln_status copy_string(const char *string, char **out_copy)
{
    *out_copy = string ? ln_strdup(string) : NULL;
    return *out_copy || !string ? LN_OK : LN_NO_MEMORY;
}

typedef struct copying {
    bool has_weights;
    const ln_spares *spares; // NULL: all operators are copied
} copying;

static ln_status copy_model(const ln_context *ctx, ln_context *clone, copying how);

static ln_status append_copy(ln_context *clone, ln_op *copy)
{
    copy->op_arg->tensor_table = clone->tensor_table;
    copy->op_arg->context = clone;
    ln_status status = ln_context_append_op(clone, copy);
    if (status != LN_OK)
        ln_op_free_lists_too(copy);
    return status;
}

static ln_status copy_op(const ln_op *op, size_t index, const ln_spares *spares, ln_op **out_copy)
{
    if (spares)
        return ln_spares_copy_op(spares, op, index, out_copy);
    *out_copy = ln_op_copy(op);
    return *out_copy ? LN_OK : ln_error_status();
}

// The operators are checked again for the clone's own tensor table.
static ln_status copy_ops(const ln_context *ctx, ln_context *clone, const ln_spares *spares)
{
    size_t index = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        ln_op *copy;
        LN_TRY(copy_op(op, index++, spares, &copy));
        if (copy)
            LN_TRY(append_copy(clone, copy));
    }
    LN_TRY(ln_context_init_ops(clone));
    return spares ? ln_spares_mark(spares, clone) : LN_OK;
}

// What planning has decided about a tensor, which its operator's check does not know.
static ln_status copy_entry(const ln_context *clone, const ln_tensor_entry *from)
{
    ln_tensor_entry *to = ln_tensor_table_find(clone->tensor_table, from->name);
    if (!to)
        return LN_FAIL(LN_INTERNAL, "tensor '%s' is lost in a clone", from->name);
    to->offset = from->offset;
    to->is_placed = from->is_placed;
    to->is_load = from->is_load;
    if (from->owner == to->owner || ln_streq(from->owner, to->owner))
        return LN_OK;
    return ln_tensor_entry_set_owner(to, clone->tensor_table, from->owner);
}

static void copy_list_offsets(const ln_context *clone, ln_list *listed_tensors)
{
    ln_tensor_list_entry *listed;
    LN_LIST_FOREACH (listed, listed_tensors)
        listed->offset = ln_tensor_table_find(clone->tensor_table, listed->name)->offset;
}

static ln_status copy_plan(const ln_context *ctx, ln_context *clone)
{
    size_t cursor = 0;
    void *entry;
    while (ln_hash_next(ctx->tensor_table, &cursor, NULL, &entry))
        LN_TRY(copy_entry(clone, entry));
    const ln_op *op;
    LN_LIST_FOREACH (op, clone->ops) {
        copy_list_offsets(clone, op->op_arg->tensors_in);
        copy_list_offsets(clone, op->op_arg->tensors_out);
    }
    memcpy(clone->mem_sizes, ctx->mem_sizes, sizeof clone->mem_sizes);
    memcpy(clone->static_sizes, ctx->static_sizes, sizeof clone->static_sizes);
    memcpy(clone->load_sizes, ctx->load_sizes, sizeof clone->load_sizes);
    clone->plan_reuse = ctx->plan_reuse;
    LN_TRY(copy_string(ctx->target, &clone->target));
    LN_TRY(ln_uses_hold(ctx->target, &clone->uses));
    LN_TRY(copy_string(ctx->datafile, &clone->datafile));
    clone->state = LN_CONTEXT_PLANNED;
    return LN_OK;
}

// What is in the model's file is shared as the file has it, unless it has been set since.
static ln_status copy_owned(const ln_context *ctx, ln_context *clone)
{
    size_t cursor = 0;
    void *value;
    while (ln_hash_next(ctx->tensor_table, &cursor, NULL, &value)) {
        const ln_tensor_entry *from = value;
        bool is_in_place = ln_entry_is_in_place(from);
        if (is_in_place ? from->owner || from->tensor->data == from->attached
                        : !from->is_load || !from->tensor->data)
            continue;
        ln_tensor_entry *to = ln_tensor_table_find(clone->tensor_table, from->name);
        LN_TRY(ln_context_make_writable(clone, to));
        memcpy(to->tensor->data, from->tensor->data, tl_tensor_size(from->tensor));
    }
    return LN_OK;
}

// Open tensors that are static have been computed at load, and are shared as they are.
static ln_status copy_open_constants(const ln_context *ctx, ln_context *clone)
{
    size_t cursor = 0;
    void *value;
    while (ln_hash_next(ctx->tensor_table, &cursor, NULL, &value)) {
        const ln_tensor_entry *from = value;
        ln_tensor_entry *to = ln_tensor_table_find(clone->tensor_table, from->name);
        if (from->is_open && from->isstatic && from->held && to)
            ln_open_hold(to, from->held);
    }
    return LN_OK;
}

static ln_status share_memory(const ln_context *ctx, ln_context *clone)
{
    LN_TRY(ln_context_need_meter(clone, ctx));
    LN_TRY(ln_context_share_mem(clone, ctx));
    LN_TRY(copy_owned(ctx, clone));
    LN_TRY(ln_preset_copy(ctx, clone));
    LN_TRY(copy_open_constants(ctx, clone));
    clone->constants_version = ctx->constants_version;
    clone->params_version = ctx->params_version;
    const ln_list *from = ctx->ops, *to = clone->ops;
    for (; from && to; from = from->next, to = to->next)
        ln_call_share_prepared(((const ln_op *)to->data)->op_arg,
                               ((const ln_op *)from->data)->op_arg);
    LN_TRY(ln_runner_create(clone, &clone->runner));
    (void)ln_context_input_count(clone); // as load does
    clone->state = LN_CONTEXT_LOADED;
    return LN_OK;
}

// What planning and loading have made; inner graphs have theirs.
static ln_status copy_work(const ln_context *ctx, ln_context *clone)
{
    if (ctx->state >= LN_CONTEXT_PLANNED) {
        LN_TRY(copy_plan(ctx, clone));
        LN_TRY(ln_plans_share(ctx, clone));
        clone->envelope = ctx->envelope;
        if (ctx->range)
            clone->range = (struct ln_range_base *)ln_range_retain(ln_range_of(ctx));
    } else {
        LN_TRY(ln_range_copy(ctx, clone));
    }
    return ctx->state == LN_CONTEXT_LOADED ? share_memory(ctx, clone) : LN_OK;
}

static ln_status copy_graph(const ln_named_graph *from, ln_context *clone, bool has_weights)
{
    ln_context *copy = ln_context_find_graph(clone, from->name);
    LN_TRY(copy_model(from->graph, copy, (copying){.has_weights = has_weights}));
    return has_weights ? copy_work(from->graph, copy) : LN_OK;
}

// Inner graphs first, as their operators ask for them when they are checked. Circles are refused
// when they run, so all graphs are there, empty, before one is filled.
static ln_status copy_graphs(const ln_context *ctx, ln_context *clone, bool has_weights)
{
    ln_named_graph *graphs;
    size_t count;
    LN_TRY(ln_graph_order_create(ctx, &graphs, &count));
    ln_status status = LN_OK;
    ln_context *copy;
    for (size_t i = 0; i < count && status == LN_OK; i++)
        status = ln_context_add_graph(clone, graphs[i].name, &copy);
    for (size_t i = 0; i < count && status == LN_OK; i++)
        status = copy_graph(&graphs[i], clone, has_weights);
    ln_free(graphs);
    return status;
}

static ln_status copy_model(const ln_context *ctx, ln_context *clone, copying how)
{
    bool has_weights = how.has_weights;
    clone->limits = ctx->limits;
    clone->timeout = ctx->timeout;
    clone->priority = ctx->priority;
    clone->had_missing = ctx->had_missing;
    if (!clone->outer && has_weights)
        clone->attached = ln_attached_retain(ctx->attached);
    if (!clone->outer) {
        ln_devices_release(clone->devices);
        clone->devices = ln_devices_retain(ctx->devices);
    }
    if (!clone->outer)
        clone->writes = ln_writes_retain(ctx->writes);
    clone->info = ln_held_info_retain(ctx->info);
    LN_TRY(copy_string(ctx->source, &clone->source));
    LN_TRY(copy_string(has_weights ? ctx->weights : NULL, &clone->weights));
    LN_TRY(copy_string(has_weights ? ctx->weights_from : NULL, &clone->weights_from));
    LN_TRY(copy_graphs(ctx, clone, has_weights));
    ln_context_share_threads(clone, ctx);
    return copy_ops(ctx, clone, how.spares);
}

ln_status ln_context_clone(const ln_context *ctx, ln_context **out_clone)
{
    if (!out_clone)
        return LN_FAIL(LN_INVALID, "the place for the clone is NULL");
    *out_clone = NULL;
    if (!ctx || ctx->state == LN_CONTEXT_EMPTY)
        return LN_FAIL(LN_STATE, "the context holds no model to clone");
    ln_context *clone = ln_context_create();
    if (!clone)
        return LN_NO_MEMORY;
    ln_status status = copy_model(ctx, clone, (copying){.has_weights = true});
    if (status == LN_OK)
        status = copy_work(ctx, clone);
    if (status == LN_OK && ctx->failover)
        status = ln_context_clone(ctx->failover, &clone->failover);
    if (status != LN_OK) {
        ln_context_free(clone);
        return status;
    }
    clone->has_stale_failover = ctx->has_stale_failover;
    *out_clone = clone;
    return LN_OK;
}

// ---- Without weights ----

static ln_status plan_bare(const ln_context *ctx, ln_context *bare)
{
    size_t cursor = 0;
    const void *name;
    void *graph;
    while (ctx->graphs && ln_hash_next(ctx->graphs, &cursor, &name, &graph)) {
        const ln_context *from = graph;
        LN_TRY(ln_context_plan_memory(ln_context_find_graph(bare, name), from->target,
                                      (ln_plan_reuse)from->plan_reuse));
    }
    return ln_context_plan_memory(bare, ctx->target, (ln_plan_reuse)ctx->plan_reuse);
}

ln_status ln_context_clone_bare(const ln_context *ctx, ln_context **out_bare)
{
    *out_bare = NULL;
    ln_context *bare = ln_context_create();
    if (!bare)
        return LN_NO_MEMORY;
    ln_status status = copy_model(ctx, bare, (copying){.has_weights = false});
    if (status == LN_OK && ctx->state >= LN_CONTEXT_PLANNED)
        status = plan_bare(ctx, bare);
    if (status != LN_OK) {
        ln_context_free(bare);
        return status;
    }
    *out_bare = bare;
    return LN_OK;
}

// ---- Instances of a template ----

ln_status ln_context_clone_spared(const ln_context *rewritten, const ln_spares *spares,
                                  ln_context **out_instance)
{
    *out_instance = NULL;
    ln_context *instance = ln_context_create();
    if (!instance)
        return LN_NO_MEMORY;
    ln_status status =
        copy_model(rewritten, instance, (copying){.has_weights = true, .spares = spares});
    if (status == LN_OK)
        status = ln_range_copy(rewritten, instance);
    if (status != LN_OK) {
        ln_context_free(instance);
        return status;
    }
    *out_instance = instance;
    return LN_OK;
}
