// SPDX-License-Identifier: Apache-2.0
// Another thread ends what a context does.

#include "tests/api/model.h"

#include <pthread.h>
#include <time.h>

// Minutes on ref, in one operator.
#define LONG_MODEL                                                                                 \
    "input(| dst=x | dtype=TL_FLOAT, dims=[3000, 3000]);\n"                                        \
    "MatMul(A=x, B=x | Y=a |);\n"                                                                  \
    "MatMul(A=a, B=x | Y=y |);\n"

static void check_state(const ln_context *ctx, ln_context_state state)
{
    CHECK_EQ(ln_context_get_state(ctx), state);
}

// ---- A request before the work: every kind of call looks at it ----

TEST(what_is_cancelled_before_it_begins_ends_in_each_kind_of_call)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = ln_context_create();
    ln_cancel *cancel = ln_cancel_create();
    CHECK(ctx && cancel && !ln_cancel_is_requested(cancel));
    CHECK_OK(ln_context_set_cancel(ctx, cancel));
    ln_cancel_request(cancel);
    ln_cancel_request(cancel); // as good as once
    CHECK(ln_cancel_is_requested(cancel));

    const char *text = CONV_MODEL;
    CHECK_FAILS(ln_context_init_mem(ctx, text, strlen(text), NULL), LN_CANCELLED);
    CHECK_MESSAGE("planning was cancelled in operator 'input0'");
    check_state(ctx, LN_CONTEXT_EMPTY);
    CHECK_OK(ln_context_set_cancel(ctx, NULL));
    CHECK_OK(ln_context_init_mem(ctx, text, strlen(text), NULL));

    CHECK_OK(ln_context_set_cancel(ctx, cancel));
    CHECK_FAILS(ln_context_compile(ctx, "cpu"), LN_CANCELLED);
    CHECK_MESSAGE("planning was cancelled");
    check_state(ctx, LN_CONTEXT_READY);
    CHECK_OK(ln_context_set_cancel(ctx, NULL));
    CHECK_OK(ln_context_compile(ctx, "cpu"));

    CHECK_OK(ln_context_set_cancel(ctx, cancel));
    CHECK_FAILS(ln_context_load(ctx, NULL), LN_CANCELLED);
    CHECK_MESSAGE("loading was cancelled");
    check_state(ctx, LN_CONTEXT_PLANNED);
    CHECK_OK(ln_context_set_cancel(ctx, NULL));
    CHECK_OK(ln_context_load(ctx, NULL));

    CHECK_OK(ln_context_set_cancel(ctx, cancel));
    CHECK_FAILS(ln_context_run(ctx), LN_CANCELLED);
    CHECK_MESSAGE("the run was cancelled");
    CHECK_STR_EQ(ln_status_name(LN_CANCELLED), "LN_CANCELLED");
    check_state(ctx, LN_CONTEXT_LOADED);
    CHECK_OK(ln_context_set_cancel(ctx, NULL));
    CHECK_OK(ln_context_run(ctx));
    ln_cancel_release(cancel);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(a_clone_begins_without_and_a_context_holds_its_own)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(SMALL_MODEL, "cpu"), *clone;
    ln_cancel *cancel = ln_cancel_create();
    CHECK_OK(ln_context_set_cancel(ctx, cancel));
    CHECK_OK(ln_context_set_cancel(ctx, cancel));
    CHECK_OK(ln_context_clone(ctx, &clone));
    ln_cancel_request(cancel);
    ln_cancel_release(cancel); // the context still holds it
    CHECK_FAILS(ln_context_run(ctx), LN_CANCELLED);
    CHECK_OK(ln_context_run(clone));
    CHECK_FAILS(ln_context_set_cancel(NULL, NULL), LN_INVALID);
    ln_cancel_request(NULL);
    ln_cancel_release(NULL);
    CHECK(!ln_cancel_retain(NULL) && !ln_cancel_is_requested(NULL));
    close_context(clone);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(a_reshape_is_cancelled_and_leaves_the_model_as_it_was)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx =
        open_text("input(| dst=x | dtype=TL_FLOAT, dims=[-1, 4], names=[\"n\", \"\"]);\n"
                  "Relu(X=x | Y=y |);\n");
    CHECK_OK(ln_context_set_symbol(ctx, "n", 2));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    ln_cancel *cancel = ln_cancel_create();
    CHECK_OK(ln_context_set_cancel(ctx, cancel));
    const ln_input_shape larger = {.tname = "x", .ndim = 2, .dims = (int[]){5, 4}};
    ln_cancel_request(cancel);
    CHECK_FAILS(ln_context_reshape(ctx, 1, &larger), LN_CANCELLED);
    check_state(ctx, LN_CONTEXT_LOADED);
    CHECK_EQ(ln_context_tensor_dim(ctx, "y", 0), 2);
    CHECK_OK(ln_context_set_cancel(ctx, NULL));
    CHECK_OK(ln_context_reshape(ctx, 1, &larger));
    CHECK_EQ(ln_context_tensor_dim(ctx, "y", 0), 5);
    ln_cancel_release(cancel);
    close_context(ctx);
    ln_arch_cleanup();
}

