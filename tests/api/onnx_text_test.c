// SPDX-License-Identifier: Apache-2.0
// Operators on strings.

#include "tests/api/values.h"

TEST(strings_are_joined_with_broadcasting)
{
    ln_context *ctx = run_text("strings(| dst=a | dims=[2, 1], data=[\"a\", \"\"]);\n"
                               "strings(| dst=b | dims=[2], data=[\"x\", \"yy\"]);\n"
                               "StringConcat(X=a, Y=b | Z=c |);\n");
    check_strings(ctx, "c", 2, DIMS(2, 2), STRINGS("ax", "ayy", "x", "yy"));
    close_run(ctx);
}

TEST(a_constant_of_strings_has_as_many_as_its_shape)
{
    check_fails("strings(| dst=a | dims=[3], data=[\"a\"]);\n", LN_INVALID, "1 strings for 3");
    check_fails("strings(| dst=a | dims=[100000, 100000], data=[\"a\"]);\n", LN_LIMIT, "dims");
}

TEST(splits_end_at_delimiters_and_are_filled_up)
{
    ln_context *ctx = run_text("strings(| dst=x | dims=[3], data=[\"a--b--\", \"\", \"c\"]);\n"
                               "StringSplit(X=x | Y=y, Z=n | delimiter=\"--\");\n");
    check_strings(ctx, "y", 2, DIMS(3, 3), STRINGS("a", "b", "", "", "", "", "c", "", ""));
    check_numbers(ctx, "n", TL_INT64, 1, DIMS(3), NUMBERS(3, 1, 1));
    close_run(ctx);
}

TEST(runs_of_white_space_divide_where_there_is_no_delimiter)
{
    ln_context *ctx = run_text("strings(| dst=x | dims=[2], data=[\"  a  b c \", \" \"]);\n"
                               "StringSplit(X=x | Y=y, Z=n | maxsplit=1);\n");
    check_strings(ctx, "y", 2, DIMS(2, 2), STRINGS("a", "b c ", "", ""));
    check_numbers(ctx, "n", TL_INT64, 1, DIMS(2), NUMBERS(2, 0));
    close_run(ctx);
}

TEST(stop_words_go_and_letters_of_all_scripts_change_case)
{
    ln_context *ctx = run_text(
        "strings(| dst=x | dims=[1, 3], data=[\"The\", \"Größe\", \"Жук Ωμέγα\"]);\n"
        "StringNormalizer(X=x | Y=u | case_change_action=\"UPPER\", stopwords=[\"tHE\"]);\n"
        "StringNormalizer(X=x | Y=l | case_change_action=\"LOWER\", is_case_sensitive=1, "
        "stopwords=[\"the\"]);\n"
        "StringNormalizer(X=x | Y=e | stopwords=[\"the\", \"größe\", \"жук ωμέγα\"]);\n");
    check_strings(ctx, "u", 2, DIMS(1, 2), STRINGS("GRÖßE", "ЖУК ΩΜΈΓΑ"));
    check_strings(ctx, "l", 2, DIMS(1, 3), STRINGS("the", "größe", "жук ωμέγα"));
    check_strings(ctx, "e", 2, DIMS(1, 1), STRINGS(""));
    close_run(ctx);
}

// ---- RegexFullMatch ----

typedef struct regex_case {
    const char *pattern, *text;
    int matches;
    const char *why;
} regex_case;

