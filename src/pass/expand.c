// SPDX-License-Identifier: Apache-2.0
// Lowering: every operator of arch `none` becomes operators of the target's archs.
//
// One walk in the order of execution, so that what an operator reads is lowered before it. Each
// operator is offered to the archs in the target's order: to an arch's hand-written expander
// functions first, then to the `lower` statements of its rules.

#include "pass/pass.h"

#include <stdio.h>

#include <lightnet/util.h>

#include "pass/rewrite.h"

static int is_abstract(const ln_op *op)
{
    return ln_streq(op->op_arg->arch, "none");
}

// Offers the operator at *position to the arch's expanders. After a match *position stands behind
// the new operators, which are not expanded again.
static ln_status try_expanders(ln_compilation *compilation, const ln_arch *arch, ln_list **position,
                               int *out_matched)
{
    ln_context *ctx = compilation->ctx;
    *out_matched = 0;
    for (ln_expander_func *expander = arch->ep_funcs; expander && *expander; expander++) {
        int match = 0;
        ln_error_clear();
        ln_list *new_ops = (*expander)(ctx, (*position)->data, &match);
        if (!match)
            continue;
        if (!new_ops && ln_error_status() == LN_NO_MEMORY)
            return LN_NO_MEMORY;
        int new_count = ln_list_length(new_ops);
        ln_status status = ln_context_replace_ops(ctx, position, 1, new_ops);
        if (status != LN_OK) {
            ln_pass_free_refused(ctx, new_ops);
            return status;
        }
        for (int i = 0; i < new_count; i++)
            *position = (*position)->next;
        compilation->firing_count++;
        *out_matched = 1;
        return LN_OK;
    }
    return LN_OK;
}

// What a device says about an operator of the list; without a word, its operators' checks decide.
static int is_taken_by_device(const ln_arch *arch, const ln_op *op)
{
    return !arch->describe || arch->describe(arch->priv, op) == LN_OK;
}

// After a match *position stands behind the new operators.
static ln_status offer_to_archs(ln_compilation *compilation, ln_list **position, int *out_matched)
{
    *out_matched = 0;
    for (size_t i = 0; i < compilation->arch_count && !*out_matched; i++) {
        const ln_arch *arch = compilation->archs[i];
        if (arch->ep_funcs)
            LN_TRY(try_expanders(compilation, arch, position, out_matched));
        if (!*out_matched && arch->rules && is_abstract((*position)->data) &&
            is_taken_by_device(arch, (*position)->data))
            LN_TRY(ln_rewrite_lower(compilation, arch, position, out_matched));
    }
    return LN_OK;
}

// Names every operator that no arch took, up to what a message holds.
static ln_status check_all_lowered(const ln_compilation *compilation)
{
    char names[1024] = "";
    size_t used = 0, left_count = 0;
    for (const ln_list *l = compilation->ctx->ops; l; l = l->next) {
        const ln_op *op = l->data;
        if (!is_abstract(op))
            continue;
        left_count++;
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s'%s' (%s)",
                                     used ? ", " : "", op->op_arg->name, op->op_arg->optype);
    }
    if (left_count == 0)
        return LN_OK;
    return LN_FAIL(LN_UNSUPPORTED, "no arch of the target takes %zu operator%s: %s", left_count,
                   left_count == 1 ? "" : "s", names);
}

ln_status ln_pass_expand(ln_compilation *compilation)
{
    ln_list *position = compilation->ctx->ops;
    while (position) {
        int matched;
        LN_TRY(offer_to_archs(compilation, &position, &matched));
        if (!matched)
            position = position->next;
    }
    return check_all_lowered(compilation);
}
