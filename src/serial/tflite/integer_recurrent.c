// SPDX-License-Identifier: Apache-2.0
// Recurrent operators on integers as TensorFlow Lite's kernels for microcontrollers compute them:
// SVDF of int8, and UNIDIRECTIONAL_SEQUENCE_LSTM of int8 and int16, with cells of int16.
//
// Gates have 16 bits, in units of 2^-12 before their function and of 2^-15 after it. What they have
// of the input is computed for all steps at once; the steps follow each other as operators.

#include "serial/tflite/builder.h"

#include <math.h>

#include <lightnet/allocator.h>

enum { ACT_NONE = 0, ACT_RELU = 1, ACT_TANH = 4 };

// Steps of a sequence, each of some twenty operators.
#define MAX_STEPS 512

static const char help[] = "docs/tflite.md says which forms are read";

// ---- Parts of both ----

// The state at input `i` before the first step, and the variable that it is of, if it is one.
static const char *state_at(ln_tflite_op *op, size_t i, ln_tflite_state **out_variable)
{
    *out_variable = ln_tflite_variable(op, i);
    return *out_variable ? (*out_variable)->now : ln_tflite_raw(op, i);
}

static void keep_state(ln_tflite_op *op, ln_tflite_state *variable, const char *x)
{
    ln_tflite_flush(op->b); // it keeps this name
    ln_tflite_set_state(variable, x);
}

// Sums of x, which has the zero point of `t`, by rows of weights.
static const char *products(ln_tflite_op *op, const char *x, const ln_tflite_tensor *t,
                            const char *weights, const char *bias)
{
    ln_tflite_builder *b = op->b;
    const int zero = ln_tflite_zero(op, t);
    const char *src_zero = zero == 0 ? NULL : ln_tflite_scalar(b, t->dtype, zero);
    const char *y = ln_tflite_binary(b, "quant_matmul", x, weights);
    const char *const more[] = {NULL, src_zero, NULL, NULL, bias}; // NULL: no scales
    for (int i = 0; i < (bias ? 5 : src_zero ? 2 : 0); i++)
        ln_tflite_in(b, more[i]);
    ln_tflite_number(b, "transB", 1);
    return y;
}

static bool has_one_scale(const ln_tflite_op *op, const ln_tflite_tensor *t)
{
    const float scale = t->scales.count == 1 ? ln_tflite_scale(op, t) : 0;
    const double zero = ln_tflite_zero(op, t);
    return scale > 0 && isfinite(scale) && zero >= tl_dtype_min_double(t->dtype) &&
           zero <= tl_dtype_max_double(t->dtype);
}

// A matrix of input `i`, of integers with one scale, and no zero point unless it is a state.
static void check_matrix(ln_tflite_op *op, size_t i, tl_dtype dtype, bool is_state)
{
    const ln_tflite_tensor *t = ln_tflite_input(op, i);
    if (t->dtype != dtype || t->ndim != 2 || !has_one_scale(op, t) ||
        (!is_state && ln_tflite_zero(op, t) != 0))
        ln_tflite_problem(op, help, "'%s' is no matrix of %s with one scale%s", t->name,
                          tl_dtype_title(dtype), is_state ? "" : " and no zero point");
}

static void check_ends(ln_tflite_op *op, int rank)
{
    const ln_tflite_tensor *in = ln_tflite_input(op, 0), *out = ln_tflite_output(op, 0);
    if (in->ndim != rank)
        ln_tflite_problem(op, NULL, "'%s' has rank %d in place of %d", in->name, in->ndim, rank);
    if (out->dtype != in->dtype || !has_one_scale(op, in) || !has_one_scale(op, out))
        ln_tflite_problem(op, help, "'%s' and '%s' are not of one type with one scale each",
                          in->name, out->name);
}

// ---- UNIDIRECTIONAL_SEQUENCE_LSTM ----

// Inputs: the sequence, weights of the gates i, f, c and o (1 to 4), recurrent weights (5 to 8),
// biases (12 to 15), the states (18, 19).
enum { WEIGHTS = 1, RECURRENT = 5, BIASES = 12, HIDDEN = 18, CELL = 19, GATES = 4 };

typedef struct lstm {
    ln_tflite_op *op;
    const ln_tflite_tensor *in, *hidden, *cell;
    int steps, batch, units;
    const char *recurrent; // weights
} lstm;

// The order in which gates are computed: those with a sigmoid first.
static size_t gate_at(size_t i)
{
    static const size_t order[GATES] = {0, 1, 3, 2};
    return order[i];
}

