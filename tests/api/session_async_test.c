// SPDX-License-Identifier: Apache-2.0
// Runs in a session's own thread: who waits, what is refused meanwhile, and how they end.

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <lightnet/call.h>
#include <lightnet/op_info.h>
#include <lightnet/op_support.h>
#include <lightnet/program.h>

#include "base/deadline.h"
#include "tests/api/model.h"
#include "tests/oom.h"

// ---- An operator that a run stays in until it is let go, or is to end ----

static atomic_int is_closed, is_inside, is_masked;

static ln_status infer_gate(ln_call *call)
{
    return ln_call_out_like(call, 0, 0);
}

static ln_status compute_gate(ln_call *call)
{
    const float *x = ln_call_in(call, 0)->data;
    float *y = ln_call_dst(call, 0)->data;
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    atomic_store(&is_masked, sigismember(&mask, SIGUSR1));
    atomic_store(&is_inside, 1);
    while (atomic_load(&is_closed) && !ln_deadline_passed())
        continue;
    atomic_store(&is_inside, 0);
    for (int i = 0; i < ln_call_in(call, 0)->len; i++)
        y[i] = x[i] + 1;
    return LN_OK;
}

static struct {
    ln_op_info infos[2];
    ln_op_arg args[2];
    ln_op ops[2];
} gate;

static void open_library(void)
{
    static char names[2][16] = {"Gate", "Gate_ref"}, archs[2][5] = {"none", "ref"};
    CHECK_OK(ln_arch_init());
    const ln_op *relu = ln_op_find("Relu");
    for (int i = 0; i < 2; i++) {
        gate.infos[i] = *relu->op_arg->info;
        gate.infos[i].infer = infer_gate;
        gate.infos[i].compute = i ? compute_gate : NULL;
        gate.infos[i].prepare = NULL;
        gate.infos[i].workspace = NULL;
        gate.args[i] = *relu->op_arg;
        gate.args[i].optype = names[i];
        gate.args[i].arch = archs[i];
        gate.args[i].info = &gate.infos[i];
        gate.ops[i] = *relu;
        gate.ops[i].op_arg = &gate.args[i];
        gate.ops[i].run = i ? ln_call_run : NULL;
        CHECK_OK(ln_op_register(&gate.ops[i]));
    }
    atomic_store(&is_closed, 0);
}

static void close_library(void)
{
    CHECK_OK(ln_op_unregister("Gate_ref"));
    CHECK_OK(ln_op_unregister("Gate"));
    ln_arch_cleanup();
}

#define FIXED                                                                                      \
    "input(| dst=x | dtype=TL_FLOAT, dims=[2]);\n"                                                 \
    "Gate(X=x | Y=y |);\n"
#define DYNAMIC                                                                                    \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1]);\n"                                                \
    "Gate(X=x | Y=y |);\n"

static ln_session *session_of(const char *text)
{
    ln_context *ctx = load_text(text, "ref");
    ln_program *program;
    ln_session *session;
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK_OK(ln_session_create(program, &session));
    ln_program_release(program);
    close_context(ctx);
    return session;
}

static void set_x(ln_session *session, float first)
{
    ln_object *x = ln_object_new_tensor(TL_FLOAT, 1, (int[]){2}, NULL);
    CHECK_NOT_NULL(x);
    ((float *)ln_object_tensor(x)->data)[0] = first;
    CHECK_OK(ln_session_set_object(session, "x", x));
    ln_object_release(x);
}

static float first_of_y(const ln_session *session)
{
    const tl_tensor *y;
    CHECK_OK(ln_session_borrow_tensor(session, "y", &y));
    return ((const float *)y->data)[0];
}

static void wait_until_inside(void)
{
    while (!atomic_load(&is_inside))
        continue;
}

// ---- Waiting ----

TEST(runs_go_on_beside_their_caller)
{
    static const char *const models[] = {FIXED, DYNAMIC};
    open_library();
    for (int m = 0; m < 2; m++) {
        ln_session *session = session_of(models[m]);
        for (int round = 0; round < 3; round++) {
            int has_ended = 7;
            set_x(session, (float)round);
            atomic_store(&is_closed, 1);
            CHECK_OK(ln_session_run_async(session, NULL, NULL));
            wait_until_inside();
            CHECK_OK(ln_session_poll(session, 0, &has_ended));
            CHECK_EQ(has_ended, 0);
            CHECK_OK(ln_session_poll(session, 1e-4, &has_ended));
            CHECK_EQ(has_ended, 0);
            atomic_store(&is_closed, 0);
            CHECK_OK(ln_session_wait(session));
            CHECK_OK(ln_session_wait(session)); // the same again
            CHECK_OK(ln_session_poll(session, 0, &has_ended));
            CHECK_EQ(has_ended, 1);
            CHECK_NEAR(first_of_y(session), round + 1, 0);
            CHECK(atomic_load(&is_masked)); // signals are the program's
        }
        set_x(session, 20); // and a run of the caller's after them
        CHECK_OK(ln_session_run(session));
        CHECK_NEAR(first_of_y(session), 21, 0);
        ln_session_free(session);
    }
    close_library();
}

