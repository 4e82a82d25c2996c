// SPDX-License-Identifier: Apache-2.0
// The general rules: the user's, those for every arch, then those of the target's archs.

#include "desc/rule.h"
#include "pass/pass.h"
#include "pass/rewrite.h"

extern const ln_rule_set ln_rules_fold; // rules/fold.rules

ln_status ln_pass_fold(ln_compilation *compilation)
{
    for (ln_rule_set **set = compilation->rule_sets; set && *set; set++)
        LN_TRY(ln_rewrite_rules(compilation, *set));
    LN_TRY(ln_rewrite_rules(compilation, &ln_rules_fold));
    for (size_t i = 0; i < compilation->arch_count; i++)
        if (compilation->archs[i]->rules)
            LN_TRY(ln_rewrite_rules(compilation, compilation->archs[i]->rules));
    return LN_OK;
}
