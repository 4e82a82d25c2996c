// SPDX-License-Identifier: Apache-2.0
// Planted faults are found, and models without any are not blamed.

#include "cli/blame_search.h"

#include <stdlib.h>

#include "cli/blame_reduce.h"
#include "cli/cli.h"
#include "tests/blame/planted.h"
#include "tests/oom.h"
#include "tests/random.h"

// ---- A suspect from text ----

typedef struct subject {
    ln_context *model;
    trial_data *data;
    trial_source source;
    suspect suspect;
    findings found;
} subject;

static void subject_open(subject *j, const char *text, const char *target, int has_specials)
{
    memset(j, 0, sizeof *j);
    j->model = ln_context_create();
    CHECK_NOT_NULL(j->model);
    if (ln_context_init_mem(j->model, text, strlen(text), "subject.net") != LN_OK)
        fail_msg("%s", ln_error_message());
    j->source = (trial_source){.seed = 1, .has_specials = has_specials};
    CHECK_OK(trial_data_create(j->model, &j->source, &j->data));
    j->suspect = (suspect){
        .model = j->model, .target = target, .data = j->data, .allowed = TOLERANCE_DEFAULT};
    CHECK_OK(trial_reference(j->model, j->data, &j->suspect.reference));
}

static void subject_search(subject *j)
{
    if (suspect_search(&j->suspect, NULL, 0, 0, &j->found) != LN_OK)
        fail_msg("%s", ln_error_message());
    CHECK(j->found.is_right);
}

static void subject_close(subject *j)
{
    findings_release(&j->found);
    close_model(j->suspect.reference);
    trial_data_destroy(j->data);
    close_model(j->model);
}

static subject one; // as large as its findings

// The rules of the culprits in their order, with a blank behind each.
static const char *culprit_rules(const subject *j)
{
    static char text[4096];
    text[0] = '\0';
    for (size_t i = 0; i < j->found.count; i++) {
        strcat(text, j->found.culprits[i].firing.rule);
        strcat(text, " ");
    }
    return text;
}

static void check_culprits(const char *why, const char *text, int has_specials,
                           const char *expected)
{
    subject_open(&one, text, "planted", has_specials);
    subject_search(&one);
    if (strcmp(culprit_rules(&one), expected) != 0)
        fail_msg("%s: '%s' is blamed, not '%s'", why, culprit_rules(&one), expected);
    subject_close(&one);
}

static const char chain[] = "input(| dst=x | dtype=TL_FLOAT, dims=[4, 8]);\n"
                            "sigmoid(src=x | dst=a |);\n"
                            "relu(src=x | dst=b |);\n"
                            "elew(src1=a, src2=b | dst=c | elew_op=TL_MUL);\n"
                            "reshape(src=c | dst=e | dims=[8, 4]);\n"
                            "lrelu(src=e | dst=d | negslope=0.5);\n"
                            "softmax(src=d | dst=y | axis=1);\n"
                            "print(src=y | | msg=\"never seen\");\n";

TEST(nobody_is_blamed_for_nothing)
{
    plant("");
    check_culprits("no fault", chain, 0, "");
    check_culprits("no fault with NaN", chain, 1, "");
    unplant();
}

TEST(each_planted_kernel_is_found)
{
    static const char *const kernels[] = {"relu", "lrelu", "elew", "softmax"};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        char expected[64];
        plant(kernels[i]);
        snprintf(expected, sizeof expected, "%s_planted ", kernels[i]);
        check_culprits(kernels[i], chain, 0, expected);
        unplant();
    }
}

TEST(a_fault_that_shows_with_nan_only_needs_nan)
{
    plant("sigmoid");
    check_culprits("numbers", chain, 0, "");
    check_culprits("NaN", chain, 1, "sigmoid_planted ");
    unplant();
}

TEST(two_faults_are_told_apart)
{
    plant("relu lrelu");
    check_culprits("both", chain, 0, "relu_planted lrelu_planted ");
    unplant();
    plant("softmax relu elew");
    check_culprits("three, one of which fails", chain, 0,
                   "relu_planted elew_planted softmax_planted ");
    unplant();
}

// The numbers of what was left out leave it out again.
static void check_numbers(const subject *j)
{
    size_t numbers[64], count = 0;
    for (size_t i = 0; i < j->found.left_out.count; i++)
        if (j->found.left_out.items[i].is_skipped)
            numbers[count++] = j->found.left_out.items[i].number;
    verdict v;
    const choice c = {.limit = SIZE_MAX, .skip = numbers, .skip_count = count};
    CHECK_OK(suspect_judge(&j->suspect, &c, &v, NULL));
    CHECK(!v.is_wrong);
}

