// SPDX-License-Identifier: Apache-2.0
// Work stealing between threads that spin for a while before they sleep.
//
// Each thread has a range of tasks in one atomic word on a cache line of its own: it takes from the
// front, thieves take from the end. Publishing a range is one atomic store per worker, which spins
// on its word; a worker that has taken a task is committed to the job. Nobody waits for a worker
// that does not come: the others steal its tasks. So a job ends also where fewer processors are
// free than the pool has threads.
//
// A word may be taken for one of an older job that looks alike. That does no harm: `task` and `job`
// are read after a task is taken, and stay until all tasks of their job are done.
//
// Workers that find nothing for a while sleep. `sleeper_count` keeps a task from being dealt to
// one that falls asleep: the worker announces itself there before it looks a last time, the dealer
// looks there after it has dealt, and of two read-modify-writes of one word one sees the other.
//
// A worker that is found on the processor of the thread that deals is sent away from it
// (base/place.h), because there it does its part when the other has done it.
//
// A worker that loses its processor in the middle of a task holds up the job. Where that lasts far
// longer than what the workers have done since the time before, the pool rests: for some time its
// jobs get by with fewer threads.

#include "base/pool.h"

#include <time.h>

#include "base/deadline.h"
#include "base/pool_inside.h"

#define OWNER_POLITE_AFTER_NS 500000 // POLITE_AFTER_NS of pool_workers.c tells why
#define OWNER_SLEEPS_NS       1000000
#define STALL_NS              200000 // a wait that is longer is looked at
#define LOSS_FACTOR           2 // a stall so many times longer than the use before it is a loss
#define REST_FACTOR           8 // rests are so many times longer than the wait before
#define MOST_REST_NS          50000000
#define MAX_STREAK            4 // of losses, each halves the threads

// ---- Rests ----

static bool is_resting(ln_pool *pool)
{
    ln_pool_balance *b = &pool->balance;
    if (b->rest_end_ns == 0)
        return false;
    int64_t now = ln_now_ns();
    if (now < b->rest_end_ns)
        return true;
    b->rest_end_ns = 0;
    b->start_ns = now;
    b->useful_ns = 0;
    return false;
}

static void note_stall(ln_pool *pool, int64_t waited)
{
    ln_pool_balance *b = &pool->balance;
    int64_t now = ln_now_ns(), useful = b->useful_ns + now - b->start_ns - waited;
    b->start_ns = now;
    b->useful_ns = 0;
    if (waited <= useful * (int64_t)(pool->thread_count - 1) * LOSS_FACTOR) {
        b->losing_streak -= b->losing_streak > 0;
        return;
    }
    int64_t rest = waited * REST_FACTOR;
    b->rest_end_ns = now + (rest < MOST_REST_NS ? rest : MOST_REST_NS);
    if (b->losing_streak < MAX_STREAK)
        b->losing_streak++;
}

// ---- Claiming ----

// Its address tells threads apart.
static _Thread_local char this_thread;

static bool is_mine(const ln_pool *pool)
{
    return atomic_load_explicit(&pool->owner, memory_order_relaxed) == &this_thread;
}

static bool claim(ln_pool *pool)
{
    void *nobody = NULL;
    return atomic_compare_exchange_strong_explicit(&pool->owner, &nobody, &this_thread,
                                                   memory_order_acquire, memory_order_relaxed);
}

static void unclaim(ln_pool *pool)
{
    atomic_store_explicit(&pool->owner, NULL, memory_order_release);
}

// Threads that a job is cut for: each other thread that runs a context has a processor of its own.
static size_t usable_count(ln_pool *pool)
{
    size_t rows = atomic_load_explicit(&pool->row_count, memory_order_relaxed);
    size_t count = pool->thread_count;
    if (rows > 1)
        count = rows < count ? count - rows + 1 : 1;
    if (is_resting(pool))
        count >>= pool->balance.losing_streak;
    return count ? count : 1;
}

static void begin_row(ln_pool *pool)
{
    pool->depth = 1;
    pool->has_dealt = false;
    if (pool->foreign.begin)
        pool->foreign.begin(pool->foreign.user);
    if (pool->foreign.run)
        return;
    pool->balance.start_ns = ln_now_ns();
    if (!pool->will_deal)
        return;
    ln_pool_keep_apart(pool);
    for (size_t i = 1, count = usable_count(pool); i < count; i++)
        ln_pool_wake(&pool->workers[i]);
}

