// SPDX-License-Identifier: Apache-2.0
// Rules as C: the text is complete, and the same whatever folder the rules lie in.

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

TEST(the_code_holds_packed_rules_and_lower_statements)
{
    ln_rule_set *set;
    CHECK_OK(ln_rule_set_parse(RULES, strlen(RULES), "k.rules", &set));
    ln_text text = {0};
    ln_rule_print_code((const ln_rule_set *const *)&set, 1, "k", &text);
    CHECK_OK(text.status);
    static const char *const parts[] = {
        "#include \"desc/rule.h\"",
        "static const unsigned char packed[",
        ".to = \"_k\", .has_star = true",
        "{LN_RULE_PREDICATE_dtype, false, l0_0_args, 2},",
        "const ln_rule_set ln_rules_k = {\n    .file = \"k.rules\",\n    .packed = packed,",
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        check_contains(text.bytes, parts[i]);
    ln_text_deinit(&text);
    ln_rule_set_destroy(set);
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
    check_contains(code, ".lower_count = 2");
    CHECK_NULL(strstr(code, "/tmp/"));
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

TEST_LIST(the_code_holds_packed_rules_and_lower_statements,
          files_are_read_into_one_set_and_names_are_unique_in_it, out_of_memory_gives_no_code)
