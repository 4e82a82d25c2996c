// SPDX-License-Identifier: Apache-2.0
// Convolution of channels-last volumes as its description says, summed in double.

#ifndef LN_ARCH_REF_NHWC_CONV3D_H
#define LN_ARCH_REF_NHWC_CONV3D_H

#include <lightnet/act.h>
#include <lightnet/tensor.h>

#include "op/conv_nhwc.h"

LN_CPPSTART

typedef struct ln_ref_conv3d {
    const tl_tensor *src, *packed, *bias, *addend; // bias, addend NULL: none
    tl_tensor *dst;
    int group, channels;
    const int *size, *stride, *padding, *dilation;
    ln_conv_algorithm algorithm; // none of Winograd's
    ln_act act;
    double alpha, beta;
} ln_ref_conv3d;

void ln_ref_conv3d_pack(const tl_tensor *weight, tl_tensor *dst, int group,
                        ln_conv_algorithm algorithm);
void ln_ref_conv3d_ndhwc(const ln_ref_conv3d *conv);

LN_CPPEND

#endif
