// SPDX-License-Identifier: Apache-2.0
// Firings: each rewrite gets a number before it happens, and may be refused by that number.
//
//     ln_firing_names names;
//     ln_firing firing = ln_firing_of_rule(set, rule->name, rule->tag, rule->line, root, &names);
//     LN_TRY(ln_firing_decide(compilation, &firing, &fires));
//     if (fires)
//         status = ln_firing_done(compilation, &firing, rewrite(...));

#ifndef LN_PASS_FIRING_H
#define LN_PASS_FIRING_H

#include <stdbool.h>

#include "desc/rule.h"
#include "pass/pass.h"

// Room for the texts of a firing: what they are copied from may be freed by it.
typedef struct ln_firing_names {
    char rule[LN_MAX_NAME_LEN];
    char op[LN_MAX_NAME_LEN];
    char optype[LN_MAX_NAME_LEN];
} ln_firing_names;

// Rewrites that were left out on demand when a model was compiled, so that its plans for other
// shapes leave them out as well: numbers are those of one shape, a rule at an operator is itself.
typedef struct ln_skips {
    ln_hash *names;            // of rule, operator and graph; NULL: none
    bool is_noting;            // adds to them what is left out; else what they name is left out
    size_t graph_firing_count; // the largest number that one of the inner graphs has given out
} ln_skips;

void ln_skips_deinit(ln_skips *skips);

// The firing of a rule or `lower` statement of `set` at `op`.
ln_firing ln_firing_of_rule(const ln_rule_set *set, const char *rule, ln_rule_tag tag, int line,
                            const ln_op *op, ln_firing_names *names);

// The firing of an arch's function, the `index`-th of its `kind`.
ln_firing ln_firing_of_function(const ln_arch *arch, const char *kind, size_t index,
                                const ln_op *op, ln_firing_names *names);

// The firing of a pass that has no rules: `rule` says what it does, `tag` what that does to
// numbers, as of rules; NULL: that depends.
ln_firing ln_firing_of_pass(const char *rule, const char *tag, const ln_op *op,
                            ln_firing_names *names);

// Numbers the candidate and says whether it is to happen. One that was skipped before, the same
// rule at an operator of the same name, gets no second number. Fails only when memory is gone.
ln_status ln_firing_decide(ln_compilation *compilation, ln_firing *firing, bool *out_fires);

// Tells that the firing has happened, or has failed with `status`, which it returns. A failed one
// does not count.
ln_status ln_firing_done(ln_compilation *compilation, ln_firing *firing, ln_status status);

// Tells that an operator of the result has refused its inputs, with the thread's message as the
// reason, so that the model is as before. It keeps its number, and is not tried again. Fails only
// when memory is gone.
ln_status ln_firing_refuse(ln_compilation *compilation, ln_firing *firing);

// LN_NOT_FOUND if a number that was to be skipped has not been given out, neither in this graph nor
// in those inside it. Inner graphs, which come first, note theirs.
ln_status ln_firing_check_skipped(const ln_compilation *compilation);

#endif
