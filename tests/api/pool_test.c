// SPDX-License-Identifier: Apache-2.0
// Threads of a context: as many as asked for, the caller's own, shared by clones; the same bits.

#include "tests/api/model.h"

#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <lightnet/call.h>
#include <lightnet/op_info.h>

#include "tests/oom.h"

// Convolutions of several kinds, large enough to be shared.
#define NET_MODEL                                                                                  \
    "input(| dst=x | dtype=TL_FLOAT, dims=[2, 16, 40, 40]);\n"                                     \
    "create(| dst=w1 | dtype=TL_FLOAT, dims=[32, 16, 3, 3], ran=[0, 0], data=[0], "                \
    "from_file=true);\n"                                                                           \
    "create(| dst=b1 | dtype=TL_FLOAT, dims=[32], ran=[0, 0], data=[0], from_file=true);\n"        \
    "create(| dst=w2 | dtype=TL_FLOAT, dims=[32, 1, 3, 3], ran=[0, 0], data=[0], "                 \
    "from_file=true);\n"                                                                           \
    "create(| dst=w3 | dtype=TL_FLOAT, dims=[48, 32, 1, 1], ran=[0, 0], data=[0], "                \
    "from_file=true);\n"                                                                           \
    "conv2d(src=x, weight=w1, bias=b1 | dst=c1 | group=1, size=[3, 3], stride=[1, 1], "            \
    "padding=[1, 1, 1, 1], dilation=[1, 1], autopad=NOTSET);\n"                                    \
    "relu(src=c1 | dst=r1 |);\n"                                                                   \
    "conv2d(src=r1, weight=w2, bias=b1 | dst=c2 | group=32, size=[3, 3], stride=[2, 2], "          \
    "padding=[1, 1, 1, 1], dilation=[1, 1], autopad=NOTSET);\n"                                    \
    "sigmoid(src=c2 | dst=r2 |);\n"                                                                \
    "create(| dst=b3 | dtype=TL_FLOAT, dims=[48], ran=[0, 0], data=[0], from_file=true);\n"        \
    "conv2d(src=r2, weight=w3, bias=b3 | dst=c3 | group=1, size=[1, 1], stride=[1, 1], "           \
    "padding=[0, 0, 0, 0], dilation=[1, 1], autopad=NOTSET);\n"                                    \
    "maxpool2d(src=c3 | dst=p | size=[2, 2], stride=[2, 2], padding=[0, 0, 0, 0], "                \
    "autopad=NOTSET);\n"                                                                           \
    "softmax(src=p | dst=y | axis=1);\n"

#define OUT_BYTES (2 * 48 * 10 * 10 * sizeof(float))

static void set_random(ln_context *ctx, const char *tname, uint64_t seed)
{
    size_t count = ln_context_data_size(ctx, tname) / sizeof(float);
    float *data = malloc(count * sizeof *data);
    CHECK_NOT_NULL(data);
    uint64_t state = seed;
    for (size_t i = 0; i < count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        data[i] = (float)(int32_t)(state >> 32) * 0x1p-32f;
    }
    CHECK_OK(ln_context_set_data(ctx, tname, data));
    free(data);
}

static ln_context *load_net(size_t thread_count)
{
    ln_context *ctx = open_text(NET_MODEL);
    CHECK_OK(ln_context_set_threads(ctx, thread_count));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    static const char *const names[] = {"x", "w1", "b1", "w2", "w3", "b3"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        set_random(ctx, names[i], i + 1);
    return ctx;
}

static float *run_net(ln_context *ctx, float *y)
{
    CHECK_EQ(ln_context_data_size(ctx, "y"), OUT_BYTES);
    memset(y, 0, OUT_BYTES);
    CHECK_OK(ln_context_run(ctx));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
    return y;
}

static float expected[OUT_BYTES / sizeof(float)], got[OUT_BYTES / sizeof(float)];

static void check_same(ln_context *ctx)
{
    CHECK_MEM_EQ(run_net(ctx, got), expected, OUT_BYTES);
}

static void start(void)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_net(1);
    run_net(ctx, expected);
    CHECK(expected[0] > 0);
    close_context(ctx);
}

// ---- Counts ----

