// SPDX-License-Identifier: Apache-2.0
// How fast attention is: its two products as a share of the peak of one thread.

#include "arch/cpu/kernels/attention/attention.h"

#include "arch/cpu/kernels/bench.h"
#include "arch/cpu/kernels/peak/peak.h"

#define ROUNDS 200

static double least_seconds(ln_cpu_isa isa, const ln_attention_f32_args *args, float *workspace)
{
    double least = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double start = bench_now();
        ln_attention_f32(isa, args, workspace, NULL);
        double seconds = bench_now() - start;
        least = seconds < least ? seconds : least;
    }
    return least;
}

static void bench_shape(ln_cpu_isa isa, const char *what, size_t heads, size_t tokens, double peak)
{
    const size_t size = 64, width = heads * size;
    float *qkv = bench_floats(tokens * width * 3), *y = bench_floats(tokens * width);
    ln_attention_f32_args args = {
        .shape = {1, heads, heads, tokens, tokens, size},
        .q = qkv,
        .k = qkv + width,
        .v = qkv + 2 * width,
        .q_stride = 3 * width,
        .k_stride = 3 * width,
        .v_stride = 3 * width,
        .y = y,
        .y_stride = width,
        .scale = 0.125f,
    };
    float *workspace = bench_floats(ln_attention_f32_workspace(&args.shape));
    double seconds = least_seconds(isa, &args, workspace);
    double flops = 4.0 * (double)(heads * tokens * tokens * size);
    printf("%-10s %-10s %8.3f ms %6.1f GFLOP/s %5.1f %% of peak\n", ln_cpu_isa_name(isa), what,
           seconds * 1e3, flops / seconds * 1e-9, 100 * flops / seconds / peak);
    free(qkv);
    free(y);
    free(workspace);
}

static void bench_isa(ln_cpu_isa isa)
{
    double peak = ln_peak_f32(isa, 0.05);
    bench_shape(isa, "vit_b16", 12, 197, peak);
    bench_shape(isa, "vit_tiny", 3, 197, peak);
    bench_shape(isa, "bert", 12, 128, peak);
    bench_shape(isa, "long", 1, 2048, peak);
}

BENCH_MAIN(bench_isa)
