// SPDX-License-Identifier: Apache-2.0
// What the benches share: a clock, medians, and a run per instruction set.

#ifndef LN_ARCH_CPU_KERNELS_BENCH_H
#define LN_ARCH_CPU_KERNELS_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/peak/peak.h"

#define BENCH_ROUNDS 31

static inline double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Median seconds of one call of `run`, over rounds of at least 2 ms each.
static inline double bench_seconds(void (*run)(void *), void *user)
{
    size_t calls = 1;
    for (;;) {
        double start = bench_now();
        for (size_t i = 0; i < calls; i++)
            run(user);
        if (bench_now() - start > 2e-3)
            break;
        calls *= 2;
    }
    double seconds[BENCH_ROUNDS];
    for (size_t round = 0; round < BENCH_ROUNDS; round++) {
        double start = bench_now();
        for (size_t i = 0; i < calls; i++)
            run(user);
        seconds[round] = (bench_now() - start) / (double)calls;
    }
    qsort(seconds, BENCH_ROUNDS, sizeof seconds[0], bench_compare);
    return seconds[BENCH_ROUNDS / 2];
}

// What a call of `run` reaches, and what share of the processor's peak that is. On a machine that
// does other work too: the shortest of many short times, of the call and of the peak's loop in
// turn.
typedef struct bench_rate {
    double seconds, gflops, share;
} bench_rate;

static inline bench_rate bench_against_peak(ln_cpu_isa isa, double operations, void (*run)(void *),
                                            void *user)
{
    double peak = 0, best = 1e30, end = bench_now() + 0.15;
    for (size_t round = 0; round < 7 || bench_now() < end; round++) {
        double now_peak = ln_peak_f32(isa, 50e-6), start = bench_now();
        run(user);
        double seconds = bench_now() - start;
        peak = now_peak > peak ? now_peak : peak;
        best = seconds < best ? seconds : best;
    }
    double rate = operations / best;
    return (bench_rate){.seconds = best, .gflops = rate * 1e-9, .share = rate / peak};
}

static inline float *bench_floats(size_t count)
{
    float *p = aligned_alloc(64, (count * sizeof *p + 63) / 64 * 64);
    if (!p) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    for (size_t i = 0; i < count; i++)
        p[i] = (float)(i % 13) * 0.1f - 0.6f;
    return p;
}

// Defines main: runs `body` for every instruction set up to the one in use.
#define BENCH_MAIN(body)                                                                           \
    int main(void)                                                                                 \
    {                                                                                              \
        setvbuf(stdout, NULL, _IOLBF, 0);                                                          \
        ln_cpu_isa isa = LN_CPU_ISA_generic;                                                       \
        do                                                                                         \
            body(isa);                                                                             \
        while (ln_cpu_isa_next(&isa));                                                             \
        return 0;                                                                                  \
    }

#endif
