// SPDX-License-Identifier: Apache-2.0
// Variables: what a model keeps from one run to the next. Each is a constant with the value before
// the first run, which a program can make an input (its default value is in ln_model_info), and an
// output, "<name>_next", with the value after the run (decision 0031).

#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/model_info.h>

#include "serial/tflite/builder.h"

static ln_tflite_state *add_state(ln_tflite_op *op, const char *key)
{
    ln_tflite_builder *b = op->b;
    if (!ln_tflite_is_going(b))
        return NULL;
    if (!b->states)
        b->states = ln_alloc(LN_TFLITE_MAX_STATES * sizeof *b->states);
    if (!b->states) {
        ln_tflite_stop(b, LN_NO_MEMORY, "variables");
        return NULL;
    }
    if (b->state_count == LN_TFLITE_MAX_STATES) {
        ln_tflite_problem(op, NULL, "the model has more than %d variables", LN_TFLITE_MAX_STATES);
        return NULL;
    }
    ln_tflite_state *state = &b->states[b->state_count++];
    *state = (ln_tflite_state){.key = key};
    return state;
}

static void set_shape(ln_tflite_state *state, const ln_tflite_tensor *t)
{
    state->dtype = t->dtype;
    state->ndim = t->ndim;
    memcpy(state->dims, t->dims, sizeof state->dims);
}

// Integers of 8 bits are their zero point at first.
static void make_zeros(ln_tflite_op *op, const ln_tflite_tensor *t)
{
    ln_tflite_builder *b = op->b;
    const double zero = t->dtype == TL_INT8 ? ln_tflite_zero(op, t) : 0, range[] = {zero, zero};
    double dims[TL_MAXDIM];
    for (int i = 0; i < t->ndim; i++)
        dims[i] = t->dims[i];
    ln_tflite_begin(b, "create");
    if (b->node.optype)
        b->node.outs[b->node.out_count++] = t->name;
    ln_tflite_string(b, "dtype", tl_dtype_name(t->dtype));
    ln_tflite_numbers(b, "dims", (size_t)t->ndim, dims);
    ln_tflite_numbers(b, zero == 0 ? "data" : "ran", zero == 0 ? 1 : 2, range);
    ln_tflite_flush(b);
}

// ---- Variable tensors ----

ln_tflite_state *ln_tflite_variable(ln_tflite_op *op, size_t i)
{
    ln_tflite_builder *b = op->b;
    ln_tflite_tensor *t = ln_tflite_input(op, i);
    if (!ln_tflite_is_going(b) || !t->is_variable || t->is_const || t->is_there)
        return NULL;
    if (t->state > 0)
        return &b->states[t->state - 1];
    bool is_known = t->dtype != TL_DTYPE_INVALID;
    for (int k = 0; k < t->ndim; k++)
        is_known = is_known && t->dims[k] > 0;
    if (!is_known) {
        ln_tflite_problem(op, NULL, "the variable '%s' has no type or shape that is known",
                          t->name);
        return NULL;
    }
    if (b->nested_count > 1) {
        ln_tflite_problem(op, NULL, "'%s' is a variable tensor in a subgraph of another operator",
                          t->name);
        return NULL;
    }
    ln_tflite_state *state = add_state(op, t->name);
    if (!state)
        return NULL;
    t->state = b->state_count;
    make_zeros(op, t);
    set_shape(state, t);
    state->name = state->now = t->name;
    return state;
}

void ln_tflite_set_state(ln_tflite_state *state, const char *x)
{
    if (state) {
        state->now = x;
        state->is_changed = true;
    }
}

// ---- Resources ----

// Handles of one name are of one variable.
void ln_tflite_read_var_handle(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    ln_tflite_tensor *handle = ln_tflite_output(op, 0);
    char part[100], key[LN_MAX_NAME_LEN];
    if (!ln_tflite_is_going(b))
        return;
    ln_tflite_clean(b->file, ln_flat_text(b->file, op->options, 0), part, sizeof part);
    int len = snprintf(key, sizeof key, "%s%s", part, *part ? "/" : "");
    ln_tflite_clean(b->file, ln_flat_text(b->file, op->options, 1), part, sizeof part);
    snprintf(key + len, sizeof key - (size_t)len, "%s", *part ? part : "variable");
    for (size_t i = 0; i < b->state_count; i++) {
        if (strcmp(b->states[i].key, key) == 0) {
            handle->state = i + 1;
            return;
        }
    }
    char *kept = ln_strdup(key);
    if (!kept || ln_context_keep(b->ctx, kept, ln_free) != LN_OK) {
        ln_tflite_stop(b, LN_NO_MEMORY, "variable '%s'", key);
        return;
    }
    if (add_state(op, kept))
        handle->state = b->state_count;
}

