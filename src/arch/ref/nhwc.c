// SPDX-License-Identifier: Apache-2.0
// Channels-last convolution, one output element after the other.

#include "arch/ref/nhwc.h"

#include <string.h>

#include "base/deadline.h"

// ---- Packing ----

void ln_ref_conv2d_pack(const tl_tensor *weight, tl_tensor *dst, int group,
                        ln_conv_algorithm algorithm)
{
    const int *d = weight->dims;
    const float *from = weight->data;
    float *to = dst->data;
    memset(to, 0, (size_t)dst->len * sizeof *to);
    for (int o = 0; o < d[0]; o++)
        for (int c = 0; c < d[1]; c++)
            for (int ky = 0; ky < d[2]; ky++)
                for (int kx = 0; kx < d[3]; kx++)
                    to[ln_conv_packed_at(algorithm, d, group, o, c, ky, kx)] = *from++;
}

// ---- Convolution ----

static double sum_at(const ln_ref_conv_nhwc *conv, const int weight_dims[4], int n, int y, int x,
                     int o)
{
    const int *in = conv->src->dims;
    int per_group = conv->channels / conv->group;
    int first = conv->src_first + o / per_group * weight_dims[1];
    double sum = 0;
    for (int ky = 0; ky < conv->size[0]; ky++) {
        int row = y * conv->stride[0] + ky * conv->dilation[0] - conv->padding[0];
        for (int kx = 0; kx < conv->size[1]; kx++) {
            int column = x * conv->stride[1] + kx * conv->dilation[1] - conv->padding[1];
            if (row < 0 || row >= in[1] || column < 0 || column >= in[2])
                continue;
            size_t pixel = ((size_t)n * (size_t)in[1] + (size_t)row) * (size_t)in[2];
            const float *src = conv->src->data;
            src += (pixel + (size_t)column) * (size_t)in[3] + (size_t)first;
            const float *packed = conv->packed->data;
            for (int c = 0; c < weight_dims[1]; c++)
                sum +=
                    (double)src[c] * (double)packed[ln_conv_packed_at(conv->algorithm, weight_dims,
                                                                      conv->group, o, c, ky, kx)];
        }
    }
    return sum;
}

static float finish(const ln_ref_conv_nhwc *conv, double sum, size_t pixel, int o)
{
    if (conv->bias)
        sum += (double)((const float *)conv->bias->data)[o];
    double addend = 0;
    if (conv->addend) {
        size_t at = pixel * (size_t)conv->addend->dims[3] + (size_t)(conv->addend_first + o);
        addend = (double)((const float *)conv->addend->data)[at];
    }
    if (conv->addend && !conv->is_addend_last)
        sum += addend;
    sum = ln_ref_act(conv->act, conv->alpha, conv->beta, sum);
    if (conv->addend && conv->is_addend_last)
        sum += addend;
    return (float)sum;
}

void ln_ref_conv2d_nhwc(const ln_ref_conv_nhwc *conv)
{
    const int *out = conv->dst->dims;
    int weight_dims[4];
    ln_conv_nhwc_weight_dims(weight_dims, conv->src, conv->src_channels, conv->group,
                             conv->channels, conv->size);
    if (conv->into && conv->into->data != conv->dst->data)
        memcpy(conv->dst->data, conv->into->data, (size_t)conv->dst->len * sizeof(float));
    size_t pixel = 0;
    for (int n = 0; n < out[0]; n++)
        for (int y = 0; y < out[1]; y++)
            for (int x = 0; x < out[2] && !ln_deadline_passed(); x++, pixel++) {
                float *dst = (float *)conv->dst->data + pixel * (size_t)out[3] + conv->dst_first;
                for (int o = 0; o < conv->channels; o++)
                    dst[o] = finish(conv, sum_at(conv, weight_dims, n, y, x, o), pixel, o);
            }
}
