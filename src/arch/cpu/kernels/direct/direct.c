// SPDX-License-Identifier: Apache-2.0
// Direct convolution, one output after the other.

#include "arch/cpu/kernels/direct/direct.h"

#include <math.h>
#include <string.h>

#define LANES 16

static size_t at(const ln_conv_shape *s, size_t o, size_t c, size_t ky, size_t kx)
{
    size_t per_group = s->out_channels / s->group, in = s->in_channels / s->group;
    size_t blocks = (per_group + LANES - 1) / LANES;
    size_t block = o / per_group * blocks + o % per_group / LANES;
    return (((block * s->kernel_h + ky) * s->kernel_w + kx) * in + c) * LANES +
           o % per_group % LANES;
}

void ln_direct_f32_pack(const ln_conv_shape *s, const float *weight, float *packed)
{
    size_t per_group = s->out_channels / s->group, in = s->in_channels / s->group;
    size_t blocks = (per_group + LANES - 1) / LANES * s->group;
    memset(packed, 0, blocks * s->kernel_h * s->kernel_w * in * LANES * sizeof *packed);
    for (size_t o = 0; o < s->out_channels; o++)
        for (size_t c = 0; c < in; c++)
            for (size_t ky = 0; ky < s->kernel_h; ky++)
                for (size_t kx = 0; kx < s->kernel_w; kx++)
                    packed[at(s, o, c, ky, kx)] = *weight++;
}

static float sum_at(const ln_conv_nhwc_f32_args *a, size_t n, size_t y, size_t x, size_t o)
{
    const ln_conv_shape *s = &a->shape;
    size_t in = s->in_channels / s->group, first = o / (s->out_channels / s->group) * in;
    float sum = 0;
    for (size_t ky = 0; ky < s->kernel_h; ky++)
        for (size_t kx = 0; kx < s->kernel_w; kx++) {
            size_t row = y * s->stride_h + ky * s->dilation_h - s->pad_top;
            size_t column = x * s->stride_w + kx * s->dilation_w - s->pad_left;
            if (row >= s->in_h || column >= s->in_w)
                continue;
            const float *src = a->x + ((n * s->in_h + row) * s->in_w + column) * a->x_stride;
            for (size_t c = 0; c < in; c++)
                sum = fmaf(src[first + c], a->packed[at(s, o, c, ky, kx)], sum);
        }
    return sum;
}

void ln_direct_f32(ln_cpu_isa isa, const ln_conv_nhwc_f32_args *a, ln_pool *pool)
{
    (void)isa;
    (void)pool;
    const ln_conv_shape *s = &a->shape;
    const ln_epilogue_f32 *e = &a->epilogue;
    for (size_t p = 0; p < s->batch * s->out_h * s->out_w; p++)
        for (size_t o = 0; o < s->out_channels; o++) {
            float v = sum_at(a, p / s->out_w / s->out_h, p / s->out_w % s->out_h, p % s->out_w, o);
            if (e->bias)
                v += e->bias[o];
            if (e->addend && !e->is_addend_last)
                v += e->addend[p * e->addend_stride + o];
            if (e->act == LN_ACT_RELU)
                v = v < 0 ? 0 : v;
            if (e->act == LN_ACT_CLIP)
                v = fminf(fmaxf(v, e->alpha), e->beta);
            if (e->act == LN_ACT_LRELU)
                v = v < 0 ? v * e->alpha : v;
            if (e->act == LN_ACT_SILU)
                v = v / (1 + expf(-v));
            if (e->act == LN_ACT_HARD_SWISH)
                v = v * fminf(fmaxf(v * e->alpha + e->beta, 0), 1);
            if (e->addend && e->is_addend_last)
                v += e->addend[p * e->addend_stride + o];
            a->y[p * a->y_stride + o] = v;
        }
}
