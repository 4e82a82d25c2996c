// SPDX-License-Identifier: Apache-2.0
// Firings: numbered, listed, skipped, limited; rules from files; the model after each pass.

#include "tests/api/model.h"

#include <stdlib.h>

#include <lightnet/serializer.h>

#include "tests/oom.h"

#define MAX_SEEN 64

// The firings of a compilation, as text: "3 conv_relu at relu0", with a minus before what was
// skipped, a "!" before what has failed, and a "?" before what was refused.
typedef struct seen_firings {
    char lines[MAX_SEEN][160];
    size_t count;
} seen_firings;

static void note_firing(void *user, const ln_firing *firing)
{
    seen_firings *seen = user;
    CHECK(seen->count < MAX_SEEN);
    CHECK_NOT_NULL(firing->pass);
    CHECK_NOT_NULL(firing->optype);
    CHECK_EQ(firing->is_refused, firing->reason != NULL);
    const char *mark = firing->is_skipped   ? "-"
                       : firing->is_failed  ? "!"
                       : firing->is_refused ? "?"
                                            : "";
    snprintf(seen->lines[seen->count++], sizeof seen->lines[0], "%s%zu %s at %s", mark,
             firing->number, firing->rule, firing->op);
}

static ln_status compile_seen(const char *model, const char *target, ln_optimize_options *options,
                              seen_firings *out_seen)
{
    *out_seen = (seen_firings){.count = 0};
    options->on_firing = note_firing;
    options->user = out_seen;
    ln_context *ctx = open_text(model);
    ln_status status = ln_context_compile_with(ctx, target, options);
    CHECK_EQ(ln_context_check(ctx), 1);
    close_context(ctx);
    return status;
}

static void check_lines(const char *why, const seen_firings *seen, const char *const *expected)
{
    size_t i = 0;
    for (; i < seen->count && expected[i]; i++)
        if (strcmp(seen->lines[i], expected[i]) != 0)
            fail_msg("%s: firing '%s' instead of '%s'", why, seen->lines[i], expected[i]);
    if (i < seen->count || expected[i])
        fail_msg("%s: after %zu firings comes '%s' instead of '%s'", why, i,
                 i < seen->count ? seen->lines[i] : "nothing",
                 expected[i] ? expected[i] : "nothing");
}

#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})

// ---- Numbers ----

static const char act_chain[] = "input(| dst=x | dtype=TL_FLOAT, dims=[4]);\n"
                                "act(src=x | dst=a | act=relu);\n"
                                "rearange(src=a | dst=b | start=0, stop=4, step=1);\n"
                                "act(src=b | dst=y | act=relu);\n";

TEST(every_rewrite_has_a_number)
{
    CHECK_OK(ln_arch_init());
    ln_optimize_options options = ln_optimize_options_default();
    seen_firings seen;
    CHECK_OK(compile_seen(act_chain, "cpu", &options, &seen));
    check_lines("lowering", &seen,
                LINES("1 input_ref at input0", "2 act_cpu at act0", "3 rearange_ref at rearange0",
                      "4 act_cpu at act1", "5 output_ref at output0"));
    CHECK_OK(compile_seen(CONV_MODEL, "ref", &options, &seen));
    CHECK_STR_EQ(seen.lines[0], "1 conv2d at conv2d0");
    CHECK_STR_EQ(seen.lines[1], "2 relu at relu0");
    CHECK_STR_EQ(seen.lines[2], "3 conv_batchnorm at batchnorm0");
    CHECK_STR_EQ(seen.lines[3], "4 conv_relu at relu0");
    ln_arch_cleanup();
}

// Which firings were looked at: texts last as long as the call.
typedef struct first_firings {
    bool general, lowering;
} first_firings;

static void check_firsts(void *user, const ln_firing *firing)
{
    first_firings *seen = user;
    bool *is_seen = firing->is_lowering ? &seen->lowering : &seen->general;
    if (*is_seen)
        return;
    *is_seen = true;
    CHECK_STR_EQ(firing->pass, firing->is_lowering ? "expand" : "core");
    CHECK_STR_EQ(firing->tag, "exact");
    CHECK_NOT_NULL(strstr(firing->file, firing->is_lowering ? "ref.rules" : "from_lightnet.rules"));
    CHECK(firing->line > 0);
}

