// SPDX-License-Identifier: Apache-2.0
// A convolution and a max pooling one after the other, with a whole image between them.

#include "arch/ref/pooled.h"

#include <lightnet/status.h>

#include "arch/ref/nhwc.h"
#include "arch/ref/nhwc_pool.h"

static const int no_dilation[2] = {1, 1};

int ln_ref_pooled_workspace(int *dims, const ln_pooled_nhwc *op)
{
    int between[4];
    ln_pooled_image(between, op);
    if (!tl_shape_len(4, between, &dims[0])) {
        LN_FAIL(LN_LIMIT, "the image between has too many elements");
        return -1;
    }
    return 1;
}

void ln_ref_pooled(const ln_pooled_nhwc *op, tl_tensor *dst, tl_tensor *workspace)
{
    int dims[4];
    tl_tensor between = {
        .dtype = TL_FLOAT, .ndim = 4, .dims = dims, .len = workspace->len, .data = workspace->data};
    ln_pooled_image(dims, op);
    ln_ref_conv2d_nhwc(&(ln_ref_conv_nhwc){.src = op->src,
                                           .packed = op->packed,
                                           .bias = op->bias,
                                           .dst = &between,
                                           .group = 1,
                                           .channels = op->channels,
                                           .size = op->size,
                                           .stride = op->stride,
                                           .padding = op->padding,
                                           .dilation = no_dilation,
                                           .algorithm = op->algorithm,
                                           .act = op->act,
                                           .alpha = (double)op->alpha,
                                           .beta = (double)op->beta});
    ln_ref_maxpool2d_nhwc(&(ln_ref_pool_nhwc){.src = &between,
                                              .dst = dst,
                                              .size = op->pool_size,
                                              .stride = op->pool_stride,
                                              .padding = op->pool_padding,
                                              .dilation = no_dilation});
}
