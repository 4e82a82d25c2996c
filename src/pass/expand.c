// SPDX-License-Identifier: Apache-2.0
// Lowering: every operator of arch `none` becomes operators of the target's archs.
//
// One walk in the order of execution, so that what an operator reads is lowered before it. Each
// operator is offered to the user's `lower` statements, and then to the archs in the target's
// order: to an arch's hand-written expander functions first, then to the `lower` statements of its
// rules.

#include "pass/pass.h"

#include <stdio.h>

#include <lightnet/util.h>

#include "arch/device.h"
#include "desc/rule.h"
#include "ir/open.h"
#include "pass/firing.h"
#include "pass/rewrite.h"

bool ln_pass_has_variant(const ln_arch *arch, const char *optype)
{
    char variant[LN_MAX_NAME_LEN];
    int len = snprintf(variant, sizeof variant, "%s_%s", optype, arch->arch_name);
    return len < (int)sizeof variant && ln_op_find(variant);
}

static int is_abstract(const ln_op *op)
{
    return ln_streq(op->op_arg->arch, "none");
}

// Puts what an expander returned in the place of the operator at *position, unless that is to be
// skipped; the list is then freed.
static ln_status exchange(ln_compilation *compilation, const ln_arch *arch, size_t index,
                          ln_list **position, ln_list *new_ops, int *out_matched)
{
    ln_context *ctx = compilation->ctx;
    ln_firing_names names;
    ln_firing firing = ln_firing_of_function(arch, "expander", index, (*position)->data, &names);
    firing.is_lowering = is_abstract((*position)->data);
    int new_count = ln_list_length(new_ops);
    bool fires;
    ln_status status = ln_firing_decide(compilation, &firing, &fires);
    if (status == LN_OK && fires)
        status =
            ln_firing_done(compilation, &firing, ln_context_replace_ops(ctx, position, 1, new_ops));
    *out_matched = status == LN_OK && fires;
    if (!*out_matched) {
        ln_pass_free_refused(ctx, new_ops);
        return status;
    }
    for (int i = 0; i < new_count; i++)
        *position = (*position)->next;
    return LN_OK;
}

static bool has_any_variant(const char *optype)
{
    const ln_arch *arch;
    for (size_t i = 0; (arch = ln_arch_find_at(i)); i++)
        if (ln_pass_has_variant(arch, optype))
            return true;
    return false;
}

// Offers the operator at *position to the arch's expanders. After a match *position stands after
// the new operators, which are not expanded again.
static ln_status try_expanders(ln_compilation *compilation, const ln_arch *arch, ln_list **position,
                               int *out_matched)
{
    *out_matched = 0;
    for (size_t i = 0; arch->ep_funcs && arch->ep_funcs[i]; i++) {
        int match = 0;
        ln_error_clear();
        ln_list *new_ops = arch->ep_funcs[i](compilation->ctx, (*position)->data, &match);
        if (!match)
            continue;
        if (!new_ops && ln_error_status() == LN_NO_MEMORY)
            return LN_NO_MEMORY;
        LN_TRY(exchange(compilation, arch, i, position, new_ops, out_matched));
        if (*out_matched)
            return LN_OK;
    }
    return LN_OK;
}

// The `lower` statements of a set for one arch. After a match *position stands after the new
// operator.
static ln_status try_lowering(ln_compilation *compilation, const ln_rule_set *set,
                              const ln_arch *arch, ln_list **position, int *out_matched)
{
    *out_matched = 0;
    if (!set || !is_abstract((*position)->data))
        return LN_OK;
    return ln_rewrite_lower(compilation, set, arch, position, out_matched);
}

// After a match *position stands after the new operators.
static ln_status offer_to_arch(ln_compilation *compilation, size_t index, ln_list **position,
                               int *out_matched)
{
    const ln_arch *arch = compilation->archs[index];
    LN_TRY(try_expanders(compilation, arch, position, out_matched));
    if (*out_matched)
        return LN_OK;
    return try_lowering(compilation, compilation->arch_rules[index], arch, position, out_matched);
}

