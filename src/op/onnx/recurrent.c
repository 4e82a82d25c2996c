// SPDX-License-Identifier: Apache-2.0
// Shapes and attributes of RNN, GRU and LSTM.

#include "op/onnx/recurrent.h"
#include "op/functions.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "op/activation.h"

// ---- Activations ----

// Next value of activation_alpha or activation_beta. A list with one value for each activation goes
// by position; a shorter one holds values only for those that take one.
static double next_value(const ln_call *call, const char *param, int position, int total,
                         bool is_taken, int *used, double fallback)
{
    int count = ln_call_count(call, param);
    int at = count == total ? position : *used;
    if (!is_taken || at >= count)
        return fallback;
    ++*used;
    return ln_call_float_at(call, param, at);
}

static const char *default_activation(int gate_count, int index)
{
    return gate_count > 1 && index == 0 ? "sigmoid" : "tanh";
}

static ln_status read_activations(ln_call *call, ln_recurrent *layer)
{
    int per_dir = layer->gate_count == 1 ? 1 : layer->gate_count == 3 ? 2 : 3;
    int total = per_dir * layer->dirs, used_alpha = 0, used_beta = 0;
    int given = ln_call_count(call, "activations");
    if (given != 0 && given < total)
        return ln_call_fail(call, LN_INVALID, "has %d activations, needs %d", given, total);

    for (int i = 0; i < total; i++) {
        const char *name = given ? ln_call_string_at(call, "activations", i)
                                 : default_activation(layer->gate_count, i % per_dir);
        ln_activation meant;
        int number_count;
        if (!ln_activation_from_onnx(name, &meant, &number_count) || meant.act == LN_ACT_NONE)
            return ln_call_fail(call, LN_UNSUPPORTED, "has an unknown activation '%s'",
                                name ? name : "");
        ln_rnn_activation *activation = &layer->activations[i / per_dir][i % per_dir];
        activation->act = meant.act;
        activation->alpha = next_value(call, "activation_alpha", i, total, number_count > 0,
                                       &used_alpha, meant.alpha);
        activation->beta =
            next_value(call, "activation_beta", i, total, number_count > 1, &used_beta, meant.beta);
    }
    return LN_OK;
}

// ---- Shapes ----

static ln_status check_dims(ln_call *call, int index, const char *name, int ndim,
                            const int64_t *dims)
{
    const tl_tensor *t = ln_call_in(call, index);
    if (!t)
        return LN_OK;
    if (t->ndim != ndim)
        return ln_call_fail(call, LN_INVALID, "takes %s of rank %d, not %d", name, ndim, t->ndim);
    for (int i = 0; i < ndim; i++) {
        if (t->dims[i] != dims[i])
            return ln_call_fail(call, LN_INVALID, "needs dimension %d of %s to be %lld, not %d", i,
                                name, (long long)dims[i], t->dims[i]);
    }
    return LN_OK;
}

static ln_status check_shapes(ln_call *call, const ln_recurrent *layer)
{
    int64_t dirs = layer->dirs, hidden = layer->hidden, rows = hidden * layer->gate_count;
    LN_TRY(check_dims(call, LN_RNN_IN_W, "W", 3, (int64_t[]){dirs, rows, layer->input}));
    LN_TRY(check_dims(call, LN_RNN_IN_R, "R", 3, (int64_t[]){dirs, rows, hidden}));
    LN_TRY(check_dims(call, LN_RNN_IN_B, "B", 2, (int64_t[]){dirs, 2 * rows}));
    LN_TRY(check_dims(call, LN_RNN_IN_LENS, "sequence_lens", 1, (int64_t[]){layer->batch}));

    int64_t state[] = {dirs, layer->batch, hidden};
    if (layer->batch_first) {
        state[0] = layer->batch;
        state[1] = dirs;
    }
    LN_TRY(check_dims(call, LN_RNN_IN_H, "initial_h", 3, state));
    if (layer->gate_count != 4)
        return LN_OK;
    LN_TRY(check_dims(call, LN_RNN_IN_C, "initial_c", 3, state));
    return check_dims(call, LN_RNN_IN_P, "P", 2, (int64_t[]){dirs, 3 * hidden});
}

static ln_status read_direction(ln_call *call, ln_recurrent *layer)
{
    const char *direction = ln_call_string(call, "direction");
    if (!direction)
        direction = "forward";
    layer->dirs = strcmp(direction, "bidirectional") == 0 ? 2 : 1;
    layer->starts_backwards = strcmp(direction, "reverse") == 0;
    if (layer->dirs == 1 && !layer->starts_backwards && strcmp(direction, "forward") != 0)
        return ln_call_fail(call, LN_INVALID, "has an unknown direction '%s'", direction);
    return LN_OK;
}

