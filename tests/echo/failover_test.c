// SPDX-License-Identifier: Apache-2.0
// Failover: runs in which a device fails are done again on the host, with the same bits, and what
// that costs is planned.

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <lightnet/msg.h>
#include <lightnet/optimize.h>
#include <lightnet/program.h>

#include "tests/api/model.h"
#include "tests/echo/echo.h"

enum { LEN = 64 };

// Two groups with host operators before, between and after them, and a constant on either side.
#define MODEL(ending)                                                                              \
    "input(| dst=x | dtype=TL_FLOAT, dims=[64]);\n"                                                \
    "create(| dst=w | dtype=TL_FLOAT, dims=[64], ran=[-1, 1], data=[0]);\n"                        \
    "create(| dst=v | dtype=TL_FLOAT, dims=[64], ran=[-1, 1], data=[0]);\n"                        \
    "func(src=x | dst=a | func=sin);\n"                                                            \
    "elew(src1=a, src2=w | dst=b | elew_op=TL_SUM);\n"                                             \
    "func(src=b | dst=c | func=cos);\n"                                                            \
    "elew(src1=c, src2=v | dst=d | elew_op=TL_SUM);\n"                                             \
    "func(src=d | dst=e | func=atan);\n"                                                           \
    "elew(src1=e, src2=x | dst=y | elew_op=TL_SUM);\n" ending "output(src=y | |);\n"

static const char model[] = MODEL("");
static const char printing[] = MODEL("print(src=y | | msg=\"y\");\n");

static const char *const on_device[] = {"elew0", "func1", "func2", NULL};
static const char *const all_on_device[] = {"func0", "elew0", "func1", "elew1",
                                            "func2", "elew2", NULL};

static const echo_call calls[] = {ECHO_COPY_IN, ECHO_COPY_OUT, ECHO_RUN, ECHO_WAIT};
enum { CALL_KINDS = sizeof calls / sizeof calls[0] };

// A device with all settings that matter here.
static ln_arch *open_named(const char *const *names, bool is_async, int device_count)
{
    echo_settings settings = {ECHO_DEFAULTS, .names = names, .device_count = device_count};
    settings.is_async = is_async;
    CHECK_OK(ln_arch_init());
    echo_fail(ECHO_NOTHING, 0);
    return echo_open(&settings);
}

static ln_arch *open_echo(void)
{
    return open_named(on_device, true, 0);
}

static void close_echo(ln_arch *echo)
{
    CHECK_EQ(echo_live_groups(), 0);
    CHECK_EQ(echo_live_bytes(LN_MEM_DPU), 0);
    echo_close(echo);
    ln_arch_cleanup();
}

static ln_status compile_failing_over(ln_context *ctx, const char *target)
{
    ln_optimize_options options = ln_optimize_options_default();
    options.fails_over = 1;
    return ln_context_compile_with(ctx, target, &options);
}

static ln_context *load_failing_over(const char *text)
{
    ln_context *ctx = open_text(text);
    CHECK_OK(compile_failing_over(ctx, "echo,ref"));
    CHECK_OK(ln_context_load(ctx, NULL));
    return ctx;
}

static void fill(float *x, int len, unsigned seed)
{
    for (int i = 0; i < len; i++)
        x[i] = (float)((i * 37 + (int)seed * 11) % 101 - 50) / 25;
}

// What the model gives on the reference alone.
static void make_expected(const char *text, unsigned seed, float *y)
{
    float x[LEN];
    fill(x, LEN, seed);
    ln_context *alone = load_text(text, "ref");
    CHECK_OK(ln_context_set_data(alone, "x", x));
    CHECK_OK(ln_context_run(alone));
    CHECK_NOT_NULL(ln_context_get_data(alone, "y", y));
    close_context(alone);
}

static void check_run(ln_context *ctx, unsigned seed)
{
    float x[LEN], y[LEN] = {0}, expected[LEN];
    make_expected(model, seed, expected);
    fill(x, LEN, seed);
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
    CHECK(memcmp(y, expected, sizeof y) == 0);
}

static void check_session(ln_session *session, unsigned seed)
{
    float x[LEN], y[LEN] = {0}, expected[LEN];
    make_expected(model, seed, expected);
    fill(x, LEN, seed);
    CHECK_OK(ln_session_set_data(session, "x", x, sizeof x));
    CHECK_OK(ln_session_run(session));
    CHECK_OK(ln_session_get_data(session, "y", y, sizeof y));
    CHECK(memcmp(y, expected, sizeof y) == 0);
}

