// SPDX-License-Identifier: Apache-2.0
// Firing rules. A walk visits the operators in order and tries each rule at each; what a firing has
// made is visited next, so that chains of rules need one walk. The last walk fires nothing.
//
// The end is certain: each firing leaves fewer operators that run (the matcher counts them), so
// there are at most as many firings as such operators at the start. More are a defect.

#include "pass/rewrite.h"

#include <stdio.h>

#include <lightnet/util.h>

#include "ir/context.h"
#include "pass/build.h"
#include "pass/firing.h"
#include "pass/match.h"
#include "pass/op_args.h"
#include "pass/predicates.h"

// ---- General rules ----

typedef struct walker {
    ln_compilation *compilation;
    const ln_rule_set *set;
    ln_hash *places; // ln_op -> its node of ctx->ops, for operators at and before the position
    ln_list *position;
    size_t limit; // of firings
    size_t firing_count;
} walker;

// The operators that a firing removes, the root first, in a new list.
static ln_status list_removed(const ln_match *match, ln_list **out_ops)
{
    ln_list_builder builder = {0};
    *out_ops = NULL;
    for (size_t i = 0; i < match->rule->pattern_count; i++) {
        if (match->rule->pattern[i].is_kept)
            continue;
        ln_status status = ln_list_builder_push(&builder, match->ops[i]);
        if (status != LN_OK) {
            ln_list_free(builder.list);
            return status;
        }
    }
    *out_ops = builder.list;
    return LN_OK;
}

static void free_node(ln_list *node)
{
    node->next = NULL;
    ln_list_free(node);
}

// The new operators take the root's place: behind all that the pattern reads, before all readers.
static void put_at_position(walker *w, ln_list *new_ops)
{
    ln_list *last = new_ops;
    while (last->next)
        last = last->next;
    last->next = w->position->next;
    w->position->next = new_ops->next;
    w->position->data = new_ops->data;
    free_node(new_ops);
}

// Takes an operator before the position out of the list, in constant time: the operator behind it
// moves into its node. `op` has been freed; it is a key only.
static void take_out(walker *w, const ln_op *op)
{
    ln_list *node = ln_hash_find(w->places, op);
    ln_list *next = node->next;
    ln_hash_remove(w->places, op);
    node->data = next->data;
    node->next = next->next;
    if (next == w->position)
        w->position = node;
    else
        ln_hash_insert(w->places, node->data, node); // the key is there: nothing is allocated
    free_node(next);
}

// The position becomes the first of the new operators. Only what cannot fail follows the exchange.
static ln_status exchange(walker *w, const ln_match *match)
{
    ln_context *ctx = w->compilation->ctx;
    ln_list *removed, *new_ops;
    LN_TRY(list_removed(match, &removed));
    ln_status status = ln_build_result(ctx, match, &new_ops);
    if (status == LN_OK) {
        status = ln_context_exchange_ops(ctx, removed, new_ops);
        if (status != LN_OK)
            ln_op_list_free_lists_too(new_ops);
    }
    if (status == LN_OK) {
        ln_hash_remove(w->places, removed->data);
        put_at_position(w, new_ops);
        for (const ln_list *l = removed->next; l; l = l->next)
            take_out(w, l->data);
        ctx->ops_last = NULL;
    }
    ln_list_free(removed);
    return status;
}

// *out_fired is false if the firing is to be skipped.
static ln_status fire(walker *w, const ln_match *match, bool *out_fired)
{
    const ln_rule *rule = match->rule;
    ln_firing_names names;
    ln_firing firing =
        ln_firing_of_rule(w->set, rule->name, rule->tag, rule->line, match->ops[0], &names);
    LN_TRY(ln_firing_decide(w->compilation, &firing, out_fired));
    if (!*out_fired)
        return LN_OK;
    ln_status status = exchange(w, match);
    if (status != LN_OK) {
        *out_fired = false;
        w->compilation->firing_count--; // it has not happened
        ln_fail_prefix("rule '%s' at '%s'", rule->name, names.op);
        return status;
    }
    ln_firing_done(w->compilation, &firing);
    if (++w->firing_count > w->limit)
        return LN_FAIL(LN_INTERNAL, "%s: rules fired %zu times on %zu operators that run",
                       w->set->file, w->firing_count, w->limit);
    return LN_OK;
}

// Tries the rules at the position in file order; the first that matches fires.
static ln_status try_rules(walker *w, bool *out_fired)
{
    *out_fired = false;
    for (size_t i = 0; i < w->set->rule_count; i++) {
        ln_match match;
        bool matched;
        LN_TRY(ln_match_rule(w->compilation->ctx, &w->set->rules[i], w->position->data, &match,
                             &matched));
        if (!matched)
            continue;
        ln_status status = fire(w, &match, out_fired);
        ln_match_deinit(&match);
        if (status != LN_OK || *out_fired)
            return status;
    }
    return LN_OK;
}

static ln_status walk(walker *w)
{
    for (w->position = w->compilation->ctx->ops; w->position;) {
        if (ln_hash_insert(w->places, w->position->data, w->position) < 0)
            return ln_error_status();
        bool fired;
        LN_TRY(try_rules(w, &fired));
        if (!fired)
            w->position = w->position->next;
    }
    return LN_OK;
}

