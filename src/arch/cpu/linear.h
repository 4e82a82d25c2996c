// SPDX-License-Identifier: Apache-2.0
// What the products with packed weights of arch cpu call. As in cpu_ops.h.

#ifndef LN_ARCH_CPU_LINEAR_H
#define LN_ARCH_CPU_LINEAR_H

#include <stdbool.h>

#include <lightnet/act.h>
#include <lightnet/tensor.h>

#include "arch/cpu/nhwc.h"

LN_CPPSTART

// Tensors and parameters of the operator; NULL where it has none.
typedef struct ln_cpu_linear_call {
    const tl_tensor *src, *packed, *bias, *addend;
    tl_tensor *dst;
    int outputs;
    ln_act act;
    float alpha, beta;
    bool is_addend_last;
} ln_cpu_linear_call;

// The weights may lie at any address.
void ln_cpu_linear_pack(const ln_op_arg *op_arg, const tl_tensor *weight, tl_tensor *dst,
                        bool is_transposed, int channels);
void ln_cpu_linear(ln_pool *pool, const ln_cpu_linear_call *linear);

LN_CPPEND

#endif
