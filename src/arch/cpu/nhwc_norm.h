// SPDX-License-Identifier: Apache-2.0
// From tensors and parameters of operators on channels to the kernels' arguments.

#ifndef LN_ARCH_CPU_NHWC_NORM_H
#define LN_ARCH_CPU_NHWC_NORM_H

#include <lightnet/act.h>
#include <lightnet/tensor.h>

#include "base/pool.h"

LN_CPPSTART

typedef struct ln_cpu_groupnorm {
    const tl_tensor *src, *scale, *offset;
    tl_tensor *dst, *workspace;
    int groups;
    float epsilon;
    ln_act act;
    float alpha, beta;
} ln_cpu_groupnorm;

void ln_cpu_groupnorm_nhwc(ln_pool *pool, const ln_cpu_groupnorm *norm);

// The shape of `workspace`: fills in `dims` and returns the rank, 1; -1 with a recorded failure.
int ln_cpu_groupnorm_nhwc_workspace(int *dims, const tl_tensor *src);

void ln_cpu_prelu_nhwc(ln_pool *pool, const tl_tensor *src, const tl_tensor *slope, tl_tensor *dst);

LN_CPPEND

#endif