static ln_status offer_to_user_rules(ln_compilation *compilation, ln_list **position,
                                     int *out_matched)
{
    *out_matched = 0;
    for (ln_rule_set **set = compilation->rule_sets; set && *set; set++) {
        for (size_t i = 0; i < compilation->arch_count && !*out_matched; i++)
            LN_TRY(try_lowering(compilation, *set, compilation->archs[i], position, out_matched));
        if (*out_matched)
            break;
    }
    return LN_OK;
}

// Beyond the limit of firings every operator still needs an arch: the last that takes it.
static ln_status offer_from_last(ln_compilation *compilation, ln_list **position, int *out_matched)
{
    ln_status status = LN_OK;
    compilation->is_forced = true;
    for (size_t i = compilation->arch_count; i-- > 0 && status == LN_OK && !*out_matched;)
        status = offer_to_arch(compilation, i, position, out_matched);
    compilation->is_forced = false;
    return status;
}

// What was kept as it was read for an arch that does not get it now goes to the core. After a match
// *position stands at what came of it.
static ln_status offer_to_core(ln_compilation *compilation, ln_list **position, int *out_matched)
{
    compilation->is_forced = true;
    ln_status status = ln_rewrite_to_core(compilation, position, out_matched);
    compilation->is_forced = false;
    return status;
}

static ln_status offer(ln_compilation *compilation, ln_list **position, int *out_matched)
{
    compilation->last_skipped = 0;
    compilation->has_reached_limit = false;
    LN_TRY(offer_to_user_rules(compilation, position, out_matched));
    for (size_t i = 0; i < compilation->arch_count && !*out_matched; i++)
        LN_TRY(offer_to_arch(compilation, i, position, out_matched));
    if (*out_matched || !is_abstract((*position)->data))
        return LN_OK;
    LN_TRY(offer_to_core(compilation, position, out_matched));
    if (compilation->has_reached_limit && !*out_matched)
        LN_TRY(offer_from_last(compilation, position, out_matched));
    if (*out_matched || compilation->last_skipped == 0)
        return LN_OK;
    const ln_op_arg *arg = ((const ln_op *)(*position)->data)->op_arg;
    return LN_FAIL(LN_UNSUPPORTED,
                   "firing %zu cannot be skipped: nothing else of the target takes '%s' (%s)",
                   compilation->last_skipped, arg->name, arg->optype);
}

// The first tensor outside of main memory that an operator which no arch took reads; NULL: none.
static const ln_tensor_entry *find_elsewhere(const ln_compilation *compilation)
{
    for (const ln_list *l = compilation->ctx->ops; l; l = l->next) {
        const ln_op *op = l->data;
        const ln_tensor_list_entry *in;
        LN_LIST_FOREACH (in, is_abstract(op) ? op->op_arg->tensors_in : NULL) {
            const ln_tensor_entry *entry =
                ln_tensor_table_find(compilation->ctx->tensor_table, in->name);
            if (entry && entry->mtype > LN_MEM_CPU)
                return entry;
        }
    }
    return NULL;
}

// What helps an operator that reads the memory of a device that the target does not name.
static ln_status fail_elsewhere(const ln_compilation *compilation, size_t left_count,
                                const char *names, const ln_tensor_entry *entry)
{
    const ln_op *maker =
        entry->creater ? ln_op_table_find(compilation->ctx->op_table, entry->creater) : NULL;
    return LN_FAIL(LN_UNSUPPORTED,
                   "no arch of the target takes %zu operator%s: %s; tensor '%s' is in %s: add arch "
                   "'%s' to the target, or put a 'copy' after '%s'",
                   left_count, left_count == 1 ? "" : "s", names, entry->name,
                   ln_mem_type_title(entry->mtype), maker ? maker->op_arg->arch : "none",
                   maker ? maker->op_arg->name : "it");
}

// Whether rules into the core are for operators of its type, and it reads or makes a tensor of a
// dynamic shape, which is why none of them fits.
static ln_status needs_shapes(const ln_compilation *compilation, const ln_op *op, bool *out_needs)
{
    const ln_op_arg *arg = op->op_arg;
    const ln_list *const lists[] = {arg->tensors_in, arg->tensors_out};
    const ln_rule *rules;
    size_t count = 0;
    bool is_open = false, has_rule = false;
    for (int side = 0; side < 2; side++) {
        const ln_tensor_list_entry *listed;
        LN_LIST_FOREACH (listed, lists[side]) {
            const ln_tensor_entry *entry =
                ln_tensor_table_find(compilation->ctx->tensor_table, listed->name);
            is_open = is_open || (entry && entry->is_open);
        }
    }
    if (is_open && compilation->core_rules)
        LN_TRY(ln_rule_set_read_root(compilation->core_rules, arg->optype, &rules, &count));
    for (size_t i = 0; i < count; i++)
        has_rule = has_rule || ln_streq(rules[i].pattern[0].optype, arg->optype);
    *out_needs = has_rule;
    return LN_OK;
}