#define LONG                                                                                       \
    "input(| dst=x | dtype=TL_FLOAT, dims=[2]);\n"                                                 \
    "func(src=x | dst=a | func=sin);\n"                                                            \
    "Gate(X=a | Y=b |);\n"                                                                         \
    "func(src=b | dst=y | func=cos);\n"

static void *run_context(void *ctx)
{
    return ln_context_run(ctx) == LN_OK ? ctx : NULL;
}

static void check_half(double done, double total)
{
    CHECK(done > 0 && done < total);
    atomic_store(&is_closed, 0);
}

TEST(other_threads_see_how_far_a_run_of_a_context_is)
{
    open_library();
    ln_context *ctx = load_text(LONG, "ref");
    double done = -1, total = -1;
    CHECK_OK(ln_context_progress(ctx, &done, &total));
    CHECK(done == 0 && total == 0);
    CHECK_FAILS(ln_context_progress(NULL, &done, &total), LN_INVALID);
    for (int round = 0; round < 3; round++) {
        pthread_t thread;
        void *result;
        atomic_store(&is_closed, 1);
        CHECK_EQ(pthread_create(&thread, NULL, run_context, ctx), 0);
        wait_until_inside();
        CHECK_OK(ln_context_progress(ctx, &done, &total));
        check_half(done, total);
        pthread_join(thread, &result);
        CHECK_NOT_NULL(result);
        CHECK_OK(ln_context_progress(ctx, &done, NULL));
        CHECK(done == total);
    }
    ln_program *program;
    ln_session *session;
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK_OK(ln_session_create(program, &session));
    atomic_store(&is_closed, 1);
    CHECK_OK(ln_session_run_async(session, NULL, NULL));
    wait_until_inside();
    CHECK_OK(ln_session_progress(session, &done, &total));
    check_half(done, total);
    CHECK_OK(ln_session_wait(session));
    ln_session_free(session);
    ln_program_release(program);
    close_context(ctx);
    close_library();
}

TEST(a_poll_ends_when_the_run_does)
{
    open_library();
    ln_session *session = session_of(FIXED);
    int has_ended;
    CHECK_OK(ln_session_run_async(session, NULL, NULL));
    CHECK_OK(ln_session_poll(session, 1e30, &has_ended));
    CHECK_EQ(has_ended, 1);
    ln_session_free(session);
    close_library();
}

TEST(a_session_that_runs_can_only_be_waited_for)
{
    static const char *const models[] = {FIXED, DYNAMIC};
    open_library();
    for (int m = 0; m < 2; m++) {
        ln_session *session = session_of(models[m]);
        set_x(session, 5);
        atomic_store(&is_closed, 1);
        CHECK_OK(ln_session_run_async(session, NULL, NULL));
        wait_until_inside();
        float values[2] = {0};
        const tl_tensor *tensor;
        const tl_tensor given = {
            .dtype = TL_FLOAT, .ndim = 1, .len = 2, .dims = (int[]){2}, .data = values};
        const void *data;
        size_t byte_count;
        ln_object *object;
        CHECK_FAILS(ln_session_run(session), LN_STATE);
        CHECK_MESSAGE("ln_session_wait");
        CHECK_FAILS(ln_session_run_async(session, NULL, NULL), LN_STATE);
        CHECK_FAILS(ln_session_set_data(session, "x", values, sizeof values), LN_STATE);
        CHECK_FAILS(ln_session_get_data(session, "y", values, sizeof values), LN_STATE);
        CHECK_FAILS(ln_session_borrow_data(session, "y", &data, &byte_count), LN_STATE);
        CHECK_FAILS(ln_session_borrow_tensor(session, "y", &tensor), LN_STATE);
        CHECK_FAILS(ln_session_get_object(session, "y", &object), LN_STATE);
        CHECK_FAILS(ln_session_set_object(session, "x", NULL), LN_STATE);
        CHECK_FAILS(ln_session_bind_input(session, "x", &given), LN_STATE);
        CHECK_FAILS(ln_session_bind_output(session, "y", values, sizeof values), LN_STATE);
        CHECK_FAILS(ln_session_set_timeout(session, 1), LN_STATE);
        CHECK_FAILS(ln_session_set_cancel(session, NULL), LN_STATE);
        CHECK_EQ(ln_session_tensor_rank(session, "x"), 1); // what the model states
        atomic_store(&is_closed, 0);
        CHECK_OK(ln_session_wait(session));
        CHECK_NEAR(first_of_y(session), 6, 0);
        ln_session_free(session);
    }
    close_library();
}

