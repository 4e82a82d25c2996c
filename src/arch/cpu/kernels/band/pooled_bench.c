// SPDX-License-Identifier: Apache-2.0
// Convolutions of five networks with the max pooling after them band by band, against the two one
// after the other: one thread, with caches as a network leaves them.

#include <stdint.h>

#include "arch/cpu/kernels/band/pooled.h"
#include "arch/cpu/kernels/bench.h"
#include "arch/cpu/kernels/direct/direct.h"
#include "arch/cpu/kernels/winograd/winograd.h"

// The rest of a network: what it reads between two runs of a layer.
#define REST_BYTES ((size_t)8 << 20)
#define ROUNDS     40

typedef struct layer {
    const char *network;
    size_t size, in, out, kernel, stride, pad, winograd;
    size_t window, pool_stride, pool_pad, pooled; // the last: pixels on a side
} layer;

static const layer layers[] = {
    {"yolov3_tiny_416", 416, 3, 16, 3, 1, 1, 0, 2, 2, 0, 208},
    {"yolov3_tiny_416", 208, 16, 32, 3, 1, 1, 6, 2, 2, 0, 104},
    {"yolov3_tiny_416", 104, 32, 64, 3, 1, 1, 4, 2, 2, 0, 52},
    {"yolov3_tiny_416", 52, 64, 128, 3, 1, 1, 4, 2, 2, 0, 26},
    {"squeezenet1_1", 224, 3, 64, 3, 2, 0, 0, 3, 2, 0, 55},
    {"inception_v1", 224, 3, 64, 7, 2, 3, 0, 3, 2, 0, 56},
    {"inception_v1", 56, 64, 192, 3, 1, 1, 4, 3, 2, 0, 28},
    {"resnet18", 224, 3, 64, 7, 2, 3, 0, 3, 2, 1, 56},
    {"vgg16", 224, 64, 64, 3, 1, 1, 6, 2, 2, 0, 112},
    {"vgg16", 112, 128, 128, 3, 1, 1, 6, 2, 2, 0, 56},
    {"vgg16", 56, 256, 256, 3, 1, 1, 4, 2, 2, 0, 28},
};

typedef struct bench_case {
    ln_cpu_isa isa;
    size_t winograd;
    ln_conv_nhwc_f32_args conv;
    ln_pool_nhwc_f32_args pool;
    float *tiles, *workspace, *input, *rest;
    size_t input_count;
    float sum; // of what is read between the runs
} bench_case;

static void run_conv(const bench_case *c)
{
    if (c->winograd)
        ln_winograd_f32(c->isa, c->winograd, &c->conv, NULL, c->tiles);
    else
        ln_direct_f32(c->isa, &c->conv, NULL);
}

static void run_apart(const bench_case *c)
{
    run_conv(c);
    ln_pool_nhwc_f32(c->isa, &c->pool, NULL);
}

static void run_in_bands(const bench_case *c)
{
    ln_pooled_nhwc_f32_args args = {.winograd = c->winograd, .conv = &c->conv, .pool = &c->pool};
    ln_pooled_nhwc_f32(c->isa, &args, NULL, c->workspace);
}

static double seconds_of(void (*run)(const bench_case *), bench_case *c)
{
    for (size_t i = 0; i < REST_BYTES / sizeof(float); i += 16)
        c->sum += c->rest[i];
    for (size_t i = 0; i < c->input_count; i++)
        c->input[i] = (float)(i % 13) * 0.1f - 0.6f;
    double start = bench_now();
    run(c);
    return bench_now() - start;
}

static ln_conv_shape shape_of(const layer *l)
{
    const size_t out = (l->size + 2 * l->pad - l->kernel) / l->stride + 1;
    return (ln_conv_shape){.batch = 1,
                           .group = 1,
                           .in_channels = l->in,
                           .out_channels = l->out,
                           .in_h = l->size,
                           .in_w = l->size,
                           .out_h = out,
                           .out_w = out,
                           .kernel_h = l->kernel,
                           .kernel_w = l->kernel,
                           .stride_h = l->stride,
                           .stride_w = l->stride,
                           .dilation_h = 1,
                           .dilation_w = 1,
                           .pad_top = l->pad,
                           .pad_left = l->pad};
}

static void bench_layer(ln_cpu_isa isa, const layer *l)
{
    const ln_conv_shape s = shape_of(l);
    const ln_window_1d windows = {s.out_h, l->window, l->pool_stride, 1, l->pool_pad};
    const size_t taps = l->winograd ? (l->winograd + 2) * (l->winograd + 2) : l->kernel * l->kernel;
    float *x = bench_floats(l->size * l->size * l->in), *bias = bench_floats(l->out);
    float *between = bench_floats(s.out_h * s.out_w * l->out);
    float *y = bench_floats(l->pooled * l->pooled * l->out);
    float *packed = bench_floats(taps * l->in * l->out);
    size_t tiles = l->winograd ? ln_winograd_f32_workspace(l->winograd, &s) : 0;
    bench_case c = {
        .isa = isa,
        .winograd = l->winograd,
        .conv = {.shape = s,
                 .x = x,
                 .x_stride = l->in,
                 .packed = packed,
                 .y = between,
                 .y_stride = l->out,
                 .epilogue = {.bias = bias, .act = LN_ACT_RELU}},
        .pool = {.kind = LN_POOL_MAX,
                 .batch = 1,
                 .channels = l->out,
                 .out_h = l->pooled,
                 .out_w = l->pooled,
                 .rows = windows,
                 .columns = windows,
                 .x = between,
                 .x_stride = l->out,
                 .y = y,
                 .y_stride = l->out},
        .tiles = bench_floats(tiles / sizeof(float)),
        .workspace =
            bench_floats(ln_pooled_nhwc_f32_workspace(l->winograd, &s, &windows) / sizeof(float)),
        .input = x,
        .rest = bench_floats(REST_BYTES / sizeof(float)),
        .input_count = l->size * l->size * l->in,
    };
    double apart = 1, conv = 1, bands = 1;
    for (int i = 0; i < ROUNDS; i++) {
        double a = seconds_of(run_apart, &c), b = seconds_of(run_conv, &c),
               d = seconds_of(run_in_bands, &c);
        apart = a < apart ? a : apart;
        conv = b < conv ? b : conv;
        bands = d < bands ? d : bands;
    }
    printf(
        "%-8s %-15s %3zu x %-3zu -> %3zu, %zux%zu /%zu, max %zux%zu /%zu %8.1f us apart (%.1f alone) "
        "%8.1f us in bands %5.2f\n",
        ln_cpu_isa_name(isa), l->network, l->size, l->in, l->out, l->kernel, l->kernel, l->stride,
        l->window, l->window, l->pool_stride, 1e6 * apart, 1e6 * conv, 1e6 * bands, bands / apart);
    free(x);
    free(bias);
    free(between);
    free(y);
    free(packed);
    free(c.tiles);
    free(c.workspace);
    free(c.rest);
}

static void bench_isa(ln_cpu_isa isa)
{
    if (isa == LN_CPU_ISA_generic)
        return;
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++)
        bench_layer(isa, &layers[i]);
}

BENCH_MAIN(bench_isa)