static const char *joined(ln_tflite_op *op, size_t first)
{
    ln_tflite_builder *b = op->b;
    const char *parts[GATES];
    for (size_t i = 0; i < GATES; i++)
        parts[i] = ln_tflite_raw(op, first + gate_at(i));
    ln_tflite_begin(b, "Concat");
    for (size_t i = 0; i < GATES; i++)
        ln_tflite_in(b, parts[i]);
    const char *y = ln_tflite_out(b);
    ln_tflite_number(b, "axis", 0);
    return y;
}

static const char *within(ln_tflite_builder *b, const char *y, double low, double high)
{
    ln_tflite_number(b, "low", low);
    ln_tflite_number(b, "high", high);
    return y;
}

// Integers of 16 bits, as int32.
static const char *rescaled(ln_tflite_op *op, const char *x, double factor)
{
    const char *y = ln_tflite_rescale(op, x, 1, &factor, &(ln_tflite_rescaling){.out = NULL});
    return within(op->b, y, INT16_MIN, INT16_MAX);
}

// x + more, between bounds.
static const char *moved_within(ln_tflite_builder *b, const char *x, double more, double low,
                                double high)
{
    const char *none = ln_tflite_scalar(b, TL_INT32, 0),
               *zero = ln_tflite_scalar(b, TL_INT32, more);
    const char *y = ln_tflite_ternary(b, "rescale", x, NULL, none);
    ln_tflite_in(b, NULL);
    ln_tflite_in(b, zero);
    ln_tflite_string(b, "rounding", "shift");
    return within(b, y, low, high);
}

// What all gates have of x, which has the scale of `t`: [rows, gates * units].
static const char *gates_of(const lstm *l, const char *x, const ln_tflite_tensor *t, size_t first,
                            const char *weights, const char *bias)
{
    ln_tflite_op *op = l->op;
    const size_t count = (size_t)l->units * GATES;
    const char *sums = products(op, x, t, weights, bias);
    double *factors = ln_alloc(count * sizeof *factors);
    if (!factors) {
        ln_tflite_stop(op->b, LN_NO_MEMORY, "factors");
        return "";
    }
    for (size_t i = 0; i < count; i++) {
        const size_t gate = gate_at(i / (size_t)l->units);
        const float scale = ln_tflite_scale(op, ln_tflite_input(op, first + gate));
        factors[i] = (double)(ln_tflite_scale(op, t) * scale) / 0x1p-12;
    }
    const char *rounding = t->dtype == TL_INT16 ? "q15" : "q31";
    const char *y = ln_tflite_rescale(op, sums, count, factors,
                                      &(ln_tflite_rescaling){.rounding = rounding, .axis = 1});
    ln_free(factors);
    return within(op->b, y, INT16_MIN, INT16_MAX);
}

static void split(ln_tflite_builder *b, const char *x, int axis, const char *lengths, size_t count,
                  const char **names)
{
    ln_tflite_begin(b, "Split");
    ln_tflite_in(b, x);
    if (lengths)
        ln_tflite_in(b, lengths);
    for (size_t i = 0; i < count; i++)
        names[i] = ln_tflite_out(b);
    ln_tflite_number(b, "axis", axis);
    if (!lengths)
        ln_tflite_number(b, "num_outputs", (double)count);
    ln_tflite_flush(b);
}

static const char *function_of(const lstm *l, const char *at, bool is_tanh, float scale)
{
    const char *y = ln_tflite_sigmoids(l->op, at, is_tanh, scale);
    if (!y)
        ln_tflite_problem(l->op, help,
                          "it needs a table for the scale %g, which is no power of two, "
                          "or the model has too many of them",
                          (double)scale);
    return y ? y : "";
}

// Gates i, f and o after their sigmoid, and c after its tanh.
static void activate(const lstm *l, const char *sum, const char *gates[GATES])
{
    ln_tflite_builder *b = l->op->b;
    const char *parts[2];
    const char *at = moved_within(b, sum, -(double)INT16_MIN, 0, UINT16_MAX);
    const char *lengths = ln_tflite_ints(b, 2, (const int64_t[]){3 * (int64_t)l->units, l->units});
    split(b, at, 1, lengths, 2, parts);
    const char *sigmoids = function_of(l, parts[0], false, 0x1p-12f);
    gates[GATES - 1] = function_of(l, parts[1], true, 0x1p-12f);
    split(b, sigmoids, 1, NULL, GATES - 1, gates);
}

