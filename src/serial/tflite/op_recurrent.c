// SPDX-License-Identifier: Apache-2.0
// Recurrent operators; integer_recurrent.c has those of integers. States are variables, or come
// from elsewhere and go nowhere.

#include "serial/tflite/builder.h"

enum { ACT_NONE = 0, ACT_RELU = 1, ACT_TANH = 4 };

// The gates i, o, f and c, in ONNX's order, among the lists of i, f, c and o.
static const size_t gates[] = {0, 3, 1, 2};

// The gate's activation function; NULL with a problem if ONNX has none.
static const char *activation_name(ln_tflite_op *op, int64_t activation)
{
    switch (activation) {
    case ACT_NONE: return "Affine";
    case ACT_RELU: return "Relu";
    case ACT_TANH: return "Tanh";
    default:
        ln_tflite_problem(op, NULL, "the activation %lld of a gate is not read",
                          (long long)activation);
        return NULL;
    }
}

static bool is_of_integers(ln_tflite_op *op)
{
    const tl_dtype dtype = ln_tflite_input(op, 0)->dtype;
    return dtype == TL_INT8 || dtype == TL_INT16;
}

static void check_floats(ln_tflite_op *op)
{
    const ln_tflite_tensor *in = ln_tflite_input(op, 0);
    if (in->dtype != TL_FLOAT)
        ln_tflite_problem(op, "convert the model with float32 inputs of its recurrent operators",
                          "it computes on %s, and only float32 is read",
                          ln_tflite_type_name(in->type));
    else if (in->ndim != 3)
        ln_tflite_problem(op, NULL, "'%s' has rank %d in place of 3", in->name, in->ndim);
}

// The sequence with steps first.
static const char *steps_first(ln_tflite_op *op, bool is_time_major)
{
    const char *x = ln_tflite_real(op, 0);
    return is_time_major ? x : ln_tflite_transpose(op->b, x, 3, (const int[]){1, 0, 2});
}

// From [steps, 1, batch, units].
static void give_steps(ln_tflite_op *op, const char *y, bool is_time_major)
{
    ln_tflite_builder *b = op->b;
    y = ln_tflite_binary(b, "Squeeze", y, ln_tflite_ints(b, 1, (const int64_t[]){1}));
    if (!is_time_major)
        y = ln_tflite_transpose(b, y, 3, (const int[]){1, 0, 2});
    ln_tflite_give(op, 0, y, ACT_NONE);
}

static const char *as_direction(ln_tflite_builder *b, const char *x)
{
    return ln_tflite_binary(b, "Unsqueeze", x, ln_tflite_ints(b, 1, (const int64_t[]){0}));
}

// The state at input `i` before the first step, and the variable that it is of, if it is one.
static const char *state_at(ln_tflite_op *op, size_t i, ln_tflite_state **out_variable)
{
    *out_variable = ln_tflite_variable(op, i);
    return *out_variable ? (*out_variable)->now : ln_tflite_real(op, i);
}

// The state after the last step, of one direction.
static void keep_state(ln_tflite_op *op, ln_tflite_state *variable, const char *x)
{
    ln_tflite_builder *b = op->b;
    if (!variable)
        return;
    x = ln_tflite_binary(b, "Squeeze", x, ln_tflite_ints(b, 1, (const int64_t[]){0}));
    ln_tflite_flush(b); // it keeps this name
    ln_tflite_set_state(variable, x);
}

// Inputs `first` to `first + 3` of the gates below one another. Without an input gate, that one is
// what the forget gate leaves: 1 - sigmoid(x) = sigmoid(-x).
static const char *join_gates(ln_tflite_op *op, size_t first, size_t count, bool has_input_gate)
{
    ln_tflite_builder *b = op->b;
    const char *parts[4] = {"", "", "", ""};
    for (size_t i = 0; i < count; i++) {
        size_t gate = gates[i];
        bool is_turned = gate == 0 && !has_input_gate;
        // Peepholes are of i, f and o.
        size_t at = first + (is_turned ? 1 : count == 3 && gate == 3 ? 2 : gate);
        parts[i] = ln_tflite_real(op, at);
        if (is_turned)
            parts[i] = ln_tflite_unary(b, "Neg", parts[i]);
    }
    ln_tflite_begin(b, "Concat");
    for (size_t i = 0; i < count; i++)
        ln_tflite_in(b, parts[i]);
    const char *y = ln_tflite_out(b);
    ln_tflite_number(b, "axis", 0);
    return y;
}

