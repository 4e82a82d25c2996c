// SPDX-License-Identifier: Apache-2.0
// One symbol with two sizes: refused by operators, the message says so wherever the sizes came
// from; taken by them, a warning does.

#include <lightnet/program.h>

#include "tests/api/values.h"

#define INPUT(name) "input(| dst=" name " | dtype=TL_FLOAT, dims=[-1, 3], names=[\"n\", \"\"]);\n"

// The operator has both inputs.
#define JOINED INPUT("a") INPUT("b") "Add(A=a, B=b | C=y |);\noutput(src=y | |);\n"

// Each input has an operator of its own.
#define APART                                                                                      \
    INPUT("a")                                                                                     \
    INPUT("b") "Neg(X=a | Y=ya |);\nNeg(X=b | Y=yb |);\noutput(src=ya | |);\noutput(src=yb | |);\n"

static const int two[2] = {2, 3}, four[2] = {4, 3};
static const ln_input_shape clash[] = {{.tname = "a", .ndim = 2, .dims = two},
                                       {.tname = "b", .ndim = 2, .dims = four}};

// The status is LN_INVALID, and the message has what the operator says and both sizes.
static void check_named(ln_status status, const char *sizes)
{
    CHECK_EQ(status, LN_INVALID);
    CHECK_MESSAGE("does not broadcast");
    CHECK_MESSAGE(sizes);
    CHECK_MESSAGE("one size, at once");
}

static ln_context *load_open(const char *text)
{
    ln_context *ctx = open_text(text);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    return ctx;
}

static ln_object *make_rows(int rows)
{
    ln_object *value = ln_object_new_tensor(TL_FLOAT, 2, (int[]){rows, 3}, NULL);
    CHECK_NOT_NULL(value);
    memset(ln_object_tensor(value)->data, 0, tl_tensor_size(ln_object_tensor(value)));
    return value;
}

static void count_warning(const ln_msg *msg, void *user)
{
    *(int *)user += msg->level == LN_MSG_WARN && strstr(msg->text, "symbol 'n' is 2") != NULL;
}

TEST(shapes_that_are_bound_name_the_symbol)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(JOINED);
    CHECK_OK(ln_context_set_shape(ctx, "a", 2, two));
    check_named(ln_context_set_shape(ctx, "b", 2, four),
                "'n' is 2 in input 'a' and 4 in input 'b'");
    check_named(ln_context_reshape(ctx, 2, clash), "'n' is 2 in input 'a' and 4 in input 'b'");
    CHECK_OK(ln_context_set_symbol(ctx, "n", 5)); // in both, at once
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    check_named(ln_context_reshape(ctx, 1, clash), "'n' is 2 in input 'a' and 5 in input 'b'");
    CHECK_OK(ln_context_load(ctx, NULL));
    check_named(ln_context_reshape(ctx, 1, clash), "'n' is 2 in input 'a' and 5 in input 'b'");
    check_named(ln_context_reshape(ctx, 2, clash), "'n' is 2 in input 'a' and 4 in input 'b'");
    ln_context_free(ctx);
}

TEST(values_of_runs_name_the_symbol)
{
    ln_context *ctx = load_open(JOINED);
    ln_object *a = make_rows(2), *b = make_rows(4);
    CHECK_OK(ln_context_set_object(ctx, "a", a));
    CHECK_OK(ln_context_set_object(ctx, "b", b));
    check_named(ln_context_run(ctx), "'n' is 2 in input 'a' and 4 in input 'b'");
    ln_context_free(ctx);

    ctx = load_open(JOINED);
    ln_program *program;
    ln_session *session;
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK_OK(ln_session_create(program, &session));
    CHECK_OK(ln_session_set_object(session, "a", a));
    CHECK_OK(ln_session_set_object(session, "b", b));
    check_named(ln_session_run(session), "'n' is 2 in input 'a' and 4 in input 'b'");
    CHECK_OK(ln_session_set_object(session, "b", a));
    CHECK_OK(ln_session_run(session));
    ln_session_free(session);
    ln_program_release(program);
    ln_context_free(ctx);
    ln_object_release(a);
    ln_object_release(b);
}

TEST(a_symbol_twice_in_one_input)
{
    ln_context *ctx = open_text(
        "input(| dst=x | dtype=TL_FLOAT, dims=[-1, -1], names=[\"n\", \"n\"]);\n"
        "create(| dst=w | dtype=TL_FLOAT, dims=[2, 3], ran=[0, 0], data=[0], from_file=false);\n"
        "Add(A=x, B=w | C=y |);\noutput(src=y | |);\n");
    check_named(ln_context_set_shape(ctx, "x", 2, four),
                "'n' is 4 in dimension 0 of input 'x' and 3 in dimension 1");
    ln_context_free(ctx);
}

