// SPDX-License-Identifier: Apache-2.0
// What ONNX calls the activations of lightnet/act.h where an operator names them in an attribute.

#ifndef LN_OP_ONNX_ONNX_ACT_H
#define LN_OP_ONNX_ONNX_ACT_H

#include <lightnet/act.h>

LN_CPPSTART

typedef struct ln_onnx_act {
    const char *name;
    ln_act act;
    int number_count;   // that a model may give: alpha, then beta
    double alpha, beta; // where it gives none
} ln_onnx_act;

// NULL for a name that is none. Letters count alike in both cases: models spell "Tanh" and "tanh".
const ln_onnx_act *ln_onnx_act_find(const char *name);

LN_CPPEND

#endif
