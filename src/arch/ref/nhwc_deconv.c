// SPDX-License-Identifier: Apache-2.0
// Channels-last transposed convolution, one output element after the other.

#include "arch/ref/nhwc_deconv.h"

#include <string.h>

#include "arch/ref/act.h"
#include "base/deadline.h"
#include "op/nhwc_deconv.h"

void ln_ref_deconv2d_pack(const tl_tensor *weight, tl_tensor *dst, int group, const int stride[2],
                          const int dilation[2])
{
    const int *d = weight->dims;
    const float *from = weight->data;
    float *to = dst->data;
    int per_group = d[0] / group, tap[2];
    memset(to, 0, (size_t)dst->len * sizeof *to);
    for (int c = 0; c < d[0]; c++)
        for (int o = 0; o < d[1]; o++)
            for (tap[0] = 0; tap[0] < d[2]; tap[0]++)
                for (tap[1] = 0; tap[1] < d[3]; tap[1]++)
                    to[ln_deconv_packed_at(d, group, stride, dilation, c, c / per_group * d[1] + o,
                                           tap)] = *from++;
}

// The input that reaches output `out` of an axis through a tap; false if there is none.
static bool find_input(const ln_ref_deconv_nhwc *deconv, int axis, int out, int tap, int *in)
{
    long long place = (long long)out + deconv->padding[axis];
    place -= (long long)tap * deconv->dilation[axis];
    if (place < 0 || place % deconv->stride[axis] != 0)
        return false;
    place /= deconv->stride[axis];
    *in = (int)place;
    return place < deconv->src->dims[1 + axis];
}

// What one tap adds to output channel `o`.
static double tap_at(const ln_ref_deconv_nhwc *deconv, const int weight_dims[4], const float *pixel,
                     int o, const int tap[2])
{
    int in = weight_dims[0] / deconv->group, first = o / weight_dims[1] * in;
    const float *packed = deconv->packed->data;
    double sum = 0;
    for (int c = first; c < first + in; c++)
        sum += (double)pixel[c] *
               (double)packed[ln_deconv_packed_at(weight_dims, deconv->group, deconv->stride,
                                                  deconv->dilation, c, o, tap)];
    return sum;
}

static double sum_at(const ln_ref_deconv_nhwc *deconv, const int weight_dims[4], int n, int y,
                     int x, int o)
{
    const int *in = deconv->src->dims;
    int tap[2], row, column;
    double sum = 0;
    for (tap[0] = 0; tap[0] < deconv->size[0]; tap[0]++) {
        if (!find_input(deconv, 0, y, tap[0], &row))
            continue;
        for (tap[1] = 0; tap[1] < deconv->size[1]; tap[1]++) {
            if (!find_input(deconv, 1, x, tap[1], &column))
                continue;
            size_t pixel = ((size_t)n * (size_t)in[1] + (size_t)row) * (size_t)in[2];
            const float *src = deconv->src->data;
            src += (pixel + (size_t)column) * (size_t)in[3] + (size_t)deconv->src_first;
            sum += tap_at(deconv, weight_dims, src, o, tap);
        }
    }
    return sum;
}

void ln_ref_deconv2d_nhwc(const ln_ref_deconv_nhwc *deconv)
{
    const int *out = deconv->dst->dims;
    const float *bias = deconv->bias ? deconv->bias->data : NULL;
    int weight_dims[4];
    ln_deconv_nhwc_weight_dims(weight_dims, deconv->src, deconv->src_channels, deconv->group,
                               deconv->channels, deconv->size);
    if (deconv->into && deconv->into->data != deconv->dst->data)
        memcpy(deconv->dst->data, deconv->into->data, (size_t)deconv->dst->len * sizeof(float));
    float *dst = (float *)deconv->dst->data + deconv->dst_first;
    for (int n = 0; n < out[0]; n++)
        for (int y = 0; y < out[1]; y++)
            for (int x = 0; x < out[2] && !ln_deadline_passed(); x++, dst += out[3])
                for (int o = 0; o < deconv->channels; o++) {
                    double sum = sum_at(deconv, weight_dims, n, y, x, o);
                    sum += bias ? (double)bias[o] : 0;
                    dst[o] = (float)ln_ref_act(deconv->act, deconv->alpha, deconv->beta, sum);
                }
}
