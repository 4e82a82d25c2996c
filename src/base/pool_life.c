// SPDX-License-Identifier: Apache-2.0
// Life of pools: made for one or shared, and what is left of them in a child process.

#include "base/pool_inside.h"

#include <signal.h>
#include <stdlib.h>

#include <lightnet/allocator.h>
#include <lightnet/msg.h>

#include "base/cpu_count.h"
#include "base/place.h"

#define STACK_BYTES ((size_t)1 << 20)

// ---- Forks ----

// Guards `shared_pool` and the counts of users.
static pthread_mutex_t pools_lock = PTHREAD_MUTEX_INITIALIZER;
static ln_pool *shared_pool;
static atomic_uint fork_count; // of the generations before this process

static void before_fork(void)
{
    pthread_mutex_lock(&pools_lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&pools_lock);
}

static void after_fork_in_child(void)
{
    atomic_fetch_add_explicit(&fork_count, 1, memory_order_relaxed);
    shared_pool = NULL;
    pthread_mutex_unlock(&pools_lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

bool ln_pool_has_workers(const ln_pool *pool)
{
    return pool->fork_count == atomic_load_explicit(&fork_count, memory_order_relaxed);
}

// ---- Life ----

size_t ln_thread_count_default(void)
{
    const char *text = getenv("LN_THREADS");
    size_t count = 0;
    if (text && *text) {
        char *end;
        unsigned long wanted = strtoul(text, &end, 10);
        if (*text < '0' || *text > '9' || *end || wanted == 0 || wanted > LN_MAX_THREADS)
            ln_msg_warn("LN_THREADS is 1 to %d, not '%s'", LN_MAX_THREADS, text);
        else
            count = wanted;
    }
    if (count == 0)
        count = ln_cpu_count();
    return count < LN_MAX_THREADS ? count : LN_MAX_THREADS;
}

static bool start_worker(ln_pool_worker *w)
{
    if (pthread_mutex_init(&w->lock, NULL) != 0)
        return false;
    if (pthread_cond_init(&w->is_wanted, NULL) == 0) {
        pthread_attr_t attributes;
        bool has_attributes = pthread_attr_init(&attributes) == 0 &&
                              pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0;
        bool is_started =
            has_attributes && pthread_create(&w->thread, &attributes, ln_pool_worker_main, w) == 0;
        if (has_attributes)
            pthread_attr_destroy(&attributes);
        if (is_started)
            return true;
        pthread_cond_destroy(&w->is_wanted);
    }
    pthread_mutex_destroy(&w->lock);
    return false;
}

static ln_pool *allocate(size_t thread_count)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    ln_pool *pool = ln_alloc_aligned(sizeof *pool, LN_LINE_BYTES);
    if (!pool)
        return NULL;
    pool->thread_count = thread_count;
    pool->use_count = 1;
    pool->fork_count = atomic_load_explicit(&fork_count, memory_order_relaxed);
    return pool;
}

static void destroy(ln_pool *pool)
{
    if (pool->workers && ln_pool_has_workers(pool)) {
        atomic_store_explicit(&pool->is_ending, true, memory_order_relaxed);
        for (size_t i = 1; i < pool->thread_count; i++) {
            ln_pool_worker *w = &pool->workers[i];
            pthread_mutex_lock(&w->lock);
            pthread_cond_signal(&w->is_wanted);
            pthread_mutex_unlock(&w->lock);
            pthread_join(w->thread, NULL);
            pthread_cond_destroy(&w->is_wanted);
            pthread_mutex_destroy(&w->lock);
        }
    }
    ln_free_aligned(pool->workers);
    ln_free_aligned(pool);
}

// Workers find the pool complete: they look at nothing of it before they find tasks, or that it
// ends. Signals are for the threads of the program.
static void start_workers(ln_pool *pool, size_t thread_count)
{
    sigset_t all, before;
    sigfillset(&all);
    bool is_masked = pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
    size_t count = 1;
    while (count < thread_count && start_worker(&pool->workers[count]))
        count++;
    if (is_masked)
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    pool->thread_count = count;
}

ln_status ln_pool_create(size_t thread_count, ln_pool **out_pool)
{
    *out_pool = NULL;
    if (thread_count > LN_MAX_THREADS)
        return LN_FAIL(LN_INVALID, "%zu threads, where %d is the most", thread_count,
                       LN_MAX_THREADS);
    if (thread_count == 0)
        thread_count = ln_thread_count_default();
    if (thread_count == 1)
        return LN_OK;
    ln_pool *pool = allocate(thread_count);
    if (!pool)
        return LN_NO_MEMORY;
    pool->workers = ln_alloc_aligned(thread_count * sizeof *pool->workers, LN_LINE_BYTES);
    if (!pool->workers) {
        ln_free_aligned(pool);
        return LN_NO_MEMORY;
    }
    for (size_t i = 0; i < thread_count; i++) {
        pool->workers[i].pool = pool;
        pool->workers[i].index = i;
        pool->workers[i].barred_place = LN_PLACE_UNKNOWN;
        atomic_init(&pool->workers[i].place, LN_PLACE_UNKNOWN);
    }
    start_workers(pool, thread_count);
    *out_pool = pool;
    return LN_OK;
}

// The shared pool with one more user; NULL if there is none.
static ln_pool *retain_shared(void)
{
    pthread_mutex_lock(&pools_lock);
    ln_pool *pool = shared_pool;
    if (pool)
        pool->use_count++;
    pthread_mutex_unlock(&pools_lock);
    return pool;
}

ln_status ln_pool_create_shared(ln_pool **out_pool)
{
    *out_pool = retain_shared();
    if (*out_pool)
        return LN_OK;
    // Without the lock, so that a message may be handled in any way.
    ln_pool *pool;
    LN_TRY(ln_pool_create(0, &pool));
    if (!pool)
        return LN_OK;
    pthread_mutex_lock(&pools_lock);
    bool is_first = shared_pool == NULL;
    if (is_first)
        shared_pool = pool;
    else
        shared_pool->use_count++;
    *out_pool = shared_pool;
    pthread_mutex_unlock(&pools_lock);
    if (!is_first)
        ln_pool_release(pool);
    return LN_OK;
}

ln_status ln_pool_create_foreign(const ln_thread_pool *functions, ln_pool **out_pool)
{
    *out_pool = NULL;
    if (!functions->run || functions->thread_count == 0 || functions->thread_count > LN_MAX_THREADS)
        return LN_FAIL(LN_INVALID, "a pool needs a function `run`, and 1 to %d threads",
                       LN_MAX_THREADS);
    ln_pool *pool = allocate(functions->thread_count);
    if (!pool)
        return LN_NO_MEMORY;
    pool->foreign = *functions;
    *out_pool = pool;
    return LN_OK;
}

ln_pool *ln_pool_retain(ln_pool *pool)
{
    if (!pool)
        return NULL;
    pthread_mutex_lock(&pools_lock);
    pool->use_count++;
    pthread_mutex_unlock(&pools_lock);
    return pool;
}

void ln_pool_release(ln_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pools_lock);
    bool is_last = --pool->use_count == 0;
    if (is_last && pool == shared_pool)
        shared_pool = NULL;
    pthread_mutex_unlock(&pools_lock);
    if (is_last)
        destroy(pool);
}

size_t ln_pool_thread_count(const ln_pool *pool)
{
    return pool ? pool->thread_count : 1;
}
