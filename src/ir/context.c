// SPDX-License-Identifier: Apache-2.0
// A context: its life, its memory, and questions about its model.

#include "ir/context.h"

#include <stdint.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/op_info.h>

#include "base/name_hash.h"
#include "base/pool.h"
#include "base/sized.h"
#include "ir/attached.h"
#include "ir/compiled.h"
#include "ir/devices.h"
#include "ir/given_file.h"
#include "ir/model_info.h"
#include "ir/op_life.h"
#include "ir/phase.h"
#include "ir/progress.h"
#include "ir/scratch.h"
#include "ir/use.h"
#include "ir/writes.h"
#include "tensor/meter.h"

// ---- Life ----

static const ln_limits default_limits = {
    .source_byte_count = (size_t)256 << 20,
    .memory_byte_count = (size_t)4 << 30,
    .op_count = 1000000,
    .work = 6e11,
};

void ln_limits_init(ln_limits *out_limits, size_t byte_count)
{
    ln_sized_write(out_limits, byte_count, &default_limits, sizeof default_limits);
}

// For programs that were linked before the structure's size came along, as are its likes below.
ln_limits(ln_limits_default)(void)
{
    return default_limits;
}

ln_context *ln_context_create(void)
{
    ln_context *ctx = ln_alloc(sizeof *ctx);
    if (!ctx)
        return NULL;
    ctx->limits = default_limits;
    ctx->work_left = ctx->work_limit = LN_PLAN_WORK;
    ctx->tensor_table = ln_tensor_table_create();
    ctx->op_table = ln_op_table_create();
    ctx->dfg = ln_dfg_create();
    ctx->devices = ln_devices_create();
    ctx->progress = ln_alloc(sizeof *ctx->progress);
    if (!ctx->tensor_table || !ctx->op_table || !ctx->dfg || !ctx->devices || !ctx->progress) {
        ln_context_free(ctx);
        return NULL;
    }
    return ctx;
}

void ln_context_free(ln_context *ctx)
{
    if (!ctx)
        return;
    ln_context_drop_ops(ctx);
    ln_tensor_table_free(ctx->tensor_table);
    ln_hash_free(ctx->op_table); // empty: the operators were freed with the list
    ln_dfg_free(ctx->dfg);
    ln_context_forget(ctx);
    ln_context_forget_ends(ctx);
    if (!ctx->outer) // a graph has that of its root
        ln_pool_release(ctx->pool);
    ln_writes_release(ctx->writes);
    ln_cancel_release(ctx->cancel);
    ln_given_files_free(ctx->files);
    ln_free(ctx->folder);
    ln_free(ctx->observer);
    ln_devices_release(ctx->devices);
    ln_free(ctx->progress);
    ln_free(ctx);
}

ln_status ln_context_progress(const ln_context *ctx, double *out_done, double *out_total)
{
    if (!ctx)
        return LN_FAIL(LN_INVALID, "the context is NULL");
    ln_progress_read(ctx->progress, out_done, out_total);
    return LN_OK;
}

void ln_context_forget_plan(ln_context *ctx)
{
    ln_free(ctx->target);
    ctx->target = NULL;
    ln_uses_drop(ctx->uses);
    ctx->uses = NULL;
    ln_context_free(ctx->failover);
    ctx->failover = NULL;
    ctx->has_stale_failover = false;
    memset(ctx->mem_sizes, 0, sizeof ctx->mem_sizes);
    memset(ctx->static_sizes, 0, sizeof ctx->static_sizes);
    memset(ctx->load_sizes, 0, sizeof ctx->load_sizes);
}

void ln_context_forget(ln_context *ctx)
{
    ln_context_forget_plan(ctx);
    ln_compiled_destroy(ctx->compiled);
    ctx->compiled = NULL;
    ln_free(ctx->source);
    ctx->source = NULL;
    ln_free(ctx->weights);
    ctx->weights = NULL;
    ln_free(ctx->weights_from);
    ctx->weights_from = NULL;
    ln_held_info_release(ctx->info);
    ctx->info = NULL;
    ln_hash_free(ctx->graphs);
    ctx->graphs = NULL;
    if (ctx->plans)
        ctx->plans->destroy(ctx->plans);
    ctx->plans = NULL;
    ctx->constants = NULL;
    if (ctx->range)
        ctx->range->release(ctx->range);
    ctx->range = NULL;
    ctx->envelope = NULL;
    ln_free(ctx->datafile);
    ctx->datafile = NULL;
    ln_attached_release(ctx->attached);
    ctx->attached = NULL;
    ln_scratch_free_kept(ctx);
    ln_meter_keep_at_most(ctx->meter, 0); // values that the program holds on to keep the meter
    ln_meter_release(ctx->meter);
    ctx->meter = NULL;
    ln_meter_release(ctx->known_meter);
    ctx->known_meter = NULL;
    ctx->is_known_short = 0;
    ctx->had_missing = 0;
}

