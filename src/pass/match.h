// SPDX-License-Identifier: Apache-2.0
// Matching a rule's pattern at one operator of a context.

#ifndef LN_PASS_MATCH_H
#define LN_PASS_MATCH_H

#include <stdbool.h>

#include <lightnet/context.h>

#include "desc/rule.h"
#include "ir/param_value.h"
#include "pass/functions.h"

#define LN_MATCH_MAX_TENSORS 1024 // that `xs...` and `x?` stand for in one match
#define LN_MATCH_MAX_UNUSED  256  // operators that nobody reads any more after a firing

// What the statements and names of a rule stand for. Names of tensors and values are borrowed from
// the matched operators and their descriptions.
typedef struct ln_match {
    const ln_rule *rule;
    ln_op *ops[LN_RULE_MAX_STATEMENTS];
    const char *tensors[LN_RULE_MAX_NAMES]; // NULL: not bound, or several
    const ln_param_entry *values[LN_RULE_MAX_NAMES];

    // `xs...` and `x?`: neighbours in `several`.
    struct {
        bool is_bound;
        size_t first;
        size_t count;
    } lists[LN_RULE_MAX_NAMES];
    // Statements of the result that make no operator (match_left_out.c).
    bool is_left_out[LN_RULE_MAX_STATEMENTS];
    // Operators of the pattern that stay: the result reads from them, or somebody else does.
    bool stays[LN_RULE_MAX_STATEMENTS];

    // The newest versions of operators that leave them out, for their statements' `since`.
    ln_param_entry versions[LN_RULE_MAX_STATEMENTS];

    const char *several[LN_MATCH_MAX_TENSORS];
    size_t several_count;

    // Operators beside the matched ones whose outputs nobody reads any more; they go as well.
    ln_op *unused[LN_MATCH_MAX_UNUSED];
    size_t unused_count;
} ln_match;

// Whether `rule` applies with `root` as its root. The time does not depend on the size of the
// model.
bool ln_match_rule(const ln_context *ctx, const ln_rule *rule, ln_op *root, ln_match *match);

// The tensors that a name stands for: one, or several, or none.
const char *const *ln_match_tensors(const ln_match *match, int name, size_t *out_count);

// Whether a statement of the result makes an operator number `i`, from 0. If it is one for each of
// several tensors, their name stands for that operator's from then on.
bool ln_match_each(ln_match *match, const ln_rule_op *statement, size_t i);

// Whether a firing removes `op`.
bool ln_match_removes(const ln_match *match, const ln_op *op);

// ---- match_left_out.c: what is made of an optional tensor that is not there? ----

// Fills in `match->is_left_out`, and gives names of tensors that are not made no tensor.
void ln_match_find_left_out(ln_match *match);

// The position of the input after `in`, which stands at `position` and for `count` tensors. One
// that is absent leaves a gap, but not among those of a variadic argument.
size_t ln_match_next_position(const ln_op_arg *proto, const ln_rule_arg *in, size_t position,
                              size_t count);

// ---- match_guard.c: may the rule fire? ----

// Whether the result reads an output of the model that `op`, whose outputs are bound, makes. Then
// the rule may not fire, since somebody would read it then. Few tests are as cheap.
bool ln_match_reads_output(const ln_context *ctx, const ln_match *match, const ln_op *op);

// A graph that an operator runs knows what is around it by its name, which therefore has to stay.
bool ln_match_is_captured(const ln_context *ctx, const char *tensor);

// Nothing that somebody else needs is lost, and the measure of desc/rule_weight.h becomes less.
// Fills in `match->unused`.
bool ln_match_is_allowed(const ln_context *ctx, ln_match *match);

// How many operators of the result run: all but those that read static tensors only, which run
// once, when the model is loaded. Aliases do not count.
size_t ln_rule_result_runs(const ln_rule *rule, int *out_weight);

// ---- match_value.c: values and conditions ----

// Whether a literal of a rule is the value of `entry`.
bool ln_rule_value_equals(const ln_rule_value *value, const ln_param_entry *entry);

// What an expression, a literal or a name stands for. *out borrows from the match and from
// `buffer`. False if there is no such value.
bool ln_match_value(const ln_context *ctx, const ln_match *match, const ln_rule_value *value,
                    double buffer[LN_RULE_MAX_ELEMENTS], ln_expr_value *out);

bool ln_match_conditions_hold(const ln_context *ctx, const ln_match *match);

#endif
