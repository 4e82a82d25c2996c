// SPDX-License-Identifier: Apache-2.0
// What a kernel does to a sum before it stores it.
//
// The bits, for an element of channel c: sum, + bias[c] if there is a bias; then the addend if it
// comes before the activation; the activation; then the addend if it comes after. Each step is one
// IEEE operation, each activation the function of mathf.h.

#ifndef LN_ARCH_CPU_KERNELS_ACT_H
#define LN_ARCH_CPU_KERNELS_ACT_H

#include <stdbool.h>
#include <stddef.h>

#include <lightnet/act.h>

typedef struct ln_epilogue_f32 {
    const float *bias;    // a float for each channel; NULL: none
    const float *addend;  // as many elements as the result, and in its order; NULL: none
    size_t addend_stride; // floats from one row (pixel) of it to the next
    bool is_addend_last;  // added after the activation, not before it
    ln_act act;
    float alpha, beta; // of the activation
} ln_epilogue_f32;

#endif
