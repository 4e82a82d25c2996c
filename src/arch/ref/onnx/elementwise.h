// SPDX-License-Identifier: Apache-2.0
// ONNX's operators that work element by element, on arch `ref`.
//
// Floating types are computed in double and rounded once; integers wrap. Division of integers by 0
// gives 0. A NaN stays NaN.

#ifndef LN_ARCH_REF_ONNX_ELEMENTWISE_H
#define LN_ARCH_REF_ONNX_ELEMENTWISE_H

#include <lightnet/call.h>

#include "op/onnx/elementwise.h"

// X(name, function): a function of one double.
#define LN_REF_PLAIN_LIST(X)                                                                       \
    X(floor, floor)                                                                                \
    X(ceil, ceil)                                                                                  \
    X(round, rint)                                                                                 \
    X(sqrt, sqrt)                                                                                  \
    X(exp, exp)                                                                                    \
    X(log, log)                                                                                    \
    X(reciprocal, reciprocal)                                                                      \
    X(sin, sin)                                                                                    \
    X(cos, cos)                                                                                    \
    X(tan, tan)                                                                                    \
    X(asin, asin)                                                                                  \
    X(acos, acos)                                                                                  \
    X(atan, atan)                                                                                  \
    X(sinh, sinh)                                                                                  \
    X(cosh, cosh)                                                                                  \
    X(tanh, tanh)                                                                                  \
    X(asinh, asinh)                                                                                \
    X(acosh, acosh)                                                                                \
    X(atanh, atanh)                                                                                \
    X(erf, erf)                                                                                    \
    X(sigmoid, ln_logistic)                                                                        \
    X(hard_swish, hard_swish)                                                                      \
    X(softplus, softplus)                                                                          \
    X(softsign, softsign)                                                                          \
    X(mish, mish)

// X(name, function, parameter, parameter): a function of one double and two parameters.
#define LN_REF_SHAPED_LIST(X)                                                                      \
    X(leaky_relu, leaky_relu, "alpha", NULL)                                                       \
    X(elu, elu, "alpha", NULL)                                                                     \
    X(selu, selu, "alpha", "gamma")                                                                \
    X(celu, celu, "alpha", NULL)                                                                   \
    X(hard_sigmoid, hard_sigmoid, "alpha", "beta")                                                 \
    X(thresholded_relu, thresholded_relu, "alpha", NULL)                                           \
    X(shrink, shrink, "bias", "lambd")                                                             \
    X(swish, swish, "alpha", NULL)                                                                 \
    X(affine, affine, "alpha", "beta")                                                             \
    X(scale, affine, "scale", NULL)                                                                \
    X(parametric_softplus, parametric_softplus, "alpha", "beta")                                   \
    X(scaled_tanh, scaled_tanh, "alpha", "beta")

// 1 / (1 + exp(-x)) without overflow.
double ln_logistic(double x);

// x times the probability that a standard normal number is less than x; and its approximation by
// tanh.
double ln_gelu(double x);
double ln_gelu_tanh(double x);

// The larger, the smaller of two: NaN if one is.
double ln_real_max(double a, double b);
double ln_real_min(double a, double b);

// How the elements of a dtype are computed with. A bool is NATURAL.
typedef enum ln_number_kind {
    LN_NUMBER_REAL,    // as double
    LN_NUMBER_WHOLE,   // as int64_t
    LN_NUMBER_NATURAL, // as uint64_t
} ln_number_kind;

ln_number_kind ln_number_kind_of(tl_dtype dtype);

#endif
