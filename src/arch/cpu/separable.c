// SPDX-License-Identifier: Apache-2.0
// From the tensors and parameters of separable_nhwc to the arguments of its convolutions.

#include "arch/cpu/separable.h"

#include <limits.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/band/band.h"

static const float *floats(const tl_tensor *t)
{
    return t ? t->data : NULL;
}

static ln_conv_shape depthwise_shape(const ln_separable_nhwc *op)
{
    int in[4], out[4];
    ln_separable_images(in, out, op);
    return (ln_conv_shape){
        .batch = (size_t)out[0],
        .group = (size_t)op->channels,
        .in_channels = (size_t)op->channels,
        .out_channels = (size_t)op->channels,
        .in_h = (size_t)in[1],
        .in_w = (size_t)in[2],
        .out_h = (size_t)out[1],
        .out_w = (size_t)out[2],
        .kernel_h = (size_t)op->size[0],
        .kernel_w = (size_t)op->size[1],
        .stride_h = (size_t)op->stride[0],
        .stride_w = (size_t)op->stride[1],
        .dilation_h = (size_t)op->dilation[0],
        .dilation_w = (size_t)op->dilation[1],
        .pad_top = (size_t)op->padding[0],
        .pad_left = (size_t)op->padding[1],
    };
}

static ln_conv_shape pointwise_shape(const tl_tensor *image, int in_channels, int out_channels)
{
    const size_t h = (size_t)image->dims[1], w = (size_t)image->dims[2];
    return (ln_conv_shape){.batch = (size_t)image->dims[0],
                           .group = 1,
                           .in_channels = (size_t)in_channels,
                           .out_channels = (size_t)out_channels,
                           .in_h = h,
                           .in_w = w,
                           .out_h = h,
                           .out_w = w,
                           .kernel_h = 1,
                           .kernel_w = 1,
                           .stride_h = 1,
                           .stride_w = 1,
                           .dilation_h = 1,
                           .dilation_w = 1};
}

static ln_epilogue_f32 epilogue_of(const tl_tensor *bias, const ln_separable_act *act)
{
    return (ln_epilogue_f32){
        .bias = floats(bias), .act = act->act, .alpha = act->alpha, .beta = act->beta};
}

int ln_cpu_separable_workspace(int *dims, const ln_separable_nhwc *op)
{
    ln_conv_shape shape = depthwise_shape(op);
    size_t bytes = ln_band_nhwc_f32_workspace(&shape, op->expand != NULL, op->project != NULL);
    if (bytes / sizeof(float) > INT_MAX) {
        ln_fail(LN_LIMIT, "a workspace of %zu bytes is too large for a tensor", bytes);
        return -1;
    }
    dims[0] = (int)(bytes / sizeof(float));
    return 1;
}

ln_status ln_cpu_separable(ln_pool *pool, const ln_separable_nhwc *op, tl_tensor *dst,
                           tl_tensor *workspace)
{
    const tl_tensor *src = op->src;
    const ln_conv_nhwc_f32_args expand = {
        .shape = pointwise_shape(src, src->dims[3], op->channels),
        .x = src->data,
        .x_stride = (size_t)src->dims[3],
        .packed = floats(op->expand),
        .epilogue = epilogue_of(op->expand_bias, &op->expand_act),
    };
    const ln_conv_nhwc_f32_args depthwise = {
        .shape = depthwise_shape(op),
        .x = src->data,
        .x_stride = (size_t)src->dims[3],
        .packed = floats(op->depthwise),
        .y = dst->data,
        .y_stride = (size_t)dst->dims[3],
        .epilogue = epilogue_of(op->depthwise_bias, &op->act),
    };
    ln_conv_nhwc_f32_args project = {
        .shape = pointwise_shape(dst, op->channels, op->project_channels),
        .packed = floats(op->project),
        .y = dst->data,
        .y_stride = (size_t)dst->dims[3],
        .epilogue = epilogue_of(op->project_bias, &op->project_act),
    };
    if (op->addend) {
        project.epilogue.addend = floats(op->addend) + op->addend_first;
        project.epilogue.addend_stride = (size_t)op->addend->dims[3];
        project.epilogue.is_addend_last = op->is_addend_last;
    }
    const ln_band_nhwc_f32_args args = {.expand = op->expand ? &expand : NULL,
                                        .depthwise = &depthwise,
                                        .project = op->project ? &project : NULL};
    if (dst->len > 0)
        ln_band_nhwc_f32(ln_cpu_isa_get(), &args, pool, workspace->data);
    return LN_OK;
}
