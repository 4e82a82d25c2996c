// SPDX-License-Identifier: Apache-2.0
// How fast rows are normalised: GB/s read and written from the nearer caches, one thread.

#include "arch/cpu/kernels/norm/norm.h"

#include "arch/cpu/kernels/bench.h"

typedef struct norm_case {
    ln_cpu_isa isa;
    ln_layernorm_f32_args args;
} norm_case;

static void run_case(void *user)
{
    const norm_case *c = user;
    ln_layernorm_f32(c->isa, &c->args, NULL);
}

static void bench_size(ln_cpu_isa isa, size_t rows, size_t n)
{
    float *x = bench_floats(rows * n), *y = bench_floats(rows * n), *scale = bench_floats(n);
    norm_case c = {isa,
                   {.rows = rows,
                    .n = n,
                    .x = x,
                    .scale = scale,
                    .bias = scale,
                    .y = y,
                    .epsilon = 1e-5f,
                    .is_centered = true}};
    double count = (double)(rows * n);
    bench_rate rate = bench_against_peak(isa, 2 * count, run_case, &c);
    printf("%-8s %4zu x %4zu %8.2f us %6.1f GB/s, the time of %5.1f multiply-adds an element\n",
           ln_cpu_isa_name(isa), rows, n, rate.seconds * 1e6, 8e-9 * count / rate.seconds,
           1 / rate.share);
    free(x);
    free(y);
    free(scale);
}

static void bench_isa(ln_cpu_isa isa)
{
    bench_size(isa, 197, 192);
    bench_size(isa, 128, 768);
    bench_size(isa, 1, 4096);
}

BENCH_MAIN(bench_isa)
