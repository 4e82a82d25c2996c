// SPDX-License-Identifier: Apache-2.0
// IF and WHILE. The subgraphs of an IF become graphs that read the operands of the IF around them:
//
//     y = If(cond, capture1 = x | then_branch, else_branch)
//
// The condition of a WHILE is computed before the loop, and at the end of each pass:
//
//     y = Loop(cond = condition(x), v_initial = x | body: next = body(state); condition(next),
//     next)
//
// Variables come in and go out after their operands and results (carried.c). The handle of one is
// no value: as an operand or result it is known here.

#include "serial/tflite/builder.h"

#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/context.h>
#include <lightnet/param.h>

#include "base/name_hash.h"

// A tensor that goes into a subgraph or comes out of it.
typedef struct value {
    const char *name;
    tl_dtype dtype;
    bool is_handle;
    size_t state; // of a handle; 0: not known yet
} value;

// ---- Graphs of the context ----

// Operators go to a new graph until `close_graph`.
static void open_graph(ln_tflite_op *op, const char *what, ln_tflite_graph *graph)
{
    ln_tflite_builder *b = op->b;
    char wanted[LN_MAX_NAME_LEN];
    ln_tflite_flush(b);
    if (b->graph_count++ == LN_TFLITE_MAX_GRAPHS)
        ln_tflite_stop(b, LN_LIMIT, "operators run more than %d subgraphs", LN_TFLITE_MAX_GRAPHS);
    if (!ln_tflite_is_going(b))
        return;
    snprintf(wanted, sizeof wanted, "%.400s.%s", op->name, what);
    const char *name = ln_tflite_claim(b, b->op_names, wanted);
    ln_hash *numbers = ln_hash_create(ln_name_hash, ln_str_cmp, ln_free, NULL);
    ln_status status = numbers ? b->status : LN_NO_MEMORY;
    if (status == LN_OK)
        status = ln_context_add_graph(b->into, name, &graph->into);
    if (status != LN_OK) {
        ln_hash_free(numbers);
        b->status = status;
        return;
    }
    graph->name = name;
    graph->around = b->graph;
    graph->into_around = b->into;
    graph->numbers_around = b->numbers;
    b->graph = graph;
    b->into = graph->into;
    b->numbers = numbers;
}

static void close_graph(ln_tflite_builder *b, ln_tflite_graph *graph)
{
    ln_tflite_flush(b);
    ln_hash_free(b->numbers);
    ln_tflite_keep_carried(b, graph);
    b->graph = graph->around;
    b->into = graph->into_around;
    b->numbers = graph->numbers_around;
}

void ln_tflite_add_input(ln_tflite_builder *b, const char *name, tl_dtype dtype, bool is_captured)
{
    static const double none;
    ln_tflite_begin(b, "input");
    if (b->node.optype)
        b->node.outs[b->node.out_count++] = name;
    ln_tflite_string(b, "dtype", tl_dtype_name(dtype));
    ln_tflite_numbers(b, "dims", 0, &none);
    ln_tflite_flag(b, "open");
    if (is_captured)
        ln_tflite_flag(b, "capture");
    ln_tflite_flush(b);
}

static void add_output(ln_tflite_builder *b, const char *name)
{
    ln_tflite_begin(b, "output");
    ln_tflite_in(b, name);
    ln_tflite_flush(b);
}

static void add_outputs(ln_tflite_builder *b, const value *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!values[i].is_handle)
            add_output(b, values[i].name);
    }
}

// ---- Subgraphs ----

static void check_type(ln_tflite_op *op, int64_t index, const char *what, size_t i,
                       const ln_tflite_tensor *t, tl_dtype dtype)
{
    if (t->dtype != dtype)
        ln_tflite_problem(op, NULL, "%s %zu of subgraph %lld, '%s', is of %s in place of %s", what,
                          i, (long long)index, t->name, ln_tflite_type_name(t->type),
                          dtype == TL_DTYPE_INVALID ? "an unknown type" : tl_dtype_title(dtype));
}

