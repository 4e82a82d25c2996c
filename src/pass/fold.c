// SPDX-License-Identifier: Apache-2.0
// The rules, and the merging of equal operators, on operators of arch `none` and on what they were
// lowered to: the user's alone, so that they see the model as it was written; then all together,
// the user's before those for every arch and those of the target's archs.

#include "desc/rule.h"
#include "pass/pass.h"
#include "pass/rewrite.h"
#include "pass/same.h"

#include <lightnet/allocator.h>

extern const ln_rule_set ln_rules_general; // rules/*.rules

// Unpacks the rules for every arch and those of the target's archs, once for a compilation.
static ln_status unpack_rules(ln_compilation *compilation)
{
    if (compilation->own_rule_count > 0)
        return LN_OK;
    LN_TRY(ln_rule_set_unpack(&ln_rules_general, &compilation->own_rules[0]));
    compilation->own_rule_count = 1;
    for (size_t i = 0; i < compilation->arch_count; i++) {
        const ln_rule_set *rules = compilation->archs[i]->rules;
        if (!rules || !rules->packed)
            continue;
        LN_TRY(ln_rule_set_unpack(rules, &compilation->own_rules[compilation->own_rule_count]));
        compilation->own_rule_count++;
    }
    return LN_OK;
}

static size_t count_user_sets(const ln_compilation *compilation)
{
    size_t count = 0;
    while (compilation->rule_sets && compilation->rule_sets[count])
        count++;
    return count;
}

static ln_status apply_rules(ln_compilation *compilation, ln_rule_stage stage)
{
    LN_TRY(unpack_rules(compilation));
    size_t user_count = count_user_sets(compilation), count = 0;
    const ln_rule_set **sets =
        ln_alloc_array(user_count + compilation->own_rule_count, sizeof *sets);
    if (!sets)
        return LN_NO_MEMORY;
    for (size_t i = 0; i < user_count; i++)
        sets[count++] = compilation->rule_sets[i];
    for (size_t i = 0; i < compilation->own_rule_count; i++)
        sets[count++] = compilation->own_rules[i];
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
