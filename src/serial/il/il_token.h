// SPDX-License-Identifier: Apache-2.0
// The tokens of IL, where each came from, and lists of them that keep to a budget.

#ifndef LN_SERIAL_IL_IL_TOKEN_H
#define LN_SERIAL_IL_IL_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lightnet/status.h>

#include "base/text.h"
#include "base/value.h"

LN_CPPSTART

typedef enum ln_il_kind {
    LN_IL_END,     // of the text, or of what was given to be expanded
    LN_IL_NEWLINE, // seen by directives only
    LN_IL_NAME,
    LN_IL_NUMBER, // anything that starts like one: "1e-5", but also "3x"
    LN_IL_STRING, // with its quotes and escapes as written
    LN_IL_EVAL,   // "${eval"
    LN_IL_PUNCT,  // one ASCII character, or "##"
} ln_il_kind;

// One expansion of a macro; the tokens of the macro's body point to it.
typedef struct ln_il_expansion {
    const struct ln_il_expansion *parent; // the expansion that the macro's name came from
    const char *macro;
    ln_place place; // of the macro's name
} ln_il_expansion;

typedef struct ln_il_token {
    const char *text; // borrowed, not NUL-terminated
    uint32_t len;
    uint8_t kind;                     // ln_il_kind
    bool is_after_space;              // white space or a comment stands before it
    bool is_at_line_start;            // first on its line
    bool is_final;                    // a macro's name inside its own expansion: never expanded
    ln_place place;                   // in the macro's body when it came from there
    const ln_il_expansion *expansion; // NULL: it stands in a file as it is
} ln_il_token;

// Fails with the token's place and the chain of expansions that led to it:
// "m.net:2:9: <message> (in macro relu, expanded at m.net:7:1)".
ln_status ln_il_fail(const ln_il_token *token, ln_status status, const char *fmt, ...)
    LN_PRINTF(3, 4);

// Fails with LN_SYNTAX: "expected <what>, found <the token>".
ln_status ln_il_fail_expected(const ln_il_token *token, const char *what);

// True when the token is the punctuation `c`.
bool ln_il_is(const ln_il_token *token, char c);

// True when the token is the name `name`.
bool ln_il_is_name(const ln_il_token *token, const char *name);

// The number that a token of kind LN_IL_NUMBER spells, with a minus in front when `is_negative`.
// `spelling` receives it in JSON's form: ".5" becomes "0.5", "007" becomes "7".
ln_status ln_il_token_number(const ln_il_token *token, bool is_negative,
                             char spelling[LN_VALUE_MAX_DIGITS + 4], double *out_number);

// ---- Lists ----

// What macros have used of the limits so far. One for each parse.
typedef struct ln_il_budget {
    size_t made_tokens;
    size_t live_tokens;
    size_t expansions;
    size_t joined_bytes;
} ln_il_budget;

typedef struct ln_il_tokens {
    ln_il_token *items;
    size_t count;
    size_t capacity;
} ln_il_tokens;

ln_status ln_il_tokens_push(ln_il_tokens *tokens, ln_il_budget *budget, const ln_il_token *token);
void ln_il_tokens_cut(ln_il_tokens *tokens, ln_il_budget *budget, size_t count);
void ln_il_tokens_deinit(ln_il_tokens *tokens, ln_il_budget *budget);

// *inout_left becomes the one token that both texts make when written without a space. The text
// lives in `arena`. LN_SYNTAX when that is no name and no number.
ln_status ln_il_token_join(ln_document *arena, ln_il_budget *budget, ln_il_token *inout_left,
                           const ln_il_token *right);

LN_CPPEND

#endif
