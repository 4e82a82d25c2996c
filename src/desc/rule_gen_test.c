// SPDX-License-Identifier: Apache-2.0
// Rules as C: the text is complete, and the same whatever folder the rules are in.

#include "desc/rule_gen.h"

#include <stdlib.h>
#include <unistd.h>

#include <lightnet/allocator.h>

#include "tests/oom.h"
#include "tests/test.h"

#define RULES                                                                                      \
    "rule two [rounds] a = f(b | p=[1, -0.5], q=v, s=\"x\\\"\", t=true) b, _ = g(x)\n"             \
    "where rank(b, 2) => a = h(src=x | params(b), q=v)\n"                                          \
    "lower * => *_k where dtype(src, TL_FLOAT)"

static void check_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("the code does not contain '%s':\n%s", part, text);
}

TEST(the_code_holds_the_text_without_comments_and_parses_to_the_same)
{
    static const char rules[] = "# why\n"
                                "  rule two [rounds] # a tag\n"
                                "    a = f(b | s=\"\\\"#\", t=true) # here\n"
                                "  => a = g(b)\n";
    ln_rule_text texts[] = {{"k.rules", rules}, {NULL, NULL}};
    ln_text text = {0};
    ln_rule_print_code(texts, "k", &text);
    CHECK_OK(text.status);
    check_contains(text.bytes, "static const char text0[] =\n"
                               "    \"\\n\"\n"
                               "    \"rule two [rounds]\\n\"\n"
                               "    \"a = f(b | s=\\\"\\\\\\\"#\\\", t=true)\\n\"\n"
                               "    \"=> a = g(b)\\n\"\n"
                               "    \"\";\n");
    check_contains(text.bytes, "const ln_rule_set ln_rules_k = {\n    .file = \"k.rules\",\n");
    ln_text_deinit(&text);
}

TEST(texts_of_the_library_become_one_set)
{
    const ln_rule_text texts[] = {
        {"a.rules", "after expand\nrule one [exact] y = relu(x) => y = x"},
        {"b.rules", "\nrule two [exact] y = relu(x) => y = x\nlower p => q"},
        {NULL, NULL}};
    ln_rule_set own = {.file = "both", .texts = texts}, *set;
    CHECK_OK(ln_rule_set_parse_own(&own, &set));
    CHECK_STR_EQ(set->file, "both");
    CHECK_EQ(set->rule_count, 2);
    CHECK_EQ(set->lower_count, 1);
    CHECK_STR_EQ(set->rules[0].file, "a.rules");
    CHECK_EQ(set->rules[0].stage, LN_RULE_AFTER_EXPAND);
    CHECK_STR_EQ(set->rules[1].file, "b.rules");
    CHECK_EQ(set->rules[1].line, 2);
    CHECK_EQ(set->rules[1].stage, LN_RULE_BEFORE_EXPAND); // each file says its own
    ln_rule_set_destroy(set);
    OOM_SWEEP(n)
    {
        if (ln_rule_set_parse_own(&own, &set) == LN_OK)
            ln_rule_set_destroy(set);
        else
            CHECK_NULL(set);
    }
}

static void write_rules(char path[512], const char *text)
{
    strcpy(path, LN_BUILD_DIR "/ln_rule_gen_XXXXXX");
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
    CHECK_OK(ln_text_write_file(path, text, strlen(text)));
}

TEST(files_are_read_into_one_set_and_names_are_unique_in_it)
{
    char first[512], second[512];
    char *code;
    write_rules(first, RULES);
    write_rules(second, "lower x => y");
    CHECK_OK(ln_rule_generate("both", (const char *[]){first, second}, 2, &code));
    check_contains(code, ".file = \"both\"");
    check_contains(code, "    \"lower x => y\\n\"\n");
    CHECK_NULL(strstr(code, LN_BUILD_DIR));
    ln_free(code);
    CHECK_FAILS(ln_rule_generate("k", (const char *[]){first, first}, 2, &code), LN_SYNTAX);
    CHECK_MESSAGE("rule 'two' is there already");
    CHECK_NULL(code);
    CHECK_FAILS(ln_rule_generate("int", (const char *[]){first}, 1, &code), LN_INVALID);
    CHECK_FAILS(ln_rule_generate(NULL, (const char *[]){first}, 1, &code), LN_INVALID);
    CHECK_FAILS(ln_rule_generate("k", NULL, 0, &code), LN_INVALID);
    CHECK_FAILS(ln_rule_generate("k", (const char *[]){"/nowhere"}, 1, &code), LN_IO);
    unlink(first);
    unlink(second);
}

TEST(out_of_memory_gives_no_code)
{
    char path[512];
    write_rules(path, RULES);
    OOM_SWEEP(n)
    {
        char *code;
        if (ln_rule_generate("k", (const char *[]){path}, 1, &code) == LN_OK)
            ln_free(code);
        else
            CHECK_NULL(code);
    }
    unlink(path);
}

TEST_LIST(the_code_holds_the_text_without_comments_and_parses_to_the_same,
          texts_of_the_library_become_one_set,
          files_are_read_into_one_set_and_names_are_unique_in_it, out_of_memory_gives_no_code)
