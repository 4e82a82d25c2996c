// SPDX-License-Identifier: Apache-2.0
// The activations that gemm and conv can apply to a result before storing it.

#ifndef LN_ARCH_CPU_KERNELS_ACT_H
#define LN_ARCH_CPU_KERNELS_ACT_H

typedef enum ln_act {
    LN_ACT_NONE,
    LN_ACT_RELU, // 0 > x ? 0 : x; NaN and -0 stay
} ln_act;

#endif
