// SPDX-License-Identifier: Apache-2.0
// Channels-last poolings and resizing as their descriptions say, computed in double.

#ifndef LN_ARCH_REF_NHWC_POOL_H
#define LN_ARCH_REF_NHWC_POOL_H

#include <stdbool.h>

#include <lightnet/tensor.h>

#include "op/nhwc_pool.h"

LN_CPPSTART

// Tensors and parameters of the operators, of which the description's checks have been done.
typedef struct ln_ref_pool_nhwc {
    const tl_tensor *src, *into;
    tl_tensor *dst;
    const int *size, *stride, *padding, *dilation;
    int src_first, src_channels, dst_first;
    bool counts_padding;
} ln_ref_pool_nhwc;

typedef struct ln_ref_resize_nhwc {
    const tl_tensor *src, *into;
    tl_tensor *dst;
    const double *scale;
    ln_resize_nhwc_mode mode;
    ln_resize_coordinates coordinates;
    ln_resize_rounding rounding;
    int src_first, src_channels, dst_first;
} ln_ref_resize_nhwc;

void ln_ref_maxpool2d_nhwc(const ln_ref_pool_nhwc *pool);
void ln_ref_avgpool2d_nhwc(const ln_ref_pool_nhwc *pool);
void ln_ref_resize_nhwc_run(const ln_ref_resize_nhwc *resize);

LN_CPPEND

#endif