// How many calls of the kind a run makes.
static int calls_of_run(ln_context *ctx, echo_call call)
{
    echo_fail(call, 1000000);
    CHECK_OK(ln_context_run(ctx));
    int count = echo_calls(call);
    echo_fail(ECHO_NOTHING, 0);
    return count;
}

// ---- Contexts ----

static void check_context(const char *const *names, bool is_async, int device_count)
{
    ln_arch *echo = open_named(names, is_async, device_count);
    ln_context *ctx = load_failing_over(model);
    size_t count = 0;
    check_run(ctx, 1);
    for (int k = 0; k < CALL_KINDS; k++) {
        int call_count = calls_of_run(ctx, calls[k]);
        CHECK(call_count > 0 || (calls[k] == ECHO_WAIT && !is_async));
        for (int skip = 0; skip < call_count; skip++) {
            unsigned seed = (unsigned)(10 * k + skip);
            CHECK_EQ(ln_context_failover_count(ctx), count);
            echo_fail(calls[k], skip);
            check_run(ctx, seed);
            CHECK_EQ(ln_context_failover_count(ctx), ++count);
            check_run(ctx, seed + 1); // by the device again
        }
    }
    CHECK_EQ(ln_context_failover_count(ctx), count);
    close_context(ctx);
    close_echo(echo);
}

TEST(a_context_gives_the_same_bits_whichever_call_of_the_device_fails)
{
    check_context(on_device, true, 0);
    check_context(on_device, false, 0);
    check_context(all_on_device, true, 0);
}

TEST(so_does_one_that_opens_its_device)
{
    check_context(on_device, true, 1);
}

TEST(without_being_asked_a_failure_of_the_device_ends_the_run)
{
    ln_arch *echo = open_echo();
    ln_context *ctx = load_text(model, "echo,ref");
    CHECK(!ln_context_failover(ctx));
    echo_fail(ECHO_WAIT, 0);
    CHECK(ln_context_run(ctx) != LN_OK);
    check_run(ctx, 3);
    CHECK_EQ(ln_context_failover_count(ctx), 0);
    close_context(ctx);
    close_echo(echo);
}

TEST(a_clone_fails_over_by_itself)
{
    ln_arch *echo = open_echo();
    ln_context *ctx = load_failing_over(model), *clone;
    CHECK_OK(ln_context_clone(ctx, &clone));
    close_context(ctx);
    echo_fail(ECHO_RUN, 1);
    check_run(clone, 5);
    CHECK_EQ(ln_context_failover_count(clone), 1);
    close_context(clone);
    close_echo(echo);
}

TEST(constants_and_parameters_that_are_set_reach_the_host)
{
    ln_arch *echo = open_echo();
    ln_context *ctx = load_failing_over(model), *alone = load_text(model, "ref");
    float x[LEN], w[LEN], y[LEN], expected[LEN];
    fill(x, LEN, 6);
    fill(w, LEN, 7);
    ln_context *const both[] = {ctx, alone};
    for (int i = 0; i < 2; i++) {
        CHECK_OK(ln_context_set_data(both[i], "w", w));
        CHECK_OK(ln_context_set_param(both[i], "elew2", "elew_op", "TL_SUB"));
        CHECK_OK(ln_context_set_data(both[i], "x", x));
    }
    echo_fail(ECHO_RUN, 0);
    CHECK_OK(ln_context_run(ctx));
    CHECK_EQ(ln_context_failover_count(ctx), 1);
    CHECK_OK(ln_context_run(alone));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
    CHECK_NOT_NULL(ln_context_get_data(alone, "y", expected));
    CHECK(memcmp(y, expected, sizeof y) == 0);
    CHECK_OK(ln_context_run(ctx)); // and the device
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
    CHECK(memcmp(y, expected, sizeof y) == 0);
    close_context(ctx);
    close_context(alone);
    close_echo(echo);
}

