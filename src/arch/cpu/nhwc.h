// SPDX-License-Identifier: Apache-2.0
// What the channels-last operators of arch cpu call: from tensors and parameters to the kernels.
// As in cpu_ops.h.

#ifndef LN_ARCH_CPU_NHWC_H
#define LN_ARCH_CPU_NHWC_H

#include <stdbool.h>

#include <lightnet/act.h>
#include <lightnet/context.h>
#include <lightnet/op.h>
#include <lightnet/tensor.h>

#include "arch/cpu/kernels/conv_shape.h"
#include "base/pool.h"
#include "op/conv_nhwc.h"

LN_CPPSTART

// The threads that run an operator.
static inline ln_pool *ln_cpu_pool(const ln_op_arg *op_arg)
{
    return op_arg->context ? op_arg->context->pool : NULL;
}

// The shape of a convolution, forwards or transposed, whose output has `out` rows and columns; it
// reads `src_channels` of src's channels, 0: all.
ln_conv_shape ln_cpu_nhwc_shape(const tl_tensor *src, const int out[2], int group, int channels,
                                const int *size, const int *stride, const int *padding,
                                const int *dilation, int src_channels);

// Tensors and parameters of the operator; NULL where it has none.
typedef struct ln_cpu_conv_nhwc {
    const tl_tensor *src, *packed, *bias, *addend, *into;
    tl_tensor *dst, *workspace;
    int group, channels;
    const int *size, *stride, *padding, *dilation;
    ln_conv_algorithm algorithm;
    ln_act act;
    float alpha, beta;
    bool is_addend_last;
    int src_first, src_channels, dst_first, addend_first;
} ln_cpu_conv_nhwc;

ln_status ln_cpu_conv2d_pack(ln_pool *pool, const tl_tensor *weight, tl_tensor *dst, int group,
                             ln_conv_algorithm algorithm);
ln_status ln_cpu_conv2d_nhwc(ln_pool *pool, const ln_cpu_conv_nhwc *conv);

void ln_cpu_interleave(ln_pool *pool, const tl_tensor *src1, const tl_tensor *src2, tl_tensor *dst,
                       int src1_first, int src2_first);

// The shape of `workspace`: fills in `dims` and returns the rank, 1; -1 with a recorded failure.
int ln_cpu_conv2d_nhwc_workspace(int *dims, const tl_tensor *src, int group, int channels,
                                 const int size[2], const int stride[2], const int padding[4],
                                 const int dilation[2], int algorithm, int src_channels);

LN_CPPEND

#endif
