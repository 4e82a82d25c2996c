// SPDX-License-Identifier: Apache-2.0
// From the tensors and parameters of conv2d_maxpool_nhwc to the arguments of its convolution and
// its pooling.

#include "arch/cpu/pooled.h"

#include <limits.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/band/pooled.h"

static ln_conv_shape shape_of(const ln_pooled_nhwc *op)
{
    const tl_tensor *src = op->src;
    int between[4];
    ln_pooled_image(between, op);
    return (ln_conv_shape){
        .batch = (size_t)src->dims[0],
        .group = 1,
        .in_channels = (size_t)src->dims[3],
        .out_channels = (size_t)op->channels,
        .in_h = (size_t)src->dims[1],
        .in_w = (size_t)src->dims[2],
        .out_h = (size_t)between[1],
        .out_w = (size_t)between[2],
        .kernel_h = (size_t)op->size[0],
        .kernel_w = (size_t)op->size[1],
        .stride_h = (size_t)op->stride[0],
        .stride_w = (size_t)op->stride[1],
        .dilation_h = 1,
        .dilation_w = 1,
        .pad_top = (size_t)op->padding[0],
        .pad_left = (size_t)op->padding[1],
    };
}

static ln_window_1d window_of(const ln_pooled_nhwc *op, int axis, size_t in)
{
    return (ln_window_1d){.in = in,
                          .kernel = (size_t)op->pool_size[axis],
                          .stride = (size_t)op->pool_stride[axis],
                          .dilation = 1,
                          .pad = (size_t)op->pool_padding[axis]};
}

static size_t winograd_of(const ln_pooled_nhwc *op)
{
    return (size_t)ln_conv_winograd_tile(op->algorithm);
}

int ln_cpu_pooled_workspace(int *dims, const ln_pooled_nhwc *op)
{
    const ln_conv_shape shape = shape_of(op);
    const ln_window_1d rows = window_of(op, 0, shape.out_h);
    size_t count = ln_pooled_nhwc_f32_workspace(winograd_of(op), &shape, &rows) / sizeof(float);
    if (count > INT_MAX) {
        ln_fail(LN_LIMIT, "a workspace of %zu floats is too large for a tensor", count);
        return -1;
    }
    dims[0] = (int)count;
    return 1;
}

ln_status ln_cpu_pooled(ln_pool *pool, const ln_pooled_nhwc *op, tl_tensor *dst,
                        tl_tensor *workspace)
{
    const ln_conv_nhwc_f32_args conv = {
        .shape = shape_of(op),
        .x = op->src->data,
        .x_stride = (size_t)op->src->dims[3],
        .packed = op->packed->data,
        .epilogue = {.bias = op->bias ? op->bias->data : NULL,
                     .act = op->act,
                     .alpha = op->alpha,
                     .beta = op->beta},
    };
    const ln_pool_nhwc_f32_args pooling = {
        .kind = LN_POOL_MAX,
        .batch = (size_t)dst->dims[0],
        .channels = (size_t)op->channels,
        .out_h = (size_t)dst->dims[1],
        .out_w = (size_t)dst->dims[2],
        .rows = window_of(op, 0, conv.shape.out_h),
        .columns = window_of(op, 1, conv.shape.out_w),
        .y = dst->data,
        .y_stride = (size_t)op->channels,
    };
    const ln_pooled_nhwc_f32_args args = {
        .winograd = winograd_of(op), .conv = &conv, .pool = &pooling};
    if (dst->len > 0)
        ln_pooled_nhwc_f32(ln_cpu_isa_get(), &args, pool, workspace->data);
    return LN_OK;
}
