// SPDX-License-Identifier: Apache-2.0
// Shapes of convolutions after each other: each is checked as conv2d_nhwc, on an image that the one
// before would make.

#include "arch/cpu/separable_nhwc.h"

#include <string.h>

#include <lightnet/convdim.h>
#include <lightnet/status.h>

#include "op/conv_nhwc.h"

static const int ones[2] = {1, 1}, no_padding[4] = {0, 0, 0, 0};

static int fail(const char *message)
{
    ln_fail(LN_INVALID, "%s", message);
    return -1;
}

static int shape_of_pointwise(int *dims, const tl_tensor *src, const tl_tensor *packed,
                              const tl_tensor *bias, const tl_tensor *addend, int channels,
                              int addend_first)
{
    return ln_shape_conv2d_nhwc(dims, src, packed, bias, addend, NULL, 1, channels, ones, ones,
                                no_padding, ones, LN_CONV_DIRECT, 0, 0, 0, 0, addend_first);
}

int ln_shape_separable_nhwc(int *dims, const ln_separable_nhwc *op)
{
    int expanded_dims[4], filtered_dims[4];
    const tl_tensor expanded = {.dtype = TL_FLOAT, .ndim = 4, .dims = expanded_dims};
    const tl_tensor filtered = {.dtype = TL_FLOAT, .ndim = 4, .dims = filtered_dims};
    if (!op->expand && !op->project)
        return fail("a depthwise convolution alone is not this operator's");
    if (op->expand_bias && !op->expand)
        return fail("there is a bias for a convolution in front, but no weights");
    if (!op->project != (op->project_channels == 0))
        return fail("weights of a convolution behind and project_channels come together");
    if ((op->project_bias || op->addend) && !op->project)
        return fail("there is a bias or addend for a convolution behind, but no weights");
    memcpy(expanded_dims, op->src->dims, sizeof expanded_dims);
    if (op->expand && shape_of_pointwise(expanded_dims, op->src, op->expand, op->expand_bias, NULL,
                                         op->channels, 0) < 0)
        return -1;
    if (ln_shape_conv2d_nhwc(filtered_dims, &expanded, op->depthwise, op->depthwise_bias, NULL,
                             NULL, op->channels, op->channels, op->size, op->stride, op->padding,
                             op->dilation, LN_CONV_DEPTHWISE, 0, 0, 0, 0, 0) < 0)
        return -1;
    if (op->project)
        return shape_of_pointwise(dims, &filtered, op->project, op->project_bias, op->addend,
                                  op->project_channels, op->addend_first);
    memcpy(dims, filtered_dims, sizeof filtered_dims);
    return 4;
}

void ln_separable_images(int expanded[4], int filtered[4], const ln_separable_nhwc *op)
{
    memcpy(expanded, op->src->dims, 3 * sizeof *expanded);
    filtered[0] = expanded[0];
    for (int i = 0; i < 2; i++)
        filtered[1 + i] = ln_output_dim_conv(expanded[1 + i], op->size[i], op->stride[i],
                                             op->padding[i], op->padding[2 + i], op->dilation[i]);
    expanded[3] = filtered[3] = op->channels;
}

static double pixels_of(const tl_tensor *image)
{
    return (double)image->dims[0] * image->dims[1] * image->dims[2];
}

double ln_separable_products(const ln_separable_nhwc *op, const tl_tensor *dst)
{
    double taps = (double)op->size[0] * op->size[1] + op->project_channels;
    double products = pixels_of(dst) * taps;
    if (op->expand)
        products += pixels_of(op->src) * op->src->dims[3];
    return products * op->channels;
}
