// SPDX-License-Identifier: Apache-2.0
// What follows from a rule that was read: which operators stay, and the proof that each firing
// lessens the measure of rule_weight.h.
//
// Counts and weights are sums over statements. For the third part, that the rule moves down what
// sinks, only rules with one root are taken. All that depends on a removed operator then depends on
// the root's outputs, so outside of the rule nothing gets more to depend on. Inside, pairs are
// counted: of statements, and for an operator that sinks somewhere above the pattern, for each set
// of inputs that it may reach.

#include "desc/rule_parser.h"
#include "desc/rule_weight.h"

typedef struct measure {
    size_t count;
    int weight;
} measure;

// ---- What stays ----

// Operators that the result reads from stay, and so do those that these read from. What the result
// makes itself is not read from the pattern.
static void mark_kept(ln_rule_parser *p)
{
    const ln_rule_op *readers[2 * LN_RULE_MAX_STATEMENTS];
    size_t reader_count = 0;
    for (size_t i = 0; i < p->result_count; i++)
        readers[reader_count++] = &p->result[i];
    for (size_t i = 0; i < reader_count; i++) {
        for (size_t j = 0; j < readers[i]->in_count; j++) {
            int name = readers[i]->ins[j].name;
            int maker = name >= 0 && !p->infos[name].is_made ? p->infos[name].maker : -1;
            if (maker < 0 || p->pattern[maker].is_kept)
                continue;
            p->pattern[maker].is_kept = true;
            readers[reader_count++] = &p->pattern[maker];
        }
    }
}

ln_status ln_rule_mark_kept(ln_rule_parser *p, ln_place place, ln_rule *rule)
{
    mark_kept(p);
    for (size_t i = 0; i < p->name_count; i++) {
        const ln_rule_name *info = &p->infos[i];
        if (info->is_made && info->maker >= 0 && p->pattern[info->maker].is_kept)
            return ln_fail_at(place, LN_SYNTAX,
                              "the result makes '%s', but the operator that makes it in the "
                              "pattern stays, because the result reads from it",
                              p->names[i]);
        rule->is_wide = rule->is_wide || (info->is_made && info->maker > 0);
    }
    for (size_t i = 1; i < p->pattern_count; i++)
        rule->is_wide = rule->is_wide || !p->pattern[i].is_producer;
    return LN_OK;
}

// ---- Counts and weights ----

// All inputs are known to be static; without inputs nothing is known.
static bool reads_static_only(const ln_rule_parser *p, const ln_rule_op *op)
{
    for (size_t i = 0; i < op->in_count; i++)
        if (op->ins[i].name < 0 || !p->infos[op->ins[i].name].is_static)
            return false;
    return op->in_count > 0;
}

static bool is_counted(const ln_rule_parser *p, const ln_rule_op *op)
{
    return !op->is_kept && !op->is_static && !op->is_alias && !reads_static_only(p, op);
}

static void mark_static(ln_rule_parser *p)
{
    for (size_t i = 0; i < p->result_count; i++) {
        ln_rule_op *op = &p->result[i];
        op->is_static = !op->is_alias && reads_static_only(p, op);
        for (size_t j = 0; op->is_static && j < op->out_count; j++)
            p->infos[op->outs[j].name].is_static = true;
    }
}

static measure measure_of(const ln_rule_parser *p, const ln_rule_op *ops, size_t count)
{
    measure sum = {0, 0};
    for (size_t i = 0; i < count; i++) {
        if (!is_counted(p, &ops[i]))
            continue;
        sum.count += ln_rule_steps(ops[i].optype);
        sum.weight += ln_rule_weight_of(&ops[i]);
    }
    return sum;
}

// ---- Sinking ----

typedef struct side {
    const ln_rule_parser *p;
    const ln_rule_op *ops;
    size_t count;
} side;

// Marks what depends on the marked names; returns how many counted operators do.
static size_t spread(const side *s, bool depends[LN_RULE_MAX_NAMES])
{
    bool is_reached[LN_RULE_MAX_STATEMENTS] = {false};
    size_t reached = 0;
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (size_t i = 0; i < s->count; i++) {
            const ln_rule_op *op = &s->ops[i];
            bool reads = false;
            for (size_t j = 0; j < op->in_count; j++)
                reads = reads || (op->ins[j].name >= 0 && depends[op->ins[j].name]);
            if (!reads || is_reached[i] || !is_counted(s->p, op))
                continue;
            is_reached[i] = has_changed = true;
            reached++;
            for (size_t j = 0; j < op->out_count; j++)
                if (op->outs[j].name >= 0)
                    depends[op->outs[j].name] = true;
        }
    }
    return reached;
}

