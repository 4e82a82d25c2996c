// SPDX-License-Identifier: Apache-2.0
// Times the loop of multiply-adds.

#include "arch/cpu/kernels/peak/peak.h"

#include <time.h>

#define SHORTEST_ROUND 20e-6 // seconds: a clock's own time is nothing beside it

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Takes the sum of a round, so that no compiler sees that nobody wants it.
static volatile float sink;

static double round_seconds(const ln_peak_f32_kernel *kernel, size_t steps)
{
    double start = now();
    sink = kernel->run(steps);
    return now() - start;
}

double ln_peak_f32(ln_cpu_isa isa, double seconds)
{
    const ln_peak_f32_kernel *kernel = ln_peak_f32_select(isa);
    size_t steps = 64;
    while (round_seconds(kernel, steps) < SHORTEST_ROUND)
        steps *= 2;

    double end = now() + seconds, best = 0;
    do {
        double flops = 2.0 * (double)(steps * LN_PEAK_CHAINS * kernel->lanes);
        double rate = flops / round_seconds(kernel, steps);
        best = rate > best ? rate : best;
    } while (now() < end);
    return best;
}
