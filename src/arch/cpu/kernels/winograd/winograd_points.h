// SPDX-License-Identifier: Apache-2.0
// The points at which Winograd's algorithm evaluates, for weights in double and images in float.
//
// With points x_0 = 0, x_1 = a, x_2 = -a, x_3 = b, x_4 = -b, ... and infinity (Toom and Cook):
//
//     A^T[j][i] = x_i^j                   for infinity: 1 in the last row
//     G[i][j]   = x_i^j / N_i             N_i = product of x_i - x_k over k != i; 1 for infinity
//     B^T[i][j] = coefficient of x^j in the product of x - x_k over k != i
//
// The points decide the error. Among pairs and triples of short fractions these had the smallest
// rms error on random data; every number made of them below is exact in float.

#ifndef LN_ARCH_CPU_KERNELS_WINOGRAD_POINTS_H
#define LN_ARCH_CPU_KERNELS_WINOGRAD_POINTS_H

// F(2, 3): 0, +-1.
// F(4, 3): 0, +-5/8, +-3/2. The customary 0, +-1, +-2 has more than twice its rms error.
#define LN_WINOGRAD4_A 0.625
#define LN_WINOGRAD4_B 1.5
// F(6, 3): 0, +-1/2, +-1, +-2.
#define LN_WINOGRAD6_A 0.5
#define LN_WINOGRAD6_B 1.0
#define LN_WINOGRAD6_C 2.0

#endif
