// SPDX-License-Identifier: Apache-2.0
// ONNX's names of activations and its numbers for them.

#include "op/onnx/onnx_act.h"

#include <float.h>
#include <stdbool.h>
#include <stddef.h>

static const ln_onnx_act names[] = {
    {"", LN_ACT_NONE, 0, 0, 0},
    {"None", LN_ACT_NONE, 0, 0, 0},
    {"Relu", LN_ACT_RELU, 0, 0, 0},
    {"Clip", LN_ACT_CLIP, 2, -(double)FLT_MAX, (double)FLT_MAX},
    {"LeakyRelu", LN_ACT_LRELU, 1, 0.01, 0},
    {"Sigmoid", LN_ACT_SIGMOID, 0, 0, 0},
    {"Tanh", LN_ACT_TANH, 0, 0, 0},
    {"Silu", LN_ACT_SILU, 0, 0, 0},
    {"Swish", LN_ACT_SILU, 0, 0, 0},
    {"HardSigmoid", LN_ACT_HARD_SIGMOID, 2, 0.2, 0.5},
    {"Elu", LN_ACT_ELU, 1, 1, 0},
    {"Softplus", LN_ACT_SOFTPLUS, 0, 0, 0},
    {"Affine", LN_ACT_AFFINE, 2, 1, 0},
    {"ScaledTanh", LN_ACT_SCALED_TANH, 2, 1, 1},
    {"Softsign", LN_ACT_SOFTSIGN, 0, 0, 0},
    {"ThresholdedRelu", LN_ACT_THRESHOLDED_RELU, 1, 1, 0},
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_same_word(const char *a, const char *b)
{
    while (*a && lower(*a) == lower(*b))
        a++, b++;
    return lower(*a) == lower(*b);
}

const ln_onnx_act *ln_onnx_act_find(const char *name)
{
    for (size_t i = 0; name && i < sizeof names / sizeof names[0]; i++)
        if (is_same_word(names[i].name, name))
            return &names[i];
    return NULL;
}