ln_status ln_context_set_limits_sized(ln_context *ctx, const ln_limits *limits, size_t byte_count)
{
    if (!ctx)
        return LN_FAIL(LN_INVALID, "the context is NULL");
    ln_limits whole = default_limits;
    size_t least = LN_SIZE_UP_TO(ln_limits, source_byte_count);
    if (limits)
        LN_TRY(ln_sized_read(&whole, sizeof whole, limits, byte_count, least, "ln_limits"));
    ctx->limits = whole;
    size_t cursor = 0;
    void *graph;
    while (ctx->graphs && ln_hash_next(ctx->graphs, &cursor, NULL, &graph))
        ((ln_context *)graph)->limits = ctx->limits;
    return LN_OK;
}

void(ln_context_set_limits)(ln_context *ctx, const ln_limits *limits)
{
    (void)ln_context_set_limits_sized(ctx, limits, LN_SIZE_UP_TO(ln_limits, work));
}

void ln_context_get_limits_sized(const ln_context *ctx, ln_limits *out_limits, size_t byte_count)
{
    const ln_limits *limits = ctx ? &ctx->limits : &default_limits;
    ln_sized_write(out_limits, byte_count, limits, sizeof *limits);
}

ln_status ln_context_set_observer_sized(ln_context *ctx, const ln_observer *observer,
                                        size_t byte_count)
{
    if (!ctx)
        return LN_FAIL(LN_INVALID, "the context is NULL");
    ln_observer *whole = NULL;
    if (observer) {
        size_t least = LN_SIZE_UP_TO(ln_observer, before);
        ln_observer read = {0};
        LN_TRY(ln_sized_read(&read, sizeof read, observer, byte_count, least, "ln_observer"));
        whole = ln_alloc(sizeof *whole);
        if (!whole)
            return LN_NO_MEMORY;
        *whole = read;
    }
    ln_free(ctx->observer);
    ctx->observer = whole;
    return LN_OK;
}

void(ln_context_set_observer)(ln_context *ctx, const ln_observer *observer)
{
    (void)ln_context_set_observer_sized(ctx, observer, LN_SIZE_UP_TO(ln_observer, user));
}

void ln_context_set_strict(ln_context *ctx, int is_strict)
{
    if (ctx)
        ctx->is_strict = is_strict != 0;
}

size_t ln_context_data_size(ln_context *ctx, const char *tname)
{
    return ln_tensor_table_data_size(ctx ? ctx->tensor_table : NULL, tname);
}

ln_status ln_context_set_timeout(ln_context *ctx, double seconds)
{
    if (!ctx)
        return LN_FAIL(LN_INVALID, "the context is NULL");
    if (!(seconds >= 0))
        return LN_FAIL(LN_INVALID, "a time limit is 0 s, for none, or more, not %g s", seconds);
    ctx->timeout = seconds;
    return LN_OK;
}

ln_status ln_context_set_priority(ln_context *ctx, int priority)
{
    if (!ctx)
        return LN_FAIL(LN_INVALID, "the context is NULL");
    if (priority < LN_PRIORITY_LEAST || priority > LN_PRIORITY_MOST)
        return LN_FAIL(LN_INVALID, "a priority of %d is not from %d to %d", priority,
                       LN_PRIORITY_LEAST, LN_PRIORITY_MOST);
    ctx->priority = priority;
    return LN_OK;
}

ln_status ln_context_set_cancel(ln_context *ctx, ln_cancel *cancel)
{
    if (!ctx)
        return LN_FAIL(LN_INVALID, "the context is NULL");
    ln_cancel_retain(cancel); // first: it may be the one that is held
    ln_cancel_release(ctx->cancel);
    ctx->cancel = cancel;
    return LN_OK;
}

// ---- Operators, work ----