// The host has the new constant, and the device may have half of it.
TEST(a_change_that_the_device_refuses_ends_failover_until_the_model_is_loaded)
{
    float w[LEN] = {1, 2, 3};
    ln_arch *echo = open_echo();
    ln_context *ctx = load_failing_over(model);
    echo_fail(ECHO_PREPARE, 0);
    CHECK_FAILS(ln_context_set_data(ctx, "w", w), LN_IO);
    echo_fail(ECHO_RUN, 0);
    CHECK(ln_context_run(ctx) != LN_OK);
    CHECK_EQ(ln_context_failover_count(ctx), 0);
    echo_fail(ECHO_NOTHING, 0);
    ln_context_unload(ctx);
    CHECK_OK(ln_context_load(ctx, NULL));
    echo_fail(ECHO_RUN, 0);
    check_run(ctx, 2);
    CHECK_EQ(ln_context_failover_count(ctx), 1);
    close_context(ctx);
    close_echo(echo);
}

TEST(a_model_that_is_loaded_again_fails_over_again)
{
    ln_arch *echo = open_echo();
    ln_context *ctx = load_failing_over(model);
    ln_context_unload(ctx);
    CHECK_EQ(ln_context_get_state(ln_context_failover(ctx)), LN_CONTEXT_PLANNED);
    CHECK_OK(ln_context_load(ctx, NULL));
    echo_fail(ECHO_WAIT, 1);
    check_run(ctx, 8);
    CHECK_EQ(ln_context_failover_count(ctx), 1);
    close_context(ctx);
    close_echo(echo);
}

// ---- What it says ----

typedef struct watch {
    size_t before, after, failed_over;
    size_t before_failover; // operators that had begun
    char message[256];
} watch;

static void note_before(void *user, const ln_op *op)
{
    (void)op;
    ((watch *)user)->before++;
}

static void note_after(void *user, const ln_op *op)
{
    (void)op;
    ((watch *)user)->after++;
}

static void note_failover(void *user, const char *message)
{
    watch *w = user;
    w->failed_over++;
    w->before_failover = w->before;
    snprintf(w->message, sizeof w->message, "%s", message);
}

static char heard[512];

static void hear(const ln_msg *msg, void *user)
{
    (void)user;
    if (msg->level == LN_MSG_INFO)
        snprintf(heard, sizeof heard, "%s", msg->text);
}

TEST(an_observer_and_a_message_say_that_a_run_fails_over)
{
    ln_arch *echo = open_echo();
    ln_context *ctx = load_failing_over(model);
    watch w = {0};
    ln_observer observer = {note_before, note_after, &w, note_failover};
    CHECK_OK(ln_context_set_observer_sized(ctx, &observer, sizeof observer));
    CHECK_OK(ln_context_run(ctx));
    CHECK_EQ(w.failed_over, 0);
    CHECK_EQ(w.before, w.after);
    w = (watch){0};
    ln_msg_set_handler(hear, NULL);
    echo_fail(ECHO_WAIT, 1);
    CHECK_OK(ln_context_run(ctx));
    ln_msg_set_handler(NULL, NULL);
    CHECK_EQ(w.failed_over, 1);
    CHECK(strstr(w.message, "echo"));
    CHECK(strstr(heard, "done again on the host: arch 'echo'"));
    CHECK_EQ(w.before, w.after + 1);           // the one that failed
    CHECK_EQ(w.before - w.before_failover, 6); // all operators of the host
    close_context(ctx);
    close_echo(echo);
}

// ---- What it costs ----

TEST(what_failover_takes_is_planned_and_within_the_limit)
{
    ln_arch *echo = open_echo();
    ln_context *ctx = open_text(model), *alone = open_text(model);
    CHECK_OK(ln_context_compile(alone, "ref"));
    CHECK_OK(compile_failing_over(ctx, "echo,ref"));
    const ln_context *failover = ln_context_failover(ctx);
    CHECK_NOT_NULL(failover);
    CHECK_STR_EQ(ln_context_target(failover), "ref");
    size_t own = ln_context_peak_bytes(ctx, LN_MEM_CPU);
    size_t more = ln_context_peak_bytes(failover, LN_MEM_CPU);
    CHECK_EQ(more, ln_context_peak_bytes(alone, LN_MEM_CPU));
    CHECK(ln_context_static_bytes(failover, LN_MEM_CPU) >= 2 * LEN * sizeof(float));
    close_context(ctx);
    for (size_t missing = 0; missing < 2; missing++) {
        ln_limits limits = ln_limits_default();
        limits.memory_byte_count = own + more - missing;
        ctx = open_text(model);
        ln_context_set_limits(ctx, &limits);
        if (missing) {
            CHECK_FAILS(compile_failing_over(ctx, "echo,ref"), LN_LIMIT);
            CHECK_MESSAGE("for failover");
            CHECK_EQ(ln_context_get_state(ctx), LN_CONTEXT_READY);
            CHECK(!ln_context_failover(ctx));
        } else {
            CHECK_OK(compile_failing_over(ctx, "echo,ref"));
            CHECK_OK(ln_context_load(ctx, NULL));
            echo_fail(ECHO_RUN, 0);
            check_run(ctx, 2);
        }
        close_context(ctx);
    }
    close_context(alone);
    close_echo(echo);
}

