// SPDX-License-Identifier: Apache-2.0
// Conditions and includes. Macros are in il_expand_test.c, ${eval} in il_eval_test.c.

#include "serial/il/il_preprocess.h"

#include <sys/stat.h>
#include <unistd.h>

#include <lightnet/msg.h>

#include "serial/il/il_testing.h"

TEST(conditions_choose_groups)
{
    static const struct {
        const char *text, *tokens, *why;
    } rows[] = {
        {"#if 1\na\n#endif\nb", "a b", "taken"},
        {"#if 0\na\n#endif\nb", "b", "left out"},
        {"#if 0\na\n#else\nb\n#endif", "b", "else"},
        {"#if 1\na\n#else\nb\n#endif", "a", "no else"},
        {"#if 0\na\n#elif 1\nb\n#elif 1\nc\n#else\nd\n#endif", "b", "the first that is true"},
        {"#if 0\na\n#elif 0\nb\n#else\nd\n#endif", "d", "none is true"},
        {"#if 1\na\n#elif 1/0 +\nb\n#endif", "a", "what is not needed is not computed"},
        {"#if 0\n#if 1\na\n#else\nb\n#endif\n#else\nc\n#endif", "c", "nested, left out"},
        {"#if 1\n#if 0\na\n#else\nb\n#endif\n#else\nc\n#endif", "b", "nested, taken"},
        {"#define A\n#ifdef A\na\n#endif\n#ifndef A\nb\n#endif", "a", "ifdef and ifndef"},
        {"#define A 0\n#if defined A && defined(A) && !defined B && !A\na\n#endif", "a", "defined"},
        {"#define F(x) (x*2)\n#if F(2) == 4\na\n#endif", "a", "macros in conditions"},
        {"#define A B\n#if defined(A) && !defined(B)\na\n#endif", "a", "defined looks at the name"},
        {"#if 0\n don't \"mind $ \x01 \\ #error\n#garbage\n# \n#\n#endif\nb", "b",
         "no tokens needed"},
        {"#if 0\n/*\n#endif\n*/ \"/*\" // /*\n#endif\nb", "b", "comments hide directives"},
        {"#if 0\n\"\\\"/*\"\n#endif\nb", "b", "strings hide comments"},
        {"  /* c */ # /* d */ if 0 // e\na\n#endif", "", "comments in directives"},
        {"#if 0 \\\n || 1\na\n#endif", "a", "a directive over lines"},
        {"#if 0\n#define A 1\n#include \"x\"\n#error no\n#endif\nA", "A", "directives left out"},
        {"#if 1\r\na\r\n#endif\r\n", "a", "carriage returns"},
        {"#if 0\n#endif", "", "no line end at the end"},
        {"#if 1 << 3 == 8\na\n#endif", "a", "shifts"},
        {"# 1 \"m.net\"\n# 1 \"<built-in>\" 3 4\na\n#line 7\nb", "a b", "what gcc -E leaves"},
        {"#pragma\n#pragma once\n#pragma pack(1)\n#warning don't\na", "a", "for compilers"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        print_message("%s\n", rows[i].why);
        char *tokens = il_to_tokens(rows[i].text);
        CHECK_STR_EQ(tokens, rows[i].tokens);
        ln_free(tokens);
    }
}

TEST(wrong_conditions_are_refused_with_their_place)
{
    static const struct {
        const char *text, *message, *why;
    } rows[] = {
        {"#if 1\na", "m.net:1:2: this condition has no #endif", "open, taken"},
        {"a\n#if 0\na", "m.net:2:2: this condition has no #endif", "open, left out"},
        {"#if 0\n#if 1\n#endif\n", "m.net:1:2: this condition has no #endif", "one end for two"},
        {"#endif", "m.net:1:2: '#endif' without an #if", "no if"},
        {"#else", "m.net:1:2: '#else' without an #if", "no if"},
        {"#elif 1", "m.net:1:2: '#elif' without an #if", "no if"},
        {"#if 1\n#else\n#else\n#endif", "m.net:3:2: '#else' after the #else", "two elses"},
        {"#if 0\n#else\n#elif 1\n#endif", "m.net:3:2: '#elif' after the #else", "elif after else"},
        {"#if\n#endif", "m.net:1:2: '#if' needs an expression", "no expression"},
        {"#if 1 2\n#endif", "m.net:1:7: expected an operator or the end", "two numbers"},
        {"#if (1\n#endif", "expected ')' or an operator, found the end", "the line ends"},
        {"#if defined\n#endif", "m.net:1:5: 'defined' needs the name of a macro", "no name"},
        {"#if defined(A\n#endif", "m.net:1:5: 'defined(' needs a ')'", "no parenthesis"},
        {"#if 1/0\n#endif", "m.net:1:6: division by zero", "division"},
        {"#ifdef\n#endif", "m.net:1:2: '#ifdef' needs the name of a macro", "no name"},
        {"#ifdef A && B\n#endif", "m.net:1:10: expected the end of the line, found '&'", "no test"},
        {"#if 1\n#endif A", "m.net:2:8: expected the end of the line, found 'A'", "too much"},
        {"#include", "m.net:1:2: '#include' needs a file name in double quotes", "no name"},
        {"#include <a>", "m.net:1:10: expected the name of a file in double quotes, found '<'",
         "no system"},
        {"#include \"a\" b", "m.net:1:14: expected the end of the line, found 'b'", "too much"},
        {"#include \"a\"", "m.net:1:10: this text does not come from a file", "from memory"},
        {"#include \"\"", "m.net:1:10: expected the name of a file", "empty"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        print_message("%s: %s\n", rows[i].text, rows[i].why);
        char *message = il_to_tokens(rows[i].text);
        CHECK_MESSAGE(rows[i].message);
        CHECK_STR_EQ(message, ln_error_message());
        ln_free(message);
    }
}

TEST(deep_conditions_reach_a_limit)
{
    ln_text text = {0};
    for (int i = 0; i < 100; i++)
        ln_text_puts(&text, "#if 1\n");
    char *message = il_to_tokens(text.bytes);
    CHECK_MESSAGE("m.net:65:2: conditions nest deeper than 64 levels");
    ln_free(message);
    ln_text_deinit(&text);

    // Those that are left out only count.
    for (int i = 0; i < 100000; i++)
        ln_text_puts(&text, "#if 0\n");
    for (int i = 0; i < 100000; i++)
        ln_text_puts(&text, "#endif\n");
    message = il_to_tokens(text.bytes);
    CHECK_STR_EQ(message, "");
    ln_free(message);
    ln_text_deinit(&text);
}

// ---- Files ----

static char folder[512];

static void make_folder(void)
{
    strcpy(folder, LN_BUILD_DIR "/il_preprocess_XXXXXX");
    CHECK_NOT_NULL(mkdtemp(folder));
}

static char *in_folder(const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    CHECK_OK(ln_text_write_file(in_folder(name), text, strlen(text)));
}

// Parses a file of the folder; its IL, or the message with the folder's name as "@".
static char *parse_file(const char *name)
{
    ln_document *document;
    ln_text text = {0};
    char *bytes;
    if (ln_il_parse_file(in_folder(name), &document) == LN_OK) {
        CHECK_OK(ln_il_print(ln_document_root(document), &text));
        ln_document_destroy(document);
    } else {
        CHECK_NULL(document);
        for (const char *p = ln_error_message(); *p;) {
            bool is_folder = strncmp(p, folder, strlen(folder)) == 0;
            ln_text_append(&text, is_folder ? "@" : p, 1);
            p += is_folder ? strlen(folder) : 1;
        }
    }
    CHECK_OK(ln_text_take(&text, &bytes, NULL));
    return bytes;
}

static void remove_all(const char *const *names, size_t count)
{
    for (size_t i = count; i-- > 0;)
        CHECK_EQ(remove(in_folder(names[i])), 0);
    CHECK_EQ(rmdir(folder), 0);
}

TEST(includes_are_read_from_beside_the_including_file)
{
    make_folder();
    CHECK_EQ(mkdir(in_folder("sub"), 0700), 0);
    write_file("main.net", "#include \"sub/a.inc\"\na(x)\n#include \"c.inc\"\n");
    write_file("sub/a.inc", "#include \"b.inc\"\n#define a(t) in(| dst=t | n=B)");
    write_file("sub/b.inc", "#define B 5\n");
    write_file("c.inc", ";;");
    char *il = parse_file("main.net");
    CHECK_STR_EQ(il, "in(| dst=x | n=5);\n");
    ln_free(il);
    static const char *const names[] = {"sub", "main.net", "sub/a.inc", "sub/b.inc", "c.inc"};
    remove_all(names, LENGTH(names));
}

TEST(a_file_with_pragma_once_is_read_once)
{
    make_folder();
    CHECK_EQ(mkdir(in_folder("sub"), 0700), 0);
    write_file("main", "#include \"a\"\n#include \"sub/b\"\n#include \"a\"\n#include \"c\"\n"
                       "#include \"c\"\n");
    write_file("a", "#pragma once\na(||);\n");
    write_file("sub/b", "b(||);\n#include \"a\"\n");
    write_file("sub/a", "#pragma twice\nanother(||);\n");
    write_file("c", "c(||);\n");
    char *il = parse_file("main");
    CHECK_STR_EQ(il, "a(| |);\nb(| |);\nanother(| |);\nc(| |);\nc(| |);\n");
    ln_free(il);
    static const char *const names[] = {"sub", "main", "a", "sub/a", "sub/b", "c"};
    remove_all(names, LENGTH(names));
}

static void keep_message(const ln_msg *msg, void *user)
{
    snprintf(user, 200, "%d %s", (int)msg->level, msg->text);
}

TEST(warnings_are_messages_with_their_place)
{
    char wanted[200], kept[200] = "";
    snprintf(wanted, sizeof wanted, "%d m.net:2:4: don't", (int)LN_MSG_WARN);
    ln_msg_set_handler(keep_message, kept);
    char *tokens = il_to_tokens("a\n  #warning don't  \r\nb");
    ln_msg_set_handler(NULL, NULL);
    CHECK_STR_EQ(tokens, "a b");
    CHECK_STR_EQ(kept, wanted);
    ln_free(tokens);
}

TEST(failures_in_includes_name_their_file)
{
    make_folder();
    static const struct {
        const char *main, *a, *message, *why;
    } rows[] = {
        {"#include \"a\"\n", "x\ny", "@/a:2:1: expected '(' after", "a wrong statement"},
        {"#include \"a\"\n", "\n#if 1", "@/a:2:2: this condition has no #endif in its file",
         "open"},
        {"#if 1\n#include \"a\"\n", "#endif", "@/a:1:2: '#endif' without an #if in this file",
         "ends"},
        {"#define F(x) x\n#include \"a\"\n(1)", "F(", "@/a:1:1: the call of macro 'F' has no ')'",
         "a call over files"},
        {"#include \"a\"\n", "#include \"a\"", "@/a:1:10: files include each other: a includes a",
         "itself"},
        {"#include \"a\"\n", "#include \"main\"",
         "@/a:1:10: files include each other: main includes a includes main", "a cycle"},
        {"\n #include \"b\"\n", "", "@/main:2:11: cannot open included file 'b': No such file",
         "missing"},
        {"#include \"a\"\n", "\xff", "@/a:1:1: byte 0xff is not UTF-8", "no text"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        print_message("%s\n", rows[i].why);
        write_file("main", rows[i].main);
        write_file("a", rows[i].a);
        char *message = parse_file("main");
        if (strncmp(message, rows[i].message, strlen(rows[i].message)) != 0)
            CHECK_STR_EQ(message, rows[i].message);
        ln_free(message);
    }
    static const char *const names[] = {"main", "a"};
    remove_all(names, LENGTH(names));
}

TEST(many_and_deep_includes_reach_a_limit)
{
    make_folder();
    ln_text text = {0};
    for (int i = 0; i < 1001; i++)
        ln_text_puts(&text, "#include \"f0\"\n");
    write_file("main", text.bytes);
    write_file("f0", "");
    char *message = parse_file("main");
    CHECK_STR_EQ(message, "@/main:1001:10: more than 1000 files are included");
    ln_free(message);
    ln_text_deinit(&text);

    static const char *const names[] = {"main", "f0",  "f1",  "f2",  "f3",  "f4",  "f5",
                                        "f6",   "f7",  "f8",  "f9",  "f10", "f11", "f12",
                                        "f13",  "f14", "f15", "f16", "f17"};
    write_file("main", "#include \"f0\"\n");
    for (int i = 0; i < 18; i++) {
        char body[64];
        snprintf(body, sizeof body, "#include \"f%d\"\n", i + 1);
        write_file(names[i + 1], body);
    }
    message = parse_file("main");
    CHECK_STR_EQ(message, "@/f15:1:10: includes nest deeper than 16 files");
    ln_free(message);
    remove_all(names, LENGTH(names));
}

TEST(a_text_from_memory_includes_from_a_given_folder)
{
    make_folder();
    write_file("a.inc", "x(||);");
    ln_document *document;
    const char *text = "#include \"a.inc\"\n";
    CHECK_OK(ln_il_parse(text, strlen(text), "m.net", folder, &document));
    const ln_value *ops = ln_value_get(ln_document_root(document), "ops");
    CHECK_EQ(ops->count, 1);
    CHECK_STR_EQ(ops->first->place.file, in_folder("a.inc"));
    ln_document_destroy(document);
    static const char *const names[] = {"a.inc"};
    remove_all(names, LENGTH(names));
}

TEST_LIST(conditions_choose_groups, wrong_conditions_are_refused_with_their_place,
          deep_conditions_reach_a_limit, includes_are_read_from_beside_the_including_file,
          a_file_with_pragma_once_is_read_once, warnings_are_messages_with_their_place,
          failures_in_includes_name_their_file, many_and_deep_includes_reach_a_limit,
          a_text_from_memory_includes_from_a_given_folder)
