// SPDX-License-Identifier: Apache-2.0
// A depthwise convolution of channels-last images with 1x1 convolutions around it: what the
// operator's tensors and parameters are, and shapes.

#ifndef LN_ARCH_CPU_SEPARABLE_NHWC_H
#define LN_ARCH_CPU_SEPARABLE_NHWC_H

#include <stdbool.h>

#include <lightnet/act.h>
#include <lightnet/tensor.h>

LN_CPPSTART

// An activation and its numbers.
typedef struct ln_separable_act {
    ln_act act;
    float alpha, beta;
} ln_separable_act;

// The operator. Tensors are NULL where it has none; for shapes, activations do not matter.
typedef struct ln_separable_nhwc {
    const tl_tensor *src;
    const tl_tensor *expand, *expand_bias; // in front
    const tl_tensor *depthwise, *depthwise_bias;
    const tl_tensor *project, *project_bias, *addend; // behind
    int channels, project_channels;
    const int *size, *stride, *padding, *dilation; // of the depthwise convolution
    ln_separable_act expand_act, act, project_act;
    bool is_addend_last;
    int addend_first;
} ln_separable_nhwc;

// As in lightnet/opshape.h: fills in `dims` and returns the rank, or -1 with a recorded failure.
int ln_shape_separable_nhwc(int *dims, const ln_separable_nhwc *op);

// The dimensions of the image that the depthwise convolution reads, and of what it makes.
void ln_separable_images(int expanded[4], int filtered[4], const ln_separable_nhwc *op);

// How many products a run computes.
double ln_separable_products(const ln_separable_nhwc *op, const tl_tensor *dst);

LN_CPPEND

#endif
