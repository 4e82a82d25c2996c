// SPDX-License-Identifier: Apache-2.0
// Loading and running: memory, weights, the static part once, then the operators again and again.
//
// What `run` needs is laid out by `load` in one array, so that a run walks it and allocates
// nothing. Neighbours of an arch that runs groups become one step.

#include <lightnet/context.h>

#include <stdbool.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/arch.h>
#include <lightnet/msg.h>
#include <lightnet/op_support.h>
#include <lightnet/tensor_file.h>
#include <lightnet/util.h>

#include "arch/device.h"
#include "arch/registry.h"
#include "base/checked.h"
#include "base/error_state.h"
#include "base/name_hash.h"
#include "compile/constants.h"
#include "compile/failover.h"
#include "compile/given_again.h"
#include "compile/preset.h"
#include "compile/runner.h"
#include "compile/threads.h"
#include "ir/attached.h"
#include "ir/bound.h"
#include "ir/context.h"
#include "ir/dfg.h"
#include "ir/fill.h"
#include "ir/graph_order.h"
#include "ir/op_life.h"
#include "ir/open.h"
#include "ir/phase.h"
#include "ir/progress.h"
#include "ir/scratch.h"
#include "op/call.h"
#include "op/call_prepare.h"
#include "run/group.h"
#include "run/run.h"
#include "run/step.h"
#include "tensor/meter.h"

// ---- Steps ----

// One step of a run: a group on a device, an operator in call form, or one of a user.
typedef struct run_step {
    ln_step step;
    bool is_group;
    double cost;             // when it is done
    size_t wait;             // of one that starts a group: the step that waits for it
    ln_tensor_entry **ended; // open tensors that nobody reads any more; in `runner.ended`
    size_t ended_count;
} run_step;

typedef struct runner {
    struct ln_runner base;
    run_step *steps;
    ln_op **ops; // of each step the only or first one, for messages and observers
    size_t step_count;
    unsigned version; // of the parameters and constants, for which calls know what to do
    ln_tensor_entry **ended;
    ln_tensor_entry **made; // open tensors that a run gives values
    size_t made_count;
    double cost; // ln_context_run_cost
} runner;

static ln_status run_steps(const ln_context *ctx);

// ---- The runner ----

static void runner_destroy(struct ln_runner *base)
{
    runner *r = (runner *)base;
    if (!r)
        return;
    for (size_t i = 0; i < r->base.group_count; i++)
        ln_group_destroy(r->base.groups[i]);
    ln_free(r->base.groups);
    ln_free(r->steps);
    ln_free(r->ops);
    ln_free(r->ended);
    ln_free(r->made);
    ln_free(r);
}

static void add_step(runner *r, ln_op *op, ln_step step)
{
    r->ops[r->step_count] = op;
    r->steps[r->step_count++] = (run_step){.step = step, .cost = ln_op_cost(op)};
}

// Makes one group of the operators from *position on that share its arch, and moves past them.
static ln_status add_group(runner *r, const ln_arch *arch, ln_list **position)
{
    ln_group *group;
    LN_TRY(ln_group_create(arch, *position, &group));
    r->base.groups[r->base.group_count++] = group;
    add_step(r, (*position)->data, (ln_step){ln_group_run, group, group->addresses});
    r->steps[r->step_count - 1].is_group = true;
    r->steps[r->step_count - 1].cost = group->cost;
    for (size_t i = 0; i < group->op_count; i++)
        *position = (*position)->next;
    return LN_OK;
}

// The step of the group becomes two: its start, and this one.
static void add_wait(runner *r, ln_group *group, ln_op *wait)
{
    size_t start = 0;
    while (r->steps[start].step.block != group)
        start++;
    r->steps[start].step.function = ln_group_start;
    r->steps[start].wait = r->step_count;
    r->steps[start].cost = 0;
    add_step(r, wait, (ln_step){ln_group_wait, group, group->addresses});
    r->steps[r->step_count - 1].is_group = true;
    r->steps[r->step_count - 1].cost = group->cost;
}

