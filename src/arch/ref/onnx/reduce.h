// SPDX-License-Identifier: Apache-2.0
// ONNX's operators that work along axes, on arch `ref`.
//
// Floating types are summed in double, integers modulo 2^64. What is reduced may be nothing: sums
// are then 0, products 1, the largest is the least value of the type, and a mean NaN.

#ifndef LN_ARCH_REF_ONNX_REDUCE_H
#define LN_ARCH_REF_ONNX_REDUCE_H

#include <lightnet/call.h>

#include "op/onnx/reduce.h"

// X(name): an operator and its function.
#define LN_REF_REDUCE_LIST(X)                                                                      \
    X(reduce_sum)                                                                                  \
    X(reduce_mean)                                                                                 \
    X(reduce_prod)                                                                                 \
    X(reduce_max)                                                                                  \
    X(reduce_min)                                                                                  \
    X(reduce_l1)                                                                                   \
    X(reduce_l2)                                                                                   \
    X(reduce_log_sum)                                                                              \
    X(reduce_log_sum_exp)                                                                          \
    X(reduce_sum_square)                                                                           \
    X(arg_max)                                                                                     \
    X(arg_min)                                                                                     \
    X(cum_sum)                                                                                     \
    X(cum_prod)                                                                                    \
    X(softmax)                                                                                     \
    X(log_softmax)                                                                                 \
    X(hardmax)                                                                                     \
    X(lp_normalization)                                                                            \
    X(negative_log_likelihood_loss)                                                                \
    X(softmax_cross_entropy_loss)

#define LN_REF_DECLARE(name) ln_status ln_ref_onnx_##name(ln_call *call);
LN_REF_REDUCE_LIST(LN_REF_DECLARE)
#undef LN_REF_DECLARE

// The number whose exp all of exp(x - number) can be formed with: the largest, 0 if that is
// infinite.
static inline double ln_exp_shift(double largest)
{
    return largest - largest == 0 ? largest : 0;
}

#endif
