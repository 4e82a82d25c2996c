// SPDX-License-Identifier: Apache-2.0
// Tokens: messages about them, numbers in them, lists of them.

#include "serial/il/il_token.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/number.h"
#include "serial/il/il_lex.h"
#include "serial/il/il_limits.h"

#define FIRST_CAPACITY 16
#define SHOWN_BYTES    40 // of a token in a message
#define SHOWN_MACROS   6  // of a chain of expansions in a message

// ---- Messages ----

static void print_chain(const ln_il_expansion *expansion, char *out, size_t capacity)
{
    size_t len = 0;
    for (int shown = 0; expansion && len < capacity; expansion = expansion->parent, shown++) {
        const ln_place *place = &expansion->place;
        int put;
        if (shown < SHOWN_MACROS) {
            put = snprintf(out + len, capacity - len, "%sin macro %.40s, expanded at %.200s:%d:%d",
                           shown ? "; " : " (", expansion->macro, place->file, place->line,
                           place->column);
        } else {
            int hidden = 0;
            for (; expansion->parent; expansion = expansion->parent)
                hidden++;
            put = snprintf(out + len, capacity - len, "; in %d more", hidden + 1);
        }
        len += put > 0 ? (size_t)put : 0;
    }
    if (len > 0 && len + 1 < capacity)
        memcpy(out + len, ")", 2);
}

ln_status ln_il_fail(const ln_il_token *token, ln_status status, const char *fmt, ...)
{
    char message[1024], chain[2048] = "";
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    print_chain(token->expansion, chain, sizeof chain);
    return ln_fail_at(token->place, status, "%s%s", message, chain);
}

ln_status ln_il_fail_expected(const ln_il_token *token, const char *what)
{
    int len = token->len > SHOWN_BYTES ? SHOWN_BYTES : (int)token->len;
    const char *more = token->len > SHOWN_BYTES ? "..." : "";
    switch (token->kind) {
    case LN_IL_END: return ln_il_fail(token, LN_SYNTAX, "expected %s, found the end", what);
    case LN_IL_NEWLINE:
        return ln_il_fail(token, LN_SYNTAX, "expected %s, found the end of the line", what);
    case LN_IL_STRING:
        return ln_il_fail(token, LN_SYNTAX, "expected %s, found the string %.*s%s", what, len,
                          token->text, more);
    default:
        return ln_il_fail(token, LN_SYNTAX, "expected %s, found '%.*s%s'", what, len, token->text,
                          more);
    }
}

bool ln_il_is(const ln_il_token *token, char c)
{
    return token->kind == LN_IL_PUNCT && token->len == 1 && token->text[0] == c;
}

bool ln_il_is_name(const ln_il_token *token, const char *name)
{
    return token->kind == LN_IL_NAME && token->len == strlen(name) &&
           memcmp(token->text, name, token->len) == 0;
}

// ---- Numbers ----

static size_t count_digits(const char *p, const char *end)
{
    const char *start = p;
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return (size_t)(p - start);
}

// Copies `[-]digits[.digits][e[+-]digits]` in JSON's form; false when the text has another form.
static bool spell_number(const char *p, const char *end, bool is_negative, char *out)
{
    if (p < end && *p == '-') {
        is_negative = !is_negative;
        p++;
    }
    if (is_negative)
        *out++ = '-';
    size_t whole = count_digits(p, end), fraction = 0;
    const char *digits = p;
    p += whole;
    if (p < end && *p == '.') {
        fraction = count_digits(p + 1, end);
        p += 1 + fraction;
    }
    if (whole + fraction == 0)
        return false;
    const char *point = digits + whole;
    while (whole > 1 && *digits == '0') {
        digits++;
        whole--;
    }
    if (whole == 0)
        *out++ = '0';
    memcpy(out, digits, whole);
    out += whole;
    if (fraction > 0) {
        memcpy(out, point, fraction + 1);
        out += fraction + 1;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        const char *exponent = p++;
        if (p < end && (*p == '+' || *p == '-'))
            p++;
        size_t exponent_digits = count_digits(p, end);
        if (exponent_digits == 0)
            return false;
        p += exponent_digits;
        memcpy(out, exponent, (size_t)(p - exponent));
        out += p - exponent;
    }
    *out = '\0';
    return p == end;
}

