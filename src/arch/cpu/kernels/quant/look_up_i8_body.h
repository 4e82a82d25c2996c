// SPDX-License-Identifier: Apache-2.0
// Bytes that are looked up: one by one, but where a set has a verb for many.

#ifndef LN_ARCH_CPU_KERNELS_LOOK_UP_BODY_H
#define LN_ARCH_CPU_KERNELS_LOOK_UP_BODY_H

#include "arch/cpu/kernels/quant/look_up.h"

void VI_KERNEL(ln_k_look_up_i8)(const uint8_t table[256], size_t n, const uint8_t *x, uint8_t *y)
{
    size_t i = 0;
#ifdef VI_LOOKS_UP
    i = vi_look_up(table, n, x, y);
#endif
    for (; i < n; i++)
        y[i] = table[x[i]];
}

#endif
