// SPDX-License-Identifier: Apache-2.0
// How fast attention is: its two products as a share of the peak of one thread.

#include "arch/cpu/kernels/attention/attention.h"

#include "arch/cpu/kernels/bench.h"

typedef struct attention_case {
    ln_cpu_isa isa;
    ln_attention_f32_args args;
    float *workspace;
} attention_case;

static void run_case(void *user)
{
    const attention_case *c = user;
    ln_attention_f32(c->isa, &c->args, c->workspace, NULL);
}

static void bench_shape(ln_cpu_isa isa, const char *what, size_t heads, size_t tokens)
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
    attention_case c = {isa, args, workspace};
    double flops = 4.0 * (double)(heads * tokens * tokens * size);
    bench_rate rate = bench_against_peak(isa, flops, run_case, &c);
    printf("%-8s %-10s %8.3f ms %6.1f GFLOP/s %5.1f %% of peak\n", ln_cpu_isa_name(isa), what,
           rate.seconds * 1e3, rate.gflops, 100 * rate.share);
    free(qkv);
    free(y);
    free(workspace);
}

static void bench_isa(ln_cpu_isa isa)
{
    bench_shape(isa, "vit_b16", 12, 197);
    bench_shape(isa, "vit_tiny", 3, 197);
    bench_shape(isa, "bert", 12, 128);
}

BENCH_MAIN(bench_isa)
