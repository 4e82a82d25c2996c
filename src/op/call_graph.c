// SPDX-License-Identifier: Apache-2.0
// Running the graphs that If, Loop, Scan and their like name.
//
// A graph is a context of its own. Its `input` operators without `capture` are its inputs in order;
// those with it stand for tensors of the model around it, whose values are taken once for each call
// of `compute`.

#include "op/call.h"

#include <lightnet/allocator.h>
#include <lightnet/context.h>
#include <lightnet/op_support.h>

#include "base/deadline.h"
#include "ir/context.h"
#include "ir/open.h"
#include "ir/phase.h"

// Work units of a run of a graph, besides those of its operators.
#define RUN_COST 2000

// Graphs that run inside each other at most.
#define MAX_NESTED 128

static ln_status find_graph(ln_call *call, const char *param, ln_context **out_graph)
{
    const char *name = ln_call_string(call, param);
    *out_graph =
        name && call->op_arg->context ? ln_context_find_graph(call->op_arg->context, name) : NULL;
    if (!*out_graph)
        return ln_call_fail(call, LN_NOT_FOUND, "param '%s': there is no graph '%s'", param,
                            name ? name : "");
    return LN_OK;
}

static bool is_captured(const ln_op_arg *arg)
{
    const ln_param_entry *param = ln_param_list_find(arg->params, "capture");
    return param && param->value_bool;
}

ln_status ln_call_graph_arity(ln_call *call, const char *param, int *out_in_count,
                              int *out_out_count)
{
    *out_in_count = *out_out_count = 0;
    ln_context *graph;
    LN_TRY(find_graph(call, param, &graph));
    const ln_op *op;
    LN_LIST_FOREACH (op, graph->ops)
        if (ln_op_is_type(op->op_arg, "input") && !is_captured(op->op_arg))
            ++*out_in_count;
    *out_out_count = (int)ln_context_output_count(graph);
    return LN_OK;
}

tl_dtype ln_call_graph_out_dtype(ln_call *call, const char *param, int index)
{
    ln_context *graph;
    if (find_graph(call, param, &graph) != LN_OK)
        return TL_DTYPE_INVALID;
    const ln_op *op;
    LN_LIST_FOREACH (op, graph->ops) {
        if (!ln_op_is_type(op->op_arg, "output") || index-- > 0)
            continue;
        const ln_param_entry *dtype = ln_param_list_find(op->op_arg->params, "dtype");
        bool is_stated = dtype && dtype->type == LN_PARAM_STRING;
        return is_stated ? tl_dtype_from_str(dtype->value_string) : TL_DTYPE_INVALID;
    }
    return TL_DTYPE_INVALID;
}

// ---- Inputs ----

// The value of tensor `name` of the model around the graph, by the operator's list of inputs.
static ln_status take_captured(ln_call *call, const char *name, ln_object **out_object)
{
    *out_object = NULL;
    int index = 0;
    const ln_list *node = call->op_arg->tensors_in;
    while (node && !ln_streq(((const ln_tensor_list_entry *)node->data)->name, name)) {
        node = node->next;
        index++;
    }
    if (!node)
        return ln_call_fail(call, LN_INVALID, "its graph reads tensor '%s', which it does not list",
                            name);
    if (!call->captured) {
        int count = ln_list_length(call->op_arg->tensors_in);
        call->captured = ln_alloc_array((size_t)count, sizeof *call->captured);
        if (!call->captured)
            return ln_op_fail_recorded(call->op_arg);
        call->captured_count = count;
    }
    if (!call->captured[index]) {
        const ln_tensor_entry *entry = ln_tensor_table_find(call->op_arg->tensor_table, name);
        if (!entry->held)
            LN_TRY(ln_call_charge_units(call, entry->tensor->len));
        call->captured[index] = entry->held
                                    ? ln_object_retain(entry->held)
                                    : ln_object_copy_tensor(entry->tensor, ln_call_meter(call));
        if (!call->captured[index])
            return ln_op_fail_recorded(call->op_arg);
    }
    *out_object = call->captured[index];
    return LN_OK;
}

// The list itself stays for the next call.
void ln_call_release_captured(ln_call *call)
{
    for (int i = 0; i < call->captured_count; i++) {
        ln_object_release(call->captured[i]);
        call->captured[i] = NULL;
    }
}

static ln_status set_inputs(ln_call *call, ln_context *graph, int in_count, ln_object *const *ins)
{
    int given = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, graph->ops) {
        if (!ln_op_is_type(op->op_arg, "input"))
            continue;
        const ln_tensor_list_entry *out = op->op_arg->tensors_out->data;
        ln_object *value = NULL;
        if (is_captured(op->op_arg))
            LN_TRY(take_captured(call, out->name, &value));
        else if (given < in_count)
            value = ins[given++];
        else
            return ln_call_fail(call, LN_INVALID, "its graph takes more than %d inputs", in_count);
        ln_open_hold(ln_tensor_table_find(graph->tensor_table, out->name), value);
    }
    if (given < in_count)
        return ln_call_fail(call, LN_INVALID, "its graph takes %d inputs, not %d", given, in_count);
    return LN_OK;
}

