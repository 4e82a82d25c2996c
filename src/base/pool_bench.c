// SPDX-License-Identifier: Apache-2.0
// What it costs to hand a job to other threads.
//
// A run is 50 jobs back to back, as a network is; each is two tasks of the same work. One thread
// needs 2 * task for a job, two that share it for nothing need one; what is measured beyond that
// is the hand-over. How far the processors are from each other decides it, and virtual machines
// move: so the time that a cache line takes to the other thread and back is shown beside it.

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/pool.h"

#define JOBS   50
#define ROUNDS 300

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// ---- The way of a cache line ----

#define TRIPS 2000

typedef struct ball {
    _Alignas(128) atomic_uint there;
    _Alignas(128) atomic_uint back;
} ball;

static void *throw_back(void *argument)
{
    ball *b = argument;
    for (unsigned i = 1; i <= TRIPS; i++) {
        while (atomic_load_explicit(&b->there, memory_order_acquire) != i)
            ;
        atomic_store_explicit(&b->back, i, memory_order_release);
    }
    return NULL;
}

// Seconds from one thread to another.
static double line_seconds(void)
{
    double best = 1;
    for (int round = 0; round < 5; round++) {
        ball b = {0};
        pthread_t thread;
        if (pthread_create(&thread, NULL, throw_back, &b) != 0)
            return 0;
        double start = 0;
        for (unsigned i = 1; i <= TRIPS; i++) {
            if (i == TRIPS / 2)
                start = now();
            atomic_store_explicit(&b.there, i, memory_order_release);
            while (atomic_load_explicit(&b.back, memory_order_acquire) != i)
                ;
        }
        double seconds = (now() - start) / (TRIPS / 2 + 1) / 2;
        best = seconds < best ? seconds : best;
        pthread_join(thread, NULL);
    }
    return best;
}

// ---- Jobs ----

typedef struct work {
    unsigned step_count;
    _Alignas(128) volatile float result[8][32];
} work;

static void do_work(void *job, size_t index)
{
    work *w = job;
    float x = 1;
    for (unsigned i = 0; i < w->step_count; i++)
        x = x * 0.999f + 0.5f;
    w->result[index % 8][0] = x;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct timing {
    double best, median;
} timing;

// Seconds of one job. `gap_steps` of work of the caller alone are between jobs.
static timing time_jobs(ln_pool *pool, size_t task_count, unsigned step_count, unsigned gap_steps)
{
    work w = {.step_count = step_count}, gap = {.step_count = gap_steps};
    double seconds[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        ln_pool_begin(pool);
        for (int i = 0; i < JOBS; i++) {
            ln_pool_run(pool, task_count, do_work, &w);
            if (gap_steps)
                do_work(&gap, 0);
        }
        ln_pool_end(pool);
        seconds[round] = (now() - start) / JOBS;
    }
    qsort(seconds, ROUNDS, sizeof *seconds, compare);
    return (timing){.best = seconds[0], .median = seconds[ROUNDS / 2]};
}

static unsigned steps_of(double task_seconds)
{
    double seconds = time_jobs(NULL, 1, 100000, 0).best;
    return (unsigned)(task_seconds / seconds * 100000);
}

static void print_row(ln_pool *pool, double task_us, double gap_us)
{
    unsigned steps = task_us > 0 ? steps_of(task_us * 1e-6) : 0;
    unsigned gap_steps = gap_us > 0 ? steps_of(gap_us * 1e-6) : 0;
    timing one = time_jobs(NULL, 2, steps, gap_steps);
    timing two = time_jobs(pool, 2, steps, gap_steps);
    double ideal = time_jobs(NULL, 1, steps, gap_steps).best;
    printf("%8.0f %8.0f %10.2f %10.2f %10.2f   %+9.2f %+9.2f\n", task_us, gap_us, one.best * 1e6,
           two.best * 1e6, two.median * 1e6, (two.best - ideal) * 1e6, (two.median - ideal) * 1e6);
}

int main(void)
{
    ln_pool *pool;
    if (ln_pool_create(2, &pool) != LN_OK)
        return 1;
    printf("a cache line to the other thread: %.0f ns\n", line_seconds() * 1e9);
    printf("jobs of 2 tasks, microseconds a job:\n"
           "   task      gap   1 thread  2 threads     median   hand-over    median\n");
    static const double rows[][2] = {{0, 0}, {5, 0}, {20, 0}, {100, 0}, {20, 20}, {20, 100}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        print_row(pool, rows[i][0], rows[i][1]);
    printf("a cache line to the other thread: %.0f ns\n", line_seconds() * 1e9);
    ln_pool_release(pool);
    return 0;
}
