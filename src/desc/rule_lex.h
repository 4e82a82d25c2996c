// SPDX-License-Identifier: Apache-2.0
// The words of a .rules file: names, numbers, strings and signs, each with its place.

#ifndef LN_DESC_RULE_LEX_H
#define LN_DESC_RULE_LEX_H

#include <string.h>

#include "base/text.h"
#include "desc/rule.h"

LN_CPPSTART

typedef enum ln_rule_token_kind {
    LN_RULE_TOKEN_END,
    LN_RULE_TOKEN_WORD,   // letters, digits and `_`, not beginning with a digit
    LN_RULE_TOKEN_NUMBER, // as in JSON, without a minus in front
    LN_RULE_TOKEN_STRING, // between "", without line ends; \" and \\ are known
    LN_RULE_TOKEN_ARROW,  // =>
    LN_RULE_TOKEN_SIGN,   // one of = ( ) [ ] | , ; * + - / ? < >, or one of the following
} ln_rule_token_kind;

// Signs of more than one byte: `...`, ==, !=, <= and >=.
#define LN_RULE_SIGN_REST     '.'
#define LN_RULE_SIGN_EQUAL    'e'
#define LN_RULE_SIGN_DIFFERS  'd'
#define LN_RULE_SIGN_AT_MOST  'l'
#define LN_RULE_SIGN_AT_LEAST 'g'

typedef struct ln_rule_token {
    ln_rule_token_kind kind;
    ln_place place;
    char sign;
    double number;
    char text[LN_RULE_MAX_WORD]; // a word's, sign's or string's bytes
} ln_rule_token;

typedef struct ln_rule_lexer {
    const char *at;
    const char *end;
    ln_place place; // of `at`
} ln_rule_lexer;

// Most words differ in the first byte already.
static inline bool ln_rule_same_word(const char *a, const char *b)
{
    return a[0] == b[0] && strcmp(a, b) == 0;
}

// Reads the next token; blanks, line ends and comments from `#` to the line end are skipped.
ln_status ln_rule_lex(ln_rule_lexer *lexer, ln_rule_token *out_token);

LN_CPPEND

#endif
