// SPDX-License-Identifier: Apache-2.0
// Reading the three dialects, making values, printing them.

#include "base/value.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include <lightnet/allocator.h>

#include "tests/test.h"

static ln_status parse(const char *text, ln_dialect dialect, ln_document **out_document)
{
    return ln_document_parse(text, strlen(text), "t", dialect, out_document);
}

// `value` as canonical JSON on one line; the caller frees it.
static char *printed(const ln_value *value)
{
    ln_text text = {0};
    ln_value_print(value, &text);
    char *bytes;
    CHECK_OK(ln_text_take(&text, &bytes, NULL));
    return bytes;
}

TEST(every_dialect_reads_what_it_should)
{
    static const struct {
        ln_dialect dialect;
        const char *text;
        const char *json;
        const char *why;
    } rows[] = {
        {LN_DIALECT_JSON, "null", "null", "a scalar is a document"},
        {LN_DIALECT_JSON, " [1, 2.50, -3e2]\n", "[1, 2.5, -300]", "numbers"},
        {LN_DIALECT_JSON, "{\"a\": [], \"b\": {}}", "{\n    \"a\": [\n    ],\n    \"b\": {}\n}",
         "empty"},
        {LN_DIALECT_JSON, "[// no\n1/* no */]", "[1]", "comments"},
        {LN_DIALECT_JSON, "[\"// no\", \"/* no */\", \"\\\" // no\"]",
         "[\"// no\", \"/* no */\", \"\\\" // no\"]", "comments stop at strings"},
        {LN_DIALECT_JSON, "\"\\u00e4\\ud83d\\ude00\\n\\/\"", "\"\xc3\xa4\xf0\x9f\x98\x80\\n/\"",
         "escapes"},
        {LN_DIALECT_JSON, "\xef\xbb\xbf[true, false]", "[true, false]", "byte order mark"},
        {LN_DIALECT_EASY, "{\"a\": [1, 2,],}", "{\"a\": [1, 2]}", "trailing commas"},
        {LN_DIALECT_EASY, "[\",]\", \"http://x\"]", "[\",]\", \"http://x\"]", "not in strings"},
        {LN_DIALECT_EASY, "'''\n  a \"b\" \\n\n\tc\n''',", NULL, "nothing after a value"},
        {LN_DIALECT_EASY, "['''\n  a \"b\" \\n\n\tc\n  ''', 1]",
         "[\"  a \\\"b\\\" \\\\n\\n\\tc\", 1]", "heredoc"},
        {LN_DIALECT_EASY, "'''\n'''", "\"\"", "empty heredoc"},
        {LN_DIALECT_EASY, "'''\n\n'''", "\"\"", "heredoc of one empty line"},
        {LN_DIALECT_EASY, "'''\n\n\n'''", "\"\\n\"", "heredoc of two empty lines"},
        {LN_DIALECT_EASY, "'''\nit's ''' here\n'''", "\"it's ''' here\"", "quotes inside a line"},
        {LN_DIALECT_EASY, "'''\n// kept\n'''", "\"// kept\"", "no comments in heredocs"},
        {LN_DIALECT_OP, "{a: 1, \"b\": 2, c_1: [-]}", NULL, "deletions are not JSON"},
        {LN_DIALECT_OP, "a { x: 1, } b : a { y: 'it\\'s \\n', z: `raw\n\\`` }",
         "{\n    \"a\": {\"x\": 1},\n    \"b\": {\"y\": \"it's \\\\n\", \"z\": \"raw\\n`\"}\n}",
         "named objects and raw strings"},
        {LN_DIALECT_OP, "a { x: \"\\$\\'\n\" },", "{\n    \"a\": {\"x\": \"$'\\n\"}\n}",
         "escaped punctuation, strings over lines, a comma at the end"},
        {LN_DIALECT_OP, "['']", "[\"\"]", "an empty raw string is no heredoc"},
        {LN_DIALECT_OP, "['''\nx\n''']", "[\"x\"]", "heredocs"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_document *document;
        ln_status status = parse(rows[i].text, rows[i].dialect, &document);
        if (status == LN_OK) {
            ln_text text = {0};
            ln_value_print(ln_document_root(document), &text);
            status = text.status;
            if (rows[i].json && (status != LN_OK || strcmp(text.bytes, rows[i].json) != 0))
                fail_msg("%s: %s", rows[i].why, status ? ln_error_message() : text.bytes);
            ln_text_deinit(&text);
        }
        if ((status == LN_OK) != (rows[i].json != NULL))
            fail_msg("%s: %s", rows[i].why, ln_error_message());
        ln_document_destroy(document);
    }
}

TEST(malformed_text_is_refused_with_its_place)
{
    static const struct {
        ln_dialect dialect;
        const char *text;
        const char *message;
    } rows[] = {
        {LN_DIALECT_JSON, "", "t:1:1: expected a value, found the end of the text"},
        {LN_DIALECT_JSON, "[1 2]", "t:1:4: expected ',' or ']', found '2'"},
        {LN_DIALECT_JSON, "[1,\n 2", "t:2:3: expected ',' or ']', found the end of the text"},
        {LN_DIALECT_JSON, "[1,]", "t:1:3: JSON has no ',' before ']'"},
        {LN_DIALECT_JSON, "{a: 1}", "t:1:2: expected a key in double quotes, found 'a'"},
        {LN_DIALECT_JSON, "{\"a\" 1}", "t:1:6: expected ':' after the key, found '1'"},
        {LN_DIALECT_JSON, "{\"a\": 1,\n\"a\": 2}",
         "t:2:1: 'a' is here a second time, the first is at 1:2"},
        {LN_DIALECT_JSON, "[1}", "t:1:3: expected ',' or ']', found '}'"},
        {LN_DIALECT_JSON, "[,]", "t:1:2: expected a value, found ','"},
        {LN_DIALECT_JSON, "1 1", "t:1:3: expected the end of the text, found '1'"},
        {LN_DIALECT_JSON, "yes", "t:1:1: 'yes' is no value"},
        {LN_DIALECT_JSON, "truefalse", "t:1:1: 'truefalse' is no value"},
        {LN_DIALECT_JSON, "01", "t:1:1: a number cannot start with 0"},
        {LN_DIALECT_JSON, "1.", "t:1:3: expected a digit after the point"},
        {LN_DIALECT_JSON, "-", "t:1:2: expected a digit"},
        {LN_DIALECT_JSON, "1e", "t:1:3: expected a digit of the exponent"},
        {LN_DIALECT_JSON, "1x", "t:1:2: expected the end of the number, found 'x'"},
        {LN_DIALECT_JSON, "1e999", "t:1:1: 1e999 is too large for a double"},
        {LN_DIALECT_JSON, "\"abc", "t:1:1: this string has no end, add \""},
        {LN_DIALECT_JSON, "\"\\", "t:1:1: this string has no end, add \""},
        {LN_DIALECT_JSON, "\"a\nb\"", "t:1:3: a string cannot go over lines"},
        {LN_DIALECT_JSON, "\"\tb\"", "t:1:2: control character in a string, write \\u0009"},
        {LN_DIALECT_JSON, "\"\\x\"", "t:1:2: unknown escape"},
        {LN_DIALECT_JSON, "\"\\u12\"", "t:1:2: \\u needs four hexadecimal digits"},
        {LN_DIALECT_JSON, "\"\\ud800x\"", "t:1:2: \\ud800 is the first half of a pair"},
        {LN_DIALECT_JSON, "\"\\udc00\"", "t:1:2: \\udc00 is the second half of a pair"},
        {LN_DIALECT_JSON, "\"\\u0000\"", "t:1:2: \\u0000 is not text"},
        {LN_DIALECT_JSON, "[\"\xff\"]", "t:1:3: byte 0xff is not UTF-8"},
        {LN_DIALECT_JSON, "\"\xc0\x80\"", "t:1:2: byte 0xc0 is not UTF-8"},
        {LN_DIALECT_JSON, "\"\xed\xa0\x80\"", "t:1:2: byte 0xed is not UTF-8"},
        {LN_DIALECT_JSON, "\"\xf4\x90\x80\x80\"", "t:1:2: byte 0xf4 is not UTF-8"},
        {LN_DIALECT_JSON, "\n /* x", "t:2:2: this comment has no end"},
        {LN_DIALECT_JSON, "'''\nx\n'''", "t:1:1: expected a value, found '''"},
        {LN_DIALECT_EASY, "['''\nx ''']", "t:1:2: this string has no end, add '''"},
        {LN_DIALECT_EASY, "['x']", "t:1:2: expected a value, found '''"},
        {LN_DIALECT_EASY, "-", "t:1:2: expected a digit"},
        {LN_DIALECT_OP, "a 1", "t:1:3: expected '{' or ': BASE {', found '1'"},
        {LN_DIALECT_OP, "a : b 1", "t:1:7: expected '{', found '1'"},
        {LN_DIALECT_OP, "a {} a {}", "t:1:6: 'a' is here a second time, the first is at 1:1"},
        {LN_DIALECT_OP, "a {} ,,", "t:1:7: expected the name of an object, found ','"},
        {LN_DIALECT_OP, "{1: 2}", "t:1:2: expected a key, found '1'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_document *document;
        ln_status status = parse(rows[i].text, rows[i].dialect, &document);
        CHECK_NULL(document);
        if (status == LN_OK ||
            strncmp(ln_error_message(), rows[i].message, strlen(rows[i].message)) != 0)
            fail_msg("%s: \"%s\" instead of \"%s\"", rows[i].text, ln_error_message(),
                     rows[i].message);
    }
    ln_document *document;
    CHECK_FAILS(ln_document_parse("[1\0]", 4, "t", LN_DIALECT_JSON, &document), LN_SYNTAX);
    CHECK_STR_EQ(ln_error_message(), "t:1:3: a NUL byte is not text");
    CHECK_FAILS(ln_document_parse(NULL, 0, "t", LN_DIALECT_JSON, &document), LN_INVALID);
}

TEST(depth_and_length_of_numbers_are_limited)
{
    char text[LN_VALUE_MAX_DIGITS + 10];
    ln_document *document;
    for (int depth = LN_VALUE_MAX_DEPTH; depth <= LN_VALUE_MAX_DEPTH + 1; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        text[2 * depth] = '\0';
        ln_status status = parse(text, LN_DIALECT_JSON, &document);
        CHECK_EQ(status, depth > LN_VALUE_MAX_DEPTH ? LN_LIMIT : LN_OK);
        if (status == LN_OK) {
            char *json = printed(ln_document_root(document));
            CHECK_NOT_NULL(json);
            ln_free(json);
        }
        ln_document_destroy(document);
    }
    for (size_t len = LN_VALUE_MAX_DIGITS; len <= LN_VALUE_MAX_DIGITS + 1; len++) {
        memset(text, '0', len);
        text[1] = '.';
        text[len] = '\0';
        CHECK_EQ(parse(text, LN_DIALECT_JSON, &document),
                 len > LN_VALUE_MAX_DIGITS ? LN_LIMIT : LN_OK);
        ln_document_destroy(document);
    }
}

TEST(members_are_found_by_key_and_have_places)
{
    ln_document *document;
    CHECK_OK(parse("{\n  \"a\": 1,\n  \"b\":\n\"x\"}", LN_DIALECT_JSON, &document));
    const ln_value *b = ln_value_get(ln_document_root(document), "b");
    CHECK_NOT_NULL(b);
    CHECK_EQ(b->kind, LN_VALUE_STRING);
    CHECK_EQ(b->text_len, 1);
    CHECK_EQ(b->key_place.line, 3);
    CHECK_EQ(b->key_place.column, 3);
    CHECK_EQ(b->place.line, 4);
    CHECK_EQ(b->place.column, 1);
    CHECK_STR_EQ(b->place.file, "t");
    CHECK_NULL(ln_value_get(ln_document_root(document), "c"));
    CHECK_NULL(ln_value_get(NULL, "a"));
    CHECK_NULL(ln_value_get(b, "a"));
    ln_document_destroy(document);
}

TEST(named_objects_remember_their_bases)
{
    ln_document *document;
    CHECK_OK(parse("a {} b : a {k: -}", LN_DIALECT_OP, &document));
    const ln_value *root = ln_document_root(document);
    CHECK_STR_EQ(root->text, "");
    CHECK_EQ(root->count, 2);
    CHECK_NULL(ln_value_get(root, "a")->text);
    CHECK_STR_EQ(ln_value_get(root, "b")->text, "a");
    CHECK_EQ(ln_value_get(ln_value_get(root, "b"), "k")->kind, LN_VALUE_DELETE);
    ln_document_destroy(document);

    CHECK_OK(parse("{a: {}}", LN_DIALECT_OP, &document));
    CHECK_NULL(ln_document_root(document)->text);
    ln_document_destroy(document);
}

TEST(a_duplicate_is_found_among_many_keys)
{
    ln_text text = {0};
    ln_text_puts(&text, "{");
    for (int i = 0; i < 20000; i++)
        ln_text_printf(&text, "\"k%d\": %d,", i, i);
    ln_text_puts(&text, "\"k77\": 0}");
    ln_document *document;
    CHECK_FAILS(parse(text.bytes, LN_DIALECT_EASY, &document), LN_SYNTAX);
    CHECK_MESSAGE("'k77' is here a second time");
    ln_text_deinit(&text);
}

TEST(numbers_print_in_the_fewest_digits_that_read_back)
{
    static const struct {
        double number;
        const char *text;
    } rows[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {-42, "-42"},
        {0.1, "0.1"},
        {-2.5e-7, "-2.5e-07"},
        {1e20, "1e+20"},
        {9007199254740991.0, "9007199254740991"},
        {1.0 / 3, "0.3333333333333333"},
        {5e-324, "5e-324"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
        {NAN, "nan"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char buffer[32];
        ln_number_print(rows[i].number, buffer);
        CHECK_STR_EQ(buffer, rows[i].text);
    }
}

// Every spelling gives the same bits as the C library in the "C" locale.
TEST(numbers_read_as_strtod_reads_them)
{
    static const char *const spellings[] = {"0.1",
                                            "1e-400",
                                            "4.9e-324",
                                            "2.4703282292062327208e-324",
                                            "1.7976931348623158e308",
                                            "123456789012345678901234567890",
                                            "0.000000000000000000000000000001e30",
                                            "9007199254740993",
                                            "9007199254740992.9999999999999999999999",
                                            "1E+05",
                                            "-0.0",
                                            "1e-0",
                                            "-0",
                                            "0.3",
                                            "-3.14159265358979",
                                            "999999999999999",
                                            "1000000000000000",
                                            "0.00000000000007",
                                            "12345.6789012345"};
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        ln_document *document;
        CHECK_OK(parse(spellings[i], LN_DIALECT_JSON, &document));
        double expected = strtod(spellings[i], NULL);
        CHECK_MEM_EQ(&ln_document_root(document)->number, &expected, sizeof expected);
        CHECK_STR_EQ(ln_document_root(document)->text, spellings[i]);
        ln_document_destroy(document);
    }
}

TEST(a_locale_with_a_decimal_comma_changes_nothing)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "ru_RU.UTF-8"};
    bool is_set = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !is_set; i++)
        is_set = setlocale(LC_NUMERIC, names[i]) != NULL;
    if (!is_set)
        SKIP("no locale with a decimal comma is installed");
    ln_document *document;
    ln_status status = parse("1.5e0", LN_DIALECT_JSON, &document);
    double number = status == LN_OK ? ln_document_root(document)->number : 0;
    char buffer[32];
    ln_number_print(0.25, buffer);
    setlocale(LC_NUMERIC, "C");
    ln_document_destroy(document);
    CHECK(number == 1.5);
    CHECK_STR_EQ(buffer, "0.25");
}