// What ONNX's operator lacks.
static void check_lstm(ln_tflite_op *op)
{
    static const char *const help = "docs/tflite.md says which forms are read";
    check_floats(op);
    if (ln_tflite_has(op, 16) || ln_tflite_has(op, 17))
        ln_tflite_problem(op, help, "it has a projection, which is not read");
    for (size_t i = 20; i < 24; i++) {
        if (ln_tflite_has(op, i))
            ln_tflite_problem(op, help, "it has a layer normalization, which is not read");
    }
}

// ---- Cells within a limit, which ONNX's operator does not have: step by step ----

#define MAX_STEPS 512

static void check_limited(ln_tflite_op *op, int steps)
{
    static const char *const help = "docs/tflite.md says which forms are read";
    const double limit = (double)ln_tflite_float_option(op, 1, 0);
    if (ln_tflite_has(op, 10) || !ln_tflite_has(op, 1) || ln_tflite_small_option(op, 0) != ACT_TANH)
        ln_tflite_problem(op, help,
                          "it keeps its cells within %g, which is read with gates i, f, c "
                          "and o, tanh, and no peepholes",
                          limit);
    else if (steps < 1 || steps > MAX_STEPS)
        ln_tflite_problem(op, help, "it keeps its cells within %g in %d steps; 1 to %d are read",
                          limit, steps, MAX_STEPS);
}

static void split(ln_tflite_builder *b, const char *x, int axis, size_t count, const char **parts)
{
    ln_tflite_begin(b, "Split");
    ln_tflite_in(b, x);
    for (size_t i = 0; i < count; i++)
        parts[i] = ln_tflite_out(b);
    ln_tflite_number(b, "axis", axis);
    ln_tflite_number(b, "num_outputs", (double)count);
    ln_tflite_flush(b);
}

// x times rows of weights, plus what all rows have.
static const char *rows(ln_tflite_builder *b, const char *x, const char *weights, const char *more)
{
    const char *y = ln_tflite_ternary(b, "Gemm", x, weights, more);
    ln_tflite_number(b, "transB", 1);
    return y;
}

// One step from the sums of gates i, o, f and c.
static void limited_step(ln_tflite_builder *b, const char *sums, float limit, const char **hidden,
                         const char **cell)
{
    const char *parts[4];
    split(b, sums, 1, 4, parts);
    for (int i = 0; i < 3; i++)
        parts[i] = ln_tflite_unary(b, "Sigmoid", parts[i]);
    const char *entered =
        ln_tflite_binary(b, "Mul", parts[0], ln_tflite_unary(b, "Tanh", parts[3]));
    const char *kept = ln_tflite_binary(b, "Mul", parts[2], *cell);
    *cell = ln_tflite_clip(b, ln_tflite_binary(b, "Add", kept, entered), -limit, limit);
    ln_tflite_flush(b);
    *hidden = ln_tflite_binary(b, "Mul", parts[1], ln_tflite_unary(b, "Tanh", *cell));
    ln_tflite_flush(b);
}

static void keep(ln_tflite_builder *b, ln_tflite_state *variable, const char *x)
{
    ln_tflite_flush(b); // it keeps this name
    ln_tflite_set_state(variable, x);
}

