// SPDX-License-Identifier: Apache-2.0
// The host works while a device does, and every failure ends with nothing left in flight.

#include <stdio.h>
#include <stdlib.h>

#include <lightnet/cancel.h>
#include <lightnet/plan.h>
#include <lightnet/program.h>

#include "plan/check.h"
#include "tests/api/model.h"
#include "tests/echo/echo.h"

enum { LEN = 64 };

// Two branches that are alike, of which the device takes one, and a constant for it.
static const char branches[] =
    "input(| dst=x | dtype=TL_FLOAT, dims=[64]);\n"
    "create(| dst=w | dtype=TL_FLOAT, dims=[64], ran=[-1, 1], data=[0]);\n"
    "func(src=x | dst=a1 | func=sin);\n"
    "func(src=a1 | dst=a2 | func=cos);\n"
    "elew(src1=a2, src2=w | dst=a3 | elew_op=TL_SUM);\n"
    "func(src=x | dst=b1 | func=cos);\n"
    "func(src=b1 | dst=b2 | func=atan);\n"
    "func(src=b2 | dst=b3 | func=sin);\n"
    "elew(src1=a3, src2=b3 | dst=y | elew_op=TL_SUM);\n"
    "output(src=y | |);\n";

static const char *const first_branch[] = {"func0", "func1", "elew0", NULL};

static ln_arch *open_echo(void)
{
    CHECK_OK(ln_arch_init());
    echo_forget();
    echo_fail(ECHO_NOTHING, 0);
    return echo_open(&(echo_settings){ECHO_DEFAULTS, .names = first_branch});
}

static void close_echo(ln_arch *echo)
{
    echo_close(echo); // which checks that nothing is in flight
    CHECK_EQ(echo_live_bytes(LN_MEM_DPU), 0);
    CHECK_EQ(echo_live_groups(), 0);
    ln_arch_cleanup();
}

static void fill(float *x)
{
    for (int i = 0; i < LEN; i++)
        x[i] = (float)(i - 20) / 8;
}

static void make_expected(float *y)
{
    ln_context *ctx = load_text(branches, "ref");
    float x[LEN];
    fill(x);
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
    close_context(ctx);
}

static void check_run(ln_context *ctx, const float *expected)
{
    float x[LEN], y[LEN];
    fill(x);
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
    CHECK(memcmp(y, expected, sizeof y) == 0);
}

static void check_order(const ln_context *ctx, const char *expected)
{
    char text[1024] = "";
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        const char *type = op->op_arg->optype;
        if (strncmp(type, "input", 5) && strncmp(type, "create", 6) && strncmp(type, "output", 6))
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s ", type);
    }
    CHECK_STR_EQ(text, expected);
}

TEST(what_does_not_depend_on_a_group_is_between_its_start_and_its_wait)
{
    ln_arch *echo = open_echo();
    ln_context *ctx = open_text(branches);
    CHECK_OK(ln_context_compile(ctx, "echo,ref"));
    check_order(ctx, "copy_ref copy_ref func_echo func_echo elew_echo func_ref func_ref func_ref "
                     "wait_ref copy_ref elew_ref ");
    ln_plan *plan;
    CHECK_OK(ln_context_plan_create(ctx, &plan));
    CHECK_OK(ln_plan_check(plan));
    ln_context_plan_free(plan);
    close_context(ctx);
    close_echo(echo);
}

