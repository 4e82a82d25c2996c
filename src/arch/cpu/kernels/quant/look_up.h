// SPDX-License-Identifier: Apache-2.0
// Functions of bytes, as tables.

#ifndef LN_ARCH_CPU_KERNELS_LOOK_UP_H
#define LN_ARCH_CPU_KERNELS_LOOK_UP_H

#include <stddef.h>
#include <stdint.h>

#include "arch/cpu/kernels/select.h"

LN_CPPSTART

// y[i] = table[x[i]]; y may be x.
typedef void ln_look_up_i8_fn(const uint8_t table[256], size_t n, const uint8_t *x, uint8_t *y);

LN_KERNELS_OF(LN_CPU_I8_LIST, ln_look_up_i8_fn, look_up_i8)

LN_CPPEND

#endif
