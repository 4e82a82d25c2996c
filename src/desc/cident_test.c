// SPDX-License-Identifier: Apache-2.0
// Names in C text, and snippets as statements.

#include "desc/cident.h"

#include <lightnet/allocator.h>

#include "desc/csnippet.h"
#include "tests/test.h"

TEST(identifiers_are_words_that_are_no_keywords)
{
    CHECK(ln_is_identifier("a_1"));
    CHECK(ln_is_identifier("_"));
    CHECK(!ln_is_identifier(""));
    CHECK(!ln_is_identifier("1a"));
    CHECK(!ln_is_identifier("a-b"));
    CHECK(!ln_is_identifier("while"));
    CHECK(!ln_is_identifier("int"));
    CHECK(ln_is_identifier_or_int("int"));
    char name[200];
    memset(name, 'x', sizeof name);
    name[129] = '\0';
    CHECK(!ln_is_identifier(name));
}

TEST(variables_are_found_members_and_strings_are_not)
{
    static const struct {
        const char *snippet;
        bool is_mentioned;
    } rows[] = {
        {"src", true},           {"f(src)", true},      {"a->src", false},
        {"a.src", false},        {"a -> src", false},   {"src->dims", true},
        {"srcs", false},         {"my_src", false},     {"\"src\"", false},
        {"\"a\\\"src\"", false}, {"'\\'' + src", true}, {"// src\n1", false},
        {"/* src */ 1", false},  {"/* x */ src", true}, {"a.b + src", true},
        {"/* src", false},       {"\"src", false},      {"", false},
        {NULL, false},           {"x[src]", true},      {"a->b[src]", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (ln_snippet_mentions(rows[i].snippet, "src") != rows[i].is_mentioned)
            fail_msg("'%s'", rows[i].snippet);
}

static void check_text(ln_text *text, const char *expected)
{
    CHECK_STR_EQ(text->bytes ? text->bytes : "", expected);
    ln_text_deinit(text);
}

TEST(statements_are_indented_and_end)
{
    ln_text text = {0};
    ln_c_statements(&text, " f(x) ", 4);
    check_text(&text, "    f(x);\n");
    ln_c_statements(&text, "\n    if (a)\n        b();\n\n    c();\n  ", 4);
    check_text(&text, "    if (a)\n        b();\n\n    c();\n");
    ln_c_statements(&text, "{ x; }", 0);
    check_text(&text, "{ x; }\n");
    ln_c_statements(&text, "  \n ", 4);
    ln_c_statements(&text, NULL, 4);
    check_text(&text, "");
}

TEST(a_message_follows_a_comma_outside_of_brackets)
{
    ln_text text = {0};
    ln_c_check(&text, "f(a, \"b\") == 0", 0);
    check_text(&text, "ln_opck_satisfy(f(a, \"b\") == 0);\n");
    ln_c_check(&text, " f(a, b), \"no %d\", a ", 0);
    check_text(&text, "ln_opck_satisfy_msg(f(a, b), \"no %d\", a);\n");
    ln_c_check(&text, "c == ',' || d", 0);
    check_text(&text, "ln_opck_satisfy(c == ',' || d);\n");
    ln_c_check(&text, "", 0);
    check_text(&text, "");
}

TEST(literals_are_escaped)
{
    ln_text text = {0};
    ln_c_string(&text, "a\"b\\c\n\t?");
    check_text(&text, "\"a\\\"b\\\\c\\n\\011\\?\"");
    ln_c_string(&text, NULL);
    check_text(&text, "NULL");
    ln_c_comment(&text, "a\\\nb");
    check_text(&text, "a??b");
}

TEST_LIST(identifiers_are_words_that_are_no_keywords,
          variables_are_found_members_and_strings_are_not, statements_are_indented_and_end,
          a_message_follows_a_comma_outside_of_brackets, literals_are_escaped)
