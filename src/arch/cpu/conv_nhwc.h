// SPDX-License-Identifier: Apache-2.0
// Convolution of channels-last images [N, H, W, C] with packed weights: algorithms, and the
// layouts of their weights.
//
// The weights are packed once, by `conv2d_pack`; what they look like depends on the algorithm and
// on nothing else, so that a packed file serves every processor. With n = LN_PACK_LANES:
//
//   direct      for each group, for each n output channels of it, for each kernel row, kernel
//               column, input channel:      | o0 ... o15 |          (zeros after the last channel)
//   depthwise   for each kernel row, kernel column:      | o0 ... o(O-1) |
//   narrow      (one group, n divides the input channels, few outputs: kernels/few_outputs)
//               for each kernel row, kernel column, n input channels, output channel:
//                                      | c0 ... c15 |
//   winogradM   (3x3, stride 1, one group) for each of the (M+2)^2 points, for each n output
//               channels, for each input channel:        | o0 ... o15 |          of G g G^T

#ifndef LN_ARCH_CPU_CONV_NHWC_H
#define LN_ARCH_CPU_CONV_NHWC_H

#include <stdbool.h>

#include <lightnet/status.h>

LN_CPPSTART

#define LN_PACK_LANES 16

/* The one list of algorithms: X(CONSTANT, "name"). */
#define LN_CONV_ALGORITHM_LIST(X)                                                                  \
    X(DIRECT, "direct")                                                                            \
    X(DEPTHWISE, "depthwise")                                                                      \
    X(WINOGRAD2, "winograd2")                                                                      \
    X(WINOGRAD4, "winograd4")                                                                      \
    X(WINOGRAD6, "winograd6")                                                                      \
    X(NARROW, "narrow")

typedef enum ln_conv_algorithm {
#define LN_CONV_ALGORITHM_ENUM(constant, name) LN_CONV_##constant,
    LN_CONV_ALGORITHM_LIST(LN_CONV_ALGORITHM_ENUM)
#undef LN_CONV_ALGORITHM_ENUM
        LN_CONV_ALGORITHM_COUNT
} ln_conv_algorithm;

// The algorithm of that name; -1 for names that are none.
int ln_conv_algorithm_from_str(const char *name);
const char *ln_conv_algorithm_name(ln_conv_algorithm algorithm); // never NULL

// The side of the squares of outputs that a Winograd algorithm makes at once; 0 for others.
int ln_conv_winograd_tile(ln_conv_algorithm algorithm);

// Whether the algorithm can do a convolution with weights [O, C / group, kernel height, width].
bool ln_conv_algorithm_fits(ln_conv_algorithm algorithm, const int weight_dims[4], int group,
                            const int stride[2], const int dilation[2]);

// Floats of the packed weights; -1 with a recorded failure if the algorithm does not fit or they
// are too many.
int ln_conv_packed_len(ln_conv_algorithm algorithm, const int weight_dims[4], int group);

LN_CPPEND

#endif
