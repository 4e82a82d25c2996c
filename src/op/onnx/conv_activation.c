// SPDX-License-Identifier: Apache-2.0
// Activations behind sums, in double.

#include "op/onnx/conv_activation.h"

#include <math.h>
#include <string.h>

// One of `activation_params`, or the attribute `name` of operators that name each.
static double activation_number(const ln_call *call, int index, const char *name, double otherwise)
{
    if (ln_call_count(call, "activation_params") > index)
        return ln_call_float_at(call, "activation_params", index);
    return ln_call_has(call, name) ? ln_call_float(call, name) : otherwise;
}

ln_status ln_activation_read(ln_call *call, ln_activation *out_activation)
{
    static const struct {
        const char *name;
        ln_activation_kind kind;
        double alpha, beta;
    } table[] = {
        {"", LN_ACTIVATION_NONE, 0, 0},
        {"none", LN_ACTIVATION_NONE, 0, 0},
        {"Relu", LN_ACTIVATION_RELU, 0, 0},
        {"LeakyRelu", LN_ACTIVATION_LEAKY_RELU, 0.01, 0},
        {"Sigmoid", LN_ACTIVATION_SIGMOID, 0, 0},
        {"Tanh", LN_ACTIVATION_TANH, 0, 0},
        {"Clip", LN_ACTIVATION_CLIP, -INFINITY, INFINITY},
        {"HardSigmoid", LN_ACTIVATION_HARD_SIGMOID, 0.2, 0.5},
        {"silu", LN_ACTIVATION_SILU, 0, 0},
        {"swish", LN_ACTIVATION_SILU, 0, 0},
    };
    const char *name = ln_call_string(call, "activation");
    *out_activation = (ln_activation){.kind = LN_ACTIVATION_NONE};
    for (size_t i = 0; name && i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(name, table[i].name) != 0)
            continue;
        *out_activation =
            (ln_activation){.kind = table[i].kind,
                            .alpha = activation_number(call, 0, "activation_alpha", table[i].alpha),
                            .beta = activation_number(call, 1, "activation_beta", table[i].beta)};
        return LN_OK;
    }
    return name ? ln_call_fail(call, LN_UNSUPPORTED, "activation '%s' is not known", name) : LN_OK;
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

// NaN stays NaN.
static double clip(double x, double least, double most)
{
    return x < least ? least : x > most ? most : x;
}

static double activated(const ln_activation *activation, double x)
{
    double alpha = activation->alpha, beta = activation->beta;
    switch (activation->kind) {
    case LN_ACTIVATION_NONE: break;
    case LN_ACTIVATION_RELU: return x < 0 ? 0 : x;
    case LN_ACTIVATION_LEAKY_RELU: return x < 0 ? alpha * x : x;
    case LN_ACTIVATION_SIGMOID: return sigmoid(x);
    case LN_ACTIVATION_TANH: return tanh(x);
    case LN_ACTIVATION_CLIP: return clip(x, alpha, beta);
    case LN_ACTIVATION_HARD_SIGMOID: return clip(alpha * x + beta, 0, 1);
    case LN_ACTIVATION_SILU: return x * sigmoid(x);
    }
    return x;
}

void ln_activate(const ln_activation *activation, int64_t count, double *values)
{
    if (activation->kind == LN_ACTIVATION_NONE)
        return;
    for (int64_t i = 0; i < count; i++)
        values[i] = activated(activation, values[i]);
}
