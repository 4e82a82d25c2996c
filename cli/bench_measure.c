// SPDX-License-Identifier: Apache-2.0
// A clock, order statistics, the machine's peak, memory.

#include "bench_measure.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <lightnet/lightnet.h>

#define MAX_PEAK_THREADS 256

static double read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double bench_clock(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double bench_cpu_clock(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

// ---- Times ----

ln_status bench_times_add(bench_times *times, double seconds)
{
    if (times->count == times->capacity) {
        size_t capacity = times->capacity ? times->capacity * 2 : 64;
        double *items = capacity < SIZE_MAX / sizeof *items
                            ? realloc(times->items, capacity * sizeof *items)
                            : NULL;
        if (!items)
            return LN_FAIL(LN_NO_MEMORY, "out of memory for %zu times", capacity);
        times->items = items;
        times->capacity = capacity;
    }
    times->items[times->count++] = seconds;
    return LN_OK;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void bench_times_sort(bench_times *times)
{
    if (times->count > 0)
        qsort(times->items, times->count, sizeof *times->items, compare_doubles);
}

void bench_times_free(bench_times *times)
{
    free(times->items);
    *times = (bench_times){0};
}

double bench_times_at(const bench_times *sorted, double share)
{
    if (sorted->count == 0)
        return 0;
    double place = share * (double)(sorted->count - 1);
    return sorted->items[(size_t)(place + 0.5)];
}

double bench_median(double *values, size_t count)
{
    bench_times times = {.items = values, .count = count};
    bench_times_sort(&times);
    return bench_times_at(&times, 0.5);
}

// ---- The peak ----

typedef struct peak_job {
    const ln_arch *arch;
    double seconds;
    ln_arch_peak peak;
} peak_job;

static void *measure(void *user)
{
    peak_job *job = user;
    job->arch->measure_peak(job->arch->priv, job->seconds, &job->peak);
    return NULL;
}

void bench_peak_measure(const char *arch_name, size_t thread_count, double seconds,
                        bench_peak *peak)
{
    const ln_arch *arch = ln_arch_find(arch_name);
    if (!arch || !arch->measure_peak || thread_count < 1 || thread_count > MAX_PEAK_THREADS)
        return;
    peak_job jobs[MAX_PEAK_THREADS];
    pthread_t threads[MAX_PEAK_THREADS];
    for (size_t i = 0; i < thread_count; i++)
        jobs[i] = (peak_job){.arch = arch, .seconds = seconds};
    size_t started = 1; // the calling thread is the first
    while (started < thread_count &&
           pthread_create(&threads[started], NULL, measure, &jobs[started]) == 0)
        started++;
    measure(&jobs[0]);
    for (size_t i = 1; i < started; i++)
        pthread_join(threads[i], NULL);
    if (started < thread_count)
        return;
    double flops = 0;
    for (size_t i = 0; i < thread_count; i++)
        flops += jobs[i].peak.flops;
    if (flops > peak->flops)
        *peak = (bench_peak){jobs[0].peak.isa, flops};
}

// ---- Memory ----

size_t bench_peak_rss(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    if (!file)
        return 0;
    char line[256];
    unsigned long long kibibytes = 0;
    while (fgets(line, sizeof line, file) && sscanf(line, "VmHWM: %llu", &kibibytes) != 1)
        continue;
    fclose(file);
    return (size_t)kibibytes * 1024;
}
