// SPDX-License-Identifier: Apache-2.0
// Firing rules. A walk visits the operators in order and tries at each the rules whose root is of
// its type; what a firing has made is visited next, so that chains of rules need one walk. The last
// walk fires nothing.
//
// The end is certain: each firing lessens the measure of desc/rule_weight.h, which the matcher
// compares.

#include "pass/rewrite.h"

#include <stdint.h>
#include <stdio.h>

#include <lightnet/allocator.h>
#include <lightnet/msg.h>
#include <lightnet/util.h>

#include "arch/device.h"
#include "base/error_state.h"
#include "desc/rule_weight.h"
#include "pass/apply.h"
#include "pass/build.h"
#include "pass/firing.h"
#include "pass/match.h"
#include "pass/op_args.h"
#include "pass/predicates.h"
#include "pass/taken.h"

// ---- General rules ----

// A rule of one of the sets that are walked with. Those of one root end with one without a rule.
typedef struct candidate {
    const ln_rule_set *set;
    const ln_rule *rule;
} candidate;

typedef struct walker {
    ln_compilation *compilation;
    const ln_rule_set *const *sets;
    size_t set_count;
    ln_rule_stage stage;
    candidate *candidates; // root by root, set by set, each in file order
    size_t candidate_count;
    ln_hash *nodes;   // ln_op -> its node of ctx->ops
    ln_hash *by_root; // type of a root that was met -> the first of its candidates
    ln_list *position;
    size_t limit; // of firings
    size_t firing_count;
    bool refused;          // a rule's result at the operator in hand
    ln_error_state reason; // why the first one was
} walker;

static bool is_users(const ln_compilation *compilation, const ln_rule_set *set)
{
    for (ln_rule_set **s = compilation->rule_sets; s && *s; s++)
        if (*s == set)
            return true;
    return false;
}

// The rule's result; none if the target does not take it. That the rules of the library are taken
// is tested (il.fallback): to ask each time would make compiling 6 to 9 % longer.
static ln_status build(const walker *w, const ln_rule_set *set, ln_match *match, ln_list **out_ops)
{
    bool is_taken = true;
    ln_status status = ln_build_result(w->compilation->ctx, match, out_ops);
    if (status == LN_OK && match->rule->stage == LN_RULE_BEFORE_EXPAND &&
        is_users(w->compilation, set))
        status = ln_match_is_taken(w->compilation, match, *out_ops, &is_taken);
    if (status == LN_OK && is_taken)
        return LN_OK;
    ln_op_list_free_lists_too(*out_ops);
    *out_ops = NULL;
    if (status != LN_OK)
        return (void)ln_fail_prefix("rule '%s'", match->rule->name), status;
    ln_msg_debug("rule '%s' at '%s': its result is for a later arch of the target",
                 match->rule->name, match->ops[0]->op_arg->name);
    return LN_OK;
}

static bool is_computed(const ln_compilation *compilation, const char *optype)
{
    for (size_t i = 0; i < compilation->arch_count; i++)
        if (ln_pass_has_variant(compilation->archs[i], optype))
            return true;
    return false;
}

// As ln_firing_decide, but what only the core computes has to get there.
static ln_status decide(ln_compilation *compilation, const ln_rule *rule, ln_firing *firing,
                        bool *out_fires)
{
    LN_TRY(ln_firing_decide(compilation, firing, out_fires));
    if (*out_fires || !firing->is_skipped || rule->stage != LN_RULE_TO_CORE ||
        firing->number > compilation->options->firing_limit ||
        is_computed(compilation, firing->optype))
        return LN_OK;
    return LN_FAIL(
        LN_UNSUPPORTED,
        "firing %zu cannot be skipped: nothing of the target takes '%s' (%s) as it was read",
        firing->number, firing->op, firing->optype);
}

// An operator of the result refused what the rule gives it: that is no match.
static ln_status refuse(walker *w, const ln_rule *rule, ln_firing *firing)
{
    ln_error_state reason;
    ln_error_save(&reason);
    LN_TRY(ln_firing_refuse(w->compilation, firing));
    if (!w->refused) {
        ln_error_restore(&reason);
        (void)ln_fail_prefix("rule '%s' at '%s'", rule->name, firing->op);
        ln_error_save(&w->reason);
    }
    w->refused = true;
    ln_error_clear();
    return LN_OK;
}

