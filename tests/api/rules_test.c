// SPDX-License-Identifier: Apache-2.0
// The library's own rules: each is right against the registered operators, and how many parameters
// they waive.

#include <lightnet/arch.h>

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
    {&ln_rules_general, "general", 147},
    {&ln_rules_core, "core", 78},
    {&ln_rules_cpu, "cpu", 8},
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
        wrong_count += count != sets[i].waiver_count;
        ln_rule_set_destroy(set);
    }
    ln_arch_cleanup();
    CHECK_EQ(wrong_count, 0);
}

TEST_LIST(built_in_rules_are_right_and_their_waivers_counted)