// Of two groups the one that more depends on is started first, and so is what it needs, though the
// other one comes first in the model.
TEST(what_has_the_longest_way_to_the_end_is_started_first)
{
    static const char ways[] = "input(| dst=x | dtype=TL_FLOAT, dims=[64]);\n"
                               "func(src=x | dst=a1 | func=sin);\n"
                               "func(src=a1 | dst=a2 | func=cos);\n"
                               "func(src=x | dst=b1 | func=atan);\n"
                               "func(src=b1 | dst=b2 | func=cos);\n"
                               "func(src=b2 | dst=b3 | func=tan);\n"
                               "func(src=b3 | dst=b4 | func=tan);\n"
                               "elew(src1=a2, src2=b4 | dst=y | elew_op=TL_SUM);\n"
                               "output(src=y | |);\n";
    static const char *const first[] = {"func1", NULL}, *const second[] = {"func3", NULL};
    CHECK_OK(ln_arch_init());
    ln_arch *echo = echo_open(
        &(echo_settings){ECHO_DEFAULTS, .device_count = 2, .names = first, .names_of_1 = second});
    ln_context *ctx = open_text(ways);
    char order[256] = "";
    CHECK_OK(ln_context_compile(ctx, "echo,echo:1,ref"));
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        if (op->run)
            snprintf(order + strlen(order), sizeof order - strlen(order), "%s ", op->op_arg->name);
    CHECK_STR_EQ(order,
                 "func2 place1 func3 func0 place0 func1 wait1 place2 func4 func5 wait0 place3 "
                 "elew0 ");
    close_context(ctx);
    close_echo(echo);
}

// An input that only the second group needs does not stand between two groups, which are one when
// it has gone to where inputs are.
TEST(inputs_do_not_part_groups)
{
    static const char parts[] =
        "input(| dst=t0 | dtype=TL_FLOAT, dims=[1, 1, 6, 7]);\n"
        "create(| dst=t1 | dtype=TL_FLOAT, dims=[1, 1, 1, 2], ran=[0, 0], data=[3, 3], from_file=false);\n"
        "create(| dst=t2 | dtype=TL_FLOAT, dims=[1], ran=[0, 0], data=[2], from_file=false);\n"
        "deconv(src=t0, weight=t1, bias=t2 | dst=t3 | act=none, stride=[1, 1], padding=[1, 2, 0, 2], output_shape=[1, 1]);\n"
        "create(| dst=t4 | dtype=TL_FLOAT, dims=[], ran=[0, 0], data=[-0.5], from_file=false);\n"
        "elew(src1=t3, src2=t4 | dst=t5 | elew_op=TL_SUM, act=none, beta=6);\n"
        "layernorm(src=t5, scale=t5 | dst=t6 | );\n"
        "input(| dst=t7 | dtype=TL_FLOAT, dims=[1], data=[3]);\n"
        "elew(src1=t7, src2=t7 | dst=t8 | elew_op=TL_MEAN);\n"
        "output(src=t6 | |);\noutput(src=t8 | |);\n";
    echo_settings first = {ECHO_DEFAULTS, .seed = 584, .left_out = 37};
    first.is_async = false;
    CHECK_OK(ln_arch_init());
    ln_arch *echo = echo_open(&first);
    echo_settings second = {ECHO_DEFAULTS, .seed = 555, .left_out = 34, .shares_main = true};
    second.name = "echo2";
    ln_arch *echo2 = echo_open(&second);
    close_context(load_text(parts, "echo2,echo,cpu"));
    echo_close(echo2);
    close_echo(echo);
}

static void let_go_after_host(void *user, const ln_op *op)
{
    if (strcmp(op->op_arg->name, "func4") != 0)
        return;
    echo_say("host");
    echo_let_go(user);
}

// The device does not begin before the host is through with its branch: without overlap, neither
// would ever end.
TEST(two_branches_overlap)
{
    float expected[LEN];
    ln_arch *echo = open_echo();
    make_expected(expected);
    ln_context *ctx = load_text(branches, "echo,ref");
    const ln_observer observer = {.after = let_go_after_host, .user = echo};
    ln_context_set_observer(ctx, &observer);
    echo_hold(echo);
    echo_forget();
    check_run(ctx, expected);
    CHECK_EQ(echo_said_count("start"), 1);
    CHECK_EQ(echo_said_count("wait"), 1);
    CHECK(echo_position("start", 0) < echo_position("host", 0));
    CHECK(echo_position("host", 0) < echo_position("begin", 0));
    CHECK(echo_position("end", 0) < echo_position("wait", 0));
    close_context(ctx);
    close_echo(echo);
}