// Takes `new_ops`. `window` is NULL unless the rule is wide. *out_fired is false if the firing is
// to be skipped, or is refused.
static ln_status fire(walker *w, const ln_rule_set *set, const ln_match *match,
                      const ln_window *window, ln_list *new_ops, bool *out_fired)
{
    const ln_rule *rule = match->rule;
    ln_firing_names names;
    ln_firing firing =
        ln_firing_of_rule(set, rule->name, rule->tag, rule->line, match->ops[0], &names);
    firing.file = rule->file;
    ln_status status = decide(w->compilation, rule, &firing, out_fired);
    if (status != LN_OK || !*out_fired) {
        ln_op_list_free_lists_too(new_ops);
        return status;
    }
    bool is_refused;
    status = ln_match_apply(w->compilation->ctx, match, window, new_ops, w->nodes, &w->position,
                            &is_refused);
    *out_fired = status == LN_OK;
    if (is_refused)
        return refuse(w, rule, &firing);
    (void)ln_firing_done(w->compilation, &firing, status);
    if (status != LN_OK) {
        (void)ln_fail_prefix("rule '%s' at '%s'", rule->name, names.op);
        return status;
    }
    if (++w->firing_count > w->limit)
        return LN_FAIL(LN_INTERNAL, "%s: rules fired %zu times, more than %zu", set->file,
                       w->firing_count, w->limit);
    return LN_OK;
}

// Constants are there when a run begins, whatever the arch.
bool ln_rewrite_has_result(const ln_arch *arch, const ln_rule *rule)
{
    for (size_t i = 0; i < rule->result_count; i++) {
        const ln_rule_op *op = &rule->result[i];
        bool runs = !op->is_alias && !ln_streq(op->optype, "create");
        if (runs && ln_rule_steps(op->optype) > 0 && !ln_pass_has_variant(arch, op->optype))
            return false;
    }
    return true;
}

// An arch that computes an operator as it was read, but not the core's, gets it as it was read.
// When every operator goes to the last arch that takes it, or the model stays as it was read, only
// what that needs is rewritten. What is written in ONNX has no archs, and keeps operators of ONNX.
static bool is_for_core(const ln_compilation *compilation, const ln_rule *rule)
{
    const char *optype = rule->pattern[0].optype;
    size_t count = rule->stage == LN_RULE_TO_CORE ? compilation->arch_count : 0;
    if (rule->stage == LN_RULE_TO_CORE && count == 0)
        return ln_rule_level(optype) > 0;
    bool is_from_last = compilation->is_forced;
    for (size_t i = 0; i < count; i++) {
        const ln_arch *arch = compilation->archs[is_from_last ? count - 1 - i : i];
        bool has_result = ln_rewrite_has_result(arch, rule);
        bool is_minimal = is_from_last || compilation->is_as_read;
        if (ln_pass_has_variant(arch, optype) && (is_minimal || !has_result))
            return false;
        if (has_result)
            return true;
    }
    return true;
}

// Tries one rule at the position.
static ln_status try_rule(walker *w, const candidate *c, bool *out_fired)
{
    const ln_context *ctx = w->compilation->ctx;
    const ln_rule *rule = c->rule;
    ln_match match;
    ln_window *window = NULL;
    *out_fired = false;
    if (!ln_match_rule(ctx, rule, w->position->data, &match))
        return LN_OK;
    ln_list *new_ops = NULL;
    ln_status status = rule->is_wide ? ln_window_create(ctx, &match, &window) : LN_OK;
    if (status == LN_OK && (window || !rule->is_wide))
        status = build(w, c->set, &match, &new_ops);
    if (status == LN_OK && new_ops)
        status = fire(w, c->set, &match, window, new_ops, out_fired);
    ln_window_destroy(window);
    return status;
}

// ---- The rules of a root ----

static ln_status push_candidate(walker *w, const ln_rule_set *set, const ln_rule *rule)
{
    size_t count = w->candidate_count;
    if ((count & (count - 1)) == 0) { // no room is left at powers of two
        candidate *grown = ln_realloc(w->candidates, (count ? 2 * count : 1) * sizeof *grown);
        if (!grown)
            return LN_NO_MEMORY;
        w->candidates = grown;
    }
    w->candidates[w->candidate_count++] = (candidate){.set = set, .rule = rule};
    return LN_OK;
}

