// SPDX-License-Identifier: Apache-2.0
// GRU and LSTM: what the steps get from the input is computed for all of them at once, then one
// step of one sequence at a time.
//
// Weights are read as the model holds them, so that a run of a few steps does not pay for packing.

#include "arch/cpu/onnx/recurrent.h"

#include <math.h>
#include <string.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/recurrent/recurrent.h"
#include "arch/cpu/onnx/pool_of.h"

// One direction of one operator.
typedef struct pass {
    const ln_recurrent_f32_kernels *kernels;
    const ln_recurrent *layer;
    const float *w, *r;           // [gates * hidden, input], [gates * hidden, hidden]
    const float *w_bias, *r_bias; // [gates * hidden] each, or NULL
    const float *peephole;        // [3 * hidden] for i, o, f, or NULL
    bool is_linear_before_reset;  // GRU
    bool is_input_forget;         // LSTM
    float *from_x;                // [steps * batch, gates * hidden]
    float *from_h;                // [gates * hidden]
    float *h, *c, *reset;         // [hidden]
} pass;

static size_t gate_rows(const ln_recurrent *layer)
{
    return (size_t)layer->gate_count * (size_t)layer->hidden;
}

// ---- What is taken ----

static ln_status accepts(ln_call *call, int gate_count)
{
    ln_recurrent layer;
    for (int i = 0; i < ln_call_in_count(call); i++) {
        const tl_tensor *in = ln_call_in(call, i);
        if (in && i != LN_RNN_IN_LENS && in->dtype != TL_FLOAT)
            return ln_call_fail(call, LN_UNSUPPORTED, "is for TL_FLOAT here");
    }
    LN_TRY(ln_recurrent_read(call, gate_count, &layer));
    if (isfinite(layer.clip))
        return ln_call_fail(call, LN_UNSUPPORTED, "is without a clip here");
    for (int d = 0; d < layer.dirs; d++) {
        const ln_rnn_activation *a = layer.activations[d];
        if (a[0].kind != LN_RNN_SIGMOID || a[1].kind != LN_RNN_TANH ||
            (gate_count == 4 && a[2].kind != LN_RNN_TANH))
            return ln_call_fail(call, LN_UNSUPPORTED, "is for sigmoid and tanh here");
    }
    return LN_OK;
}

ln_status ln_cpu_accepts_onnx_gru(ln_call *call)
{
    return accepts(call, 3);
}

ln_status ln_cpu_accepts_onnx_lstm(ln_call *call)
{
    return accepts(call, 4);
}

// ---- Steps ----

static void multiply_state(const pass *p, size_t first, size_t rows, const float *state, float *out)
{
    size_t hidden = (size_t)p->layer->hidden;
    p->kernels->products(&(ln_row_products_f32){.m = 1,
                                                .n = rows,
                                                .k = hidden,
                                                .a = state,
                                                .b = p->r + first * hidden,
                                                .bias = p->r_bias ? p->r_bias + first : NULL,
                                                .y = out});
}

// Before the reset gate is applied, the recurrent weights of the third one act on the old state
// only if `linear_before_reset` says so.
static void step_gru(const pass *p, const float *x)
{
    size_t hidden = (size_t)p->layer->hidden;
    float *h_h = p->from_h + 2 * hidden;
    if (p->is_linear_before_reset) {
        multiply_state(p, 0, 3 * hidden, p->h, p->from_h);
        p->kernels->gru_reset(&(ln_gru_reset_f32){
            .hidden = hidden, .x = x, .h = p->from_h, .from = h_h, .reset = h_h});
    } else {
        multiply_state(p, 0, 2 * hidden, p->h, p->from_h);
        p->kernels->gru_reset(&(ln_gru_reset_f32){
            .hidden = hidden, .x = x, .h = p->from_h, .from = p->h, .reset = p->reset});
        multiply_state(p, 2 * hidden, hidden, p->reset, h_h);
    }
    p->kernels->gru(
        &(ln_gru_cell_f32){.hidden = hidden, .x = x, .h = p->from_h, .h_h = h_h, .state = p->h});
}

