// SPDX-License-Identifier: Apache-2.0
// RNN, GRU and LSTM: shapes and attributes, checked once and read by whoever computes them.

#ifndef LN_OP_ONNX_RECURRENT_H
#define LN_OP_ONNX_RECURRENT_H

#include <stdbool.h>

#include <lightnet/act.h>
#include <lightnet/call.h>

typedef struct ln_rnn_activation {
    ln_act act;
    double alpha, beta;
} ln_rnn_activation;

#define LN_RECURRENT_MAX_ACTIVATIONS 3

// What the three kinds have in common.
typedef struct ln_recurrent {
    int gate_count; // 1: RNN, 3: GRU, 4: LSTM
    int seq_len, batch, input, hidden, dirs;
    bool batch_first;      // layout 1
    bool starts_backwards; // direction reverse
    double clip;           // inputs of activations are in [-clip, clip]; infinite: anywhere
    ln_rnn_activation activations[2][LN_RECURRENT_MAX_ACTIVATIONS]; // by direction
} ln_recurrent;

// Positions of the inputs; those from LN_RNN_IN_C on are LSTM's only.
enum {
    LN_RNN_IN_X,
    LN_RNN_IN_W,
    LN_RNN_IN_R,
    LN_RNN_IN_B,
    LN_RNN_IN_LENS,
    LN_RNN_IN_H,
    LN_RNN_IN_C,
    LN_RNN_IN_P
};

// Checks the shapes of all inputs and the attributes of an operator `rnn`.
ln_status ln_recurrent_read(ln_call *call, ln_recurrent *out_layer);

// Where step `t` of sequence `b` is: as a row of X, and in Y for direction `d`, in elements.
size_t ln_recurrent_row(const ln_recurrent *layer, size_t t, size_t b);
size_t ln_recurrent_y_at(const ln_recurrent *layer, size_t t, size_t d, size_t b);

// Where the state of a sequence is in initial_h, Y_h and their like.
size_t ln_recurrent_state_at(const ln_recurrent *layer, size_t d, size_t b);

// Length of sequence `b`, checked; while running.
ln_status ln_recurrent_len(ln_call *call, const ln_recurrent *layer, size_t b, size_t *out_len);

#endif
