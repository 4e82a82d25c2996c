// SPDX-License-Identifier: Apache-2.0
// Recurrent networks in double, one step of one sequence at a time.
//
// State stays double between the steps; only what leaves the operator is rounded.

#include "op/onnx/recurrent.h"
#include "arch/ref/functions.h"

#include <math.h>
#include <string.h>

#include "arch/ref/act.h"
#include "arch/ref/onnx/doubles.h"
#include "base/deadline.h"

// One direction of one operator, with its weights as doubles.
typedef struct pass {
    const ln_recurrent *layer;
    const ln_rnn_activation *activations;
    const double *w, *r;           // [gates * hidden, input], [gates * hidden, hidden]
    const double *w_bias, *r_bias; // [gates * hidden] each, or NULL
    const double *peephole;        // [3 * hidden] for i, o, f, or NULL
    bool is_linear_before_reset;   // GRU
    bool is_input_forget;          // LSTM
    double *from_x, *from_h;       // [gates * hidden]: what each gate gets from the two
    double *h, *c;                 // [hidden]: the state
    double *work;                  // [hidden]
} pass;

static double activate(const ln_rnn_activation *activation, double clip, double x)
{
    if (x > clip)
        x = clip;
    else if (x < -clip)
        x = -clip;
    return ln_ref_act(activation->act, activation->alpha, activation->beta, x);
}

static double run_activation(const pass *p, int index, double x)
{
    return activate(&p->activations[index], p->layer->clip, x);
}

// out[i] = matrix row i * vector + bias[i]
static void multiply(const double *matrix, const double *vector, const double *bias, size_t rows,
                     size_t columns, double *out)
{
    for (size_t i = 0; i < rows; i++)
        out[i] = ln_ref_sum_products(matrix + i * columns, vector, columns) + (bias ? bias[i] : 0);
}

// ---- One step ----

static void step_rnn(const pass *p)
{
    for (int j = 0; j < p->layer->hidden; j++)
        p->h[j] = run_activation(p, 0, p->from_x[j] + p->from_h[j]);
}

// Gates z, r, h. Before the reset gate is applied, the recurrent weights of the third one act on
// the old state only if `linear_before_reset` says so.
static void step_gru(const pass *p)
{
    size_t hidden = (size_t)p->layer->hidden;
    const double *x_h = p->from_x + 2 * hidden;
    double *h_h = p->from_h + 2 * hidden, *reset = p->work;
    for (size_t j = 0; j < hidden; j++)
        reset[j] = run_activation(p, 0, p->from_x[hidden + j] + p->from_h[hidden + j]);
    if (p->is_linear_before_reset) {
        for (size_t j = 0; j < hidden; j++)
            h_h[j] *= reset[j];
    } else {
        for (size_t j = 0; j < hidden; j++)
            reset[j] *= p->h[j];
        multiply(p->r + 2 * hidden * hidden, reset, p->r_bias ? p->r_bias + 2 * hidden : NULL,
                 hidden, hidden, h_h);
    }
    for (size_t j = 0; j < hidden; j++) {
        double update = run_activation(p, 0, p->from_x[j] + p->from_h[j]);
        p->h[j] = (1 - update) * run_activation(p, 1, x_h[j] + h_h[j]) + update * p->h[j];
    }
}

// Gates i, o, f, c.
static void step_lstm(const pass *p)
{
    size_t hidden = (size_t)p->layer->hidden;
    const double *x = p->from_x, *h = p->from_h, *peephole = p->peephole;
    for (size_t j = 0; j < hidden; j++) {
        size_t o = hidden + j, f = 2 * hidden + j, c = 3 * hidden + j;
        double cell = p->c[j];
        double in = run_activation(p, 0, x[j] + h[j] + (peephole ? peephole[j] * cell : 0));
        double forget = 1 - in;
        if (!p->is_input_forget)
            forget = run_activation(p, 0, x[f] + h[f] + (peephole ? peephole[f] * cell : 0));
        cell = forget * cell + in * run_activation(p, 1, x[c] + h[c]);
        double out = run_activation(p, 0, x[o] + h[o] + (peephole ? peephole[o] * cell : 0));
        p->c[j] = cell;
        p->h[j] = out * activate(&p->activations[2], INFINITY, cell); // only gates are clipped
    }
}

static void step(const pass *p, const double *x)
{
    const ln_recurrent *layer = p->layer;
    size_t hidden = (size_t)layer->hidden, rows = hidden * (size_t)layer->gate_count;
    multiply(p->w, x, p->w_bias, rows, (size_t)layer->input, p->from_x);
    multiply(p->r, p->h, p->r_bias, rows, hidden, p->from_h);
    if (layer->gate_count == 1)
        step_rnn(p);
    else if (layer->gate_count == 3)
        step_gru(p);
    else
        step_lstm(p);
}

// ---- Sequences ----

