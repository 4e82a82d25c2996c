/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that share the work of a run, and how a program brings its own.
 *
 * Without a word a context uses the threads that its process has: one for each processor of its
 * affinity mask, fewer if its cgroup grants less, or as many as the environment variable LN_THREADS
 * says. All contexts share them; `ln_context_set_threads` gives a context others. A program that
 * has threads already hands them over with `ln_context_set_pool`. What is computed does not depend
 * on it: the results have the same bits for every number of threads.
 */

#ifndef LIGHTNET_POOL_H
#define LIGHTNET_POOL_H

#include <stddef.h>

#include <lightnet/export.h>

LN_CPPSTART

/* The most threads that a pool has. */
#define LN_MAX_THREADS 256

/* Does task `index` of a job. */
typedef void ln_pool_task(void *job, size_t index);

/* A program's own threads. `thread_count` is how many tasks run at the same time, at most; work is
 * cut for that many. The functions are called by the thread that runs the context, and never by two
 * threads at once, also where clones share the pool: who finds it taken works alone. */
typedef struct ln_thread_pool {
    size_t thread_count;
    /* Calls `task(job, i)` once for each `i` below `count`, in any order and any thread, and
     * returns when all have returned. */
    void (*run)(void *user, size_t count, ln_pool_task *task, void *job);
    /* Around the jobs of a run, which follow each other within microseconds; may be NULL. */
    void (*begin)(void *user);
    void (*end)(void *user);
    void *user;
} ln_thread_pool;

/* How many threads a context uses that has not been told: LN_THREADS, or what the process may use.
 * At least 1. */
LN_API size_t ln_thread_count_default(void);

LN_CPPEND

#endif
