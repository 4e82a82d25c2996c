// SPDX-License-Identifier: Apache-2.0
// Winograd on the 3x3 layers of common networks, one thread: microseconds, and the time as a share
// of what all direct multiplications take at peak (below 1 is faster than direct can be).
//
// Times are the least of many runs, of this thread alone.

#include "arch/cpu/kernels/bench.h"
#include "arch/cpu/kernels/winograd/winograd.h"

typedef struct layer {
    const char *network;
    size_t in, out, side;
} layer;

static const layer layers[] = {
    {"resnet", 64, 64, 56},      {"resnet", 128, 128, 28},    {"resnet", 256, 256, 14},
    {"resnet", 512, 512, 7},     {"vgg16", 64, 64, 224},      {"vgg16", 64, 128, 112},
    {"vgg16", 128, 128, 112},    {"vgg16", 128, 256, 56},     {"vgg16", 256, 256, 56},
    {"vgg16", 256, 512, 28},     {"vgg16", 512, 512, 28},     {"vgg16", 512, 512, 14},
    {"squeezenet", 16, 64, 55},  {"squeezenet", 32, 128, 27}, {"squeezenet", 48, 192, 13},
    {"squeezenet", 64, 256, 13}, {"inception", 64, 192, 56},  {"inception", 96, 128, 28},
    {"inception", 16, 32, 28},   {"inception", 128, 192, 28}, {"inception", 32, 96, 28},
    {"inception", 96, 208, 14},  {"inception", 16, 48, 14},   {"inception", 112, 224, 14},
    {"inception", 24, 64, 14},   {"inception", 128, 256, 14}, {"inception", 144, 288, 14},
    {"inception", 32, 64, 14},   {"inception", 160, 320, 14}, {"inception", 32, 128, 14},
    {"inception", 160, 320, 7},  {"inception", 192, 384, 7},  {"inception", 48, 128, 7},
    {"densenet", 128, 32, 56},   {"densenet", 128, 32, 28},   {"densenet", 128, 32, 14},
    {"densenet", 128, 32, 7},    {"yolov3", 16, 32, 208},     {"yolov3", 32, 64, 104},
    {"yolov3", 64, 128, 52},     {"yolov3", 128, 256, 26},    {"yolov3", 256, 512, 13},
    {"yolov3", 512, 1024, 13},   {"yolov3", 384, 256, 26},    {"yolov8", 16, 16, 160},
    {"yolov8", 32, 32, 80},      {"yolov8", 64, 64, 40},      {"yolov8", 128, 128, 20},
    {"yolov8", 64, 64, 80},      {"yolov8", 64, 80, 80},      {"yolov8", 80, 80, 80},
};

typedef struct bench_case {
    ln_cpu_isa isa;
    size_t m;
    ln_conv_nhwc_f32_args args;
    float *workspace;
} bench_case;

// Of this thread alone: what other programs take does not count.
static double thread_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Seconds of the fastest of the runs that fit into `budget` seconds, at least 3.
static double least_seconds(void (*run)(const void *), const void *user, double budget)
{
    double best = 1e9, begin = bench_now();
    for (size_t i = 0; i < 3 || bench_now() - begin < budget; i++) {
        double start = thread_now();
        run(user);
        double seconds = thread_now() - start;
        best = seconds < best ? seconds : best;
    }
    return best;
}

static void run_case(const void *user)
{
    const bench_case *c = user;
    ln_winograd_f32(c->isa, c->m, &c->args, NULL, c->workspace);
}

static double layer_seconds(ln_cpu_isa isa, size_t m, const layer *l, double *out_mib)
{
    ln_conv_shape shape = {.batch = 1,
                           .group = 1,
                           .in_channels = l->in,
                           .out_channels = l->out,
                           .in_h = l->side,
                           .in_w = l->side,
                           .out_h = l->side,
                           .out_w = l->side,
                           .kernel_h = 3,
                           .kernel_w = 3,
                           .stride_h = 1,
                           .stride_w = 1,
                           .dilation_h = 1,
                           .dilation_w = 1,
                           .pad_top = 1,
                           .pad_left = 1};
    size_t pixels = l->side * l->side;
    size_t packed_count = (m + 2) * (m + 2) * l->in * ((l->out + 15) / 16 * 16);
    float *x = bench_floats(pixels * l->in), *y = bench_floats(pixels * l->out);
    float *packed = bench_floats(packed_count), *bias = bench_floats(l->out);
    size_t workspace = ln_winograd_f32_workspace(m, &shape);
    bench_case c = {.isa = isa,
                    .m = m,
                    .args = {.shape = shape,
                             .x = x,
                             .x_stride = l->in,
                             .packed = packed,
                             .y = y,
                             .y_stride = l->out,
                             .epilogue = {.bias = bias, .act = LN_ACT_RELU}},
                    .workspace = bench_floats(workspace / sizeof(float))};
    *out_mib = (double)workspace / 1048576;
    double seconds = least_seconds(run_case, &c, 0.06);
    free(x);
    free(y);
    free(packed);
    free(bias);
    free(c.workspace);
    return seconds;
}

static void bench_isa(ln_cpu_isa isa)
{
    double peak = ln_peak_f32(isa, 0.05);
    printf("winograd f32 %s: peak %.1f GFLOP/s\n", ln_cpu_isa_name(isa), peak * 1e-9);
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        const layer *l = &layers[i];
        double floor = 18.0 * (double)(l->in * l->out * l->side * l->side) / peak;
        printf("%-10s %4zu -> %4zu, %3zu^2  direct at peak %8.1f us", l->network, l->in, l->out,
               l->side, floor * 1e6);
        for (size_t m = 2; m <= 6; m += 2) {
            double mib, seconds = layer_seconds(isa, m, l, &mib);
            printf("   F%zu %8.1f us %.3f (%.1f MiB)", m, seconds * 1e6, seconds / floor, mib);
        }
        printf("\n");
    }
}

BENCH_MAIN(bench_isa)
