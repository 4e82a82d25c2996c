// SPDX-License-Identifier: Apache-2.0
// One list of activations, whatever they are called.

#include "op/onnx/conv_activation.h"

#include <float.h>
#include <string.h>

bool ln_activation_from_onnx(const char *name, size_t count, const double *numbers,
                             ln_activation *out_activation)
{
    // A bound that is not given is the last finite number.
    static const struct {
        const char *name;
        ln_activation meant;
    } table[] = {
        {"", {LN_ACT_NONE, 0, 0}},
        {"none", {LN_ACT_NONE, 0, 0}},
        {"Relu", {LN_ACT_RELU, 0, 0}},
        {"LeakyRelu", {LN_ACT_LRELU, 0.01, 0}},
        {"Sigmoid", {LN_ACT_SIGMOID, 0, 0}},
        {"Tanh", {LN_ACT_TANH, 0, 0}},
        {"Clip", {LN_ACT_CLIP, -(double)FLT_MAX, (double)FLT_MAX}},
        {"HardSigmoid", {LN_ACT_HARD_SIGMOID, 0.2, 0.5}},
        {"silu", {LN_ACT_SILU, 0, 0}},
        {"swish", {LN_ACT_SILU, 0, 0}},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(name, table[i].name) != 0)
            continue;
        *out_activation = table[i].meant;
        if (count > 0)
            out_activation->alpha = numbers[0];
        if (count > 1)
            out_activation->beta = numbers[1];
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
    if (!ln_activation_from_onnx(name, count, numbers, out_activation))
        return ln_call_fail(call, LN_UNSUPPORTED, "activation '%s' is not known", name);
    if (count == 0 && ln_call_has(call, "activation_alpha"))
        out_activation->alpha = ln_call_float(call, "activation_alpha");
    if (count <= 1 && ln_call_has(call, "activation_beta"))
        out_activation->beta = ln_call_float(call, "activation_beta");
    return LN_OK;
}
