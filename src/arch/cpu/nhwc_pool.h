// SPDX-License-Identifier: Apache-2.0
// Pooling of channels-last images [N, H, W, C].

#ifndef LN_ARCH_CPU_NHWC_POOL_H
#define LN_ARCH_CPU_NHWC_POOL_H

#include <stdbool.h>

#include "arch/cpu/kernels/pool/pool_nhwc.h"
#include "arch/cpu/nhwc.h"

LN_CPPSTART

// Tensors and parameters of the operator.
typedef struct ln_pool_nhwc {
    const tl_tensor *src, *into; // `into` NULL: none
    ln_pool2d_kind kind;
    int size[2], stride[2], padding[4], dilation[2];
    ln_channels channels;
    bool counts_padding;
    int out[4]; // the shape of the result; before ln_pool_nhwc_infer, height and width, or zeros
                // for as many windows as fit
} ln_pool_nhwc;

// What does not fit fails, with a message.
ln_status ln_pool_nhwc_infer(ln_pool_nhwc *pooling);

// The kernels' arguments; dst may be NULL.
ln_pool_nhwc_f32_args ln_pool_nhwc_args(const ln_pool_nhwc *pooling, const tl_tensor *dst);

LN_CPPEND

#endif
