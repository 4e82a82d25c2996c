// SPDX-License-Identifier: Apache-2.0
// GRU and LSTM: what the steps get from the input is computed for all of them at once, then one
// step of all sequences at a time, so that the weights are read once for several.
//
// Weights are packed, once if they are constants, unless the steps are so few that this would take
// longer than they do. Both ways a product is a sum in a stated order: a chain, or the lanes of
// recurrent.h.

#include "arch/cpu/functions.h"
#include "op/functions.h"
#include "op/onnx/recurrent.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "arch/cpu/call.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/gemm/packed.h"
#include "arch/cpu/kernels/recurrent/recurrent.h"
#include "arch/cpu/kernels/tasks.h"
#include "base/checked.h"
#include "base/minmax.h"
#include "op/prepare.h"

// One direction of one operator.
typedef struct pass {
    const ln_recurrent_f32_kernels *kernels;
    const ln_recurrent *layer;
    ln_pool *pool;
    const float *w, *r; // [gates * hidden, input], [gates * hidden, hidden]
    float *packed_w;    // panels of W and of the parts of R; NULL: not packed
    float *packed_r[2];
    const float *w_bias, *r_bias; // [gates * hidden] each, or NULL
    const float *peephole;        // [3 * hidden] for i, o, f, or NULL
    bool is_linear_before_reset;  // GRU
    bool is_input_forget;         // LSTM
    float *from_x;                // [steps * batch, gates * hidden]
    bool is_backwards;
    const int32_t *lens;  // of the sequences, checked; NULL: all are as long as the longest
    float *from_h;        // [batch, gates * hidden]
    float *h, *c, *reset; // [batch, hidden]
} pass;

// What is made once.
typedef struct kept_layer {
    ln_recurrent layer;
    bool is_linear_before_reset; // GRU
    bool is_input_forget;        // LSTM
    float *panels;               // of each direction; NULL: a run packs them, if anybody does
} kept_layer;

static size_t gate_rows(const ln_recurrent *layer)
{
    return (size_t)layer->gate_count * (size_t)layer->hidden;
}

// ---- What is taken ----

ln_status ln_cpu_accepts_rnn(ln_call *call)
{
    ln_recurrent layer;
    for (int i = 0; i < ln_call_in_count(call); i++) {
        const tl_tensor *in = ln_call_in(call, i);
        if (in && i != LN_RNN_IN_LENS && in->dtype != TL_FLOAT)
            return ln_call_fail(call, LN_UNSUPPORTED, "is for float32 here");
    }
    LN_TRY(ln_recurrent_read(call, &layer));
    if (layer.gate_count == 1)
        return ln_call_fail(call, LN_UNSUPPORTED, "has no kind rnn here");
    if (isfinite(layer.clip))
        return ln_call_fail(call, LN_UNSUPPORTED, "is without a clip here");
    for (int d = 0; d < layer.dirs; d++) {
        const ln_rnn_activation *a = layer.activations[d];
        if (a[0].act != LN_ACT_SIGMOID || a[1].act != LN_ACT_TANH ||
            (layer.gate_count == 4 && a[2].act != LN_ACT_TANH))
            return ln_call_fail(call, LN_UNSUPPORTED, "is for sigmoid and tanh here");
    }
    return LN_OK;
}

// ---- Steps ----

// Sequences [b, b + count), each at its step number `i`.
typedef struct step {
    size_t i, b, count;
} step;

static size_t len_of(const pass *p, size_t b)
{
    return p->lens ? (size_t)p->lens[b] : (size_t)p->layer->seq_len;
}

// Which of its steps a sequence does as number `i`.
static size_t time_of(const pass *p, size_t i, size_t b)
{
    return p->is_backwards ? len_of(p, b) - 1 - i : i;
}

static const float *x_of(const pass *p, size_t i, size_t b)
{
    return p->from_x + ln_recurrent_row(p->layer, time_of(p, i, b), b) * gate_rows(p->layer);
}

