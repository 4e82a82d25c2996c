// SPDX-License-Identifier: Apache-2.0
// Shapes of operators that treat each channel of channels-last images by itself.

#ifndef LN_OP_NHWC_NORM_H
#define LN_OP_NHWC_NORM_H

#include <lightnet/tensor.h>

LN_CPPSTART

// The shape of `src` [N, H, W, C], once rows `a` and `b` have C elements and groups divide C; `b`
// may be NULL. As in lightnet/opshape.h.
int ln_shape_of_channels(int *dims, const tl_tensor *src, const tl_tensor *a, const tl_tensor *b,
                         int groups);

LN_CPPEND

#endif
