// SPDX-License-Identifier: Apache-2.0
// Sine and cosine of what is too large for the vector functions.

#ifndef LN_ARCH_CPU_KERNELS_SIN_LARGE_H
#define LN_ARCH_CPU_KERNELS_SIN_LARGE_H

#include <stdbool.h>

#define LN_SIN_MAX 0x1p17f // up to it vf_sin_quarters is exact enough

// The sine, or the cosine, of |x| > LN_SIN_MAX; NaN of infinities.
float ln_sin_large(float x, bool is_cos);

#endif
