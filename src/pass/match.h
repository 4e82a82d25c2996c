// SPDX-License-Identifier: Apache-2.0
// Matching a rule's pattern at one operator of a context.

#ifndef LN_PASS_MATCH_H
#define LN_PASS_MATCH_H

#include <stdbool.h>

#include <lightnet/context.h>

#include "desc/rule.h"

// What the statements and names of a rule stand for. Names of tensors and values are borrowed from
// the matched operators.
typedef struct ln_match {
    const ln_rule *rule;
    ln_op *ops[LN_RULE_MAX_STATEMENTS];
    const char *tensors[LN_RULE_MAX_NAMES];
    const ln_param_entry *values[LN_RULE_MAX_NAMES];
    ln_param_entry *defaults[LN_RULE_MAX_NAMES]; // owned: values that operators left out
    size_t default_count;
} ln_match;

// Whether `rule` applies with `root` as its root. The time does not depend on the size of the
// model. If it does, *match is to be released with ln_match_deinit. Fails only when memory is gone.
ln_status ln_match_rule(const ln_context *ctx, const ln_rule *rule, ln_op *root, ln_match *match,
                        bool *out_matched);

void ln_match_deinit(ln_match *match);

// How many operators of the result run: all but those that read static tensors only and whose type
// says that what they make is static.
size_t ln_rule_result_runs(const ln_rule *rule);

// Whether a literal of a rule is the value of `entry`.
bool ln_rule_value_equals(const ln_rule_value *value, const ln_param_entry *entry);

#endif
