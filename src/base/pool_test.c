// SPDX-License-Identifier: Apache-2.0
// Pools: every task once, whoever does it; shared, nested, taken, forked, ended.

#include "base/pool.h"

#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <lightnet/allocator.h>
#include <lightnet/msg.h>

#include "base/cpu_count.h"
#include "tests/oom.h"
#include "tests/sanitizer.h"
#include "tests/test.h"

#define MAX_TASKS 1000

// ---- A job that counts ----

typedef struct tally {
    atomic_int done[MAX_TASKS];
    pthread_t doer[MAX_TASKS];
    unsigned nap_us; // of each task
} tally;

static void count_task(void *job, size_t index)
{
    tally *t = job;
    t->doer[index] = pthread_self();
    atomic_fetch_add_explicit(&t->done[index], 1, memory_order_relaxed);
    if (t->nap_us)
        nanosleep(&(struct timespec){.tv_nsec = (long)t->nap_us * 1000}, NULL);
}

static void check_once(const tally *t, size_t count)
{
    for (size_t i = 0; i < MAX_TASKS; i++)
        if (atomic_load(&t->done[i]) != (i < count))
            fail_msg("task %zu of %zu is done %d times", i, count, atomic_load(&t->done[i]));
}

static void check_job(ln_pool *pool, size_t count)
{
    static tally t;
    memset(&t, 0, sizeof t);
    ln_pool_run(pool, count, count_task, &t);
    check_once(&t, count);
}

static size_t count_doers(const tally *t, size_t count)
{
    size_t doers = 0;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < i && !pthread_equal(t->doer[k], t->doer[i]))
            k++;
        doers += k == i;
    }
    return doers;
}

static ln_pool *pool_of(size_t thread_count)
{
    ln_pool *pool;
    CHECK_OK(ln_pool_create(thread_count, &pool));
    CHECK_EQ(ln_pool_thread_count(pool), thread_count);
    return pool;
}

// ---- Tasks ----

TEST(every_task_is_done_once)
{
    static const size_t counts[] = {0, 1, 2, 3, 7, 8, 9, 64, MAX_TASKS};
    for (size_t threads = 1; threads <= 8; threads++) {
        ln_pool *pool = pool_of(threads);
        for (int round = 0; round < 20; round++) {
            for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
                check_job(pool, counts[i]);
            ln_pool_begin(pool);
            for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
                check_job(pool, counts[i]);
            ln_pool_end(pool);
        }
        ln_pool_release(pool);
    }
}

typedef struct chain {
    unsigned values[64];
} chain;

static void step_chain(void *job, size_t index)
{
    chain *c = job;
    c->values[index] = c->values[index] * 1664525u + 1013904223u;
}

// Also when the job before it was alike, so that a late thread could take one for the other.
TEST(jobs_follow_each_other_in_order)
{
    ln_pool *pool = pool_of(4);
    chain c = {0};
    unsigned expected = 0;
    ln_pool_begin(pool);
    for (int i = 0; i < (TEST_TSAN ? 2000 : 20000); i++) {
        ln_pool_run(pool, 64, step_chain, &c);
        expected = expected * 1664525u + 1013904223u;
    }
    ln_pool_end(pool);
    ln_pool_release(pool);
    for (int i = 0; i < 64; i++)
        CHECK_EQ(c.values[i], expected);
}

TEST(workers_do_their_part)
{
    ln_pool *pool = pool_of(3);
    tally *t = calloc(1, sizeof *t);
    CHECK_NOT_NULL(t);
    t->nap_us = 2000;
    ln_pool_run(pool, 30, count_task, t);
    check_once(t, 30);
    CHECK(count_doers(t, 30) > 1);
    free(t);
    ln_pool_release(pool);
}

// Workers have gone to sleep by then. On a busy machine they may come late, but not by 150 ms.
TEST(sleeping_workers_are_woken)
{
    ln_pool *pool = pool_of(2);
    tally *t = calloc(1, sizeof *t);
    CHECK_NOT_NULL(t);
    t->nap_us = 3000;
    for (int round = 0; round < 5; round++) {
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        memset(t->done, 0, sizeof t->done);
        if (round % 2)
            ln_pool_begin(pool);
        ln_pool_run(pool, 50, count_task, t);
        if (round % 2)
            ln_pool_end(pool);
        check_once(t, 50);
        CHECK_EQ(count_doers(t, 50), 2);
    }
    free(t);
    ln_pool_release(pool);
}