TEST(a_firing_says_where_it_comes_from)
{
    CHECK_OK(ln_arch_init());
    ln_optimize_options options = ln_optimize_options_default();
    first_firings seen = {false, false};
    options.on_firing = check_firsts;
    options.user = &seen;
    ln_context *ctx = open_text(CONV_MODEL);
    CHECK_OK(ln_context_compile_with(ctx, "ref", &options));
    CHECK(seen.general && seen.lowering);
    close_context(ctx);
    ln_arch_cleanup();
}

// ---- Skipping ----

TEST(a_skipped_rule_leaves_the_numbers_before_it)
{
    CHECK_OK(ln_arch_init());
    ln_optimize_options options = ln_optimize_options_default();
    seen_firings all, seen;
    CHECK_OK(compile_seen(CONV_MODEL, "ref", &options, &all));
    options.skip = (const size_t[]){4};
    options.skip_count = 1;
    CHECK_OK(compile_seen(CONV_MODEL, "ref", &options, &seen));
    CHECK_STR_EQ(seen.lines[0], all.lines[0]);
    CHECK_STR_EQ(seen.lines[1], all.lines[1]);
    CHECK_STR_EQ(seen.lines[2], all.lines[2]);
    CHECK_STR_EQ(seen.lines[3], "-4 conv_relu at relu0");
    CHECK_STR_EQ(seen.lines[4], all.lines[4]); // it was not counted again in a later walk
    CHECK_EQ(seen.count, all.count + 1);       // the relu is lowered by itself
    ln_arch_cleanup();
}

TEST(a_skipped_lowering_falls_to_the_next_arch)
{
    CHECK_OK(ln_arch_init());
    ln_optimize_options options = ln_optimize_options_default();
    seen_firings seen;
    options.skip = (const size_t[]){2};
    options.skip_count = 1;
    CHECK_OK(compile_seen(act_chain, "cpu", &options, &seen));
    check_lines("relu0 on ref", &seen,
                LINES("1 input_ref at input0", "-2 act_cpu at act0", "3 act_ref at act0",
                      "4 rearange_ref at rearange0", "5 act_cpu at act1",
                      "6 output_ref at output0"));
    ln_arch_cleanup();
}

TEST(what_cannot_be_skipped_is_said)
{
    CHECK_OK(ln_arch_init());
    ln_optimize_options options = ln_optimize_options_default();
    seen_firings seen;
    options.skip = (const size_t[]){3};
    options.skip_count = 1;
    CHECK_FAILS(compile_seen(act_chain, "cpu", &options, &seen), LN_UNSUPPORTED);
    CHECK_MESSAGE(
        "firing 3 cannot be skipped: nothing else of the target takes 'rearange0' (rearange)");
    options.skip = (const size_t[]){2, 99};
    options.skip_count = 2;
    CHECK_FAILS(compile_seen(act_chain, "cpu", &options, &seen), LN_NOT_FOUND);
    CHECK_MESSAGE("there is no firing 99 to skip: there were 6");
    options.skip = (const size_t[]){0};
    options.skip_count = 1;
    CHECK_FAILS(compile_seen(act_chain, "cpu", &options, &seen), LN_NOT_FOUND);
    ln_arch_cleanup();
}

static int is_not_act_cpu(void *user, const ln_firing *firing)
{
    (void)user;
    return strcmp(firing->rule, "act_cpu") != 0;
}

TEST(a_function_may_refuse_firings)
{
    CHECK_OK(ln_arch_init());
    ln_optimize_options options = ln_optimize_options_default();
    seen_firings seen;
    options.wants_firing = is_not_act_cpu;
    CHECK_OK(compile_seen(act_chain, "cpu", &options, &seen));
    check_lines("no act_cpu", &seen,
                LINES("1 input_ref at input0", "-2 act_cpu at act0", "3 act_ref at act0",
                      "4 rearange_ref at rearange0", "-5 act_cpu at act1", "6 act_ref at act1",
                      "7 output_ref at output0"));
    ln_arch_cleanup();
}