static ln_status push_rules(walker *w, const ln_rule_set *set, const char *optype)
{
    const ln_rule *rules;
    size_t count;
    LN_TRY(ln_rule_set_read_root(set, optype, &rules, &count));
    for (size_t i = 0; i < count; i++) {
        const ln_rule *rule = &rules[i];
        if (rule->stage != w->stage || !ln_streq(rule->pattern[0].optype, optype) ||
            !is_for_core(w->compilation, rule))
            continue;
        if (set->reader)
            LN_TRY(ln_rule_check(set, rule));
        LN_TRY(push_candidate(w, set, rule));
    }
    return LN_OK;
}

// The candidates for an operator, gathered when the first one of its type is met.
static ln_status find_candidates(walker *w, const char *optype, size_t *out_first)
{
    size_t first = (size_t)(uintptr_t)ln_hash_find(w->by_root, optype);
    if (first > 0) {
        *out_first = first - 1;
        return LN_OK;
    }
    *out_first = w->candidate_count;
    for (size_t i = 0; i < w->set_count; i++)
        LN_TRY(push_rules(w, w->sets[i], optype));
    LN_TRY(push_candidate(w, NULL, NULL));
    char *key = ln_strdup(optype); // the operator goes when a rule fires
    if (key && ln_hash_insert(w->by_root, key, (void *)(uintptr_t)(*out_first + 1)) >= 0)
        return LN_OK;
    ln_free(key);
    return ln_error_status();
}

// Nothing else can become of an operator that only the rules of this stage rewrite.
static ln_status check_refused(const walker *w, const ln_op *op)
{
    bool is_needed = w->stage == LN_RULE_TO_CORE || w->stage == LN_RULE_TO_ONNX;
    if (!is_needed ||
        (!w->compilation->is_forced && is_computed(w->compilation, op->op_arg->optype)))
        return LN_OK;
    ln_error_restore(&w->reason);
    return w->reason.status;
}

// Tries the candidates at the position in their order, up to the first that fires.
static ln_status try_rules(walker *w, bool *out_fired)
{
    *out_fired = false;
    w->refused = false;
    const ln_op *op = w->position->data;
    size_t i;
    LN_TRY(find_candidates(w, op->op_arg->optype, &i));
    for (; w->candidates[i].rule && !*out_fired; i++)
        LN_TRY(try_rule(w, &w->candidates[i], out_fired));
    return w->refused && !*out_fired ? check_refused(w, op) : LN_OK;
}

static ln_status walk(walker *w)
{
    for (w->position = w->compilation->ctx->ops; w->position;) {
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

// More firings than the measure of desc/rule_weight.h allows are a defect. Into ONNX an operator of
// the highest level becomes many of the next, and so on.
static void find_limit(walker *w)
{
    double count = 0, weight = 0, tree = 1;
    for (int level = 1; level < LN_RULE_LEVEL_COUNT; level++)
        tree = 1 + LN_RULE_MAX_STATEMENTS * tree;
    for (const ln_list *l = w->compilation->ctx->ops; l; l = l->next) {
        const ln_op *op = l->data;
        int steps = ln_rule_steps(op->op_arg->optype);
        count += steps > 1 ? steps : 1;
        weight += ln_rule_weight(op->op_arg->optype);
    }
    double limit = (count + 1) * (weight + 64 * count + 1) * (count * count + 1);
    if (w->stage == LN_RULE_TO_ONNX)
        limit = count * tree;
    w->limit = limit < 1e15 ? (size_t)limit : SIZE_MAX;
}

static ln_status prepare(walker *w)
{
    w->nodes = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL);
    w->by_root = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, NULL);
    if (!w->nodes || !w->by_root)
        return LN_NO_MEMORY;
    for (ln_list *l = w->compilation->ctx->ops; l; l = l->next)
        if (ln_hash_insert(w->nodes, l->data, l) < 0)
            return ln_error_status();
    find_limit(w);
    return LN_OK;
}

static void release(const walker *w)
{
    ln_hash_free(w->nodes);
    ln_hash_free(w->by_root);
    ln_free(w->candidates);
}

static ln_status check_sets(const walker *w, bool *out_has_rules)
{
    *out_has_rules = false;
    for (size_t i = 0; i < w->set_count; i++) {
        if (!ln_rule_set_has_stage(w->sets[i], w->stage))
            continue;
        *out_has_rules = true;
        if (!w->sets[i]->reader)
            LN_TRY(ln_rule_set_check(w->sets[i]));
    }
    return LN_OK;
}

