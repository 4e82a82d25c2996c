// SPDX-License-Identifier: Apache-2.0
// What `lightnet bench` measures with: a clock, order statistics, the machine's peak, memory.

#ifndef LN_CLI_BENCH_MEASURE_H
#define LN_CLI_BENCH_MEASURE_H

#include <stddef.h>

#include <lightnet/context.h>

// Seconds of a clock that never goes back.
double bench_clock(void);

// Seconds that the calling thread has computed: what it waits for a processor does not count.
double bench_cpu_clock(void);

// Times of runs, in seconds.
typedef struct bench_times {
    double *items;
    size_t count;
    size_t capacity;
} bench_times;

ln_status bench_times_add(bench_times *times, double seconds);
void bench_times_sort(bench_times *times);
void bench_times_free(bench_times *times);

// The value below which `share` (0 to 1) of the sorted times are: the nearest rank. 0 without any.
double bench_times_at(const bench_times *sorted, double share);

// The median of `count` values, which it sorts.
double bench_median(double *values, size_t count);

// What `thread_count` threads of an arch compute at most when all do so at once.
typedef struct bench_peak {
    const char *isa; // NULL: the arch does not tell
    double flops;    // of all threads together, a second; 0: not known
} bench_peak;

// Measures for about `seconds`; the larger of this and *peak stays.
void bench_peak_measure(const char *arch_name, size_t thread_count, double seconds,
                        bench_peak *peak);

// The most memory that the process has had in use, in bytes; 0 where the system does not tell.
size_t bench_peak_rss(void);

#endif
