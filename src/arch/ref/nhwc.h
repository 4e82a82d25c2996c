// SPDX-License-Identifier: Apache-2.0
// Channels-last convolution as its description says, summed in double.

#ifndef LN_ARCH_REF_NHWC_H
#define LN_ARCH_REF_NHWC_H

#include <stdbool.h>

#include <lightnet/act.h>
#include <lightnet/tensor.h>

#include "arch/ref/act.h"
#include "op/conv_nhwc.h"

LN_CPPSTART

// Tensors and parameters of the operator, of which the description's checks have been done.
typedef struct ln_ref_conv_nhwc {
    const tl_tensor *src, *packed, *bias, *addend, *into;
    tl_tensor *dst;
    int group, channels;
    const int *size, *stride, *padding, *dilation;
    ln_conv_algorithm algorithm; // none of Winograd's
    ln_act act;
    double alpha, beta;
    bool is_addend_last;
    int src_first, src_channels, dst_first, addend_first;
} ln_ref_conv_nhwc;

void ln_ref_conv2d_pack(const tl_tensor *weight, tl_tensor *dst, int group,
                        ln_conv_algorithm algorithm);
void ln_ref_conv2d_nhwc(const ln_ref_conv_nhwc *conv);

LN_CPPEND

#endif
