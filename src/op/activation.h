// SPDX-License-Identifier: Apache-2.0
// Activations that operators apply to their results: the names of lightnet/act.h, and those of ONNX
// and com.microsoft for them.

#ifndef LN_OP_ACTIVATION_H
#define LN_OP_ACTIVATION_H

#include <stdbool.h>

#include <lightnet/act.h>
#include <lightnet/call.h>

LN_CPPSTART

typedef struct ln_activation {
    ln_act act;
    double alpha, beta;
} ln_activation;

// What ONNX calls `name` where an operator names it in an attribute, with ONNX's own numbers;
// *out_number_count of them may be given instead. Letters count alike in both cases: models spell
// "Tanh" and "tanh". False for a name that is not known, and for NULL.
bool ln_activation_from_onnx(const char *name, ln_activation *out_activation,
                             int *out_number_count);

// What the parameters `act`, `alpha` and `beta` say in a description of the core. In one of ONNX
// `activation`, with its numbers from `activation_params`, or from `activation_alpha` and
// `activation_beta`. LN_UNSUPPORTED for a name that is not known.
ln_status ln_activation_read(ln_call *call, ln_activation *out_activation);

LN_CPPEND

#endif