static ln_status run_op(void *block, tl_tensor *const *addresses)
{
    const ln_op *op = block;
    (void)addresses;
    op->op_arg->status = LN_OK;
    op->run(op->op_arg);
    return op->op_arg->status;
}

static ln_step step_of(ln_op *op)
{
    return op->run == ln_call_run ? (ln_step){ln_step_run_call, ln_call_of(op->op_arg), NULL}
                                  : (ln_step){run_op, op, NULL};
}

static ln_status add_steps(runner *r, const ln_context *ctx)
{
    ln_list *position = ctx->ops;
    while (position) {
        ln_op *op = position->data;
        const ln_arch *arch = ln_arch_find(op->op_arg->arch);
        if (ln_arch_runs_groups(arch)) {
            LN_TRY(add_group(r, arch, &position));
            continue;
        }
        ln_group *waited = ln_group_of_wait(r->base.groups, r->base.group_count, op);
        if (waited)
            add_wait(r, waited, op);
        else if (op->run && !ln_op_is_constant(op))
            add_step(r, op, step_of(op));
        position = position->next;
    }
    return LN_OK;
}

// ---- The ends of open tensors ----

// True if nobody needs the value after its last reader. What is an input, an output or read by
// nobody stays.
static bool is_ending(const ln_context *ctx, const ln_tensor_entry *entry)
{
    if (!entry->is_open || entry->isstatic || entry->is_input)
        return false;
    ln_dfg_readers readers = ln_dfg_find_readers(ctx->dfg, entry->name);
    bool is_read = false;
    const ln_op *op;
    while ((op = ln_dfg_next_reader(&readers)) != NULL) {
        if (ln_op_is_type(op->op_arg, "output"))
            return false;
        is_read = true;
    }
    return is_read;
}

// Walks the steps from the last to the first: who is met first reads last.
static ln_status note_ended(runner *r, const ln_context *ctx, ln_hash *seen,
                            ln_tensor_entry **ended, size_t *out_count)
{
    size_t count = 0;
    for (size_t s = r->step_count; s-- > 0;) {
        run_step *step = &r->steps[s];
        if (step->is_group)
            continue;
        step->ended = ended ? ended + count : NULL;
        const ln_tensor_list_entry *in;
        LN_LIST_FOREACH (in, r->ops[s]->op_arg->tensors_in) {
            ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, in->name);
            if (!entry->is_open || ln_hash_find(seen, entry->name))
                continue;
            if (ln_hash_insert(seen, entry->name, entry) < 0)
                return LN_NO_MEMORY;
            if (!is_ending(ctx, entry))
                continue;
            if (ended) {
                ended[count] = entry;
                step->ended_count++;
            }
            count++;
        }
    }
    *out_count = count;
    return LN_OK;
}

static ln_status find_ended(runner *r, const ln_context *ctx)
{
    for (int pass = 0; pass < 2; pass++) {
        ln_hash *seen = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
        if (!seen)
            return LN_NO_MEMORY;
        size_t count = 0;
        ln_status status = note_ended(r, ctx, seen, r->ended, &count);
        ln_hash_free(seen);
        LN_TRY(status);
        if (count == 0)
            return LN_OK;
        if (!r->ended)
            r->ended = ln_alloc_array(count, sizeof(ln_tensor_entry *));
        if (!r->ended)
            return LN_NO_MEMORY;
    }
    return LN_OK;
}

static ln_status find_made(runner *r, const ln_context *ctx)
{
    r->made = ln_alloc_array((size_t)ln_hash_size(ctx->tensor_table) + 1, sizeof *r->made);
    if (!r->made)
        return LN_NO_MEMORY;
    size_t cursor = 0;
    void *value;
    while (ln_hash_next(ctx->tensor_table, &cursor, NULL, &value)) {
        ln_tensor_entry *entry = value;
        if (entry->is_open && !entry->isstatic && !entry->is_input)
            r->made[r->made_count++] = entry;
    }
    return LN_OK;
}