// Names every operator that no arch took, up to what a message holds.
static ln_status check_all_lowered(const ln_compilation *compilation)
{
    char names[1024] = "";
    size_t used = 0, left_count = 0;
    const char *orphan = NULL; // a type that nothing computes
    bool needs = false;
    for (const ln_list *l = compilation->ctx->ops; l; l = l->next) {
        const ln_op *op = l->data;
        if (!is_abstract(op))
            continue;
        left_count++;
        if (!orphan && !has_any_variant(op->op_arg->optype)) {
            orphan = op->op_arg->optype;
            LN_TRY(needs_shapes(compilation, op, &needs));
        }
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s'%s' (%s)",
                                     used ? ", " : "", op->op_arg->name, op->op_arg->optype);
    }
    if (left_count == 0)
        return LN_OK;
    const ln_arch *last = compilation->archs[compilation->arch_count - 1];
    const ln_tensor_entry *elsewhere = find_elsewhere(compilation);
    if (elsewhere && !orphan)
        return fail_elsewhere(compilation, left_count, names, elsewhere);
    if (needs)
        return LN_FAIL(LN_UNSUPPORTED,
                       "no arch of the target takes %zu operator%s: %s; '%s' needs sizes that are "
                       "known before the run%s",
                       left_count, left_count == 1 ? "" : "s", names, orphan,
                       ln_context_has_open_input(compilation->ctx)
                           ? ": give those of the inputs (ln_context_set_shape, -s)"
                           : ", and they depend on data");
    if (orphan)
        return LN_FAIL(
            LN_UNSUPPORTED,
            "no arch of the target takes %zu operator%s: %s; nothing computes '%s' until "
            "the program registers an operator '%s_%s'",
            left_count, left_count == 1 ? "" : "s", names, orphan, orphan, last->arch_name);
    return LN_FAIL(LN_UNSUPPORTED, "no arch of the target takes %zu operator%s: %s", left_count,
                   left_count == 1 ? "" : "s", names);
}

ln_status ln_pass_expand(ln_compilation *compilation)
{
    ln_list *position = compilation->ctx->ops;
    while (position) {
        int matched;
        LN_TRY(offer(compilation, &position, &matched));
        if (!matched)
            position = position->next;
    }
    return check_all_lowered(compilation);
}

// ---- Before the core ----

static bool is_named(const ln_rule_set *set, const char *optype)
{
    for (size_t i = 0; i < set->lower_count; i++)
        if (set->lowers[i].from && ln_streq(set->lowers[i].from, optype))
            return true;
    return false;
}

static ln_status offer_as_read(ln_compilation *compilation, ln_list **position, int *out_matched)
{
    const char *optype = ((const ln_op *)(*position)->data)->op_arg->optype;
    for (ln_rule_set **set = compilation->rule_sets; set && *set; set++)
        for (size_t i = 0; i < compilation->arch_count && is_named(*set, optype); i++) {
            LN_TRY(try_lowering(compilation, *set, compilation->archs[i], position, out_matched));
            if (*out_matched)
                return LN_OK;
        }
    for (size_t i = 0; i < compilation->arch_count; i++) {
        LN_TRY(try_expanders(compilation, compilation->archs[i], position, out_matched));
        if (*out_matched || ln_pass_has_variant(compilation->archs[i], optype))
            return LN_OK;
    }
    return LN_OK;
}

ln_status ln_pass_expand_as_read(ln_compilation *compilation)
{
    ln_list *position = compilation->ctx->ops;
    while (position) {
        const ln_op *op = position->data;
        int matched = 0;
        if (is_abstract(op) && ln_rule_set_has_root(compilation->core_rules, op->op_arg->optype))
            LN_TRY(offer_as_read(compilation, &position, &matched));
        if (!matched)
            position = position->next;
    }
    return LN_OK;
}
