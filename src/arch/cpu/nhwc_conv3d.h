// SPDX-License-Identifier: Apache-2.0
// Convolution of channels-last volumes as convolutions of planes that are added up in place.
//
// The bits: for an output plane, the depths of the kernel that meet a plane of the input in
// ascending order, each a convolution of its algorithm; to the sum of a depth that of those before
// is added, to that of the first the addend. The last one has the bias before that, and the
// activation after it.

#ifndef LN_ARCH_CPU_NHWC_CONV3D_H
#define LN_ARCH_CPU_NHWC_CONV3D_H

#include <lightnet/act.h>
#include <lightnet/status.h>
#include <lightnet/tensor.h>

#include "base/pool.h"
#include "op/conv_nhwc.h"

LN_CPPSTART

typedef struct ln_cpu_conv3d {
    const tl_tensor *src, *packed, *bias, *addend; // bias, addend NULL: none
    tl_tensor *dst, *workspace;
    int group, channels;
    const int *size, *stride, *padding, *dilation;
    ln_conv_algorithm algorithm;
    ln_act act;
    float alpha, beta;
} ln_cpu_conv3d;

ln_status ln_cpu_conv3d_pack(ln_pool *pool, const tl_tensor *weight, tl_tensor *dst,
                             tl_tensor *workspace, int group, ln_conv_algorithm algorithm);
void ln_cpu_conv3d_ndhwc(ln_pool *pool, const ln_cpu_conv3d *conv);

// The shape of `workspace`: fills in `dims` and returns the rank, 1; -1 with a recorded failure.
int ln_cpu_conv3d_ndhwc_workspace(int *dims, const tl_tensor *src, int group, int channels,
                                  const int size[3], const int stride[3], const int padding[6],
                                  const int dilation[3], int algorithm);

LN_CPPEND

#endif
