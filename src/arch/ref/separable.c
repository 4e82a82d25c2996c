// SPDX-License-Identifier: Apache-2.0
// Convolutions one after the other, with whole images between them.

#include "arch/ref/separable.h"

#include <limits.h>

#include <lightnet/status.h>

#include "arch/ref/nhwc.h"

static const int ones[2] = {1, 1}, no_padding[4] = {0, 0, 0, 0};

static long long elements(const int dims[4])
{
    int len;
    return tl_shape_len(4, dims, &len) ? len : INT_MAX + 1LL;
}

int ln_ref_separable_workspace(int *dims, const ln_separable_nhwc *op)
{
    int expanded[4], filtered[4];
    ln_separable_images(expanded, filtered, op);
    long long len = (op->expand ? elements(expanded) : 0) + (op->project ? elements(filtered) : 0);
    if (len > INT_MAX) {
        LN_FAIL(LN_LIMIT, "a workspace of %lld floats is too large for a tensor", len);
        return -1;
    }
    dims[0] = (int)len;
    return 1;
}

static ln_ref_conv_nhwc pointwise(const tl_tensor *src, const tl_tensor *packed,
                                  const tl_tensor *bias, tl_tensor *dst, int channels,
                                  const ln_separable_act *act)
{
    return (ln_ref_conv_nhwc){.src = src,
                              .packed = packed,
                              .bias = bias,
                              .dst = dst,
                              .group = 1,
                              .channels = channels,
                              .size = ones,
                              .stride = ones,
                              .padding = no_padding,
                              .dilation = ones,
                              .algorithm = LN_CONV_DIRECT,
                              .act = act->act,
                              .alpha = (double)act->alpha,
                              .beta = (double)act->beta};
}

void ln_ref_separable(const ln_separable_nhwc *op, tl_tensor *dst, tl_tensor *workspace)
{
    int expanded_dims[4], filtered_dims[4];
    float *floats = workspace->data;
    tl_tensor expanded = {.dtype = TL_FLOAT, .ndim = 4, .dims = expanded_dims, .data = floats};
    tl_tensor filtered = {.dtype = TL_FLOAT, .ndim = 4, .dims = filtered_dims};
    ln_separable_images(expanded_dims, filtered_dims, op);
    if (op->expand) {
        ln_ref_conv_nhwc first = pointwise(op->src, op->expand, op->expand_bias, &expanded,
                                           op->channels, &op->expand_act);
        ln_ref_conv2d_nhwc(&first);
    }
    if (op->project)
        filtered.data = op->expand ? floats + elements(expanded_dims) : floats;
    ln_ref_conv2d_nhwc(&(ln_ref_conv_nhwc){.src = op->expand ? &expanded : op->src,
                                           .packed = op->depthwise,
                                           .bias = op->depthwise_bias,
                                           .dst = op->project ? &filtered : dst,
                                           .group = op->channels,
                                           .channels = op->channels,
                                           .size = op->size,
                                           .stride = op->stride,
                                           .padding = op->padding,
                                           .dilation = op->dilation,
                                           .algorithm = LN_CONV_DEPTHWISE,
                                           .act = op->act.act,
                                           .alpha = (double)op->act.alpha,
                                           .beta = (double)op->act.beta});
    if (!op->project)
        return;
    ln_ref_conv_nhwc last = pointwise(&filtered, op->project, op->project_bias, dst,
                                      op->project_channels, &op->project_act);
    last.addend = op->addend;
    last.addend_first = op->addend_first;
    last.is_addend_last = op->is_addend_last;
    ln_ref_conv2d_nhwc(&last);
}
