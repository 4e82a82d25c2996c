// SPDX-License-Identifier: Apache-2.0
// Rewriting a model by rules: general rules to a fixed point, `lower` statements one by one.
//
// A firing replaces the matched operators by the rule's result; firing.h numbers it. A firing that
// fails leaves the model as before it.

#ifndef LN_PASS_REWRITE_H
#define LN_PASS_REWRITE_H

#include "desc/rule.h"
#include "pass/pass.h"

// Compares the rules with the registered operators: types, arguments and parameters exist, values
// are of the parameters' types. LN_INVALID with the rule, its line, and what would help.
// `lower` statements need no check: what does not exist does not match.
ln_status ln_rule_set_check(const ln_rule_set *set);

// The same of one rule of the set.
ln_status ln_rule_check(const ln_rule_set *set, const ln_rule *rule);

// Applies the rules of the sets that are for the stage, each at each operator, until none fires. At
// an operator the rules are tried in the order of the sets, and of the lines in each.
ln_status ln_rewrite_rules(ln_compilation *compilation, const ln_rule_set *const *sets,
                           size_t set_count, ln_rule_stage stage);

// Tries the core's rules on the operator at *position alone. After a match *position stands at what
// came of it.
ln_status ln_rewrite_to_core(ln_compilation *compilation, ln_list **position, int *out_matched);

// Rewrites a model that is to be written in ONNX: operators of LightNet's list become those of the
// core, and these, by `rules`, those of ONNX. What has no form there stays.
ln_status ln_rewrite_to_onnx(ln_context *ctx, const ln_rule_set *rules);

// Tries the `lower` statements of `set` (NULL: none) that lead to `arch` on the operator at
// *position. After a match the new operator is in its place, and *position after it (NULL at the
// end).
ln_status ln_rewrite_lower(ln_compilation *compilation, const ln_rule_set *set, const ln_arch *arch,
                           ln_list **position, int *out_matched);

// Whether the arch computes all that the rule's result is made of; views need no computing.
bool ln_rewrite_has_result(const ln_arch *arch, const ln_rule *rule);

// The position in the target of the first arch that takes an operator of arch `none`, as lowering
// asks them; the number of archs if none does. Of an arch with expanders nothing is known before
// they are called: it counts as one that takes it. Conditions of `lower` statements count as
// fulfilled.
ln_status ln_rewrite_find_taker(const ln_compilation *compilation, const ln_op *op,
                                size_t *out_index);

#endif