TEST(a_kernel_and_a_rule_are_found_in_the_order_of_execution)
{
    const char *path = LN_BUILD_DIR "/blame_test.rules";
    FILE *file = fopen(path, "w");
    CHECK_NOT_NULL(file);
    fputs("rule wrong [exact]\n  y = softmax(d | axis=1)\n"
          "  d = lrelu(c | any(negslope) \"it is wrong\")\n  => y = sigmoid(c)\n",
          file);
    CHECK_EQ(fclose(file), 0);
    plant("relu");
    subject_open(&one, chain, "planted", 0);
    one.suspect.rule_files = &path;
    one.suspect.rule_file_count = 1;
    subject_search(&one);
    // The rule fires before anything is lowered, but its operator runs later.
    CHECK_STR_EQ(culprit_rules(&one), "relu_planted wrong ");
    CHECK(one.found.culprits[0].firing.number > one.found.culprits[1].firing.number);
    check_numbers(&one);
    subject_close(&one);
    unplant();
}

TEST(a_rule_that_is_wrong_twice_is_left_out_everywhere)
{
    plant("relu");
    subject_open(&one,
                 "input(| dst=x | dtype=TL_FLOAT, dims=[4, 8]);\n"
                 "relu(src=x | dst=a |); elew(src1=x, src2=a | dst=b | elew_op=TL_SUB);\n"
                 "relu(src=b | dst=c |); elew(src1=b, src2=c | dst=d | elew_op=TL_SUB);\n"
                 "relu(src=d | dst=e |); elew(src1=x, src2=e | dst=f | elew_op=TL_SUB);\n"
                 "relu(src=f | dst=y |);\n",
                 "planted", 0);
    subject_search(&one);
    CHECK_STR_EQ(culprit_rules(&one), "relu_planted relu_planted ");
    CHECK_EQ(one.found.culprits[0].same_rule, 0);
    CHECK_EQ(one.found.culprits[1].same_rule, 0);
    CHECK_EQ(one.found.culprits[0].together_count, 2);
    check_numbers(&one);
    subject_close(&one);
    unplant();
}

// ---- Kernels of cpu ----

static ln_op_func conv_run;
static const char *wrong_algorithm; // of which the first element of each result is wrong

static void planted_conv(ln_op_arg *op_arg)
{
    const ln_param_entry *p = ln_param_list_find(op_arg->params, "algorithm");
    int len;
    conv_run(op_arg);
    if (strncmp(p ? p->value_string : "direct", wrong_algorithm, strlen(wrong_algorithm)) == 0)
        planted_output(op_arg, &len)[0] += 1;
}

// The operator is made anew when archs are registered the next time.
static void plant_conv(const char *algorithm)
{
    CHECK_OK(ln_arch_init());
    ln_op *conv = (ln_op *)(uintptr_t)ln_op_find("conv2d_nhwc_cpu");
    conv_run = conv->run;
    wrong_algorithm = algorithm;
    conv->run = planted_conv;
}

static const char convolution[] =
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 64, 28, 28]);\n"
    "create(| dst=w | dtype=TL_FLOAT, dims=[64, 64, 3, 3], ran=[-1, 1]);\n"
    "create(| dst=b | dtype=TL_FLOAT, dims=[64], ran=[-1, 1]);\n"
    "create(| dst=v | dtype=TL_FLOAT, dims=[64, 64, 1, 1], ran=[-1, 1]);\n"
    "conv2d(src=x, weight=w, bias=b | dst=c | size=[3, 3], padding=[1, 1, 1, 1]);\n"
    "relu(src=c | dst=r |);\n"
    "conv2d(src=r, weight=v, bias=b | dst=y | size=[1, 1]);\n";

TEST(a_wrong_winograd_kernel_is_told_from_the_pass_that_chose_it)
{
    plant_conv("winograd");
    subject_open(&one, convolution, "cpu", 0);
    subject_search(&one);
    CHECK_EQ(one.found.count, 1);
    const culprit *c = &one.found.culprits[0];
    CHECK(c->is_of_algorithm);
    CHECK_EQ(strncmp(c->with.algorithm, "winograd", 8), 0);
    CHECK_STR_EQ(c->with.conv_type, "conv2d_nhwc_cpu");
    subject_close(&one);
    ln_arch_cleanup();
}

