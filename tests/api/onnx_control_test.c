// SPDX-License-Identifier: Apache-2.0
// Operators that run graphs: If, Loop, Scan, SequenceMap.

#include <stdlib.h>

#include "tests/api/values.h"

#define CONSTANT(name, type, dims, data)                                                           \
    "create(| dst=" name " | dtype=" type ", dims=" dims ", ran=[0, 0], data=" data                \
    ", from_file=false);\n"
#define IN(name)          "input(| dst=" name " | dtype=TL_FLOAT, dims=[], open=true);\n"
#define OUT(name)         "output(src=" name " | |);\n"
#define GRAPH(name, body) "graph " name " {\n" body "}\n"

TEST(one_branch_runs)
{
    ln_context *ctx = run_text(
        CONSTANT("c", "TL_BOOL", "[1]",
                 "[1]") "If(cond=c | outputs1=y | then_branch=\"yes\", "
                        "else_branch=\"no\");\n" GRAPH(
                            "yes", CONSTANT("ya", "TL_FLOAT", "[2]", "[1, 2]") OUT("ya"))
                            GRAPH("no", CONSTANT("na", "TL_FLOAT", "[3]", "[3, 4, 5]") OUT("na")));
    check_numbers(ctx, "y", TL_FLOAT, 1, DIMS(2), NUMBERS(1, 2));
    close_run(ctx);
}

// The state doubles in each trip; what is stacked is the state before it.
#define DOUBLING                                                                                   \
    GRAPH("body", IN("i") IN("go")                                                                 \
                      IN("s") "Add(A=s, B=s | C=t |);\nIdentity(input=s | output=k |);\n"          \
                              "Identity(input=go | output=g |);\n" OUT("g") OUT("t") OUT("k"))

TEST(a_loop_carries_states_and_stacks_values)
{
    ln_context *ctx = run_text(CONSTANT("n", "TL_INT64", "[]", "[3]") CONSTANT(
        "x", "TL_FLOAT", "[2]",
        "[1, 10]") "Loop(M=n, v_initial1=x | v_final_and_scan_outputs1=y, v_final_and_scan_outputs2=z | "
                   "body=\"body\");\n" DOUBLING);
    check_numbers(ctx, "y", TL_FLOAT, 1, DIMS(2), NUMBERS(8, 80));
    check_numbers(ctx, "z", TL_FLOAT, 2, DIMS(3, 2), NUMBERS(1, 10, 2, 20, 4, 40));
    CHECK_OK(ln_context_run(ctx));
    check_numbers(ctx, "z", TL_FLOAT, 2, DIMS(3, 2), NUMBERS(1, 10, 2, 20, 4, 40));
    close_run(ctx);
}

TEST(a_loop_ends_by_its_condition)
{
    ln_context *ctx = run_text(
        CONSTANT("c", "TL_BOOL", "[]", "[1]")
            CONSTANT("x", "TL_FLOAT", "[]", "[1]") "Loop(cond=c, v_initial1=x | v_final_and_scan_outputs1=y | body=\"body\");\n" GRAPH(
                "body", IN("i") IN("go") IN("s") CONSTANT(
                            "most", "TL_FLOAT", "[]",
                            "[100]") "Add(A=s, B=s | C=t |);\nLess(A=t, B=most | C=g |);\n" OUT("g")
                            OUT("t")));
    check_numbers(ctx, "y", TL_FLOAT, 0, NULL, NUMBERS(128));
    close_run(ctx);
}

TEST(no_trip_leaves_the_states_as_they_were)
{
    ln_context *ctx = run_text(CONSTANT("n", "TL_INT64", "[]", "[-5]") CONSTANT(
        "x", "TL_FLOAT", "[1]",
        "[7]") "Loop(M=n, v_initial1=x | v_final_and_scan_outputs1=y | body=\"body\");\n" DOUBLING);
    check_numbers(ctx, "y", TL_FLOAT, 1, DIMS(1), NUMBERS(7));
    close_run(ctx);
}

// Reads, compiles, loads and runs `text` with a limit of work.
static ln_status run_limited(const char *text, double work, ln_context *ctx)
{
    ln_limits limits = ln_limits_default();
    limits.work = work;
    ln_context_set_limits(ctx, &limits);
    LN_TRY(ln_context_init_mem(ctx, text, strlen(text), "model.net"));
    LN_TRY(ln_context_compile(ctx, "ref"));
    LN_TRY(ln_context_load(ctx, NULL));
    return ln_context_run(ctx);
}

