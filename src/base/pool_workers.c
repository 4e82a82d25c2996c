// SPDX-License-Identifier: Apache-2.0
// Workers of a pool: taking tasks, waiting for them, sleeping. pool.c says how.

#include "base/pool_inside.h"

#include <fenv.h>
#include <sched.h>
#include <time.h>

#include "base/deadline.h"
#include "base/place.h"

#define PAUSES          64 // between two looks at the clock, about a microsecond
// Then a thread that waits lets others have its processor. Where there are others it does not get
// it back for milliseconds: so not as long as the wait may be for a short operator in one thread,
// or for the end of a task.
#define POLITE_AFTER_NS 100000
#define SLEEP_AFTER_NS  200000 // without work in a row of jobs
#define PARK_AFTER_NS   50000  // the same after it: rows that follow each other need no waking

// ---- Waiting ----

static void pause_once(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

int64_t ln_wait_a_little(ln_patience *p, int64_t polite_after)
{
    pause_once();
    if (++p->pause_count % PAUSES != 0)
        return -1;
    int64_t now = ln_now_ns();
    if (p->start_ns == 0)
        p->start_ns = now;
    int64_t waited = now - p->start_ns;
    if (waited > polite_after)
        sched_yield();
    return waited;
}

// ---- Tasks ----

static bool is_empty(ln_task_range range)
{
    return (uint32_t)range >= range >> 32;
}

// Takes a task from the front of a range, or from its end.
static bool take(_Atomic ln_task_range *range, bool is_from_end, size_t *out_index)
{
    ln_task_range old = atomic_load_explicit(range, memory_order_relaxed);
    while (!is_empty(old)) {
        uint64_t first = (uint32_t)old, end = old >> 32;
        ln_task_range left =
            is_from_end ? ln_task_range_make(first, end - 1) : ln_task_range_make(first + 1, end);
        if (atomic_compare_exchange_weak_explicit(range, &old, left, memory_order_acquire,
                                                  memory_order_relaxed)) {
            *out_index = (size_t)(is_from_end ? end - 1 : first);
            return true;
        }
    }
    return false;
}

// With the deadline and the request of the thread that deals: tasks look at them, too.
static void do_task(ln_pool *pool, ln_pool_worker *me, size_t index)
{
    ln_deadline_set(pool->deadline_ns);
    ln_cancel_watch(pool->cancel);
    if (!ln_deadline_passed())
        pool->task(pool->job, index);
    size_t done = atomic_load_explicit(&me->done_count, memory_order_relaxed);
    atomic_store_explicit(&me->done_count, done + 1, memory_order_release);
}

void ln_pool_do_tasks(ln_pool *pool, ln_pool_worker *me)
{
    size_t index;
    while (take(&me->range, false, &index))
        do_task(pool, me, index);
    size_t victim = me->index;
    for (size_t i = 1; i < pool->thread_count; i++) {
        victim = victim + 1 < pool->thread_count ? victim + 1 : 0;
        while (take(&pool->workers[victim].range, true, &index))
            do_task(pool, me, index);
    }
}

// ---- Workers ----

// In the worker; returns when there may be something to do.
static void sleep_until_wanted(ln_pool_worker *me)
{
    ln_pool *pool = me->pool;
    pthread_mutex_lock(&me->lock);
    atomic_store_explicit(&me->is_asleep, true, memory_order_relaxed);
    atomic_fetch_add_explicit(&pool->sleeper_count, 1, memory_order_acq_rel);
    while (atomic_load_explicit(&me->is_asleep, memory_order_relaxed) &&
           is_empty(atomic_load_explicit(&me->range, memory_order_relaxed)) &&
           !atomic_load_explicit(&pool->is_ending, memory_order_relaxed))
        pthread_cond_wait(&me->is_wanted, &me->lock);
    atomic_store_explicit(&me->is_asleep, false, memory_order_relaxed);
    atomic_fetch_sub_explicit(&pool->sleeper_count, 1, memory_order_relaxed);
    pthread_mutex_unlock(&me->lock);
}

void ln_pool_wake(ln_pool_worker *w)
{
    if (!atomic_load_explicit(&w->is_asleep, memory_order_relaxed))
        return;
    pthread_mutex_lock(&w->lock);
    atomic_store_explicit(&w->is_asleep, false, memory_order_relaxed);
    pthread_cond_signal(&w->is_wanted);
    pthread_mutex_unlock(&w->lock);
}

static void note_place(ln_pool_worker *me)
{
    int place = ln_place_now();
    if (atomic_load_explicit(&me->place, memory_order_relaxed) != place)
        atomic_store_explicit(&me->place, place, memory_order_relaxed);
}

void ln_pool_keep_apart(ln_pool *pool)
{
    int mine = ln_place_now();
    if (mine == LN_PLACE_UNKNOWN)
        return;
    for (size_t i = 1; i < pool->thread_count; i++) {
        ln_pool_worker *w = &pool->workers[i];
        if (atomic_load_explicit(&w->place, memory_order_relaxed) != mine)
            continue;
        atomic_store_explicit(&w->place, LN_PLACE_UNKNOWN, memory_order_relaxed);
        ln_place_apart(w->thread, mine, pool->thread_count - 1, &w->barred_place);
    }
}

// False when the pool ends. Who sees tasks sees the pool as the dealer does, even if others take
// them first.
static bool wait_for_tasks(ln_pool_worker *me)
{
    ln_pool *pool = me->pool;
    ln_patience p = {0};
    while (is_empty(atomic_load_explicit(&me->range, memory_order_acquire))) {
        int64_t waited = ln_wait_a_little(&p, POLITE_AFTER_NS);
        if (waited < 0)
            continue;
        note_place(me);
        if (atomic_load_explicit(&pool->is_ending, memory_order_relaxed))
            return false;
        bool is_row = atomic_load_explicit(&pool->row_count, memory_order_relaxed) > 0;
        if (waited > (is_row ? SLEEP_AFTER_NS : PARK_AFTER_NS)) {
            sleep_until_wanted(me);
            p = (ln_patience){0};
        }
    }
    return true;
}

void *ln_pool_worker_main(void *argument)
{
    ln_pool_worker *me = argument;
    fesetenv(FE_DFL_ENV); // rounds as the thread that runs the job does
    while (wait_for_tasks(me))
        ln_pool_do_tasks(me->pool, me);
    return NULL;
}