static void step_lstm(const pass *p, const float *x)
{
    multiply_state(p, 0, gate_rows(p->layer), p->h, p->from_h);
    p->kernels->lstm(&(ln_lstm_cell_f32){.hidden = (size_t)p->layer->hidden,
                                         .x = x,
                                         .h = p->from_h,
                                         .peephole = p->peephole,
                                         .is_input_forget = p->is_input_forget,
                                         .cell = p->c,
                                         .state = p->h});
}

// ---- Sequences ----

// Step t of sequence b, in the order of X.
static size_t row_at(const ln_recurrent *layer, size_t t, size_t b)
{
    return layer->batch_first ? b * (size_t)layer->seq_len + t : t * (size_t)layer->batch + b;
}

static size_t y_at(const ln_recurrent *layer, size_t t, size_t d, size_t b)
{
    size_t dirs = (size_t)layer->dirs, hidden = (size_t)layer->hidden;
    if (layer->batch_first)
        return ((b * (size_t)layer->seq_len + t) * dirs + d) * hidden;
    return ((t * dirs + d) * (size_t)layer->batch + b) * hidden;
}

static size_t state_at(const ln_recurrent *layer, size_t d, size_t b)
{
    size_t row = layer->batch_first ? b * (size_t)layer->dirs + d : d * (size_t)layer->batch + b;
    return row * (size_t)layer->hidden;
}

static void load(const tl_tensor *t, size_t at, size_t count, float *out)
{
    if (t)
        memcpy(out, (const float *)t->data + at, count * sizeof *out);
    else
        memset(out, 0, count * sizeof *out);
}

static void store(tl_tensor *t, size_t at, size_t count, const float *values)
{
    if (!t)
        return;
    float *to = (float *)t->data + at;
    if (values)
        memcpy(to, values, count * sizeof *to);
    else
        memset(to, 0, count * sizeof *to);
}

static void run_sequence(ln_call *call, const pass *p, size_t len, size_t d, size_t b)
{
    const ln_recurrent *layer = p->layer;
    size_t hidden = (size_t)layer->hidden, rows = gate_rows(layer);
    bool is_backwards = d == 1 || layer->starts_backwards;
    bool has_cell = layer->gate_count == 4;
    tl_tensor *y = ln_call_dst(call, 0);

    load(ln_call_in(call, LN_RNN_IN_H), state_at(layer, d, b), hidden, p->h);
    if (has_cell)
        load(ln_call_in(call, LN_RNN_IN_C), state_at(layer, d, b), hidden, p->c);
    for (size_t i = 0; i < len; i++) {
        size_t t = is_backwards ? len - 1 - i : i;
        const float *x = p->from_x + row_at(layer, t, b) * rows;
        if (has_cell)
            step_lstm(p, x);
        else
            step_gru(p, x);
        store(y, y_at(layer, t, d, b), hidden, p->h);
    }
    for (size_t t = len; t < (size_t)layer->seq_len; t++)
        store(y, y_at(layer, t, d, b), hidden, NULL);
    store(ln_call_dst(call, 1), state_at(layer, d, b), hidden, p->h);
    if (has_cell)
        store(ln_call_dst(call, 2), state_at(layer, d, b), hidden, p->c);
}

// Length of sequence b, checked.
static ln_status sequence_len(ln_call *call, const ln_recurrent *layer, size_t b, size_t *out_len)
{
    const tl_tensor *lens = ln_call_in(call, LN_RNN_IN_LENS);
    int64_t len = lens ? ((const int32_t *)lens->data)[b] : layer->seq_len;
    *out_len = 0;
    if (len < 0 || len > layer->seq_len)
        return ln_call_fail(call, LN_INVALID, "has a sequence of length %lld, outside 0 to %d",
                            (long long)len, layer->seq_len);
    *out_len = (size_t)len;
    return LN_OK;
}

// ---- The input of all steps ----

#define BLOCK_STEPS 16
#define MIN_SHARED  2000000.0 // products below which one thread is done before another had begun

typedef struct input_job {
    const pass *pass;
    const float *x;
    size_t steps;
} input_job;