// Rows of R that act on the same state: all of LSTM, and of GRU those of two gates, and of the
// third.
typedef struct part {
    size_t first, rows;
} part;

static part part_at(const ln_recurrent *layer, size_t index)
{
    size_t hidden = (size_t)layer->hidden;
    if (layer->gate_count == 4)
        return (part){0, index ? 0 : 4 * hidden};
    return index ? (part){2 * hidden, hidden} : (part){0, 2 * hidden};
}

// The products of states, [count, hidden] from those of sequence b on, with a part of R.
static void multiply_state(const pass *p, const step *s, size_t index, const float *state)
{
    size_t hidden = (size_t)p->layer->hidden, all = gate_rows(p->layer);
    const part r = part_at(p->layer, index);
    const float *bias = p->r_bias ? p->r_bias + r.first : NULL;
    state += s->b * hidden;
    if (p->packed_w) {
        ln_gemm_packed_f32(ln_cpu_isa_get(),
                           &(ln_gemm_packed_f32_args){.m = s->count,
                                                      .n = r.rows,
                                                      .k = hidden,
                                                      .a = state,
                                                      .a_stride = hidden,
                                                      .packed = p->packed_r[index],
                                                      .y = p->from_h + r.first,
                                                      .y_stride = all,
                                                      .epilogue = {.bias = bias}},
                           p->pool);
        return;
    }
    for (size_t i = 0; i < s->count; i++)
        p->kernels->products(&(ln_row_products_f32){.m = 1,
                                                    .n = r.rows,
                                                    .k = hidden,
                                                    .a = state + i * hidden,
                                                    .b = p->r + r.first * hidden,
                                                    .bias = bias,
                                                    .y = p->from_h + i * all + r.first});
}

// The recurrent weights of the third gate act on the old state before the reset gate is applied.
static void step_gru_linear(const pass *p, const step *s)
{
    size_t hidden = (size_t)p->layer->hidden;
    multiply_state(p, s, 0, p->h);
    multiply_state(p, s, 1, p->h);
    for (size_t b = s->b; b < s->b + s->count; b++) {
        const float *x = x_of(p, s->i, b);
        float *from_h = p->from_h + (b - s->b) * 3 * hidden, *h_h = from_h + 2 * hidden;
        p->kernels->gru_reset(
            &(ln_gru_reset_f32){.hidden = hidden, .x = x, .h = from_h, .from = h_h, .reset = h_h});
        p->kernels->gru(&(ln_gru_cell_f32){
            .hidden = hidden, .x = x, .h = from_h, .h_h = h_h, .state = p->h + b * hidden});
    }
}

// They act on what the reset gate leaves of it.
static void step_gru(const pass *p, const step *s)
{
    size_t hidden = (size_t)p->layer->hidden;
    multiply_state(p, s, 0, p->h);
    for (size_t b = s->b; b < s->b + s->count; b++)
        p->kernels->gru_reset(&(ln_gru_reset_f32){.hidden = hidden,
                                                  .x = x_of(p, s->i, b),
                                                  .h = p->from_h + (b - s->b) * 3 * hidden,
                                                  .from = p->h + b * hidden,
                                                  .reset = p->reset + b * hidden});
    multiply_state(p, s, 1, p->reset);
    for (size_t b = s->b; b < s->b + s->count; b++)
        p->kernels->gru(&(ln_gru_cell_f32){.hidden = hidden,
                                           .x = x_of(p, s->i, b),
                                           .h = p->from_h + (b - s->b) * 3 * hidden,
                                           .h_h = p->from_h + ((b - s->b) * 3 + 2) * hidden,
                                           .state = p->h + b * hidden});
}

static void step_lstm(const pass *p, const step *s)
{
    size_t hidden = (size_t)p->layer->hidden, rows = gate_rows(p->layer);
    multiply_state(p, s, 0, p->h);
    for (size_t b = s->b; b < s->b + s->count; b++)
        p->kernels->lstm(&(ln_lstm_cell_f32){.hidden = hidden,
                                             .x = x_of(p, s->i, b),
                                             .h = p->from_h + (b - s->b) * rows,
                                             .peephole = p->peephole,
                                             .is_input_forget = p->is_input_forget,
                                             .cell = p->c + b * hidden,
                                             .state = p->h + b * hidden});
}