static const regex_case regex_cases[] = {
    {"abc", "abc", 1, "literals"},
    {"abc", "abcd", 0, "the whole string counts"},
    {"a*", "", 1, "no repetition"},
    {"(a*)*", "aaaa", 1, "a repetition that may be empty inside of one"},
    {"(a*)+b", "aaaac", 0, "the same without a match"},
    {"(|a)+", "aaa", 1, "an empty alternative"},
    {"a|b|cd", "cd", 1, "the last of three alternatives"},
    {"a|b|cd", "b", 1, "the middle one"},
    {"x(a|b|cd)y", "xay", 1, "jumps out of a group"},
    {"(a|b){3}c", "abac", 1, "copies of alternatives"},
    {"(a|b){3}c", "abc", 0, "too few copies"},
    {"a{2,4}", "aaaaa", 0, "too many"},
    {"a{2,4}", "aaa", 1, "between"},
    {"a{0,2}b", "b", 1, "none of up to two"},
    {"a{0,2}b", "aab", 1, "two of up to two"},
    {"a{0}b", "b", 1, "no copy at all"},
    {"a{2,}", "aaaaaaa", 1, "no limit"},
    {"a{,2}", "a{,2}", 1, "a brace that repeats nothing stands for itself"},
    {"a+?b", "aab", 1, "few before many is the same language"},
    {"[a-c]+", "abcb", 1, "a range"},
    {"[^a-c]", "d", 1, "a negated class"},
    {"[]a]+", "]a]", 1, "a bracket at the start of a class"},
    {"[a-]+", "a-", 1, "a dash at its end"},
    {"[[:alpha:][:digit:]_]+", "aZ_9", 1, "named classes"},
    {"[[:^digit:]]", "5", 0, "a negated one"},
    {"[\\\\D]+", "abc", 1, "a negated escape in a class"},
    {"\\\\w\\\\d\\\\s", "a1 ", 1, "escapes for classes"},
    {"\\\\W", "\xC3\xBC", 1, "words are ASCII"},
    {".", "\xE2\x82\xAC", 1, "one character of three bytes"},
    {".", "\\n", 0, "a line's end is no dot"},
    {"(?s).", "\\n", 1, "unless it is told so"},
    {"(?i)stra\xC3\x9F"
     "e \xC3\x84",
     "STRA\xC3\x9F"
     "E \xC3\xA4",
     1, "case that does not count"},
    {"(?i:a)b", "AB", 0, "but only in the group"},
    {"a(?:b)(?P<n>c)(?<m>d)", "abcd", 1, "kinds of groups"},
    {"www\\\\.\\\\bcom\\\\b", "www.com", 1, "word edges"},
    {"a\\\\bb", "ab", 0, "no word edge"},
    {"^a$", "a", 1, "ends of the text"},
    {"(?m)a$\\\\n^b", "a\\nb", 1, "ends of lines"},
    {"a$\\\\nb", "a\\nb", 0, "the text's end is not there"},
    {"\\\\x41\\\\x{42}", "AB", 1, "numbers of characters"},
    {"\\\\Qa.b\\\\E+", "a.bbb", 1, "quoted text"},
};

TEST(regular_expressions_match_as_in_re2)
{
    for (size_t i = 0; i < sizeof regex_cases / sizeof regex_cases[0]; i++) {
        const regex_case *c = &regex_cases[i];
        char text[1024];
        snprintf(text, sizeof text,
                 "strings(| dst=x | dims=[1], data=[\"%s\"]);\n"
                 "RegexFullMatch(X=x | Y=y | pattern=\"%s\");\n",
                 c->text, c->pattern);
        ln_context *ctx = run_text(text);
        tl_bool got;
        CHECK_NOT_NULL(ln_context_get_data(ctx, "y", &got));
        if (got != c->matches)
            fail_msg("%s on '%s' (%s): %d", c->pattern, c->text, c->why, (int)got);
        close_run(ctx);
    }
}

TEST(patterns_that_are_none_are_told_with_their_place)
{
    static const struct {
        const char *pattern, *message;
    } cases[] = {
        {"a(b", "without its )"},
        {"ab)", "a ) without its ( at byte 3"},
        {"*a", "nothing that could be repeated"},
        {"a**", "nothing that could be repeated"},
        {"[b-a]", "ends before it starts"},
        {"[a", "without its ]"},
        {"a{1001}", "a repetition that cannot be"},
        {"(((((a{100}){100}){100}))){100}", "too large"},
        {"(a)\\\\1", "not known"},
        {"(?=a)", "a kind of group"},
        {"\\\\pL", "not known"},
        {"a\\\\", "a backslash at the end"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "strings(| dst=x | dims=[1], data=[\"a\"]);\n"
                 "RegexFullMatch(X=x | Y=y | pattern=\"%s\");\n",
                 cases[i].pattern);
        check_fails(text, LN_INVALID, cases[i].message);
    }
}