// The cell's tanh, in units of 2^-15.
static const char *tanh_of_cell(const lstm *l, const char *cell)
{
    ln_tflite_builder *b = l->op->b;
    const char *first = ln_tflite_scalar(b, TL_INT32, -(double)INT16_MIN);
    const char *at = ln_tflite_binary(b, "Add", cell, first);
    return function_of(l, at, true, ln_tflite_scale(l->op, l->cell));
}

// One step: *cell is int32, *hidden of the type of the input.
static void step(const lstm *l, const char *of_input, double limit, const char **hidden,
                 const char **cell)
{
    ln_tflite_op *op = l->op;
    ln_tflite_builder *b = op->b;
    const char *gates[GATES]; // i, f, o, c
    const double unit = (double)ln_tflite_scale(op, l->cell);
    const char *sum = gates_of(l, *hidden, l->hidden, RECURRENT, l->recurrent, NULL);
    activate(l, ln_tflite_binary(b, "Add", of_input, sum), gates);
    const char *kept = ln_tflite_binary(b, "Mul", gates[1], *cell);
    kept = rescaled(op, kept, 0x1p-15 * unit / unit);
    const char *entered = ln_tflite_binary(b, "Mul", gates[0], gates[3]);
    entered = rescaled(op, entered, 0x1p-30 / unit);
    *cell = moved_within(b, ln_tflite_binary(b, "Add", kept, entered), 0, fmax(-limit, INT16_MIN),
                         fmin(limit, INT16_MAX));
    const char *y = ln_tflite_binary(b, "Mul", tanh_of_cell(l, *cell), gates[2]);
    const double factor = 0x1p-30 / (double)ln_tflite_scale(op, l->hidden);
    *hidden = ln_tflite_rescale(op, y, 1, &factor, &(ln_tflite_rescaling){.out = l->hidden});
}

// In units of the cell's scale, without a fraction.
static double limit_of(const lstm *l)
{
    const float clip = ln_tflite_float_option(l->op, 1, 0);
    const double limit = trunc((double)clip / (double)ln_tflite_scale(l->op, l->cell));
    return clip > 0 ? limit : INFINITY;
}