// ref has no such operator: what brought it into the model is named, which is the operator's own
// rewrite.
TEST(a_wrong_kernel_of_cpu_alone_is_named_by_its_layout)
{
    plant_conv("direct");
    subject_open(&one, convolution, "cpu", 0);
    subject_search(&one);
    CHECK_EQ(one.found.count, 1);
    const culprit *c = &one.found.culprits[0];
    CHECK_STR_EQ(c->firing.pass, "layout");
    CHECK_STR_EQ(c->firing.op, "conv2d1");
    CHECK_STR_EQ(c->firing.optype, "conv");
    subject_close(&one);
    ln_arch_cleanup();
}

TEST(the_culprit_has_its_number_tensor_and_deviation)
{
    plant("relu");
    subject_open(&one, chain, "planted", 0);
    subject_search(&one);
    const culprit *c = &one.found.culprits[0];
    CHECK_EQ(one.found.count, 1);
    CHECK_STR_EQ(c->firing.op, "relu0");
    CHECK_STR_EQ(c->firing.optype, "relu");
    CHECK(c->firing.is_lowering);
    const deviation *first = &c->with.compared.first;
    CHECK_STR_EQ(first->tensor, "b");
    CHECK_STR_EQ(first->optype, "relu_planted");
    CHECK_NEAR(first->expected, 0, 0);
    CHECK(first->got < -0.25);
    // The number leaves it out of a compilation.
    ln_optimize_options options = ln_optimize_options_default();
    options.skip = &c->firing.number;
    options.skip_count = 1;
    ln_context *ctx;
    CHECK_OK(ln_context_clone(one.model, &ctx));
    CHECK_OK(ln_context_compile_with(ctx, "planted", &options));
    CHECK_STR_EQ(ln_op_table_find(ctx->op_table, "relu0")->op_arg->optype, "act_ref");
    close_model(ctx);
    subject_close(&one);
    unplant();
}

TEST(a_right_output_hides_nothing_unless_asked_to)
{
    plant("relu");
    const char *text = "input(| dst=x | dtype=TL_FLOAT, dims=[32]);\n"
                       "relu(src=x | dst=a |);\n"
                       "zeros(| dst=z | dtype=TL_FLOAT, dims=[32]);\n"
                       "elew(src1=a, src2=z | dst=y | elew_op=TL_MUL);\n";
    check_culprits("every tensor", text, 0, "relu_planted ");
    subject_open(&one, text, "planted", 0);
    one.suspect.outputs_only = 1;
    one.suspect.allowed.atol = 1e-6;
    subject_search(&one);
    CHECK_EQ(one.found.count, 0);
    subject_close(&one);
    unplant();
}

// ---- Large models ----

// `count` operators in a row, on one tensor and the one before, chosen by the seed.
static char *random_chain(uint64_t seed, int count)
{
    test_random random = {.state = seed};
    char *text = malloc((size_t)count * 100 + 200);
    CHECK_NOT_NULL(text);
    size_t used = (size_t)sprintf(text, "input(| dst=t0 | dtype=TL_FLOAT, dims=[2, 16]);\n");
    for (int i = 1; i <= count; i++) {
        int before = i > 2 ? i - 2 : 0;
        switch (test_random_below(&random, 4)) {
        case 0:
            used += (size_t)sprintf(text + used, "sigmoid(src=t%d | dst=t%d |);\n", i - 1, i);
            break;
        case 1:
            used += (size_t)sprintf(text + used, "elew(src1=t%d, src2=t%d | dst=t%d | %s);\n",
                                    i - 1, before, i, "elew_op=TL_SUB");
            break;
        case 2:
            used +=
                (size_t)sprintf(text + used, "softmax(src=t%d | dst=t%d | axis=1);\n", i - 1, i);
            break;
        default: // no relu: rules know what it does before and behind an lrelu
            used += (size_t)sprintf(text + used, "elew(src1=t%d, src2=t%d | dst=t%d | %s);\n",
                                    i - 1, before, i, "elew_op=TL_MIN");
        }
    }
    return text;
}

TEST(one_fault_in_hundreds_of_operators_is_found)
{
    static const struct {
        int count;
        int at;
    } cases[] = {{3, 2}, {40, 17}, {500, 1}, {500, 250}, {500, 499}};
    plant("lrelu");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = random_chain(i, cases[i].count), line[100];
        sprintf(line, " | dst=t%d |", cases[i].at);
        char *place = strstr(text, line);
        CHECK_NOT_NULL(place);
        while (place > text && place[-1] != '\n')
            place--;
        // The operator becomes an lrelu of the one before, with room to spare.
        char *rest = strchr(place, '\n');
        char *changed = malloc(strlen(text) + 200);
        sprintf(changed, "%.*slrelu(src=t%d | dst=t%d | negslope=0.5);%s", (int)(place - text),
                text, cases[i].at - 1, cases[i].at, rest);
        char why[64], name[LN_MAX_NAME_LEN];
        sprintf(why, "%d operators, fault at %d", cases[i].count, cases[i].at);
        subject_open(&one, changed, "planted", 0);
        subject_search(&one);
        if (strcmp(culprit_rules(&one), "lrelu_planted ") != 0)
            fail_msg("%s: '%s' is blamed", why, culprit_rules(&one));
        sprintf(name, "t%d", cases[i].at);
        CHECK_STR_EQ(one.found.culprits[0].with.compared.first.tensor, name);
        subject_close(&one);
        free(changed);
        free(text);
    }
    unplant();
}

