// SPDX-License-Identifier: Apache-2.0
// The pool inside: what pool.c, pool_workers.c and pool_life.c share.

#ifndef LN_BASE_POOL_INSIDE_H
#define LN_BASE_POOL_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <lightnet/cancel.h>

#include "base/pool.h"

#define LN_LINE_BYTES 128 // two lines: some processors fetch them in pairs

// The last tasks dealt and not taken: the first in the low half, the end in the high half.
typedef uint_least64_t ln_task_range;

typedef struct ln_pool_worker {
    _Alignas(LN_LINE_BYTES) _Atomic ln_task_range range;
    atomic_size_t done_count; // tasks, since the pool was made

    _Alignas(LN_LINE_BYTES) atomic_bool is_asleep;
    atomic_int place; // where it last looked for work
    int barred_place; // the dealer keeps it from there
    pthread_mutex_t lock;
    pthread_cond_t is_wanted;
    pthread_t thread;
    ln_pool *pool;
    size_t index;
} ln_pool_worker;

// What is lost and gained with workers, on a machine that others use too.
typedef struct ln_pool_balance {
    int64_t start_ns;       // of the row, or of what counts of it
    int64_t useful_ns;      // of rows before, since the last stall
    int64_t rest_end_ns;    // 0: does not rest
    unsigned losing_streak; // stalls that lasted longer than what came before them was worth
} ln_pool_balance;

struct ln_pool {
    // What jobs change.
    _Alignas(LN_LINE_BYTES) ln_pool_task *task;
    void *job;
    int64_t deadline_ns;     // of the thread that deals: tasks after it are not done; 0: none
    const ln_cancel *cancel; // that the thread looks at which deals, likewise; NULL: none
    size_t given_count;      // tasks that workers have done, since the pool was made
    size_t depth;            // of begin and end
    bool is_dealing;
    bool has_dealt; // in this row of jobs
    bool will_deal; // the row before did
    ln_pool_balance balance;

    // What rows of jobs change.
    _Alignas(LN_LINE_BYTES) _Atomic(void *) owner; // the thread that has claimed it; or NULL
    atomic_size_t row_count;                       // threads between begin and end

    _Alignas(LN_LINE_BYTES) atomic_size_t sleeper_count;

    // What stays.
    _Alignas(LN_LINE_BYTES) size_t thread_count;
    ln_pool_worker *workers; // workers[0] is the range of the thread that runs the job
    ln_thread_pool foreign;
    unsigned fork_count;
    size_t use_count; // under `pools_lock`
    atomic_bool is_ending;
};

// ---- pool_workers.c ----

static inline ln_task_range ln_task_range_make(uint64_t first, uint64_t end)
{
    return end << 32 | first;
}

// One wait for something that another thread will do soon, unless it does not run.
typedef struct ln_patience {
    unsigned pause_count;
    int64_t start_ns;
} ln_patience;

// How long the wait has lasted, and -1 when it is not worth to look.
int64_t ln_wait_a_little(ln_patience *p, int64_t polite_after);

// Does tasks until none is left to be taken: those of its own, then of those who come after it.
void ln_pool_do_tasks(ln_pool *pool, ln_pool_worker *me);

// Both in the thread that deals.
void ln_pool_wake(ln_pool_worker *w);
void ln_pool_keep_apart(ln_pool *pool);

void *ln_pool_worker_main(void *argument); // an ln_pool_worker

// ---- pool_life.c ----

// False in a child of the process that made the pool.
bool ln_pool_has_workers(const ln_pool *pool);

#endif
