// SPDX-License-Identifier: Apache-2.0
// docs/rules.md says of every predicate and function what the lists say.

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

TEST_LIST(every_predicate_and_function_has_its_row)
