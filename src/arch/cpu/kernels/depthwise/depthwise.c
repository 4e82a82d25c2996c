// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution of channels-last images.

#include "arch/cpu/kernels/depthwise/depthwise.h"

#include "arch/cpu/kernels/direct/direct.h"

void ln_depthwise_nhwc_f32_pack(const ln_conv_shape *s, const float *weight, float *packed)
{
    size_t taps = s->kernel_h * s->kernel_w;
    for (size_t o = 0; o < s->out_channels; o++)
        for (size_t tap = 0; tap < taps; tap++)
            packed[tap * s->out_channels + o] = *weight++;
}

void ln_depthwise_nhwc_f32(ln_cpu_isa isa, const ln_conv_nhwc_f32_args *args, ln_pool *pool)
{
    const ln_conv_shape *s = &args->shape;
    (void)isa;
    (void)pool;
    for (size_t p = 0; p < s->batch * s->out_h * s->out_w; p++)
        for (size_t o = 0; o < s->out_channels; o++) {
            size_t n = p / s->out_w / s->out_h, y = p / s->out_w % s->out_h, x = p % s->out_w;
            float sum = 0;
            for (size_t ky = 0; ky < s->kernel_h; ky++)
                for (size_t kx = 0; kx < s->kernel_w; kx++) {
                    size_t row = y * s->stride_h + ky * s->dilation_h - s->pad_top;
                    size_t column = x * s->stride_w + kx * s->dilation_w - s->pad_left;
                    if (row < s->in_h && column < s->in_w)
                        sum +=
                            args->packed[(ky * s->kernel_w + kx) * s->out_channels + o] *
                            args->x[((n * s->in_h + row) * s->in_w + column) * args->x_stride + o];
                }
            if (args->epilogue.bias)
                sum += args->epilogue.bias[o];
            if (args->epilogue.act == LN_ACT_RELU)
                sum = sum < 0 ? 0 : sum;
            if (args->epilogue.act == LN_ACT_CLIP)
                sum = sum < args->epilogue.alpha  ? args->epilogue.alpha
                      : sum > args->epilogue.beta ? args->epilogue.beta
                                                  : sum;
            args->y[p * args->y_stride + o] = sum;
        }
}