ln_status ln_il_token_number(const ln_il_token *token, bool is_negative,
                             char spelling[LN_VALUE_MAX_DIGITS + 4], double *out_number)
{
    int shown = token->len > SHOWN_BYTES ? SHOWN_BYTES : (int)token->len;
    const char *more = token->len > SHOWN_BYTES ? "..." : "";
    *out_number = 0;
    if (token->len > LN_VALUE_MAX_DIGITS - 2)
        return ln_il_fail(token, LN_LIMIT, "the number %.*s... has more than %d bytes", shown,
                          token->text, LN_VALUE_MAX_DIGITS - 2);
    if (!spell_number(token->text, token->text + token->len, is_negative, spelling))
        return ln_il_fail(token, LN_SYNTAX, "'%.*s%s' is no number", shown, token->text, more);
    if (!ln_number_read(spelling, strlen(spelling), out_number))
        return ln_il_fail(token, LN_LIMIT, "%.*s%s is too large for a double", shown, token->text,
                          more);
    return LN_OK;
}

// ---- Lists ----

ln_status ln_il_tokens_push(ln_il_tokens *tokens, ln_il_budget *budget, const ln_il_token *token)
{
    if (budget->made_tokens >= LN_IL_MAX_TOKENS)
        return ln_il_fail(token, LN_LIMIT, "macros make more than %d tokens", LN_IL_MAX_TOKENS);
    if (budget->live_tokens >= LN_IL_MAX_LIVE_TOKENS)
        return ln_il_fail(token, LN_LIMIT, "macros make more than %d tokens at once",
                          LN_IL_MAX_LIVE_TOKENS);
    if (tokens->count == tokens->capacity) {
        // At most twice the live tokens, so the product stays small.
        size_t capacity = tokens->capacity ? tokens->capacity * 2 : FIRST_CAPACITY;
        ln_il_token *items = ln_realloc(tokens->items, capacity * sizeof *items);
        if (!items)
            return LN_NO_MEMORY;
        tokens->items = items;
        tokens->capacity = capacity;
    }
    tokens->items[tokens->count++] = *token;
    budget->made_tokens++;
    budget->live_tokens++;
    return LN_OK;
}

void ln_il_tokens_cut(ln_il_tokens *tokens, ln_il_budget *budget, size_t count)
{
    budget->live_tokens -= tokens->count - count;
    tokens->count = count;
}

void ln_il_tokens_deinit(ln_il_tokens *tokens, ln_il_budget *budget)
{
    ln_il_tokens_cut(tokens, budget, 0);
    ln_free(tokens->items);
    *tokens = (ln_il_tokens){0};
}

ln_status ln_il_token_join(ln_document *arena, ln_il_budget *budget, ln_il_token *inout_left,
                           const ln_il_token *right)
{
    size_t len = (size_t)inout_left->len + right->len;
    if (len > LN_IL_MAX_NAME)
        return ln_il_fail(inout_left, LN_LIMIT, "a name put together has more than %d bytes",
                          LN_IL_MAX_NAME);
    if (budget->joined_bytes + len > LN_IL_MAX_JOINED_BYTES)
        return ln_il_fail(inout_left, LN_LIMIT, "names put together have more than %d bytes in all",
                          LN_IL_MAX_JOINED_BYTES);
    budget->joined_bytes += len;

    char *text = ln_document_alloc(arena, len + 1);
    if (!text)
        return LN_NO_MEMORY;
    memcpy(text, inout_left->text, inout_left->len);
    memcpy(text + inout_left->len, right->text, right->len);
    ln_il_kind kind = ln_il_lex_kind(text, len);
    if (kind != LN_IL_NAME && kind != LN_IL_NUMBER)
        return ln_il_fail(
            inout_left, LN_SYNTAX, "'%.*s' and '%.*s' together make no name and no number",
            (int)(inout_left->len > SHOWN_BYTES ? SHOWN_BYTES : inout_left->len), inout_left->text,
            (int)(right->len > SHOWN_BYTES ? SHOWN_BYTES : right->len), right->text);
    inout_left->text = text;
    inout_left->len = (uint32_t)len;
    inout_left->kind = (uint8_t)kind;
    inout_left->is_final = false;
    return LN_OK;
}