TEST(what_cannot_be_waited_for_is_refused)
{
    open_library();
    ln_session *session = session_of(FIXED);
    int has_ended;
    CHECK_FAILS(ln_session_wait(session), LN_STATE);
    CHECK_MESSAGE("ln_session_run_async");
    CHECK_FAILS(ln_session_poll(session, 0, &has_ended), LN_STATE);
    CHECK_FAILS(ln_session_wait(NULL), LN_INVALID);
    CHECK_FAILS(ln_session_poll(NULL, 0, &has_ended), LN_INVALID);
    CHECK_FAILS(ln_session_poll(session, 0, NULL), LN_INVALID);
    CHECK_FAILS(ln_session_run_async(NULL, NULL, NULL), LN_INVALID);
    CHECK_OK(ln_session_run_async(session, NULL, NULL));
    CHECK_FAILS(ln_session_poll(session, -1, &has_ended), LN_INVALID);
    CHECK_FAILS(ln_session_poll(session, 0.0 / 0.0, &has_ended), LN_INVALID);
    ln_session_free(session);
    close_library();
}

// ---- Ends ----

TEST(a_failure_comes_to_who_waits)
{
    open_library();
    ln_session *session = session_of(DYNAMIC); // whose input has no value
    CHECK_OK(ln_session_run_async(session, NULL, NULL));
    CHECK_FAILS(ln_session_wait(session), LN_STATE);
    CHECK_MESSAGE("tensor 'x' has no value");
    ln_error_clear();
    CHECK_FAILS(ln_session_wait(session), LN_STATE); // again the same
    CHECK_MESSAGE("tensor 'x' has no value");
    set_x(session, 1);
    CHECK_OK(ln_session_run_async(session, NULL, NULL));
    CHECK_OK(ln_session_wait(session));
    CHECK_NEAR(first_of_y(session), 2, 0);
    ln_session_free(session);
    close_library();
}

TEST(a_cancel_and_a_timeout_end_it)
{
    static const char *const models[] = {FIXED, DYNAMIC};
    open_library();
    for (int m = 0; m < 2; m++) {
        ln_session *session = session_of(models[m]);
        set_x(session, 1);
        atomic_store(&is_closed, 1);
        ln_cancel *cancel = ln_cancel_create();
        CHECK_OK(ln_session_set_cancel(session, cancel));
        CHECK_OK(ln_session_run_async(session, NULL, NULL));
        wait_until_inside();
        ln_cancel_request(cancel);
        CHECK_FAILS(ln_session_wait(session), LN_CANCELLED);
        CHECK_OK(ln_session_set_cancel(session, NULL));
        ln_cancel_release(cancel);
        CHECK_OK(ln_session_set_timeout(session, 0.01));
        CHECK_OK(ln_session_run_async(session, NULL, NULL));
        CHECK_FAILS(ln_session_wait(session), LN_TIMEOUT);
        CHECK_OK(ln_session_set_timeout(session, 0));
        atomic_store(&is_closed, 0);
        CHECK_OK(ln_session_run_async(session, NULL, NULL));
        CHECK_OK(ln_session_wait(session));
        CHECK_NEAR(first_of_y(session), 2, 0);
        ln_session_free(session);
    }
    close_library();
}

// A session that is freed waits for its run: the operator has left when it is gone.
TEST(freeing_waits)
{
    open_library();
    ln_session *session = session_of(FIXED);
    ln_cancel *cancel = ln_cancel_create();
    atomic_store(&is_closed, 1);
    CHECK_OK(ln_session_set_cancel(session, cancel));
    CHECK_OK(ln_session_run_async(session, NULL, NULL));
    wait_until_inside();
    ln_cancel_request(cancel);
    ln_session_free(session);
    CHECK_EQ(atomic_load(&is_inside), 0);
    ln_cancel_release(cancel);
    close_library();
}

// ---- Callbacks ----

static struct {
    ln_session *session;
    atomic_int call_count;
    ln_status status;
    float y;
    int refused;
    char message[256];
} told;

static void note_end(void *user, ln_status status)
{
    int has_ended;
    CHECK_PTR_EQ(user, &told);
    told.status = status;
    snprintf(told.message, sizeof told.message, "%s", ln_error_message());
    if (status == LN_OK) {
        told.y = first_of_y(told.session);
        set_x(told.session, 30);
        told.refused = ln_session_run(told.session) == LN_STATE;
        told.refused += ln_session_run_async(told.session, NULL, NULL) == LN_STATE;
        told.refused += ln_session_wait(told.session) == LN_STATE;
        told.refused += ln_session_poll(told.session, 0, &has_ended) == LN_STATE;
    }
    atomic_fetch_add(&told.call_count, 1);
}

