// SPDX-License-Identifier: Apache-2.0
// The parser of rules inside: what rule_parse.c and the files named below share.

#ifndef LN_DESC_RULE_PARSER_H
#define LN_DESC_RULE_PARSER_H

#include <string.h>

#include "base/value.h"
#include "desc/rule_lex.h"

LN_CPPSTART

typedef struct ln_rule_name {
    bool is_value;      // of a parameter; else tensors
    bool is_used;       // a value that something after its binding asks for
    bool is_list;       // several tensors, or one that may be absent
    bool is_made;       // by a statement of the result
    bool is_read;       // by a statement of the pattern
    bool is_read_as_is; // by a statement of the result, as the pattern makes it
    bool is_static;     // by a condition, or made from static tensors
    bool is_over;       // stood for each of several tensors in one statement, which has ended
    int maker;          // the statement of the pattern that makes it; -1
} ln_rule_name;

typedef struct ln_rule_parser {
    ln_rule_lexer lexer;
    ln_rule_token token; // the next one
    bool is_substituted; // it replaces another in this row
    ln_document *arena;

    ln_rule *rules;
    size_t rule_count;
    ln_rule_lower *lowers;
    size_t lower_count;
    ln_rule_stage stage;

    // What words of a rule with rows stand for; no columns: it has none.
    char columns[LN_RULE_MAX_COLUMNS][LN_RULE_MAX_WORD];
    ln_rule_token row[LN_RULE_MAX_COLUMNS];
    size_t column_count;

    // The rule being read.
    const char *names[LN_RULE_MAX_NAMES];
    ln_rule_name infos[LN_RULE_MAX_NAMES];
    size_t name_count;
    ln_rule_op pattern[LN_RULE_MAX_STATEMENTS];
    size_t pattern_count;
    ln_rule_op result[LN_RULE_MAX_STATEMENTS];
    size_t result_count;
    ln_rule_condition conditions[LN_RULE_MAX_CONDITIONS];
    size_t condition_count;
} ln_rule_parser;

// ---- rule_parse.c ----

// Reads the next token.
ln_status ln_rule_next(ln_rule_parser *p);

static inline bool ln_rule_at_sign(const ln_rule_parser *p, char sign)
{
    return p->token.kind == LN_RULE_TOKEN_SIGN && p->token.sign == sign;
}

static inline bool ln_rule_at_word(const ln_rule_parser *p, const char *word)
{
    return p->token.kind == LN_RULE_TOKEN_WORD && ln_rule_same_word(p->token.text, word);
}

// A word that may be a name.
bool ln_rule_at_name(const ln_rule_parser *p);

// The word with another one after it; elsewhere it may be a name.
bool ln_rule_at_keyword(const ln_rule_parser *p, const char *word);

// Whether a bracket is after the next token, or that is no name.
bool ln_rule_is_before_bracket(const ln_rule_parser *p);

// Reads on after the sign, which must be there.
ln_status ln_rule_expect_sign(ln_rule_parser *p, char sign);

// "expected X, found Y" at the next token.
ln_status ln_rule_fail_expected(const ln_rule_parser *p, const char *what);

ln_status ln_rule_check_room(const ln_rule_parser *p, size_t count, size_t limit, const char *what);

// The number of the name at the next token, which must be bound.
ln_status ln_rule_take_known(ln_rule_parser *p, bool is_value, int *out_name);

// The same, but a name that is not bound becomes one.
ln_status ln_rule_take_known_or_new(ln_rule_parser *p, bool is_value, int *out_name);

// Takes the token's text, which is then the arena's, and reads on.
ln_status ln_rule_take_text(ln_rule_parser *p, const char **out_text);

// The same where a name stands; `what` it is the name of, for the message.
ln_status ln_rule_take_name(ln_rule_parser *p, const char *what, const char **out_text);

// A copy of `count` items in the arena; NULL, with *status set, when memory is gone. No items give
// NULL too.
const void *ln_rule_keep(ln_rule_parser *p, const void *items, size_t count, size_t size,
                         ln_status *status);

// Sets `member` to a copy of the first `count` items of an array.
#define KEEP(p, items, count, member)                                                              \
    do {                                                                                           \
        ln_status keep_status_;                                                                    \
        (member) = ln_rule_keep((p), (items), (count), sizeof(items)[0], &keep_status_);           \
        LN_TRY(keep_status_);                                                                      \
    } while (0)

// ---- rule_statement.c ----

// Reads the statements of a pattern, with which a rule begins anew.
ln_status ln_rule_parse_pattern(ln_rule_parser *p);

ln_status ln_rule_parse_statement(ln_rule_parser *p, bool is_result, ln_rule_op *op);

// ---- rule_condition.c ----

// Reads `where` and the conditions after it, if it is there. In a `lower` statement tensors go by
// the names of arguments.
ln_status ln_rule_parse_where(ln_rule_parser *p, bool is_lower);

// ---- rule_expr.c ----

// Reads an expression up to a token that cannot belong to it. One that computes nothing is a plain
// value: a literal, an array of literals, or a name.
ln_status ln_rule_parse_expr(ln_rule_parser *p, ln_rule_value *out_value);

// The number of the function or predicate of that name; -1.
int ln_rule_find_function(const char *name);
int ln_rule_find_predicate(const char *name);

// "; did you mean 'X'?" in `buffer`, if one of the `count` names is near; else "".
const char *ln_rule_did_you_mean(const char *word, const char *(*name_at)(int), int count,
                                 char buffer[LN_RULE_MAX_WORD + 32]);

// ---- rule_measure.c ----

// Marks the operators of the pattern that stay, and says whether the rule is wide.
ln_status ln_rule_mark_kept(ln_rule_parser *p, ln_place place, ln_rule *rule);

// The result is less than what it replaces; see rule_weight.h.
ln_status ln_rule_check_measure(ln_rule_parser *p, ln_place place, ln_rule *rule);

LN_CPPEND

#endif
