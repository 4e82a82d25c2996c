// SPDX-License-Identifier: Apache-2.0
// Blocks of four networks band by band, against their convolutions one after the other: one thread,
// with caches as a network leaves them.

#include <stdint.h>

#include "arch/cpu/kernels/band/band.h"
#include "arch/cpu/kernels/bench.h"
#include "arch/cpu/kernels/depthwise/depthwise.h"
#include "arch/cpu/kernels/direct/direct.h"

// The rest of a network: what it reads between two runs of a block.
#define REST_BYTES ((size_t)8 << 20)
#define ROUNDS     40

typedef struct block {
    const char *network;
    size_t in, expanded_from, channels, kernel, stride, projected_to; // channels 0: none
    ln_act act;
} block;

static const block blocks[] = {
    {"mobilenet_v1", 112, 0, 32, 3, 1, 64, LN_ACT_CLIP},
    {"mobilenet_v1", 112, 32, 64, 3, 2, 128, LN_ACT_CLIP},
    {"mobilenet_v1", 56, 64, 128, 3, 1, 128, LN_ACT_CLIP},
    {"mobilenet_v2", 112, 0, 32, 3, 1, 16, LN_ACT_CLIP},
    {"mobilenet_v2", 112, 16, 96, 3, 2, 24, LN_ACT_CLIP},
    {"mobilenet_v2", 56, 24, 144, 3, 1, 24, LN_ACT_CLIP},
    {"mobilenet_v2", 56, 24, 144, 3, 2, 32, LN_ACT_CLIP},
    {"mobilenet_v2", 28, 32, 192, 3, 1, 32, LN_ACT_CLIP},
    {"mobilenet_v3_large", 112, 16, 64, 3, 2, 24, LN_ACT_RELU},
    {"mobilenet_v3_large", 56, 24, 72, 3, 1, 24, LN_ACT_RELU},
    {"mobilenet_v3_large", 56, 24, 72, 5, 2, 0, LN_ACT_RELU},
    {"efficientnet_b0", 112, 16, 96, 3, 2, 0, LN_ACT_SILU},
    {"efficientnet_b0", 56, 24, 144, 3, 1, 0, LN_ACT_SILU},
    {"efficientnet_b0", 56, 24, 144, 5, 2, 0, LN_ACT_SILU},
    {"efficientnet_b0", 28, 40, 240, 5, 1, 0, LN_ACT_SILU},
};

typedef struct bench_case {
    ln_cpu_isa isa;
    ln_conv_nhwc_f32_args expand, depthwise, project;
    bool has_expand, has_project;
    float *workspace, *input, *rest;
    size_t input_count;
    float sum; // of what is read between the runs
} bench_case;

static void run_apart(const bench_case *c)
{
    if (c->has_expand)
        ln_direct_f32(c->isa, &c->expand, NULL);
    ln_depthwise_nhwc_f32(c->isa, &c->depthwise, NULL);
    if (c->has_project)
        ln_direct_f32(c->isa, &c->project, NULL);
}

static void run_in_bands(const bench_case *c)
{
    ln_band_nhwc_f32_args args = {.expand = c->has_expand ? &c->expand : NULL,
                                  .depthwise = &c->depthwise,
                                  .project = c->has_project ? &c->project : NULL};
    ln_band_nhwc_f32(c->isa, &args, NULL, c->workspace);
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

static ln_conv_shape shape_of(size_t in, size_t out, size_t from, size_t to, size_t kernel,
                              size_t stride, size_t group)
{
    return (ln_conv_shape){.batch = 1,
                           .group = group,
                           .in_channels = from,
                           .out_channels = to,
                           .in_h = in,
                           .in_w = in,
                           .out_h = out,
                           .out_w = out,
                           .kernel_h = kernel,
                           .kernel_w = kernel,
                           .stride_h = stride,
                           .stride_w = stride,
                           .dilation_h = 1,
                           .dilation_w = 1,
                           .pad_top = kernel / 2,
                           .pad_left = kernel / 2};
}

static ln_conv_nhwc_f32_args args_of(ln_conv_shape shape, float *x, float *y, ln_act act)
{
    const size_t per_output = shape.in_channels / shape.group * shape.kernel_h * shape.kernel_w;
    const bool is_clip = act == LN_ACT_CLIP;
    return (ln_conv_nhwc_f32_args){.shape = shape,
                                   .x = x,
                                   .x_stride = shape.in_channels,
                                   .packed = bench_floats(per_output * (shape.out_channels + 16)),
                                   .y = y,
                                   .y_stride = shape.out_channels,
                                   .epilogue = {.bias = bench_floats(shape.out_channels),
                                                .act = act,
                                                .alpha = 0,
                                                .beta = is_clip ? 6 : 0}};
}

static void free_args(ln_conv_nhwc_f32_args *args)
{
    free((void *)(uintptr_t)args->packed);
    free((void *)(uintptr_t)args->epilogue.bias);
}

static void bench_block(ln_cpu_isa isa, const block *b)
{
    const size_t out = (b->in - 1) / b->stride + 1, ch = b->channels;
    float *expanded = bench_floats(b->in * b->in * ch), *filtered = bench_floats(out * out * ch);
    float *x = bench_floats(b->in * b->in * (b->expanded_from + 1));
    float *y = bench_floats(out * out * (b->projected_to + 1));
    bench_case c = {.isa = isa,
                    .has_expand = b->expanded_from > 0,
                    .has_project = b->projected_to > 0,
                    .input = b->expanded_from ? x : expanded,
                    .input_count = b->in * b->in * (b->expanded_from ? b->expanded_from : ch),
                    .rest = bench_floats(REST_BYTES / sizeof(float))};
    c.expand = args_of(shape_of(b->in, b->in, b->expanded_from, ch, 1, 1, 1), x, expanded, b->act);
    c.depthwise =
        args_of(shape_of(b->in, out, ch, ch, b->kernel, b->stride, ch), expanded, filtered, b->act);
    c.project = args_of(shape_of(out, out, ch, b->projected_to, 1, 1, 1), filtered, y, LN_ACT_NONE);
    c.workspace =
        bench_floats(ln_band_nhwc_f32_workspace(&c.depthwise.shape, c.has_expand, c.has_project) /
                     sizeof(float));
    double apart = 1e30, bands = 1e30;
    for (int i = 0; i < ROUNDS; i++) {
        double a = seconds_of(run_apart, &c), s = seconds_of(run_in_bands, &c);
        apart = a < apart ? a : apart;
        bands = s < bands ? s : bands;
    }
    printf("%-8s %-18s %3zu x %-3zu %2zu -> %3zu, %zux%zu /%zu, -> %3zu %8.1f us apart %8.1f us in "
           "bands %5.2f\n",
           ln_cpu_isa_name(isa), b->network, b->in, b->in, b->expanded_from, ch, b->kernel,
           b->kernel, b->stride, b->projected_to, 1e6 * apart, 1e6 * bands, bands / apart);
    free_args(&c.expand);
    free_args(&c.depthwise);
    free_args(&c.project);
    free(expanded);
    free(filtered);
    free(x);
    free(y);
    free(c.workspace);
    free(c.rest);
}

static void bench_isa(ln_cpu_isa isa)
{
    if (isa == LN_CPU_ISA_generic)
        return;
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        bench_block(isa, &blocks[i]);
}

BENCH_MAIN(bench_isa)