// ---- A request in the middle of the work, from another thread ----

static void *request_soon(void *argument)
{
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    ln_cancel_request(argument);
    return NULL;
}

static void check_run_ends(const char *target, size_t thread_count)
{
    ln_context *ctx = open_text(LONG_MODEL);
    CHECK_OK(ln_context_set_threads(ctx, thread_count));
    CHECK_OK(ln_context_compile(ctx, target));
    CHECK_OK(ln_context_load(ctx, NULL));
    for (int i = 0; i < 2; i++) {
        ln_cancel *cancel = ln_cancel_create();
        CHECK_OK(ln_context_set_cancel(ctx, cancel));
        pthread_t thread;
        CHECK_EQ(pthread_create(&thread, NULL, request_soon, cancel), 0);
        ln_status status = LN_OK; // on cpu a run may be over before
        while (status == LN_OK)
            status = ln_context_run(ctx);
        CHECK_EQ(status, LN_CANCELLED);
        CHECK_MESSAGE("the run was cancelled in operator");
        CHECK_EQ(pthread_join(thread, NULL), 0);
        ln_cancel_release(cancel);
        check_state(ctx, LN_CONTEXT_LOADED);
    }
    close_context(ctx);
}

TEST(a_run_ends_when_another_thread_asks_and_goes_on_next_time)
{
    CHECK_OK(ln_arch_init());
    check_run_ends("ref", 1);
    check_run_ends("ref", 4);
    check_run_ends("cpu", 1);
    check_run_ends("cpu", 4);
    ln_arch_cleanup();
}

// A run after a cancelled one gives what it gives.
TEST(what_runs_again_computes_the_same)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(CONV_MODEL, "cpu");
    static float x[192], before[256], after[256];
    for (int i = 0; i < 192; i++)
        x[i] = (float)(i % 7) - 3;
    CHECK_OK(ln_context_set_data_n(ctx, "x", x, sizeof x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_get_data_n(ctx, "y", before, sizeof before));
    ln_cancel *cancel = ln_cancel_create();
    ln_cancel_request(cancel);
    CHECK_OK(ln_context_set_cancel(ctx, cancel));
    CHECK_FAILS(ln_context_run(ctx), LN_CANCELLED);
    CHECK_OK(ln_context_set_cancel(ctx, NULL));
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_get_data_n(ctx, "y", after, sizeof after));
    CHECK_MEM_EQ(before, after, sizeof before);
    ln_cancel_release(cancel);
    close_context(ctx);
    ln_arch_cleanup();
}

#define IN(name)  "input(| dst=" name " | dtype=TL_FLOAT, dims=[], open=true);\n"
#define OUT(name) "output(src=" name " | |);\n"

