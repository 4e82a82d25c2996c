// SPDX-License-Identifier: Apache-2.0
// Who watches a run is told of each operator, before and after it.

#include <lightnet/lightnet.h>

#include "tests/api/model.h"

// What an observer has been told: "<relu >relu" and so on.
typedef struct record {
    char text[256];
    const ln_op *current;
} record;

static void add(record *r, const char *mark, const ln_op *op)
{
    size_t length = strlen(r->text);
    snprintf(r->text + length, sizeof r->text - length, "%s%s ", mark, op->op_arg->optype);
}

static void before(void *user, const ln_op *op)
{
    record *r = user;
    add(r, "<", op);
    r->current = op;
}

static void after(void *user, const ln_op *op)
{
    record *r = user;
    CHECK_PTR_EQ(r->current, op);
    add(r, ">", op);
}

static const char sum_and_softmax[] = "input(| dst=x | dtype=TL_FLOAT, dims=[2, 3]);\n"
                                      "elew(src1=x, src2=x | dst=sum | elew_op=TL_SUM);\n"
                                      "softmax(src=sum | dst=y | axis=1);\n";

TEST(operators_are_told_in_order_and_constants_are_not)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(sum_and_softmax, "ref");
    record r = {.text = ""};
    ln_observer observer = {.before = before, .after = after, .user = &r};
    ln_context_set_observer(ctx, &observer);
    CHECK_OK(ln_context_run(ctx));
    CHECK_STR_EQ(r.text, "<elew_ref >elew_ref <softmax_ref >softmax_ref ");

    ln_context_set_observer(ctx, NULL);
    r.text[0] = '\0';
    CHECK_OK(ln_context_run(ctx));
    CHECK_STR_EQ(r.text, "");
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(either_function_may_be_missing)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(sum_and_softmax, "ref");
    record r = {.text = ""};
    ln_observer observer = {.before = before, .user = &r};
    ln_context_set_observer(ctx, &observer);
    CHECK_OK(ln_context_run(ctx));
    CHECK_STR_EQ(r.text, "<elew_ref <softmax_ref ");
    observer = (ln_observer){0};
    CHECK_OK(ln_context_run(ctx));
    ln_context_set_observer(NULL, &observer);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(a_clone_has_no_observer)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(SMALL_MODEL, "ref"), *clone;
    record r = {.text = ""};
    ln_observer observer = {.before = before, .after = after, .user = &r};
    ln_context_set_observer(ctx, &observer);
    CHECK_OK(ln_context_clone(ctx, &clone));
    CHECK_OK(ln_context_run(clone));
    CHECK_STR_EQ(r.text, "");
    close_context(clone);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(an_arch_tells_its_peak_or_none)
{
    CHECK_OK(ln_arch_init());
    CHECK_NULL((void *)(uintptr_t)ln_arch_find("ref")->measure_peak);
    const ln_arch *cpu = ln_arch_find("cpu");
    CHECK_NOT_NULL(cpu);
    ln_arch_peak peak;
    cpu->measure_peak(cpu->priv, 1e-3, &peak);
    CHECK(strlen(peak.isa) > 0 && peak.flops > 1e6);
    ln_arch_cleanup();
}

// ---- Other shapes ----

static const char open_model[] =
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 256], names=[\"rows\", \"\"]);\n"
    "create(| dst=w | dtype=TL_FLOAT, dims=[256, 300], ran=[-1, 1]);\n"
    "MatMul(A=x, B=w | Y=y |);\n"
    "output(src=y | |);\n";

static void note_run(void *user, const ln_op *op)
{
    (void)op;
    ++*(int *)user;
}

static void check_settings(const ln_context *ctx, const int *user, const ln_cancel *cancel,
                           double work)
{
    ln_limits limits;
    ln_context_get_limits(ctx, &limits);
    CHECK_EQ(limits.op_count, 77);
    CHECK_PTR_EQ(ctx->observer->user, user);
    CHECK_PTR_EQ(ctx->cancel, cancel);
    CHECK_NEAR(ctx->timeout, 1000, 0);
    CHECK_EQ(ctx->is_strict, 1);
    CHECK_EQ(ctx->thread_count, 2);
    CHECK_NEAR(ln_context_work_done(ctx), work, 0);
}

static void reshape_rows(ln_context *ctx, int rows)
{
    const ln_input_shape shape = {.tname = "x", .ndim = 2, .dims = (int[]){rows, 256}};
    CHECK_OK(ln_context_reshape(ctx, 1, &shape));
}

TEST(what_the_program_has_set_is_there_after_another_shape)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(open_model);
    CHECK_OK(ln_context_set_threads(ctx, 2));
    CHECK_OK(ln_context_set_symbol(ctx, "rows", 2));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    reshape_rows(ctx, 3); // there are two plans before anything is set
    reshape_rows(ctx, 2);
    int run_count = 0;
    ln_cancel *cancel = ln_cancel_create();
    const ln_observer observer = {.before = note_run, .user = &run_count};
    ln_limits limits = ln_limits_default();
    limits.op_count = 77;
    ln_context_set_limits(ctx, &limits);
    CHECK_OK(ln_context_set_observer(ctx, &observer));
    CHECK_OK(ln_context_set_cancel(ctx, cancel));
    CHECK_OK(ln_context_set_timeout(ctx, 1000));
    ln_context_set_strict(ctx, 1);
    for (int rows = 3; rows > 0; rows--) {
        CHECK_OK(ln_context_run(ctx));
        double work = ln_context_work_done(ctx);
        reshape_rows(ctx, rows);
        check_settings(ctx, &run_count, cancel, work);
    }
    CHECK_EQ(run_count, 3);
    close_context(ctx);
    ln_cancel_release(cancel);
    ln_arch_cleanup();
}