// ---- The limit ----

// Types of the operators in order, with a blank behind each.
static void print_types(const ln_context *ctx, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (const ln_list *l = ctx->ops; l && used < size; l = l->next)
        used += (size_t)snprintf(buffer + used, size - used, "%s ",
                                 ((const ln_op *)l->data)->op_arg->optype);
}

static void check_limited(const char *model, size_t limit, const char *expected)
{
    char types[1024];
    ln_optimize_options options = ln_optimize_options_default();
    options.firing_limit = limit;
    ln_context *ctx = open_text(model);
    CHECK_OK(ln_context_compile_with(ctx, "cpu", &options));
    print_types(ctx, types, sizeof types);
    CHECK_STR_EQ(types, expected);
    close_context(ctx);
}

TEST(beyond_the_limit_everything_is_on_the_last_arch_and_no_rule_fires)
{
    CHECK_OK(ln_arch_init());
    check_limited(act_chain, 0, "input_ref act_ref rearange_ref act_ref output_ref ");
    check_limited(act_chain, 1, "input_ref act_ref rearange_ref act_ref output_ref ");
    check_limited(act_chain, 2, "input_ref act_cpu rearange_ref act_ref output_ref ");
    check_limited(act_chain, 3, "input_ref act_cpu rearange_ref act_ref output_ref ");
    check_limited(act_chain, 4, "input_ref act_cpu rearange_ref act_cpu output_ref ");
    check_limited(act_chain, SIZE_MAX, "input_ref act_cpu rearange_ref act_cpu output_ref ");
    check_limited(CONV_MODEL, 0,
                  "input_ref create_ref create_ref conv_ref create_ref create_ref batchnorm_ref "
                  "act_ref output_ref ");
    ln_arch_cleanup();
}

// ---- Passes ----

typedef struct seen_passes {
    char names[128];
    size_t op_counts[16];
    size_t count;
    ln_status answer;
} seen_passes;

static ln_status note_pass(void *user, const char *pass, double seconds, const ln_context *ctx)
{
    seen_passes *seen = user;
    CHECK(seconds >= 0);
    CHECK_EQ(ln_context_check(ctx), 1);
    CHECK(seen->count < sizeof seen->op_counts / sizeof seen->op_counts[0]);
    strncat(seen->names, pass, sizeof seen->names - strlen(seen->names) - 2);
    strcat(seen->names, " ");
    seen->op_counts[seen->count++] = (size_t)ln_list_length(ctx->ops);
    return seen->answer ? LN_FAIL(seen->answer, "enough") : LN_OK;
}

static seen_passes see_passes(const char *passes, const char *stop_after, ln_status answer,
                              ln_status expected)
{
    seen_passes seen = {.answer = answer};
    ln_optimize_options options = ln_optimize_options_default();
    options.passes = passes;
    options.stop_after = stop_after;
    options.on_pass = note_pass;
    options.user = &seen;
    ln_context *ctx = open_text(CONV_MODEL);
    ln_status status = ln_context_optimize_with(ctx, "ref", &options);
    if (status != expected)
        fail_msg("%s: %s", ln_status_name(status), ln_error_message());
    CHECK_EQ(ctx->state, LN_CONTEXT_READY);
    close_context(ctx);
    return seen;
}

TEST(each_pass_is_told)
{
    CHECK_OK(ln_arch_init());
    seen_passes seen = see_passes(NULL, NULL, LN_OK, LN_OK);
    CHECK_NOT_NULL(strstr(
        seen.names, "core widen fold place layout settle join tune expand fuse combine subgraph "
                    "scratch "
                    "schedule "));
    CHECK_EQ(seen.op_counts[2], 9); // conv2d, two folding operators for batchnorm and relu, output
    CHECK_STR_EQ(see_passes("expand,fold", NULL, LN_OK, LN_OK).names, "core fold expand ");
    CHECK_STR_EQ(see_passes(NULL, "expand", LN_OK, LN_OK).names,
                 "dead core widen fold place layout settle join tune expand ");
    CHECK_STR_EQ(see_passes("combine,fold", "expand", LN_OK, LN_OK).names, "fold ");
    CHECK_STR_EQ(see_passes(NULL, NULL, LN_STATE, LN_STATE).names, "dead ");
    see_passes(NULL, "fould", LN_OK, LN_NOT_FOUND);
    CHECK_MESSAGE("there is no pass 'fould'");
    ln_arch_cleanup();
}