void ln_pool_begin(ln_pool *pool)
{
    if (!pool)
        return;
    if (is_mine(pool)) {
        pool->depth++;
        return;
    }
    atomic_fetch_add_explicit(&pool->row_count, 1, memory_order_relaxed);
    if (ln_pool_has_workers(pool) && claim(pool))
        begin_row(pool);
}

void ln_pool_end(ln_pool *pool)
{
    if (!pool)
        return;
    if (is_mine(pool)) {
        if (--pool->depth > 0)
            return;
        if (pool->foreign.end)
            pool->foreign.end(pool->foreign.user);
        pool->will_deal = pool->has_dealt;
        pool->balance.useful_ns += ln_now_ns() - pool->balance.start_ns;
        unclaim(pool);
    }
    atomic_fetch_sub_explicit(&pool->row_count, 1, memory_order_relaxed);
}

// ---- Jobs ----

static void run_alone(size_t count, ln_pool_task *task, void *job)
{
    for (size_t i = 0; i < count && !ln_deadline_passed(); i++)
        task(job, i);
}

// The range of this thread last: the others are waiting.
static void deal(ln_pool *pool, size_t count, size_t thread_count)
{
    for (size_t t = thread_count; t-- > 0;) {
        uint64_t first = (uint64_t)t * count / thread_count;
        uint64_t end = ((uint64_t)t + 1) * count / thread_count;
        atomic_store_explicit(&pool->workers[t].range, ln_task_range_make(first, end),
                              memory_order_release);
    }
    if (atomic_fetch_add_explicit(&pool->sleeper_count, 0, memory_order_acq_rel) == 0)
        return;
    for (size_t t = 1; t < thread_count; t++)
        ln_pool_wake(&pool->workers[t]);
}

static bool is_given_done(const ln_pool *pool)
{
    size_t done = 0;
    for (size_t i = 1; i < pool->thread_count; i++)
        done += atomic_load_explicit(&pool->workers[i].done_count, memory_order_acquire);
    return done == pool->given_count;
}

// Workers that have taken a task finish it; on a machine that is busy with other things that may
// last.
static void wait_for_workers(ln_pool *pool)
{
    ln_patience p = {0};
    while (!is_given_done(pool)) {
        if (ln_wait_a_little(&p, OWNER_POLITE_AFTER_NS) > OWNER_SLEEPS_NS)
            nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
    if (p.start_ns == 0 || pool->depth == 0)
        return;
    int64_t waited = ln_now_ns() - p.start_ns;
    if (waited > STALL_NS)
        note_stall(pool, waited);
}

static void run_with_workers(ln_pool *pool, size_t count, ln_pool_task *task, void *job)
{
    size_t usable = usable_count(pool), thread_count = count < usable ? count : usable;
    if (thread_count <= 1) {
        run_alone(count, task, job);
        return;
    }
    ln_pool_worker *me = &pool->workers[0];
    size_t done_before = atomic_load_explicit(&me->done_count, memory_order_relaxed);
    pool->task = task;
    pool->job = job;
    pool->deadline_ns = ln_deadline_get();
    pool->cancel = ln_cancel_watched();
    pool->has_dealt = true;
    deal(pool, count, thread_count);
    ln_pool_do_tasks(pool, me);
    size_t done = atomic_load_explicit(&me->done_count, memory_order_relaxed) - done_before;
    pool->given_count += count - done;
    if (done == count)
        ln_pool_keep_apart(pool);
    else
        wait_for_workers(pool);
}

// In a thread that has claimed the pool.
static void run_claimed(ln_pool *pool, size_t count, ln_pool_task *task, void *job)
{
    pool->is_dealing = true;
    if (pool->foreign.run)
        pool->foreign.run(pool->foreign.user, count, task, job);
    else
        run_with_workers(pool, count, task, job);
    pool->is_dealing = false;
}

void ln_pool_run(ln_pool *pool, size_t count, ln_pool_task *task, void *job)
{
    bool is_for_one = !pool || count <= 1 || count > UINT32_MAX || !ln_pool_has_workers(pool);
    if (is_for_one || (is_mine(pool) ? pool->is_dealing : !claim(pool))) {
        run_alone(count, task, job);
        return;
    }
    bool is_single = pool->depth == 0;
    run_claimed(pool, count, task, job);
    if (is_single)
        unclaim(pool);
}