static ln_status run_rows(ln_context *ctx, int rows)
{
    ln_object *x = ln_object_new_tensor(TL_FLOAT, 2, (const int[]){rows, 256}, NULL);
    CHECK_NOT_NULL(x);
    CHECK_OK(ln_context_set_object(ctx, "x", x));
    ln_object_release(x);
    return ln_context_run(ctx);
}

// A model that was never bound runs with the plan for the shape of its input, and as the program
// has said all the same.
TEST(what_the_program_has_set_holds_in_a_run_with_another_plan)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(open_model, "cpu");
    int run_count = 0;
    ln_cancel *cancel = ln_cancel_create();
    const ln_observer observer = {.before = note_run, .user = &run_count};
    CHECK_OK(ln_context_set_observer(ctx, &observer));
    for (int rows = 1; rows < 4; rows++) {
        CHECK_OK(run_rows(ctx, rows));
        CHECK_EQ(run_count, rows);
        CHECK(ln_context_work_done(ctx) >= rows * 256 * 300 / 16.0);
        ln_limits limits = ln_limits_default();
        limits.work = 1000;
        ln_context_set_limits(ctx, &limits);
        CHECK_FAILS(run_rows(ctx, rows), LN_LIMIT);
        limits = ln_limits_default();
        ln_context_set_limits(ctx, &limits);
        ln_cancel_request(cancel);
        CHECK_OK(ln_context_set_cancel(ctx, cancel));
        CHECK_FAILS(run_rows(ctx, rows), LN_CANCELLED);
        CHECK_OK(ln_context_set_cancel(ctx, NULL));
        CHECK_OK(ln_context_set_timeout(ctx, 1e-9));
        CHECK_FAILS(run_rows(ctx, rows), LN_TIMEOUT);
        CHECK_OK(ln_context_set_timeout(ctx, 0));
        run_count = rows;
    }
    close_context(ctx);
    ln_cancel_release(cancel);
    ln_arch_cleanup();
}

// ---- Sessions ----

static ln_session *session_of(const char *text, const char *target, ln_program **out_program)
{
    ln_context *ctx = load_text(text, target);
    ln_session *session;
    CHECK_OK(ln_program_create(ctx, out_program));
    CHECK_OK(ln_session_create(*out_program, &session));
    close_context(ctx);
    return session;
}

static void close_session(ln_session *session, ln_program *program)
{
    ln_session_free(session);
    ln_program_release(program);
    ln_arch_cleanup();
}

TEST(sessions_tell_what_their_context_does)
{
    CHECK_OK(ln_arch_init());
    ln_program *program;
    ln_session *session = session_of(sum_and_softmax, "ref", &program), *other;
    CHECK_OK(ln_session_create(program, &other));
    CHECK(ln_program_is_fixed(program));
    record r = {.text = ""};
    const ln_observer observer = {.before = before, .after = after, .user = &r};
    CHECK_OK(ln_session_set_observer(session, &observer));
    CHECK_OK(ln_session_run(other)); // which has none
    CHECK_STR_EQ(r.text, "");
    CHECK_OK(ln_session_run(session));
    CHECK_STR_EQ(r.text, "<elew_ref >elew_ref <softmax_ref >softmax_ref ");
    r.text[0] = '\0';
    CHECK_OK(ln_session_run_async(session, NULL, NULL));
    CHECK_OK(ln_session_wait(session));
    CHECK_STR_EQ(r.text, "<elew_ref >elew_ref <softmax_ref >softmax_ref ");
    r.text[0] = '\0';
    CHECK_OK(ln_session_set_observer(session, NULL));
    CHECK_OK(ln_session_run(session));
    CHECK_STR_EQ(r.text, "");
    CHECK_FAILS(ln_session_set_observer(NULL, &observer), LN_INVALID);
    CHECK_FAILS(ln_session_set_observer_sized(session, &observer, 4), LN_INVALID);
    ln_session_free(other);
    close_session(session, program);
}