TEST(a_loop_without_end_stops_at_the_limit_of_work)
{
    ln_arch_init();
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    const char *text = CONSTANT(
        "x", "TL_FLOAT", "[1]",
        "[7]") "Loop(v_initial1=x | v_final_and_scan_outputs1=y | body=\"body\");\n" DOUBLING;
    CHECK_FAILS(run_limited(text, 1e6, ctx), LN_LIMIT);
    CHECK_MESSAGE("beyond the limit of 1e+06 work units");
    close_run(ctx);
}

// Each trip of the longest Scan there can be is charged, and the default limit ends it in minutes:
// a trip takes about a microsecond.
TEST(a_scan_of_nothing_is_charged_for_its_trips)
{
    ln_arch_init();
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    const char *text = CONSTANT("h", "TL_FLOAT", "[1]", "[7]") CONSTANT(
        "e", "TL_FLOAT", "[2147483647, 0]",
        "[]") "Scan(initial_state_and_scan_inputs1=h, initial_state_and_scan_inputs2=e | "
              "final_state_and_scan_outputs1=y | body=\"step\", num_scan_inputs=1);\n" GRAPH(
                  "step", IN("p") IN("q") "Identity(input=p | output=u |);\n" OUT("u"));
    CHECK_FAILS(run_limited(text, 1e8, ctx), LN_LIMIT);
    CHECK_MESSAGE("beyond the limit of 1e+08 work units");
    close_run(ctx);
    CHECK(ln_limits_default().work / 1e3 < 2147483647.0); // units of a trip are above a thousand
}

TEST(values_that_are_stacked_have_one_shape)
{
    check_fails(
        CONSTANT("n", "TL_INT64", "[]", "[2]") CONSTANT(
            "x", "TL_FLOAT", "[1]",
            "[7]") "Loop(M=n, v_initial1=x | v_final_and_scan_outputs1=y, "
                   "v_final_and_scan_outputs2=z | body=\"body\");\n" GRAPH(
                       "body",
                       IN("i") IN("go") IN(
                           "s") "Concat(inputs1=s, inputs2=s | concat_result=t | axis=0);\n"
                                "Identity(input=s | output=k |);\nIdentity(input=go | output=g |);\n" OUT(
                                    "g") OUT("t") OUT("k")),
        LN_INVALID, "item 1 differs in type or shape");
}

TEST(a_body_that_does_not_fit_is_refused)
{
    check_fails(
        CONSTANT("n", "TL_INT64", "[]",
                 "[2]") "Loop(M=n | v_final_and_scan_outputs1=y | body=\"body\");\n" DOUBLING,
        LN_INVALID, "does not fit 0 states");
    check_fails(
        CONSTANT("n", "TL_INT64", "[]", "[2]") CONSTANT(
            "x", "TL_FLOAT", "[1]",
            "[7]") "Loop(M=n, v_initial1=x | v_final_and_scan_outputs1=y | body=\"nobody\");\n",
        LN_NOT_FOUND, "there is no graph 'nobody'");
}

TEST(a_body_that_does_not_fit_is_refused_before_a_run)
{
    // clang-format off
    static const struct {
        const char *text, *message;
    } rows[] = {
        {CONSTANT("n", "TL_INT64", "[]", "[2]") IN("x")
         "Loop(M=n, v_initial1=x | v_final_and_scan_outputs1=y | body=\"b\");\n"
         GRAPH("b", IN("i") IN("go") "Identity(input=go | output=t |);\n" OUT("t")),
         "`body` has 2 inputs and 1 outputs, which does not fit 1 states and 1 outputs of the loop"},
        {CONSTANT("n", "TL_INT64", "[]", "[0]") IN("x")
         "Loop(M=n, v_initial1=x | v_final_and_scan_outputs1=y | body=\"b\");\n"
         GRAPH("b", IN("i") IN("go") IN("p") "Cast(input=go | output=t | to=1);\n"
               "output(src=t | | dtype=TL_FLOAT);\n" OUT("p")),
         "output 0 of `body`, the condition, is float32 instead of bool"},
        {"input(| dst=c | dtype=TL_FLOAT, dims=[]);\n"
         "If(cond=c | outputs1=y | then_branch=\"b\", else_branch=\"b\");\n"
         GRAPH("b", CONSTANT("t", "TL_FLOAT", "[]", "[1]") OUT("t")),
         "does not take float32 for input 'cond'"},
        {IN("c") "If(cond=c | outputs1=y | then_branch=\"b\", else_branch=\"b\");\n"
         GRAPH("b", IN("i") "Identity(input=i | output=t |);\n" OUT("t")),
         "`then_branch` has 1 inputs and 1 outputs instead of 0 and 1"},
        {IN("h") IN("e") "Scan(initial_state_and_scan_inputs1=h, initial_state_and_scan_inputs2=e | "
         "final_state_and_scan_outputs1=y | body=\"b\", num_scan_inputs=3);\n"
         GRAPH("b", IN("p") IN("q") "Identity(input=p | output=u |);\n" OUT("u")),
         "num_scan_inputs is 3 of 2 inputs"},
        {IN("x") "SequenceConstruct(inputs1=x | output_sequence=s |);\n"
         "SequenceMap(input_sequence=s | out_sequence1=y | body=\"b\");\n"
         GRAPH("b", IN("p") IN("q") "Add(A=p, B=q | C=u |);\n" OUT("u")),
         "`body` has 2 inputs and 1 outputs instead of 1 and 1"},
    };
    // clang-format on
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_arch_init();
        ln_context *ctx = ln_context_create();
        CHECK_NOT_NULL(ctx);
        ln_status status =
            ln_context_init_mem(ctx, rows[i].text, strlen(rows[i].text), "model.net");
        if (status == LN_OK)
            status = ln_context_compile(ctx, "ref");
        CHECK_FAILS(status, LN_INVALID);
        CHECK_MESSAGE(rows[i].message);
        close_run(ctx);
    }
}