// ---- Rules of the user ----

static const char *write_rules(const char *text)
{
    static const char path[] = LN_BUILD_DIR "/optimize_test.rules";
    FILE *file = fopen(path, "w");
    CHECK_NOT_NULL(file);
    CHECK(fputs(text, file) >= 0);
    CHECK_EQ(fclose(file), 0);
    return path;
}

TEST(rules_of_a_file_come_first)
{
    CHECK_OK(ln_arch_init());
    const char *path = write_rules("rule range_relu [exact]\n  y = act(b | any(act) \"lost\")\n"
                                   "  b = rearange(a | any(start, stop, step) \"lost\")\n"
                                   "  => y = act(a | act=\"sigmoid\")\n"
                                   "lower act => act_ref\n");
    ln_optimize_options options = ln_optimize_options_default();
    options.rule_files = &path;
    options.rule_file_count = 1;
    seen_firings seen;
    CHECK_OK(compile_seen(act_chain, "cpu", &options, &seen));
    check_lines("the file's rule and lowering", &seen,
                LINES("1 range_relu at act1", "2 input_ref at input0", "3 act_ref at act0",
                      "4 act_ref at act1", "5 output_ref at output0"));
    write_rules("rule r [exact] y = relu(b) b = nosuch(a) => y = relu(a)\n");
    CHECK_FAILS(compile_seen(act_chain, "cpu", &options, &seen), LN_INVALID);
    CHECK_MESSAGE("optimize_test.rules:1");
    write_rules("rule r [exact\n");
    CHECK_FAILS(compile_seen(act_chain, "cpu", &options, &seen), LN_SYNTAX);
    path = LN_BUILD_DIR "/no/such.rules";
    CHECK_FAILS(compile_seen(act_chain, "cpu", &options, &seen), LN_IO);
    path = NULL;
    CHECK_FAILS(compile_seen(act_chain, "cpu", &options, &seen), LN_INVALID);
    ln_arch_cleanup();
}

TEST(what_built_in_rules_make_is_offered_to_rules_of_a_file)
{
    CHECK_OK(ln_arch_init());
    const char *path = write_rules("rule late [exact]\n  y = act(r | act=\"sigmoid\")\n"
                                   "  r = conv(x, w, b | act=\"relu\")\n"
                                   "  => y = conv(x, w, b | params(r))\n");
    ln_optimize_options options = ln_optimize_options_default();
    options.rule_files = &path;
    options.rule_file_count = 1;
    seen_firings seen;
    CHECK_OK(compile_seen(CONV_MODEL "sigmoid(src=y | dst=z |);", "ref", &options, &seen));
    CHECK_STR_EQ(seen.lines[4], "5 conv_relu at relu0");
    CHECK_STR_EQ(seen.lines[5], "6 late at sigmoid0");

    // And before it is offered to other built-in rules.
    write_rules(
        "rule mine [exact]\n  r = act(c | act=\"relu\")\n  c = conv(x, w, b | act=\"none\")\n"
        "  => r = conv(x, w, b | params(c), act=\"relu\")\n");
    CHECK_OK(compile_seen(CONV_MODEL, "ref", &options, &seen));
    CHECK_STR_EQ(seen.lines[2], "3 conv_batchnorm at batchnorm0");
    CHECK_STR_EQ(seen.lines[3], "4 mine at relu0");
    ln_arch_cleanup();
}