static void load(const tl_tensor *t, size_t at, size_t count, double *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = t ? ln_elem_real(t, at + i) : 0;
}

static void store(tl_tensor *t, size_t at, size_t count, const double *values)
{
    for (size_t i = 0; t && i < count; i++)
        ln_elem_set_real(t, at + i, values ? values[i] : 0);
}

static void run_sequence(ln_call *call, const pass *p, const double *x, size_t len, size_t d,
                         size_t b)
{
    const ln_recurrent *layer = p->layer;
    size_t hidden = (size_t)layer->hidden, seq_len = (size_t)layer->seq_len;
    bool is_backwards = d == 1 || layer->starts_backwards;
    bool has_cell = layer->gate_count == 4;
    tl_tensor *y = ln_call_dst(call, 0);

    load(ln_call_in(call, LN_RNN_IN_H), ln_recurrent_state_at(layer, d, b), hidden, p->h);
    if (has_cell)
        load(ln_call_in(call, LN_RNN_IN_C), ln_recurrent_state_at(layer, d, b), hidden, p->c);
    for (size_t i = 0; i < len && !ln_deadline_passed(); i++) {
        size_t t = is_backwards ? len - 1 - i : i;
        step(p, x + ln_recurrent_row(layer, t, b) * (size_t)layer->input);
        store(y, ln_recurrent_y_at(layer, t, d, b), hidden, p->h);
    }
    for (size_t t = len; t < seq_len; t++)
        store(y, ln_recurrent_y_at(layer, t, d, b), hidden, NULL);
    store(ln_call_dst(call, 1), ln_recurrent_state_at(layer, d, b), hidden, p->h);
    if (has_cell)
        store(ln_call_dst(call, 2), ln_recurrent_state_at(layer, d, b), hidden, p->c);
}

// ---- The operator ----

// The weights of direction `d`, converted; `p` stays valid until `compute` returns.
static ln_status init_pass(ln_call *call, const ln_recurrent *layer, pass *p)
{
    size_t hidden = (size_t)layer->hidden, rows = hidden * (size_t)layer->gate_count;
    *p = (pass){.layer = layer};
    p->w = ln_ref_doubles(call, ln_call_in(call, LN_RNN_IN_W));
    p->r = ln_ref_doubles(call, ln_call_in(call, LN_RNN_IN_R));
    p->from_x = ln_ref_new_doubles(call, rows);
    p->from_h = ln_ref_new_doubles(call, rows);
    p->h = ln_ref_new_doubles(call, hidden);
    p->c = ln_ref_new_doubles(call, hidden);
    p->work = ln_ref_new_doubles(call, hidden);
    if (!p->w || !p->r || !p->from_x || !p->from_h || !p->h || !p->c || !p->work)
        return LN_NO_MEMORY;
    if (ln_call_in(call, LN_RNN_IN_B)) {
        p->w_bias = ln_ref_doubles(call, ln_call_in(call, LN_RNN_IN_B));
        if (!p->w_bias)
            return LN_NO_MEMORY;
        p->r_bias = p->w_bias + rows;
    }
    if (layer->gate_count == 4 && ln_call_in(call, LN_RNN_IN_P)) {
        p->peephole = ln_ref_doubles(call, ln_call_in(call, LN_RNN_IN_P));
        if (!p->peephole)
            return LN_NO_MEMORY;
    }
    p->is_linear_before_reset =
        layer->gate_count == 3 && ln_call_int(call, "linear_before_reset") != 0;
    p->is_input_forget = layer->gate_count == 4 && ln_call_int(call, "input_forget") != 0;
    return LN_OK;
}

static void next_direction(pass *p)
{
    size_t hidden = (size_t)p->layer->hidden, rows = hidden * (size_t)p->layer->gate_count;
    p->w += rows * (size_t)p->layer->input;
    p->r += rows * hidden;
    if (p->w_bias) {
        p->w_bias += 2 * rows;
        p->r_bias += 2 * rows;
    }
    if (p->peephole)
        p->peephole += 3 * hidden;
}

ln_status ln_ref_rnn(ln_call *call)
{
    ln_recurrent layer;
    LN_TRY(ln_recurrent_read(call, &layer));
    const double *x = ln_ref_doubles(call, ln_call_in(call, LN_RNN_IN_X));
    if (!x)
        return LN_NO_MEMORY;
    pass p;
    LN_TRY(init_pass(call, &layer, &p));
    if (ln_call_is_counting(call))
        return LN_OK;
    for (size_t d = 0; d < (size_t)layer.dirs; d++) {
        p.activations = layer.activations[d];
        for (size_t b = 0; b < (size_t)layer.batch; b++) {
            size_t len;
            LN_TRY(ln_recurrent_len(call, &layer, b, &len));
            run_sequence(call, &p, x, len, d, b);
        }
        next_direction(&p);
    }
    return LN_OK;
}
