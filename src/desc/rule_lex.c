// SPDX-License-Identifier: Apache-2.0
// Bytes to tokens. ASCII everywhere but in comments and strings.

#include "desc/rule_lex.h"

#include <string.h>

#include "base/number.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// The byte at `at` + `ahead`; NUL past the end.
static char peek(const ln_rule_lexer *lexer, size_t ahead)
{
    return ahead < (size_t)(lexer->end - lexer->at) ? lexer->at[ahead] : '\0';
}

// Past bytes of which none is a line end.
static void advance(ln_rule_lexer *lexer, size_t count)
{
    lexer->at += count;
    lexer->place.column += (int)count;
}

static void skip_blanks(ln_rule_lexer *lexer)
{
    while (lexer->at < lexer->end) {
        char c = *lexer->at;
        if (c == '#') {
            const char *line_end = memchr(lexer->at, '\n', (size_t)(lexer->end - lexer->at));
            advance(lexer, (size_t)((line_end ? line_end : lexer->end) - lexer->at));
        } else if (c == '\n') {
            lexer->at++;
            lexer->place.line++;
            lexer->place.column = 1;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            advance(lexer, 1);
        } else {
            return;
        }
    }
}

static ln_status lex_word(ln_rule_lexer *lexer, ln_rule_token *token)
{
    size_t len = 1;
    while (is_word_start(peek(lexer, len)) || is_digit(peek(lexer, len)))
        len++;
    if (len >= LN_RULE_MAX_WORD)
        return ln_fail_at(token->place, LN_LIMIT, "a word of %zu bytes; at most %d are allowed",
                          len, LN_RULE_MAX_WORD - 1);
    token->kind = LN_RULE_TOKEN_WORD;
    memcpy(token->text, lexer->at, len);
    token->text[len] = '\0';
    advance(lexer, len);
    return LN_OK;
}

// Length of the digits from `ahead` on.
static size_t count_digits(const ln_rule_lexer *lexer, size_t ahead)
{
    size_t count = 0;
    while (is_digit(peek(lexer, ahead + count)))
        count++;
    return count;
}

static ln_status lex_number(ln_rule_lexer *lexer, ln_rule_token *token)
{
    size_t len = count_digits(lexer, 0), digits;
    bool is_valid = !(len > 1 && peek(lexer, 0) == '0');
    if (peek(lexer, len) == '.') {
        digits = count_digits(lexer, len + 1);
        is_valid = is_valid && digits > 0;
        len += 1 + digits;
    }
    if (peek(lexer, len) == 'e' || peek(lexer, len) == 'E') {
        len++;
        len += peek(lexer, len) == '+' || peek(lexer, len) == '-';
        digits = count_digits(lexer, len);
        is_valid = is_valid && digits > 0;
        len += digits;
    }
    if (!is_valid || is_word_start(peek(lexer, len)) ||
        !ln_number_read(lexer->at, len, &token->number))
        return ln_fail_at(token->place, LN_SYNTAX, "'%.*s' is no number",
                          (int)(len < 40 ? len : 40), lexer->at);
    token->kind = LN_RULE_TOKEN_NUMBER;
    advance(lexer, len);
    return LN_OK;
}

static ln_status lex_string(ln_rule_lexer *lexer, ln_rule_token *token)
{
    token->kind = LN_RULE_TOKEN_STRING;
    size_t len = 0;
    advance(lexer, 1);
    for (;;) {
        char c = peek(lexer, 0);
        if ((unsigned char)c < ' ')
            return ln_fail_at(token->place, LN_SYNTAX, "the string does not end on its line");
        advance(lexer, 1);
        if (c == '"')
            break;
        if (c == '\\') {
            c = peek(lexer, 0);
            if (c != '"' && c != '\\')
                return ln_fail_at(lexer->place, LN_SYNTAX,
                                  "a backslash in a string stands before \" or \\ only");
            advance(lexer, 1);
        }
        if (len + 1 == LN_RULE_MAX_WORD)
            return ln_fail_at(token->place, LN_LIMIT, "a string has at most %d bytes",
                              LN_RULE_MAX_WORD - 1);
        token->text[len++] = c;
    }
    token->text[len] = '\0';
    return LN_OK;
}

static const struct {
    const char *text;
    char sign;
} long_signs[] = {
    {"...", LN_RULE_SIGN_REST},   {"==", LN_RULE_SIGN_EQUAL},    {"!=", LN_RULE_SIGN_DIFFERS},
    {"<=", LN_RULE_SIGN_AT_MOST}, {">=", LN_RULE_SIGN_AT_LEAST},
};

static bool lex_long_sign(ln_rule_lexer *lexer, ln_rule_token *token)
{
    for (size_t i = 0; i < sizeof long_signs / sizeof long_signs[0]; i++) {
        size_t len = strlen(long_signs[i].text);
        if ((size_t)(lexer->end - lexer->at) < len ||
            memcmp(lexer->at, long_signs[i].text, len) != 0)
            continue;
        token->kind = LN_RULE_TOKEN_SIGN;
        token->sign = long_signs[i].sign;
        memcpy(token->text, long_signs[i].text, len + 1);
        advance(lexer, len);
        return true;
    }
    return false;
}

ln_status ln_rule_lex(ln_rule_lexer *lexer, ln_rule_token *out_token)
{
    skip_blanks(lexer);
    out_token->kind = LN_RULE_TOKEN_END;
    out_token->place = lexer->place;
    out_token->text[0] = '\0';
    if (lexer->at == lexer->end)
        return LN_OK;
    char c = *lexer->at;
    if (is_word_start(c))
        return lex_word(lexer, out_token);
    if (is_digit(c))
        return lex_number(lexer, out_token);
    if (c == '"')
        return lex_string(lexer, out_token);
    if (c == '=' && peek(lexer, 1) == '>') {
        out_token->kind = LN_RULE_TOKEN_ARROW;
        advance(lexer, 2);
        return LN_OK;
    }
    if (strchr(".=!<>", c) && lex_long_sign(lexer, out_token))
        return LN_OK;
    if (c == '\0' || !strchr("=()[]|,;*+-/?<>", c))
        return ln_fail_at(lexer->place, LN_SYNTAX,
                          c == '&'             ? "unexpected '%c'; conditions have ',' between them"
                          : c > ' ' && c < 127 ? "unexpected '%c'"
                                               : "unexpected byte %d; rules are text",
                          c > ' ' && c < 127 ? c : (unsigned char)c);
    out_token->kind = LN_RULE_TOKEN_SIGN;
    out_token->sign = c;
    out_token->text[0] = c;
    out_token->text[1] = '\0';
    advance(lexer, 1);
    return LN_OK;
}