TEST(a_refused_rewrite_is_told_and_the_model_stays)
{
    CHECK_OK(ln_arch_init());
    const char *path = write_rules("rule swapped [exact]\n  y = relu(c)\n"
                                   "  c = batchnorm(n, s, o, m, v | any(epsilon) \"lost\")\n"
                                   "  => y = conv2d(s, n, o | size=[1, 1])\n");
    ln_optimize_options options = ln_optimize_options_default();
    options.rule_files = &path;
    options.rule_file_count = 1;
    seen_firings seen, usual;
    CHECK_OK(compile_seen(CONV_MODEL, "ref", &options, &seen));
    CHECK_STR_EQ(ln_error_message(), "");
    CHECK_STR_EQ(seen.lines[0], "?1 swapped at relu0");
    options.rule_file_count = 0;
    CHECK_OK(compile_seen(CONV_MODEL, "ref", &options, &usual));
    CHECK_EQ(seen.count, usual.count + 1); // it was tried once
    for (size_t i = 0; i < usual.count; i++)
        CHECK_STR_EQ(strchr(seen.lines[i + 1], ' '), strchr(usual.lines[i], ' '));

    // It has its number also where it is skipped.
    options.rule_file_count = 1;
    options.skip = (const size_t[]){1};
    options.skip_count = 1;
    CHECK_OK(compile_seen(CONV_MODEL, "ref", &options, &usual));
    CHECK_STR_EQ(usual.lines[0], "-1 swapped at relu0");
    CHECK_EQ(seen.count, usual.count);
    for (size_t i = 1; i < usual.count; i++)
        CHECK_STR_EQ(seen.lines[i], usual.lines[i]);
    ln_arch_cleanup();
}

TEST(a_result_of_another_type_or_shape_is_refused)
{
    static const char turned[] = "input(| dst=x | dtype=TL_FLOAT, dims=[2, 3]);\n"
                                 "transpose(src=x | dst=t | axes=[1, 0]);\n"
                                 "act(src=t | dst=y | act=relu);\n";
    static const char typed[] = "input(| dst=x | dtype=TL_FLOAT, dims=[2, 3]);\n"
                                "cast(src=x | dst=t | to=6);\n"
                                "act(src=t | dst=y | act=relu);\n";
    CHECK_OK(ln_arch_init());
    const char *path = write_rules("rule turned [exact]\n  y = act(t | act=\"relu\")\n"
                                   "  t = transpose(x | any(axes) \"lost\")\n"
                                   "  => y = act(x | act=\"relu\")\n"
                                   "rule typed [exact]\n  y = act(t | act=\"relu\")\n"
                                   "  t = cast(x | any(to) \"lost\")\n"
                                   "  => y = act(x | act=\"relu\")\n");
    ln_optimize_options options = ln_optimize_options_default();
    options.rule_files = &path;
    options.rule_file_count = 1;
    seen_firings seen;
    CHECK_OK(compile_seen(turned, "ref", &options, &seen));
    CHECK_STR_EQ(seen.lines[0], "?1 turned at act0");
    CHECK_OK(compile_seen(typed, "ref", &options, &seen));
    CHECK_STR_EQ(seen.lines[0], "?1 typed at act0");
    ln_arch_cleanup();
}

// ---- Functions of an arch ----

static ln_list *make_relu(const ln_context *ctx, const char *name, const char *src, const char *dst)
{
    return ln_list_append(NULL,
                          ln_op_create_from_proto(
                              ln_op_find("act_ref"), name, ln_tensor_list_append(NULL, "src", src),
                              ln_tensor_list_append(NULL, "dst", dst),
                              ln_param_list_append_string(NULL, "act", "relu"), ctx->tensor_table));
}

static ln_list *join_relus(const ln_context *ctx, const ln_list *win_ops, size_t win_size,
                           int *match)
{
    const ln_op_arg *first = ((const ln_op *)win_ops->data)->op_arg;
    const ln_op_arg *second = ((const ln_op *)win_ops->next->data)->op_arg;
    *match =
        win_size == 2 && ln_streq(first->optype, "act_ref") && ln_streq(second->optype, "act_ref");
    if (!*match)
        return NULL;
    return make_relu(ctx, second->name, ln_tensor_list_find_name(first->tensors_in, "src"),
                     ln_tensor_list_find_name(second->tensors_out, "dst"));
}

