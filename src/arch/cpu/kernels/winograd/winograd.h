// SPDX-License-Identifier: Apache-2.0
// Winograd's minimal filtering F(m x m, 3 x 3) on channels-last images, m = 2, 4 or 6: 3x3 kernels,
// stride 1, one group (Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2015).
//
// Packed weights, n = 16:   for each of the (m + 2)^2 points, n output channels, input channel:
// | o0 ... o15 |   of G g G^T, computed in double and rounded once.

#ifndef LN_ARCH_CPU_KERNELS_WINOGRAD_H
#define LN_ARCH_CPU_KERNELS_WINOGRAD_H

#include "arch/cpu/kernels/conv_nhwc.h"

LN_CPPSTART

// Packs weights [out_channels, in_channels, 3, 3] for tiles of m x m outputs.
void ln_winograd_f32_pack(size_t m, const ln_conv_shape *shape, const float *weight, float *packed);

// Bytes of workspace, the same on every machine; SIZE_MAX if they do not fit.
size_t ln_winograd_f32_workspace(size_t m, const ln_conv_shape *shape);

void ln_winograd_f32(ln_cpu_isa isa, size_t m, const ln_conv_nhwc_f32_args *args, ln_pool *pool,
                     float *workspace);

LN_CPPEND

#endif
