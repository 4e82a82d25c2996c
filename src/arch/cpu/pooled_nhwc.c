// SPDX-License-Identifier: Apache-2.0
// Shapes of a convolution and a pooling after each other: each is checked as its own operator, the
// pooling on the image that the convolution would make.

#include "arch/cpu/pooled_nhwc.h"

#include <lightnet/convdim.h>
#include <lightnet/status.h>

#include "op/nhwc_pool.h"

static const int no_dilation[2] = {1, 1}, as_many_as_fit[2] = {0, 0};

int ln_shape_pooled_nhwc(int *dims, const ln_pooled_nhwc *op)
{
    int between_dims[4];
    const tl_tensor between = {.dtype = TL_FLOAT, .ndim = 4, .dims = between_dims};
    if (op->algorithm != LN_CONV_DIRECT && ln_conv_winograd_tile(op->algorithm) == 0) {
        ln_fail(LN_INVALID, "the algorithm is %s, but should be direct or one of Winograd's",
                ln_conv_algorithm_name(op->algorithm));
        return -1;
    }
    if (ln_shape_conv2d_nhwc(between_dims, op->src, op->packed, op->bias, NULL, NULL, 1,
                             op->channels, op->size, op->stride, op->padding, no_dilation,
                             (int)op->algorithm, 0, 0, 0, 0, 0) < 0)
        return -1;
    return ln_shape_pool2d_nhwc(dims, &between, NULL, op->pool_size, op->pool_stride,
                                op->pool_padding, no_dilation, as_many_as_fit, 0, 0, 0, 0);
}

void ln_pooled_image(int between[4], const ln_pooled_nhwc *op)
{
    between[0] = op->src->dims[0];
    for (int i = 0; i < 2; i++)
        between[1 + i] = ln_output_dim_conv(op->src->dims[1 + i], op->size[i], op->stride[i],
                                            op->padding[i], op->padding[2 + i], 1);
    between[3] = op->channels;
}

double ln_pooled_products(const ln_pooled_nhwc *op)
{
    int between_dims[4];
    ln_pooled_image(between_dims, op);
    double outputs = (double)between_dims[0] * between_dims[1] * between_dims[2] * between_dims[3];
    double taps = (double)op->size[0] * op->size[1] * op->src->dims[3];
    return outputs * taps;
}