// ---- Sequences ----

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

// Sequences that are neighbours and not over yet take a step together, from the first one at or
// after `b` on; false if there is none.
static bool find_step(const pass *p, size_t i, size_t b, step *out)
{
    size_t batch = (size_t)p->layer->batch;
    while (b < batch && len_of(p, b) <= i)
        b++;
    *out = (step){.i = i, .b = b};
    while (b + out->count < batch && len_of(p, b + out->count) > i)
        out->count++;
    return out->count > 0;
}

static void take_step(ln_call *call, const pass *p, const step *s, size_t d)
{
    const ln_recurrent *layer = p->layer;
    size_t hidden = (size_t)layer->hidden;
    if (layer->gate_count == 4)
        step_lstm(p, s);
    else if (p->is_linear_before_reset)
        step_gru_linear(p, s);
    else
        step_gru(p, s);
    for (size_t b = s->b; b < s->b + s->count; b++)
        store(ln_call_dst(call, 0), ln_recurrent_y_at(layer, time_of(p, s->i, b), d, b), hidden,
              p->h + b * hidden);
}

static void run_sequences(ln_call *call, const pass *p, size_t d)
{
    const ln_recurrent *layer = p->layer;
    size_t hidden = (size_t)layer->hidden, batch = (size_t)layer->batch;
    size_t seq_len = (size_t)layer->seq_len;
    bool has_cell = layer->gate_count == 4;

    for (size_t b = 0; b < batch; b++) {
        size_t at = ln_recurrent_state_at(layer, d, b);
        load(ln_call_in(call, LN_RNN_IN_H), at, hidden, p->h + b * hidden);
        if (has_cell)
            load(ln_call_in(call, LN_RNN_IN_C), at, hidden, p->c + b * hidden);
        for (size_t t = len_of(p, b); t < seq_len; t++)
            store(ln_call_dst(call, 0), ln_recurrent_y_at(layer, t, d, b), hidden, NULL);
    }
    step s;
    for (size_t i = 0; i < seq_len; i++)
        for (size_t b = 0; find_step(p, i, b, &s); b = s.b + s.count)
            take_step(call, p, &s, d);
    for (size_t b = 0; b < batch; b++) {
        size_t at = ln_recurrent_state_at(layer, d, b);
        store(ln_call_dst(call, 1), at, hidden, p->h + b * hidden);
        if (has_cell)
            store(ln_call_dst(call, 2), at, hidden, p->c + b * hidden);
    }
}

// ---- The input of all steps ----

#define BLOCK_STEPS              16
#define PRODUCTS_PER_MICROSECOND 500000.0

typedef struct input_job {
    const pass *pass;
    const float *x;
    size_t steps;
} input_job;

static void multiply_inputs(void *user, size_t index)
{
    const input_job *job = user;
    const pass *p = job->pass;
    size_t first = index * BLOCK_STEPS;
    size_t rows = gate_rows(p->layer), input = (size_t)p->layer->input;
    p->kernels->products(&(ln_row_products_f32){.m = ln_min(BLOCK_STEPS, job->steps - first),
                                                .n = rows,
                                                .k = input,
                                                .a = job->x + first * input,
                                                .b = p->w,
                                                .bias = p->w_bias,
                                                .y = p->from_x + first * rows});
}

static void multiply_packed_inputs(const pass *p, const float *x, size_t steps)
{
    size_t input = (size_t)p->layer->input, rows = gate_rows(p->layer);
    ln_gemm_packed_f32(ln_cpu_isa_get(),
                       &(ln_gemm_packed_f32_args){.m = steps,
                                                  .n = rows,
                                                  .k = input,
                                                  .a = x,
                                                  .a_stride = input,
                                                  .packed = p->packed_w,
                                                  .y = p->from_x,
                                                  .y_stride = rows,
                                                  .epilogue = {.bias = p->w_bias}},
                       p->pool);
}