static bool check_count(ln_tflite_op *op, int64_t index, const char *what, size_t count,
                        size_t wanted)
{
    if (count == wanted)
        return true;
    ln_tflite_problem(op, NULL, "subgraph %lld has %zu %s in place of %zu", (long long)index, count,
                      what, wanted);
    return false;
}

// The subgraph's inputs are the tensors `ins`, which are there.
static void bind(ln_tflite_op *op, int64_t index, ln_flat_vector list, const value *ins)
{
    ln_tflite_builder *b = op->b;
    for (size_t i = 0; i < list.count && ln_tflite_is_going(b); i++) {
        ln_tflite_tensor *t = ln_tflite_end(b, list, i, "input");
        if (!t)
            return;
        check_type(op, index, "input", i, t, ins[i].dtype);
        if (t->is_there)
            ln_tflite_problem(op, NULL, "'%s' is an input of subgraph %lld twice", t->name,
                              (long long)index);
        t->name = ins[i].name;
        t->state = ins[i].state;
        t->is_there = true;
        t->is_const = t->is_variable = false;
    }
}

// Several branches give one handle, and passes that they are given.
static void take_handle(ln_tflite_op *op, int64_t index, size_t i, const ln_tflite_tensor *t,
                        value *out)
{
    if (t->state == 0 || (out->state > 0 && out->state != t->state))
        ln_tflite_problem(op, NULL, "output %zu of subgraph %lld, '%s', is the handle of %s", i,
                          (long long)index, t->name,
                          t->state == 0 ? "no variable" : "another variable");
    out->state = t->state;
}

static void take(ln_tflite_op *op, int64_t index, ln_flat_vector list, value *outs)
{
    ln_tflite_builder *b = op->b;
    for (size_t i = 0; i < list.count && ln_tflite_is_going(b); i++) {
        ln_tflite_tensor *t = ln_tflite_end(b, list, i, "output");
        if (!t)
            return;
        check_type(op, index, "output", i, t, outs[i].dtype);
        ln_tflite_make_output(b, t);
        if (!t->is_there)
            ln_tflite_problem(op, NULL, "no operator makes output %zu of subgraph %lld, '%s'", i,
                              (long long)index, t->name);
        outs[i].name = t->name;
        if (outs[i].is_handle && !op->is_bad)
            take_handle(op, index, i, t, &outs[i]);
    }
}

// Reads a subgraph's operators to where operators go, with the tensors `ins` as its inputs. The
// types of `outs` are wanted, their names found.
static void read_graph(ln_tflite_op *op, int64_t index, const value *ins, size_t in_count,
                       value *outs, size_t out_count)
{
    ln_tflite_builder *b = op->b;
    ln_tflite_level level;
    if (!ln_tflite_enter(op, index, &level))
        return;
    ln_flat_table subgraph = ln_tflite_subgraph(b);
    ln_flat_vector inputs = ln_flat_list(b->file, subgraph, 1, 4);
    ln_flat_vector outputs = ln_flat_list(b->file, subgraph, 2, 4);
    size_t problems = b->report->problem_count;
    if (ln_tflite_is_going(b) && check_count(op, index, "inputs", inputs.count, in_count) &&
        check_count(op, index, "outputs", outputs.count, out_count)) {
        bind(op, index, inputs, ins);
        if (!op->is_bad)
            ln_tflite_read_ops(b);
        if (!op->is_bad && b->report->problem_count == problems)
            take(op, index, outputs, outs);
    }
    ln_tflite_flush(b);
    ln_tflite_leave(b, &level);
}

// ---- Operators ----

// Inputs of the operator from `first` on; NULL after a problem.
static value *list_inputs(ln_tflite_op *op, size_t first)
{
    value *values = ln_alloc((op->ins.count + 1) * sizeof *values);
    if (!values)
        ln_tflite_stop(op->b, LN_NO_MEMORY, "operands");
    for (size_t i = first; values && i < op->ins.count; i++) {
        const ln_tflite_tensor *t = ln_tflite_input(op, i);
        values[i - first] = (value){.name = t->name,
                                    .dtype = t->dtype,
                                    .is_handle = t->state > 0 && !t->is_variable,
                                    .state = t->state};
        if (values[i - first].is_handle)
            continue;
        values[i - first].name = ln_tflite_raw(op, i);
        if (t->dtype == TL_DTYPE_INVALID)
            ln_tflite_problem(op, NULL, "its input '%s' has elements of type %s, which is not read",
                              t->name, ln_tflite_type_name(t->type));
    }
    return values;
}

