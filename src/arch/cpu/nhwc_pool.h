// SPDX-License-Identifier: Apache-2.0
// What the channels-last poolings and resizing of arch cpu call: from tensors and parameters to the
// kernels. As in cpu_ops.h.

#ifndef LN_ARCH_CPU_NHWC_POOL_H
#define LN_ARCH_CPU_NHWC_POOL_H

#include <stdbool.h>

#include <lightnet/tensor.h>

#include "arch/cpu/kernels/pool/pool.h"
#include "base/pool.h"
#include "op/nhwc_pool.h"

LN_CPPSTART

// Tensors and parameters of the operators; NULL where they have none.
typedef struct ln_cpu_pool_nhwc {
    ln_pool2d_kind kind;
    const tl_tensor *src, *into;
    tl_tensor *dst;
    const int *size, *stride, *padding, *dilation;
    int src_first, src_channels, dst_first;
    bool counts_padding;
} ln_cpu_pool_nhwc;

typedef struct ln_cpu_resize_nhwc {
    const tl_tensor *src, *into;
    tl_tensor *dst, *places, *weights;
    const double *scale;
    ln_resize_nhwc_mode mode;
    ln_resize_coordinates coordinates;
    ln_resize_rounding rounding;
    int src_first, src_channels, dst_first;
} ln_cpu_resize_nhwc;

ln_status ln_cpu_pool2d_nhwc(ln_pool *pool, const ln_cpu_pool_nhwc *pooling);
ln_status ln_cpu_resize_nhwc_run(ln_pool *pool, const ln_cpu_resize_nhwc *resize);

// The shape of `places` and `weights`, two for each row and column of the result: fills in `dims`
// and returns the rank, 1; -1 with a recorded failure.
int ln_cpu_resize_nhwc_places(int *dims, const int out[2]);

LN_CPPEND

#endif