static void read_limited_lstm(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const ln_tflite_tensor *in = ln_tflite_input(op, 0);
    const bool is_time_major = ln_tflite_small_option(op, 3) != 0;
    const int steps = in->dims[is_time_major ? 0 : 1];
    const float limit = ln_tflite_float_option(op, 1, 0);
    check_limited(op, steps);
    const char *sums[MAX_STEPS], *states[MAX_STEPS];
    const char *x = steps_first(op, is_time_major);
    const char *w = join_gates(op, 1, 4, true), *r = join_gates(op, 5, 4, true);
    const char *bias = join_gates(op, 12, 4, true);
    ln_tflite_state *of_hidden, *of_cell;
    const char *hidden = state_at(op, 18, &of_hidden), *cell = state_at(op, 19, &of_cell);
    if (!ln_tflite_is_going(b))
        return;
    x = ln_tflite_reshape(b, x, 2, (const int64_t[]){-1, in->dims[2]});
    split(b, rows(b, x, w, bias), 0, (size_t)steps, sums);
    for (int i = 0; i < steps; i++) {
        limited_step(b, rows(b, hidden, r, sums[i]), limit, &hidden, &cell);
        states[i] = hidden;
    }
    keep(b, of_hidden, hidden);
    keep(b, of_cell, cell);
    const int units = ln_tflite_input(op, 2)->dims[0];
    ln_tflite_begin(b, "Concat");
    for (int i = 0; i < steps; i++)
        ln_tflite_in(b, states[i]);
    const char *y = ln_tflite_out(b);
    ln_tflite_number(b, "axis", is_time_major ? 0 : 1);
    const int first = is_time_major ? steps : in->dims[0];
    ln_tflite_give(op, 0, ln_tflite_reshape(b, y, 3, (const int64_t[]){first, -1, units}),
                   ACT_NONE);
}

// Inputs: the sequence, weights of i, f, c and o (1 to 4), recurrent weights (5 to 8), peepholes of
// i, f and o (9 to 11), biases (12 to 15), a projection, the states (18, 19).
void ln_tflite_read_sequence_lstm(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    if (is_of_integers(op)) {
        ln_tflite_read_fixed_lstm(op);
        return;
    }
    check_lstm(op);
    if (ln_tflite_float_option(op, 1, 0) > 0) {
        read_limited_lstm(op);
        return;
    }
    const char *act = activation_name(op, ln_tflite_small_option(op, 0));
    bool is_time_major = ln_tflite_small_option(op, 3) != 0, has_input_gate = ln_tflite_has(op, 1);
    const char *x = steps_first(op, is_time_major);
    const char *w = as_direction(b, join_gates(op, 1, 4, has_input_gate));
    const char *r = as_direction(b, join_gates(op, 5, 4, has_input_gate));
    const char *bias = join_gates(op, 12, 4, has_input_gate);
    const char *none = ln_tflite_binary(b, "Sub", bias, bias);
    bias = as_direction(b, ln_tflite_along(b, "Concat", bias, none, 0));
    const char *peephole = ln_tflite_has(op, 10) ? join_gates(op, 9, 3, has_input_gate) : NULL;
    if (peephole)
        peephole = as_direction(b, peephole);
    ln_tflite_state *of_hidden, *of_cell;
    const char *hidden = as_direction(b, state_at(op, 18, &of_hidden));
    const char *cell = as_direction(b, state_at(op, 19, &of_cell));
    if (!ln_tflite_is_going(b))
        return;
    ln_tflite_begin(b, "LSTM");
    const char *const ins[] = {x, w, r, bias, NULL, hidden, cell, peephole};
    for (size_t i = 0; i < sizeof ins / sizeof ins[0]; i++)
        ln_tflite_in(b, ins[i]);
    const char *y = ln_tflite_out(b), *last = ln_tflite_out(b), *last_cell = ln_tflite_out(b);
    ln_tflite_number(b, "hidden_size", ln_tflite_input(op, 2)->dims[0]);
    ln_tflite_strings(b, "activations", 3, (const char *const[]){"Sigmoid", act, act});
    if (ln_tflite_small_option(op, 0) == ACT_NONE)
        ln_tflite_numbers(b, "activation_alpha", 2, (const double[]){1, 1});
    keep_state(op, of_hidden, last);
    keep_state(op, of_cell, last_cell);
    give_steps(op, y, is_time_major);
}