// Of an operator that fails there is no end.
TEST(a_session_that_is_stopped_tells_what_it_has_done)
{
    CHECK_OK(ln_arch_init());
    ln_program *program;
    ln_session *session = session_of(sum_and_softmax, "ref", &program);
    ln_cancel *cancel = ln_cancel_create();
    record r = {.text = ""};
    const ln_observer observer = {.before = before, .after = after, .user = &r};
    CHECK_OK(ln_session_set_observer(session, &observer));
    CHECK_OK(ln_session_set_cancel(session, cancel));
    ln_cancel_request(cancel);
    CHECK_FAILS(ln_session_run(session), LN_CANCELLED);
    CHECK(strlen(r.text) < strlen("<elew_ref >elew_ref <softmax_ref "));
    ln_cancel_release(cancel);
    close_session(session, program);
}

static void run_rows_of(ln_session *session, int rows, float *y)
{
    ln_object *x = ln_object_new_tensor(TL_FLOAT, 2, (const int[]){rows, 256}, NULL);
    CHECK_NOT_NULL(x);
    for (int i = 0; i < rows * 256; i++)
        ((float *)ln_object_tensor(x)->data)[i] = (float)(i % 19 - 9) / 8;
    CHECK_OK(ln_session_set_object(session, "x", x));
    ln_object_release(x);
    CHECK_OK(ln_session_run(session));
    CHECK_OK(ln_session_get_data(session, "y", y, (size_t)rows * 300 * sizeof *y));
}

TEST(sessions_with_a_plan_for_each_shape_tell_too_and_compute_the_same)
{
    static float told[3 * 300], untold[3 * 300];
    CHECK_OK(ln_arch_init());
    ln_program *program;
    ln_session *session = session_of(open_model, "cpu", &program);
    int run_count = 0;
    const ln_observer observer = {.before = note_run, .user = &run_count};
    for (int rows = 1; rows < 4; rows++) {
        run_count = 0;
        CHECK_OK(ln_session_set_observer(session, &observer));
        run_rows_of(session, rows, told);
        CHECK_EQ(run_count, 1);
        run_rows_of(session, rows % 3 + 1, untold); // the observer stays
        CHECK_EQ(run_count, 2);
        CHECK_OK(ln_session_set_observer(session, NULL));
        run_rows_of(session, rows, untold);
        CHECK_EQ(run_count, 2);
        CHECK_EQ(memcmp(told, untold, (size_t)rows * 300 * sizeof *told), 0);
    }
    close_session(session, program);
}

TEST(sessions_that_are_clones_tell_too)
{
    CHECK_OK(ln_arch_init());
    ln_program *program;
    ln_session *session = session_of("input(| dst=x | dtype=TL_FLOAT, dims=[-1]);\n"
                                     "NonZero(X=x | Y=y |);\n"
                                     "output(src=y | |);\n",
                                     "cpu,ref", &program);
    int run_count = 0;
    const ln_observer observer = {.before = note_run, .user = &run_count};
    ln_object *x = ln_object_new_tensor(TL_FLOAT, 1, (const int[]){3}, NULL);
    CHECK_NOT_NULL(x);
    CHECK_OK(ln_session_set_object(session, "x", x));
    CHECK_OK(ln_session_set_observer(session, &observer));
    CHECK_OK(ln_session_run(session));
    CHECK_EQ(run_count, 1);
    CHECK_OK(ln_session_set_observer(session, NULL));
    CHECK_OK(ln_session_run(session));
    CHECK_EQ(run_count, 1);
    ln_object_release(x);
    close_session(session, program);
}

TEST_LIST(sessions_tell_what_their_context_does, a_session_that_is_stopped_tells_what_it_has_done,
          sessions_with_a_plan_for_each_shape_tell_too_and_compute_the_same,
          sessions_that_are_clones_tell_too, what_the_program_has_set_is_there_after_another_shape,
          what_the_program_has_set_holds_in_a_run_with_another_plan,
          operators_are_told_in_order_and_constants_are_not, either_function_may_be_missing,
          a_clone_has_no_observer, an_arch_tells_its_peak_or_none)
