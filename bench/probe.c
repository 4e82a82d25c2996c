// SPDX-License-Identifier: Apache-2.0
// How near two processors are: the time in which a cache line goes from one to the other.
//
// Two threads, each on a processor of its own, hand a number to each other through one line. On
// machines that are shared, this changes over minutes; figures for two threads mean nothing
// without it. Prints {"handover_ns": ..., "state": "near"}, or "far", or "one" where there is one
// processor only. Usage: probe [CPU CPU]

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS   20
#define TURNS    2000   // of a round
#define PATIENCE 100000 // reads before a thread that waits yields: its partner may not be running
#define FAR_NS   150

static struct {
    char before[128];
    _Atomic long turn; // even: the first thread's; odd: the second's
    char after[128];
} line;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof set, &set);
}

static void wait_for(long turn)
{
    for (long reads = 1; atomic_load_explicit(&line.turn, memory_order_acquire) != turn; reads++) {
        if (reads % PATIENCE == 0)
            sched_yield();
    }
}

// Takes every second turn from `first` on.
static void play(long first)
{
    for (long turn = first; turn < 2 * TURNS; turn += 2) {
        wait_for(turn);
        atomic_store_explicit(&line.turn, turn + 1, memory_order_release);
    }
}

static void *partner(void *cpu)
{
    pin(*(int *)cpu);
    play(1);
    return NULL;
}

// Seconds of one hand-over, or -1.
static double play_round(int other)
{
    pthread_t thread;
    atomic_store(&line.turn, 0);
    if (pthread_create(&thread, NULL, partner, &other) != 0)
        return -1;
    wait_for(0);
    // The partner is there once it has answered.
    atomic_store_explicit(&line.turn, 1, memory_order_release);
    wait_for(2);
    double start = now();
    play(2);
    wait_for(2 * TURNS);
    double seconds = (now() - start) / (2 * TURNS - 2);
    pthread_join(thread, NULL);
    return seconds;
}

// The first two processors that this process may use; 0 if there is one only.
static int find_cpus(int cpus[2])
{
    cpu_set_t set;
    int count = 0;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 0;
    for (int cpu = 0; cpu < CPU_SETSIZE && count < 2; cpu++) {
        if (CPU_ISSET(cpu, &set))
            cpus[count++] = cpu;
    }
    return count == 2;
}

int main(int argc, char **argv)
{
    int cpus[2];
    if (argc == 3) {
        cpus[0] = atoi(argv[1]);
        cpus[1] = atoi(argv[2]);
    } else if (!find_cpus(cpus)) {
        puts("{\"handover_ns\": 0, \"state\": \"one\"}");
        return 0;
    }
    if (pin(cpus[0]) != 0) {
        fprintf(stderr, "probe: processor %d cannot be used\n", cpus[0]);
        return 1;
    }
    double best = -1;
    for (int round = 0; round < ROUNDS; round++) {
        double seconds = play_round(cpus[1]);
        if (seconds > 0 && (best < 0 || seconds < best))
            best = seconds;
    }
    printf("{\"handover_ns\": %.0f, \"state\": \"%s\"}\n", best * 1e9,
           best * 1e9 < FAR_NS ? "near" : "far");
    return best < 0;
}
