// SPDX-License-Identifier: Apache-2.0
// What the products with packed weights of arch cpu call. As in cpu_ops.h.

#ifndef LN_ARCH_CPU_LINEAR_PACKED_H
#define LN_ARCH_CPU_LINEAR_PACKED_H

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
                        int is_transposed, int channels);
void ln_cpu_linear_packed(ln_pool *pool, const ln_cpu_linear_call *linear);

// Shapes as in lightnet/opshape.h: fill in `dims` and return the rank, or -1 with a recorded
// failure.
int ln_cpu_shape_linear_pack(int *dims, const tl_tensor *weight, int is_transposed, int channels);
int ln_cpu_shape_linear_packed(int *dims, const tl_tensor *src, const tl_tensor *packed,
                               const tl_tensor *bias, const tl_tensor *addend, int outputs);

LN_CPPEND

#endif
