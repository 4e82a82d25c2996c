// SPDX-License-Identifier: Apache-2.0
// One list of activations, whatever they are called.

#include "op/activation.h"

#include <float.h>
#include <stddef.h>

// What ONNX says, with its own numbers, which are floats; how many a model may give instead: alpha,
// then beta. A bound that is not given is the last finite number.
static const struct {
    const char *name;
    ln_activation meant;
    int number_count;
} names[] = {
    {"", {LN_ACT_NONE, 0, 0}, 0},
    {"None", {LN_ACT_NONE, 0, 0}, 0},
    {"Relu", {LN_ACT_RELU, 0, 0}, 0},
    {"Clip", {LN_ACT_CLIP, -(double)FLT_MAX, (double)FLT_MAX}, 2},
    {"LeakyRelu", {LN_ACT_LRELU, 0.01f, 0}, 1},
    {"Sigmoid", {LN_ACT_SIGMOID, 0, 0}, 0},
    {"Tanh", {LN_ACT_TANH, 0, 0}, 0},
    {"Silu", {LN_ACT_SILU, 0, 0}, 0},
    {"Swish", {LN_ACT_SILU, 0, 0}, 0},
    {"HardSigmoid", {LN_ACT_HARD_SIGMOID, 0.2f, 0.5}, 2},
    {"Elu", {LN_ACT_ELU, 1, 0}, 1},
    {"Softplus", {LN_ACT_SOFTPLUS, 0, 0}, 0},
    {"Affine", {LN_ACT_AFFINE, 1, 0}, 2},
    {"ScaledTanh", {LN_ACT_SCALED_TANH, 1, 1}, 2},
    {"Softsign", {LN_ACT_SOFTSIGN, 0, 0}, 0},
    {"ThresholdedRelu", {LN_ACT_THRESHOLDED_RELU, 1, 0}, 1},
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

bool ln_activation_from_onnx(const char *name, ln_activation *out_activation, int *out_number_count)
{
    for (size_t i = 0; name && i < sizeof names / sizeof names[0]; i++) {
        if (!is_same_word(names[i].name, name))
            continue;
        *out_activation = names[i].meant;
        *out_number_count = names[i].number_count;
        return true;
    }
    return false;
}

static ln_status read_act(ln_call *call, const char *name, ln_activation *out_activation)
{
    int act = ln_act_from_str(name);
    if (act < 0)
        return ln_call_fail(call, LN_INVALID, "act '%s' is not known", name);
    *out_activation = (ln_activation){.act = (ln_act)act,
                                      .alpha = ln_call_float(call, "alpha"),
                                      .beta = ln_call_float(call, "beta")};
    return LN_OK;
}

ln_status ln_activation_read(ln_call *call, ln_activation *out_activation)
{
    const char *act = ln_call_string(call, "act"), *name = ln_call_string(call, "activation");
    size_t count;
    const double *numbers = ln_call_floats(call, "activation_params", &count);
    *out_activation = (ln_activation){.act = LN_ACT_NONE};
    if (act)
        return read_act(call, act, out_activation);
    if (!name)
        return LN_OK;
    int number_count;
    if (!ln_activation_from_onnx(name, out_activation, &number_count))
        return ln_call_fail(call, LN_UNSUPPORTED, "activation '%s' is not known", name);
    if (count > 0)
        out_activation->alpha = numbers[0];
    else if (ln_call_has(call, "activation_alpha"))
        out_activation->alpha = ln_call_float(call, "activation_alpha");
    if (count > 1)
        out_activation->beta = numbers[1];
    else if (ln_call_has(call, "activation_beta"))
        out_activation->beta = ln_call_float(call, "activation_beta");
    return LN_OK;
}