TEST(failures_for_another_reason_stay_as_they_are)
{
    ln_context *ctx = open_text(APART);
    CHECK_OK(ln_context_set_shape(ctx, "a", 2, two));
    CHECK_OK(ln_context_set_shape(ctx, "b", 2, four));
    CHECK_EQ(ln_context_set_shape(ctx, "a", 2, (int[]){2, 4}), LN_INVALID);
    CHECK_NULL(strstr(ln_error_message(), "'n' is"));
    CHECK_EQ(ln_context_set_shape(ctx, "q", 2, two), LN_NOT_FOUND);
    ln_context_free(ctx);
}

TEST(operators_that_take_both_sizes_run_with_a_warning_once)
{
    int warnings = 0;
    ln_context *ctx = open_text(APART);
    ln_msg_set_handler(count_warning, &warnings);
    CHECK_OK(ln_context_reshape(ctx, 2, clash));
    CHECK_EQ(warnings, 0); // another call may make them one yet
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_EQ(warnings, 1);
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_context_run(ctx));
    CHECK_EQ(ln_context_data_size(ctx, "ya"), 24);
    CHECK_EQ(ln_context_data_size(ctx, "yb"), 48);
    CHECK_EQ(warnings, 1);
    ln_context_free(ctx);

    ctx = open_text(APART);
    ln_context_set_strict(ctx, 1);
    CHECK_OK(ln_context_reshape(ctx, 2, clash));
    CHECK_EQ(ln_context_compile(ctx, "cpu"), LN_INVALID);
    CHECK_MESSAGE("symbol 'n' is 2 in input 'a' and 4 in input 'b'");
    CHECK_OK(ln_context_set_symbol(ctx, "n", 3));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_EQ(warnings, 1);
    ln_msg_set_handler(NULL, NULL);
    ln_context_free(ctx);
}

// As text detectors write height and width.
TEST(a_question_mark_is_no_symbol)
{
    static const char *const texts[] = {"?", "-1", "*"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "input(| dst=a | dtype=TL_FLOAT, dims=[-1, -1], names=[\"%s\", \"%s\"]);\n"
                 "Neg(X=a | Y=y |);\noutput(src=y | |);\n",
                 texts[i], texts[i]);
        ln_context *ctx = open_text(text);
        ln_context_set_strict(ctx, 1);
        CHECK_OK(ln_context_set_shape(ctx, "a", 2, two));
        CHECK_OK(ln_context_compile(ctx, "cpu"));
        ln_context_free(ctx);
    }
}

TEST(an_input_is_given_one_shape_in_a_call)
{
    const ln_input_shape twice[] = {{.tname = "a", .ndim = 2, .dims = two},
                                    {.tname = "a", .ndim = 2, .dims = four}};
    const ln_input_shape negative = {.tname = "a", .ndim = 2, .dims = (int[]){-1, 3}};
    ln_context *ctx = open_text(APART);
    CHECK_EQ(ln_context_reshape(ctx, 2, twice), LN_INVALID);
    CHECK_MESSAGE("input 'a' is given two shapes in one call");
    CHECK_EQ(ln_context_reshape(ctx, 1, &negative), LN_INVALID);
    CHECK_MESSAGE("input 'a' cannot have rank 2 with [-1, 3]");
    ln_context_free(ctx);
}

// An input after an operator that refuses the shape of another one has no entry when that is told.
TEST(inputs_after_the_operator_that_refuses_are_passed_over)
{
    ln_context *ctx = open_text(
        INPUT("a") "create(| dst=s | dtype=TL_INT64, dims=[2], data=[2, 3], from_file=false);\n"
                   "Reshape(data=a, shape=s | reshaped=y |);\n" INPUT("b") "output(src=y | |);\n"
                                                                           "output(src=b | |);\n");
    CHECK_EQ(ln_context_set_shape(ctx, "a", 2, four), LN_INVALID);
    CHECK_MESSAGE("Reshape");
    CHECK_OK(ln_context_set_shape(ctx, "a", 2, two));
    ln_context_free(ctx);
}

TEST(bytes_for_a_dynamic_input_name_the_function_that_takes_a_shape)
{
    ln_context *ctx = load_open(APART);
    CHECK_EQ(ln_context_set_data(ctx, "a", two), LN_STATE);
    CHECK_MESSAGE("an object (ln_context_set_object)");
    ln_program *program;
    ln_session *session;
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK_OK(ln_session_create(program, &session));
    CHECK_EQ(ln_session_set_data(session, "a", two, sizeof two), LN_STATE);
    CHECK_MESSAGE("an object (ln_session_set_object)");
    ln_session_free(session);
    ln_program_release(program);
    ln_context_free(ctx);
}

TEST_LIST(shapes_that_are_bound_name_the_symbol, values_of_runs_name_the_symbol,
          a_symbol_twice_in_one_input, failures_for_another_reason_stay_as_they_are,
          operators_that_take_both_sizes_run_with_a_warning_once, a_question_mark_is_no_symbol,
          an_input_is_given_one_shape_in_a_call,
          inputs_after_the_operator_that_refuses_are_passed_over,
          bytes_for_a_dynamic_input_name_the_function_that_takes_a_shape)