// ---- TfIdfVectorizer ----

TEST(n_grams_count_with_skips_and_weights)
{
    ln_context *ctx = run_text(
        "strings(| dst=x | dims=[2, 4], data=[\"a\", \"b\", \"a\", \"b\", \"b\", \"c\", \"a\", \"a\"]);\n"
        "TfIdfVectorizer(X=x | Y=y | mode=\"TF\", min_gram_length=1, max_gram_length=2, "
        "max_skip_count=1, ngram_counts=[0, 2], ngram_indexes=[2, 0, 1], "
        "pool_strings=[\"a\", \"b\", \"b\", \"a\"]);\n"
        "TfIdfVectorizer(X=x | Y=z | mode=\"TFIDF\", min_gram_length=2, max_gram_length=2, "
        "max_skip_count=0, ngram_counts=[0, 2], ngram_indexes=[2, 0, 1], "
        "pool_strings=[\"a\", \"b\", \"b\", \"a\"], weights=[2, 3, 4]);\n");
    // Row 2: "b" "a" two apart once, and once three apart, which is one skip too many.
    check_numbers(ctx, "y", TL_FLOAT, 2, DIMS(2, 3), NUMBERS(2, 1, 2, 1, 1, 2));
    check_numbers(ctx, "z", TL_FLOAT, 2, DIMS(2, 3), NUMBERS(0, 3, 0, 0, 0, 0));
    close_run(ctx);
}

TEST(a_pool_that_does_not_divide_is_refused)
{
    check_fails("create(| dst=x | dtype=TL_INT64, dims=[2], ran=[0, 0], data=[1, 2], "
                "from_file=false);\n"
                "TfIdfVectorizer(X=x | Y=y | mode=\"TF\", min_gram_length=1, max_gram_length=2, "
                "max_skip_count=0, ngram_counts=[0, 2], ngram_indexes=[0, 1, 2], "
                "pool_int64s=[1, 2, 3]);\n",
                LN_INVALID, "are from 2 to 3");
}

typedef struct token_row {
    const char *why;
    const char *strings; // of x: dims, and data
    const char *params;
    const char *y; // rows in brackets, or a message
} token_row;

