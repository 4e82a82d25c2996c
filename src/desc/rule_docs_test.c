// SPDX-License-Identifier: Apache-2.0
// docs/rules.md says of every predicate and function what the lists say, and its rules are rules.

#include "desc/rule.h"

#include <lightnet/allocator.h>

#include "base/text.h"
#include "tests/test.h"

static void read_page(char **out_page)
{
    size_t len;
    CHECK_OK(ln_text_read_file(LN_SOURCE_DIR "/docs/rules.md", 1 << 20, out_page, &len));
}

static void check_row(const char *page, const char *name, const char *signature,
                      const char *meaning)
{
    char row[512];
    snprintf(row, sizeof row, "\n| `%s` | `%s` | %s |\n", name, signature, meaning);
    if (!strstr(page, row))
        fail_msg("docs/rules.md has no row%s", row);
}

TEST(every_predicate_and_function_has_its_row)
{
    char *page = NULL;
    read_page(&page);
#define P(name, signature, meaning) check_row(page, #name, signature, meaning);
#include "desc/rule_predicates.inc"
#undef P
#define F(name, signature, sign, meaning) check_row(page, #name, signature, meaning);
#include "desc/rule_functions.inc"
#undef F
    ln_free(page);
}

TEST(the_rules_of_the_page_are_rules)
{
    char *page = NULL;
    read_page(&page);
    size_t rule_count = 0;
    const char *block = strstr(page, "```\n# ");
    while (block) {
        const char *start = block + 4, *end = strstr(block + 4, "```");
        CHECK_NOT_NULL(end);
        ln_rule_set *set;
        CHECK_OK(ln_rule_set_parse(start, (size_t)(end - start), "rules.md", &set));
        rule_count += set->rule_count;
        ln_rule_set_destroy(set);
        block = strstr(end + 3, "```\n# ");
    }
    CHECK_EQ(rule_count, 4);
    ln_free(page);
}

TEST_LIST(every_predicate_and_function_has_its_row, the_rules_of_the_page_are_rules)
