// SPDX-License-Identifier: Apache-2.0
// Priorities of runs: what a device that is given work by several of them begins first.

#include <stdlib.h>
#include <time.h>

#include <lightnet/program.h>

#include "tests/api/model.h"
#include "tests/echo/echo.h"

enum { LEN = 64, MAX_RUNS = 16 };

// One group.
static const char model[] = "input(| dst=x | dtype=TL_FLOAT, dims=[64]);\n"
                            "func(src=x | dst=a | func=cos);\n"
                            "func(src=a | dst=y | func=atan);\n"
                            "output(src=y | |);\n";

static const char *const on_device[] = {"func0", NULL};

static ln_arch *open_echo(void)
{
    CHECK_OK(ln_arch_init());
    echo_fail(ECHO_NOTHING, 0);
    return echo_open(&(echo_settings){ECHO_DEFAULTS, .names = on_device, .has_wait_for = true});
}

static void close_echo(ln_arch *echo)
{
    CHECK_EQ(echo_live_groups(), 0);
    CHECK_EQ(echo_live_bytes(LN_MEM_DPU), 0);
    echo_close(echo);
    ln_arch_cleanup();
}

static ln_program *open_program(const char *text, bool fails_over)
{
    ln_program *program;
    ln_context *ctx = open_text(text);
    ln_optimize_options options = ln_optimize_options_default();
    options.fails_over = fails_over;
    CHECK_OK(ln_context_compile_with(ctx, "echo,ref", &options));
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_program_create(ctx, &program));
    close_context(ctx);
    return program;
}

