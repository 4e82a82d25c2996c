// SPDX-License-Identifier: Apache-2.0
// Arguments of channels-last transposed convolution.

#include "arch/cpu/nhwc_deconv.h"

#include <limits.h>
#include <string.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/deconv/deconv_nhwc.h"
#include "arch/cpu/nhwc.h"

void ln_cpu_deconv2d_pack(const tl_tensor *weight, tl_tensor *dst, int group, const int stride[2],
                          const int dilation[2])
{
    ln_conv_shape shape = {.group = (size_t)group,
                           .in_channels = (size_t)weight->dims[0],
                           .out_channels = (size_t)weight->dims[1] * (size_t)group,
                           .kernel_h = (size_t)weight->dims[2],
                           .kernel_w = (size_t)weight->dims[3],
                           .stride_h = (size_t)stride[0],
                           .stride_w = (size_t)stride[1],
                           .dilation_h = (size_t)dilation[0],
                           .dilation_w = (size_t)dilation[1]};
    if (dst->len > 0)
        ln_deconv_nhwc_f32_pack(&shape, weight->data, dst->data);
}

int ln_cpu_deconv2d_nhwc_workspace(int *dims, const tl_tensor *src, int group, int channels,
                                   const int size[2], const int stride[2], const int padding[2],
                                   const int dilation[2], const int out[2], int src_channels)
{
    ln_conv_shape shape =
        ln_cpu_nhwc_shape(src, out, group, channels, size, stride, padding, dilation, src_channels);
    size_t count = ln_deconv_nhwc_f32_workspace(&shape) / sizeof(float);
    if (count > INT_MAX) {
        ln_fail(LN_LIMIT, "a workspace of %zu floats is too large for a tensor", count);
        return -1;
    }
    dims[0] = (int)count;
    return 1;
}

void ln_cpu_deconv2d_nhwc(ln_pool *pool, const ln_cpu_deconv_nhwc *deconv)
{
    const tl_tensor *src = deconv->src, *bias = deconv->bias;
    tl_tensor *dst = deconv->dst;
    if (dst->len == 0)
        return;
    if (deconv->into && deconv->into->data != dst->data)
        memcpy(dst->data, deconv->into->data, (size_t)dst->len * sizeof(float));
    ln_conv_nhwc_f32_args args = {
        .shape = ln_cpu_nhwc_shape(src, dst->dims + 1, deconv->group, deconv->channels,
                                   deconv->size, deconv->stride, deconv->padding, deconv->dilation,
                                   deconv->src_channels),
        .x = (const float *)src->data + deconv->src_first,
        .x_stride = (size_t)src->dims[3],
        .packed = deconv->packed->data,
        .y = (float *)dst->data + deconv->dst_first,
        .y_stride = (size_t)dst->dims[3],
        .epilogue = {.bias = bias ? bias->data : NULL,
                     .act = deconv->act,
                     .alpha = deconv->alpha,
                     .beta = deconv->beta},
    };
    ln_deconv_nhwc_f32(ln_cpu_isa_get(), &args, pool, deconv->workspace->data);
}