static ln_status read_gates(ln_call *call, int gate_count, ln_recurrent *out_layer)
{
    ln_recurrent *layer = out_layer;
    *layer = (ln_recurrent){.gate_count = gate_count, .clip = INFINITY};
    LN_TRY(read_direction(call, layer));

    const tl_tensor *x = ln_call_in(call, LN_RNN_IN_X), *r = ln_call_in(call, LN_RNN_IN_R);
    if (x->ndim != 3 || r->ndim != 3)
        return ln_call_fail(call, LN_INVALID, "takes X and R of rank 3, not %d and %d", x->ndim,
                            r->ndim);
    layer->batch_first = ln_call_int(call, "layout") != 0;
    layer->seq_len = x->dims[layer->batch_first ? 1 : 0];
    layer->batch = x->dims[layer->batch_first ? 0 : 1];
    layer->input = x->dims[2];
    layer->hidden = r->dims[2];
    // Steps without elements would cost time all the same.
    if ((int64_t)layer->seq_len * layer->batch > INT32_MAX)
        return ln_call_fail(call, LN_LIMIT, "has %d steps of %d sequences", layer->seq_len,
                            layer->batch);
    if (ln_call_has(call, "hidden_size") && ln_call_int(call, "hidden_size") != layer->hidden)
        return ln_call_fail(call, LN_INVALID, "has hidden_size %lld, but R is for %d",
                            (long long)ln_call_int(call, "hidden_size"), layer->hidden);
    LN_TRY(check_shapes(call, layer));

    // 0 stands for "no clip" in models that write every attribute.
    if (ln_call_has(call, "clip") && ln_call_float(call, "clip") > 0)
        layer->clip = ln_call_float(call, "clip");
    return read_activations(call, layer);
}

ln_status ln_recurrent_read(ln_call *call, ln_recurrent *out_layer)
{
    const char *kind = ln_call_string(call, "kind");
    int gate_count = strcmp(kind, "lstm") == 0  ? 4
                     : strcmp(kind, "gru") == 0 ? 3
                     : strcmp(kind, "rnn") == 0 ? 1
                                                : 0;
    if (gate_count == 0)
        return ln_call_fail(call, LN_INVALID, "has kind '%s', not lstm, gru or rnn", kind);
    if (gate_count != 4 &&
        (ln_call_in(call, LN_RNN_IN_C) || ln_call_in(call, LN_RNN_IN_P) || ln_call_wants(call, 2)))
        return ln_call_fail(call, LN_INVALID, "has cells, which kind %s lacks", kind);
    return read_gates(call, gate_count, out_layer);
}

// ---- Places ----

size_t ln_recurrent_row(const ln_recurrent *layer, size_t t, size_t b)
{
    return layer->batch_first ? b * (size_t)layer->seq_len + t : t * (size_t)layer->batch + b;
}

size_t ln_recurrent_y_at(const ln_recurrent *layer, size_t t, size_t d, size_t b)
{
    size_t dirs = (size_t)layer->dirs, hidden = (size_t)layer->hidden;
    if (layer->batch_first)
        return ((b * (size_t)layer->seq_len + t) * dirs + d) * hidden;
    return ((t * dirs + d) * (size_t)layer->batch + b) * hidden;
}

size_t ln_recurrent_state_at(const ln_recurrent *layer, size_t d, size_t b)
{
    size_t row = layer->batch_first ? b * (size_t)layer->dirs + d : d * (size_t)layer->batch + b;
    return row * (size_t)layer->hidden;
}

ln_status ln_recurrent_len(ln_call *call, const ln_recurrent *layer, size_t b, size_t *out_len)
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

// ---- Shapes ----

static ln_status infer_layer(ln_call *call, const ln_recurrent *layer)
{
    tl_dtype dtype = ln_call_in(call, LN_RNN_IN_X)->dtype;
    int dirs = layer->dirs, batch = layer->batch, hidden = layer->hidden, seq_len = layer->seq_len;
    const int y[] = {seq_len, dirs, batch, hidden},
              y_batch_first[] = {batch, seq_len, dirs, hidden};
    const int last[] = {dirs, batch, hidden}, last_batch_first[] = {batch, dirs, hidden};

    LN_TRY(ln_call_out(call, 0, dtype, 4, layer->batch_first ? y_batch_first : y));
    const int *state = layer->batch_first ? last_batch_first : last;
    LN_TRY(ln_call_out(call, 1, dtype, 3, state));
    return layer->gate_count == 4 ? ln_call_out(call, 2, dtype, 3, state) : LN_OK;
}

ln_status ln_infer_recurrent(ln_call *call)
{
    ln_recurrent layer;
    LN_TRY(ln_recurrent_read(call, &layer));
    return infer_layer(call, &layer);
}

static ln_status infer_gates(ln_call *call, int gate_count)
{
    ln_recurrent layer;
    LN_TRY(read_gates(call, gate_count, &layer));
    return infer_layer(call, &layer);
}

ln_status ln_infer_rnn(ln_call *call)
{
    return infer_gates(call, 1);
}

ln_status ln_infer_gru(ln_call *call)
{
    return infer_gates(call, 3);
}

ln_status ln_infer_lstm(ln_call *call)
{
    return infer_gates(call, 4);
}

double ln_macs_recurrent(const ln_call *call)
{
    const tl_tensor *x = ln_call_in(call, LN_RNN_IN_X), *w = ln_call_in(call, LN_RNN_IN_W);
    const tl_tensor *r = ln_call_in(call, LN_RNN_IN_R);
    if (x->ndim != 3)
        return 0;
    return (double)x->dims[0] * x->dims[1] * ((double)w->len + r->len);
}
