// SPDX-License-Identifier: Apache-2.0
// Powers in plain C: the same bits everywhere.

#ifndef LN_ARCH_CPU_KERNELS_POWER_H
#define LN_ARCH_CPU_KERNELS_POWER_H

// x to the power of y, within 0.51 units in the last place. Zeros, infinities, NaN and negative
// bases as C's pow has them.
float ln_power_f32(float x, float y);

#endif