TEST(where_nothing_overlaps_there_is_no_wait)
{
    static const char chain[] = "input(| dst=x | dtype=TL_FLOAT, dims=[64]);\n"
                                "func(src=x | dst=a | func=sin);\n"
                                "func(src=a | dst=b | func=cos);\n"
                                "func(src=b | dst=y | func=atan);\n"
                                "output(src=y | |);\n";
    ln_arch *echo = open_echo();
    ln_context *ctx = open_text(chain);
    CHECK_OK(ln_context_compile(ctx, "echo,ref"));
    check_order(ctx, "copy_ref func_echo func_echo copy_ref func_ref ");
    close_context(ctx);
    close_echo(echo);
}

// What is computed once is the host's, though a rule lowers all that the device takes; and a group
// of nothing else, which a text may have, is not waited for.
TEST(constants_are_no_group_to_wait_for)
{
    static const char text[] = "input(| dst=x | dtype=TL_FLOAT, dims=[8, 8]);\n"
                               "create(| dst=w | dtype=TL_FLOAT, dims=[64], data=[3]);\n"
                               "func(src=x | dst=a | func=sin);\n"
                               "%s(src=w | dst=v | dims=[8, 8]);\n"
                               "reshape(src=a | dst=b | dims=[64]);\n"
                               "%s(src=x | dst=c | func=cos);\n"
                               "elew(src1=c, src2=v | dst=d | elew_op=TL_SUM);\n"
                               "reshape(src=d | dst=e | dims=[64]);\n"
                               "elew(src1=b, src2=e | dst=y | elew_op=TL_MUL);\n"
                               "output(src=y | |);\n";
    float expected[LEN], x[LEN];
    fill(x);
    for (int i = 0; i < 4; i++) {
        char model[1024];
        CHECK_OK(ln_arch_init());
        echo_fail(ECHO_NOTHING, 0);
        ln_arch *echo =
            echo_open(&(echo_settings){ECHO_DEFAULTS, .shares_main = true, .fallback = "ref"});
        CHECK_OK(ln_rules_register("echo", "lower * => *_echo\n"));
        snprintf(model, sizeof model, text, "reshape", "func");
        ln_context *ctx = load_text(model, AS_READ);
        CHECK_OK(ln_context_set_data(ctx, "x", x));
        CHECK_OK(ln_context_run(ctx));
        CHECK_NOT_NULL(ln_context_get_data(ctx, "y", expected));
        close_context(ctx);
        snprintf(model, sizeof model, text, i & 1 ? "reshape_echo" : "reshape",
                 i & 2 ? "func_ref" : "func");
        ctx = load_text(model, "echo");
        check_run(ctx, expected);
        close_context(ctx);
        close_echo(echo);
    }
}

// ---- Failures ----

// Each call of its kind fails in turn, in a context and in a session; then all is as if it had not.
static void check_failures(echo_call call, ln_status expected_status, const char *message)
{
    float expected[LEN], x[LEN], y[LEN];
    ln_arch *echo = open_echo();
    make_expected(expected);
    fill(x);
    ln_context *ctx = load_text(branches, "echo,ref");
    ln_program *program;
    ln_session *session;
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK_OK(ln_session_create(program, &session));
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_session_set_data(session, "x", x, sizeof x));
    size_t bytes = echo_live_bytes(LN_MEM_DPU);
    int groups = echo_live_groups(), failures = 0;
    for (int skip = 0; skip < 8; skip++) {
        echo_fail(call, skip);
        ln_status status = ln_context_run(ctx);
        bool has_failed = echo_calls(call) > skip;
        CHECK_EQ(status, has_failed ? expected_status : LN_OK);
        if (has_failed)
            CHECK_MESSAGE(message);
        echo_fail(call, skip);
        status = ln_session_run(session);
        CHECK_EQ(status, has_failed ? expected_status : LN_OK);
        if (has_failed)
            CHECK_MESSAGE(message);
        failures += has_failed;
        echo_fail(ECHO_NOTHING, 0);
        check_run(ctx, expected);
        CHECK_OK(ln_session_run(session));
        CHECK_OK(ln_session_get_data(session, "y", y, sizeof y));
        CHECK(memcmp(y, expected, sizeof y) == 0);
        CHECK_EQ(echo_live_bytes(LN_MEM_DPU), bytes);
        CHECK_EQ(echo_live_groups(), groups);
    }
    CHECK_EQ(failures, 1); // there is one of each kind in a run
    ln_session_free(session);
    ln_program_release(program);
    close_context(ctx);
    close_echo(echo);
}