static double thread_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

TEST(workers_without_work_use_no_processor)
{
    ln_pool *pool = pool_of(4);
    for (int is_row = 0; is_row < 2; is_row++) {
        if (is_row)
            ln_pool_begin(pool);
        check_job(pool, 100);
        double before = thread_seconds(CLOCK_PROCESS_CPUTIME_ID);
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
        CHECK(thread_seconds(CLOCK_PROCESS_CPUTIME_ID) - before < 0.05);
    }
    check_job(pool, 100);
    ln_pool_end(pool);
    ln_pool_release(pool);
}

typedef struct stall {
    pthread_t owner;
    int worker_count; // tasks
} stall;

// As if the worker had lost its processor.
static void stall_worker(void *job, size_t index)
{
    (void)index;
    stall *s = job;
    if (pthread_equal(pthread_self(), s->owner))
        return;
    s->worker_count++;
    nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
}

TEST(workers_that_only_hold_up_jobs_are_left_alone)
{
    ln_pool *pool = pool_of(2);
    stall s = {.owner = pthread_self()};
    ln_pool_begin(pool);
    for (int i = 0; i < 100; i++) {
        ln_pool_run(pool, 2, stall_worker, &s);
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    ln_pool_end(pool);
    ln_pool_release(pool);
    CHECK(s.worker_count < 20);
}

// ---- Sharing ----

typedef struct sharer {
    ln_pool *pool;
    unsigned first;
    int is_row;
} sharer;

static void *use_pool(void *argument)
{
    sharer *u = argument;
    for (int row = 0; row < 20; row++) {
        chain c = {0};
        unsigned expected = u->first;
        for (int i = 0; i < 64; i++)
            c.values[i] = u->first;
        if (u->is_row)
            ln_pool_begin(u->pool);
        for (int i = 0; i < 50; i++) {
            ln_pool_run(u->pool, 64, step_chain, &c);
            expected = expected * 1664525u + 1013904223u;
        }
        if (u->is_row)
            ln_pool_end(u->pool);
        for (int i = 0; i < 64; i++) {
            if (c.values[i] != expected)
                return "wrong";
        }
    }
    return NULL;
}

TEST(threads_share_a_pool)
{
    ln_pool *pool = pool_of(4);
    pthread_t threads[6];
    sharer users[6];
    for (unsigned i = 0; i < 6; i++) {
        users[i] = (sharer){.pool = ln_pool_retain(pool), .first = i, .is_row = i % 2};
        CHECK_EQ(pthread_create(&threads[i], NULL, use_pool, &users[i]), 0);
    }
    for (int i = 0; i < 6; i++) {
        void *fault;
        pthread_join(threads[i], &fault);
        CHECK_NULL(fault);
        ln_pool_release(pool);
    }
    check_job(pool, 100);
    ln_pool_release(pool);
}

static void *run_elsewhere(void *argument)
{
    static tally t;
    ln_pool *pool = argument;
    memset(&t, 0, sizeof t);
    ln_pool_begin(pool);
    ln_pool_run(pool, 50, count_task, &t);
    ln_pool_end(pool);
    check_once(&t, 50);
    return count_doers(&t, 50) == 1 ? NULL : "not alone";
}

TEST(who_finds_the_pool_taken_works_alone)
{
    ln_pool *pool = pool_of(4);
    ln_pool_begin(pool);
    ln_pool_begin(pool); // nests
    ln_pool_end(pool);
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, run_elsewhere, pool), 0);
    void *fault;
    pthread_join(thread, &fault);
    CHECK_NULL(fault);
    check_job(pool, 100);
    ln_pool_end(pool);
    check_job(pool, 100);
    ln_pool_release(pool);
}

typedef struct nest {
    ln_pool *pool;
    tally inner[8];
} nest;

static void run_inner(void *job, size_t index)
{
    nest *n = job;
    ln_pool_begin(n->pool);
    ln_pool_run(n->pool, 20, count_task, &n->inner[index]);
    ln_pool_end(n->pool);
}