// What ONNX Runtime 1.30 gives.
static const token_row token_rows[] = {
    {"characters", "dims=[2], data=[\"abc\", \"\xc3\xa9z\"]", "mark=0, separators=[\"\"]",
     "[a b c][\xc3\xa9 z #]"},
    {"with marks", "dims=[2], data=[\"abc\", \"\"]", "mark=1, separators=[\"\"]",
     "[\x02 a b c \x03][\x02 \x03 # # #]"},
    {"two separators", "dims=[3], data=[\"a b,cc d\", \"\", \"  x,,y \"]",
     "mark=0, separators=[\" \", \",\"]", "[a b cc d][# # # #][x y # #]"},
    {"short tokens are dropped", "dims=[2], data=[\"aa  b cc\", \"q\"]",
     "mark=1, mincharnum=2, separators=[\" +\"]", "[\x02 aa cc \x03][\x02 \x03 # #]"},
    {"the longest separator counts", "dims=[1], data=[\"xabyaz\"]", "mark=0, separators=[\"a|ab\"]",
     "[x y z]"},
    {"separators of no characters", "dims=[1], data=[\"aaa bb\"]",
     "mark=0, separators=[\"^a\", \"\\\\b\"]", "[a b]"},
    {"an expression", "dims=[2], data=[\"abc dab\", \"zz\"]", "mark=0, tokenexp=\"[a-c]+\"",
     "[abc ab][# #]"},
    {"the longest token counts", "dims=[1], data=[\"abab\"]", "mark=0, tokenexp=\"a|ab\"",
     "[ab ab]"},
    {"tokens of no characters are none", "dims=[1], data=[\"baac\"]", "mark=0, tokenexp=\"a*\"",
     "[aa]"},
    {"edges of words see what is before", "dims=[1], data=[\"aaa ab\"]",
     "mark=0, tokenexp=\"\\\\ba\"", "[a a]"},
    {"no tokens, no marks", "dims=[2], data=[\"a\", \"\"]", "mark=1, separators=[\"a\"]", "2x0"},
    {"no strings", "dims=[0, 3], data=[]", "mark=0, separators=[\"a\"]", "0x0"},
    {"neither", "dims=[1], data=[\"a\"]", "mark=0", "neither separators nor a tokenexp"},
    {"no token is that short", "dims=[1], data=[\"a\"]", "mark=0, mincharnum=0, tokenexp=\"a\"",
     "mincharnum is 0"},
    {"longer characters", "dims=[1], data=[\"a\"]", "mark=0, mincharnum=2, separators=[\"\"]",
     "tokens are single characters"},
    {"no expression", "dims=[1], data=[\"a\"]", "mark=0, tokenexp=\"(\"", "a ( without its )"},
};

static void print_tokens(const tl_tensor *y, char *text, size_t size)
{
    size_t len = 0;
    int width = y->dims[y->ndim - 1];
    if (y->len == 0)
        snprintf(text, size, "%dx%d", y->dims[0], width);
    for (int i = 0; i < y->len && len < size; i++)
        len +=
            (size_t)snprintf(text + len, size - len, "%s%s%s", i % width == 0 ? "[" : " ",
                             ((const char *const *)y->data)[i], i % width == width - 1 ? "]" : "");
}

TEST(strings_are_cut_into_tokens)
{
    for (size_t i = 0; i < sizeof token_rows / sizeof token_rows[0]; i++) {
        const token_row *r = &token_rows[i];
        char model[512], text[256] = "";
        snprintf(model, sizeof model,
                 "strings(| dst=x | %s);\nms_Tokenizer(X=x | Y=y | pad_value=\"#\", %s%s);\n",
                 r->strings, strstr(r->params, "mincharnum") ? "" : "mincharnum=1, ", r->params);
        CHECK_OK(ln_arch_init());
        ln_context *ctx = ln_context_create();
        ln_object *y = NULL;
        ln_status status = ln_context_init_mem(ctx, model, strlen(model), "m.net");
        status = status == LN_OK ? ln_context_compile(ctx, "ref") : status;
        status = status == LN_OK ? ln_context_load(ctx, NULL) : status;
        status = status == LN_OK ? ln_context_run(ctx) : status;
        if (status == LN_OK)
            status = ln_context_get_object(ctx, "y", &y);
        if (status == LN_OK)
            print_tokens(ln_object_tensor(y), text, sizeof text);
        if (status == LN_OK ? strcmp(text, r->y) != 0 : !strstr(ln_error_message(), r->y))
            fail_msg("%s: %s instead of %s", r->why, status == LN_OK ? text : ln_error_message(),
                     r->y);
        ln_object_release(y);
        close_context(ctx);
    }
}

TEST_LIST(strings_are_cut_into_tokens, strings_are_joined_with_broadcasting,
          a_constant_of_strings_has_as_many_as_its_shape,
          splits_end_at_delimiters_and_are_filled_up,
          runs_of_white_space_divide_where_there_is_no_delimiter,
          stop_words_go_and_letters_of_all_scripts_change_case, regular_expressions_match_as_in_re2,
          patterns_that_are_none_are_told_with_their_place, n_grams_count_with_skips_and_weights,
          a_pool_that_does_not_divide_is_refused)