TEST(each_call_of_a_run_may_fail)
{
    check_failures(
        ECHO_RUN, LN_IO,
        "arch 'echo': `run_async` of the group of 'func0': arch 'echo': injected failure");
    check_failures(ECHO_WAIT, LN_IO,
                   "arch 'echo': `wait` of the group of 'func0': arch 'echo': injected failure");
    check_failures(ECHO_COPY_IN, LN_IO, "from main memory to DPU memory");
    check_failures(ECHO_COPY_OUT, LN_IO, "from DPU memory to main memory");
}

TEST(each_call_of_loading_may_fail)
{
    static const struct {
        echo_call call;
        ln_status status;
        const char *message;
    } cases[] = {
        {ECHO_ALLOC, LN_NO_MEMORY, "DPU memory"},
        {ECHO_COPY_IN, LN_IO, "'w': 256 bytes could not be copied from main memory to DPU memory"},
        {ECHO_PREPARE, LN_IO, "arch 'echo': `prepare` of the group of 'func0'"},
    };
    float expected[LEN];
    ln_arch *echo = open_echo();
    make_expected(expected);
    ln_context *ctx = open_text(branches);
    CHECK_OK(ln_context_compile(ctx, "echo,ref"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        echo_fail(cases[i].call, 0);
        CHECK_FAILS(ln_context_load(ctx, NULL), cases[i].status);
        CHECK_MESSAGE(cases[i].message);
        CHECK_EQ(echo_live_bytes(LN_MEM_DPU), 0);
        CHECK_EQ(echo_live_groups(), 0);
        echo_fail(ECHO_NOTHING, 0);
        CHECK_OK(ln_context_load(ctx, NULL));
        check_run(ctx, expected);
        ln_context_unload(ctx);
    }
    close_context(ctx);
    close_echo(echo);
}

TEST(an_evaluation_may_fail)
{
    ln_arch *echo = open_echo();
    ln_context *ctx = open_text(branches);
    echo_fail(ECHO_EVALUATE, 0);
    CHECK_FAILS(ln_context_compile(ctx, "echo,ref"), LN_IO);
    CHECK_MESSAGE("arch 'echo': 'func0' and what is with it cannot be evaluated: injected");
    CHECK_EQ(ctx->state, LN_CONTEXT_READY);
    echo_fail(ECHO_NOTHING, 0);
    CHECK_OK(ln_context_compile(ctx, "echo,ref"));
    close_context(ctx);
    close_echo(echo);
}

typedef struct cancelling {
    ln_cancel *cancel;
    ln_arch *echo;
} cancelling;

static void cancel_in_flight(void *user, const ln_op *op)
{
    const cancelling *c = user;
    if (strcmp(op->op_arg->name, "func0") != 0)
        return;
    ln_cancel_request(c->cancel);
    echo_let_go(c->echo);
}

TEST(a_run_that_is_cancelled_waits_for_what_is_in_flight)
{
    float expected[LEN], x[LEN];
    ln_arch *echo = open_echo();
    make_expected(expected);
    fill(x);
    ln_context *ctx = load_text(branches, "echo,ref");
    cancelling c = {.cancel = ln_cancel_create(), .echo = echo};
    const ln_observer observer = {.after = cancel_in_flight, .user = &c};
    ln_context_set_observer(ctx, &observer);
    CHECK_OK(ln_context_set_cancel(ctx, c.cancel));
    echo_hold(echo);
    echo_forget();
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_FAILS(ln_context_run(ctx), LN_CANCELLED);
    CHECK_EQ(echo_said_count("end"), 1);
    CHECK_EQ(echo_said_count("wait"), 1);
    ln_context_set_observer(ctx, NULL);
    CHECK_OK(ln_context_set_cancel(ctx, NULL));
    ln_cancel_release(c.cancel);
    check_run(ctx, expected);
    close_context(ctx);
    close_echo(echo);
}

// ---- Files ----

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    CHECK_NOT_NULL(file);
    char *text = calloc(1, 1 << 16);
    CHECK_NOT_NULL(text);
    CHECK(fread(text, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    return text;
}

static char *compile_text(void)
{
    ln_context *ctx = open_text(branches);
    CHECK_OK(ln_context_compile(ctx, "echo,ref"));
    CHECK_OK(ln_context_print(ctx, "echo_overlap.json"));
    close_context(ctx);
    char *text = read_file("echo_overlap.json");
    remove("echo_overlap.json");
    return text;
}

TEST(compiled_files_keep_waits)
{
    float expected[LEN];
    ln_arch *echo = open_echo();
    make_expected(expected);
    char *text = compile_text();
    ln_context *ctx = ln_context_create();
    CHECK_OK(ln_context_init_mem(ctx, text, strlen(text), "compiled.json"));
    CHECK_EQ(ctx->state, LN_CONTEXT_PLANNED);
    CHECK_OK(ln_context_load(ctx, NULL));
    check_run(ctx, expected);
    close_context(ctx);
    free(text);
    close_echo(echo);
}

// Takes `from` out of the text after `after`, or puts `to` there.
static char *edit(char *text, const char *after, const char *from, const char *to)
{
    char *at = strstr(text, after);
    CHECK_NOT_NULL(at);
    at = strstr(at, from);
    CHECK_NOT_NULL(at);
    char *edited = calloc(1, strlen(text) + strlen(to) + 1);
    CHECK_NOT_NULL(edited);
    sprintf(edited, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    free(text);
    return edited;
}

TEST(waits_that_do_not_fit_their_group_are_refused)
{
    // clang-format off
    static const struct {
        const char *why, *after, *from, *to, *message;
    } cases[] = {
        {"the host reads what the group makes", "\"func2\"", "\"x\"", "\"a3\"", "'func2' reads tensor 'a3' before 'wait0' has waited for it"},
        {"a tensor is not named", "\"wait_ref\"", "\"a1\"", "\"b3\"", "does not name tensor 'a1' of its group 'func0'"},
    };
    // clang-format on
    CHECK_OK(ln_arch_init());
    ln_arch *echo = echo_open( // in main memory, so that the host could read it
        &(echo_settings){ECHO_DEFAULTS, .names = first_branch, .shares_main = true});
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = edit(compile_text(), cases[i].after, cases[i].from, cases[i].to);
        ln_context *ctx = ln_context_create();
        if (ln_context_init_mem(ctx, text, strlen(text), "compiled.json") == LN_OK)
            fail_msg("%s: accepted", cases[i].why);
        if (!strstr(ln_error_message(), cases[i].message))
            fail_msg("%s: %s", cases[i].why, ln_error_message());
        ln_context_free(ctx);
        free(text);
    }
    close_echo(echo);
}

TEST(a_file_for_a_device_that_is_missing_names_it)
{
    ln_arch *echo = open_echo();
    char *text = compile_text();
    close_echo(echo);
    CHECK_OK(ln_arch_init());
    ln_context *ctx = ln_context_create();
    CHECK(ln_context_init_mem(ctx, text, strlen(text), "compiled.json") != LN_OK);
    CHECK_MESSAGE("'echo'");
    ln_context_free(ctx);
    free(text);
    ln_arch_cleanup();
}

TEST_LIST(what_does_not_depend_on_a_group_is_between_its_start_and_its_wait,
          what_has_the_longest_way_to_the_end_is_started_first, inputs_do_not_part_groups,
          two_branches_overlap, where_nothing_overlaps_there_is_no_wait,
          constants_are_no_group_to_wait_for, each_call_of_a_run_may_fail,
          each_call_of_loading_may_fail, an_evaluation_may_fail,
          a_run_that_is_cancelled_waits_for_what_is_in_flight, compiled_files_keep_waits,
          waits_that_do_not_fit_their_group_are_refused,
          a_file_for_a_device_that_is_missing_names_it)