TEST(jobs_of_a_task_run_in_its_thread)
{
    nest *n = calloc(1, sizeof *n);
    CHECK_NOT_NULL(n);
    n->pool = pool_of(3);
    ln_pool_run(n->pool, 8, run_inner, n);
    for (int i = 0; i < 8; i++) {
        check_once(&n->inner[i], 20);
        CHECK_EQ(count_doers(&n->inner[i], 20), 1);
    }
    check_job(n->pool, 100);
    ln_pool_release(n->pool);
    free(n);
}

TEST(one_pool_of_the_default_count_is_shared)
{
    CHECK_EQ(setenv("LN_THREADS", "3", 1), 0);
    CHECK_EQ(ln_thread_count_default(), 3);
    ln_pool *a, *b;
    CHECK_OK(ln_pool_create_shared(&a));
    CHECK_EQ(ln_pool_thread_count(a), 3);
    CHECK_OK(ln_pool_create_shared(&b));
    CHECK_PTR_EQ(a, b);
    ln_pool_release(a);
    check_job(b, 100);
    ln_pool_release(b);
    CHECK_EQ(setenv("LN_THREADS", "2", 1), 0);
    CHECK_OK(ln_pool_create_shared(&a)); // the one before is gone
    CHECK_EQ(ln_pool_thread_count(a), 2);
    ln_pool_release(a);
    CHECK_EQ(setenv("LN_THREADS", "1", 1), 0);
    CHECK_OK(ln_pool_create_shared(&a));
    CHECK_NULL(a);
    CHECK_EQ(unsetenv("LN_THREADS"), 0);
}

static int warning_count;

static void count_warning(const ln_msg *msg, void *user)
{
    (void)user;
    warning_count += strstr(msg->text, "LN_THREADS") != NULL;
}

TEST(a_count_that_is_none_is_said_and_ignored)
{
    static const char *const wrong[] = {
        "0", "-1", "257", "many", "2x", " 2", "99999999999999999999"};
    ln_msg_set_handler(count_warning, NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        warning_count = 0;
        CHECK_EQ(setenv("LN_THREADS", wrong[i], 1), 0);
        CHECK_EQ(ln_thread_count_default(), ln_cpu_count());
        CHECK_EQ(warning_count, 1);
    }
    warning_count = 0;
    CHECK_EQ(setenv("LN_THREADS", "", 1), 0);
    CHECK_EQ(ln_thread_count_default(), ln_cpu_count());
    CHECK_EQ(warning_count, 0);
    ln_msg_set_handler(NULL, NULL);
    CHECK_EQ(unsetenv("LN_THREADS"), 0);
}

// ---- A program's own threads ----

typedef struct foreign {
    int begins, ends, runs;
} foreign;

static void begin_foreign(void *user)
{
    ((foreign *)user)->begins++;
}

static void end_foreign(void *user)
{
    ((foreign *)user)->ends++;
}

static void run_foreign(void *user, size_t count, ln_pool_task *task, void *job)
{
    ((foreign *)user)->runs++;
    for (size_t i = count; i-- > 0;)
        task(job, i);
}

TEST(jobs_go_to_the_threads_of_a_program)
{
    foreign f = {0};
    ln_thread_pool functions = {.thread_count = 5,
                                .run = run_foreign,
                                .begin = begin_foreign,
                                .end = end_foreign,
                                .user = &f};
    ln_pool *pool;
    CHECK_OK(ln_pool_create_foreign(&functions, &pool));
    CHECK_EQ(ln_pool_thread_count(pool), 5);
    ln_pool_begin(pool);
    ln_pool_begin(pool);
    check_job(pool, 100);
    check_job(pool, 2);
    check_job(pool, 1); // not worth the way
    ln_pool_end(pool);
    ln_pool_end(pool);
    CHECK_EQ(f.begins, 1);
    CHECK_EQ(f.ends, 1);
    CHECK_EQ(f.runs, 2);
    ln_pool_release(pool);

    functions.begin = functions.end = NULL;
    CHECK_OK(ln_pool_create_foreign(&functions, &pool));
    ln_pool_begin(pool);
    check_job(pool, 100);
    ln_pool_end(pool);
    ln_pool_release(pool);
    functions.thread_count = 0;
    CHECK_FAILS(ln_pool_create_foreign(&functions, &pool), LN_INVALID);
    CHECK_NULL(pool);
    functions = (ln_thread_pool){.thread_count = 2};
    CHECK_FAILS(ln_pool_create_foreign(&functions, &pool), LN_INVALID);
}