static ln_list *expand_relu(const ln_context *ctx, const ln_op *op, int *match)
{
    *match = ln_streq(op->op_arg->optype, "relu");
    if (!*match)
        return NULL;
    return make_relu(ctx, op->op_arg->name, ln_tensor_list_find_name(op->op_arg->tensors_in, "src"),
                     ln_tensor_list_find_name(op->op_arg->tensors_out, "dst"));
}

static ln_list *same_order(const ln_context *ctx)
{
    return ln_list_copy(ctx->ops);
}

// The last operator of the list becomes another one of the same type.
static ln_list *renew_last(const ln_context *ctx, ln_list **old_ops)
{
    const ln_list *last = ctx->ops;
    while (last->next)
        last = last->next;
    *old_ops = ln_list_append(NULL, last->data);
    return ln_list_append(NULL, ln_op_copy(last->data));
}

TEST(functions_of_an_arch_are_numbered_and_can_be_skipped)
{
    static const char relus[] = "input(| dst=x | dtype=TL_FLOAT, dims=[2]);"
                                "relu(src=x | dst=a |); relu(src=a | dst=y |);";
    CHECK_OK(ln_arch_init());
    ln_expander_func ep_funcs[] = {expand_relu, NULL};
    ln_combiner_func cb_funcs[] = {join_relus, NULL};
    ln_subgraph_func sg_funcs[] = {renew_last, NULL};
    ln_schedule_func sd_funcs[] = {same_order, NULL};
    ln_arch hand = {.arch_name = "hand",
                    .ep_funcs = ep_funcs,
                    .cb_funcs = cb_funcs,
                    .sg_funcs = sg_funcs,
                    .sd_funcs = sd_funcs,
                    .fallbacks = "ref"};
    CHECK_OK(ln_arch_register(&hand));
    ln_optimize_options options = ln_optimize_options_default();
    options.passes = "expand,combine,subgraph,schedule"; // no rule takes the relus before
    seen_firings seen;
    CHECK_OK(compile_seen(relus, "hand", &options, &seen));
    check_lines("all", &seen,
                LINES("1 expander 0 of hand at relu0", "2 expander 0 of hand at relu1",
                      "3 input_ref at input0", "4 output_ref at output0",
                      "5 combiner 0 of hand at relu0", "6 subgraph 0 of hand at output0",
                      "7 schedule 0 of hand at input0"));
    options.skip = (const size_t[]){1, 7, 8, 9};
    options.skip_count = 4;
    CHECK_OK(compile_seen(relus, "hand", &options, &seen));
    check_lines("some skipped", &seen,
                LINES("-1 expander 0 of hand at relu0", "2 expander 0 of hand at relu1",
                      "3 relu at relu0", "4 input_ref at input0", "5 act_ref at relu0",
                      "6 output_ref at output0", "-7 combiner 0 of hand at relu0",
                      "-8 subgraph 0 of hand at output0", "-9 schedule 0 of hand at input0"));
    CHECK_OK(ln_arch_unregister("hand"));
    ln_arch_cleanup();
}

static char asked[1024]; // "name:type " of each operator that the expander below was offered

// Takes the first relu as it was read, and the second as the core has it.
static ln_list *expand_some(const ln_context *ctx, const ln_op *op, int *match)
{
    const ln_op_arg *arg = op->op_arg;
    size_t len = strlen(asked);
    snprintf(asked + len, sizeof asked - len, "%s:%s ", arg->name, arg->optype);
    *match = (ln_streq(arg->name, "first") && ln_streq(arg->optype, "relu")) ||
             (ln_streq(arg->name, "second") && ln_streq(arg->optype, "act"));
    return *match ? make_relu(ctx, arg->name, ln_tensor_list_find_name(arg->tensors_in, "src"),
                              ln_tensor_list_find_name(arg->tensors_out, "dst"))
                  : NULL;
}

