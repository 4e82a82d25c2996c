// SPDX-License-Identifier: Apache-2.0
// Channels-last pooling: time, and the rate at which inputs are read, one thread.

#include "arch/cpu/kernels/bench.h"
#include "arch/cpu/kernels/pool/pool_nhwc.h"

typedef struct pooling {
    const char *network;
    ln_pool2d_kind kind;
    size_t channels, in, kernel, stride, pad;
} pooling;

static const pooling poolings[] = {
    {"resnet", LN_POOL_MAX, 64, 112, 3, 2, 1},
    {"vgg", LN_POOL_MAX, 64, 224, 2, 2, 0},
    {"vgg", LN_POOL_MAX, 512, 28, 2, 2, 0},
    {"yolov3", LN_POOL_MAX, 16, 416, 2, 2, 0},
    {"yolov3", LN_POOL_MAX, 32, 208, 2, 2, 0},
    {"inception", LN_POOL_MAX, 480, 14, 3, 1, 1},
    {"yolov8", LN_POOL_MAX, 128, 20, 5, 1, 2},
    {"yolov3", LN_POOL_MAX, 512, 19, 13, 1, 6},
    {"densenet", LN_POOL_AVERAGE, 128, 56, 2, 2, 0},
    {"mobilenet", LN_POOL_AVERAGE, 1280, 7, 7, 1, 0},
    {"efficientnet", LN_POOL_AVERAGE, 96, 56, 56, 1, 0},
};

typedef struct pool_case {
    ln_cpu_isa isa;
    ln_pool_nhwc_f32_args args;
} pool_case;

static void run_case(void *user)
{
    const pool_case *c = user;
    ln_pool_nhwc_f32(c->isa, &c->args, NULL);
}

static void bench_isa(ln_cpu_isa isa)
{
    for (size_t i = 0; i < sizeof poolings / sizeof poolings[0]; i++) {
        const pooling *p = &poolings[i];
        size_t out = (p->in + 2 * p->pad - p->kernel) / p->stride + 1;
        float *x = bench_floats(p->in * p->in * p->channels);
        float *y = bench_floats(out * out * p->channels);
        const ln_window_1d axis = {
            .in = p->in, .kernel = p->kernel, .stride = p->stride, .dilation = 1, .pad = p->pad};
        pool_case c = {.isa = isa,
                       .args = {.kind = p->kind,
                                .batch = 1,
                                .channels = p->channels,
                                .out_h = out,
                                .out_w = out,
                                .rows = axis,
                                .columns = axis,
                                .x = x,
                                .x_stride = p->channels,
                                .y = y,
                                .y_stride = p->channels}};
        double best = 1e30;
        for (int round = 0; round < 300; round++) {
            double start = bench_now();
            run_case(&c);
            double seconds = bench_now() - start;
            best = seconds < best ? seconds : best;
        }
        printf("%-8s %-12s %s %4zu ch %3zu x %-3zu %zux%zu /%zu %8.1f us, %5.1f GB/s read\n",
               ln_cpu_isa_name(isa), p->network, p->kind == LN_POOL_MAX ? "max" : "avg",
               p->channels, p->in, p->in, p->kernel, p->kernel, p->stride, 1e6 * best,
               4e-9 * (double)(p->in * p->in * p->channels) / best);
        free(x);
        free(y);
    }
}

BENCH_MAIN(bench_isa)