// ---- Reproducers ----

static void check_reproducer(const char *why, const char *text, const char *kernel,
                             int has_specials)
{
    char optype[64];
    plant(kernel);
    subject_open(&one, text, "planted", has_specials);
    subject_search(&one);
    CHECK_EQ(one.found.count, 1);
    reproducer made;
    if (reproducer_create(&one.suspect, &one.found, 0, &one.source, &made) != LN_OK)
        fail_msg("%s: %s", why, ln_error_message());
    subject_close(&one);

    CHECK(made.line_count <= 5);
    snprintf(optype, sizeof optype, "%s(", kernel);
    CHECK_NOT_NULL(strstr(made.text, optype));
    snprintf(optype, sizeof optype, "%s_planted ", kernel);
    check_culprits(why, made.text, has_specials, optype);
    free(made.text);
    unplant();
}

TEST(a_reproducer_is_a_small_model_that_is_wrong_too)
{
    check_reproducer("relu", chain, "relu", 0);
    check_reproducer("lrelu needs 16 elements", chain, "lrelu", 0);
    check_reproducer("a kernel that fails", chain, "softmax", 0);
    check_reproducer("a source that is changed", chain, "elew", 0);
    check_reproducer("NaN", chain, "sigmoid", 1);
    check_reproducer("the second of two",
                     "input(| dst=x | dtype=TL_FLOAT, dims=[4, 4]);\n"
                     "sigmoid(src=x | dst=a |);\n"
                     "relu(src=a | dst=b |);\n" // meets no negative numbers
                     "elew(src1=x, src2=b | dst=c | elew_op=TL_SUB);\n"
                     "relu(src=c | dst=y |);\n",
                     "relu", 0);
}

// ---- No memory ----

TEST(a_search_whose_time_is_over_says_how_far_it_came)
{
    plant("relu");
    subject_open(&one, chain, "planted", 0);
    one.suspect.seconds = 1;
    one.suspect.start = seconds_now() - 2;
    CHECK_EQ(suspect_search(&one.suspect, NULL, 0, 0, &one.found), LN_TIMEOUT);
    CHECK_NOT_NULL(strstr(ln_error_message(), "--timeout"));
    CHECK_NOT_NULL(strstr(ln_error_message(), "among rewrites 1 to "));
    findings_release(&one.found);
    one.suspect.seconds = 1e6;
    subject_search(&one);
    CHECK_STR_EQ(culprit_rules(&one), "relu_planted ");
    subject_close(&one);
    unplant();
}

TEST(out_of_memory_is_no_verdict)
{
    plant("relu");
    subject_open(&one, "input(| dst=x | dtype=TL_FLOAT, dims=[8]); relu(src=x | dst=y |);",
                 "planted", 0);
    const choice all = {.limit = SIZE_MAX};
    verdict v = {0};
    // The list of a model's ends, once asked for, stays.
    CHECK_EQ(ln_context_output_count(one.model), 1);
    CHECK_EQ(ln_context_output_count(one.suspect.reference), 1);
    OOM_SWEEP(n)
    {
        ln_status status = suspect_judge(&one.suspect, &all, &v, NULL);
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
        CHECK(status != LN_OK || v.is_wrong);
    }
    subject_close(&one);
    unplant();
}

TEST_LIST(nobody_is_blamed_for_nothing, each_planted_kernel_is_found,
          a_fault_that_shows_with_nan_only_needs_nan, two_faults_are_told_apart,
          a_kernel_and_a_rule_are_found_in_the_order_of_execution,
          a_rule_that_is_wrong_twice_is_left_out_everywhere,
          a_wrong_winograd_kernel_is_told_from_the_pass_that_chose_it,
          a_wrong_kernel_of_cpu_alone_is_named_by_its_layout,
          the_culprit_has_its_number_tensor_and_deviation,
          a_right_output_hides_nothing_unless_asked_to, one_fault_in_hundreds_of_operators_is_found,
          a_reproducer_is_a_small_model_that_is_wrong_too,
          a_search_whose_time_is_over_says_how_far_it_came, out_of_memory_is_no_verdict)
