// SPDX-License-Identifier: Apache-2.0
// Channels-last transposed convolution as its description says, summed in double.

#ifndef LN_ARCH_REF_NHWC_DECONV_H
#define LN_ARCH_REF_NHWC_DECONV_H

#include <lightnet/act.h>
#include <lightnet/tensor.h>

LN_CPPSTART

// Tensors and parameters of the operator, of which the description's checks have been done.
typedef struct ln_ref_deconv_nhwc {
    const tl_tensor *src, *packed, *bias, *into;
    tl_tensor *dst;
    int group, channels;
    const int *size, *stride, *padding, *dilation;
    ln_act act;
    double alpha, beta;
    int src_first, src_channels, dst_first;
} ln_ref_deconv_nhwc;

void ln_ref_deconv2d_pack(const tl_tensor *weight, tl_tensor *dst, int group, const int stride[2],
                          const int dilation[2]);
void ln_ref_deconv2d_nhwc(const ln_ref_deconv_nhwc *deconv);

LN_CPPEND

#endif
