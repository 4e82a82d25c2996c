// SPDX-License-Identifier: Apache-2.0
// Matrix products: GFLOP/s and share of the processor's peak for each instruction set, one thread;
// with weights that are packed already, and with packing.

#include "arch/cpu/kernels/bench.h"
#include "arch/cpu/kernels/gemm/gemm.h"
#include "arch/cpu/kernels/gemm/packed.h"

typedef struct gemm_case {
    ln_cpu_isa isa;
    ln_gemm_packed_f32_args packed;
    ln_gemm_f32_args args;
    float *workspace;
} gemm_case;

static void run_packed(void *user)
{
    gemm_case *c = user;
    ln_gemm_packed_f32(c->isa, &c->packed, NULL);
}

static void run_case(void *user)
{
    gemm_case *c = user;
    ln_gemm_f32(c->isa, &c->args, c->workspace);
}

static void bench_size(ln_cpu_isa isa, size_t m, size_t n, size_t k)
{
    float *a = bench_floats(m * k), *b = bench_floats(k * n), *y = bench_floats(m * n);
    float *packed = bench_floats(ln_gemm_packed_len(k, n));
    float *workspace = bench_floats(ln_gemm_f32_workspace(k) / sizeof(float));
    gemm_case c = {.isa = isa,
                   .packed = {.m = m,
                              .n = n,
                              .k = k,
                              .a = a,
                              .a_stride = k,
                              .packed = packed,
                              .y = y,
                              .y_stride = n},
                   .args = {.m = m,
                            .n = n,
                            .k = k,
                            .a = a,
                            .a_stride = k,
                            .b = b,
                            .b_stride = n,
                            .c = y,
                            .c_stride = n},
                   .workspace = workspace};
    double operations = 2 * (double)m * (double)n * (double)k;
    bench_rate one = bench_against_peak(isa, operations, run_packed, &c);
    bench_rate both = bench_against_peak(isa, operations, run_case, &c);
    printf("gemm f32 %-8s %5zu x %5zu x %5zu  packed %8.1f us  %6.1f GFLOP/s  %5.1f %%   with "
           "packing %8.1f us  %5.1f %%\n",
           ln_cpu_isa_name(isa), m, n, k, one.seconds * 1e6, one.gflops, 100 * one.share,
           both.seconds * 1e6, 100 * both.share);
    free(a);
    free(b);
    free(y);
    free(packed);
    free(workspace);
}

static void bench_isa(ln_cpu_isa isa)
{
    static const size_t sizes[][3] = {
        {64, 64, 64},     {128, 128, 128},  {256, 256, 256},  {512, 512, 512},  {127, 129, 131},
        {200, 1000, 300}, {128, 768, 768},  {128, 3072, 768}, {128, 768, 3072}, {197, 192, 192},
        {197, 768, 192},  {197, 768, 3072}, {1, 1000, 1280},  {1, 4096, 4096},  {2, 1000, 2048},
        {8, 1000, 1024},  {128, 128, 64},   {197, 197, 64},   {197, 64, 197},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        bench_size(isa, sizes[i][0], sizes[i][1], sizes[i][2]);
}

BENCH_MAIN(bench_isa)