int ln_op_is_type(const ln_op_arg *arg, const char *name)
{
    size_t len = strlen(name);
    return strncmp(arg->optype, name, len) == 0 &&
           (arg->optype[len] == '\0' ||
            (arg->optype[len] == '_' && ln_streq(arg->optype + len + 1, arg->arch)));
}

int ln_op_is_input(const ln_op_arg *arg)
{
    return ln_op_is_type(arg, "input");
}

int ln_op_is_filled(const ln_op *op, const ln_tensor_entry *entry)
{
    return !op->op_arg->tensors_in && !op->run && !op->static_run && !entry->isstatic;
}

double ln_context_macs(const ln_context *ctx)
{
    double macs = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx ? ctx->ops : NULL)
        macs += ln_op_macs(op);
    return macs;
}

double ln_context_cost(const ln_context *ctx)
{
    double cost = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx ? ctx->ops : NULL)
        cost += ln_op_cost(op);
    return cost;
}

double ln_context_run_cost(const ln_context *ctx)
{
    double cost = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        if (op->run && !ln_op_is_constant(op))
            cost += ln_op_cost(op);
    return cost;
}

// ---- Consistency ----

static ln_status check_inputs(const ln_context *ctx, const ln_op *op, const ln_hash *defined)
{
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, op->op_arg->tensors_in) {
        if (ln_hash_find(defined, in->name))
            continue;
        if (ln_tensor_table_find(ctx->tensor_table, in->name))
            return LN_FAIL(LN_INVALID, "operator '%s' reads tensor '%s' before it is made",
                           op->op_arg->name, in->name);
        return LN_FAIL(LN_INVALID, "operator '%s' reads tensor '%s', which no operator makes",
                       op->op_arg->name, in->name);
    }
    return LN_OK;
}

static ln_status check_outputs(const ln_context *ctx, const ln_op *op, ln_hash *defined)
{
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, out->name);
        if (!entry)
            return LN_FAIL(LN_INVALID, "tensor '%s' of operator '%s' is not in the tensor table",
                           out->name, op->op_arg->name);
        if (!ln_streq(entry->creater, op->op_arg->name))
            return LN_FAIL(LN_INVALID, "tensor '%s' of operator '%s' has creater '%s'", out->name,
                           op->op_arg->name, entry->creater ? entry->creater : "(null)");
        if (ln_hash_insert(defined, entry->name, entry) < 0)
            return ln_error_status();
    }
    return LN_OK;
}

static ln_status check_op(const ln_context *ctx, const ln_op *op, ln_hash *defined)
{
    if (!op || !op->op_arg || !op->op_arg->name)
        return LN_FAIL(LN_INVALID, "the operator list holds an operator without a name");
    if (ln_op_table_find(ctx->op_table, op->op_arg->name) != op)
        return LN_FAIL(LN_INVALID, "operator '%s' of the list is not in the operator table",
                       op->op_arg->name);
    const ln_graph_node *node = ln_hash_find(ctx->dfg->node_table, op->op_arg->name);
    if (!node || node->data != op)
        return LN_FAIL(LN_INVALID, "operator '%s' of the list is not in the data flow graph",
                       op->op_arg->name);
    LN_TRY(check_inputs(ctx, op, defined));
    return check_outputs(ctx, op, defined);
}

static ln_status check_all(const ln_context *ctx, ln_hash *defined)
{
    int op_count = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        LN_TRY(check_op(ctx, op, defined));
        op_count++;
    }
    if (op_count != ln_hash_size(ctx->op_table) || op_count != (int)ctx->dfg->graph->size)
        return LN_FAIL(LN_INVALID,
                       "%d operators are in the list, %d in the table, %zu in the data flow graph",
                       op_count, ln_hash_size(ctx->op_table), ctx->dfg->graph->size);
    if (ln_hash_size(defined) != ln_hash_size(ctx->tensor_table))
        return LN_FAIL(LN_INVALID, "%d tensors are in the table, but operators make %d",
                       ln_hash_size(ctx->tensor_table), ln_hash_size(defined));
    return ln_dfg_check(ctx->dfg) ? LN_OK : ln_error_status();
}

int ln_context_check(const ln_context *ctx)
{
    if (!ctx) {
        ln_fail(LN_INVALID, "the context is NULL");
        return 0;
    }
    ln_hash *defined = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    if (!defined)
        return 0;
    ln_status status = check_all(ctx, defined);
    if (status == LN_OK)
        status = ln_context_check_ends(ctx);
    ln_hash_free(defined);
    return status == LN_OK;
}
