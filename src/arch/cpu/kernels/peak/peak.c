// SPDX-License-Identifier: Apache-2.0
// Times the loops of multiply-adds.

#include "arch/cpu/kernels/peak/peak.h"

#include <time.h>

#define SHORTEST_ROUND 20e-6 // seconds: a clock's own time is nothing beside it

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Take what a round has summed up, so that no compiler sees that nobody wants it.
static volatile float f32_sink;
static volatile int32_t i8_sink;

// A loop, one of the two, and the operations of a step.
typedef struct loop {
    ln_peak_f32_fn *f32;
    ln_peak_i8_fn *i8;
    double step_operations;
} loop;

static double round_seconds(const loop *l, size_t steps)
{
    double start = now();
    if (l->f32)
        f32_sink = l->f32(steps);
    else
        i8_sink = l->i8(steps);
    return now() - start;
}

static double best_rate(const loop *l, double seconds)
{
    size_t steps = 64;
    while (round_seconds(l, steps) < SHORTEST_ROUND)
        steps *= 2;

    double end = now() + seconds, best = 0;
    do {
        double rate = l->step_operations * (double)steps / round_seconds(l, steps);
        best = rate > best ? rate : best;
    } while (now() < end);
    return best;
}

double ln_peak_f32(ln_cpu_isa isa, double seconds)
{
    const ln_peak_f32_kernel *kernel = ln_peak_f32_select(isa);
    const loop l = {.f32 = kernel->run,
                    .step_operations = 2.0 * (double)(LN_PEAK_CHAINS * kernel->lanes)};
    return best_rate(&l, seconds);
}

double ln_peak_i8(ln_cpu_isa isa, double seconds)
{
    const ln_peak_i8_kernel *kernel = ln_peak_i8_select(isa);
    const loop l = {.i8 = kernel->run,
                    .step_operations = 8.0 * (double)(LN_PEAK_CHAINS * kernel->lanes)};
    return best_rate(&l, seconds);
}
