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
                                "  => a = b\n";
    ln_rule_text texts[] = {{"k.rules", rules}, {NULL, NULL}};
    ln_text text = {0};
    ln_rule_print_code(texts, "k", &text);
    CHECK_OK(text.status);
    check_contains(text.bytes, "static const char text0[] =\n"
                               "    \"\\n\"\n"
                               "    \"rule two [rounds]\\n\"\n"
                               "    \"a = f(b | s=\\\"\\\\\\\"#\\\", t=true)\\n\"\n"
                               "    \"=> a = b\\n\"\n"
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
    ln_rule_set *set;
    CHECK_OK(ln_rule_set_parse_texts("both", texts, &set));
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
        if (ln_rule_set_parse_texts("both", texts, &set) == LN_OK)
            ln_rule_set_destroy(set);
        else
            CHECK_NULL(set);
    }
}

TEST(rules_are_read_by_the_type_of_their_root)
{
    static const char first[] = "rule rows [exact] for T in f, g, f2 y = T(x) => y = x\n",
                      second[] = "rule other [exact] y = g(x) => y = x\n",
                      third[] = "lower p => q\n";
    char code[512];
    snprintf(code, sizeof code, "\n%s%s%s", first, third, second);
    const ln_rule_text texts[] = {{"a.rules", code}, {NULL, NULL}};
    const unsigned short stage = LN_RULE_AFTER_EXPAND;
    const unsigned third_at = 1 + sizeof first - 1, second_at = third_at + sizeof third - 1;
    const ln_rule_entry entries[] = {{0, third_at, sizeof third - 1, 0, 3, stage},
                                     {1, 1, sizeof first - 1, 0, 2, stage},
                                     {3, 1, sizeof first - 1, 0, 2, stage},
                                     {6, 1, sizeof first - 1, 0, 2, stage},
                                     {6, second_at, sizeof second - 1, 0, 4, stage}};
    const ln_rule_set own = {.file = "own",
                             .texts = texts,
                             .entries = entries,
                             .entry_count = 5,
                             .roots = "\0f\0f2\0g\0"};
    ln_rule_set *set;
    const ln_rule *rules, *again;
    size_t count;
    CHECK_OK(ln_rule_set_open(&own, &set));
    CHECK_EQ(set->lower_count, 1);
    CHECK_EQ(set->rule_count, 0); // none is parsed yet
    CHECK(ln_rule_set_has_root(set, "f") && !ln_rule_set_has_root(set, "h"));
    CHECK(ln_rule_set_has_stage(set, stage) && !ln_rule_set_has_stage(set, LN_RULE_TO_CORE));
    CHECK_OK(ln_rule_set_read_root(set, "g", &rules, &count));
    CHECK_EQ(count, 4); // all rows, and the other rule
    CHECK_STR_EQ(rules[3].name, "other");
    CHECK_EQ(rules[3].line, 4);
    CHECK_EQ(rules[3].stage, stage);
    CHECK_OK(ln_rule_set_read_root(set, "g", &again, &count));
    CHECK(again == rules);
    CHECK_OK(ln_rule_set_read_root(set, "h", &rules, &count));
    CHECK_EQ(count, 0);
    ln_rule_set_destroy(set);

    OOM_SWEEP(n)
    {
        if (ln_rule_set_open(&own, &set) == LN_OK)
            (void)ln_rule_set_read_root(set, "f2", &rules, &count);
        ln_rule_set_destroy(set);
    }
}

TEST(the_index_has_each_root_once_for_each_statement)
{
    ln_rule_text texts[] = {
        {"k.rules", "# why\nafter expand\nrule one [exact] for T in b, a\n  y = T(x)\n => y = x\n"
                    "lower * => *_k\n\nrule two [exact] y = a(x | p=1) => y = x\n"},
        {NULL, NULL}};
    ln_text text = {0};
    ln_rule_print_code(texts, "k", &text);
    CHECK_OK(text.status);
    check_contains(text.bytes, "    \"\\0\"\n    \"a\\0\"\n    \"b\\0\"\n");
    check_contains(text.bytes, "    {0, 63, 16, 0, 6, 0},\n"
                               "    {1, 14, 49, 0, 3, 3},\n"
                               "    {1, 79, 41, 0, 8, 3},\n"
                               "    {3, 14, 49, 0, 3, 3},\n");
    ln_text_deinit(&text);

    texts[0].text =
        "lower p => q rule a [exact] y = f(x) => y = x\n ; rule b [exact] y = f(x) => y = x";
    text = (ln_text){0};
    ln_rule_print_code(texts, "k", &text);
    CHECK_FAILS(text.status, LN_SYNTAX);
    CHECK_MESSAGE("k.rules:2: a statement begins its line");
    ln_text_deinit(&text);
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
          texts_of_the_library_become_one_set, rules_are_read_by_the_type_of_their_root,
          the_index_has_each_root_once_for_each_statement,
          files_are_read_into_one_set_and_names_are_unique_in_it, out_of_memory_gives_no_code)