static void multiply_all_inputs(ln_call *call, const pass *p)
{
    const ln_recurrent *layer = p->layer;
    input_job job = {.pass = p,
                     .x = ln_call_in(call, LN_RNN_IN_X)->data,
                     .steps = (size_t)layer->seq_len * (size_t)layer->batch};
    if (p->packed_w) {
        multiply_packed_inputs(p, job.x, job.steps);
        return;
    }
    double products = (double)job.steps * (double)gate_rows(layer) * layer->input;
    ln_pool_run(ln_tasks_pool(p->pool, products / PRODUCTS_PER_MICROSECOND),
                ln_div_up(job.steps, BLOCK_STEPS), multiply_inputs, &job);
}

// ---- The operator ----

static const float *floats(const tl_tensor *t)
{
    return t ? t->data : NULL;
}

// Steps, of all sequences together or one after the other, that are worth packing for. How many
// sequences there are may not matter: packing decides the order of sums.
#define LEAST_PACKED_STEPS 4

static bool is_packed(const ln_recurrent *layer)
{
    return layer->seq_len >= LEAST_PACKED_STEPS;
}

// Floats of the panels; SIZE_MAX if they are too many.
static size_t packed_floats(const ln_recurrent *layer)
{
    size_t hidden = (size_t)layer->hidden, input = (size_t)layer->input;
    if (!is_packed(layer))
        return 0;
    size_t w = ln_gemm_packed_len(input, gate_rows(layer));
    size_t first = ln_gemm_packed_len(hidden, part_at(layer, 0).rows);
    size_t second = ln_gemm_packed_len(hidden, part_at(layer, 1).rows);
    size_t sum;
    bool is_fit = w < SIZE_MAX && first < SIZE_MAX && second < SIZE_MAX &&
                  ln_size_add(w, first, &sum) && ln_size_add(sum, second, &sum);
    return is_fit ? sum : SIZE_MAX;
}

// SIZE_MAX if they are too many.
static size_t workspace_bytes(const ln_recurrent *layer, bool is_kept)
{
    size_t rows = gate_rows(layer), packed = is_kept ? 0 : packed_floats(layer), floats, bytes;
    if (!ln_size_mul((size_t)layer->seq_len, rows, &floats) ||
        !ln_size_add(floats, rows + 3 * (size_t)layer->hidden, &floats) ||
        !ln_size_mul(floats, (size_t)layer->batch, &floats) ||
        !ln_size_add(floats, packed, &floats) || !ln_size_mul(floats, sizeof(float), &bytes))
        return SIZE_MAX;
    return bytes;
}

static bool keeps_panels(const ln_call *call, const ln_recurrent *layer)
{
    return is_packed(layer) && ln_call_is_constant(call, LN_RNN_IN_W) &&
           ln_call_is_constant(call, LN_RNN_IN_R);
}

static void set_panels(pass *p, float *panels)
{
    const ln_recurrent *layer = p->layer;
    p->packed_w = panels;
    p->packed_r[0] = panels + ln_gemm_packed_len((size_t)layer->input, gate_rows(layer));
    p->packed_r[1] =
        p->packed_r[0] + ln_gemm_packed_len((size_t)layer->hidden, part_at(layer, 0).rows);
}

static void pack_weights(const pass *p)
{
    size_t hidden = (size_t)p->layer->hidden, input = (size_t)p->layer->input;
    ln_cpu_isa isa = ln_cpu_isa_get();
    ln_gemm_pack_f32(isa, input, gate_rows(p->layer), p->w, 1, input, p->packed_w, p->pool);
    for (size_t i = 0; i < 2; i++) {
        part r = part_at(p->layer, i);
        ln_gemm_pack_f32(isa, hidden, r.rows, p->r + r.first * hidden, 1, hidden, p->packed_r[i],
                         p->pool);
    }
}