TEST(every_count_gives_the_same_bits)
{
    start();
    for (size_t count = 1; count <= 8; count++) {
        ln_context *ctx = load_net(count);
        CHECK_EQ(ln_context_thread_count(ctx), count);
        for (int i = 0; i < 5; i++)
            check_same(ctx);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

TEST(counts_change_at_any_time)
{
    start();
    ln_context *ctx = ln_context_create();
    CHECK_OK(ln_context_set_threads(ctx, 3));
    CHECK_EQ(ln_context_thread_count(ctx), 1); // no threads before there is work
    ln_context_free(ctx);
    ctx = load_net(2);
    for (size_t count = 1; count <= 5; count++) {
        CHECK_OK(ln_context_set_threads(ctx, count));
        CHECK_EQ(ln_context_thread_count(ctx), count);
        check_same(ctx);
    }
    CHECK_OK(ln_context_set_threads(ctx, 0));
    CHECK_EQ(ln_context_thread_count(ctx), ln_thread_count_default());
    check_same(ctx);
    CHECK_FAILS(ln_context_set_threads(ctx, LN_MAX_THREADS + 1), LN_INVALID);
    CHECK_FAILS(ln_context_set_threads(NULL, 1), LN_INVALID);
    CHECK_EQ(ln_context_thread_count(ctx), ln_thread_count_default());
    check_same(ctx);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(a_context_takes_the_threads_of_another)
{
    start();
    ln_context *owner = ln_context_create(), *a = load_net(2), *b = load_net(1);
    CHECK_OK(ln_context_set_threads(owner, 3));
    CHECK_OK(ln_context_set_threads_of(a, owner));
    CHECK_OK(ln_context_set_threads_of(b, owner));
    CHECK_EQ(ln_context_thread_count(a), 3);
    CHECK_EQ(ln_context_thread_count(b), 3);
    ln_context_free(owner); // they hold the threads
    check_same(a);
    check_same(b);
    CHECK_EQ(ln_context_set_threads_of(a, NULL), LN_INVALID);
    CHECK_EQ(ln_context_set_threads_of(NULL, a), LN_INVALID);
    close_context(a);
    check_same(b);
    close_context(b);
    ln_arch_cleanup();
}

// ---- Tasks of an operator ----

enum { TASK_COUNT = 64, INNER_COUNT = 3 };

// Y counts how often each task ran, and at its end the tasks inside.
typedef struct row_of_tasks {
    const ln_call *call;
    atomic_int done[TASK_COUNT], inner;
} row_of_tasks;

static ln_cancel *cancel_in_task; // NULL: nothing is cancelled

static ln_status infer_counts(ln_call *call)
{
    return ln_call_out(call, 0, TL_INT32, 1, (const int[]){TASK_COUNT + 1});
}

static void do_inner(void *user, size_t index)
{
    (void)index;
    atomic_fetch_add(&((row_of_tasks *)user)->inner, 1);
}

static void do_outer(void *user, size_t index)
{
    row_of_tasks *row = user;
    if (cancel_in_task)
        ln_cancel_request(cancel_in_task);
    atomic_fetch_add(&row->done[index], 1);
    ln_call_run_tasks(row->call, INNER_COUNT, do_inner, row);
}

static atomic_int counts[TASK_COUNT + 1]; // of the last run, whatever became of it

static ln_status compute_counts(ln_call *call)
{
    row_of_tasks row = {.call = call};
    CHECK_EQ(ln_call_thread_count(call), 4);
    ln_call_run_tasks(call, TASK_COUNT, do_outer, &row);
    ln_call_run_tasks(call, 0, do_outer, &row);
    int32_t *y = ln_call_dst(call, 0)->data;
    for (int i = 0; i <= TASK_COUNT; i++) {
        y[i] = i < TASK_COUNT ? atomic_load(&row.done[i]) : atomic_load(&row.inner);
        atomic_store(&counts[i], y[i]);
    }
    return LN_OK;
}

TEST(an_operator_s_tasks_run_once_each_and_inside_each_other)
{
    start();
    static char archs[][5] = {"none", "ref"}, names[][12] = {"Counts", "Counts_ref"};
    ln_op_info infos[2];
    ln_op_arg args[2];
    ln_op ops[2];
    const ln_op *relu = ln_op_find("Relu");
    for (int i = 0; i < 2; i++) {
        infos[i] = *relu->op_arg->info;
        infos[i].infer = infer_counts;
        infos[i].compute = i ? compute_counts : NULL;
        args[i] = *relu->op_arg;
        args[i].optype = names[i];
        args[i].arch = archs[i];
        args[i].info = &infos[i];
        ops[i] = *relu;
        ops[i].op_arg = &args[i];
        ops[i].run = i ? ln_call_run : NULL;
        CHECK_OK(ln_op_register(&ops[i]));
    }
    ln_context *ctx =
        open_text("input(| dst=x | dtype=TL_FLOAT, dims=[2]);\nCounts(X=x | Y=y |);\n");
    CHECK_OK(ln_context_set_threads(ctx, 4));
    CHECK_OK(ln_context_compile(ctx, "ref"));
    CHECK_OK(ln_context_load(ctx, NULL));
    ln_cancel *cancel = ln_cancel_create();
    CHECK_NOT_NULL(cancel);
    for (int round = 0; round < 2; round++) {
        cancel_in_task = round ? cancel : NULL;
        CHECK_OK(ln_context_set_cancel(ctx, cancel));
        CHECK_EQ(ln_context_run(ctx), round ? LN_CANCELLED : LN_OK);
        for (int i = 0; i <= TASK_COUNT; i++)
            CHECK_EQ(atomic_exchange(&counts[i], 0), i < TASK_COUNT ? 1 : INNER_COUNT * TASK_COUNT);
    }
    cancel_in_task = NULL;
    close_context(ctx);
    ln_cancel_release(cancel);
    CHECK_OK(ln_op_unregister(names[1]));
    CHECK_OK(ln_op_unregister(names[0]));
    ln_arch_cleanup();
}

TEST(the_default_comes_from_the_environment)
{
    start();
    CHECK_EQ(setenv("LN_THREADS", "3", 1), 0);
    ln_context *ctx = load_net(0);
    CHECK_EQ(ln_context_thread_count(ctx), 3);
    check_same(ctx);
    close_context(ctx);
    CHECK_EQ(unsetenv("LN_THREADS"), 0);
    ln_arch_cleanup();
}

TEST(contexts_of_the_default_share_their_threads)
{
    start();
    CHECK_EQ(setenv("LN_THREADS", "4", 1), 0);
    ln_context *a = load_net(0), *b = load_net(0), *c = load_net(4);
    CHECK_PTR_EQ(a->pool, b->pool);
    CHECK(c->pool != a->pool);
    close_context(a);
    check_same(b);
    check_same(c);
    close_context(b);
    close_context(c);
    CHECK_EQ(unsetenv("LN_THREADS"), 0);
    ln_arch_cleanup();
}

TEST(threads_outlive_unloading_and_another_model)
{
    start();
    ln_context *ctx = load_net(3);
    ln_context_unload(ctx);
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_EQ(ln_context_thread_count(ctx), 3);
    ln_context_cleanup(ctx);
    CHECK_OK(ln_context_init_mem(ctx, SMALL_MODEL, strlen(SMALL_MODEL), NULL));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_EQ(ln_context_thread_count(ctx), 3);
    CHECK_OK(ln_context_run(ctx));
    close_context(ctx);
    ln_arch_cleanup();
}

// ---- Clones ----

static void *run_clone(void *argument)
{
    ln_context *ctx = argument;
    float *y = malloc(OUT_BYTES);
    const char *fault = y ? NULL : "no memory";
    for (int i = 0; i < 20 && !fault; i++) {
        if (ln_context_run(ctx) != LN_OK || !ln_context_get_data(ctx, "y", y))
            fault = "a run failed";
        else if (memcmp(y, expected, OUT_BYTES) != 0)
            fault = "other bits";
    }
    free(y);
    return (void *)(uintptr_t)fault;
}

static void run_clones(ln_context *ctx)
{
    enum { COUNT = 6 };
    ln_context *clones[COUNT];
    pthread_t threads[COUNT];
    for (int i = 0; i < COUNT; i++) {
        CHECK_OK(ln_context_clone(ctx, &clones[i]));
        CHECK_PTR_EQ(clones[i]->pool, ctx->pool);
        set_random(clones[i], "x", 1);
    }
    close_context(ctx);
    for (int i = 0; i < COUNT; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, run_clone, clones[i]), 0);
    for (int i = 0; i < COUNT; i++) {
        void *fault;
        pthread_join(threads[i], &fault);
        if (fault)
            fail_msg("clone %d: %s", i, (const char *)fault);
        close_context(clones[i]);
    }
}

TEST(clones_run_side_by_side_on_one_pool)
{
    start();
    for (size_t count = 2; count <= 4; count++)
        run_clones(load_net(count));
    ln_arch_cleanup();
}

// ---- The caller's threads ----

typedef struct callers_pool {
    atomic_int inside, begins, ends, jobs, faults;
} callers_pool;

static void begin_jobs(void *user)
{
    callers_pool *c = user;
    c->faults += atomic_fetch_add(&c->inside, 1) != 0;
    c->begins++;
}

static void end_jobs(void *user)
{
    callers_pool *c = user;
    c->ends++;
    atomic_fetch_sub(&c->inside, 1);
}

typedef struct half {
    size_t first, count;
    ln_pool_task *task;
    void *job;
} half;

static void *do_half(void *argument)
{
    half *h = argument;
    for (size_t i = h->first; i < h->count; i += 2)
        h->task(h->job, i);
    return NULL;
}

static void run_jobs(void *user, size_t count, ln_pool_task *task, void *job)
{
    callers_pool *c = user;
    c->jobs++;
    half even = {0, count, task, job}, odd = {1, count, task, job};
    pthread_t thread;
    if (pthread_create(&thread, NULL, do_half, &odd) != 0) {
        do_half(&even);
        do_half(&odd);
        return;
    }
    do_half(&even);
    pthread_join(thread, NULL);
}

TEST(a_program_brings_its_own_threads)
{
    start();
    callers_pool c = {0};
    ln_thread_pool functions = {
        .thread_count = 2, .run = run_jobs, .begin = begin_jobs, .end = end_jobs, .user = &c};
    ln_context *ctx = load_net(1);
    CHECK_OK(ln_context_set_pool(ctx, &functions));
    CHECK_EQ(ln_context_thread_count(ctx), 2);
    check_same(ctx);
    CHECK_EQ(c.begins, 1);
    CHECK_EQ(c.ends, 1);
    CHECK(c.jobs > 0);
    ln_context_unload(ctx);
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_EQ(ln_context_thread_count(ctx), 2);
    static const char *const names[] = {"x", "w1", "b1", "w2", "w3", "b3"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        set_random(ctx, names[i], i + 1);
    check_same(ctx);
    run_clones(ctx); // frees it
    CHECK_EQ(c.begins, c.ends);
    CHECK_EQ(c.faults, 0);

    functions.run = NULL;
    ctx = load_net(2);
    CHECK_FAILS(ln_context_set_pool(ctx, &functions), LN_INVALID);
    CHECK_EQ(ln_context_thread_count(ctx), 2);
    CHECK_OK(ln_context_set_pool(ctx, NULL));
    CHECK_EQ(ln_context_thread_count(ctx), ln_thread_count_default());
    check_same(ctx);
    close_context(ctx);
    ln_arch_cleanup();
}

// ---- Rounding ----

// Whatever a program has set for itself; and it finds it as it was.
TEST(the_caller_s_rounding_is_left_alone_and_leaves_bits_alone)
{
    start();
    for (size_t count = 1; count <= 3; count += 2) {
        ln_context *ctx = load_net(count);
        CHECK_EQ(fesetround(FE_UPWARD), 0);
        run_net(ctx, got);
        int mode = fegetround();
        CHECK_EQ(fesetround(FE_TONEAREST), 0);
        CHECK_EQ(mode, FE_UPWARD);
        CHECK_MEM_EQ(got, expected, OUT_BYTES);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// ---- Memory ----

TEST(threads_without_memory_are_an_error_of_loading)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(SMALL_MODEL);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_set_threads(ctx, 3));
    for (size_t allowed = 0;; allowed++) {
        test_oom oom;
        test_oom_start(&oom, allowed);
        ln_status status = ln_context_load(ctx, NULL);
        test_oom_stop();
        if (status == LN_OK)
            break;
        CHECK_EQ(status, LN_NO_MEMORY);
        CHECK_EQ(ctx->state, LN_CONTEXT_PLANNED);
    }
    CHECK_EQ(ln_context_thread_count(ctx), 3);
    for (size_t allowed = 0;; allowed++) {
        test_oom oom;
        test_oom_start(&oom, allowed);
        ln_status status = ln_context_set_threads(ctx, 2);
        test_oom_stop();
        if (status == LN_OK)
            break;
        CHECK_EQ(status, LN_NO_MEMORY);
        CHECK_EQ(ln_context_thread_count(ctx), 3);
    }
    CHECK_OK(ln_context_run(ctx));
    close_context(ctx);
    ln_arch_cleanup();
}

TEST_LIST(every_count_gives_the_same_bits, counts_change_at_any_time,
          a_context_takes_the_threads_of_another, the_default_comes_from_the_environment,
          contexts_of_the_default_share_their_threads, threads_outlive_unloading_and_another_model,
          clones_run_side_by_side_on_one_pool, a_program_brings_its_own_threads,
          the_caller_s_rounding_is_left_alone_and_leaves_bits_alone,
          an_operator_s_tasks_run_once_each_and_inside_each_other,
          threads_without_memory_are_an_error_of_loading)
