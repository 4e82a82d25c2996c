// SPDX-License-Identifier: Apache-2.0
// One pass over the bytes, no memory of its own: tokens point into the text.

#include "serial/il/il_lex.h"

#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// The byte `ahead` of the next one; 0, which no text contains, past the end.
static char peek(const ln_il_lexer *lexer, size_t ahead)
{
    return (size_t)(lexer->end - lexer->p) > ahead ? lexer->p[ahead] : '\0';
}

static ln_il_token token_here(const ln_il_lexer *lexer)
{
    return (ln_il_token){
        .text = lexer->p,
        .place = {lexer->file, lexer->line, (int)(lexer->p - lexer->line_start) + 1},
    };
}

static void next_line(ln_il_lexer *lexer)
{
    lexer->line++;
    lexer->line_start = lexer->p;
}

// The length of a backslash with the line end after it; 0 when there is none.
static size_t splice_len(const ln_il_lexer *lexer)
{
    if (peek(lexer, 0) != '\\')
        return 0;
    if (peek(lexer, 1) == '\n')
        return 2;
    return peek(lexer, 1) == '\r' && peek(lexer, 2) == '\n' ? 3 : 0;
}

// ---- White space ----

static void skip_line_comment(ln_il_lexer *lexer)
{
    while (lexer->p < lexer->end && *lexer->p != '\n') {
        size_t splice = splice_len(lexer);
        lexer->p += splice ? splice : 1;
        if (splice)
            next_line(lexer);
    }
}

static ln_status skip_block_comment(ln_il_lexer *lexer)
{
    ln_il_token start = token_here(lexer);
    lexer->p += 2;
    while (lexer->p < lexer->end && !(peek(lexer, 0) == '*' && peek(lexer, 1) == '/')) {
        if (*lexer->p++ == '\n')
            next_line(lexer);
    }
    if (lexer->p == lexer->end)
        return ln_il_fail(&start, LN_SYNTAX, "this comment has no end, add '*/'");
    lexer->p += 2;
    return LN_OK;
}

// Skips what separates tokens inside a line.
static ln_status skip_space(ln_il_lexer *lexer, bool *out_was_space)
{
    const char *start = lexer->p;
    for (;;) {
        char c = peek(lexer, 0);
        size_t splice = splice_len(lexer);
        if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            lexer->p++;
        } else if (splice) {
            lexer->p += splice;
            next_line(lexer);
        } else if (c == '/' && peek(lexer, 1) == '/') {
            skip_line_comment(lexer);
        } else if (c == '/' && peek(lexer, 1) == '*') {
            LN_TRY(skip_block_comment(lexer));
        } else {
            *out_was_space = lexer->p != start;
            return LN_OK;
        }
    }
}

// ---- Tokens ----

static size_t name_len(const char *p, const char *end)
{
    const char *start = p;
    while (p < end && (is_letter(*p) || is_digit(*p)))
        p++;
    return (size_t)(p - start);
}

// Like C, a number takes all letters, digits and points that follow, and a sign after an 'e'.
static size_t number_len(const char *p, const char *end)
{
    const char *start = p;
    while (p < end) {
        bool is_exponent = *p == 'e' || *p == 'E';
        if (!is_letter(*p) && !is_digit(*p) && *p != '.')
            break;
        p++;
        if (is_exponent && p < end && (*p == '+' || *p == '-'))
            p++;
    }
    return (size_t)(p - start);
}

static bool starts_number(const char *p, const char *end)
{
    return p < end && (is_digit(*p) || (*p == '.' && end - p > 1 && is_digit(p[1])));
}

// The length of a string with its quotes; 0 when its line ends before it does.
static size_t string_len(const char *p, const char *end)
{
    const char *start = p++;
    for (; p < end && *p != '\n'; p++) {
        if (*p == '"')
            return (size_t)(p - start) + 1;
        if (*p == '\\' && end - p > 1 && p[1] != '\n')
            p++;
    }
    return 0;
}

static bool starts_eval(const ln_il_lexer *lexer)
{
    static const char eval[] = "${eval";
    size_t len = sizeof eval - 1;
    return (size_t)(lexer->end - lexer->p) >= len && memcmp(lexer->p, eval, len) == 0 &&
           !is_letter(peek(lexer, len)) && !is_digit(peek(lexer, len));
}

static ln_status lex_punct(const ln_il_lexer *lexer, ln_il_token *token)
{
    unsigned char c = (unsigned char)*lexer->p;
    token->kind = LN_IL_PUNCT;
    token->len = c == '#' && peek(lexer, 1) == '#' ? 2 : 1;
    if (c == '$')
        return ln_il_fail(token, LN_SYNTAX, "'$' stands only at the start of ${eval EXPRESSION}");
    if (c <= ' ' || c >= 0x7f)
        return ln_il_fail(token, LN_SYNTAX, "byte 0x%02x stands only in strings and comments", c);
    return LN_OK;
}

