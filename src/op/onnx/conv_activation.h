// SPDX-License-Identifier: Apache-2.0
// Activations that fused operators apply to their results.

#ifndef LN_OP_ONNX_CONV_ACTIVATION_H
#define LN_OP_ONNX_CONV_ACTIVATION_H

#include <lightnet/call.h>

LN_CPPSTART

typedef enum ln_activation_kind {
    LN_ACTIVATION_NONE,
    LN_ACTIVATION_RELU,
    LN_ACTIVATION_LEAKY_RELU,
    LN_ACTIVATION_SIGMOID,
    LN_ACTIVATION_TANH,
    LN_ACTIVATION_CLIP,
    LN_ACTIVATION_HARD_SIGMOID,
    LN_ACTIVATION_SILU,
} ln_activation_kind;

typedef struct ln_activation {
    ln_activation_kind kind;
    double alpha, beta;
} ln_activation;

// What the parameter `activation` says, with its numbers from `activation_params`, or from
// `activation_alpha` and `activation_beta`. LN_UNSUPPORTED for a name that is not known.
ln_status ln_activation_read(ln_call *call, ln_activation *out_activation);

void ln_activate(const ln_activation *activation, int64_t count, double *values);

LN_CPPEND

#endif