static value *list_outputs(ln_tflite_op *op)
{
    value *values = ln_alloc((op->outs.count + 1) * sizeof *values);
    if (!values)
        ln_tflite_stop(op->b, LN_NO_MEMORY, "results");
    for (size_t i = 0; values && i < op->outs.count; i++) {
        const ln_tflite_tensor *t = ln_tflite_output(op, i);
        values[i] =
            (value){.name = "", .dtype = t->dtype, .is_handle = t->type == LN_TFLITE_RESOURCE};
    }
    return values;
}

static bool has_ends(ln_tflite_op *op)
{
    if (ln_tflite_is_going(op->b) && op->ins.count > 0 && op->outs.count > 0 &&
        op->ins.count <= LN_TFLITE_MAX_ARGS && op->outs.count <= LN_TFLITE_MAX_ARGS)
        return true;
    ln_tflite_problem(op, NULL, "it has %zu inputs and %zu outputs", op->ins.count, op->outs.count);
    return false;
}

// Variables that are results, after those of the file: those of a loop in the order of its inputs.
typedef struct variables {
    size_t *states;
    size_t count;
} variables;

static variables find_changes(ln_tflite_builder *b, const ln_tflite_graph *first,
                              const ln_tflite_graph *second)
{
    variables found = {.states = ln_alloc((b->state_count + 1) * sizeof *found.states)};
    if (!found.states)
        ln_tflite_stop(b, LN_NO_MEMORY, "variables");
    for (size_t i = 0; found.states && first->is_loop && i < first->carried_count; i++)
        found.states[found.count++] = first->carried[i].state;
    for (size_t i = 1; found.states && !first->is_loop && i <= b->state_count; i++) {
        if (ln_tflite_is_changed(first, i) || ln_tflite_is_changed(second, i))
            found.states[found.count++] = i;
    }
    return found;
}

// Outputs of a graph that has been closed. `cond` may be NULL.
static void finish_graph(ln_tflite_builder *b, ln_tflite_graph *graph, const value *cond,
                         const value *values, size_t count, const variables *changes)
{
    ln_context *into = b->into;
    for (size_t i = 0; i < changes->count; i++)
        ln_tflite_carry(b, graph, changes->states[i]);
    ln_tflite_flush(b);
    b->into = graph->into;
    if (cond)
        add_output(b, cond->name);
    add_outputs(b, values, count);
    for (size_t i = 0; i < changes->count && ln_tflite_is_going(b); i++)
        add_output(b, ln_tflite_find_carried(graph, changes->states[i])->after);
    b->into = into;
}

static void give_handle(ln_tflite_op *op, size_t i, const value *out)
{
    ln_tflite_tensor *t = ln_tflite_output(op, i);
    if (ln_tflite_is_going(op->b))
        t->state = out->state;
}

// The operator that runs the graphs has been begun.
static void give_outputs(ln_tflite_op *op, const value *outs, const variables *changes,
                         const ln_tflite_graph *graph)
{
    ln_tflite_builder *b = op->b;
    const char **names = ln_alloc((op->outs.count + 1) * sizeof *names);
    if (!names)
        ln_tflite_stop(b, LN_NO_MEMORY, "results");
    for (size_t i = 0; names && i < op->outs.count; i++)
        names[i] = outs[i].is_handle ? "" : ln_tflite_out(b);
    for (size_t i = 0; i < changes->count; i++) {
        const char *after = ln_tflite_out(b);
        if (!graph->is_loop || ln_tflite_is_changed(graph, changes->states[i]))
            ln_tflite_set_state(&b->states[changes->states[i] - 1], after);
    }
    for (size_t i = 0; names && i < op->outs.count; i++) {
        if (outs[i].is_handle)
            give_handle(op, i, &outs[i]);
        else
            ln_tflite_give_raw(op, i, names[i]);
    }
    ln_free(names);
}

