// SPDX-License-Identifier: Apache-2.0
// GFLOP/s of gemm for each instruction set, one thread.

#include "arch/cpu/kernels/bench.h"
#include "arch/cpu/kernels/gemm/gemm.h"

typedef struct gemm_case {
    ln_cpu_isa isa;
    ln_gemm_f32_args args;
    float *workspace;
} gemm_case;

static void run_case(void *user)
{
    gemm_case *c = user;
    ln_gemm_f32(c->isa, &c->args, c->workspace);
}

static void bench_isa(ln_cpu_isa isa)
{
    static const size_t sizes[][3] = {
        {64, 64, 64},   {128, 128, 128}, {256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024},
        {64, 3136, 64}, {512, 49, 2048}, {1000, 1, 1024}, {1, 1000, 1024},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t m = sizes[i][0], n = sizes[i][1], k = sizes[i][2];
        float *a = bench_floats(m * k), *b = bench_floats(k * n), *y = bench_floats(m * n);
        float *workspace = bench_floats(ln_gemm_f32_workspace(k) / sizeof(float));
        gemm_case c = {.isa = isa,
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
        double seconds = bench_seconds(run_case, &c);
        printf("gemm f32 %-8s %5zu x %5zu x %5zu  %8.1f us  %7.1f GFLOP/s\n", ln_cpu_isa_name(isa),
               m, n, k, seconds * 1e6, 2e-9 * (double)m * (double)n * (double)k / seconds);
        free(a);
        free(b);
        free(y);
        free(workspace);
    }
}

BENCH_MAIN(bench_isa)