static unsigned version_of(const ln_context *ctx)
{
    const ln_context *root = ln_context_root((ln_context *)(uintptr_t)ctx);
    return root->params_version + root->constants_version;
}

static void reset_calls(runner *r, unsigned version)
{
    for (size_t i = 0; i < r->step_count; i++)
        if (r->steps[i].step.function == ln_step_run_call)
            ln_call_reset_step(r->steps[i].step.block);
    r->version = version;
}

static ln_status finish_groups(const struct ln_runner *base, const ln_context *caller)
{
    for (size_t i = 0; i < base->group_count; i++)
        if (caller)
            LN_TRY(ln_group_finish_in_time(caller, base->groups[i], NULL));
        else
            ln_group_finish(base->groups[i], NULL);
    return LN_OK;
}

static ln_status rebuild(struct ln_runner **runner_p, const ln_context *ctx)
{
    struct ln_runner *new_runner;
    LN_TRY(ln_runner_create(ctx, &new_runner));
    runner_destroy(*runner_p);
    *runner_p = new_runner;
    return LN_OK;
}

// ---- Constants that change ----

static bool reads_any(const ln_op *op, const ln_hash *changed)
{
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, op->op_arg->tensors_in)
        if (ln_hash_find(changed, in->name))
            return true;
    return false;
}

static ln_status add_outputs(const ln_context *ctx, const ln_op *op, ln_hash *changed)
{
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, out->name);
        if (entry && entry->isstatic && ln_hash_insert(changed, out->name, changed) < 0)
            return LN_NO_MEMORY;
    }
    return LN_OK;
}

// A device computes with the shapes that the plan has; the host asks for them in each run.
static ln_status check_grouped(const ln_op *op)
{
    const ln_call *call = ln_call_of(op->op_arg);
    if (!call || !call->has_read_constants || !ln_arch_runs_groups(ln_arch_find(op->op_arg->arch)))
        return LN_OK;
    return LN_FAIL(LN_UNSUPPORTED,
                   "operator '%s' (%s) is computed by device '%s' with the shapes that its "
                   "constants had in the plan; set them before compiling, or compile the model "
                   "without the device",
                   op->op_arg->name, op->op_arg->optype, op->op_arg->arch);
}

static ln_status walk_changed(const ln_context *ctx, const ln_op *first, ln_hash *changed)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (op != first && !reads_any(op, changed))
            continue;
        LN_TRY(check_grouped(op));
        LN_TRY(add_outputs(ctx, op, changed));
    }
    return LN_OK;
}

static ln_status check_change(const ln_context *ctx, const ln_op *first, const char *tname)
{
    ln_hash *changed = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    ln_status status = changed ? LN_OK : LN_NO_MEMORY;
    if (status == LN_OK && tname && ln_hash_insert(changed, tname, changed) < 0)
        status = LN_NO_MEMORY;
    if (status == LN_OK)
        status = walk_changed(ctx, first, changed);
    ln_hash_free(changed);
    return status;
}

// ---- Making it ----

ln_status ln_runner_create(const ln_context *ctx, struct ln_runner **out_runner)
{
    *out_runner = NULL;
    size_t op_count = (size_t)ln_list_length(ctx->ops);
    runner *r = ln_alloc(sizeof *r);
    if (!r)
        return LN_NO_MEMORY;
    r->base = (struct ln_runner){.destroy = runner_destroy,
                                 .rebuild = rebuild,
                                 .check_change = check_change,
                                 .finish = finish_groups,
                                 .run = run_steps};
    r->steps = ln_alloc_array(op_count, sizeof *r->steps);
    r->ops = ln_alloc_array(op_count, sizeof(ln_op *));
    r->base.groups = ln_alloc_array(op_count, sizeof(ln_group *));
    ln_status status = r->steps && r->ops && r->base.groups ? add_steps(r, ctx) : LN_NO_MEMORY;
    if (status == LN_OK)
        status = find_ended(r, ctx);
    if (status == LN_OK)
        status = find_made(r, ctx);
    if (status != LN_OK) {
        runner_destroy(&r->base);
        return status;
    }
    r->cost = ln_context_run_cost(ctx);
    reset_calls(r, version_of(ctx));
    *out_runner = &r->base;
    return LN_OK;
}