static ln_status walk_until_none_fires(walker *w)
{
    size_t before;
    do {
        before = w->firing_count;
        LN_TRY(walk(w));
    } while (w->firing_count > before);
    return LN_OK;
}

ln_status ln_rewrite_rules(ln_compilation *compilation, const ln_rule_set *set)
{
    if (set->rule_count == 0)
        return LN_OK;
    LN_TRY(ln_rule_set_check(set));
    walker w = {.compilation = compilation, .set = set};
    for (const ln_list *l = compilation->ctx->ops; l; l = l->next)
        w.limit += ln_op_runs(l->data);
    w.places = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL);
    if (!w.places)
        return LN_NO_MEMORY;
    ln_status status = walk_until_none_fires(&w);
    ln_hash_free(w.places);
    return status;
}

// ---- Lowering ----

// The prototype that the statement turns `op` into; NULL if there is none, or it is not the arch's.
static const ln_op *find_variant(const ln_arch *arch, const ln_rule_lower *lower, const ln_op *op)
{
    const char *optype = op->op_arg->optype;
    char to[LN_MAX_NAME_LEN];
    if (lower->from && !ln_streq(lower->from, optype))
        return NULL;
    int len = snprintf(to, sizeof to, "%s%s", lower->has_star ? optype : "", lower->to);
    const ln_op *proto = len > 0 && (size_t)len < sizeof to ? ln_op_find(to) : NULL;
    return proto && ln_streq(proto->op_arg->arch, arch->arch_name) ? proto : NULL;
}

// Names in the conditions are the operator's argument names; one that it lacks fulfils nothing.
static bool conditions_hold(const ln_context *ctx, const ln_rule_lower *lower, const ln_op *op)
{
    for (size_t i = 0; i < lower->condition_count; i++) {
        const ln_rule_condition *condition = &lower->conditions[i];
        const char *signature = ln_rule_predicate_signature(condition->predicate);
        ln_predicate_arg args[LN_RULE_MAX_ARGS] = {{0}};
        for (size_t j = 0; j < condition->arg_count; j++) {
            const ln_rule_value *value = &condition->args[j];
            args[j] = (ln_predicate_arg){.number = value->number, .word = value->string};
            if (signature[j] != 't')
                continue;
            const ln_tensor_list_entry *entry = ln_op_find_tensor_list_entry(op, value->string);
            if (!entry)
                return false;
            args[j].tensor = entry->name;
        }
        if (!ln_predicate_holds(ctx, condition->predicate, args))
            return false;
    }
    return true;
}

// "No" is LN_OK with *out_takes 0; other failures than a refusal are passed on.
static ln_status asks_arch(const ln_arch *arch, const ln_op *proto, const ln_op *op,
                           bool *out_takes)
{
    ln_status status = arch->describe ? arch->describe(arch->priv, op) : LN_OK;
    if (status == LN_OK)
        status = ln_op_accepts(proto, op);
    *out_takes = status == LN_OK;
    return status == LN_NO_MEMORY || status == LN_INTERNAL ? status : LN_OK;
}

static ln_status exchange_lowered(ln_compilation *compilation, const ln_op *proto,
                                  ln_list **position)
{
    ln_context *ctx = compilation->ctx;
    ln_op *new_op;
    LN_TRY(ln_build_lowered(ctx, proto, (*position)->data, &new_op));
    ln_list *new_ops = NULL;
    ln_status status = ln_list_push(&new_ops, new_op);
    if (status != LN_OK) {
        ln_op_free_lists_too(new_op);
        return status;
    }
    status = ln_context_replace_ops(ctx, position, 1, new_ops);
    if (status != LN_OK) {
        ln_op_list_free_lists_too(new_ops);
        return status;
    }
    *position = (*position)->next;
    return LN_OK;
}

// *out_fired is false if the lowering is to be skipped.
static ln_status lower_to(ln_compilation *compilation, const ln_rule_set *set,
                          const ln_rule_lower *lower, const ln_op *proto, ln_list **position,
                          bool *out_fired)
{
    ln_firing_names names;
    ln_firing firing = ln_firing_of_rule(set, proto->op_arg->optype, lower->tag, lower->line,
                                         (*position)->data, &names);
    firing.is_lowering = 1;
    LN_TRY(ln_firing_decide(compilation, &firing, out_fired));
    if (!*out_fired)
        return LN_OK;
    LN_TRY(exchange_lowered(compilation, proto, position));
    ln_firing_done(compilation, &firing);
    return LN_OK;
}

ln_status ln_rewrite_lower(ln_compilation *compilation, const ln_rule_set *set, const ln_arch *arch,
                           ln_list **position, int *out_matched)
{
    *out_matched = 0;
    const ln_op *op = (*position)->data;
    for (size_t i = 0; set && i < set->lower_count; i++) {
        const ln_rule_lower *lower = &set->lowers[i];
        const ln_op *proto = find_variant(arch, lower, op);
        bool takes = false;
        if (!proto || !conditions_hold(compilation->ctx, lower, op))
            continue;
        LN_TRY(asks_arch(arch, proto, op, &takes));
        if (!takes)
            continue;
        bool fired;
        LN_TRY(lower_to(compilation, set, lower, proto, position, &fired));
        *out_matched = fired;
        if (fired)
            return LN_OK;
    }
    return LN_OK;
}