TEST(both_attempts_are_within_one_limit_of_work)
{
    ln_arch *echo = open_echo();
    ln_context *ctx = load_failing_over(model);
    double both = ln_context_cost(ctx) + ln_context_cost(ln_context_failover(ctx));
    ln_limits limits = ln_limits_default();
    echo_fail(ECHO_RUN, 0);
    check_run(ctx, 1);
    CHECK(ln_context_work_done(ctx) <= both);
    both = limits.work = ln_context_work_done(ctx);
    ln_context_set_limits(ctx, &limits);
    echo_fail(ECHO_RUN, 0);
    check_run(ctx, 2);
    CHECK(ln_context_work_done(ctx) == both);
    limits.work = both - 1;
    ln_context_set_limits(ctx, &limits);
    check_run(ctx, 3); // the device alone
    echo_fail(ECHO_RUN, 0);
    CHECK_FAILS(ln_context_run(ctx), LN_LIMIT);
    CHECK_MESSAGE("failover");
    close_context(ctx);
    close_echo(echo);
}

TEST(time_that_is_up_and_a_cancel_are_no_failures_of_the_device)
{
    ln_arch *echo = open_echo();
    ln_context *ctx = load_failing_over(model);
    ln_cancel *cancel = ln_cancel_create();
    CHECK_OK(ln_context_set_cancel(ctx, cancel));
    ln_cancel_request(cancel);
    CHECK_FAILS(ln_context_run(ctx), LN_CANCELLED);
    CHECK_OK(ln_context_set_cancel(ctx, NULL));
    CHECK_OK(ln_context_set_timeout(ctx, 1e-9));
    echo_fail(ECHO_WAIT, 1); // whatever ends first, nothing begins after the deadline
    CHECK_FAILS(ln_context_run(ctx), LN_TIMEOUT);
    CHECK_EQ(ln_context_failover_count(ctx), 0);
    ln_cancel_release(cancel);
    close_context(ctx);
    close_echo(echo);
}

TEST(what_cannot_fail_over_is_refused_by_name)
{
    ln_arch *echo = open_echo();
    ln_context *ctx = open_text(model);
    CHECK_FAILS(compile_failing_over(ctx, "echo"), LN_INVALID);
    CHECK_MESSAGE("'echo,cpu'");
    CHECK_EQ(ln_context_get_state(ctx), LN_CONTEXT_READY);
    CHECK_OK(compile_failing_over(ctx, "echo,ref"));
    char *bytes;
    size_t byte_count;
    CHECK_FAILS(ln_context_write(ctx, "ir", &bytes, &byte_count), LN_UNSUPPORTED);
    CHECK_MESSAGE("failover");
    close_context(ctx);
    ctx = open_text(printing);
    CHECK_FAILS(compile_failing_over(ctx, "echo,ref"), LN_UNSUPPORTED);
    CHECK_MESSAGE("print0");
    close_context(ctx);
    close_echo(echo);
}

TEST(where_no_device_computes_failover_costs_nothing)
{
    static const char *const none[] = {NULL};
    ln_arch *echo = open_named(none, true, 0);
    ln_context *ctx = load_failing_over(model), *host = open_text(model);
    CHECK(!ln_context_failover(ctx));
    CHECK_OK(compile_failing_over(host, "ref"));
    CHECK(!ln_context_failover(host));
    close_context(host);
    close_context(ctx);
    close_echo(echo);
}

// ---- Sessions ----

static ln_program *make_failing_over(const char *text)
{
    ln_program *program;
    ln_context *ctx = load_failing_over(text);
    CHECK_OK(ln_program_create(ctx, &program));
    close_context(ctx);
    return program;
}

