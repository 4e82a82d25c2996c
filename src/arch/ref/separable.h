// SPDX-License-Identifier: Apache-2.0
// A depthwise convolution with 1x1 convolutions around it: conv2d_nhwc as often as it takes.

#ifndef LN_ARCH_REF_SEPARABLE_H
#define LN_ARCH_REF_SEPARABLE_H

#include "op/separable_nhwc.h"

LN_CPPSTART

// The shape of `workspace`: fills in `dims` and returns the rank, 1; -1 with a recorded failure.
int ln_ref_separable_workspace(int *dims, const ln_separable_nhwc *op);

void ln_ref_separable(const ln_separable_nhwc *op, tl_tensor *dst, tl_tensor *workspace);

LN_CPPEND

#endif