TEST(a_callback_hears_of_the_end_before_who_waits)
{
    open_library();
    told.session = session_of(DYNAMIC);
    atomic_store(&told.call_count, 0);
    CHECK_OK(ln_session_run_async(told.session, note_end, &told));
    CHECK_FAILS(ln_session_wait(told.session), LN_STATE);
    CHECK_EQ(atomic_load(&told.call_count), 1);
    CHECK_EQ(told.status, LN_STATE);
    CHECK(strstr(told.message, "tensor 'x' has no value"));
    set_x(told.session, 3);
    CHECK_OK(ln_session_run_async(told.session, note_end, &told));
    CHECK_OK(ln_session_wait(told.session));
    CHECK_EQ(atomic_load(&told.call_count), 2);
    CHECK_EQ(told.status, LN_OK);
    CHECK_NEAR(told.y, 4, 0);
    CHECK_EQ(told.refused, 4);
    CHECK_OK(ln_session_run(told.session)); // what the callback has set, and nobody is told
    CHECK_NEAR(first_of_y(told.session), 31, 0);
    CHECK_EQ(atomic_load(&told.call_count), 2);
    ln_session_free(told.session);
    close_library();
}

static void free_session(void *user, ln_status status)
{
    CHECK_OK(status);
    ln_session_free(user);
    atomic_fetch_add(&told.call_count, 1);
}

TEST(a_callback_may_free_the_session)
{
    open_library();
    ln_context *ctx = load_text(FIXED, "ref");
    ln_program *program;
    ln_session *session;
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK_OK(ln_session_create(program, &session));
    atomic_store(&told.call_count, 0);
    CHECK_OK(ln_session_run_async(session, free_session, session));
    while (!atomic_load(&told.call_count))
        continue;
    ln_program_release(program);
    close_context(ctx);
    nanosleep(&(struct timespec){.tv_nsec = 10000000},
              NULL); // the thread frees after the callback; a leak checker looks at the end
    close_library();
}

// ---- Processes ----

TEST(a_child_process_has_no_run_of_its_parents)
{
    if (TEST_TSAN)
        SKIP("the sanitizer takes no threads in a child of threads");
    open_library();
    ln_session *idle = session_of(FIXED), *busy = session_of(FIXED);
    CHECK_OK(ln_session_run_async(idle, NULL, NULL));
    CHECK_OK(ln_session_wait(idle));
    atomic_store(&is_closed, 1);
    CHECK_OK(ln_session_run_async(busy, NULL, NULL));
    wait_until_inside();
    pid_t child = fork();
    if (child == 0) {
        int failed = ln_session_wait(busy) != LN_STATE;
        failed |= ln_session_run(busy) != LN_STATE;
        ln_session_free(busy);
        atomic_store(&is_closed, 0);
        failed |= ln_session_run_async(idle, NULL, NULL) != LN_OK;
        failed |= ln_session_wait(idle) != LN_OK;
        ln_session_free(idle);
        _exit(failed);
    }
    CHECK(child > 0);
    int status;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 0);
    atomic_store(&is_closed, 0);
    CHECK_OK(ln_session_wait(busy));
    ln_session_free(busy);
    ln_session_free(idle);
    close_library();
}

// ---- Without memory ----

TEST(no_memory_for_a_thread_is_a_failure)
{
    open_library();
    ln_context *ctx = load_text(FIXED, "ref");
    ln_program *program;
    CHECK_OK(ln_program_create(ctx, &program));
    OOM_SWEEP(n)
    {
        ln_session *session;
        if (ln_session_create(program, &session) != LN_OK)
            continue;
        ln_status status = ln_session_run_async(session, NULL, NULL);
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
        if (status == LN_OK)
            CHECK_OK(ln_session_wait(session));
        CHECK_OK(ln_session_run(session));
        ln_session_free(session);
    }
    ln_program_release(program);
    close_context(ctx);
    close_library();
}

// Last: the thread frees after the callback, which nobody waits for, and others change allocators.
TEST_LIST(runs_go_on_beside_their_caller, other_threads_see_how_far_a_run_of_a_context_is,
          a_poll_ends_when_the_run_does, a_session_that_runs_can_only_be_waited_for,
          what_cannot_be_waited_for_is_refused, a_failure_comes_to_who_waits,
          a_cancel_and_a_timeout_end_it, freeing_waits,
          a_callback_hears_of_the_end_before_who_waits, a_child_process_has_no_run_of_its_parents,
          no_memory_for_a_thread_is_a_failure, a_callback_may_free_the_session)
