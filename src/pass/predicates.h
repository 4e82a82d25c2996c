// SPDX-License-Identifier: Apache-2.0
// The conditions that rules name: questions about tensors of a checked context.
//
// The list is desc/rule_predicates.inc. Each is a pure function: it changes and allocates nothing.
// A tensor that the context does not have fulfils no condition.

#ifndef LN_PASS_PREDICATES_H
#define LN_PASS_PREDICATES_H

#include <stdbool.h>

#include <lightnet/context.h>

#include "desc/rule.h"

// One argument; which member counts says the predicate's signature.
typedef struct ln_predicate_arg {
    const char *tensor;
    double number;
    const char *word;
} ln_predicate_arg;

#define P(name, signature, meaning)                                                                \
    bool ln_predicate_##name(const ln_context *ctx, const ln_predicate_arg *args);
#include "desc/rule_predicates.inc"
#undef P

// Calls the function of `predicate` with as many arguments as its signature has.
bool ln_predicate_holds(const ln_context *ctx, ln_rule_predicate predicate,
                        const ln_predicate_arg *args);

// The only operator that reads `tensor`; NULL if there is none or another one. *out_count, which
// may be NULL, receives how often it reads it.
const ln_op *ln_only_reader(const ln_context *ctx, const char *tensor, size_t *out_count);

#endif
