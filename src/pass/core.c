// SPDX-License-Identifier: Apache-2.0
// Into the core: what LightNet's list and ONNX's say in words of their own becomes operators of the
// types that all later passes know. The rules are beside the descriptions of the operators that
// they rewrite: op/from_lightnet.rules, op/onnx/from_onnx.rules.
//
// Before them come the user's rules, their `lower` statements and the expanders of the target's
// archs, which see the model as it was read; what they take is left alone. All are asked again
// later, in `fold` and `expand`. What an arch of the target computes itself, while it lacks what
// the core's rule would make of it, stays as well.

#include <lightnet/msg.h>
#include <lightnet/util.h>

#include "arch/core_row.h"
#include "desc/rule.h"
#include "desc/rule_weight.h"
#include "pass/normal.h"
#include "pass/pass.h"
#include "pass/rewrite.h"

extern const ln_rule_set ln_rules_core; // src/op: from_*.rules

static ln_status apply_user_rules(ln_compilation *compilation)
{
    const ln_rule_set *const *sets = (const ln_rule_set *const *)compilation->rule_sets;
    size_t count = 0;
    while (sets && sets[count])
        count++;
    return count ? ln_rewrite_rules(compilation, sets, count, LN_RULE_BEFORE_EXPAND) : LN_OK;
}

ln_status ln_rewrite_to_onnx(ln_context *ctx, const ln_rule_set *rules)
{
    ln_compilation compilation = {.ctx = ctx};
    ln_rule_set *set = NULL;
    ln_status status = ln_rule_set_open(&ln_rules_core, &compilation.core_rules);
    const ln_rule_set *core = compilation.core_rules;
    if (status == LN_OK)
        status = ln_rewrite_rules(&compilation, &core, 1, LN_RULE_TO_CORE);
    if (status == LN_OK)
        status = ln_rule_set_open(rules, &set);
    const ln_rule_set *own = set;
    if (status == LN_OK)
        status = ln_rewrite_rules(&compilation, &own, 1, LN_RULE_TO_ONNX);
    ln_rule_set_destroy(set);
    ln_compilation_deinit(&compilation);
    return status;
}

ln_status ln_pass_core(ln_compilation *compilation)
{
    if (!compilation->is_as_read) {
        LN_TRY(apply_user_rules(compilation));
        LN_TRY(ln_pass_expand_as_read(compilation));
    }
    const ln_rule_set *const set = compilation->core_rules;
    LN_TRY(ln_rewrite_rules(compilation, &set, 1, LN_RULE_TO_CORE));
    return compilation->is_as_read ? LN_OK : ln_ops_write_normal(compilation->ctx);
}

// The type of the core that the first rule for `optype` makes; NULL: none is for it.
static ln_status find_product(const ln_rule_set *core, const char *optype, const char **out_product)
{
    const ln_rule *rules;
    size_t count;
    *out_product = NULL;
    LN_TRY(ln_rule_set_read_root(core, optype, &rules, &count));
    for (size_t i = 0; i < count && !*out_product; i++)
        if (ln_streq(rules[i].pattern[0].optype, optype) && rules[i].result_count > 0)
            *out_product = rules[i].result[0].optype;
    return LN_OK;
}

static ln_status warn_of_types(const ln_arch *arch, const ln_rule_set *core)
{
    for (const char *const *row = arch->core_ops; *row; row++) {
        char type[LN_MAX_NAME_LEN];
        const char *product;
        LN_TRY(ln_core_row_type(arch, *row, type));
        if (ln_rule_is_core(type))
            continue;
        LN_TRY(find_product(core, type, &product));
        if (product)
            ln_msg_warn(
                "arch '%s' lists '%s' in core_ops, which models have as '%s' where a device "
                "is asked; list that",
                arch->arch_name, type, product);
    }
    return LN_OK;
}

ln_status ln_pass_warn_of_types(const ln_arch *arch)
{
    ln_rule_set *core;
    if (!arch->core_ops)
        return LN_OK;
    LN_TRY(ln_rule_set_open(&ln_rules_core, &core));
    ln_status status = warn_of_types(arch, core);
    ln_rule_set_destroy(core);
    return status;
}
