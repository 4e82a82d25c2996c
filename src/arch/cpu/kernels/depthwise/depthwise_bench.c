// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution: share of what multiply-adds or copying through the second cache allow,
// one thread, on the layers of five networks.

#include <string.h>

#include "arch/cpu/kernels/bench.h"
#include "arch/cpu/kernels/depthwise/depthwise.h"

typedef struct layer {
    const char *network;
    size_t channels, in, kernel, stride;
    unsigned repeat;
    ln_act act;
} layer;

#define V1 "mobilenet_v1"
#define V2 "mobilenet_v2"
#define V3 "mobilenet_v3_large"
#define EF "efficientnet_b0"
#define SH "shufflenet_v2"

static const layer layers[] = {
    {V1, 32, 112, 3, 1, 1, LN_ACT_CLIP},       {V1, 64, 112, 3, 2, 1, LN_ACT_CLIP},
    {V1, 128, 56, 3, 1, 1, LN_ACT_CLIP},       {V1, 128, 56, 3, 2, 1, LN_ACT_CLIP},
    {V1, 256, 28, 3, 1, 1, LN_ACT_CLIP},       {V1, 256, 28, 3, 2, 1, LN_ACT_CLIP},
    {V1, 512, 14, 3, 1, 5, LN_ACT_CLIP},       {V1, 512, 14, 3, 2, 1, LN_ACT_CLIP},
    {V1, 1024, 7, 3, 1, 1, LN_ACT_CLIP},       {V2, 32, 112, 3, 1, 1, LN_ACT_CLIP},
    {V2, 96, 112, 3, 2, 1, LN_ACT_CLIP},       {V2, 144, 56, 3, 1, 1, LN_ACT_CLIP},
    {V2, 144, 56, 3, 2, 1, LN_ACT_CLIP},       {V2, 192, 28, 3, 1, 2, LN_ACT_CLIP},
    {V2, 192, 28, 3, 2, 1, LN_ACT_CLIP},       {V2, 384, 14, 3, 1, 4, LN_ACT_CLIP},
    {V2, 576, 14, 3, 1, 2, LN_ACT_CLIP},       {V2, 576, 14, 3, 2, 1, LN_ACT_CLIP},
    {V2, 960, 7, 3, 1, 3, LN_ACT_CLIP},        {V3, 16, 112, 3, 1, 1, LN_ACT_RELU},
    {V3, 64, 112, 3, 2, 1, LN_ACT_RELU},       {V3, 72, 56, 3, 1, 1, LN_ACT_RELU},
    {V3, 72, 56, 5, 2, 1, LN_ACT_RELU},        {V3, 120, 28, 5, 1, 2, LN_ACT_RELU},
    {V3, 240, 28, 3, 2, 1, LN_ACT_HARD_SWISH}, {V3, 200, 14, 3, 1, 1, LN_ACT_HARD_SWISH},
    {V3, 184, 14, 3, 1, 2, LN_ACT_HARD_SWISH}, {V3, 480, 14, 3, 1, 1, LN_ACT_HARD_SWISH},
    {V3, 672, 14, 3, 1, 1, LN_ACT_HARD_SWISH}, {V3, 672, 14, 5, 2, 1, LN_ACT_HARD_SWISH},
    {V3, 960, 7, 5, 1, 2, LN_ACT_HARD_SWISH},  {EF, 32, 112, 3, 1, 1, LN_ACT_SILU},
    {EF, 96, 112, 3, 2, 1, LN_ACT_SILU},       {EF, 144, 56, 3, 1, 1, LN_ACT_SILU},
    {EF, 144, 56, 5, 2, 1, LN_ACT_SILU},       {EF, 240, 28, 5, 1, 1, LN_ACT_SILU},
    {EF, 240, 28, 3, 2, 1, LN_ACT_SILU},       {EF, 480, 14, 3, 1, 2, LN_ACT_SILU},
    {EF, 480, 14, 5, 1, 1, LN_ACT_SILU},       {EF, 672, 14, 5, 1, 2, LN_ACT_SILU},
    {EF, 672, 14, 5, 2, 1, LN_ACT_SILU},       {EF, 1152, 7, 5, 1, 3, LN_ACT_SILU},
    {EF, 1152, 7, 3, 1, 1, LN_ACT_SILU},       {SH, 24, 56, 3, 2, 1, LN_ACT_NONE},
    {SH, 58, 56, 3, 2, 1, LN_ACT_NONE},        {SH, 58, 28, 3, 1, 3, LN_ACT_NONE},
    {SH, 116, 28, 3, 2, 2, LN_ACT_NONE},       {SH, 116, 14, 3, 1, 7, LN_ACT_NONE},
    {SH, 232, 14, 3, 2, 2, LN_ACT_NONE},       {SH, 232, 7, 3, 1, 3, LN_ACT_NONE},
};