TEST(values_are_made_and_printed)
{
    ln_document *document;
    CHECK_OK(ln_document_create("made", &document));
    CHECK_STR_EQ(ln_document_file(document), "made");
    ln_place place = {0};
    ln_value *root = ln_value_new(document, LN_VALUE_OBJECT, place);
    ln_value *ops = ln_value_new(document, LN_VALUE_ARRAY, place);
    ln_value *op = ln_value_new(document, LN_VALUE_OBJECT, place);
    ln_value *dims = ln_value_new(document, LN_VALUE_ARRAY, place);
    CHECK_OK(ln_value_append(document, dims, NULL, ln_value_new_number(document, 2, place)));
    CHECK_OK(ln_value_append(document, dims, NULL, ln_value_new_number(document, 0.5, place)));
    CHECK_OK(ln_value_append(
        document, op, "name",
        ln_value_new_string(document, "\x01\"\\/\x7f\xc2\x9b\xe2\x80\xae\xff", place)));
    CHECK_OK(ln_value_append(document, op, "dims", dims));
    CHECK_OK(ln_value_append(document, op, "flag", ln_value_new_bool(document, true, place)));
    CHECK_OK(ln_value_append(document, ops, NULL, op));
    CHECK_OK(ln_value_append(document, root, "ops", ops));
    ln_document_set_root(document, root);
    char *json = printed(ln_document_root(document));
    CHECK_STR_EQ(
        json,
        "{\n"
        "    \"ops\": [\n"
        "        {\"name\": \"\\u0001\\\"\\\\/\\u007f\\u009b\\u202e\xff\", \"dims\": [2, 0.5], "
        "\"flag\": true}\n"
        "    ]\n"
        "}");
    ln_free(json);

    ln_error_clear();
    CHECK_EQ(ln_value_append(document, ops, NULL, NULL), LN_INVALID);
    ln_text text = {0};
    ln_value_print(ln_value_new_number(document, NAN, place), &text);
    CHECK_EQ(text.status, LN_INVALID);
    ln_text_deinit(&text);
    ln_document_destroy(document);
    ln_document_destroy(NULL);
}

