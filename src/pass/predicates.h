// SPDX-License-Identifier: Apache-2.0
// The conditions that rules name: questions about tensors and values of a checked context.
//
// The list is desc/rule_predicates.inc. Each is a pure function: it changes and allocates nothing.
// A tensor that the context does not have fulfils no condition.

#ifndef LN_PASS_PREDICATES_H
#define LN_PASS_PREDICATES_H

#include <stdbool.h>

#include <lightnet/context.h>

#include "desc/rule.h"
#include "pass/functions.h"

#define LN_PREDICATE_MAX_ARGS 6

#define P(name, signature, meaning)                                                                \
    bool ln_predicate_##name(const ln_context *ctx, const ln_expr_value *args);
#include "desc/rule_predicates.inc"
#undef P

// Calls the function of `predicate` with as many arguments as its signature has; for a `T` of
// several tensors once for each, until one does not fulfil it. Arguments of other kinds than the
// signature's fulfil nothing.
bool ln_predicate_holds(const ln_context *ctx, ln_rule_predicate predicate,
                        const ln_expr_value *args);

// False where the condition asks for the type or the shape of a tensor that has none before a run:
// then neither it nor its opposite is fulfilled.
bool ln_predicate_is_decided(const ln_context *ctx, ln_rule_predicate predicate,
                             const ln_expr_value *args);

#endif
