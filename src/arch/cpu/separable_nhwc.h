// SPDX-License-Identifier: Apache-2.0
// A depthwise convolution of channels-last images with 1x1 convolutions around it.

#ifndef LN_ARCH_CPU_SEPARABLE_NHWC_H
#define LN_ARCH_CPU_SEPARABLE_NHWC_H

#include "arch/cpu/nhwc.h"

LN_CPPSTART

// The convolutions of the operator; one without `packed` is none. What each reads but the first,
// and how that is in memory, follows by ln_separable_nhwc_infer.
typedef struct ln_separable_nhwc {
    ln_conv_nhwc expand, depthwise, project; // before, in the middle, after
    tl_tensor expanded, filtered;            // the images between, without data
} ln_separable_nhwc;

// What does not fit fails, with a message.
ln_status ln_separable_nhwc_infer(ln_separable_nhwc *op, const tl_tensor *src);

double ln_separable_nhwc_macs(const ln_separable_nhwc *op);

LN_CPPEND

#endif
