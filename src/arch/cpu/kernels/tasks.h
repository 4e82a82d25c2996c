// SPDX-License-Identifier: Apache-2.0
// How the work of kernels is cut into tasks for threads, and when one thread does it alone: the one
// policy of all families.
//
// Work is an estimate in microseconds of one thread: the multiplications of a product over
// LN_PRODUCTS_PER_MICROSECOND, of other families elements or bytes over what they say. What a task
// computes depends on no number of threads.

#ifndef LN_ARCH_CPU_KERNELS_TASKS_H
#define LN_ARCH_CPU_KERNELS_TASKS_H

#include <stddef.h>

#include "base/grain.h"
#include "base/minmax.h"
#include "base/pool.h"

// Below the first it does not pay to share: to hand over takes threads that are far from each other
// 2 microseconds. What is read was written by all of them as a rule, so one alone would have to
// fetch what the others hold. The second is that of the smallest task.
#define LN_MIN_SHARED_MICROSECONDS 4.0
#define LN_MIN_TASK_MICROSECONDS   2.0
#define LN_TASKS_PER_THREAD        6

#define LN_PRODUCTS_PER_MICROSECOND 131072.0

// The pool for tasks that are cut without regard to threads; NULL, one thread, where it is done
// before another would have begun.
static inline ln_pool *ln_tasks_pool(ln_pool *pool, double microseconds)
{
    return ln_grain_work(microseconds) < LN_MIN_SHARED_MICROSECONDS ? NULL : pool;
}

// About how many tasks.
static inline size_t ln_tasks_wanted(double microseconds, size_t threads)
{
    size_t count = threads * LN_TASKS_PER_THREAD;
    microseconds = ln_grain_work(microseconds);
    if (threads == 1 || microseconds < LN_MIN_SHARED_MICROSECONDS)
        return 1;
    if (microseconds < LN_MIN_TASK_MICROSECONDS * (double)count)
        return (size_t)(microseconds / LN_MIN_TASK_MICROSECONDS);
    return count;
}

// 1, or a multiple of the threads, if there are `max` or more of what tasks are made of.
static inline size_t ln_task_count(double microseconds, size_t max, const ln_pool *pool)
{
    size_t threads = ln_pool_thread_count(pool), count = ln_tasks_wanted(microseconds, threads);
    if (count > threads)
        count -= count % threads;
    return ln_min(count, max);
}

// Where task `index` of `count` begins when `total` is divided evenly: half of the tasks, and any
// other number of them that follow each other, have as near to that fraction of the total as can
// be.
static inline size_t ln_task_start(size_t total, size_t count, size_t index)
{
    return total / count * index + total % count * index / count;
}

#endif
