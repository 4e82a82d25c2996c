// SPDX-License-Identifier: Apache-2.0
// The library's own rules: each is right against the registered operators, and how many parameters
// they waive.

#include <lightnet/arch.h>
#include <lightnet/msg.h>

#include "desc/rule.h"
#include "pass/rewrite.h"
#include "tests/test.h"

extern const ln_rule_set ln_rules_general, ln_rules_core, ln_rules_cpu, ln_rules_ref, ln_rules_onnx;

// Waivers are promises that no check can hold: a change of their number is to be read with care.
// clang-format off
static const struct {
    const ln_rule_set *set;
    const char *name;
    size_t waiver_count; // a rule with rows counts once for each
} sets[] = {
    {&ln_rules_general, "general", 151},
    {&ln_rules_core, "core", 78},
    {&ln_rules_cpu, "cpu", 10},
    {&ln_rules_ref, "ref", 0},
    {&ln_rules_onnx, "onnx", 87},
};
// clang-format on

static size_t count_waivers(const ln_rule_set *set)
{
    size_t count = 0;
    for (size_t i = 0; i < set->rule_count; i++)
        for (size_t j = 0; j < set->rules[i].pattern_count; j++)
            count += set->rules[i].pattern[j].waiver_count;
    return count;
}

TEST(built_in_rules_are_right_and_their_waivers_counted)
{
    CHECK_OK(ln_arch_init());
    size_t wrong_count = 0;
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        ln_rule_set *set;
        CHECK_OK(ln_rule_set_parse_texts(sets[i].set->file, sets[i].set->texts, &set));
        CHECK_OK(ln_rule_set_check(set));
        size_t count = count_waivers(set);
        printf("%s: %zu rules, %zu waived parameters\n", sets[i].name, set->rule_count, count);
        if (count != sets[i].waiver_count)
            print_error(
                "the rules of `%s` waive %zu parameters by any(..), and %zu in `sets`: if each "
                "waiver says why, change the number there\n",
                sets[i].name, count, sets[i].waiver_count);
        wrong_count += count != sets[i].waiver_count;
        ln_rule_set_destroy(set);
    }
    ln_arch_cleanup();
    CHECK_EQ(wrong_count, 0);
}

// clang-format off
static const struct {
    const char *why, *rule, *message;
} unfit[] = {
    {"a result without a required parameter",
     "rule r [exact] y = relu(c) c = elew(a, b | elew_op=\"TL_SUM\")\n"
     "  => y = elew(a, b)",
     "t.rules:2: rule 'r': the result lacks parameter 'elew_op', which elew always has: set it, or copy it with "
     "params(..)"},
    {"one whose type is not in call form",
     "rule r [exact] y = relu(c) c = relu(x) => y = sort1d(x)", "the result lacks parameter 'dir', which sort1d always has"},
    {"copied from a type that lacks it",
     "rule r [exact] y = relu(c) c = softmax(x | axis=1) => y = act(x | params(c))",
     "the result lacks parameter 'act'"},
    {"a word that is near to one",
     "rule r [exact] r = relu(c) c = conv2d(x, w, b | act=\"none\")\n => r = conv2d(x, w, b | params(c), act=\"reluu\")",
     "t.rules:2: rule 'r': parameter 'act' of conv2d is never \"reluu\"; did you mean 'relu'?"},
    {"a word of other operators only",
     "rule r [exact] r = act(c | act=\"mish\") c = conv2d(x, w, b)\n => r = conv2d(x, w, b | params(c), act=\"mish\")",
     "parameter 'act' of conv2d is never \"mish\"; known: none, relu"},
    {"a pattern that would match nothing",
     "rule r [exact] r = relu(c) c = elew(a, b | elew_op=\"TL_PLUS\") => r = relu(a)",
     "t.rules:1: rule 'r': parameter 'elew_op' of elew is never \"TL_PLUS\"; known: TL_MUL, TL_"},
    {"a fraction",
     "rule r [exact] r = relu(c) c = softmax(x | axis=0.5) => r = relu(x)",
     "parameter 'axis' of softmax is a whole number, never 0.5"},
    {"a fraction in an array",
     "rule r [exact] r = relu(c) c = transpose(x | axes=[0, 1.5]) => r = relu(x)",
     "parameter 'axes' of transpose is a whole number, never 1.5"},
    {"a step of nothing",
     "rule r [exact] r = relu(c) c = conv(x, w, b | act=\"none\")\n  => r = conv(x, w, b | params(c), stride=[0, 1], act=\"relu\")",
     "t.rules:2: rule 'r': parameter 'stride' of conv is 1 or more, never 0"},
    {"no groups",
     "rule r [exact] r = relu(c) c = conv2d(x, w, b | act=\"none\")\n  => r = conv2d(x, w, b | params(c), group=0, act=\"relu\")",
     "parameter 'group' of conv2d is 1 or more, never 0"},
    {"an axis from the end, of an operator that counts from the front",
     "rule r [exact] r = relu(c) c = relu(x)\n  => r = concat(x | axis=-1)",
     "parameter 'axis' of concat is 0 or more, never -1"},
    {"the same in an array of a pattern",
     "rule r [exact] r = relu(c) c = transpose(x | axes=[0, -1]) => r = relu(x)",
     "parameter 'axes' of transpose is 0 or more, never -1"},
};

static const char *const fit[] = {
    "rule r [exact] r = relu(c) c = conv(x, w, b | act=\"none\") where single_use(c)\n"
    " => r = conv(x, w, b | params(c), act=\"relu\")",
    "rule r [exact] r = relu(c) c = conv(x, w, b | autopad=\"\", any(act) \"w\") where single_use(c)\n"
    " => r = conv(x, w, b | params(c), autopad=\"VALID\", act=\"relu\")",
    "rule r [exact] r = relu(c) c = elew(a, b | elew_op=v, act=\"none\") => r = elew(a, b | elew_op=v, act=\"relu\")",
};
// clang-format on

static ln_status check_text(const char *text)
{
    ln_rule_set *set;
    CHECK_OK(ln_rule_set_parse(text, strlen(text), "t.rules", &set));
    ln_status status = ln_rule_set_check(set);
    ln_rule_set_destroy(set);
    return status;
}

TEST(a_rule_whose_result_its_operator_refuses_is_refused_when_read)
{
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof unfit / sizeof unfit[0]; i++) {
        ln_status status = check_text(unfit[i].rule);
        if (status != LN_INVALID || !strstr(ln_error_message(), unfit[i].message))
            fail_msg("%s: %s: %s", unfit[i].why, ln_status_name(status),
                     status == LN_OK ? "" : ln_error_message());
    }
    for (size_t i = 0; i < sizeof fit / sizeof fit[0]; i++)
        if (check_text(fit[i]) != LN_OK)
            fail_msg("%s: %s", fit[i], ln_error_message());
    ln_arch_cleanup();
}

TEST_LIST(a_rule_whose_result_its_operator_refuses_is_refused_when_read,
          built_in_rules_are_right_and_their_waivers_counted)
