// SPDX-License-Identifier: Apache-2.0
// A convolution with a max pooling behind it: conv2d_nhwc, then maxpool2d_nhwc.

#ifndef LN_ARCH_REF_POOLED_H
#define LN_ARCH_REF_POOLED_H

#include "op/pooled_nhwc.h"

LN_CPPSTART

// The shape of `workspace`: fills in `dims` and returns the rank, 1; -1 with a recorded failure.
int ln_ref_pooled_workspace(int *dims, const ln_pooled_nhwc *op);

void ln_ref_pooled(const ln_pooled_nhwc *op, tl_tensor *dst, tl_tensor *workspace);

LN_CPPEND

#endif