// ---- IF ----

static bool is_given_before(const value *values, size_t i)
{
    bool is_given = values[i].is_handle;
    for (size_t k = 0; k < i && !is_given; k++)
        is_given = !values[k].is_handle && strcmp(values[k].name, values[i].name) == 0;
    return is_given;
}

static void read_branch(ln_tflite_op *op, unsigned option, const value *ins, value *outs,
                        ln_tflite_graph *graph)
{
    ln_tflite_builder *b = op->b;
    const size_t count = op->ins.count - 1;
    open_graph(op, option == 0 ? "then" : "else", graph);
    if (!graph->name)
        return;
    for (size_t i = 0; i < count; i++) {
        if (!is_given_before(ins, i))
            ln_tflite_add_input(b, ins[i].name, TL_OBJECT, true);
    }
    read_graph(op, ln_tflite_option(op, option, 0), ins, count, outs, op->outs.count);
    close_graph(b, graph);
}

static void capture(ln_tflite_builder *b, const char *name)
{
    ln_tflite_in(b, name);
    b->node.capture_count += b->node.optype != NULL;
}

static void capture_all(ln_tflite_op *op, const value *ins, const ln_tflite_graph *yes,
                        const ln_tflite_graph *no)
{
    for (size_t i = 0; i + 1 < op->ins.count; i++) {
        if (!is_given_before(ins, i))
            capture(op->b, ins[i].name);
    }
    for (size_t i = 0; i < yes->carried_count; i++)
        capture(op->b, yes->carried[i].before);
    for (size_t i = 0; i < no->carried_count; i++) {
        if (!ln_tflite_find_carried(yes, no->carried[i].state))
            capture(op->b, no->carried[i].before);
    }
}

static void add_if(ln_tflite_op *op, const char *cond, const value *ins, ln_tflite_graph *yes,
                   const value *yes_outs, ln_tflite_graph *no, const value *no_outs)
{
    ln_tflite_builder *b = op->b;
    const variables changes = find_changes(b, yes, no);
    finish_graph(b, yes, NULL, yes_outs, op->outs.count, &changes);
    finish_graph(b, no, NULL, no_outs, op->outs.count, &changes);
    ln_tflite_begin(b, "If");
    ln_tflite_in(b, cond);
    capture_all(op, ins, yes, no);
    ln_tflite_string(b, "then_branch", yes->name);
    ln_tflite_string(b, "else_branch", no->name);
    give_outputs(op, no_outs, &changes, yes);
    ln_free(changes.states);
}

void ln_tflite_read_if(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    if (!has_ends(op))
        return;
    const char *cond = ln_tflite_raw(op, 0);
    if (ln_tflite_input(op, 0)->dtype != TL_BOOL)
        ln_tflite_problem(op, NULL, "its condition, '%s', is not of BOOL", cond);
    const size_t problems = b->report->problem_count;
    value *ins = list_inputs(op, 1), *yes_outs = list_outputs(op), *no_outs = list_outputs(op);
    if (ins && yes_outs && no_outs && ln_tflite_is_going(b)) {
        ln_tflite_graph yes = {0}, no = {0};
        read_branch(op, 0, ins, yes_outs, &yes);
        for (size_t i = 0; i < op->outs.count; i++)
            no_outs[i].state = yes_outs[i].state;
        read_branch(op, 1, ins, no_outs, &no);
        if (b->report->problem_count == problems && ln_tflite_is_going(b))
            add_if(op, cond, ins, &yes, yes_outs, &no, no_outs);
        ln_free(yes.carried);
        ln_free(no.carried);
    }
    ln_free(ins);
    ln_free(yes_outs);
    ln_free(no_outs);
}

// ---- WHILE ----

// The condition for `values`, where operators go.
static value read_condition(ln_tflite_op *op, const value *values)
{
    value cond = {.name = "", .dtype = TL_BOOL};
    read_graph(op, ln_tflite_option(op, 0, 0), values, op->ins.count, &cond, 1);
    return cond;
}