TEST(a_session_gives_the_same_bits_whichever_call_of_the_device_fails)
{
    ln_arch *echo = open_echo();
    ln_program *program = make_failing_over(model);
    CHECK(ln_program_is_fixed(program));
    ln_session *session;
    CHECK_OK(ln_session_create(program, &session));
    size_t count = 0;
    for (int k = 0; k < CALL_KINDS; k++)
        for (int skip = 0; skip < 2; skip++) {
            echo_fail(calls[k], skip);
            check_session(session, (unsigned)(k + skip));
            CHECK_EQ(ln_session_failover_count(session), ++count);
            check_session(session, (unsigned)(k + skip + 20));
        }
    CHECK_EQ(ln_session_failover_count(session), count);
    double done, total;
    echo_fail(ECHO_RUN, 0);
    check_session(session, 3);
    CHECK_OK(ln_session_progress(session, &done, &total));
    CHECK(total > 0 && done == total);
    ln_session_free(session);
    ln_program_release(program);
    close_echo(echo);
}

TEST(an_observer_of_a_session_is_told_that_a_run_fails_over)
{
    ln_arch *echo = open_echo();
    ln_program *program = make_failing_over(model);
    ln_session *session;
    watch w = {0};
    const ln_observer observer = {note_before, note_after, &w, note_failover};
    CHECK_OK(ln_session_create(program, &session));
    CHECK_OK(ln_session_set_observer(session, &observer));
    check_session(session, 1);
    CHECK_EQ(w.failed_over, 0);
    CHECK(w.before > 0 && w.before == w.after);
    w = (watch){0};
    echo_fail(ECHO_WAIT, 1);
    check_session(session, 2);
    CHECK_EQ(w.failed_over, 1);
    CHECK(strstr(w.message, "echo"));
    CHECK_EQ(w.before, w.after + 1);           // the one that failed
    CHECK_EQ(w.before - w.before_failover, 6); // all operators of the host
    ln_session_free(session);
    ln_program_release(program);
    close_echo(echo);
}

TEST(memory_that_is_bound_has_the_results_of_the_host)
{
    ln_arch *echo = open_echo();
    ln_program *program = make_failing_over(model);
    ln_session *session;
    CHECK_OK(ln_session_create(program, &session));
    for (int shift = 0; shift < 2; shift++) { // in place, and copied
        _Alignas(LN_MEM_ALIGN) float x[LEN + 1], y[LEN + 1], expected[LEN];
        int dims[] = {LEN};
        tl_tensor bound = {
            .dtype = TL_FLOAT, .ndim = 1, .dims = dims, .len = LEN, .data = x + shift};
        CHECK_OK(ln_session_bind_input(session, "x", &bound));
        CHECK_OK(ln_session_bind_output(session, "y", y + shift, LEN * sizeof(float)));
        for (unsigned seed = 0; seed < 3; seed++) {
            fill(x + shift, LEN, seed);
            make_expected(model, seed, expected);
            if (seed != 1)
                echo_fail(ECHO_WAIT, (int)seed / 2);
            CHECK_OK(ln_session_run(session));
            CHECK(memcmp(y + shift, expected, sizeof expected) == 0);
        }
    }
    CHECK_EQ(ln_session_failover_count(session), 4);
    ln_session_free(session);
    ln_program_release(program);
    close_echo(echo);
}

static void note_status(void *user, ln_status status)
{
    *(ln_status *)user = status;
}

TEST(a_run_beside_the_caller_fails_over)
{
    ln_arch *echo = open_echo();
    ln_program *program = make_failing_over(model);
    ln_session *session;
    CHECK_OK(ln_session_create(program, &session));
    float x[LEN], y[LEN], expected[LEN];
    ln_status status = LN_INTERNAL;
    fill(x, LEN, 4);
    make_expected(model, 4, expected);
    CHECK_OK(ln_session_set_data(session, "x", x, sizeof x));
    echo_fail(ECHO_RUN, 1);
    CHECK_OK(ln_session_run_async(session, note_status, &status));
    CHECK_OK(ln_session_wait(session));
    CHECK_EQ(status, LN_OK);
    CHECK_EQ(ln_session_failover_count(session), 1);
    CHECK_OK(ln_session_get_data(session, "y", y, sizeof y));
    CHECK(memcmp(y, expected, sizeof y) == 0);
    ln_session_free(session);
    ln_program_release(program);
    close_echo(echo);
}

TEST(a_session_that_gets_no_memory_of_the_device_runs_on_the_host)
{
    ln_arch *echo = open_echo();
    ln_program *program = make_failing_over(model);
    size_t before = echo_live_bytes(LN_MEM_DPU);
    ln_session *session;
    echo_fail(ECHO_ALLOC, 0);
    CHECK_OK(ln_session_create(program, &session));
    CHECK_EQ(echo_live_bytes(LN_MEM_DPU), before);
    check_session(session, 1);
    check_session(session, 2);
    CHECK_EQ(ln_session_failover_count(session), 2);
    ln_session_free(session);
    ln_program_release(program);
    close_echo(echo);
}

