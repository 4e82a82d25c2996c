// SPDX-License-Identifier: Apache-2.0
// Direct convolution: GFLOP/s and share of the processor's peak, one thread, on the layers of two
// networks.

#include <stdint.h>
#include <string.h>

#include "arch/cpu/kernels/bench.h"
#include "arch/cpu/kernels/direct/direct.h"

typedef struct layer {
    const char *network;
    size_t in_channels, out_channels, in, kernel, stride, pad;
    unsigned repeat;
} layer;

static const layer layers[] = {
    {"resnet50", 3, 64, 224, 7, 2, 3, 1},       {"resnet50", 64, 64, 56, 1, 1, 0, 1},
    {"resnet50", 64, 64, 56, 3, 1, 1, 3},       {"resnet50", 64, 256, 56, 1, 1, 0, 4},
    {"resnet50", 256, 64, 56, 1, 1, 0, 2},      {"resnet50", 256, 128, 56, 1, 1, 0, 1},
    {"resnet50", 128, 128, 56, 3, 2, 1, 1},     {"resnet50", 256, 512, 56, 1, 2, 0, 1},
    {"resnet50", 128, 512, 28, 1, 1, 0, 4},     {"resnet50", 512, 128, 28, 1, 1, 0, 3},
    {"resnet50", 128, 128, 28, 3, 1, 1, 3},     {"resnet50", 512, 256, 28, 1, 1, 0, 1},
    {"resnet50", 256, 256, 28, 3, 2, 1, 1},     {"resnet50", 512, 1024, 28, 1, 2, 0, 1},
    {"resnet50", 256, 1024, 14, 1, 1, 0, 6},    {"resnet50", 1024, 256, 14, 1, 1, 0, 5},
    {"resnet50", 256, 256, 14, 3, 1, 1, 5},     {"resnet50", 1024, 512, 14, 1, 1, 0, 1},
    {"resnet50", 512, 512, 14, 3, 2, 1, 1},     {"resnet50", 1024, 2048, 14, 1, 2, 0, 1},
    {"resnet50", 512, 2048, 7, 1, 1, 0, 3},     {"resnet50", 2048, 512, 7, 1, 1, 0, 2},
    {"resnet50", 512, 512, 7, 3, 1, 1, 2},      {"mobilenet_v2", 3, 32, 224, 3, 2, 1, 1},
    {"mobilenet_v2", 32, 16, 112, 1, 1, 0, 1},  {"mobilenet_v2", 16, 96, 112, 1, 1, 0, 1},
    {"mobilenet_v2", 96, 24, 56, 1, 1, 0, 1},   {"mobilenet_v2", 24, 144, 56, 1, 1, 0, 2},
    {"mobilenet_v2", 144, 24, 56, 1, 1, 0, 1},  {"mobilenet_v2", 144, 32, 28, 1, 1, 0, 1},
    {"mobilenet_v2", 32, 192, 28, 1, 1, 0, 3},  {"mobilenet_v2", 192, 32, 28, 1, 1, 0, 2},
    {"mobilenet_v2", 192, 64, 14, 1, 1, 0, 1},  {"mobilenet_v2", 64, 384, 14, 1, 1, 0, 4},
    {"mobilenet_v2", 384, 64, 14, 1, 1, 0, 3},  {"mobilenet_v2", 384, 96, 14, 1, 1, 0, 1},
    {"mobilenet_v2", 96, 576, 14, 1, 1, 0, 3},  {"mobilenet_v2", 576, 96, 14, 1, 1, 0, 2},
    {"mobilenet_v2", 576, 160, 7, 1, 1, 0, 1},  {"mobilenet_v2", 160, 960, 7, 1, 1, 0, 3},
    {"mobilenet_v2", 960, 160, 7, 1, 1, 0, 2},  {"mobilenet_v2", 960, 320, 7, 1, 1, 0, 1},
    {"mobilenet_v2", 320, 1280, 7, 1, 1, 0, 1},
};

typedef struct direct_case {
    ln_cpu_isa isa;
    ln_conv_nhwc_f32_args args;
} direct_case;

static void run_case(void *user)
{
    direct_case *c = user;
    ln_direct_f32(c->isa, &c->args, NULL);
}

static void bench_layer(ln_cpu_isa isa, const layer *l)
{
    size_t out = (l->in + 2 * l->pad - l->kernel) / l->stride + 1;
    size_t blocks = (l->out_channels + 15) / 16, k = l->in_channels * l->kernel * l->kernel;
    float *x = bench_floats(l->in * l->in * l->in_channels), *bias = bench_floats(l->out_channels);
    float *packed = bench_floats(blocks * k * 16), *y = bench_floats(out * out * l->out_channels);
    direct_case c = {.isa = isa,
                     .args = {.shape = {.batch = 1,
                                        .group = 1,
                                        .in_channels = l->in_channels,
                                        .out_channels = l->out_channels,
                                        .in_h = l->in,
                                        .in_w = l->in,
                                        .out_h = out,
                                        .out_w = out,
                                        .kernel_h = l->kernel,
                                        .kernel_w = l->kernel,
                                        .stride_h = l->stride,
                                        .stride_w = l->stride,
                                        .dilation_h = 1,
                                        .dilation_w = 1,
                                        .pad_top = l->pad,
                                        .pad_left = l->pad},
                              .x = x,
                              .x_stride = l->in_channels,
                              .packed = packed,
                              .y = y,
                              .y_stride = l->out_channels,
                              .epilogue = {.bias = bias, .act = LN_ACT_RELU}}};
    double products = (double)out * (double)out * (double)k * (double)l->out_channels;
    bench_rate rate = bench_against_peak(isa, 2 * products, run_case, &c);
    printf(
        "direct %-8s %-12s %ux %4zu -> %4zu, %3zu, %zux%zu/%zu  %8.1f us  %6.1f GFLOP/s  %5.1f %%\n",
        ln_cpu_isa_name(isa), l->network, l->repeat, l->in_channels, l->out_channels, l->in,
        l->kernel, l->kernel, l->stride, rate.seconds * 1e6, rate.gflops, 100 * rate.share);
    free(x);
    free(bias);
    free(packed);
    free(y);
}

static void bench_isa(ln_cpu_isa isa)
{
    for (size_t i = 0; isa > LN_CPU_ISA_generic && i < sizeof layers / sizeof layers[0]; i++)
        bench_layer(isa, &layers[i]);
}

BENCH_MAIN(bench_isa)