typedef struct depthwise_case {
    ln_cpu_isa isa;
    ln_conv_nhwc_f32_args args;
} depthwise_case;

static void run_case(void *user)
{
    const depthwise_case *c = user;
    ln_depthwise_nhwc_f32(c->isa, &c->args, NULL);
}

// Seconds for a byte that is read and one that is written, in the second cache.
static double copy_seconds_per_byte(void)
{
    const size_t count = (size_t)64 << 10;
    float *x = bench_floats(count), *y = bench_floats(count);
    double best = 1e30;
    for (int i = 0; i < 200; i++) {
        double start = bench_now();
        memcpy(i & 1 ? x : y, i & 1 ? y : x, count * sizeof *x);
        double seconds = bench_now() - start;
        best = seconds < best ? seconds : best;
    }
    free(x);
    free(y);
    return best / (double)(2 * count * sizeof(float));
}

static double bench_layer(ln_cpu_isa isa, const layer *l, double per_byte)
{
    size_t out = (l->in - 1) / l->stride + 1, x_count = l->in * l->in * l->channels;
    size_t y_count = out * out * l->channels, taps = l->kernel * l->kernel;
    float *x = bench_floats(x_count), *y = bench_floats(y_count);
    float *packed = bench_floats(taps * l->channels), *bias = bench_floats(l->channels);
    depthwise_case c = {
        .isa = isa,
        .args = {.shape = {.batch = 1,
                           .group = l->channels,
                           .in_channels = l->channels,
                           .out_channels = l->channels,
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
                           .pad_top = l->kernel / 2,
                           .pad_left = l->kernel / 2},
                 .x = x,
                 .x_stride = l->channels,
                 .packed = packed,
                 .y = y,
                 .y_stride = l->channels,
                 .epilogue = {.bias = bias, .act = l->act, .alpha = 1.0f / 6, .beta = 0.5f}}};
    if (l->act == LN_ACT_CLIP) {
        c.args.epilogue.alpha = 0;
        c.args.epilogue.beta = 6;
    }
    double operations = 2.0 * (double)(y_count * taps);
    bench_rate rate = bench_against_peak(isa, operations, run_case, &c);
    double copying = per_byte * (double)((x_count + y_count) * sizeof(float));
    double multiplying = operations / (rate.gflops * 1e9 / rate.share);
    double least = copying > multiplying ? copying : multiplying;
    printf(
        "%-8s %-18s %4zu ch %3zu x %-3zu %zux%zu /%zu x%u %8.1f us %6.1f GFLOP/s %3.0f %% of peak, "
        "%3.0f %% of the limit%s\n",
        ln_cpu_isa_name(isa), l->network, l->channels, l->in, l->in, l->kernel, l->kernel,
        l->stride, l->repeat, 1e6 * rate.seconds, rate.gflops, 100 * rate.share,
        100 * least / rate.seconds, copying > multiplying ? " (copying)" : "");
    free(x);
    free(y);
    free(packed);
    free(bias);
    return rate.seconds;
}

static void bench_isa(ln_cpu_isa isa)
{
    double per_byte = copy_seconds_per_byte(), total = 0;
    const size_t count = sizeof layers / sizeof layers[0];
    for (size_t i = 0; i < count; i++) {
        total += layers[i].repeat * bench_layer(isa, &layers[i], per_byte);
        if (i + 1 < count && strcmp(layers[i].network, layers[i + 1].network) == 0)
            continue;
        printf("%-8s %s: %.1f us in all\n", ln_cpu_isa_name(isa), layers[i].network, 1e6 * total);
        total = 0;
    }
}

BENCH_MAIN(bench_isa)
