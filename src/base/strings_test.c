// SPDX-License-Identifier: Apache-2.0
// Short strings.

#include <lightnet/util.h>

#include "tests/oom.h"
#include "tests/test.h"

TEST(equality_of_strings)
{
    CHECK(ln_streq("abc", "abc"));
    CHECK(ln_streq("", ""));
    CHECK(!ln_streq("abc", "abd"));
    CHECK(!ln_streq("abc", "ab"));
    CHECK(!ln_streq(NULL, "abc"));
    CHECK(!ln_streq("", NULL));
    CHECK(!ln_streq(NULL, NULL));
    CHECK(ln_streqn("abcd", "abce", 3));
    CHECK(!ln_streqn("abcd", "abce", 4));
    CHECK(ln_streqn("ab", "ab", 100));
    CHECK(!ln_streqn("ab", "abc", 100));
    CHECK(ln_streqn("a", "b", 0));
    CHECK(!ln_streqn(NULL, "b", 0));
}

TEST(suffixes)
{
    static const struct {
        const char *s, *suffix;
        ln_bool yes;
    } cases[] = {
        {"aaabbb", "bbb", LN_TRUE},    {"bbb", "bbb", LN_TRUE},
        {"aaabbb", "", LN_TRUE},       {"", "", LN_TRUE},
        {"aaabbb", "bbbb", LN_FALSE},  {"aaabbb", "aaa", LN_FALSE},
        {"bbb", "bbbb", LN_FALSE},     {"", "bbbb", LN_FALSE},
        {NULL, "", LN_FALSE},          {"", NULL, LN_FALSE},
        {NULL, NULL, LN_FALSE},        {NULL, "b", LN_FALSE},
        {"conv_cpu", "_cpu", LN_TRUE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK_EQ(ln_suffixed(cases[i].s, cases[i].suffix), cases[i].yes);
}

TEST(prefixes_with_a_number)
{
    static const struct {
        const char *s, *prefix;
        ln_bool yes;
    } cases[] = {
        {"aaa1", "aaa", LN_TRUE},    {"aaa12", "aaa", LN_TRUE},  {"aaa0", "aaa", LN_TRUE},
        {"1", "", LN_TRUE},          {"123", "12", LN_TRUE},     {"aaa", "aaa", LN_FALSE},
        {"aaa12", "aa12", LN_FALSE}, {"aaa1b", "aaa", LN_FALSE}, {"aaa-1", "aaa", LN_FALSE},
        {"aaa 1", "aaa", LN_FALSE},  {"aa", "aaa", LN_FALSE},    {"", "", LN_FALSE},
        {"", "a", LN_FALSE},         {"", NULL, LN_FALSE},       {NULL, "", LN_FALSE},
        {NULL, NULL, LN_FALSE},      {"baaa1", "aaa", LN_FALSE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK_EQ(ln_is_prefix_plus_digit(cases[i].s, cases[i].prefix), cases[i].yes);
}

TEST(digits_are_counted)
{
    static const struct {
        int64_t number;
        int digits;
    } cases[] = {{0, 1},  {9, 1},    {10, 2},         {999, 3},       {1000, 4},
                 {-7, 1}, {-120, 3}, {INT64_MAX, 19}, {INT64_MIN, 19}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK_EQ(ln_digit_num(cases[i].number), cases[i].digits);
}

TEST(the_next_token_follows_the_first_mark)
{
    const char *s = "a:b:c";
    CHECK_PTR_EQ(ln_next_token(s, ':'), s + 2);
    CHECK_STR_EQ(ln_next_token("abc:", ':'), "");
    CHECK_NULL(ln_next_token("abc", ':'));
    CHECK_NULL(ln_next_token("", ':'));
    CHECK_NULL(ln_next_token("abc", '\0'));
    CHECK_NULL(ln_next_token(NULL, ':'));
}

TEST(strings_are_joined)
{
    static const struct {
        const char *a, *b, *joined, *delimited;
    } cases[] = {{"ab", "cd", "abcd", "ab_cd"},
                 {"", "cd", "cd", "_cd"},
                 {"ab", "", "ab", "ab_"},
                 {"", "", "", "_"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *joined = ln_strcat_alloc(cases[i].a, cases[i].b);
        char *delimited = ln_strcat_delim_alloc(cases[i].a, cases[i].b, '_');
        CHECK_STR_EQ(joined, cases[i].joined);
        CHECK_STR_EQ(delimited, cases[i].delimited);
        ln_free(joined);
        ln_free(delimited);
    }
    CHECK_NULL(ln_strcat_alloc(NULL, "a"));
    CHECK_NULL(ln_strcat_delim_alloc("a", NULL, '_'));
    CHECK_EQ(ln_error_status(), LN_INVALID);
    OOM_SWEEP(n)
    {
        ln_free(ln_strcat_alloc("a", "b"));
        ln_free(ln_strcat_delim_alloc("a", "b", '_'));
    }
}

TEST_LIST(equality_of_strings, suffixes, prefixes_with_a_number, digits_are_counted,
          the_next_token_follows_the_first_mark, strings_are_joined)