// ---- Loading ----

// Without a data file the model runs all the same, on zeros; that is rarely what is meant.
static void warn_about_missing_weights(size_t count)
{
    if (count > 0)
        ln_msg_warn("%zu tensor%s should come from a data file, but none is given: they are zero",
                    count, count == 1 ? "" : "s");
}

// An operator that leaves early because time is up may say so in any way.
static ln_status finish(const ln_context *ctx, const ln_op *op, ln_status status)
{
    ln_status late = ln_phase_check(ctx, op);
    return late != LN_OK ? late : status;
}

// Runs the operators' static part, each once what it takes from a file is there.
static ln_status run_static(ln_context *ctx, const bool *needed, ln_fill *fill)
{
    size_t index = 0;
    ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (needed && !needed[index++])
            continue;
        LN_TRY(ln_preset_input(ctx, op));
        LN_TRY(ln_fill_op(fill, op));
        LN_TRY(finish(ctx, op, ln_op_run_static(op)));
        ln_fill_let_go(ctx, op);
    }
    return LN_OK;
}

// Whether what is made stays only while the model is loaded. Of plans that share their constants
// that is rare, and the memory as large as the largest weights.
static bool makes_loads(const ln_context *ctx, const bool *needed)
{
    size_t index = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (needed && !needed[index++])
            continue;
        const ln_tensor_list_entry *out;
        LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
            const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, out->name);
            if (!entry || entry->is_load)
                return true;
        }
    }
    return false;
}

static ln_status make_constants(ln_context *ctx)
{
    ln_fill fill = {.ctx = ctx};
    ln_memory *memory = NULL;
    bool *needed = NULL; // NULL: all are
    ln_status status = ln_fill_open(&fill);
    if (status == LN_OK && ctx->constants)
        status = ln_constants_find_needed(ctx, &needed);
    if (status == LN_OK && makes_loads(ctx, needed))
        status = ln_context_take_load_memory(ctx, &memory);
    fenv_t callers;
    ln_run_begin(ctx->pool, &callers);
    if (status == LN_OK)
        status = run_static(ctx, needed, &fill);
    ln_run_end(ctx->pool, &callers);
    ln_context_give_load_memory(ctx, memory);
    ln_fill_close(&fill);
    ln_free(needed);
    if (status == LN_OK)
        warn_about_missing_weights(fill.missing_count);
    return status;
}

static ln_status add_planned(ln_context *graph, void *user)
{
    size_t *planned = user;
    if (!ln_size_add(*planned, graph->mem_sizes[LN_MEM_CPU], planned))
        *planned = SIZE_MAX;
    return LN_OK;
}

// Values of dynamic shape, and the workspace of their operators, take what the plans of the model
// and its graphs leave of the limit.
ln_status ln_context_need_meter(ln_context *ctx, const ln_context *planned_ctx)
{
    if (ctx->outer)
        return LN_OK;
    size_t planned = planned_ctx->mem_sizes[LN_MEM_CPU], limit = ctx->limits.memory_byte_count;
    LN_TRY(ln_context_each_graph(planned_ctx, add_planned, &planned));
    ln_meter *meter = ln_meter_create(limit > planned ? limit - planned : 0);
    if (!meter)
        return LN_NO_MEMORY;
    ln_scratch_free_kept(ctx);
    ln_meter_keep_at_most(ctx->meter, 0);
    ln_meter_release(ctx->meter); // objects of an earlier load may still be charged to it
    ln_meter_keep_at_most(meter, ln_scratch_max_kept(limit));
    ctx->meter = meter;
    return LN_OK;
}