// ---- Outputs ----

static ln_status take_outputs(ln_call *call, ln_context *graph, int out_count, ln_object **outs)
{
    size_t count = ln_context_output_count(graph);
    if (count != (size_t)out_count)
        return ln_call_fail(call, LN_INVALID, "its graph has %zu outputs, not %d", count,
                            out_count);
    for (int i = 0; i < out_count; i++) {
        const ln_tensor_entry *entry = ln_context_output(graph, (size_t)i);
        if (!entry->held)
            LN_TRY(ln_call_charge_units(call, entry->tensor->len));
        outs[i] = entry->held ? ln_object_retain(entry->held)
                              : ln_object_copy_tensor(entry->tensor, ln_call_meter(call));
        if (!outs[i])
            return ln_op_fail_recorded(call->op_arg);
    }
    return LN_OK;
}

// While a model is planned, what is over the budget is left to the run.
ln_status ln_call_charge_units(ln_call *call, double units)
{
    ln_context *ctx = call->op_arg->context;
    if (ctx && ln_deadline_passed()) {
        const ln_op op = {.op_arg = call->op_arg};
        return ln_phase_check(ctx, &op);
    }
    if (ln_phase_take(ctx, units))
        return LN_OK;
    const ln_context *root = ln_context_root(ctx);
    call->is_over_budget = root->phase <= LN_PHASE_PLAN;
    return ln_call_fail(call, LN_LIMIT,
                        "goes on beyond the limit of %.4g work units, about %.3g s of one core "
                        "(--work, ln_limits.work)",
                        root->work_limit, root->work_limit * 1e-9);
}

ln_status ln_call_charge(ln_call *call, double steps)
{
    return call->is_counting ? LN_OK : ln_call_charge_units(call, steps * call->step_cost);
}

// What ran last keeps no memory until it runs again.
static void let_values_go(ln_context *graph)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, graph->ops) {
        if (!ln_op_is_type(op->op_arg, "input"))
            continue;
        const ln_tensor_list_entry *out = op->op_arg->tensors_out->data;
        ln_open_drop(ln_tensor_table_find(graph->tensor_table, out->name));
    }
    size_t count = ln_context_output_count(graph);
    for (size_t i = 0; i < count; i++) {
        const ln_tensor_entry *entry = ln_context_output(graph, i);
        if (entry->is_open && !entry->isstatic)
            ln_open_drop(ln_tensor_table_find(graph->tensor_table, entry->name));
    }
}

static ln_status run_on(ln_call *call, ln_context *graph, int in_count, ln_object *const *ins,
                        int out_count, ln_object **outs)
{
    LN_TRY(set_inputs(call, graph, in_count, ins));
    ln_status status = graph->runner->run(graph);
    if (status == LN_TIMEOUT || status == LN_CANCELLED)
        return call->op_arg->status = status; // the message names the operator inside
    if (status != LN_OK)
        return ln_call_fail(call, status, "%s", ln_error_message());
    return take_outputs(call, graph, out_count, outs);
}

// The operators of a graph have one state: it cannot run while it runs. Each graph inside another
// takes some of the stack, whose end nobody can see.
static ln_status check_nesting(ln_call *call, const ln_context *graph, const ln_context *root)
{
    if (graph->running_graphs)
        return ln_call_fail(call, LN_INVALID, "its graph runs itself");
    if (root->running_graphs >= MAX_NESTED)
        return ln_call_fail(call, LN_LIMIT, "more than %d graphs run inside each other",
                            MAX_NESTED);
    return LN_OK;
}

ln_status ln_call_run_graph(ln_call *call, const char *param, int in_count, ln_object *const *ins,
                            int out_count, ln_object **outs)
{
    for (int i = 0; i < out_count; i++)
        outs[i] = NULL;
    ln_context *graph;
    LN_TRY(find_graph(call, param, &graph));
    if (!graph->runner)
        return ln_call_fail(call, LN_STATE, "its graph is not loaded");
    LN_TRY(ln_call_charge_units(call, RUN_COST + ln_context_run_cost(graph)));
    ln_context *root = ln_context_root(graph);
    LN_TRY(check_nesting(call, graph, root));
    root->running_graphs++;
    graph->running_graphs = 1;
    ln_status status = run_on(call, graph, in_count, ins, out_count, outs);
    let_values_go(graph);
    graph->running_graphs = 0;
    root->running_graphs--;
    for (int i = 0; i < out_count && status != LN_OK; i++) {
        ln_object_release(outs[i]);
        outs[i] = NULL;
    }
    return status;
}
