// SPDX-License-Identifier: Apache-2.0
// Direct convolution: GFLOP/s and share of the processor's peak, one thread, on the layers of two
// networks; with everything in the nearest caches, and as inside a network: weights in memory,
// images in the last cache.

#include <stdbool.h>

#include "arch/cpu/kernels/bench.h"
#include "arch/cpu/kernels/direct/direct.h"

typedef struct layer {
    const char *network;
    size_t in_channels, out_channels, in, kernel, stride, pad;
    unsigned repeat;
    bool is_sum; // an image is added
} layer;

static const layer layers[] = {
    {"yolov3", 3, 16, 416, 3, 1, 1, 1, false},
    {"squeezenet", 3, 64, 224, 3, 2, 0, 1, false},
    {"resnet50", 3, 64, 224, 7, 2, 3, 1, false},
    {"resnet50", 64, 64, 56, 1, 1, 0, 1, false},
    {"resnet50", 64, 64, 56, 3, 1, 1, 3, false},
    {"resnet50", 64, 256, 56, 1, 1, 0, 4, true},
    {"resnet50", 256, 64, 56, 1, 1, 0, 2, false},
    {"resnet50", 256, 128, 56, 1, 1, 0, 1, false},
    {"resnet50", 128, 128, 56, 3, 2, 1, 1, false},
    {"resnet50", 256, 512, 56, 1, 2, 0, 1, false},
    {"resnet50", 128, 512, 28, 1, 1, 0, 4, true},
    {"resnet50", 512, 128, 28, 1, 1, 0, 3, false},
    {"resnet50", 128, 128, 28, 3, 1, 1, 3, false},
    {"resnet50", 512, 256, 28, 1, 1, 0, 1, false},
    {"resnet50", 256, 256, 28, 3, 2, 1, 1, false},
    {"resnet50", 512, 1024, 28, 1, 2, 0, 1, false},
    {"resnet50", 256, 1024, 14, 1, 1, 0, 6, true},
    {"resnet50", 1024, 256, 14, 1, 1, 0, 5, false},
    {"resnet50", 256, 256, 14, 3, 1, 1, 5, false},
    {"resnet50", 1024, 512, 14, 1, 1, 0, 1, false},
    {"resnet50", 512, 512, 14, 3, 2, 1, 1, false},
    {"resnet50", 1024, 2048, 14, 1, 2, 0, 1, false},
    {"resnet50", 512, 2048, 7, 1, 1, 0, 3, true},
    {"resnet50", 2048, 512, 7, 1, 1, 0, 2, false},
    {"resnet50", 512, 512, 7, 3, 1, 1, 2, false},
    {"vit", 3, 192, 224, 16, 16, 0, 1, false},
    {"mobilenet_v2", 3, 32, 224, 3, 2, 1, 1, false},
    {"mobilenet_v2", 32, 16, 112, 1, 1, 0, 1, false},
    {"mobilenet_v2", 16, 96, 112, 1, 1, 0, 1, false},
    {"mobilenet_v2", 96, 24, 56, 1, 1, 0, 1, false},
    {"mobilenet_v2", 24, 144, 56, 1, 1, 0, 2, false},
    {"mobilenet_v2", 144, 24, 56, 1, 1, 0, 1, false},
    {"mobilenet_v2", 144, 32, 28, 1, 1, 0, 1, false},
    {"mobilenet_v2", 32, 192, 28, 1, 1, 0, 3, false},
    {"mobilenet_v2", 192, 32, 28, 1, 1, 0, 2, false},
    {"mobilenet_v2", 192, 64, 14, 1, 1, 0, 1, false},
    {"mobilenet_v2", 64, 384, 14, 1, 1, 0, 4, false},
    {"mobilenet_v2", 384, 64, 14, 1, 1, 0, 3, false},
    {"mobilenet_v2", 384, 96, 14, 1, 1, 0, 1, false},
    {"mobilenet_v2", 96, 576, 14, 1, 1, 0, 3, false},
    {"mobilenet_v2", 576, 96, 14, 1, 1, 0, 2, false},
    {"mobilenet_v2", 576, 160, 7, 1, 1, 0, 1, false},
    {"mobilenet_v2", 160, 960, 7, 1, 1, 0, 3, false},
    {"mobilenet_v2", 960, 160, 7, 1, 1, 0, 2, false},
    {"mobilenet_v2", 960, 320, 7, 1, 1, 0, 1, false},
    {"mobilenet_v2", 320, 1280, 7, 1, 1, 0, 1, false},
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

#define EVICT_ALL (size_t)(96 << 20)
#define EVICT_L2  (size_t)(3 << 20)

static float *evict_from;

static void touch(const float *p, size_t count)
{
    static volatile float sink;
    float sum = 0;
    for (size_t i = 0; i < count; i += 16)
        sum += p[i];
    sink = sum;
    (void)sink;
}

static double cold_seconds(direct_case *c, size_t x_count, size_t y_count)
{
    double best = 1e30;
    for (int round = 0; round < 12; round++) {
        touch(evict_from, EVICT_ALL / sizeof(float));
        touch(c->args.x, x_count);
        touch(c->args.y, y_count);
        if (c->args.epilogue.addend)
            touch(c->args.epilogue.addend, y_count);
        touch(evict_from, EVICT_L2 / sizeof(float));
        double start = bench_now();
        run_case(c);
        double seconds = bench_now() - start;
        best = seconds < best ? seconds : best;
    }
    return best;
}

static void bench_layer(ln_cpu_isa isa, const layer *l)
{
    size_t out = (l->in + 2 * l->pad - l->kernel) / l->stride + 1;
    size_t blocks = (l->out_channels + 15) / 16, k = l->in_channels * l->kernel * l->kernel;
    float *x = bench_floats(l->in * l->in * l->in_channels), *bias = bench_floats(l->out_channels);
    float *packed = bench_floats(blocks * k * 16), *y = bench_floats(out * out * l->out_channels);
    float *addend = l->is_sum ? bench_floats(out * out * l->out_channels) : NULL;
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
                              .epilogue = {.bias = bias,
                                           .addend = addend,
                                           .addend_stride = l->out_channels,
                                           .act = LN_ACT_RELU}}};
    double products = (double)out * (double)out * (double)k * (double)l->out_channels;
    bench_rate rate = bench_against_peak(isa, 2 * products, run_case, &c);
    double cold = cold_seconds(&c, l->in * l->in * l->in_channels, out * out * l->out_channels);
    double peak = rate.gflops / rate.share;
    printf("direct %-8s %-12s %ux %4zu -> %4zu, %3zu, %zux%zu/%zu %c %8.1f us  %6.1f GFLOP/s  "
           "%5.1f %%   cold %8.1f us  %5.1f %%\n",
           ln_cpu_isa_name(isa), l->network, l->repeat, l->in_channels, l->out_channels, l->in,
           l->kernel, l->kernel, l->stride, addend ? '+' : ' ', rate.seconds * 1e6, rate.gflops,
           100 * rate.share, cold * 1e6, 200e-9 * products / cold / peak);
    free(addend);
    free(x);
    free(bias);
    free(packed);
    free(y);
}

static void bench_isa(ln_cpu_isa isa)
{
    evict_from = evict_from ? evict_from : bench_floats(EVICT_ALL / sizeof(float));
    for (size_t i = 0; isa != LN_CPU_ISA_generic && i < sizeof layers / sizeof layers[0]; i++)
        bench_layer(isa, &layers[i]);
}

BENCH_MAIN(bench_isa)
