// SPDX-License-Identifier: Apache-2.0
// Convolution of channels-last volumes [N, D, H, W, C]: a sum of convolutions of planes, one for
// each depth of the kernel, whose packed weights (conv_nhwc.h) stand behind each other.

#ifndef LN_OP_NHWC_CONV3D_H
#define LN_OP_NHWC_CONV3D_H

#include <lightnet/tensor.h>

LN_CPPSTART

// The weights of one depth: [channels, C / group, size[1], size[2]].
void ln_conv3d_plane_dims(int plane_dims[4], const tl_tensor *src, int group, int channels,
                          const int size[3]);

// Shapes as in lightnet/opshape.h: fill in `dims` and return the rank, or -1 with a recorded
// failure.
int ln_shape_conv3d_pack(int *dims, const tl_tensor *weight, int group, int algorithm);
int ln_shape_conv3d_ndhwc(int *dims, const tl_tensor *src, const tl_tensor *packed,
                          const tl_tensor *bias, const tl_tensor *addend, int group, int channels,
                          const int size[3], const int stride[3], const int padding[6],
                          const int dilation[3], int algorithm);

LN_CPPEND

#endif
