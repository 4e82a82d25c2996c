// SPDX-License-Identifier: Apache-2.0
// A convolution of channels-last images with a max pooling behind it: what the operator's tensors
// and parameters are, and shapes.

#ifndef LN_ARCH_CPU_POOLED_NHWC_H
#define LN_ARCH_CPU_POOLED_NHWC_H

#include <lightnet/act.h>
#include <lightnet/tensor.h>

#include "op/conv_nhwc.h"

LN_CPPSTART

// The operator. Bias is NULL where it has none. For the image between and what it costs, the
// convolution's window and the pooling's size are enough; for shapes, the activation does not
// matter.
typedef struct ln_pooled_nhwc {
    const tl_tensor *src, *packed, *bias;
    int channels;
    const int *size, *stride, *padding; // of the convolution
    ln_conv_algorithm algorithm;
    ln_act act;
    float alpha, beta;
    const int *pool_size, *pool_stride, *pool_padding; // of the pooling
} ln_pooled_nhwc;

// As in lightnet/opshape.h: fills in `dims` and returns the rank, or -1 with a recorded failure.
int ln_shape_pooled_nhwc(int *dims, const ln_pooled_nhwc *op);

// The dimensions of the image between the two.
void ln_pooled_image(int between[4], const ln_pooled_nhwc *op);

// How many products a run computes, and elements it compares.
double ln_pooled_products(const ln_pooled_nhwc *op);

LN_CPPEND

#endif