TEST(a_scan_goes_both_ways_along_any_axis)
{
    ln_context *ctx = run_text(CONSTANT("h", "TL_FLOAT", "[2]", "[0, 0]") CONSTANT(
        "x", "TL_FLOAT", "[2, 3]",
        "[1, 2, 3, 4, 5, 6]") "Scan(initial_state_and_scan_inputs1=h, initial_state_and_scan_inputs2=x | "
                              "final_state_and_scan_outputs1=y, final_state_and_scan_outputs2=z | body=\"body\", "
                              "num_scan_inputs=1, scan_input_axes=[-1], scan_input_directions=[1], "
                              "scan_output_axes=[1], scan_output_directions=[1]);\n" GRAPH(
                                  "body",
                                  IN("s")
                                      IN("e") "Add(A=s, B=e | C=t |);\nIdentity(input=t | output=k |);\n" OUT(
                                          "t") OUT("k")));
    check_numbers(ctx, "y", TL_FLOAT, 1, DIMS(2), NUMBERS(6, 15));
    check_numbers(ctx, "z", TL_FLOAT, 2, DIMS(2, 3), NUMBERS(6, 5, 3, 15, 11, 6));
    close_run(ctx);
}

TEST(the_old_scan_has_a_batch_with_lengths)
{
    ln_context *ctx = run_text(
        CONSTANT("l", "TL_INT64", "[2]", "[3, 1]") CONSTANT("h", "TL_FLOAT", "[2, 1]", "[0, 10]") CONSTANT(
            "x", "TL_FLOAT", "[2, 3, 1]",
            "[1, 2, 3, 4, 5, 6]") "Scan(initial_state_and_scan_inputs1=l, initial_state_and_scan_inputs2=h, "
                                  "initial_state_and_scan_inputs3=x | final_state_and_scan_outputs1=y, "
                                  "final_state_and_scan_outputs2=z | since=8, body=\"body\", num_scan_inputs=1);\n" GRAPH(
                                      "body",
                                      IN("s")
                                          IN("e") "Add(A=s, B=e | C=t |);\nIdentity(input=t | output=k |);\n" OUT(
                                              "t") OUT("k")));
    check_numbers(ctx, "y", TL_FLOAT, 2, DIMS(2, 1), NUMBERS(6, 14));
    check_numbers(ctx, "z", TL_FLOAT, 3, DIMS(2, 3, 1), NUMBERS(1, 3, 6, 14, 0, 0));
    close_run(ctx);

    ctx = run_text(CONSTANT("h", "TL_FLOAT", "[1, 1]", "[0]") CONSTANT(
        "x", "TL_FLOAT", "[1, 2, 1]",
        "[1, 2]") "Scan(initial_state_and_scan_inputs2=h, initial_state_and_scan_inputs3=x | "
                  "final_state_and_scan_outputs1=y | since=8, body=\"body\", "
                  "num_scan_inputs=1);\n" GRAPH(
                      "body", IN("s") IN("e") "Add(A=s, B=e | C=t |);\n" OUT("t")));
    check_numbers(ctx, "y", TL_FLOAT, 2, DIMS(1, 1), NUMBERS(3));
    close_run(ctx);
}

