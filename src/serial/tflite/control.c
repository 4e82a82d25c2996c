// SPDX-License-Identifier: Apache-2.0
// IF and WHILE. The subgraphs of an IF become graphs that read the operands of the IF around them:
//
//     y = If(cond, capture1 = x | then_branch, else_branch)
//
// The condition of a WHILE is computed before the loop, and at the end of each pass:
//
//     y = Loop(cond = condition(x), v_initial = x | body: next = body(state); condition(next),
//     next)

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
} value;

// What is set aside while operators go to a graph.
typedef struct surroundings {
    ln_context *into;
    ln_hash *numbers;
} surroundings;

// ---- Graphs of the context ----

// Operators go to a new graph until `close_graph`. Its name, or NULL where nothing is opened.
static const char *open_graph(ln_tflite_op *op, const char *what, surroundings *out_around)
{
    ln_tflite_builder *b = op->b;
    char wanted[LN_MAX_NAME_LEN];
    ln_context *graph;
    ln_tflite_flush(b);
    if (b->graph_count++ == LN_TFLITE_MAX_GRAPHS)
        ln_tflite_stop(b, LN_LIMIT, "operators run more than %d subgraphs", LN_TFLITE_MAX_GRAPHS);
    if (!ln_tflite_is_going(b))
        return NULL;
    snprintf(wanted, sizeof wanted, "%.400s.%s", op->name, what);
    const char *name = ln_tflite_claim(b, b->op_names, wanted);
    ln_hash *numbers = ln_hash_create(ln_name_hash, ln_str_cmp, ln_free, NULL);
    ln_status status = numbers ? b->status : LN_NO_MEMORY;
    if (status == LN_OK)
        status = ln_context_add_graph(b->into, name, &graph);
    if (status != LN_OK) {
        ln_hash_free(numbers);
        b->status = status;
        return NULL;
    }
    *out_around = (surroundings){.into = b->into, .numbers = b->numbers};
    b->into = graph;
    b->numbers = numbers;
    return name;
}

static void close_graph(ln_tflite_builder *b, const surroundings *around)
{
    ln_tflite_flush(b);
    ln_hash_free(b->numbers);
    b->into = around->into;
    b->numbers = around->numbers;
}

// An input of a graph, of whatever shape comes. TL_OBJECT: of any type, too.
static void add_input(ln_tflite_builder *b, const char *name, tl_dtype dtype, bool is_captured)
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
    for (size_t i = 0; i < count; i++)
        add_output(b, values[i].name);
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
        t->is_there = true;
        t->is_const = t->is_variable = false;
    }
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
        values[i - first] = (value){.name = ln_tflite_raw(op, i), .dtype = t->dtype};
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
    for (size_t i = 0; values && i < op->outs.count; i++)
        values[i] = (value){.name = "", .dtype = ln_tflite_output(op, i)->dtype};
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

// The operator that runs the graphs has been begun.
static void give_outputs(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const char **names = ln_alloc((op->outs.count + 1) * sizeof *names);
    if (!names)
        ln_tflite_stop(b, LN_NO_MEMORY, "results");
    for (size_t i = 0; names && i < op->outs.count; i++)
        names[i] = ln_tflite_out(b);
    for (size_t i = 0; names && i < op->outs.count; i++)
        ln_tflite_give_raw(op, i, names[i]);
    ln_free(names);
}

static bool is_given_before(const value *values, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (strcmp(values[k].name, values[i].name) == 0)
            return true;
    }
    return false;
}

static const char *read_branch(ln_tflite_op *op, unsigned option, const char *what,
                               const value *ins, size_t count, value *outs)
{
    ln_tflite_builder *b = op->b;
    surroundings around;
    const char *name = open_graph(op, what, &around);
    if (!name)
        return "";
    for (size_t i = 0; i < count; i++) {
        if (!is_given_before(ins, i))
            add_input(b, ins[i].name, TL_OBJECT, true);
    }
    size_t problems = b->report->problem_count;
    read_graph(op, ln_tflite_option(op, option, 0), ins, count, outs, op->outs.count);
    if (b->report->problem_count == problems)
        add_outputs(b, outs, op->outs.count);
    close_graph(b, &around);
    return name;
}

