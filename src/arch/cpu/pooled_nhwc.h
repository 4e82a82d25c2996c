// SPDX-License-Identifier: Apache-2.0
// A convolution of channels-last images with a max pooling after it.

#ifndef LN_ARCH_CPU_POOLED_NHWC_H
#define LN_ARCH_CPU_POOLED_NHWC_H

#include "arch/cpu/nhwc_pool.h"

LN_CPPSTART

typedef struct ln_pooled_nhwc {
    ln_conv_nhwc conv;
    ln_pool_nhwc pooling; // its `src` is `between`
    tl_tensor between;    // without data
} ln_pooled_nhwc;

// What does not fit fails, with a message.
ln_status ln_pooled_nhwc_infer(ln_pooled_nhwc *op);

LN_CPPEND

#endif
