// SPDX-License-Identifier: Apache-2.0
// Convolution of volumes, one output element after the other.

#include "arch/ref/nhwc_conv3d.h"

#include <string.h>

#include "arch/ref/act.h"
#include "base/deadline.h"
#include "op/nhwc_conv3d.h"

void ln_ref_conv3d_pack(const tl_tensor *weight, tl_tensor *dst, int group,
                        ln_conv_algorithm algorithm)
{
    const int *d = weight->dims, plane[4] = {d[0], d[1], d[3], d[4]};
    const float *from = weight->data;
    float *to = dst->data;
    size_t depth_len = d[2] ? (size_t)(dst->len / d[2]) : 0;
    memset(to, 0, (size_t)dst->len * sizeof *to);
    for (int o = 0; o < d[0]; o++)
        for (int c = 0; c < d[1]; c++)
            for (int depth = 0; depth < d[2]; depth++)
                for (int ky = 0; ky < d[3]; ky++)
                    for (int kx = 0; kx < d[4]; kx++)
                        to[(size_t)depth * depth_len +
                           ln_conv_packed_at(algorithm, plane, group, o, c, ky, kx)] = *from++;
}

// The input that an output meets at an element of the kernel; false if it is outside.
static bool find_input(const ln_ref_conv3d *conv, const int out[3], const int tap[3], int in[3])
{
    for (int i = 0; i < 3; i++) {
        in[i] = out[i] * conv->stride[i] + tap[i] * conv->dilation[i] - conv->padding[i];
        if (in[i] < 0 || in[i] >= conv->src->dims[1 + i])
            return false;
    }
    return true;
}

static double sum_at(const ln_ref_conv3d *conv, const int plane[4], int n, const int out[3], int o)
{
    const int *d = conv->src->dims;
    int tap[3], in[3], first = o / (conv->channels / conv->group) * plane[1];
    size_t depth_len = (size_t)(conv->packed->len / conv->size[0]);
    double sum = 0;
    for (tap[0] = 0; tap[0] < conv->size[0]; tap[0]++)
        for (tap[1] = 0; tap[1] < conv->size[1]; tap[1]++)
            for (tap[2] = 0; tap[2] < conv->size[2]; tap[2]++) {
                if (!find_input(conv, out, tap, in))
                    continue;
                size_t pixel = (size_t)n * (size_t)d[1] + (size_t)in[0];
                pixel = (pixel * (size_t)d[2] + (size_t)in[1]) * (size_t)d[3] + (size_t)in[2];
                const float *src = (const float *)conv->src->data + pixel * (size_t)d[4];
                const float *packed = conv->packed->data;
                packed += (size_t)tap[0] * depth_len;
                for (int c = 0; c < plane[1]; c++)
                    sum += (double)src[first + c] *
                           (double)packed[ln_conv_packed_at(conv->algorithm, plane, conv->group, o,
                                                            c, tap[1], tap[2])];
            }
    return sum;
}

void ln_ref_conv3d_ndhwc(const ln_ref_conv3d *conv)
{
    const int *d = conv->dst->dims;
    const float *bias = conv->bias ? conv->bias->data : NULL;
    const float *addend = conv->addend ? conv->addend->data : NULL;
    float *dst = conv->dst->data;
    int plane[4], out[3];
    ln_conv3d_plane_dims(plane, conv->src, conv->group, conv->channels, conv->size);
    for (int n = 0; n < d[0]; n++)
        for (out[0] = 0; out[0] < d[1]; out[0]++)
            for (out[1] = 0; out[1] < d[2]; out[1]++)
                for (out[2] = 0; out[2] < d[3] && !ln_deadline_passed(); out[2]++)
                    for (int o = 0; o < d[4]; o++) {
                        double sum = sum_at(conv, plane, n, out, o) + (bias ? (double)bias[o] : 0);
                        sum += addend ? (double)*addend++ : 0;
                        *dst++ = (float)ln_ref_act(conv->act, conv->alpha, conv->beta, sum);
                    }
}