ln_status ln_il_lex(ln_il_lexer *lexer, ln_il_token *out_token)
{
    bool was_space;
    LN_TRY(skip_space(lexer, &was_space));
    ln_il_token token = token_here(lexer);
    token.is_after_space = was_space || lexer->is_at_line_start;
    token.is_at_line_start = lexer->is_at_line_start;
    lexer->is_at_line_start = false;

    char c = peek(lexer, 0);
    size_t len = 1;
    if (lexer->p == lexer->end) {
        token.kind = LN_IL_END;
        len = 0;
    } else if (c == '\n') {
        token.kind = LN_IL_NEWLINE;
    } else if (is_letter(c)) {
        token.kind = LN_IL_NAME;
        len = name_len(lexer->p, lexer->end);
    } else if (starts_number(lexer->p, lexer->end)) {
        token.kind = LN_IL_NUMBER;
        len = number_len(lexer->p, lexer->end);
    } else if (c == '"') {
        token.kind = LN_IL_STRING;
        len = string_len(lexer->p, lexer->end);
        if (len == 0)
            return ln_il_fail(&token, LN_SYNTAX,
                              "this string does not end on its line, add '\"'; a line end in a "
                              "string is written \\n");
    } else if (starts_eval(lexer)) {
        token.kind = LN_IL_EVAL;
        len = strlen("${eval");
    } else {
        LN_TRY(lex_punct(lexer, &token));
        len = token.len;
    }
    token.len = (uint32_t)len;
    lexer->p += len;
    if (token.kind == LN_IL_NEWLINE) {
        next_line(lexer);
        lexer->is_at_line_start = true;
    }
    *out_token = token;
    return LN_OK;
}

ln_status ln_il_lex_skip_line(ln_il_lexer *lexer)
{
    while (lexer->p < lexer->end) {
        bool was_space;
        LN_TRY(skip_space(lexer, &was_space));
        if (peek(lexer, 0) == '"') {
            size_t quoted = string_len(lexer->p, lexer->end);
            if (quoted == 0) // never closed: only the line's end is of interest
                while (lexer->p < lexer->end && *lexer->p != '\n')
                    lexer->p++;
            lexer->p += quoted;
            continue;
        }
        bool is_line_end = peek(lexer, 0) == '\n';
        lexer->p += lexer->p < lexer->end;
        if (is_line_end) {
            next_line(lexer);
            lexer->is_at_line_start = true;
            return LN_OK;
        }
    }
    return LN_OK;
}

void ln_il_lex_rest(ln_il_lexer *lexer, const char **out_text, size_t *out_len)
{
    while (peek(lexer, 0) == ' ' || peek(lexer, 0) == '\t')
        lexer->p++;
    const char *start = lexer->p;
    while (lexer->p < lexer->end && *lexer->p != '\n')
        lexer->p++;
    const char *end = lexer->p;
    while (end > start && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    *out_text = start;
    *out_len = (size_t)(end - start);
}

ln_il_kind ln_il_lex_kind(const char *text, size_t len)
{
    const char *end = text + len;
    if (len == 0)
        return LN_IL_END;
    if (is_letter(*text))
        return name_len(text, end) == len ? LN_IL_NAME : LN_IL_END;
    return starts_number(text, end) && number_len(text, end) == len ? LN_IL_NUMBER : LN_IL_END;
}

// ---- Texts ----

// The length of the UTF-8 sequence at `p`; 0 when there is none.
static size_t utf8_len(const unsigned char *p, size_t left)
{
    if (*p < 0x80)
        return *p != 0;
    size_t len = *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2;
    if (*p < 0xc2 || *p > 0xf4 || left < len)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    // Longer than needed, half of a surrogate pair, or beyond the last code point.
    bool is_wrong = (*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) ||
                    (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f);
    return is_wrong ? 0 : len;
}

bool ln_il_is_utf8(const char *text, size_t len, size_t *out_at)
{
    for (size_t i = 0; i < len;) {
        size_t step = utf8_len((const unsigned char *)text + i, len - i);
        *out_at = i;
        if (step == 0)
            return false;
        i += step;
    }
    *out_at = len;
    return true;
}

static ln_status fail_not_text(ln_il_lexer *lexer, size_t at)
{
    unsigned char c = (unsigned char)lexer->p[at];
    for (const char *bad = lexer->p + at; lexer->p < bad;)
        if (*lexer->p++ == '\n')
            next_line(lexer);
    ln_il_token token = token_here(lexer);
    return c ? ln_il_fail(&token, LN_SYNTAX, "byte 0x%02x is not UTF-8", c)
             : ln_il_fail(&token, LN_SYNTAX, "a NUL byte is not text");
}

ln_status ln_il_lexer_init(ln_il_lexer *lexer, const char *text, size_t len, const char *file)
{
    *lexer = (ln_il_lexer){.p = text,
                           .end = text + len,
                           .line_start = text,
                           .line = 1,
                           .file = file,
                           .is_at_line_start = true};
    size_t at;
    if (!ln_il_is_utf8(text, len, &at))
        return fail_not_text(lexer, at);
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        lexer->p += 3; // the byte order mark that some editors put first
    return LN_OK;
}