void ln_tflite_read_if(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    if (!has_ends(op))
        return;
    const char *cond = ln_tflite_raw(op, 0);
    if (ln_tflite_input(op, 0)->dtype != TL_BOOL)
        ln_tflite_problem(op, NULL, "its condition, '%s', is not of BOOL", cond);
    size_t count = op->ins.count - 1, problems = b->report->problem_count;
    value *ins = list_inputs(op, 1), *outs = list_outputs(op);
    if (ins && outs && ln_tflite_is_going(b)) {
        const char *yes = read_branch(op, 0, "then", ins, count, outs);
        const char *no = read_branch(op, 1, "else", ins, count, outs);
        if (b->report->problem_count == problems) {
            ln_tflite_begin(b, "If");
            ln_tflite_in(b, cond);
            for (size_t i = 0; i < count; i++) {
                if (is_given_before(ins, i))
                    continue;
                ln_tflite_in(b, ins[i].name);
                b->node.capture_count += b->node.optype != NULL;
            }
            ln_tflite_string(b, "then_branch", yes);
            ln_tflite_string(b, "else_branch", no);
            give_outputs(op);
        }
    }
    ln_free(ins);
    ln_free(outs);
}

// The condition for `values`, where operators go.
static value read_condition(ln_tflite_op *op, const value *values)
{
    value cond = {.name = "", .dtype = TL_BOOL};
    read_graph(op, ln_tflite_option(op, 0, 0), values, op->ins.count, &cond, 1);
    return cond;
}

static const char *read_body(ln_tflite_op *op, value *values)
{
    ln_tflite_builder *b = op->b;
    surroundings around;
    size_t count = op->ins.count, problems = b->report->problem_count;
    const char *name = open_graph(op, "body", &around);
    if (!name)
        return "";
    add_input(b, ln_tflite_claim(b, b->tensor_names, "pass"), TL_INT64, false);
    add_input(b, ln_tflite_claim(b, b->tensor_names, "goes_on"), TL_BOOL, false);
    for (size_t i = 0; i < count; i++) {
        values[i].name = ln_tflite_claim(b, b->tensor_names, values[i].name);
        add_input(b, values[i].name, values[i].dtype, false);
    }
    read_graph(op, ln_tflite_option(op, 1, 0), values, count, values, count);
    if (b->report->problem_count == problems) {
        value cond = read_condition(op, values);
        if (b->report->problem_count == problems) {
            add_output(b, cond.name);
            add_outputs(b, values, count);
        }
    }
    close_graph(b, &around);
    return name;
}

void ln_tflite_read_while(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    if (!has_ends(op))
        return;
    size_t count = op->ins.count;
    if (count != op->outs.count)
        ln_tflite_problem(op, NULL, "it has %zu inputs and %zu outputs", count, op->outs.count);
    for (size_t i = 0; i < count && ln_tflite_is_going(b); i++) {
        const ln_tflite_tensor *in = ln_tflite_input(op, i), *out = ln_tflite_output(op, i);
        if (ln_tflite_is_going(b) && in->type != out->type)
            ln_tflite_problem(op, NULL, "its output %zu is of %s in place of %s", i,
                              ln_tflite_type_name(out->type), ln_tflite_type_name(in->type));
    }
    size_t problems = b->report->problem_count;
    value *ins = list_inputs(op, 0), *values = list_inputs(op, 0);
    if (ins && values && ln_tflite_is_going(b)) {
        value cond = read_condition(op, ins);
        const char *body = read_body(op, values);
        if (b->report->problem_count == problems) {
            ln_tflite_begin(b, "Loop");
            ln_tflite_in(b, NULL); // as many passes as the condition wants
            ln_tflite_in(b, cond.name);
            for (size_t i = 0; i < count; i++)
                ln_tflite_in(b, ins[i].name);
            ln_tflite_string(b, "body", body);
            give_outputs(op);
        }
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
    for (size_t i = 0; outs && i < op->outs.count && b->report->problem_count == problems; i++)
        ln_tflite_give_raw(op, i, ln_tflite_unary(b, "Identity", outs[i].name));
    ln_free(ins);
    ln_free(outs);
}
