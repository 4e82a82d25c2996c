// SPDX-License-Identifier: Apache-2.0
// Sets of instructions that have no kernels of their own convolve directly.

#ifndef LN_ARCH_CPU_KERNELS_WINOGRAD_I8_BODY_H
#define LN_ARCH_CPU_KERNELS_WINOGRAD_I8_BODY_H

#include "arch/cpu/kernels/conv_i8/winograd_i8.h"

const ln_winograd_i8_kernels VI_KERNEL(ln_k_winograd_i8) = {NULL, NULL, NULL, NULL, NULL};

#endif