TEST(limits_of_a_session_count_both_attempts)
{
    ln_arch *echo = open_echo();
    ln_context *ctx = load_failing_over(model);
    ln_limits limits = ln_limits_default();
    echo_fail(ECHO_RUN, 0);
    check_run(ctx, 1);
    limits.work = ln_context_work_done(ctx) - 1;
    ln_context_set_limits(ctx, &limits);
    ln_program *program;
    ln_session *session;
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK_OK(ln_session_create(program, &session));
    check_session(session, 1);
    echo_fail(ECHO_RUN, 0);
    CHECK_FAILS(ln_session_run(session), LN_LIMIT);
    check_session(session, 2);
    ln_session_free(session);
    ln_program_release(program);
    close_context(ctx);
    close_echo(echo);
}

// ---- Dynamic shapes ----

static const char dynamic[] =
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 256], names=[\"N\", \"\"]);\n"
    "create(| dst=w | dtype=TL_FLOAT, dims=[256, 512], ran=[-1, 1], data=[0]);\n"
    "linear(src=x, weight=w | dst=a |);\n"
    "func(src=a | dst=b | func=cos);\n"
    "elew(src1=b, src2=a | dst=y | elew_op=TL_SUM);\n"
    "output(src=y | |);\n";

static const char *const dynamic_names[] = {"linear0", "func0", NULL};

static ln_object *make_rows(int rows, unsigned seed)
{
    int dims[] = {rows, 256};
    ln_object *x = ln_object_new_tensor(TL_FLOAT, 2, dims, NULL);
    CHECK_NOT_NULL(x);
    fill(ln_object_tensor(x)->data, rows * 256, seed);
    return x;
}

static void check_rows(const ln_object *y, int rows, unsigned seed)
{
    ln_object *x = make_rows(rows, seed), *expected;
    ln_context *alone = load_text(dynamic, "ref");
    CHECK_OK(ln_context_set_object(alone, "x", x));
    CHECK_OK(ln_context_run(alone));
    CHECK_OK(ln_context_get_object(alone, "y", &expected));
    const tl_tensor *a = ln_object_tensor(y), *b = ln_object_tensor(expected);
    CHECK_EQ(a->len, b->len);
    CHECK(memcmp(a->data, b->data, tl_tensor_size(b)) == 0);
    ln_object_release(x);
    ln_object_release(expected);
    close_context(alone);
}

static void check_context_rows(ln_context *ctx, int rows, unsigned seed)
{
    ln_object *x = make_rows(rows, seed), *y;
    CHECK_OK(ln_context_set_object(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_get_object(ctx, "y", &y));
    check_rows(y, rows, seed);
    ln_object_release(x);
    ln_object_release(y);
}

static void check_session_rows(ln_session *session, int rows, unsigned seed)
{
    ln_object *x = make_rows(rows, seed), *y;
    CHECK_OK(ln_session_set_object(session, "x", x));
    CHECK_OK(ln_session_run(session));
    CHECK_OK(ln_session_get_object(session, "y", &y));
    check_rows(y, rows, seed);
    ln_object_release(x);
    ln_object_release(y);
}

// What can fail while the instance for a new shape is made, and in its run.
static const echo_call making[] = {ECHO_PREPARE, ECHO_ALLOC,    ECHO_COPY_IN,
                                   ECHO_RUN,     ECHO_COPY_OUT, ECHO_WAIT};
enum { MAKING_KINDS = sizeof making / sizeof making[0] };

// Memory is asked for twice.
static void fail_making(echo_call call)
{
    if (call == ECHO_ALLOC)
        echo_limit(0);
    else
        echo_fail(call, 0);
}

TEST(dynamic_contexts_fail_over_for_shapes_old_and_new)
{
    ln_arch *echo = open_named(dynamic_names, true, 0);
    ln_context *ctx = load_failing_over(dynamic);
    CHECK_NOT_NULL(ln_context_failover(ctx));
    check_context_rows(ctx, 3, 1);
    for (int k = 0; k < MAKING_KINDS; k++) {
        fail_making(making[k]);
        check_context_rows(ctx, 4 + k, 2);
        echo_limit(SIZE_MAX);
        CHECK_EQ(ln_context_failover_count(ctx), k + 1);
        check_context_rows(ctx, 4 + k, 3); // on the device
        CHECK_EQ(ln_context_failover_count(ctx), k + 1);
    }
    close_context(ctx);
    close_echo(echo);
}

TEST(dynamic_sessions_fail_over_for_shapes_old_and_new)
{
    ln_arch *echo = open_named(dynamic_names, true, 0);
    ln_program *program = make_failing_over(dynamic);
    ln_session *session;
    CHECK_OK(ln_session_create(program, &session));
    check_session_rows(session, 3, 1);
    for (int k = 0; k < MAKING_KINDS; k++) {
        fail_making(making[k]);
        check_session_rows(session, 4 + k, 2);
        echo_limit(SIZE_MAX);
        CHECK_EQ(ln_session_failover_count(session), k + 1);
        check_session_rows(session, 4 + k, 3);
        CHECK_EQ(ln_session_failover_count(session), k + 1);
    }
    ln_session_free(session);
    ln_program_release(program);
    close_echo(echo);
}

// Whether a session of 64 rows runs within so many bytes, for echo and the host, where a failure of
// echo makes it run again, or for the host alone.
static bool runs_within(size_t limit, bool is_on_device, bool fails)
{
    ln_context *ctx = is_on_device ? load_failing_over(dynamic) : load_text(dynamic, "ref");
    ln_limits limits = ln_limits_default();
    limits.memory_byte_count = limit;
    ln_context_set_limits(ctx, &limits);
    ln_program *program;
    ln_session *session;
    ln_object *x = make_rows(64, 1);
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK_OK(ln_session_create(program, &session));
    CHECK_OK(ln_session_set_object(session, "x", x));
    echo_fail(fails ? ECHO_RUN : ECHO_NOTHING, 0);
    ln_status status = ln_session_run(session);
    echo_fail(ECHO_NOTHING, 0);
    CHECK(status == LN_OK || status == LN_LIMIT || status == LN_NO_MEMORY);
    ln_object_release(x);
    ln_session_free(session);
    ln_program_release(program);
    close_context(ctx);
    return status == LN_OK;
}

static size_t find_least(bool is_on_device, bool fails)
{
    size_t too_few = 0, enough = (size_t)1 << 23;
    CHECK(runs_within(enough, is_on_device, fails));
    while (enough - too_few > 64) {
        size_t middle = too_few + (enough - too_few) / 2;
        *(runs_within(middle, is_on_device, fails) ? &enough : &too_few) = middle;
    }
    return enough;
}

TEST(the_memory_of_both_attempts_is_within_the_limit)
{
    ln_arch *echo = open_named(dynamic_names, true, 0);
    size_t host = find_least(false, false), both = find_least(true, true);
    CHECK(both >=
          host + 64 * 256 * sizeof(float)); // beside it the plan on the device has x at least
    close_echo(echo);
}

TEST(a_run_that_the_program_has_not_prepared_is_no_failure_of_the_device)
{
    ln_arch *echo = open_named(dynamic_names, true, 0);
    ln_program *program = make_failing_over(dynamic);
    ln_session *session;
    CHECK_OK(ln_session_create(program, &session));
    CHECK_FAILS(ln_session_run(session), LN_STATE); // x has no value
    CHECK(!strstr(ln_error_message(), "failover"));
    check_session_rows(session, 3, 1);
    CHECK_EQ(ln_session_failover_count(session), 0);
    ln_session_free(session);
    ln_program_release(program);
    close_echo(echo);
}

TEST(bound_shapes_are_followed)
{
    ln_arch *echo = open_named(dynamic_names, true, 0);
    ln_context *ctx = open_text(dynamic);
    const int dims[][2] = {{3, 256}, {5, 256}, {1, 256}};
    CHECK_OK(ln_context_set_shape(ctx, "x", 2, dims[0]));
    CHECK_OK(compile_failing_over(ctx, "echo,ref"));
    CHECK_OK(ln_context_load(ctx, NULL));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(ln_context_reshape(ctx, 1, &(ln_input_shape){"x", 2, dims[i]}));
        echo_fail(ECHO_RUN, 0);
        check_context_rows(ctx, dims[i][0], 7);
        CHECK_EQ(ln_context_failover_count(ctx), i + 1);
    }
    close_context(ctx);
    close_echo(echo);
}

TEST(a_compiled_file_of_a_dynamic_model_asks_for_failover)
{
    ln_arch *echo = open_named(dynamic_names, true, 0);
    ln_context *ctx = open_text(dynamic), *read = ln_context_create();
    char *bytes;
    size_t byte_count;
    CHECK_OK(compile_failing_over(ctx, "echo,ref"));
    CHECK_OK(ln_context_write(ctx, "ir", &bytes, &byte_count));
    CHECK_OK(ln_context_init_mem(read, bytes, byte_count, "read.json"));
    CHECK_NOT_NULL(ln_context_failover(read));
    CHECK_OK(ln_context_load(read, NULL));
    echo_fail(ECHO_WAIT, 0);
    check_context_rows(read, 6, 1);
    CHECK_EQ(ln_context_failover_count(read), 1);
    ln_free(bytes);
    close_context(ctx);
    close_context(read);
    close_echo(echo);
}

// ---- Threads ----

enum { THREADS = 4, RUNS = 60 };

typedef struct shared {
    ln_program *program;
    const float (*expected)[LEN];
    unsigned first;
    size_t failover_count;
} shared;

static void *run_beside(void *arg)
{
    shared *s = arg;
    ln_session *session;
    bool is_right = ln_session_create(s->program, &session) == LN_OK;
    for (unsigned round = 0; round < RUNS && is_right; round++) {
        unsigned seed = s->first + round % 8;
        float x[LEN], y[LEN];
        fill(x, LEN, seed);
        if (round % 3 == 0) // of whichever thread it then is
            echo_fail(calls[(round + s->first) % CALL_KINDS], (int)(round % 2));
        is_right = ln_session_set_data(session, "x", x, sizeof x) == LN_OK &&
                   ln_session_run(session) == LN_OK &&
                   ln_session_get_data(session, "y", y, sizeof y) == LN_OK &&
                   memcmp(y, s->expected[seed], sizeof y) == 0;
    }
    s->failover_count = ln_session_failover_count(session);
    ln_session_free(session);
    return is_right ? arg : NULL;
}

TEST(sessions_in_threads_fail_over_while_others_use_the_device)
{
    ln_arch *echo = open_echo();
    static float expected[THREADS * 8][LEN];
    for (unsigned seed = 0; seed < THREADS * 8; seed++)
        make_expected(model, seed, expected[seed]);
    ln_program *program = make_failing_over(model);
    shared all[THREADS];
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        all[i] = (shared){program, (const float(*)[LEN])expected, i * 8, 0};
        CHECK_EQ(pthread_create(&threads[i], NULL, run_beside, &all[i]), 0);
    }
    size_t count = 0;
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        CHECK_NOT_NULL(result);
        count += all[i].failover_count;
    }
    CHECK(count > 0);
    echo_fail(ECHO_NOTHING, 0);
    ln_program_release(program);
    close_echo(echo);
}