TEST(nothing_stacked_has_the_shape_of_a_trial)
{
    ln_context *ctx = run_text(
        CONSTANT("n", "TL_INT64", "[]", "[0]") CONSTANT("x", "TL_FLOAT", "[2]", "[1, 10]") CONSTANT(
            "e", "TL_FLOAT", "[2, 0]",
            "[]") "Loop(M=n, v_initial1=x | v_final_and_scan_outputs1=y, v_final_and_scan_outputs2=z | "
                  "body=\"body\");\n"
                  "Scan(initial_state_and_scan_inputs1=x, initial_state_and_scan_inputs2=e | "
                  "final_state_and_scan_outputs1=v, final_state_and_scan_outputs2=w | body=\"step\", "
                  "num_scan_inputs=1, scan_input_axes=[1], scan_output_axes=[-1]);\n" DOUBLING
                      GRAPH("step", IN("p") IN("q") "Add(A=p, B=q | C=u |);\n" OUT("p") OUT("u")));
    check_numbers(ctx, "y", TL_FLOAT, 1, DIMS(2), NUMBERS(1, 10));
    check_numbers(ctx, "z", TL_FLOAT, 2, DIMS(0, 2), NULL);
    check_numbers(ctx, "v", TL_FLOAT, 1, DIMS(2), NUMBERS(1, 10));
    check_numbers(ctx, "w", TL_FLOAT, 2, DIMS(2, 0), NULL);
    close_run(ctx);
}

TEST(graphs_see_tensors_around_them)
{
    ln_context *ctx = run_text(
        CONSTANT("n", "TL_INT64", "[]", "[2]") CONSTANT("x", "TL_FLOAT", "[1]", "[1]")
            CONSTANT("a", "TL_FLOAT", "[1]", "[5]") "Loop(M=n, v_initial1=x, capture1=a | v_final_and_scan_outputs1=y | body=\"body\");\n" GRAPH(
                "body",
                IN("i") IN("go") IN(
                    "s") "input(| dst=a | dtype=TL_FLOAT, dims=[], open=true, capture=true);\n"
                         "If(cond=go, capture1=s, capture2=a | outputs1=t | then_branch=\"yes\", "
                         "else_branch=\"no\");\n" OUT("go") OUT("t"))
                GRAPH("yes", "input(| dst=s | dtype=TL_FLOAT, dims=[], open=true, capture=true);\n"
                             "input(| dst=a | dtype=TL_FLOAT, dims=[], open=true, capture=true);\n"
                             "Add(A=s, B=a | C=sum |);\n" OUT("sum"))
                    GRAPH("no",
                          "input(| dst=s | dtype=TL_FLOAT, dims=[], open=true, capture=true);\n"
                          "Identity(input=s | output=same |);\n" OUT("same")));
    check_numbers(ctx, "y", TL_FLOAT, 1, DIMS(1), NUMBERS(11));
    close_run(ctx);
}

TEST(a_map_goes_over_sequences_together)
{
    ln_context *ctx = run_text(CONSTANT("a", "TL_FLOAT", "[1]", "[1]") CONSTANT(
        "b", "TL_FLOAT", "[2]",
        "[2, 3]") "SequenceConstruct(inputs1=a, inputs2=b | output_sequence=s |);\n"
                  "SequenceMap(input_sequence=s, additional_inputs1=s, additional_inputs2=a | "
                  "out_sequence1=t | body=\"body\");\n"
                  "ConcatFromSequence(input_sequence=t | concat_result=y | axis=0);\n" GRAPH(
                      "body",
                      IN("p") IN("q")
                          IN("r") "Add(A=p, B=q | C=u |);\nAdd(A=u, B=r | C=v |);\n" OUT("v")));
    check_numbers(ctx, "y", TL_FLOAT, 1, DIMS(3), NUMBERS(3, 5, 7));
    close_run(ctx);
}

TEST_LIST(one_branch_runs, a_body_that_does_not_fit_is_refused_before_a_run,
          a_loop_carries_states_and_stacks_values, a_loop_ends_by_its_condition,
          no_trip_leaves_the_states_as_they_were, a_loop_without_end_stops_at_the_limit_of_work,
          a_scan_of_nothing_is_charged_for_its_trips, values_that_are_stacked_have_one_shape,
          a_body_that_does_not_fit_is_refused, a_scan_goes_both_ways_along_any_axis,
          the_old_scan_has_a_batch_with_lengths, a_map_goes_over_sequences_together,
          nothing_stacked_has_the_shape_of_a_trial, graphs_see_tensors_around_them)