static void multiply_inputs(void *user, size_t index)
{
    const input_job *job = user;
    const pass *p = job->pass;
    size_t first = index * BLOCK_STEPS, left = job->steps - first;
    size_t rows = gate_rows(p->layer), input = (size_t)p->layer->input;
    p->kernels->products(&(ln_row_products_f32){.m = left < BLOCK_STEPS ? left : BLOCK_STEPS,
                                                .n = rows,
                                                .k = input,
                                                .a = job->x + first * input,
                                                .b = p->w,
                                                .bias = p->w_bias,
                                                .y = p->from_x + first * rows});
}

static void multiply_all_inputs(ln_call *call, const pass *p)
{
    const ln_recurrent *layer = p->layer;
    input_job job = {.pass = p,
                     .x = ln_call_in(call, LN_RNN_IN_X)->data,
                     .steps = (size_t)layer->seq_len * (size_t)layer->batch};
    size_t blocks = (job.steps + BLOCK_STEPS - 1) / BLOCK_STEPS;
    ln_pool *pool = ln_cpu_call_pool(call);
    if (pool && (double)job.steps * (double)gate_rows(layer) * layer->input >= MIN_SHARED) {
        ln_pool_run(pool, blocks, multiply_inputs, &job);
        return;
    }
    for (size_t i = 0; i < blocks; i++)
        multiply_inputs(&job, i);
}

// ---- The operators ----

static const float *floats(const tl_tensor *t)
{
    return t ? t->data : NULL;
}

// The first direction; `p` stays valid until `compute` returns.
static ln_status init_pass(ln_call *call, const ln_recurrent *layer, pass *p)
{
    size_t hidden = (size_t)layer->hidden, rows = gate_rows(layer);
    size_t steps = (size_t)layer->seq_len * (size_t)layer->batch;
    *p = (pass){.kernels = ln_recurrent_f32_select(ln_cpu_isa_get()), .layer = layer};
    p->w = floats(ln_call_in(call, LN_RNN_IN_W));
    p->r = floats(ln_call_in(call, LN_RNN_IN_R));
    p->w_bias = floats(ln_call_in(call, LN_RNN_IN_B));
    p->r_bias = p->w_bias ? p->w_bias + rows : NULL;
    p->from_x = ln_call_scratch(call, steps ? steps : 1, (rows + 1) * sizeof(float));
    p->from_h = ln_call_scratch(call, rows + 3 * hidden + 1, sizeof(float));
    if (!p->from_x || !p->from_h)
        return ln_error_status();
    p->h = p->from_h + rows;
    p->c = p->h + hidden;
    p->reset = p->c + hidden;
    if (layer->gate_count == 4) {
        p->peephole = floats(ln_call_in(call, LN_RNN_IN_P));
        p->is_input_forget = ln_call_int(call, "input_forget") != 0;
    } else {
        p->is_linear_before_reset = ln_call_int(call, "linear_before_reset") != 0;
    }
    return LN_OK;
}

static void next_direction(pass *p)
{
    size_t hidden = (size_t)p->layer->hidden, rows = gate_rows(p->layer);
    p->w += rows * (size_t)p->layer->input;
    p->r += rows * hidden;
    if (p->w_bias) {
        p->w_bias += 2 * rows;
        p->r_bias += 2 * rows;
    }
    if (p->peephole)
        p->peephole += 3 * hidden;
}

static ln_status run_recurrent(ln_call *call, int gate_count)
{
    ln_recurrent layer;
    LN_TRY(ln_recurrent_read(call, gate_count, &layer));
    // Steps may be many although the input of each is empty.
    LN_TRY(ln_call_charge(call, (double)layer.seq_len * layer.batch * layer.dirs * gate_count *
                                    layer.hidden * layer.hidden));
    pass p;
    LN_TRY(init_pass(call, &layer, &p));
    for (size_t d = 0; d < (size_t)layer.dirs; d++) {
        multiply_all_inputs(call, &p);
        for (size_t b = 0; b < (size_t)layer.batch; b++) {
            size_t len;
            LN_TRY(sequence_len(call, &layer, b, &len));
            run_sequence(call, &p, len, d, b);
        }
        next_direction(&p);
    }
    return LN_OK;
}

ln_status ln_cpu_onnx_gru(ln_call *call)
{
    return run_recurrent(call, 3);
}

ln_status ln_cpu_onnx_lstm(ln_call *call)
{
    return run_recurrent(call, 4);
}