TEST_LIST(a_context_gives_the_same_bits_whichever_call_of_the_device_fails,
          so_does_one_that_opens_its_device,
          without_being_asked_a_failure_of_the_device_ends_the_run, a_clone_fails_over_by_itself,
          constants_and_parameters_that_are_set_reach_the_host,
          a_change_that_the_device_refuses_ends_failover_until_the_model_is_loaded,
          a_model_that_is_loaded_again_fails_over_again,
          an_observer_and_a_message_say_that_a_run_fails_over,
          what_failover_takes_is_planned_and_within_the_limit,
          both_attempts_are_within_one_limit_of_work,
          time_that_is_up_and_a_cancel_are_no_failures_of_the_device,
          what_cannot_fail_over_is_refused_by_name, where_no_device_computes_failover_costs_nothing,
          a_session_gives_the_same_bits_whichever_call_of_the_device_fails,
          an_observer_of_a_session_is_told_that_a_run_fails_over,
          memory_that_is_bound_has_the_results_of_the_host, a_run_beside_the_caller_fails_over,
          a_session_that_gets_no_memory_of_the_device_runs_on_the_host,
          limits_of_a_session_count_both_attempts,
          dynamic_contexts_fail_over_for_shapes_old_and_new,
          dynamic_sessions_fail_over_for_shapes_old_and_new,
          the_memory_of_both_attempts_is_within_the_limit,
          a_run_that_the_program_has_not_prepared_is_no_failure_of_the_device,
          bound_shapes_are_followed, a_compiled_file_of_a_dynamic_model_asks_for_failover,
          sessions_in_threads_fail_over_while_others_use_the_device)
