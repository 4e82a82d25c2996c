// SPDX-License-Identifier: Apache-2.0
// The rules, and the merging of equal operators, on operators of arch `none` and on what they were
// lowered to: the user's alone, so that they see the model as it was written; then all together,
// the user's before those for every arch and those of the target's archs.

#include "desc/rule.h"
#include "pass/pass.h"
#include "pass/rewrite.h"
#include "pass/same.h"

#include <lightnet/allocator.h>

static size_t count_user_sets(const ln_compilation *compilation)
{
    size_t count = 0;
    while (compilation->rule_sets && compilation->rule_sets[count])
        count++;
    return count;
}

static ln_status apply_rules(ln_compilation *compilation, ln_rule_stage stage)
{
    size_t user_count = count_user_sets(compilation), count = 0;
    const ln_rule_set **sets =
        ln_alloc_array(user_count + 1 + compilation->arch_count, sizeof *sets);
    if (!sets)
        return LN_NO_MEMORY;
    for (size_t i = 0; i < user_count; i++)
        sets[count++] = compilation->rule_sets[i];
    sets[count++] = compilation->general_rules;
    for (size_t i = 0; i < compilation->arch_count; i++)
        if (compilation->arch_rules[i])
            sets[count++] = compilation->arch_rules[i];
    ln_status status = ln_rewrite_rules(compilation, sets, user_count, stage);
    if (status == LN_OK)
        status = ln_rewrite_rules(compilation, sets, count, stage);
    ln_free(sets);
    return status;
}

// Equal operators become one before the rules, so that these see chains once, and after them, since
// rules make equal operators too.
ln_status ln_pass_fold(ln_compilation *compilation)
{
    size_t count;
    LN_TRY(ln_merge_same(compilation, &count));
    LN_TRY(apply_rules(compilation, LN_RULE_BEFORE_EXPAND));
    LN_TRY(ln_merge_same(compilation, &count));
    return count ? apply_rules(compilation, LN_RULE_BEFORE_EXPAND) : LN_OK;
}

ln_status ln_pass_fuse(ln_compilation *compilation)
{
    return apply_rules(compilation, LN_RULE_AFTER_EXPAND);
}