// A pass from `values` to `values`, and the condition after it.
static value read_body(ln_tflite_op *op, value *values, ln_tflite_graph *body)
{
    ln_tflite_builder *b = op->b;
    value cond = {.name = ""};
    const size_t count = op->ins.count, problems = b->report->problem_count;
    open_graph(op, "body", body);
    if (!body->name)
        return cond;
    ln_tflite_add_input(b, ln_tflite_claim(b, b->tensor_names, "pass"), TL_INT64, false);
    ln_tflite_add_input(b, ln_tflite_claim(b, b->tensor_names, "goes_on"), TL_BOOL, false);
    for (size_t i = 0; i < count; i++) {
        if (values[i].is_handle)
            continue;
        values[i].name = ln_tflite_claim(b, b->tensor_names, values[i].name);
        ln_tflite_add_input(b, values[i].name, values[i].dtype, false);
    }
    read_graph(op, ln_tflite_option(op, 1, 0), values, count, values, count);
    if (b->report->problem_count == problems)
        cond = read_condition(op, values);
    close_graph(b, body);
    return cond;
}

static void add_while(ln_tflite_op *op, const value *cond, const value *ins, ln_tflite_graph *body,
                      const value *goes_on, const value *values)
{
    ln_tflite_builder *b = op->b;
    const size_t count = op->ins.count;
    const variables changes = find_changes(b, body, NULL);
    finish_graph(b, body, goes_on, values, count, &changes);
    ln_tflite_begin(b, "Loop");
    ln_tflite_in(b, NULL); // as many passes as the condition wants
    ln_tflite_in(b, cond->name);
    for (size_t i = 0; i < count; i++) {
        if (!ins[i].is_handle)
            ln_tflite_in(b, ins[i].name);
    }
    for (size_t i = 0; i < body->carried_count; i++)
        ln_tflite_in(b, body->carried[i].before);
    ln_tflite_string(b, "body", body->name);
    give_outputs(op, values, &changes, body);
    ln_free(changes.states);
}

static void check_passes(ln_tflite_op *op)
{
    if (op->ins.count != op->outs.count)
        ln_tflite_problem(op, NULL, "it has %zu inputs and %zu outputs", op->ins.count,
                          op->outs.count);
    for (size_t i = 0; i < op->ins.count && ln_tflite_is_going(op->b); i++) {
        const ln_tflite_tensor *in = ln_tflite_input(op, i), *out = ln_tflite_output(op, i);
        if (ln_tflite_is_going(op->b) && in->type != out->type)
            ln_tflite_problem(op, NULL, "its output %zu is of %s in place of %s", i,
                              ln_tflite_type_name(out->type), ln_tflite_type_name(in->type));
    }
}

void ln_tflite_read_while(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    if (!has_ends(op))
        return;
    check_passes(op);
    const size_t problems = b->report->problem_count;
    value *ins = list_inputs(op, 0), *values = list_inputs(op, 0);
    if (ins && values && ln_tflite_is_going(b)) {
        ln_tflite_graph body = {.is_loop = true};
        const value cond = read_condition(op, ins), goes_on = read_body(op, values, &body);
        if (b->report->problem_count == problems && ln_tflite_is_going(b))
            add_while(op, &cond, ins, &body, &goes_on, values);
        ln_free(body.carried);
    }
    ln_free(ins);
    ln_free(values);
}

// What the operator does as a subgraph of others, which go where it is.
void ln_tflite_read_composite(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    if (!has_ends(op))
        return;
    const size_t problems = b->report->problem_count;
    value *ins = list_inputs(op, 0), *outs = list_outputs(op);
    if (ins && outs && ln_tflite_is_going(b))
        read_graph(op, ln_tflite_option(op, 1, 0), ins, op->ins.count, outs, op->outs.count);
    for (size_t i = 0; outs && i < op->outs.count && b->report->problem_count == problems; i++) {
        if (outs[i].is_handle)
            give_handle(op, i, &outs[i]);
        else
            ln_tflite_give_raw(op, i, ln_tflite_unary(b, "Identity", outs[i].name));
    }
    ln_free(ins);
    ln_free(outs);
}
