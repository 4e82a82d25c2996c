// SPDX-License-Identifier: Apache-2.0
// Cutting texts into tokens.

#include "serial/il/il_lex.h"

#include "serial/il/il_testing.h"

TEST(tokens_are_cut_where_they_end)
{
    static const struct {
        const char *text, *tokens, *why;
    } rows[] = {
        {"", "", "nothing"},
        {" \t\r\n\f\v", "", "white space alone"},
        {"conv2d(a=b|c=d|);", "conv2d ( a = b | c = d | ) ;", "no spaces needed"},
        {"a||b", "a | | b", "two bars are two tokens"},
        {"1 1.5 .5 5. 1e-5 1E+5 3x", "1 1.5 .5 5. 1e-5 1E+5 3x",
         "numbers and what starts like one"},
        {"1-2", "1 - 2", "a minus is not part of a number"},
        {"a.b", "a . b", "a point alone is no number"},
        {"\"a,b;c=d|\"", "\"a,b;c=d|\"", "everything fits into a string"},
        {"\"\\\"\"", "\"\\\"\"", "an escaped quote does not end a string"},
        {"\"//\" \"/*\"", "\"//\" \"/*\"", "a string has no comments"},
        {"a//b\nc", "a c", "a comment to the end of the line"},
        {"a/*b\n*/c", "a c", "a comment over lines"},
        {"a//b\\\nc\nd", "a d", "a backslash continues a comment"},
        {"a\\\nb", "a b", "a backslash at a line end is white space"},
        {"a\\\r\nb", "a b", "also with a carriage return"},
        {"\xef\xbb\xbf"
         "a",
         "a", "a byte order mark is skipped"},
        {"_a9 \"\xc3\xa9\" // \xc3\xa9", "_a9 \"\xc3\xa9\"", "UTF-8 in strings and comments"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        print_message("%s\n", rows[i].why);
        char *tokens = il_to_tokens(rows[i].text);
        CHECK_STR_EQ(tokens, rows[i].tokens);
        ln_free(tokens);
    }
}

TEST(what_is_no_token_is_refused_with_its_place)
{
    static const struct {
        const char *text;
        size_t len;
        const char *message, *why;
    } rows[] = {
        {"a\n \"b", 5, "m.net:2:2: this string does not end", "a string without an end"},
        {"\"b\nc\"", 5, "m.net:1:1: this string does not end", "a string over lines"},
        {"\"b\\", 3, "m.net:1:1: this string does not end", "a backslash at the very end"},
        {"\"b\\\n\"", 5, "m.net:1:1: this string does not end",
         "a backslash does not hide the line end"},
        {"a /* b", 6, "m.net:1:3: this comment has no end", "a comment without an end"},
        {"/*/", 3, "m.net:1:1: this comment has no end", "the star cannot serve twice"},
        {"a\n\0b", 4, "m.net:2:1: a NUL byte is not text", "NUL"},
        {"a \xff", 3, "m.net:1:3: byte 0xff is not UTF-8", "no UTF-8"},
        {"\xc0\x80", 2, "m.net:1:1: byte 0xc0 is not UTF-8", "an overlong NUL"},
        {"\"\xed\xa0\x80\"", 5, "m.net:1:2: byte 0xed is not UTF-8", "half of a surrogate pair"},
        {"\xf4\x90\x80\x80", 4, "m.net:1:1: byte 0xf4 is not UTF-8", "beyond the last code point"},
        {"\xc3", 1, "m.net:1:1: byte 0xc3 is not UTF-8", "a sequence cut short"},
        {"a \xc3\xa9", 4, "m.net:1:3: byte 0xc3 stands only in strings", "UTF-8 in a name"},
        {"a \x01", 3, "m.net:1:3: byte 0x01 stands only in strings", "a control character"},
        {"a $x", 4, "m.net:1:3: '$' stands only", "a dollar without eval"},
        {"${evaluate 1}", 13, "m.net:1:1: '$' stands only", "not the word eval"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        print_message("%s\n", rows[i].why);
        ln_document *document;
        CHECK_FAILS(ln_il_parse(rows[i].text, rows[i].len, "m.net", NULL, &document), LN_SYNTAX);
        CHECK_NULL(document);
        CHECK_MESSAGE(rows[i].message);
    }
}

TEST(places_count_lines_and_bytes)
{
    ln_il_lexer lexer;
    ln_il_token token;
    const char text[] = "\"\xc3\xa9\" a /*\n*/ b \\\n c";
    CHECK_OK(ln_il_lexer_init(&lexer, text, strlen(text), "f"));
    static const struct {
        int line, column;
    } places[] = {{1, 1}, {1, 6}, {2, 4}, {3, 2}};
    for (size_t i = 0; i < LENGTH(places); i++) {
        CHECK_OK(ln_il_lex(&lexer, &token));
        CHECK_EQ(token.place.line, places[i].line);
        CHECK_EQ(token.place.column, places[i].column);
    }
    CHECK_OK(ln_il_lex(&lexer, &token));
    CHECK_EQ(token.kind, LN_IL_END);
    CHECK_OK(ln_il_lex(&lexer, &token));
    CHECK_EQ(token.kind, LN_IL_END);
}

TEST_LIST(tokens_are_cut_where_they_end, what_is_no_token_is_refused_with_its_place,
          places_count_lines_and_bytes)
