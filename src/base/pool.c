// SPDX-License-Identifier: Apache-2.0
// Dealing pieces to threads that wait awake.
//
// Each thread has a range of pieces in one atomic word on a cache line of its own: it takes from
// the front, thieves take from the end. Dealing is one store per thread, which its worker is
// watching; a piece that is taken is the worker's word that it takes part. Nobody waits for a
// worker that does not come: its pieces are taken by those who are there. So a job ends also where
// fewer processors are free than the pool has threads.
//
// A word may be taken for one of an older job that looks alike. That does no harm: `task` and `job`
// are read after a piece is taken, and stay until all pieces of their job are done.
//
// Workers that find nothing for a while sleep. `sleeper_count` keeps a piece from being dealt to
// one that falls asleep: the worker announces itself there before it looks a last time, the dealer
// looks there after it has dealt, and of two read-modify-writes of one word one sees the other.
//
// A worker that is found on the processor of the thread that deals is sent away from it
// (base/place.h), because there it does its part when the other has done it.
//
// A worker that loses its processor in the middle of a piece holds up the job. Where that lasts far
// longer than what the workers have done since the time before, the pool rests: for some time its
// jobs get by with fewer threads.

#include "base/pool.h"

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <lightnet/allocator.h>
#include <lightnet/msg.h>

#include "base/cpu_count.h"
#include "base/place.h"

#define LINE_BYTES            128 // two lines: some processors fetch them in pairs
#define STACK_BYTES           ((size_t)1 << 20)
#define PAUSES                64 // between two looks at the clock, about a microsecond
// Then a thread that waits lets others have its processor. Where there are others it does not get
// it back for milliseconds: so not as long as the wait may be for a short operator in one thread,
// or for the end of a piece.
#define POLITE_AFTER_NS       100000
#define OWNER_POLITE_AFTER_NS 500000
#define SLEEP_AFTER_NS        200000 // without work in a row of jobs
#define PARK_AFTER_NS         50000 // the same behind it: rows that follow each other need no waking
#define OWNER_SLEEPS_NS       1000000
#define STALL_NS              200000 // a wait that is longer is looked at
#define LOSS_FACTOR           2 // a stall so many times longer than the use before it is a loss
#define REST_FACTOR           8 // rests are so many times longer than the wait before
#define MOST_REST_NS          50000000
#define MAX_STREAK            4 // of losses, each halves the threads

// The last pieces dealt and not taken: the first in the low half, the end in the high half.
typedef uint_least64_t piece_range;

typedef struct worker {
    _Alignas(LINE_BYTES) _Atomic piece_range range;
    atomic_size_t done_count; // pieces, since the pool was made

    _Alignas(LINE_BYTES) atomic_bool is_asleep;
    atomic_int place; // where it last looked for work
    int barred_place; // the dealer keeps it from there
    pthread_mutex_t lock;
    pthread_cond_t is_wanted;
    pthread_t thread;
    ln_pool *pool;
    size_t index;
} worker;

// What is lost and gained with workers, on a machine that others use too.
typedef struct balance {
    int64_t start_ns;       // of the row, or of what counts of it
    int64_t useful_ns;      // of rows before, since the last stall
    int64_t rest_end_ns;    // 0: does not rest
    unsigned losing_streak; // stalls that lasted longer than what came before them was worth
} balance;

struct ln_pool {
    // What jobs change.
    _Alignas(LINE_BYTES) ln_pool_task *task;
    void *job;
    size_t given_count; // pieces that workers have done, since the pool was made
    size_t depth;       // of begin and end
    bool is_dealing;
    bool has_dealt; // in this row of jobs
    bool will_deal; // the row before did
    balance balance;

    // What rows of jobs change.
    _Alignas(LINE_BYTES) _Atomic(void *) owner; // of the thread that has claimed the pool; or NULL
    atomic_size_t row_count;                    // threads between begin and end

    _Alignas(LINE_BYTES) atomic_size_t sleeper_count;

    // What stays.
    _Alignas(LINE_BYTES) size_t thread_count;
    worker *workers; // workers[0] is the range of the thread that runs the job
    ln_thread_pool foreign;
    unsigned fork_count;
    size_t use_count; // under `pools_lock`
    atomic_bool is_ending;
};

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

// False in a child of the process that made the pool.
static bool has_workers(const ln_pool *pool)
{
    return pool->fork_count == atomic_load_explicit(&fork_count, memory_order_relaxed);
}

// ---- Waiting ----