// ---- Life ----

TEST(no_pool_is_a_pool_of_one_thread)
{
    CHECK_NULL(ln_pool_retain(NULL));
    ln_pool_release(NULL);
    ln_pool_begin(NULL);
    check_job(NULL, 100);
    ln_pool_end(NULL);
    CHECK_EQ(ln_pool_thread_count(NULL), 1);
    ln_pool *pool;
    CHECK_FAILS(ln_pool_create(LN_MAX_THREADS + 1, &pool), LN_INVALID);
    CHECK_NULL(pool);
}

TEST(pools_come_and_go)
{
    for (size_t i = 0; i < 50; i++) {
        ln_pool *pool = pool_of(2 + i % 4);
        if (i % 3)
            check_job(pool, i);
        ln_pool_release(pool);
    }
}

TEST(without_memory_there_is_no_pool)
{
    OOM_SWEEP(n)
    {
        ln_pool *pool;
        ln_status status = ln_pool_create(3, &pool);
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
        CHECK_EQ(pool != NULL, status == LN_OK);
        ln_pool_release(pool);
    }
}

static void run_in_child(ln_pool *pool, ln_pool *shared)
{
    check_job(pool, 100);
    ln_pool_begin(pool);
    check_job(pool, 100);
    ln_pool_end(pool);
    ln_pool *own;
    CHECK_OK(ln_pool_create_shared(&own)); // not the parent's
    CHECK(own != shared);
    check_job(own, 100);
    ln_pool_release(own);
    ln_pool_release(pool);
    ln_pool_release(shared);
}

typedef struct meeting {
    atomic_size_t present;
    size_t expected;
} meeting;

static void wait_for_all(void *job, size_t index)
{
    meeting *m = job;
    (void)index;
    m->present++;
    for (int ms = 0; ms < 10000 && m->present < m->expected; ms++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

// All threads of the pool run. One that is still starting may hold a lock of an allocator, which a
// child would wait for.
static void meet(ln_pool *pool)
{
    meeting m = {.expected = ln_pool_thread_count(pool)};
    ln_pool_run(pool, m.expected, wait_for_all, &m);
    CHECK_EQ(m.present, m.expected);
}

TEST(a_child_works_alone)
{
    if (TEST_TSAN)
        SKIP("the sanitizer takes no threads in a child of threads");
    CHECK_EQ(setenv("LN_THREADS", "3", 1), 0);
    ln_pool *pool = pool_of(4), *shared;
    CHECK_OK(ln_pool_create_shared(&shared));
    meet(pool);
    meet(shared);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(60);
        run_in_child(pool, shared);
        _exit(7);
    }
    int status;
    while (waitpid(child, &status, 0) < 0)
        CHECK_EQ(errno, EINTR);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    check_job(pool, 100);
    ln_pool_release(pool);
    ln_pool_release(shared);
    CHECK_EQ(unsetenv("LN_THREADS"), 0);
}

static void note_rounding(void *job, size_t index)
{
    ((atomic_int *)job)[index] = fegetround() == FE_TONEAREST;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

// Whatever the thread does that happened to make the pool.
TEST(workers_round_to_nearest)
{
    CHECK_EQ(fesetround(FE_UPWARD), 0);
    ln_pool *pool = pool_of(3);
    CHECK_EQ(fesetround(FE_TONEAREST), 0);
    static atomic_int is_nearest[20];
    ln_pool_run(pool, 20, note_rounding, is_nearest);
    for (int i = 0; i < 20; i++)
        CHECK(is_nearest[i]);
    ln_pool_release(pool);
}

TEST_LIST(every_task_is_done_once, jobs_follow_each_other_in_order, workers_do_their_part,
          sleeping_workers_are_woken, workers_without_work_use_no_processor,
          workers_that_only_hold_up_jobs_are_left_alone, threads_share_a_pool,
          who_finds_the_pool_taken_works_alone, jobs_of_a_task_run_in_its_thread,
          one_pool_of_the_default_count_is_shared, a_count_that_is_none_is_said_and_ignored,
          jobs_go_to_the_threads_of_a_program, no_pool_is_a_pool_of_one_thread, pools_come_and_go,
          without_memory_there_is_no_pool, a_child_works_alone, workers_round_to_nearest)