ln_status ln_rewrite_rules(ln_compilation *compilation, const ln_rule_set *const *sets,
                           size_t set_count, ln_rule_stage stage)
{
    walker w = {.compilation = compilation, .sets = sets, .set_count = set_count, .stage = stage};
    bool has_rules;
    ln_status status = check_sets(&w, &has_rules);
    if (status == LN_OK && has_rules)
        status = prepare(&w);
    if (status == LN_OK && has_rules)
        status = walk_until_none_fires(&w);
    release(&w);
    return status;
}

ln_status ln_rewrite_to_core(ln_compilation *compilation, ln_list **position, int *out_matched)
{
    const ln_rule_set *const set = compilation->core_rules;
    walker w = {.compilation = compilation,
                .sets = &set,
                .set_count = 1,
                .stage = LN_RULE_TO_CORE,
                .position = *position};
    bool fired = false;
    ln_status status = prepare(&w);
    if (status == LN_OK)
        status = try_rules(&w, &fired);
    *position = w.position;
    *out_matched = fired;
    release(&w);
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
        double buffers[LN_PREDICATE_MAX_ARGS][LN_RULE_MAX_ELEMENTS];
        const char *tensors[LN_PREDICATE_MAX_ARGS];
        ln_expr_value args[LN_PREDICATE_MAX_ARGS] = {{0}};
        for (size_t j = 0; j < condition->arg_count; j++) {
            const ln_rule_value *value = &condition->args[j];
            if (signature[j] != 't' && signature[j] != 'T' && signature[j] != 'L') {
                if (!ln_match_value(ctx, NULL, value, buffers[j], &args[j]))
                    return false;
                continue;
            }
            const ln_tensor_list_entry *entry = ln_op_find_tensor_list_entry(op, value->string);
            if (!entry)
                return false;
            tensors[j] = entry->name;
            args[j] = (ln_expr_value){.kind = LN_RULE_NAME, .tensors = &tensors[j], .count = 1};
        }
        if (ln_predicate_holds(ctx, condition->predicate, args) == condition->is_negated)
            return false;
    }
    return true;
}

// "No" is LN_OK with *out_takes 0; other failures than a refusal are passed on.
static ln_status asks_arch(const ln_context *ctx, const ln_arch *arch, const ln_op *proto,
                           const ln_op *op, bool *out_takes)
{
    *out_takes = false;
    ln_status status = ln_arch_describe(ctx, arch, op);
    if (status != LN_OK)
        return status == LN_UNSUPPORTED ? LN_OK : status;
    status = ln_op_accepts(proto, op);
    *out_takes = status == LN_OK;
    return status == LN_NO_MEMORY || status == LN_INTERNAL ? status : LN_OK;
}

static ln_status takes_with(const ln_context *ctx, const ln_rule_set *set, const ln_arch *arch,
                            const ln_op *op, bool *out_takes)
{
    *out_takes = false;
    for (size_t i = 0; set && i < set->lower_count && !*out_takes; i++) {
        const ln_op *proto = find_variant(arch, &set->lowers[i], op);
        if (proto)
            LN_TRY(asks_arch(ctx, arch, proto, op, out_takes));
    }
    return LN_OK;
}

ln_status ln_rewrite_find_taker(const ln_compilation *compilation, const ln_op *op,
                                size_t *out_index)
{
    for (*out_index = 0; *out_index < compilation->arch_count; ++*out_index) {
        const ln_arch *arch = compilation->archs[*out_index];
        bool takes = arch->ep_funcs && arch->ep_funcs[0];
        if (!takes)
            LN_TRY(takes_with(compilation->ctx, compilation->arch_rules[*out_index], arch, op,
                              &takes));
        for (ln_rule_set **set = compilation->rule_sets; set && *set && !takes; set++)
            LN_TRY(takes_with(compilation->ctx, *set, arch, op, &takes));
        if (takes)
            return LN_OK;
    }
    return LN_OK;
}

static ln_status exchange_lowered(ln_compilation *compilation, const ln_op *proto,
                                  ln_list **position)
{
    LN_TRY(ln_build_in_place(compilation->ctx, proto, position));
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
    return ln_firing_done(compilation, &firing, exchange_lowered(compilation, proto, position));
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
        LN_TRY(asks_arch(compilation->ctx, arch, proto, op, &takes));
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