// ---- Out of memory ----

static int allocations_left;

static void *resize_while_left(void *user, void *p, size_t size)
{
    (void)user;
    return allocations_left-- > 0 ? realloc(p, size) : NULL;
}

static void release(void *user, void *p)
{
    (void)user;
    free(p);
}

TEST(every_refused_allocation_fails_cleanly)
{
    static const ln_allocator limited = {.resize = resize_while_left, .release = release};
    ln_text source = {0};
    ln_text_puts(&source, "{\"a\": \"x\", \"b\": [");
    for (int i = 0; i < 200; i++)
        ln_text_puts(&source, "1, ");
    ln_text_puts(&source, "2]}");
    ln_status status = LN_NO_MEMORY;
    int budget = 0;
    for (; budget < 100 && status != LN_OK; budget++) {
        ln_document *document;
        allocations_left = budget;
        ln_allocator_set(&limited);
        status = parse(source.bytes, LN_DIALECT_JSON, &document);
        ln_allocator_set(NULL);
        CHECK(status == LN_OK || (status == LN_NO_MEMORY && !document));
        ln_document_destroy(document);
    }
    CHECK_EQ(status, LN_OK);
    CHECK(budget > 3);
    ln_text_deinit(&source);
}

TEST_LIST(every_dialect_reads_what_it_should, malformed_text_is_refused_with_its_place,
          depth_and_length_of_numbers_are_limited, members_are_found_by_key_and_have_places,
          named_objects_remember_their_bases, a_duplicate_is_found_among_many_keys,
          numbers_print_in_the_fewest_digits_that_read_back, numbers_read_as_strtod_reads_them,
          a_locale_with_a_decimal_comma_changes_nothing, values_are_made_and_printed,
          every_refused_allocation_fails_cleanly)