// More rounds than a year has time for; the message names the operator inside.
TEST(a_loop_ends_inside_its_body)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx =
        open_text("input(| dst=n | dtype=TL_INT64, dims=[]);\n"
                  "input(| dst=x | dtype=TL_FLOAT, dims=[9]);\n"
                  "Loop(M=n, v_initial1=x | v_final_and_scan_outputs1=y | body=\"body\");\n" OUT(
                      "y") "graph body {\n" IN("i") IN("go") IN("s") "Neg(X=s | Y=t |);\n" OUT("go")
                      OUT("t") "}\n");
    ln_limits limits = ln_limits_default();
    limits.work = 1e30;
    ln_context_set_limits(ctx, &limits);
    CHECK_OK(ln_context_compile(ctx, "ref"));
    CHECK_OK(ln_context_load(ctx, NULL));
    int64_t rounds = INT64_MAX;
    CHECK_OK(ln_context_set_data_n(ctx, "n", &rounds, sizeof rounds));
    ln_cancel *cancel = ln_cancel_create();
    CHECK_OK(ln_context_set_cancel(ctx, cancel));
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, request_soon, cancel), 0);
    CHECK_FAILS(ln_context_run(ctx), LN_CANCELLED);
    CHECK_MESSAGE("the run was cancelled in operator");
    CHECK_EQ(pthread_join(thread, NULL), 0);
    rounds = 2;
    CHECK_OK(ln_context_set_cancel(ctx, NULL));
    CHECK_OK(ln_context_set_data_n(ctx, "n", &rounds, sizeof rounds));
    CHECK_OK(ln_context_run(ctx));
    ln_cancel_release(cancel);
    close_context(ctx);
    ln_arch_cleanup();
}

// ---- A run inside a run ----

typedef struct inner_run {
    ln_context *ctx;
    ln_status status;
    int count;
} inner_run;

// The time of the outer run is over before that of the inner one begins.
static void run_inner(void *user, const ln_op *op)
{
    (void)op;
    inner_run *inner = user;
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    inner->status = ln_context_run(inner->ctx);
    inner->count++;
}

TEST(a_run_that_an_operator_starts_ends_with_the_time_of_the_outer_one)
{
    CHECK_OK(ln_arch_init());
    ln_context *outer = load_text(SMALL_MODEL, "ref");
    inner_run inner = {.ctx = load_text(SMALL_MODEL, "ref")};
    const ln_observer observer = {.before = run_inner, .user = &inner};
    CHECK_OK(ln_context_set_observer(outer, &observer));
    // An own limit that is further away, or none, is no reason to go on.
    for (int i = 0; i < 2; i++) {
        inner.count = 0;
        CHECK_OK(ln_context_set_timeout(inner.ctx, i * 1000));
        CHECK_OK(ln_context_set_timeout(outer, 0.001));
        CHECK_FAILS(ln_context_run(outer), LN_TIMEOUT);
        CHECK_EQ(inner.count, 1);
        CHECK_EQ(inner.status, LN_TIMEOUT);
        CHECK_OK(ln_context_run(inner.ctx)); // on its own
    }
    // An outer limit that is further away does not lengthen the own one.
    CHECK_OK(ln_context_set_timeout(inner.ctx, 1e-9));
    CHECK_OK(ln_context_set_timeout(outer, 1000));
    (void)ln_context_run(outer);
    CHECK_EQ(inner.status, LN_TIMEOUT);
    close_context(inner.ctx);
    close_context(outer);
    ln_arch_cleanup();
}

TEST_LIST(what_is_cancelled_before_it_begins_ends_in_each_kind_of_call,
          a_clone_begins_without_and_a_context_holds_its_own,
          a_reshape_is_cancelled_and_leaves_the_model_as_it_was,
          a_run_ends_when_another_thread_asks_and_goes_on_next_time,
          what_runs_again_computes_the_same, a_loop_ends_inside_its_body,
          a_run_that_an_operator_starts_ends_with_the_time_of_the_outer_one)
