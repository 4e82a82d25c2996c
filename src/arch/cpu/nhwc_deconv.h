// SPDX-License-Identifier: Apache-2.0
// From tensors and parameters of channels-last transposed convolution to the kernel's arguments.

#ifndef LN_ARCH_CPU_NHWC_DECONV_H
#define LN_ARCH_CPU_NHWC_DECONV_H

#include <lightnet/act.h>
#include <lightnet/tensor.h>

#include "base/pool.h"

LN_CPPSTART

// Tensors and parameters of the operator; NULL where it has none.
typedef struct ln_cpu_deconv_nhwc {
    const tl_tensor *src, *packed, *bias, *into;
    tl_tensor *dst, *workspace;
    int group, channels;
    const int *size, *stride, *padding, *dilation;
    ln_act act;
    float alpha, beta;
    int src_first, src_channels, dst_first;
} ln_cpu_deconv_nhwc;

void ln_cpu_deconv2d_pack(const tl_tensor *weight, tl_tensor *dst, int group, const int stride[2],
                          const int dilation[2]);
void ln_cpu_deconv2d_nhwc(ln_pool *pool, const ln_cpu_deconv_nhwc *deconv);

// The shape of `workspace`: fills in `dims` and returns the rank, 1; -1 with a recorded failure.
int ln_cpu_deconv2d_nhwc_workspace(int *dims, const tl_tensor *src, int group, int channels,
                                   const int size[2], const int stride[2], const int padding[2],
                                   const int dilation[2], const int out[2], int src_channels);

LN_CPPEND

#endif