// A graph that is computed once runs those that its operators name, so these are there before it.
static ln_status load_graphs(ln_context *ctx)
{
    ln_named_graph *graphs;
    size_t count;
    LN_TRY(ln_graph_order_create(ctx, &graphs, &count));
    ln_status status = LN_OK;
    for (size_t i = 0; i < count && status == LN_OK; i++)
        status = ln_context_load(graphs[i].graph, ctx->datafile);
    ln_free(graphs);
    return status;
}

// Operators that will run read their parameters and constants once. Those whose results are
// constants have done so where they have run, and where the results are another plan's, what they
// read may not be there.
static ln_status prepare_ops(ln_context *ctx)
{
    ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (!op->run || ln_op_is_constant(op))
            continue;
        ln_call_settle(op->op_arg);
        LN_TRY(finish(ctx, op, ln_op_call(op, ln_call_prepare)));
    }
    return LN_OK;
}

static void unprepare_ops(ln_context *ctx)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        ln_call_unprepare(op->op_arg);
}

static ln_status unload_graph(ln_context *graph, void *user)
{
    (void)user;
    ln_context_unload(graph);
    return LN_OK;
}

// Compiling has opened them; a compiled file is read without.
static ln_status need_devices(const ln_context *ctx)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        const ln_arch *arch = ln_arch_find(op->op_arg->arch);
        if (arch)
            LN_TRY(ln_arch_need_device(ctx, arch));
    }
    return LN_OK;
}

static ln_status load(ln_context *ctx, const char *datafile)
{
    if (!ctx)
        return LN_FAIL(LN_INVALID, "the context is NULL");
    if (ctx->state < LN_CONTEXT_PLANNED)
        return LN_FAIL(LN_STATE, "the model is not compiled; call ln_context_compile first");
    if (ctx->state == LN_CONTEXT_LOADED)
        return LN_FAIL(LN_STATE, "the model is loaded already");

    if (datafile && !ctx->outer && ln_attached_count(ctx->attached) > 0)
        LN_TRY(ln_context_check_given_again(ctx, datafile));
    const bool is_unused = datafile && !ctx->outer && ln_attached_count(ctx->attached) == 0 &&
                           !ctx->had_missing && !ln_context_missing(ctx, 0);
    char *kept = datafile ? ln_strdup(datafile) : NULL;
    if (datafile && !kept)
        return LN_NO_MEMORY;
    ln_free(ctx->datafile);
    ctx->datafile = kept;
    LN_TRY(need_devices(ctx));
    LN_TRY(ln_context_need_meter(ctx, ctx));
    LN_TRY(ln_context_need_threads(ctx));
    LN_TRY(ln_context_alloc_mem(ctx));
    if (!ctx->outer)
        ctx->work_left = ctx->limits.work; // of all that its graphs and it compute once
    ln_status status = load_graphs(ctx);
    if (status == LN_OK)
        status = make_constants(ctx);
    if (status == LN_OK)
        status = prepare_ops(ctx);
    if (status == LN_OK)
        status = ln_runner_create(ctx, &ctx->runner);
    if (status != LN_OK) {
        (void)ln_context_each_graph(ctx, unload_graph, NULL);
        unprepare_ops(ctx);
        ln_context_free_mem(ctx);
        return status;
    }
    (void)ln_context_input_count(ctx); // lists them, which runs have no memory for
    ctx->state = LN_CONTEXT_LOADED;
    if (is_unused) {
        ln_msg_warn("%s has no effect: the model takes no weights from a file", datafile);
        ln_free(ctx->datafile); // for other shapes it is not said again
        ctx->datafile = NULL;
    }
    return LN_OK;
}

static ln_status load_failover(ln_context *ctx, const char *datafile)
{
    ln_context_unload(ctx->failover); // where the memory of `ctx` alone was given back
    ln_context_share_threads(ctx->failover, ctx);
    ln_status status = ln_context_load(ctx->failover, datafile);
    if (status == LN_OK)
        return LN_OK;
    ln_error_state reason;
    ln_error_save(&reason);
    ln_context_unload(ctx);
    ln_error_restore(&reason);
    return status;
}