static void pause_once(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// One wait for something that another thread will do soon, unless it does not run.
typedef struct patience {
    unsigned pause_count;
    int64_t start_ns;
} patience;

// How long the wait has lasted, and -1 when it is not worth to look.
static int64_t wait_a_little(patience *p, int64_t polite_after)
{
    pause_once();
    if (++p->pause_count % PAUSES != 0)
        return -1;
    int64_t now = now_ns();
    if (p->start_ns == 0)
        p->start_ns = now;
    int64_t waited = now - p->start_ns;
    if (waited > polite_after)
        sched_yield();
    return waited;
}

// ---- Pieces ----

static piece_range make_range(uint64_t first, uint64_t end)
{
    return end << 32 | first;
}

static bool is_empty(piece_range range)
{
    return (uint32_t)range >= range >> 32;
}

// Takes a piece from the front of a range, or from its end.
static bool take(_Atomic piece_range *range, bool is_from_end, size_t *out_index)
{
    piece_range old = atomic_load_explicit(range, memory_order_relaxed);
    while (!is_empty(old)) {
        uint64_t first = (uint32_t)old, end = old >> 32;
        piece_range left = is_from_end ? make_range(first, end - 1) : make_range(first + 1, end);
        if (atomic_compare_exchange_weak_explicit(range, &old, left, memory_order_acquire,
                                                  memory_order_relaxed)) {
            *out_index = (size_t)(is_from_end ? end - 1 : first);
            return true;
        }
    }
    return false;
}

static void do_piece(ln_pool *pool, worker *me, size_t index)
{
    pool->task(pool->job, index);
    size_t done = atomic_load_explicit(&me->done_count, memory_order_relaxed);
    atomic_store_explicit(&me->done_count, done + 1, memory_order_release);
}

// Does pieces until none is left to be taken: those of its own, then of those who come after it.
static void do_pieces(ln_pool *pool, worker *me)
{
    size_t index;
    while (take(&me->range, false, &index))
        do_piece(pool, me, index);
    size_t victim = me->index;
    for (size_t i = 1; i < pool->thread_count; i++) {
        victim = victim + 1 < pool->thread_count ? victim + 1 : 0;
        while (take(&pool->workers[victim].range, true, &index))
            do_piece(pool, me, index);
    }
}

// ---- Workers ----

// In the worker; returns when there may be something to do.
static void sleep_until_wanted(worker *me)
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

static void wake(worker *w)
{
    if (!atomic_load_explicit(&w->is_asleep, memory_order_relaxed))
        return;
    pthread_mutex_lock(&w->lock);
    atomic_store_explicit(&w->is_asleep, false, memory_order_relaxed);
    pthread_cond_signal(&w->is_wanted);
    pthread_mutex_unlock(&w->lock);
}

static void note_place(worker *me)
{
    int place = ln_place_now();
    if (atomic_load_explicit(&me->place, memory_order_relaxed) != place)
        atomic_store_explicit(&me->place, place, memory_order_relaxed);
}

// In the thread that deals.
static void keep_apart(ln_pool *pool)
{
    int mine = ln_place_now();
    if (mine == LN_PLACE_UNKNOWN)
        return;
    for (size_t i = 1; i < pool->thread_count; i++) {
        worker *w = &pool->workers[i];
        if (atomic_load_explicit(&w->place, memory_order_relaxed) != mine)
            continue;
        atomic_store_explicit(&w->place, LN_PLACE_UNKNOWN, memory_order_relaxed);
        ln_place_apart(w->thread, mine, pool->thread_count - 1, &w->barred_place);
    }
}

// False when the pool ends.
static bool wait_for_pieces(worker *me)
{
    ln_pool *pool = me->pool;
    patience p = {0};
    while (is_empty(atomic_load_explicit(&me->range, memory_order_relaxed))) {
        int64_t waited = wait_a_little(&p, POLITE_AFTER_NS);
        if (waited < 0)
            continue;
        note_place(me);
        if (atomic_load_explicit(&pool->is_ending, memory_order_relaxed))
            return false;
        bool is_row = atomic_load_explicit(&pool->row_count, memory_order_relaxed) > 0;
        if (waited > (is_row ? SLEEP_AFTER_NS : PARK_AFTER_NS)) {
            sleep_until_wanted(me);
            p = (patience){0};
        }
    }
    return true;
}

static void *worker_main(void *argument)
{
    worker *me = argument;
    fesetenv(FE_DFL_ENV); // rounds as the thread that runs the job does
    while (wait_for_pieces(me))
        do_pieces(me->pool, me);
    return NULL;
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

static bool start_worker(worker *w)
{
    if (pthread_mutex_init(&w->lock, NULL) != 0)
        return false;
    if (pthread_cond_init(&w->is_wanted, NULL) == 0) {
        pthread_attr_t attributes;
        bool has_attributes = pthread_attr_init(&attributes) == 0 &&
                              pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0;
        bool is_started =
            has_attributes && pthread_create(&w->thread, &attributes, worker_main, w) == 0;
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
    ln_pool *pool = ln_alloc_aligned(sizeof *pool, LINE_BYTES);
    if (!pool)
        return NULL;
    pool->thread_count = thread_count;
    pool->use_count = 1;
    pool->fork_count = atomic_load_explicit(&fork_count, memory_order_relaxed);
    return pool;
}

static void destroy(ln_pool *pool)
{
    if (pool->workers && has_workers(pool)) {
        atomic_store_explicit(&pool->is_ending, true, memory_order_relaxed);
        for (size_t i = 1; i < pool->thread_count; i++) {
            worker *w = &pool->workers[i];
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

// Workers find the pool complete: they look at nothing of it before they find pieces, or that it
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
    pool->workers = ln_alloc_aligned(thread_count * sizeof *pool->workers, LINE_BYTES);
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

// ---- Rests ----

static bool is_resting(ln_pool *pool)
{
    balance *b = &pool->balance;
    if (b->rest_end_ns == 0)
        return false;
    int64_t now = now_ns();
    if (now < b->rest_end_ns)
        return true;
    b->rest_end_ns = 0;
    b->start_ns = now;
    b->useful_ns = 0;
    return false;
}

static void note_stall(ln_pool *pool, int64_t waited)
{
    balance *b = &pool->balance;
    int64_t now = now_ns(), useful = b->useful_ns + now - b->start_ns - waited;
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
    pool->balance.start_ns = now_ns();
    if (!pool->will_deal)
        return;
    keep_apart(pool);
    for (size_t i = 1, count = usable_count(pool); i < count; i++)
        wake(&pool->workers[i]);
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
    if (has_workers(pool) && claim(pool))
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
        pool->balance.useful_ns += now_ns() - pool->balance.start_ns;
        unclaim(pool);
    }
    atomic_fetch_sub_explicit(&pool->row_count, 1, memory_order_relaxed);
}

// ---- Jobs ----

static void run_alone(size_t count, ln_pool_task *task, void *job)
{
    for (size_t i = 0; i < count; i++)
        task(job, i);
}

// The range of this thread last: the others are waiting.
static void deal(ln_pool *pool, size_t count, size_t thread_count)
{
    for (size_t t = thread_count; t-- > 0;) {
        uint64_t first = (uint64_t)t * count / thread_count;
        uint64_t end = ((uint64_t)t + 1) * count / thread_count;
        atomic_store_explicit(&pool->workers[t].range, make_range(first, end),
                              memory_order_release);
    }
    if (atomic_fetch_add_explicit(&pool->sleeper_count, 0, memory_order_acq_rel) == 0)
        return;
    for (size_t t = 1; t < thread_count; t++)
        wake(&pool->workers[t]);
}

static bool is_given_done(const ln_pool *pool)
{
    size_t done = 0;
    for (size_t i = 1; i < pool->thread_count; i++)
        done += atomic_load_explicit(&pool->workers[i].done_count, memory_order_acquire);
    return done == pool->given_count;
}

// Workers that have taken a piece finish it; on a machine that is busy with other things that may
// last.
static void wait_for_workers(ln_pool *pool)
{
    patience p = {0};
    while (!is_given_done(pool)) {
        if (wait_a_little(&p, OWNER_POLITE_AFTER_NS) > OWNER_SLEEPS_NS)
            nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
    if (p.start_ns == 0 || pool->depth == 0)
        return;
    int64_t waited = now_ns() - p.start_ns;
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
    worker *me = &pool->workers[0];
    size_t done_before = atomic_load_explicit(&me->done_count, memory_order_relaxed);
    pool->task = task;
    pool->job = job;
    pool->has_dealt = true;
    deal(pool, count, thread_count);
    do_pieces(pool, me);
    size_t done = atomic_load_explicit(&me->done_count, memory_order_relaxed) - done_before;
    pool->given_count += count - done;
    if (done == count)
        keep_apart(pool);
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
    bool is_for_one = !pool || count <= 1 || count > UINT32_MAX || !has_workers(pool);
    if (is_for_one || (is_mine(pool) ? pool->is_dealing : !claim(pool))) {
        run_alone(count, task, job);
        return;
    }
    bool is_single = pool->depth == 0;
    run_claimed(pool, count, task, job);
    if (is_single)
        unclaim(pool);
}