// What the operator lacks in this form.
static void check_variant(ln_tflite_op *op)
{
    static const struct part {
        size_t first, count;
        const char *what;
    } parts[] = {{9, 3, "peepholes"}, {16, 2, "a projection"}, {20, 4, "a layer normalization"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (size_t j = 0; j < parts[i].count; j++)
            if (ln_tflite_has(op, parts[i].first + j)) {
                ln_tflite_problem(op, help, "it has %s on integers, which is not read",
                                  parts[i].what);
                break;
            }
    if (!ln_tflite_has(op, WEIGHTS))
        ln_tflite_problem(op, help, "it has coupled gates on integers, which is not read");
    if (ln_tflite_small_option(op, 0) != ACT_TANH)
        ln_tflite_problem(op, help, "the activation %lld of a gate is not read on integers",
                          (long long)ln_tflite_small_option(op, 0));
}

static void check_operands(lstm *l)
{
    ln_tflite_op *op = l->op;
    const tl_dtype of_bias = l->in->dtype == TL_INT16 ? TL_INT64 : TL_INT32;
    check_ends(op, 3);
    for (size_t i = 0; i < 2 * GATES; i++) {
        const ln_tflite_tensor *t = ln_tflite_input(op, WEIGHTS + i);
        check_matrix(op, WEIGHTS + i, TL_INT8, false);
        if (t->ndim == 2 && t->dims[0] != l->units)
            ln_tflite_problem(op, NULL, "'%s' has %d rows in place of %d", t->name, t->dims[0],
                              l->units);
    }
    for (size_t i = 0; i < GATES; i++) {
        const ln_tflite_tensor *t = ln_tflite_input(op, BIASES + i);
        if (t->dtype != of_bias)
            ln_tflite_problem(op, help, "the bias '%s' is of %s, not of %s", t->name,
                              ln_tflite_type_name(t->type), tl_dtype_title(of_bias));
    }
    check_matrix(op, HIDDEN, l->in->dtype, true);
    check_matrix(op, CELL, TL_INT16, false);
    if (l->steps < 1 || l->batch < 1 || l->steps > MAX_STEPS)
        ln_tflite_problem(op, help, "its sequence has %d steps of %d rows; 1 to %d are read",
                          l->steps, l->batch, MAX_STEPS);
}

// Rows of all steps, one step after the other.
static const char *rows_of(const lstm *l, bool is_time_major)
{
    ln_tflite_builder *b = l->op->b;
    const char *x = ln_tflite_raw(l->op, 0);
    if (!is_time_major && l->batch > 1 && l->steps > 1)
        x = ln_tflite_transpose(b, x, 3, (const int[]){1, 0, 2});
    return ln_tflite_reshape(b, x, 2, (const int64_t[]){-1, l->in->dims[2]});
}

// The states of all steps, of which each is a matrix.
static void give_steps(const lstm *l, const char *const *states, bool is_time_major)
{
    ln_tflite_builder *b = l->op->b;
    ln_tflite_begin(b, "Concat");
    for (int i = 0; i < l->steps; i++)
        ln_tflite_in(b, states[i]);
    const char *y = ln_tflite_out(b);
    ln_tflite_number(b, "axis", is_time_major ? 0 : 1);
    const int first = is_time_major ? l->steps : l->batch;
    ln_tflite_give_raw(l->op, 0,
                       ln_tflite_reshape(b, y, 3, (const int64_t[]){first, -1, l->units}));
}

static void read_steps(lstm *l, bool is_time_major)
{
    ln_tflite_op *op = l->op;
    ln_tflite_builder *b = op->b;
    const char *of_input[MAX_STEPS], *states[MAX_STEPS];
    ln_tflite_state *of_hidden, *of_cell;
    const char *hidden = state_at(op, HIDDEN, &of_hidden), *cell = state_at(op, CELL, &of_cell);
    const char *weights = joined(op, WEIGHTS), *bias = joined(op, BIASES);
    l->recurrent = joined(op, RECURRENT);
    if (!ln_tflite_is_going(b))
        return;
    const char *rows = rows_of(l, is_time_major);
    rows = gates_of(l, rows, l->in, WEIGHTS, weights, bias);
    split(b, rows, 0, NULL, (size_t)l->steps, of_input);
    cell = ln_tflite_cast(b, cell, TL_INT32);
    for (int i = 0; i < l->steps; i++) {
        step(l, of_input[i], limit_of(l), &hidden, &cell);
        ln_tflite_flush(b);
        states[i] = hidden;
    }
    keep_state(op, of_hidden, hidden);
    keep_state(op, of_cell, ln_tflite_cast(b, cell, TL_INT16));
    give_steps(l, states, is_time_major);
}

void ln_tflite_read_fixed_lstm(ln_tflite_op *op)
{
    const bool is_time_major = ln_tflite_small_option(op, 3) != 0;
    lstm l = {.op = op, .in = ln_tflite_input(op, 0)};
    check_variant(op);
    l.hidden = ln_tflite_input(op, HIDDEN);
    l.cell = ln_tflite_input(op, CELL);
    l.steps = l.in->dims[is_time_major ? 0 : 1];
    l.batch = l.in->dims[is_time_major ? 1 : 0];
    l.units = ln_tflite_input(op, WEIGHTS)->dims[0];
    check_operands(&l);
    if (ln_tflite_is_going(op->b))
        read_steps(&l, is_time_major);
}

// ---- SVDF ----

// Inputs: the row, weights of features, weights of time, bias, state.
static void check_svdf(ln_tflite_op *op, int64_t rank)
{
    const ln_tflite_tensor *time = ln_tflite_input(op, 2), *kept = ln_tflite_input(op, 4);
    const int64_t activation = ln_tflite_small_option(op, 1);
    check_ends(op, 2);
    check_matrix(op, 1, TL_INT8, false);
    check_matrix(op, 2, time->dtype == TL_INT8 ? TL_INT8 : TL_INT16, false);
    check_matrix(op, 4, time->dtype == TL_INT8 ? TL_INT8 : TL_INT16, time->dtype == TL_INT8);
    if (ln_tflite_input(op, 0)->dtype != TL_INT8)
        ln_tflite_problem(op, help, "it computes on %s, and only float32 and int8 are read",
                          ln_tflite_type_name(ln_tflite_input(op, 0)->type));
    if (activation != ACT_NONE && activation != ACT_RELU)
        ln_tflite_problem(op, help, "the fused activation %lld is not read on integers",
                          (long long)activation);
    if (rank < 1 || time->dims[0] < 1 || time->dims[1] < 1 || time->dims[0] % rank != 0 ||
        kept->dims[1] != (int64_t)time->dims[0] * time->dims[1])
        ln_tflite_problem(op, NULL,
                          "it has rank %lld, weights of time '%s' [%d, %d] and a state of %d",
                          (long long)rank, time->name, time->dims[0], time->dims[1], kept->dims[1]);
    if (ln_tflite_has(op, 3) && ln_tflite_input(op, 3)->dtype != TL_INT32)
        ln_tflite_problem(op, help, "the bias '%s' is of %s, not of int32",
                          ln_tflite_input(op, 3)->name,
                          ln_tflite_type_name(ln_tflite_input(op, 3)->type));
}

// The features of this row enter as the newest of the state: [batch, features, steps].
static const char *entered(ln_tflite_op *op, const char *kept, const ln_tflite_tensor *time)
{
    ln_tflite_builder *b = op->b;
    const ln_tflite_tensor *in = ln_tflite_input(op, 0), *state = ln_tflite_input(op, 4);
    const float unit = ln_tflite_scale(op, in) * ln_tflite_scale(op, ln_tflite_input(op, 1));
    const double factor = (double)(unit / ln_tflite_scale(op, state));
    const char *x = products(op, ln_tflite_raw(op, 0), in, ln_tflite_raw(op, 1), NULL);
    x = ln_tflite_rescale(op, x, 1, &factor, &(ln_tflite_rescaling){.out = state});
    const int64_t features = time->dims[0], steps = time->dims[1];
    x = ln_tflite_reshape(b, x, 3, (const int64_t[]){-1, features, 1});
    if (steps == 1)
        return x;
    kept = ln_tflite_reshape(b, kept, 3, (const int64_t[]){-1, features, steps});
    const char *from = ln_tflite_ints(b, 1, (const int64_t[]){1}),
               *to = ln_tflite_ints(b, 1, (const int64_t[]){INT64_MAX}),
               *axis = ln_tflite_ints(b, 1, (const int64_t[]){2});
    kept = ln_tflite_ternary(b, "Slice", kept, from, to);
    ln_tflite_in(b, axis);
    return ln_tflite_along(b, "Concat", kept, x, 2);
}

// The fused activation is in the output's scale already, where the kernels have it.
static void give_output(ln_tflite_op *op, const char *kept, const ln_tflite_tensor *time,
                        int64_t rank)
{
    ln_tflite_builder *b = op->b;
    const ln_tflite_tensor *out = ln_tflite_output(op, 0), *state = ln_tflite_input(op, 4);
    const char *bias = ln_tflite_has(op, 3) ? ln_tflite_raw(op, 3) : NULL;
    const char *w = ln_tflite_cast(b, ln_tflite_raw(op, 2), TL_INT32);
    const char *y = ln_tflite_cast(b, kept, TL_INT32);
    if (ln_tflite_zero(op, state) != 0)
        y = ln_tflite_binary(b, "Sub", y, ln_tflite_scalar(b, TL_INT32, ln_tflite_zero(op, state)));
    y = ln_tflite_binary(b, "Mul", y, w);
    y = ln_tflite_reshape(b, y, 3,
                          (const int64_t[]){-1, time->dims[0] / rank, rank * time->dims[1]});
    const char *last = ln_tflite_ints(b, 1, (const int64_t[]){-1});
    y = ln_tflite_binary(b, "ReduceSum", y, last);
    ln_tflite_number(b, "keepdims", 0);
    if (bias)
        y = ln_tflite_binary(b, "Add", y, bias);
    const float unit = ln_tflite_scale(op, state) * ln_tflite_scale(op, ln_tflite_input(op, 2));
    const double factor = (double)(unit / ln_tflite_scale(op, out));
    ln_tflite_give_raw(op, 0,
                       ln_tflite_rescale(op, y, 1, &factor, &(ln_tflite_rescaling){.out = out}));
}

void ln_tflite_read_fixed_svdf(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const ln_tflite_tensor *time = ln_tflite_input(op, 2);
    const int64_t rank = ln_tflite_option(op, 0, 0);
    ln_tflite_state *variable;
    check_svdf(op, rank);
    const char *kept = state_at(op, 4, &variable);
    if (!ln_tflite_is_going(b))
        return;
    kept = entered(op, kept, time);
    const int64_t width = (int64_t)time->dims[0] * time->dims[1];
    keep_state(op, variable, ln_tflite_reshape(b, kept, 2, (const int64_t[]){-1, width}));
    give_output(op, kept, time, rank);
}