static ln_status load_all(ln_context *ctx, const char *datafile)
{
    LN_TRY(load(ctx, datafile));
    ctx->has_stale_failover = false;
    return ctx->failover ? load_failover(ctx, ctx->datafile) : LN_OK;
}

ln_status ln_context_load(ln_context *ctx, const char *datafile)
{
    ln_phase phase;
    ln_phase_begin(ctx, LN_PHASE_LOAD, &phase);
    return ln_phase_end(&phase, load_all(ctx, datafile));
}

void ln_context_unload_alone(ln_context *ctx)
{
    if (ctx->state != LN_CONTEXT_LOADED)
        return;
    (void)ln_context_each_graph(ctx, unload_graph, NULL);
    unprepare_ops(ctx);
    ln_context_free_mem(ctx);
}

void ln_context_unload(ln_context *ctx)
{
    if (!ctx || ctx->state != LN_CONTEXT_LOADED)
        return;
    ln_context_unload_alone(ctx);
    ln_context_unload(ctx->failover);
    ln_meter_keep_at_most(ctx->meter, 0);
    if (ctx->plans)
        ctx->plans->unload(ctx->plans, ctx);
}

// ---- Running ----

static ln_status run_observed(const ln_step *step, const ln_op *op, const ln_observer *observer)
{
    if (observer->before)
        observer->before(observer->user, op);
    LN_TRY(ln_step_run(step));
    if (observer->after)
        observer->after(observer->user, op);
    return LN_OK;
}

// Where a run ends after `done` steps, failed waits among them: what these have started is over
// when the run is.
static void settle(const runner *r, size_t done)
{
    ln_error_state reason;
    ln_error_save(&reason);
    for (size_t i = 0; i < done; i++) {
        const run_step *step = &r->steps[i];
        if (step->step.function == ln_group_start && step->wait >= done)
            (void)ln_group_wait(step->step.block, step->step.addresses);
    }
    ln_error_restore(&reason);
}

static ln_status run_step_at(const ln_context *ctx, const runner *r, size_t i)
{
    const run_step *step = &r->steps[i];
    const ln_op *op = r->ops[i];
    ln_status status =
        ctx->observer ? run_observed(&step->step, op, ctx->observer) : ln_step_run(&step->step);
    bool is_done = status == LN_OK || step->step.function == ln_group_wait;
    status = finish(ctx, op, status);
    if (status != LN_OK)
        settle(r, is_done ? i + 1 : i);
    return status;
}

static double total_cost(const runner *r)
{
    double sum = 0;
    for (size_t i = 0; i < r->step_count; i++)
        sum += r->steps[i].cost;
    return sum;
}

static void drop_made(const runner *r)
{
    for (size_t i = 0; i < r->made_count; i++)
        ln_open_drop(r->made[i]);
}

static ln_status run_steps(const ln_context *ctx)
{
    runner *r = (runner *)ctx->runner;
    if (r->version != version_of(ctx))
        reset_calls(r, version_of(ctx));
    drop_made(r); // what the last run left is not to stand in the way of this one
    LN_TRY(finish_groups(&r->base, ctx));
    struct ln_progress *progress = ctx->outer ? NULL : ctx->progress;
    double done = 0;
    ln_progress_begin(progress, total_cost(r));
    for (size_t i = 0; i < r->step_count; i++) {
        LN_TRY(run_step_at(ctx, r, i));
        ln_progress_set(progress, done += r->steps[i].cost);
        for (size_t k = 0; k < r->steps[i].ended_count; k++)
            ln_open_drop(r->steps[i].ended[k]);
    }
    return LN_OK;
}

// What shapes tell is charged first; operators charge what only they know then.
static ln_status charge_stated(const ln_context *ctx)
{
    const runner *r = (const runner *)ctx->runner;
    if (ln_phase_take((ln_context *)(uintptr_t)ctx, r->cost))
        return LN_OK;
    return LN_FAIL(LN_LIMIT,
                   "a run costs %.4g work units, over the limit of %.4g (--work, ln_limits.work)",
                   r->cost, ctx->work_limit);
}