TEST(expanders_and_rules_are_asked_before_the_core_and_again_after_it)
{
    CHECK_OK(ln_arch_init());
    ln_expander_func ep_funcs[] = {expand_some, NULL};
    ln_arch hand = {.arch_name = "hand", .ep_funcs = ep_funcs, .fallbacks = "ref"};
    CHECK_OK(ln_arch_register(&hand));
    const char *path = write_rules("rule as_read [exact]\n  y = lrelu(x | negslope=0)\n"
                                   "  => y = act(x | act=\"relu\")\n"
                                   "rule as_core [rounds]\n  y = act(c | act=\"sigmoid\")\n"
                                   "  c = act(x | act=\"relu\")\n"
                                   "  => y = act(x | act=\"sigmoid\")\n");
    ln_optimize_options options = ln_optimize_options_default();
    options.rule_files = &path;
    options.rule_file_count = 1;
    options.passes = "core,fold,expand";
    seen_firings seen;
    asked[0] = '\0';
    CHECK_OK(compile_seen("input(| dst=x | dtype=TL_FLOAT, dims=[2]);"
                          "first: relu(src=x | dst=a |); second: relu(src=a | dst=b |);"
                          "third: lrelu(src=x | dst=c | negslope=0);"
                          "fourth: sigmoid(src=c | dst=y |);",
                          "hand", &options, &seen));
    check_lines("all", &seen,
                LINES("1 as_read at third", "2 expander 0 of hand at first", "3 relu at second",
                      "4 sigmoid at fourth", "5 as_core at fourth", "6 input_ref at input0",
                      "7 expander 0 of hand at second", "8 act_ref at fourth",
                      "9 output_ref at output0", "10 output_ref at output1"));
    CHECK_STR_EQ(asked, "first:relu second:relu fourth:sigmoid "
                        "input0:input first:act_ref second:act fourth:act "
                        "output0:output output1:output ");
    CHECK_OK(ln_arch_unregister("hand"));
    ln_arch_cleanup();
}

// ---- Keeping tensors ----

TEST(kept_tensors_can_be_looked_at_after_a_run)
{
    CHECK_OK(ln_arch_init());
    ln_optimize_options options = ln_optimize_options_default();
    options.keeps_tensors = 1;
    ln_context *ctx = open_text("input(| dst=x | dtype=TL_FLOAT, dims=[16]);\n"
                                "relu(src=x | dst=a |); sigmoid(src=a | dst=b |);\n"
                                "reshape(src=b | dst=v | dims=[4, 4]);\n"
                                "relu(src=v | dst=c |); sigmoid(src=c | dst=d |);\n"
                                "lrelu(src=d | dst=y | negslope=0.5);\n");
    CHECK_OK(ln_context_compile_with(ctx, "ref", &options));
    CHECK_OK(ln_context_load(ctx, NULL));
    float x[16], a[16], v[16];
    for (int i = 0; i < 16; i++)
        x[i] = (float)(i - 8);
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "a", a));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "v", v));
    for (int i = 0; i < 16; i++) {
        CHECK_NEAR(a[i], x[i] > 0 ? x[i] : 0, 0);
        CHECK(v[i] >= 0.5f && v[i] < 1);
    }
    size_t kept = ctx->mem_sizes[LN_MEM_CPU];
    close_context(ctx);
    CHECK(kept >= 64 + 6 * 16 * sizeof(float)); // all but the view
    ln_arch_cleanup();
}

// ---- No memory ----

// ---- What is computed twice ----

// A linear function of 66 columns, whose last coefficient is `last`.
static size_t put_function(char *text, size_t size, const char *name, const char *last)
{
    size_t used =
        (size_t)snprintf(text, size, "ml_LinearRegressor(X=x | Y=%s | coefficients=[", name);
    for (int i = 0; i < 65; i++)
        used += (size_t)snprintf(text + used, size - used, "0.%d, ", i + 1);
    return used + (size_t)snprintf(text + used, size - used,
                                   "%s], targets=1, post_transform=PROBIT);\n", last);
}

