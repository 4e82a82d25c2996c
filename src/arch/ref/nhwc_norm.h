// SPDX-License-Identifier: Apache-2.0
// Operators on channels as their descriptions say, in double.

#ifndef LN_ARCH_REF_NHWC_NORM_H
#define LN_ARCH_REF_NHWC_NORM_H

#include <lightnet/act.h>
#include <lightnet/tensor.h>

LN_CPPSTART

typedef struct ln_ref_groupnorm {
    const tl_tensor *src, *scale, *offset;
    tl_tensor *dst;
    int groups;
    double epsilon;
    ln_act act;
    double alpha, beta;
} ln_ref_groupnorm;

void ln_ref_groupnorm_nhwc(const ln_ref_groupnorm *norm);
void ln_ref_prelu_nhwc(const tl_tensor *src, const tl_tensor *slope, tl_tensor *dst);

LN_CPPEND

#endif