// A run that needed too much holds on to nothing that others could use.
static void give_back(ln_context *ctx)
{
    drop_made((const runner *)ctx->runner);
    ln_meter_keep_at_most(ctx->meter, ln_scratch_max_kept(ctx->limits.memory_byte_count));
}

ln_status ln_context_run_alone(ln_context *ctx)
{
    fenv_t callers;
    ln_meter_begin_run(ctx->meter);
    ln_run_begin(ctx->pool, &callers);
    ln_status status = charge_stated(ctx);
    if (status == LN_OK)
        status = run_steps(ctx);
    if (status == LN_LIMIT || status == LN_NO_MEMORY)
        give_back(ctx);
    ctx->work_done = ctx->work_limit - ctx->work_left;
    ln_run_end(ctx->pool, &callers);
    return status;
}

// ---- Data ----

ln_tensor_entry *ln_context_find_loaded(const ln_context *ctx, const char *tname)
{
    if (!ctx || ctx->state != LN_CONTEXT_LOADED) {
        ln_fail(LN_STATE, "the model is not loaded; call ln_context_load first");
        return NULL;
    }
    ln_tensor_entry *entry = tname ? ln_tensor_table_find(ctx->tensor_table, tname) : NULL;
    if (!entry)
        ln_fail(LN_NOT_FOUND, "the model has no tensor '%s'", tname ? tname : "(null)");
    else if (entry->mtype != LN_MEM_CPU && entry->mtype != LN_MEM_NONE)
        (void)ln_context_finish_devices(ctx, NULL); // which may write it
    return entry;
}

static ln_status set_value(ln_context *ctx, ln_tensor_entry *entry, const void *data)
{
    LN_TRY(ln_context_make_writable(ctx, entry));
    return ln_tensor_table_set_data(ctx->tensor_table, entry->name, data);
}

static ln_status set_constant(ln_context *ctx, ln_tensor_entry *entry, const void *data)
{
    LN_TRY(ln_context_prepare_static(ctx, entry->name));
    LN_TRY(ln_failover_set_data(ctx, entry->name, data));
    ln_status status = set_value(ctx, entry, data);
    if (status == LN_OK)
        status = ln_context_rerun_static(ctx, NULL, entry->name);
    ctx->has_stale_failover = ctx->has_stale_failover || status != LN_OK;
    return status;
}

ln_status ln_context_set_data(ln_context *ctx, const char *tname, const void *data)
{
    ln_tensor_entry *entry = ln_context_find_loaded(ctx, tname);
    if (!entry)
        return ln_error_status();
    if (!data)
        return LN_FAIL(LN_INVALID, "the data for tensor '%s' are NULL", tname);
    ln_bound_remove(ctx, entry);
    if (entry->is_open)
        return LN_FAIL(LN_STATE,
                       "the shape of tensor '%s' is open: set a value that has a shape, an object "
                       "(ln_context_set_object), or bind the shape before compiling",
                       tname);
    return entry->isstatic ? set_constant(ctx, entry, data) : set_value(ctx, entry, data);
}

void *ln_context_get_data(ln_context *ctx, const char *tname, void *data)
{
    const ln_tensor_entry *entry = ln_context_find_loaded(ctx, tname);
    if (!entry)
        return NULL;
    if (!entry->tensor->data && entry->is_load && data)
        return ln_context_remake(ctx, entry, data) == LN_OK ? data : NULL;
    if (!entry->tensor->data && entry->is_load) {
        ln_fail(LN_STATE, LN_GONE_AFTER_LOAD, tname);
        return NULL;
    }
    if (!data && entry->mtype != LN_MEM_CPU && entry->mtype != LN_MEM_NONE) {
        ln_fail(LN_UNSUPPORTED, "tensor '%s' is in %s; give a buffer, and it is copied there",
                tname, ln_mem_type_title(entry->mtype));
        return NULL;
    }
    if (!data)
        return entry->tensor->data;
    return ln_tensor_table_get_data(ctx->tensor_table, tname, data);
}
