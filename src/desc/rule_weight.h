// SPDX-License-Identifier: Apache-2.0
// The termination measure: each rewrite makes it smaller in lexicographic order.
//
//     1. the number of operators that run; views count 0, composite ones as core_types.inc says
//     2. the sum of the weights of their types
//     3. the number of pairs of an operator that sinks and one that runs and depends on it
//
// All three are natural numbers, so rewriting ends.
//
// Into ONNX an operator may become many. There each rewrite replaces an operator by operators of
// lower levels only, which ends as well.

#ifndef LN_DESC_RULE_WEIGHT_H
#define LN_DESC_RULE_WEIGHT_H

#include <stdbool.h>

#include <lightnet/export.h>

#include "desc/rule.h"

LN_CPPSTART

// From core_types.inc; 0 is the least.
int ln_rule_weight(const char *optype);
bool ln_rule_sinks(const char *optype);
// That of a statement; one that makes any number of operators weighs more than all others together.
int ln_rule_weight_of(const ln_rule_op *statement);
// How many operators one of the type counts as: 0 where it is mostly a view, which costs nothing.
int ln_rule_steps(const char *optype);
// How far from ONNX the type is: 0 for its own types and constants.
int ln_rule_level(const char *optype);
#define LN_RULE_LEVEL_COUNT 5
// Whether the type is of the core, which models are rewritten into.
bool ln_rule_is_core(const char *optype);

LN_CPPEND

#endif
