/* SPDX-License-Identifier: Apache-2.0 */
/* Activations: functions of one element that operators apply to what they have computed, before it
 * is stored.
 *
 * NaN stays NaN. `alpha` and `beta` are the numbers after the name in the list; an activation
 * looks at no others.
 */

#ifndef LIGHTNET_ACT_H
#define LIGHTNET_ACT_H

#include <lightnet/export.h>

LN_CPPSTART

/* The one list of activations: X(CONSTANT, "name", "what it computes"). */
#define LN_ACT_LIST(X)                                                                             \
    X(NONE, "none", "x")                                                                           \
    X(RELU, "relu", "0 > x ? 0 : x")                                                               \
    X(CLIP, "clip", "min(max(x, alpha), beta)")                                                    \
    X(LRELU, "lrelu", "x >= 0 ? x : alpha * x")                                                    \
    X(SIGMOID, "sigmoid", "1 / (1 + exp(-x))")                                                     \
    X(TANH, "tanh", "tanh(x)")                                                                     \
    X(SILU, "silu", "x * sigmoid(x)")                                                              \
    X(HARD_SIGMOID, "hard_sigmoid", "min(max(alpha * x + beta, 0), 1)")                            \
    X(HARD_SWISH, "hard_swish", "x * min(max(alpha * x + beta, 0), 1)")                            \
    X(GELU, "gelu", "x / 2 * (1 + erf(x / sqrt(2)))")                                              \
    X(GELU_TANH, "gelu_tanh", "x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))")           \
    X(ELU, "elu", "x >= 0 ? x : alpha * (exp(x) - 1)")                                             \
    X(SOFTPLUS, "softplus", "log(1 + exp(x))")                                                     \
    X(MISH, "mish", "x * tanh(log(1 + exp(x)))")                                                   \
    X(EXP, "exp", "exp(x)")                                                                        \
    X(ERF, "erf", "erf(x)")                                                                        \
    X(SQRT, "sqrt", "the square root, NaN below 0")                                                \
    X(ABS, "abs", "|x|")                                                                           \
    X(NEG, "neg", "-x")                                                                            \
    X(AFFINE, "affine", "alpha * x + beta")                                                        \
    X(SCALED_TANH, "scaled_tanh", "alpha * tanh(beta * x)")                                        \
    X(SOFTSIGN, "softsign", "x / (1 + |x|)")                                                       \
    X(THRESHOLDED_RELU, "thresholded_relu", "alpha >= x ? 0 : x")                                  \
    X(SWISH, "swish", "x * sigmoid(alpha * x)")                                                    \
    X(SELU, "selu", "beta * (x >= 0 ? x : alpha * (exp(x) - 1))")

typedef enum ln_act {
#define LN_ACT_ENUM(constant, name, doc) LN_ACT_##constant,
    LN_ACT_LIST(LN_ACT_ENUM)
#undef LN_ACT_ENUM
        LN_ACT_COUNT
} ln_act;

/* The activation of that name; -1 for names that are none, and NULL. */
LN_API int ln_act_from_str(const char *name);

/* Its name; "unknown" for other values. Never NULL. */
LN_API const char *ln_act_name(ln_act act);

LN_CPPEND

#endif