// With its value in the graph that operators go to, if it has one.
static ln_tflite_state *state_of(ln_tflite_op *op)
{
    const ln_tflite_tensor *handle = ln_tflite_input(op, 0);
    if (!ln_tflite_is_going(op->b))
        return NULL;
    if (handle->state > 0) {
        ln_tflite_state *state = &op->b->states[handle->state - 1];
        if (state->now)
            ln_tflite_reach(op->b, handle->state);
        return state;
    }
    ln_tflite_problem(op, NULL, "'%s' is the handle of no variable", handle->name);
    return NULL;
}

void ln_tflite_read_read_variable(ln_tflite_op *op)
{
    ln_tflite_state *state = state_of(op);
    if (state && !state->now)
        ln_tflite_problem(op, NULL, "the variable '%s' has no value before it is read", state->key);
    else if (state)
        ln_tflite_give_raw(op, 0, ln_tflite_unary(op->b, "Identity", state->now));
}

// A value of the run, as a tensor of its own.
static void assign(ln_tflite_op *op, ln_tflite_state *state, const ln_tflite_tensor *t)
{
    ln_tflite_builder *b = op->b;
    if (!state->now && b->graph)
        ln_tflite_problem(op, NULL, "the variable '%s' has no value before a subgraph assigns one",
                          state->key);
    else if (state->now && state->dtype != t->dtype)
        ln_tflite_problem(op, NULL, "it gives the variable '%s' elements of %s in place of %s",
                          state->key, ln_tflite_type_name(t->type), tl_dtype_title(state->dtype));
    if (!state->now)
        set_shape(state, t);
    ln_tflite_set_state(state, ln_tflite_unary(b, "Identity", ln_tflite_raw(op, 1)));
}

// Before the first run a constant of the name of the variable, then a value of the run.
void ln_tflite_read_assign_variable(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    ln_tflite_state *state = state_of(op);
    ln_tflite_tensor *t = ln_tflite_input(op, 1);
    if (!state || !ln_tflite_is_going(b))
        return;
    if (!b->is_first_run) {
        assign(op, state, t);
        return;
    }
    if (!t->is_const || state->name) {
        ln_tflite_problem(op, NULL, "what is run once gives '%s' %s", state->key,
                          state->name ? "a value twice" : "a value that is no constant");
        return;
    }
    t->is_there = false;
    t->name = ln_tflite_claim(b, b->tensor_names, state->key);
    set_shape(state, t);
    state->name = state->now = ln_tflite_raw(op, 1);
}

// ---- The end ----

static void tell_defaults(ln_tflite_builder *b)
{
    const char **names = ln_alloc((b->state_count + 1) * sizeof *names);
    ln_model_info info = *ln_context_info(b->ctx);
    if (!names) {
        ln_tflite_stop(b, LN_NO_MEMORY, "variables");
        return;
    }
    for (size_t i = 0; i < b->state_count; i++) {
        if (b->states[i].name)
            names[info.default_count++] = b->states[i].name;
    }
    info.defaults = names;
    ln_status status = ln_context_set_info(b->ctx, &info);
    if (b->status == LN_OK)
        b->status = status;
    ln_free(names);
}

void ln_tflite_add_states(ln_tflite_builder *b)
{
    char text[LN_MAX_NAME_LEN + 8];
    if (b->state_count == 0 || !ln_tflite_is_going(b) || b->report->problem_count > 0)
        return;
    for (size_t i = 0; i < b->state_count; i++) {
        const ln_tflite_state *state = &b->states[i];
        if (!state->name || !state->is_changed)
            continue;
        snprintf(text, sizeof text, "%.*s_next", LN_MAX_NAME_LEN - 32, state->name);
        ln_tflite_tensor t = {.name = ln_tflite_claim(b, b->tensor_names, text),
                              .dtype = state->dtype,
                              .ndim = state->ndim};
        memcpy(t.dims, state->dims, sizeof t.dims);
        ln_tflite_name(b, ln_tflite_unary(b, "Identity", state->now), t.name);
        ln_tflite_add_output(b, &t);
    }
    tell_defaults(b);
}
