// SPDX-License-Identifier: Apache-2.0
// Activations that operators apply to their results: the names of lightnet/act.h, and those of ONNX
// and com.microsoft for them.

#ifndef LN_OP_ONNX_CONV_ACTIVATION_H
#define LN_OP_ONNX_CONV_ACTIVATION_H

#include <stdbool.h>
#include <stddef.h>

#include <lightnet/act.h>
#include <lightnet/call.h>

LN_CPPSTART

typedef struct ln_activation {
    ln_act act;
    double alpha, beta;
} ln_activation;

// What ONNX calls `name`, with the first two of its numbers as far as they are given, and ONNX's
// own for the others. False for a name that is not known.
bool ln_activation_from_onnx(const char *name, size_t count, const double *numbers,
                             ln_activation *out_activation);

// What the parameters `act`, `alpha` and `beta` say in a description of the core. In one of ONNX
// `activation`, with its numbers from `activation_params`, or from `activation_alpha` and
// `activation_beta`. LN_UNSUPPORTED for a name that is not known.
ln_status ln_activation_read(ln_call *call, ln_activation *out_activation);

LN_CPPEND

#endif
