// SPDX-License-Identifier: Apache-2.0
// Why a rule does not match: what `lightnet opt --why` shows.
//
// The command has the matcher once more, of the same sources, with LN_WHY: it notes each failure,
// and how far the match had come. The library's matcher has neither the notes nor their words.

#ifndef LN_PASS_WHY_H
#define LN_PASS_WHY_H

#include "pass/match.h"

#ifdef LN_WHY
#define LN_WHY_IS_ASKED 1
#else
#define LN_WHY_IS_ASKED 0
#endif

// False: the match fails at `progress`. `op` is the operator in question; NULL: the root.
#define LN_MISS(match, progress, op, ...)                                                          \
    (LN_WHY_IS_ASKED && ln_why_miss(match, progress, op, __VA_ARGS__))

// How far a match has come, in the order in which the matcher asks.
enum {
    LN_WHY_STATEMENT = 1000, // times the position of the statement, and one of these:
    LN_WHY_TYPE = 0,
    LN_WHY_OUTS = 100,
    LN_WHY_READS_OUTPUT = 200,
    LN_WHY_INS = 300,
    LN_WHY_PARAM = 400, // and the position of the parameter
    LN_WHY_DEFAULTS = 500,
    LN_WHY_OPEN = 100000,
    LN_WHY_CONDITION = 200000, // and the position of the condition
    LN_WHY_EFFECT = 300000,    // and a position in ln_match_is_allowed
};

// The match that came farthest, of one rule. Start with {.rule = NAME} and where it is written:
// rules of several files may have one name.
typedef struct ln_why {
    const char *rule;
    size_t tried_count;       // operators at which it was tried, each time
    size_t matched_count;     // of these, how often it matched
    int progress;             // of the nearest; -1 before the first
    char op[LN_MAX_NAME_LEN]; // the root of the nearest, and its type
    char optype[LN_MAX_NAME_LEN];
    char file[LN_MAX_NAME_LEN]; // where the rule is
    int line;
    char reason[2048];
    struct ln_why *next; // that is watched as well
} ln_why;

// Notes are taken in *why and its next ones from here on, in this process; NULL: no longer.
void ln_why_ask(ln_why *why);

// ---- For the matcher ----

void ln_why_begin(const ln_rule *rule, const ln_op *root);
void ln_why_matched(void);
bool ln_why_miss(const ln_match *match, int progress, const ln_op *op, const char *fmt, ...)
    LN_PRINTF(4, 5);

// Texts for notes, in one of a few static buffers.
const char *ln_why_value(const ln_match *match, const ln_rule_value *value);
const char *ln_why_param(const ln_param_entry *entry); // NULL: "absent"
const char *ln_why_tensors(const ln_context *ctx, const ln_match *match, int name);
const char *ln_why_conditions(const ln_context *ctx, const ln_match *match,
                              const ln_rule_condition *first);
const char *ln_why_name(const ln_match *match, int name); // as the rule spells it

#endif