TEST(operators_with_long_arrays_are_merged_if_all_is_equal)
{
    CHECK_OK(ln_arch_init());
    char text[4096];
    size_t used =
        (size_t)snprintf(text, sizeof text, "input(| dst=x | dtype=TL_FLOAT, dims=[2, 66]);\n");
    used += put_function(text + used, sizeof text - used, "a", "3");
    used += put_function(text + used, sizeof text - used, "b", "3");
    used += put_function(text + used, sizeof text - used, "c", "4");
    snprintf(text + used, sizeof text - used,
             "elew(src1=a, src2=b | dst=d | elew_op=TL_SUM);\n"
             "elew(src1=c, src2=d | dst=y | elew_op=TL_SUM);\n");
    ln_optimize_options options = ln_optimize_options_default();
    seen_firings seen;
    CHECK_OK(compile_seen(text, "cpu", &options, &seen));
    size_t merged = 0;
    for (size_t i = 0; i < seen.count; i++)
        merged += strstr(seen.lines[i], "computed_before") != NULL;
    CHECK_EQ(merged, 1);
    ln_arch_cleanup();
}

// ---- Tuning ----

// Requests for memory while a convolution is compiled, after all readers are gone.
static size_t count_requests_of_compiling(bool tunes)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx =
        open_text("input(| dst=x | dtype=TL_FLOAT, dims=[1, 16, 12, 12]);\n"
                  "create(| dst=w | dtype=TL_FLOAT, dims=[16, 16, 3, 3], ran=[-1, 1]);\n"
                  "create(| dst=b | dtype=TL_FLOAT, dims=[16], ran=[-1, 1]);\n"
                  "conv2d(src=x, weight=w, bias=b | dst=y | size=[3, 3]);\n");
    CHECK_OK(ln_serializer_unregister("il"));
    CHECK_OK(ln_serializer_unregister("ir"));
    ln_optimize_options options = ln_optimize_options_default();
    options.tunes = tunes;
    test_oom oom;
    test_oom_start(&oom, SIZE_MAX);
    CHECK_OK(ln_context_compile_with(ctx, "cpu", &options));
    test_oom_stop();
    close_context(ctx);
    ln_arch_cleanup();
    return oom.requests;
}

// Each algorithm is compiled and loaded as a model of its own.
TEST(tuning_needs_no_reader)
{
    size_t plain = count_requests_of_compiling(false);
    CHECK(count_requests_of_compiling(true) > 2 * plain);
}

TEST(out_of_memory_leaks_nothing)
{
    CHECK_OK(ln_arch_init());
    const char *path = write_rules("rule range_relu [exact]\n  y = act(b | any(act) \"lost\")\n"
                                   "  b = rearange(a | any(start, stop, step) \"lost\")\n"
                                   "  => y = act(a | act=\"sigmoid\")\n");
    ln_optimize_options options = ln_optimize_options_default();
    options.rule_files = &path;
    options.rule_file_count = 1;
    options.skip = (const size_t[]){1, 3};
    options.skip_count = 2;
    options.keeps_tensors = 1;
    OOM_SWEEP(n)
    {
        ln_context *ctx = ln_context_create();
        if (ctx && ln_context_init_mem(ctx, act_chain, strlen(act_chain), "x.net") == LN_OK) {
            ln_status status = ln_context_compile_with(ctx, "cpu", &options);
            CHECK(status == LN_OK || status == LN_NO_MEMORY);
        }
        ln_context_free(ctx);
    }
    ln_arch_cleanup();
}

TEST_LIST(every_rewrite_has_a_number, a_firing_says_where_it_comes_from,
          a_skipped_rule_leaves_the_numbers_before_it, a_skipped_lowering_falls_to_the_next_arch,
          what_cannot_be_skipped_is_said, a_function_may_refuse_firings,
          beyond_the_limit_everything_is_on_the_last_arch_and_no_rule_fires, each_pass_is_told,
          rules_of_a_file_come_first, what_built_in_rules_make_is_offered_to_rules_of_a_file,
          a_refused_rewrite_is_told_and_the_model_stays,
          a_result_of_another_type_or_shape_is_refused,
          functions_of_an_arch_are_numbered_and_can_be_skipped,
          expanders_and_rules_are_asked_before_the_core_and_again_after_it,
          kept_tensors_can_be_looked_at_after_a_run,
          operators_with_long_arrays_are_merged_if_all_is_equal, tuning_needs_no_reader,
          out_of_memory_leaks_nothing)
