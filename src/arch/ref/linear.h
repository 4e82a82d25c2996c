// SPDX-License-Identifier: Apache-2.0
// What the products with packed weights of arch ref call.

#ifndef LN_ARCH_REF_LINEAR_H
#define LN_ARCH_REF_LINEAR_H

#include <stdbool.h>

#include <lightnet/act.h>
#include <lightnet/tensor.h>

LN_CPPSTART

// Tensors and parameters of the operator; NULL where it has none.
typedef struct ln_ref_linear_call {
    const tl_tensor *src, *packed, *bias, *addend;
    tl_tensor *dst;
    int outputs;
    ln_act act;
    double alpha, beta;
    bool is_addend_last;
} ln_ref_linear_call;

void ln_ref_linear_pack(const tl_tensor *weight, tl_tensor *dst, bool is_transposed, int channels);
void ln_ref_linear(const ln_ref_linear_call *linear);

LN_CPPEND

#endif
