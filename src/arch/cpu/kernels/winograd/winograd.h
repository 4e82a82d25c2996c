// SPDX-License-Identifier: Apache-2.0
// Winograd's minimal filtering F(m x m, 3 x 3) on channels-last images, m = 2, 4 or 6: 3x3 kernels,
// stride 1, one group (Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2015).
//
// The bits: a tile of n x n inputs, n = m + 2, is transformed to V = B^T d B, rows first, then
// columns, with the operations of winograd_f32_body.h in their order; pixels outside the image are
// +0. For each of its n^2 points a sum starts at +0 and takes fma(v, u, sum) with ascending input
// channel. The sums are transformed to Y = A^T M A, rows first, and go through the epilogue
// (act.h). Tiles begin at the first output of an image, so that batch, threads and blocks change
// nothing.
//
// Errors: |error| <= ln_winograd_f32_error(m, C) * max |x| * sum |w|, the maximum over the inputs
// of the tile and the sum over the weights of the output channel (Higham, Accuracy and Stability of
// Numerical Algorithms, 3.1, applied to the three linear maps; Barabasz and others, Error Analysis
// and Improving the Accuracy of Winograd Convolution for Deep Neural Networks, 2020). That is far
// away; the largest of 24 draws with 4, 64 and 512 channels, as multiples of the largest |output|
// (the test's LN_TEST_SEED from 1 to 24):
//
//     m   random   mean of 100 deviations   alternating signs   range of 1000
//     2   1.4e-6           1.5e-6                1.6e-6             1.0e-6
//     4   5.4e-6           3.7e-6                4.5e-6             5.6e-6
//     6   2.6e-5           1.1e-5                1.2e-5             3.1e-5
//
// and on random data 2.6e-8, 7.8e-8 and 3.6e-7 of sum |w x| as root mean square.
//
// Packed weights, n = 16:   for each of the (m + 2)^2 points, n output channels, input channel:
// | o0 ... o15 |   of G g G^T, computed in double and rounded once.

#ifndef LN_ARCH_CPU_KERNELS_WINOGRAD_H
#define LN_ARCH_CPU_KERNELS_WINOGRAD_H

#include "arch/cpu/kernels/conv_nhwc.h"

LN_CPPSTART

// Packs weights [out_channels, in_channels, 3, 3] for tiles of m x m outputs.
void ln_winograd_f32_pack(size_t m, const ln_conv_shape *shape, const float *weight, float *packed,
                          ln_pool *pool);

// The factor of the error's bound.
double ln_winograd_f32_error(size_t m, size_t in_channels);

// Bytes of workspace, the same on every machine; SIZE_MAX if they do not fit.
size_t ln_winograd_f32_workspace(size_t m, const ln_conv_shape *shape);

// Those that it takes without a pool for this shape, or one with fewer rows of outputs.
size_t ln_winograd_f32_thread_workspace(size_t m, const ln_conv_shape *shape);

void ln_winograd_f32(ln_cpu_isa isa, size_t m, const ln_conv_nhwc_f32_args *args, ln_pool *pool,
                     float *workspace);

LN_CPPEND

#endif
