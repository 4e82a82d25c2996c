// SPDX-License-Identifier: Apache-2.0
// The measure that every firing lessens, so that rewriting comes to an end. Of two models the
// lesser one has
//
//     1. fewer operators that run and are no views, one that stands for several counting as so
//     many,
//        or as many and
//     2. less weight, the sum over the operators that run of the weight of their types, or as much
//        and
//     3. operators that sink in lower places: fewer pairs of one that sinks and an operator that
//        runs and depends on it.
//
// All three are whole numbers from 0 on, compared in this order, so no model has endlessly many
// lesser ones.

#ifndef LN_DESC_RULE_WEIGHT_H
#define LN_DESC_RULE_WEIGHT_H

#include <stdbool.h>

#include <lightnet/export.h>

LN_CPPSTART

// From core_types.inc; 0 is the least.
int ln_rule_weight(const char *optype);
bool ln_rule_sinks(const char *optype);
// How many operators one of the type counts as: 0 where it is mostly a view, which costs nothing.
int ln_rule_steps(const char *optype);

LN_CPPEND

#endif
