// SPDX-License-Identifier: Apache-2.0
// Products of bytes: operations a second and the share of the peak of the instructions in use, for
// each set of them, one thread.

#include "arch/cpu/kernels/gemm_i8/packed_i8.h"

#include <string.h>

#include "arch/cpu/kernels/bench.h"

typedef struct byte_case {
    ln_cpu_isa isa;
    ln_gemm_i8_args args;
    void *workspace;
} byte_case;

static void run_case(void *user)
{
    byte_case *c = user;
    ln_gemm_i8(c->isa, &c->args, c->workspace, NULL);
}

static void *bench_bytes(size_t count)
{
    unsigned char *p = (unsigned char *)bench_floats((count + 3) / 4);
    for (size_t i = 0; i < count; i++)
        p[i] = (unsigned char)(i * 7 % 251);
    return p;
}

static double best_seconds(byte_case *c, double *out_peak)
{
    double best = 1e30, end = bench_now() + 0.15;
    *out_peak = 0;
    for (size_t round = 0; round < 7 || bench_now() < end; round++) {
        double peak = ln_peak_i8(c->isa, 50e-6), start = bench_now();
        run_case(c);
        double seconds = bench_now() - start;
        *out_peak = peak > *out_peak ? peak : *out_peak;
        best = seconds < best ? seconds : best;
    }
    return best;
}

static void bench_size(ln_cpu_isa isa, const char *name, size_t m, size_t n, size_t k,
                       bool is_signed)
{
    void *a = bench_bytes(m * k), *w = bench_bytes(k * n), *y = bench_bytes(m * n);
    int8_t *packed = bench_bytes(ln_gemm_i8_packed_bytes(k, n));
    float *factors = bench_floats(ln_gemm_i8_columns(n));
    byte_case c = {.isa = isa,
                   .args = {.m = m,
                            .n = n,
                            .k = k,
                            .a = a,
                            .a_step = k,
                            .is_signed = is_signed,
                            .zero = 3,
                            .packed = packed,
                            .y = y,
                            .y_step = n,
                            .epilogue = {.result = LN_I8_TO_BYTES,
                                         .factors = factors,
                                         .low = -128,
                                         .high = 127,
                                         .zero = 128}},
                   .workspace = bench_bytes(ln_gemm_i8_workspace(k, n))};
    ln_gemm_pack_i8(k, n, &(ln_i8_weights){w, n, 1, true, true}, packed, NULL);
    double peak, seconds = best_seconds(&c, &peak);
    double rate = 2 * (double)m * (double)n * (double)k / seconds;
    printf("gemm %s x s8 %-12s %5zu x %5zu x %5zu  %9.1f us  %7.1f Gop/s  %5.1f %%\n",
           is_signed ? "s8" : "u8", name, m, n, k, seconds * 1e6, rate * 1e-9, 100 * rate / peak);
    free(a);
    free(w);
    free(y);
    free(packed);
    free(factors);
    free(c.workspace);
}

int main(void)
{
    static const struct {
        ln_cpu_isa isa;
        const char *name;
    } sets[] = {
#define SET(set, word, features, ...) {features, word},
        LN_CPU_TILE_I8_LIST(SET, )
#undef SET
    };
    static const size_t sizes[][3] = {
        {64, 64, 64},     {256, 256, 256},  {512, 512, 512},  {1024, 1024, 1024}, {127, 129, 131},
        {3136, 64, 64},   {784, 128, 512},  {196, 1024, 256}, {49, 2048, 512},    {128, 768, 768},
        {128, 3072, 768}, {128, 768, 3072}, {1, 1000, 1280},  {1, 4096, 4096},
    };
    for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++) {
        if (!ln_cpu_isa_runs(ln_cpu_isa_get(), sets[s].isa))
            continue;
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            bench_size(sets[s].isa, sets[s].name, sizes[i][0], sizes[i][1], sizes[i][2], false);
        bench_size(sets[s].isa, sets[s].name, 256, 256, 256, true);
    }
    return 0;
}
