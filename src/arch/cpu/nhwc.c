// SPDX-License-Identifier: Apache-2.0
// From tensors and parameters of channels-last operators to the kernels' arguments.

#include "arch/cpu/nhwc.h"

#include <limits.h>
#include <string.h>

#include <lightnet/convdim.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/depthwise/depthwise.h"
#include "arch/cpu/kernels/direct/direct.h"
#include "arch/cpu/kernels/narrow/narrow.h"
#include "arch/cpu/kernels/transpose/transpose.h"
#include "arch/cpu/kernels/winograd/winograd.h"

static const float *floats(const tl_tensor *t)
{
    return t ? t->data : NULL;
}

// ---- Packing ----

ln_status ln_cpu_conv2d_pack(ln_pool *pool, const tl_tensor *weight, tl_tensor *dst, int group,
                             ln_conv_algorithm algorithm)
{
    ln_conv_shape shape = {.group = (size_t)group,
                           .in_channels = (size_t)weight->dims[1] * (size_t)group,
                           .out_channels = (size_t)weight->dims[0],
                           .kernel_h = (size_t)weight->dims[2],
                           .kernel_w = (size_t)weight->dims[3]};
    if (algorithm == LN_CONV_DEPTHWISE)
        ln_depthwise_nhwc_f32_pack(&shape, floats(weight), dst->data);
    else if (algorithm == LN_CONV_DIRECT)
        ln_direct_f32_pack(&shape, floats(weight), dst->data);
    else if (algorithm == LN_CONV_NARROW)
        ln_narrow_f32_pack(&shape, floats(weight), dst->data);
    else
        ln_winograd_f32_pack((size_t)ln_conv_winograd_tile(algorithm), &shape, floats(weight),
                             dst->data, pool);
    return LN_OK;
}

// ---- Convolution ----

ln_conv_shape ln_cpu_nhwc_shape(const tl_tensor *src, const int out[2], int group, int channels,
                                const int *size, const int *stride, const int *padding,
                                const int *dilation, int src_channels)
{
    return (ln_conv_shape){
        .batch = (size_t)src->dims[0],
        .group = (size_t)group,
        .in_channels = (size_t)(src_channels ? src_channels : src->dims[3]),
        .out_channels = (size_t)channels,
        .in_h = (size_t)src->dims[1],
        .in_w = (size_t)src->dims[2],
        .out_h = (size_t)out[0],
        .out_w = (size_t)out[1],
        .kernel_h = (size_t)size[0],
        .kernel_w = (size_t)size[1],
        .stride_h = (size_t)stride[0],
        .stride_w = (size_t)stride[1],
        .dilation_h = (size_t)dilation[0],
        .dilation_w = (size_t)dilation[1],
        .pad_top = (size_t)padding[0],
        .pad_left = (size_t)padding[1],
    };
}

int ln_cpu_conv2d_nhwc_workspace(int *dims, const tl_tensor *src, int group, int channels,
                                 const int size[2], const int stride[2], const int padding[4],
                                 const int dilation[2], int algorithm, int src_channels)
{
    int out[2];
    for (int i = 0; i < 2; i++) {
        out[i] = ln_output_dim_conv(src->dims[1 + i], size[i], stride[i], padding[i],
                                    padding[2 + i], dilation[i]);
        if (out[i] < 0)
            return -1;
    }
    ln_conv_shape shape =
        ln_cpu_nhwc_shape(src, out, group, channels, size, stride, padding, dilation, src_channels);
    size_t m = (size_t)ln_conv_winograd_tile((ln_conv_algorithm)algorithm);
    size_t count = m ? ln_winograd_f32_workspace(m, &shape) / sizeof(float) : 0;
    if (count > INT_MAX) {
        ln_fail(LN_LIMIT, "a workspace of %zu floats is too large for a tensor", count);
        return -1;
    }
    dims[0] = (int)count;
    return 1;
}

ln_status ln_cpu_conv2d_nhwc(ln_pool *pool, const ln_cpu_conv_nhwc *conv)
{
    if (conv->into && conv->into->data != conv->dst->data)
        memcpy(conv->dst->data, conv->into->data, (size_t)conv->dst->len * sizeof(float));
    ln_conv_nhwc_f32_args args = {
        .shape = ln_cpu_nhwc_shape(conv->src, conv->dst->dims + 1, conv->group, conv->channels,
                                   conv->size, conv->stride, conv->padding, conv->dilation,
                                   conv->src_channels),
        .x = floats(conv->src) + conv->src_first,
        .x_stride = (size_t)conv->src->dims[3],
        .packed = floats(conv->packed),
        .y = (float *)conv->dst->data + conv->dst_first,
        .y_stride = (size_t)conv->dst->dims[3],
        .epilogue = {.bias = floats(conv->bias),
                     .addend = conv->addend ? floats(conv->addend) + conv->addend_first : NULL,
                     .addend_stride = conv->addend ? (size_t)conv->addend->dims[3] : 0,
                     .is_addend_last = conv->is_addend_last,
                     .act = conv->act,
                     .alpha = conv->alpha,
                     .beta = conv->beta},
    };
    if (conv->dst->len == 0)
        return LN_OK;
    if (conv->algorithm == LN_CONV_DEPTHWISE)
        ln_depthwise_nhwc_f32(ln_cpu_isa_get(), &args, pool);
    else if (conv->algorithm == LN_CONV_DIRECT)
        ln_direct_f32(ln_cpu_isa_get(), &args, pool);
    else if (conv->algorithm == LN_CONV_NARROW)
        ln_narrow_f32(ln_cpu_isa_get(), &args, pool);
    else
        ln_winograd_f32(ln_cpu_isa_get(), (size_t)ln_conv_winograd_tile(conv->algorithm), &args,
                        pool, conv->workspace->data);
    return LN_OK;
}

// ---- Pairs of channels ----

void ln_cpu_interleave(ln_pool *pool, const tl_tensor *src1, const tl_tensor *src2, tl_tensor *dst,
                       int src1_first, int src2_first)
{
    const size_t columns = (size_t)dst->dims[3] / 2;
    if (dst->len == 0)
        return;
    const ln_interleave_rows rows = {.rows = (size_t)dst->len / (2 * columns),
                                     .columns = columns,
                                     .a = floats(src1) + src1_first,
                                     .a_step = (size_t)src1->dims[3],
                                     .b = floats(src2) + src2_first,
                                     .b_step = (size_t)src2->dims[3],
                                     .y = dst->data};
    ln_interleave_u32(ln_cpu_isa_get(), &rows, pool);
}