// Inputs: the sequence, weights, recurrent weights, bias, state.
void ln_tflite_read_sequence_rnn(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    check_floats(op);
    const char *act = activation_name(op, ln_tflite_small_option(op, 1));
    bool is_time_major = ln_tflite_small_option(op, 0) != 0;
    const char *x = steps_first(op, is_time_major);
    const char *w = as_direction(b, ln_tflite_real(op, 1));
    const char *r = as_direction(b, ln_tflite_real(op, 2));
    const char *bias = ln_tflite_real(op, 3);
    const char *none = ln_tflite_binary(b, "Sub", bias, bias);
    bias = as_direction(b, ln_tflite_along(b, "Concat", bias, none, 0));
    ln_tflite_state *of_hidden;
    const char *hidden = as_direction(b, state_at(op, 4, &of_hidden));
    if (!ln_tflite_is_going(b))
        return;
    ln_tflite_begin(b, "RNN");
    const char *const ins[] = {x, w, r, bias, NULL, hidden};
    for (size_t i = 0; i < sizeof ins / sizeof ins[0]; i++)
        ln_tflite_in(b, ins[i]);
    const char *y = ln_tflite_out(b), *last = ln_tflite_out(b);
    ln_tflite_number(b, "hidden_size", ln_tflite_input(op, 1)->dims[0]);
    ln_tflite_strings(b, "activations", 1, &act);
    if (ln_tflite_small_option(op, 1) == ACT_NONE)
        ln_tflite_numbers(b, "activation_alpha", 1, (const double[]){1});
    keep_state(op, of_hidden, last);
    give_steps(op, y, is_time_major);
}

// The sequence enters step by step: each of the features is kept for as many steps as the weights
// of time have columns, of which the newest is the last one. `rank` features make one output.
void ln_tflite_read_svdf(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    if (is_of_integers(op)) {
        ln_tflite_read_fixed_svdf(op);
        return;
    }
    const ln_tflite_tensor *in = ln_tflite_input(op, 0), *time = ln_tflite_input(op, 2);
    int64_t rank = ln_tflite_option(op, 0, 0), features = time->dims[0], steps = time->dims[1];
    if (in->dtype != TL_FLOAT)
        ln_tflite_problem(op, "convert the model with float32 inputs of its recurrent operators",
                          "it computes on %s, and only float32 is read",
                          ln_tflite_type_name(in->type));
    else if (in->ndim != 2 || time->ndim != 2 || rank < 1 || features < 1 || steps < 1 ||
             features % rank != 0)
        ln_tflite_problem(op, NULL, "it has rank %lld and weights of time '%s' [%lld, %lld]",
                          (long long)rank, time->name, (long long)features, (long long)steps);
    ln_tflite_state *variable;
    const int64_t last[] = {-1}, from[] = {1}, to[] = {INT64_MAX}, axis[] = {2};
    const char *x = ln_tflite_real(op, 0), *w = ln_tflite_real(op, 1), *t = ln_tflite_real(op, 2);
    const char *bias = ln_tflite_has(op, 3) ? ln_tflite_real(op, 3) : NULL;
    const char *kept = state_at(op, 4, &variable);
    w = ln_tflite_transpose(b, w, 2, (const int[]){1, 0});
    x = ln_tflite_binary(b, "MatMul", x, w);
    x = ln_tflite_binary(b, "Unsqueeze", x, ln_tflite_ints(b, 1, last));
    kept = ln_tflite_reshape(b, kept, 3, (const int64_t[]){-1, features, steps});
    kept =
        ln_tflite_ternary(b, "Slice", kept, ln_tflite_ints(b, 1, from), ln_tflite_ints(b, 1, to));
    ln_tflite_in(b, ln_tflite_ints(b, 1, axis));
    kept = ln_tflite_along(b, "Concat", kept, x, 2);
    const char *y = ln_tflite_binary(b, "Mul", kept, t);
    y = ln_tflite_reshape(b, y, 3,
                          (const int64_t[]){-1, features / (rank > 0 ? rank : 1), rank * steps});
    y = ln_tflite_binary(b, "ReduceSum", y, ln_tflite_ints(b, 1, last));
    ln_tflite_number(b, "keepdims", 0);
    if (bias)
        y = ln_tflite_binary(b, "Add", y, bias);
    const char *next = ln_tflite_reshape(b, kept, 2, (const int64_t[]){-1, features * steps});
    ln_tflite_flush(b); // it keeps this name
    ln_tflite_set_state(variable, next);
    ln_tflite_give(op, 0, y, ln_tflite_small_option(op, 1));
}
