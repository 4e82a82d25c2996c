// SPDX-License-Identifier: Apache-2.0
// From tensors and parameters to the kernels' arguments.

#include "arch/cpu/cpu_ops.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include <lightnet/opshape.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/conv/conv.h"
#include "arch/cpu/kernels/deconv/deconv.h"

static const float *floats(const tl_tensor *t)
{
    return t ? t->data : NULL;
}

// A workspace of `byte_count` as the shape of a tensor of floats, never an empty one.
static int workspace_shape(int *dims, size_t byte_count)
{
    size_t count = byte_count / sizeof(float);
    if (count > INT_MAX) {
        ln_fail(LN_LIMIT, "a workspace of %zu bytes is too large for a tensor", byte_count);
        return -1;
    }
    dims[0] = count ? (int)count : 1;
    return 1;
}

// ---- Convolution ----

static ln_conv_shape shape_of(const tl_tensor *src, const tl_tensor *weight, const int *out,
                              int group, const int *stride, const int *dilation, const int *pad)
{
    return (ln_conv_shape){.batch = (size_t)src->dims[0],
                           .group = (size_t)group,
                           .in_channels = (size_t)src->dims[1],
                           .out_channels = (size_t)out[1],
                           .in_h = (size_t)src->dims[2],
                           .in_w = (size_t)src->dims[3],
                           .out_h = (size_t)out[2],
                           .out_w = (size_t)out[3],
                           .kernel_h = (size_t)weight->dims[2],
                           .kernel_w = (size_t)weight->dims[3],
                           .stride_h = (size_t)stride[0],
                           .stride_w = (size_t)stride[1],
                           .dilation_h = (size_t)dilation[0],
                           .dilation_w = (size_t)dilation[1],
                           .pad_top = (size_t)pad[0],
                           .pad_left = (size_t)pad[1]};
}

// ---- Transposed convolution ----

static ln_status deconv2d_shape(const tl_tensor *src, const tl_tensor *weight, const int *out,
                                int group, const int *stride, const int *output_dims,
                                const int *padding, const int *output_padding, const int *dilation,
                                const char *autopad, ln_conv_shape *shape)
{
    int pad[4];
    LN_TRY(ln_effective_deconv_padding(pad, padding, autopad, src->dims + 2, output_dims + 2,
                                       weight->dims + 2, stride, output_padding, dilation));
    *shape = shape_of(src, weight, out, group, stride, dilation, pad);
    return ln_deconv2d_check(shape);
}

ln_status ln_cpu_deconv2d(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                          tl_tensor *dst, tl_tensor *workspace, int group, const int stride[2],
                          const int output_dims[4], const int padding[4],
                          const int output_padding[2], const int dilation[2], const char *autopad,
                          const char *act)
{
    ln_deconv2d_f32_args args = {.x = floats(src),
                                 .weight = floats(weight),
                                 .bias = floats(bias),
                                 .y = dst->data,
                                 .act = strcmp(act, "relu") == 0 ? LN_ACT_RELU : LN_ACT_NONE};
    LN_TRY(deconv2d_shape(src, weight, dst->dims, group, stride, output_dims, padding,
                          output_padding, dilation, autopad, &args.shape));
    ln_deconv2d_f32(ln_cpu_isa_get(), &args, workspace->data);
    return LN_OK;
}

int ln_cpu_deconv2d_workspace(int *dims, const tl_tensor *src, const tl_tensor *weight,
                              const tl_tensor *bias, int group, const int size[2],
                              const int stride[2], const int output_dims[4], const int padding[4],
                              const int output_padding[2], const int dilation[2],
                              const char *autopad)
{
    int out[TL_MAXDIM];
    ln_conv_shape shape;
    if (ln_shape_deconv2d(out, src, weight, bias, group, size, stride, output_dims, padding,
                          output_padding, dilation, autopad) != 4 ||
        deconv2d_shape(src, weight, out, group, stride, output_dims, padding, output_padding,
                       dilation, autopad, &shape) != LN_OK)
        return -1;
    return workspace_shape(dims, ln_deconv2d_f32_workspace(&shape));
}