// Pairs of an operator that sinks and one that depends on it; *out_sinkers receives how many sink.
static size_t count_pairs(const side *s, size_t *out_sinkers)
{
    size_t pairs = 0;
    *out_sinkers = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (!is_counted(s->p, &s->ops[i]) || !ln_rule_sinks(s->ops[i].optype))
            continue;
        bool depends[LN_RULE_MAX_NAMES] = {false};
        for (size_t j = 0; j < s->ops[i].out_count; j++)
            if (s->ops[i].outs[j].name >= 0)
                depends[s->ops[i].outs[j].name] = true;
        pairs += spread(s, depends);
        ++*out_sinkers;
    }
    return pairs;
}

// For each set of inputs, no more operators of the result depend on it than of the pattern.
#define MAX_INPUTS 8
static bool inputs_reach_no_more(const side *before, const side *after)
{
    int inputs[LN_RULE_MAX_NAMES];
    size_t input_count = 0;
    const ln_rule_parser *p = before->p;
    for (size_t i = 0; i < p->name_count; i++)
        if (!p->infos[i].is_value && p->infos[i].maker < 0 && p->infos[i].is_read &&
            !p->infos[i].is_static && !p->infos[i].is_made)
            inputs[input_count++] = (int)i;
    if (input_count > MAX_INPUTS)
        return false;
    for (unsigned set = 1; set < 1u << input_count; set++) {
        bool depends[2][LN_RULE_MAX_NAMES] = {{false}};
        for (size_t i = 0; i < input_count; i++)
            depends[0][inputs[i]] = depends[1][inputs[i]] = set >> i & 1;
        if (spread(after, depends[1]) > spread(before, depends[0]))
            return false;
    }
    return true;
}

static bool is_sinking(const ln_rule_parser *p, const ln_rule *rule)
{
    side before = {p, p->pattern, p->pattern_count}, after = {p, p->result, p->result_count};
    for (size_t i = 0; i < p->pattern_count; i++) {
        if (p->pattern[i].is_kept)
            return false;
        for (size_t j = 0; j < p->pattern[i].in_count; j++)
            if (p->pattern[i].ins[j].name < 0) // it may depend on anything
                return false;
    }
    size_t sinkers_before, sinkers_after;
    size_t pairs_before = count_pairs(&before, &sinkers_before);
    size_t pairs_after = count_pairs(&after, &sinkers_after);
    return !rule->is_wide && sinkers_before == sinkers_after && pairs_after < pairs_before &&
           inputs_reach_no_more(&before, &after);
}

// However many they are, views do not run. An alias is found by its number among the operators.
static ln_status check_each(const ln_rule_parser *p, ln_place place)
{
    bool has_each = false, has_alias = false;
    for (size_t i = 0; i < p->result_count; i++) {
        has_each = has_each || p->result[i].each >= 0;
        has_alias = has_alias || p->result[i].is_alias;
        if (p->result[i].each >= 0 && ln_rule_steps(p->result[i].optype) > 0)
            return ln_fail_at(place, LN_SYNTAX,
                              "`each` makes views only, such as slice, and %s is none",
                              p->result[i].optype);
    }
    if (has_each && has_alias)
        return ln_fail_at(place, LN_SYNTAX, "a result with `each` has no `y = x`");
    return LN_OK;
}

// An alias may have to stay as a `forward`.
static ln_status check_levels(const ln_rule_parser *p, ln_place place)
{
    const char *root = p->pattern[0].optype;
    for (size_t i = 0; i < p->result_count; i++)
        if (ln_rule_level(p->result[i].optype) >= ln_rule_level(root))
            return ln_fail_at(place, LN_SYNTAX,
                              "the rule does not lead into ONNX: '%s' of its result is as far from "
                              "it as its root '%s'",
                              p->result[i].optype, root);
    return LN_OK;
}

ln_status ln_rule_check_measure(ln_rule_parser *p, ln_place place, ln_rule *rule)
{
    mark_static(p);
    LN_TRY(check_each(p, place));
    if (p->stage == LN_RULE_TO_ONNX)
        return check_levels(p, place);
    measure before = measure_of(p, p->pattern, p->pattern_count);
    measure after = measure_of(p, p->result, p->result_count);
    if (after.count < before.count)
        return LN_OK;
    if (after.count > before.count)
        return ln_fail_at(place, LN_SYNTAX,
                          "the rule does not shrink the model: its result runs %zu operators, and "
                          "the pattern only %zu that it removes",
                          after.count, before.count);
    if (after.weight < before.weight)
        return LN_OK;
    rule->is_sinking = after.weight == before.weight && is_sinking(p, rule);
    if (rule->is_sinking)
        return LN_OK;
    return ln_fail_at(place, LN_SYNTAX,
                      "the rule does not shrink the model: its result runs as many operators as "
                      "it removes, %zu, weighs %d against %d, and moves nothing that sinks",
                      after.count, after.weight, before.weight);
}
