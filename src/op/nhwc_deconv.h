// SPDX-License-Identifier: Apache-2.0
// Transposed convolution of channels-last images [N, H, W, C] with packed weights: layout, shapes.
//
// The taps of an axis that reach the same outputs lie every `step` behind each other, with
// step = stride / gcd(stride, dilation); such taps of both axes are a phase. Packed weights, n =
// LN_PACK_LANES:
//
//   for each first row, first column of a phase, in ascending order, for each group, for each n
//   output channels of it, for each row of the phase from the last to the first, column likewise,
//   input channel of the group:      | o0 ... o15 |      (zeros behind the last channel)
//
// If each output channel is made of the input channel of its number alone, a tap is instead:
//
//   | o0 ... o(O-1) |

#ifndef LN_OP_NHWC_DECONV_H
#define LN_OP_NHWC_DECONV_H

#include <stddef.h>

#include <lightnet/status.h>
#include <lightnet/tensor.h>

LN_CPPSTART

// Floats of the packed weights [C, O / group, kernel height, kernel width]; -1 with a recorded
// failure if the groups do not fit or they are too many.
int ln_deconv_packed_len(const int weight_dims[4], int group);

// Where the weight of input channel `c` and output channel `o`, and a tap is in packed weights.
size_t ln_deconv_packed_at(const int weight_dims[4], int group, const int stride[2],
                           const int dilation[2], int c, int o, const int tap[2]);

// ---- For the descriptions ----

// What `deconv2d_nhwc` says about its weights: [C, channels / group, size[0], size[1]].
void ln_deconv_nhwc_weight_dims(int weight_dims[4], const tl_tensor *src, int src_channels,
                                int group, int channels, const int size[2]);

// Shapes as in lightnet/opshape.h: fill in `dims` and return the rank, or -1 with a recorded
// failure.
int ln_shape_deconv2d_pack(int *dims, const tl_tensor *weight, int group);
int ln_shape_deconv2d_nhwc(int *dims, const tl_tensor *src, const tl_tensor *packed,
                           const tl_tensor *bias, const tl_tensor *into, int group, int channels,
                           const int size[2], const int stride[2], const int dilation[2],
                           const int out[2], int src_first, int src_channels, int dst_first,
                           int dst_channels);

LN_CPPEND

#endif
