// SPDX-License-Identifier: Apache-2.0
// GFLOP/s of convolution for each instruction set, one thread.

#include "arch/cpu/kernels/bench.h"
#include "arch/cpu/kernels/conv/conv.h"

typedef struct conv_case {
    ln_cpu_isa isa;
    ln_conv2d_f32_args args;
    float *workspace;
} conv_case;

static void run_case(void *user)
{
    conv_case *c = user;
    ln_conv2d_f32(c->isa, &c->args, c->workspace);
}

static void bench_isa(ln_cpu_isa isa)
{
    static const struct {
        const char *what;
        size_t group, in_channels, out_channels, in, kernel, stride, pad;
    } cases[] = {
        {"first layer 7x7 s2", 1, 3, 64, 224, 7, 2, 3},
        {"3x3 64 -> 64", 1, 64, 64, 56, 3, 1, 1},
        {"3x3 256 -> 256", 1, 256, 256, 14, 3, 1, 1},
        {"3x3 512 -> 512", 1, 512, 512, 7, 3, 1, 1},
        {"3x3 s2 64 -> 128", 1, 64, 128, 56, 3, 2, 1},
        {"1x1 64 -> 256", 1, 64, 256, 56, 1, 1, 0},
        {"1x1 s2 256 -> 512", 1, 256, 512, 56, 1, 2, 0},
        {"depthwise 3x3 144", 144, 144, 144, 56, 3, 1, 1},
        {"3x3 1 -> 4", 1, 1, 4, 112, 3, 1, 1},
        {"3x3 1 -> 12", 1, 1, 12, 112, 3, 1, 1},
        {"3x3 1 -> 32", 1, 1, 32, 28, 3, 1, 1},
        {"depthwise 3x3 s2 144", 144, 144, 144, 56, 3, 2, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t k = cases[i].kernel, in = cases[i].in;
        size_t out = (in + 2 * cases[i].pad - k) / cases[i].stride + 1;
        ln_conv_shape s = {.batch = 1,
                           .group = cases[i].group,
                           .in_channels = cases[i].in_channels,
                           .out_channels = cases[i].out_channels,
                           .in_h = in,
                           .in_w = in,
                           .out_h = out,
                           .out_w = out,
                           .kernel_h = k,
                           .kernel_w = k,
                           .stride_h = cases[i].stride,
                           .stride_w = cases[i].stride,
                           .dilation_h = 1,
                           .dilation_w = 1,
                           .pad_top = cases[i].pad,
                           .pad_left = cases[i].pad};
        size_t weights = s.out_channels * (s.in_channels / s.group) * k * k;
        float *x = bench_floats(s.in_channels * in * in), *weight = bench_floats(weights);
        float *bias = bench_floats(s.out_channels), *y = bench_floats(s.out_channels * out * out);
        float *workspace = bench_floats(ln_conv2d_f32_workspace(&s) / sizeof(float));
        conv_case c = {
            .isa = isa,
            .args =
                {.shape = s, .x = x, .weight = weight, .bias = bias, .y = y, .act = LN_ACT_RELU},
            .workspace = workspace};
        double seconds = bench_seconds(run_case, &c);
        printf("conv f32 %-8s %-22s %9.1f us  %7.1f GFLOP/s\n", ln_cpu_isa_name(isa), cases[i].what,
               seconds * 1e6, 2e-9 * (double)weights * (double)(out * out) / seconds);
        free(x);
        free(weight);
        free(bias);
        free(y);
        free(workspace);
    }
}

BENCH_MAIN(bench_isa)