// Direction `d`, with its weights and what is kept.
static pass pass_of(const ln_call *call, const kept_layer *k, size_t d)
{
    const ln_recurrent *layer = &k->layer;
    size_t hidden = (size_t)layer->hidden, rows = gate_rows(layer);
    const tl_tensor *lens = ln_call_in(call, LN_RNN_IN_LENS);
    const float *bias = floats(ln_call_in(call, LN_RNN_IN_B));
    const float *peephole = floats(ln_call_in(call, LN_RNN_IN_P));
    pass p = {.kernels = ln_recurrent_f32_select(ln_cpu_isa_get()),
              .layer = layer,
              .pool = ln_cpu_call_pool(call),
              .w =
                  (const float *)ln_call_value(call, LN_RNN_IN_W) + d * rows * (size_t)layer->input,
              .r = (const float *)ln_call_value(call, LN_RNN_IN_R) + d * rows * hidden,
              .w_bias = bias ? bias + 2 * d * rows : NULL,
              .r_bias = bias ? bias + (2 * d + 1) * rows : NULL,
              .peephole = peephole ? peephole + 3 * d * hidden : NULL,
              .is_linear_before_reset = k->is_linear_before_reset,
              .is_input_forget = k->is_input_forget,
              .lens = lens ? lens->data : NULL,
              .is_backwards = d == 1 || layer->starts_backwards};
    if (k->panels)
        set_panels(&p, k->panels + d * packed_floats(layer));
    return p;
}

static ln_status prepare_rnn(ln_call *call, kept_layer *k)
{
    LN_TRY(ln_recurrent_read(call, &k->layer));
    k->is_linear_before_reset = ln_call_int(call, "linear_before_reset") != 0;
    k->is_input_forget = ln_call_int(call, "input_forget") != 0;
    if (!keeps_panels(call, &k->layer))
        return LN_OK;
    size_t dirs = (size_t)k->layer.dirs, count = packed_floats(&k->layer);
    k->panels = ln_call_keep(call, count, dirs * sizeof *k->panels);
    if (!k->panels)
        return ln_error_status();
    for (size_t d = 0; d < dirs; d++) {
        const pass p = pass_of(call, k, d);
        pack_weights(&p);
    }
    return LN_OK;
}

LN_PREPARE(ln_cpu_prepare_rnn, kept_layer, prepare_rnn)

ln_status ln_cpu_workspace_rnn(ln_call *call)
{
    ln_recurrent layer;
    LN_TRY(ln_recurrent_read(call, &layer));
    size_t byte_count = workspace_bytes(&layer, keeps_panels(call, &layer));
    return ln_call_scratch(call, byte_count, 1) ? LN_OK : ln_error_status();
}

static ln_status check_lens(ln_call *call, const ln_recurrent *layer)
{
    for (size_t b = 0; b < (size_t)layer->batch; b++) {
        size_t len;
        LN_TRY(ln_recurrent_len(call, layer, b, &len));
    }
    return LN_OK;
}

ln_status ln_cpu_rnn(ln_call *call)
{
    const kept_layer *k = ln_call_prepared(call);
    const ln_recurrent *layer = &k->layer;
    size_t hidden = (size_t)layer->hidden, batch = (size_t)layer->batch;
    float *workspace = ln_call_scratch(call, workspace_bytes(layer, k->panels), 1);
    if (!workspace)
        return ln_error_status();
    LN_TRY(check_lens(call, layer));
    for (size_t d = 0; d < (size_t)layer->dirs; d++) {
        pass p = pass_of(call, k, d);
        p.from_x = workspace;
        p.from_h = p.from_x + (size_t)layer->seq_len * batch * gate_rows(layer);
        p.h = p.from_h + batch * gate_rows(layer);
        p.c = p.h + batch * hidden;
        p.reset = p.c + batch * hidden;
        if (is_packed(layer) && !k->panels) {
            set_panels(&p, p.reset + batch * hidden);
            pack_weights(&p);
        }
        multiply_all_inputs(call, &p);
        run_sequences(call, &p, d);
    }
    return LN_OK;
}
