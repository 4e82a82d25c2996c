// SPDX-License-Identifier: Apache-2.0
// The rules, on operators of arch `none` and on what they were lowered to: the user's, those for
// every arch, then those of the target's archs. Each set comes to its own end.

#include "desc/rule.h"
#include "pass/pass.h"
#include "pass/rewrite.h"

extern const ln_rule_set ln_rules_fold; // rules/*.rules

static ln_status apply_rules(ln_compilation *compilation, ln_rule_stage stage)
{
    for (ln_rule_set **set = compilation->rule_sets; set && *set; set++)
        LN_TRY(ln_rewrite_rules(compilation, *set, stage));
    LN_TRY(ln_rewrite_rules(compilation, &ln_rules_fold, stage));
    for (size_t i = 0; i < compilation->arch_count; i++)
        if (compilation->archs[i]->rules)
            LN_TRY(ln_rewrite_rules(compilation, compilation->archs[i]->rules, stage));
    return LN_OK;
}

ln_status ln_pass_fold(ln_compilation *compilation)
{
    return apply_rules(compilation, LN_RULE_BEFORE_EXPAND);
}

ln_status ln_pass_fuse(ln_compilation *compilation)
{
    return apply_rules(compilation, LN_RULE_AFTER_EXPAND);
}
