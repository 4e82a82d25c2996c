// SPDX-License-Identifier: Apache-2.0
// Which algorithm computes a convolution.

#ifndef LN_ARCH_CPU_CONV_CHOICE_H
#define LN_ARCH_CPU_CONV_CHOICE_H

#include "arch/cpu/conv_nhwc.h"
#include "pass/choice.h"

LN_CPPSTART

// The algorithm that is best for a convolution of an image [N, C, H, W]. What it looks at is in
// the model alone: the algorithm decides the bits, so it may not depend on the machine.
ln_conv_algorithm ln_cpu_choose_conv(const int weight_dims[4], int group, const int size_out[2],
                                     const int stride[2], const int dilation[2]);

// That one, or the one instead of it where Winograd's are to be avoided.
ln_conv_algorithm ln_cpu_permit_conv(ln_conv_algorithm algorithm, bool avoids_winograd);

// What the pass `tune` measures, and templates choose anew for each shape.
extern const ln_choice ln_cpu_choices[];

LN_CPPEND

#endif