static void await_starts(size_t count)
{
    while (echo_said_count("start") < count)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

// ---- Order ----

// A run for each priority starts its group while the device begins nothing; `expected` are the
// positions of the runs, in the order in which the device is to begin.
static void check_order(size_t count, const int *priorities, const int *expected)
{
    ln_arch *echo = open_echo();
    ln_program *program = open_program(model, false);
    ln_session *sessions[MAX_RUNS];
    echo_begun begun[MAX_RUNS];
    echo_forget();
    echo_hold(echo);
    for (size_t i = 0; i < count; i++) {
        CHECK_OK(ln_session_create(program, &sessions[i]));
        if (priorities[i] != LN_PRIORITY_DEFAULT)
            CHECK_OK(ln_session_set_priority(sessions[i], priorities[i]));
        CHECK_OK(ln_session_run_async(sessions[i], NULL, NULL));
        await_starts(i + 1);
    }
    echo_let_go(echo);
    for (size_t i = 0; i < count; i++) {
        CHECK_OK(ln_session_wait(sessions[i]));
        ln_session_free(sessions[i]);
    }
    CHECK_EQ(echo_list_begun(begun, MAX_RUNS), count);
    for (size_t i = 0; i < count; i++) {
        CHECK_EQ(begun[i].start, expected[i]);
        CHECK_EQ(begun[i].priority, priorities[expected[i]]);
    }
    ln_program_release(program);
    close_echo(echo);
}

TEST(a_device_begins_with_the_most_urgent_run)
{
    check_order(5, (int[]){0, 5, LN_PRIORITY_LEAST, LN_PRIORITY_MOST, -1}, (int[]){3, 1, 0, 4, 2});
}

TEST(runs_of_one_priority_begin_in_the_order_of_their_starts)
{
    check_order(6, (int[]){0, 0, 0, 0, 0, 0}, (int[]){0, 1, 2, 3, 4, 5});
    check_order(7, (int[]){2, 0, 2, -3, 0, 2, -3}, (int[]){0, 2, 5, 1, 4, 3, 6});
}

// ---- Which priority a device sees ----

static void check_begun(int priority)
{
    echo_begun begun[MAX_RUNS];
    size_t count = echo_list_begun(begun, MAX_RUNS);
    CHECK(count > 0);
    for (size_t i = 0; i < count; i++)
        CHECK_EQ(begun[i].priority, priority);
    CHECK_EQ(ln_run_priority(), 0);
    echo_forget();
}

static ln_object *make_x(int rows)
{
    ln_object *x = ln_object_new_tensor(TL_FLOAT, 2, (int[]){rows, 256}, NULL);
    CHECK_NOT_NULL(x);
    return x;
}

static void check_session(ln_program *program, int rows)
{
    ln_session *session;
    CHECK_OK(ln_session_create(program, &session));
    for (int priority = 9; priority >= -9; priority -= 6) {
        ln_object *x = rows > 0 ? make_x(rows++) : NULL;
        CHECK_OK(ln_session_set_priority(session, priority));
        if (x)
            CHECK_OK(ln_session_set_object(session, "x", x));
        ln_object_release(x);
        CHECK_OK(ln_session_run(session));
        check_begun(priority);
        CHECK_OK(ln_session_run(session));
        check_begun(priority);
    }
    ln_session_free(session);
}

TEST(runs_of_a_session_have_its_priority)
{
    ln_arch *echo = open_echo();
    for (int fails_over = 0; fails_over < 2; fails_over++) {
        ln_program *program = open_program(model, fails_over);
        echo_forget();
        check_session(program, 0);
        ln_program_release(program);
    }
    close_echo(echo);
}

// The shapes of each run are new: an instance for each, or a clone.
static const char dynamic[] =
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 256], names=[\"N\", \"\"]);\n"
    "create(| dst=w | dtype=TL_FLOAT, dims=[256, 512], ran=[-1, 1], data=[0]);\n"
    "linear(src=x, weight=w | dst=a |);\n"
    "func(src=a | dst=y | func=cos);\n"
    "output(src=y | |);\n";

static const char unplanned[] = "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 256]);\n"
                                "func(src=x | dst=a | func=cos);\n"
                                "NonZero(X=a | Y=y |);\n"
                                "output(src=y | |);\n";

TEST(so_have_runs_of_dynamic_shapes)
{
    ln_arch *echo = open_echo();
    for (int i = 0; i < 4; i++) {
        ln_program *program = open_program(i < 2 ? dynamic : unplanned, i % 2 == 1);
        echo_forget();
        check_session(program, 3);
        ln_program_release(program);
    }
    close_echo(echo);
}

TEST(contexts_hand_their_priority_to_clones_and_sessions)
{
    ln_arch *echo = open_echo();
    ln_context *ctx = load_text(model, "echo,ref"), *clone;
    ln_program *program;
    ln_session *session;
    CHECK_OK(ln_context_set_priority(ctx, 31));
    CHECK_OK(ln_context_clone(ctx, &clone));
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK_OK(ln_session_create(program, &session));
    echo_forget();
    CHECK_OK(ln_context_run(ctx));
    check_begun(31);
    CHECK_OK(ln_context_set_priority(ctx, -2));
    CHECK_OK(ln_context_run(ctx));
    check_begun(-2);
    CHECK_OK(ln_context_run(clone));
    check_begun(31);
    CHECK_OK(ln_session_run(session));
    check_begun(31);
    ln_session_free(session);
    ln_program_release(program);
    close_context(clone);
    close_context(ctx);
    ctx = load_text(dynamic, "echo,ref");
    CHECK_OK(ln_context_set_priority(ctx, 8));
    for (int rows = 1; rows < 4; rows++) {
        ln_object *x = make_x(rows);
        CHECK_OK(ln_context_set_object(ctx, "x", x));
        CHECK_OK(ln_context_run(ctx));
        check_begun(8);
        ln_object_release(x);
    }
    close_context(ctx);
    close_echo(echo);
}

// A run of another context inside, here of an observer's, is part of the run.
typedef struct inner {
    ln_context *ctx;
    int seen;
} inner;

static void run_inner(void *user, const ln_op *op)
{
    inner *in = user;
    (void)op;
    CHECK_OK(ln_context_run(in->ctx));
    in->seen = ln_run_priority();
}

TEST(a_run_inside_another_has_the_priority_of_that)
{
    ln_arch *echo = open_echo();
    inner in = {.ctx = load_text(model, "echo,ref"), .seen = -1};
    ln_context *outer = load_text(model, "ref");
    ln_observer observer = {.before = run_inner, .user = &in};
    CHECK_OK(ln_context_set_priority(outer, 12));
    CHECK_OK(ln_context_set_priority(in.ctx, -12));
    CHECK_OK(ln_context_set_observer_sized(outer, &observer, sizeof observer));
    echo_forget();
    CHECK_OK(ln_context_run(outer));
    CHECK_EQ(in.seen, 12);
    check_begun(12);
    CHECK_OK(ln_context_run(in.ctx));
    check_begun(-12);
    close_context(in.ctx);
    close_context(outer);
    close_echo(echo);
}

// ---- What is refused ----

TEST(priorities_have_bounds)
{
    ln_arch *echo = open_echo();
    ln_context *ctx = load_text(model, "echo,ref");
    ln_program *program;
    ln_session *session;
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK_OK(ln_session_create(program, &session));
    CHECK_FAILS(ln_context_set_priority(NULL, 0), LN_INVALID);
    CHECK_FAILS(ln_session_set_priority(NULL, 0), LN_INVALID);
    CHECK_FAILS(ln_context_set_priority(ctx, LN_PRIORITY_MOST + 1), LN_INVALID);
    CHECK_MESSAGE("a priority of 101 is not from -100 to 100");
    CHECK_FAILS(ln_session_set_priority(session, LN_PRIORITY_LEAST - 1), LN_INVALID);
    CHECK_OK(ln_session_set_priority(session, LN_PRIORITY_MOST));
    echo_forget();
    echo_hold(echo);
    CHECK_OK(ln_session_run_async(session, NULL, NULL));
    await_starts(1);
    CHECK_FAILS(ln_session_set_priority(session, 0), LN_STATE);
    echo_let_go(echo);
    CHECK_OK(ln_session_wait(session));
    check_begun(LN_PRIORITY_MOST);
    ln_session_free(session);
    ln_program_release(program);
    close_context(ctx);
    close_echo(echo);
}

TEST_LIST(a_device_begins_with_the_most_urgent_run,
          runs_of_one_priority_begin_in_the_order_of_their_starts,
          runs_of_a_session_have_its_priority, so_have_runs_of_dynamic_shapes,
          contexts_hand_their_priority_to_clones_and_sessions,
          a_run_inside_another_has_the_priority_of_that, priorities_have_bounds)
