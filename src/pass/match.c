// SPDX-License-Identifier: Apache-2.0
// The matcher walks from the root along the data flow. A statement that makes a tensor of an
// earlier one determines its operator: it is the producer of that tensor. Where there is a choice
// (which reader of a tensor, which operand is which, where `xs...` ends) the choices are counted
// through like the digits of a number; each number of digits is tried from the root on, so nothing
// has to be taken back. Their count is bounded.

#include "pass/match.h"

#include <stddef.h>
#include <string.h>

#include <lightnet/arch.h>
#include <lightnet/op_info.h>
#include <lightnet/util.h>

#include "ir/dfg.h"
#include "pass/op_args.h"
#include "pass/why.h"

#define MAX_ATTEMPTS 512 // choices of one rule at one operator
#define MAX_READERS  16  // of one tensor that are looked through
#define MAX_INPUTS   512 // of an operator that is matched with `...`

// ---- Names ----

const char *const *ln_match_tensors(const ln_match *match, int name, size_t *out_count)
{
    *out_count = 0;
    if (match->lists[name].is_bound) {
        *out_count = match->lists[name].count;
        return &match->several[match->lists[name].first];
    }
    *out_count = match->tensors[name] != NULL;
    return &match->tensors[name];
}

bool ln_match_each(ln_match *match, const ln_rule_op *statement, size_t i)
{
    if (statement->each < 0)
        return i == 0;
    size_t count;
    const char *const *tensors = ln_match_tensors(match, statement->outs[0].name, &count);
    match->tensors[statement->each] = i < count ? tensors[i] : NULL;
    return i < count;
}

static bool bind_tensor(ln_match *match, int name, const char *tensor)
{
    if (name == LN_RULE_ANY)
        return true;
    if (match->tensors[name])
        return ln_streq(match->tensors[name], tensor);
    match->tensors[name] = tensor;
    return true;
}

static bool bind_list(ln_match *match, int name, const char *const *tensors, size_t count)
{
    if (name == LN_RULE_ANY)
        return true;
    if (match->lists[name].is_bound) {
        size_t bound_count;
        const char *const *bound = ln_match_tensors(match, name, &bound_count);
        bool is_same = bound_count == count;
        for (size_t i = 0; i < count && is_same; i++)
            is_same = ln_streq(bound[i], tensors[i]);
        return is_same;
    }
    if (count > LN_MATCH_MAX_TENSORS - match->several_count)
        return false;
    match->lists[name].is_bound = true;
    match->lists[name].first = match->several_count;
    match->lists[name].count = count;
    for (size_t i = 0; i < count; i++)
        match->several[match->several_count++] = tensors[i];
    return true;
}

bool ln_match_removes(const ln_match *match, const ln_op *op)
{
    for (size_t i = 0; i < match->rule->pattern_count; i++)
        if (match->ops[i] == op)
            return !match->stays[i];
    for (size_t i = 0; i < match->unused_count; i++)
        if (match->unused[i] == op)
            return true;
    return false;
}

// ---- Choices ----

// Digits of one statement's choice, the first one the fastest.
typedef struct choice {
    size_t left;  // what the digits after those taken say
    size_t count; // of all combinations of those taken
} choice;

// The next digit, of `count` values.
static size_t choose(choice *c, size_t count)
{
    size_t digit = c->left % count;
    c->left /= count;
    c->count *= count;
    return digit;
}

// ---- Inputs ----

// Every input of the operator is one of the statement's: what a rule does not see it would lose.
static bool match_ins_one_by_one(ln_match *match, size_t index, const ln_op *op, bool is_swapped)
{
    const ln_rule_op *statement = &match->rule->pattern[index];
    const ln_op_arg *op_arg = op->op_arg;
    const int progress = LN_WHY_STATEMENT * (int)index + LN_WHY_INS;
    char buffer[LN_MAX_NAME_LEN];
    size_t matched_count = 0;
    for (size_t i = 0; i < statement->in_count; i++) {
        const ln_rule_arg *in = &statement->ins[i];
        size_t position = is_swapped && i < 2 ? 1 - i : i;
        const char *arg_name =
            in->arg_name ? in->arg_name : ln_op_in_name(op_arg, position, buffer);
        const char *tensor =
            arg_name ? ln_tensor_list_find_name(op_arg->tensors_in, arg_name) : NULL;
        matched_count += tensor != NULL;
        bool is_bound = in->is_maybe ? bind_list(match, in->name, &tensor, tensor != NULL)
                                     : tensor && bind_tensor(match, in->name, tensor);
        if (!is_bound)
            return LN_MISS(match, progress + (int)i, op, "input %s is %s, the rule takes %s",
                           arg_name ? arg_name : "that it lacks", tensor ? tensor : "absent",
                           !match->tensors[in->name] ? ln_why_name(match, in->name)
                                                     : match->tensors[in->name]);
    }
    size_t count = (size_t)ln_tensor_list_length(op_arg->tensors_in);
    return matched_count == count ||
           LN_MISS(match, progress + (int)statement->in_count, op,
                   "it has %zu inputs, the rule takes %zu of them", count, matched_count);
}

// The tensors of a list in the order of the arguments, which need not be the list's. Returns how
// many there are; more than MAX_INPUTS when they are too many.
static size_t in_order(const ln_list *tensors, const ln_op_arg *op_arg, bool is_in,
                       const char *out_tensors[MAX_INPUTS])
{
    char buffer[LN_MAX_NAME_LEN];
    size_t count = (size_t)ln_tensor_list_length(tensors), found_count = 0;
    const ln_list *l = tensors;
    for (size_t i = 0; found_count < count && i < MAX_INPUTS; i++) {
        const char *arg_name =
            is_in ? ln_op_in_name(op_arg, i, buffer) : ln_op_out_name(op_arg, i, buffer);
        if (!arg_name)
            break;
        // Mostly the list has them in order.
        const ln_tensor_list_entry *next = l ? l->data : NULL;
        const char *tensor = next && ln_streq(next->arg_name, arg_name)
                                 ? next->name
                                 : ln_tensor_list_find_name(tensors, arg_name);
        l = l ? l->next : NULL;
        if (tensor)
            out_tensors[found_count++] = tensor;
    }
    return found_count == count ? count : MAX_INPUTS + 1;
}

// With `...`: what stands before the first, between the two, and after the last is one tensor
// each.
static bool match_rests(ln_match *match, const ln_rule_arg *args, size_t arg_count,
                        const char *const *tensors, size_t count, choice *c)
{
    size_t rest_count = 0;
    for (size_t i = 0; i < arg_count; i++)
        rest_count += args[i].is_rest;
    size_t single_count = arg_count - rest_count;
    if (count < single_count || (rest_count == 0 && count != single_count))
        return false;
    size_t left = count - single_count; // for all `...` together
    size_t first_len = rest_count == 2 ? choose(c, left + 1) : left;
    size_t at = 0;
    for (size_t i = 0; i < arg_count; i++) {
        if (!args[i].is_rest) {
            if (!bind_tensor(match, args[i].name, tensors[at++]))
                return false;
            continue;
        }
        if (!bind_list(match, args[i].name, tensors + at, first_len))
            return false;
        at += first_len;
        first_len = left - first_len;
    }
    return true;
}

static bool has_rest(const ln_rule_arg *args, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (args[i].is_rest)
            return true;
    return false;
}

static bool commutes(const ln_op *op)
{
    const ln_op_info *info = op->op_arg->info;
    return info && info->commutes && info->commutes(op->op_arg);
}

static bool match_ins(ln_match *match, size_t index, const ln_op *op, choice *c)
{
    const ln_rule_op *statement = &match->rule->pattern[index];
    if (!has_rest(statement->ins, statement->in_count)) {
        bool has_two = statement->in_count >= 2 && !statement->ins[1].arg_name;
        bool is_swapped = has_two && commutes(op) && choose(c, 2) == 1;
        return match_ins_one_by_one(match, index, op, is_swapped);
    }
    const char *tensors[MAX_INPUTS];
    size_t count = in_order(op->op_arg->tensors_in, op->op_arg, true, tensors);
    return (count <= MAX_INPUTS &&
            match_rests(match, statement->ins, statement->in_count, tensors, count, c)) ||
           LN_MISS(match, LN_WHY_STATEMENT * (int)index + LN_WHY_INS, op,
                   "none of its %d inputs are the ones that the rule takes",
                   ln_tensor_list_length(op->op_arg->tensors_in));
}

// ---- Outputs ----

static bool match_outs(ln_match *match, size_t index, const ln_op *op, choice *c)
{
    const ln_rule_op *statement = &match->rule->pattern[index];
    const ln_op_arg *op_arg = op->op_arg;
    const int progress = LN_WHY_STATEMENT * (int)index + LN_WHY_OUTS;
    if (has_rest(statement->outs, statement->out_count)) {
        const char *tensors[MAX_INPUTS];
        size_t count = in_order(op_arg->tensors_out, op_arg, false, tensors);
        return (count <= MAX_INPUTS &&
                match_rests(match, statement->outs, statement->out_count, tensors, count, c)) ||
               LN_MISS(match, progress, op, "its %d outputs are not the ones that the rule takes",
                       ln_tensor_list_length(op_arg->tensors_out));
    }
    char buffer[LN_MAX_NAME_LEN];
    for (size_t i = 0; i < statement->out_count; i++) {
        const char *arg_name = ln_op_out_name(op_arg, i, buffer);
        const char *tensor =
            arg_name ? ln_tensor_list_find_name(op_arg->tensors_out, arg_name) : NULL;
        const ln_rule_arg *out = &statement->outs[i];
        bool is_any = out->name == LN_RULE_ANY; // or none
        if (out->is_maybe ? !bind_list(match, out->name, &tensor, tensor != NULL)
                          : !is_any && (!tensor || !bind_tensor(match, out->name, tensor)))
            return LN_MISS(match, progress + (int)i, op, "output %s is %s, the rule takes %s",
                           arg_name ? arg_name : "that it lacks", tensor ? tensor : "absent",
                           match->tensors[out->name] ? match->tensors[out->name]
                                                     : ln_why_name(match, out->name));
    }
    return true;
}

// ---- Parameters ----

static bool match_params(ln_match *match, size_t index, const ln_op *op)
{
    const ln_rule_op *statement = &match->rule->pattern[index];
    const ln_op_arg *op_arg = op->op_arg;
    for (size_t i = 0; i < statement->param_count; i++) {
        const ln_rule_value *value = &statement->params[i].value;
        const char *arg_name = statement->params[i].arg_name;
        const ln_param_entry *entry = ln_param_list_find(op_arg->params, arg_name);
        const int progress = LN_WHY_STATEMENT * (int)index + LN_WHY_PARAM + (int)i;
        if (value->kind == LN_RULE_ABSENT) {
            if (entry)
                return LN_MISS(match, progress, op,
                               "parameter %s is given, %s; the rule takes operators without it",
                               arg_name, ln_why_param(entry));
            continue;
        }
        if (!entry)
            entry = ln_op_param_default(op_arg, arg_name, &match->versions[index]);
        if (!entry)
            return LN_MISS(match, progress, op, "parameter %s is absent, the rule takes %s",
                           arg_name, ln_why_value(match, value));
        if (value->kind != LN_RULE_NAME) {
            if (!ln_rule_value_equals(value, entry))
                return LN_MISS(match, progress, op, "parameter %s is %s, the rule takes %s",
                               arg_name, ln_why_param(entry), ln_why_value(match, value));
        } else if (!match->values[value->name]) {
            match->values[value->name] = entry;
        } else if (!ln_param_entries_equal(match->values[value->name], entry)) {
            return LN_MISS(match, progress, op,
                           "parameter %s is %s, the rule takes %s, which is %s here", arg_name,
                           ln_why_param(entry), ln_why_value(match, value),
                           ln_why_param(match->values[value->name]));
        }
    }
    return true;
}

// Whether the result copies the parameter to an operator whose type has it.
static bool is_copied(const ln_rule *rule, size_t index, const char *arg_name)
{
    for (size_t i = 0; i < rule->result_count; i++) {
        const ln_op *proto = ln_rule_copies_param(&rule->result[i], index, arg_name)
                                 ? ln_op_find(rule->result[i].optype)
                                 : NULL;
        if (proto && ln_op_param_type(proto->op_arg, arg_name) != LN_PARAM_INVALID)
            return true;
    }
    return false;
}

// What the pattern neither names nor waives, and the result does not copy, would be lost: it has
// its default. An operator has few parameters that are given.
static bool has_defaults(const ln_match *match, size_t index, const ln_op *op)
{
    const ln_op_arg *op_arg = op->op_arg;
    const ln_rule_op *statement = &match->rule->pattern[index];
    for (const ln_list *l = op_arg->params; l; l = l->next) {
        const ln_param_entry *entry = l->data;
        if (ln_rule_names_param(statement, entry->arg_name))
            continue;
        ln_param_entry version;
        const ln_param_entry *usual = ln_op_param_default(op_arg, entry->arg_name, &version);
        if ((!usual || !ln_param_entries_equal(usual, entry)) &&
            !is_copied(match->rule, index, entry->arg_name))
            return LN_MISS(match, LN_WHY_STATEMENT * (int)index + LN_WHY_DEFAULTS, op,
                           "parameter %s is %s; the rule does not name it, so it takes the "
                           "default, %s",
                           entry->arg_name, ln_why_param(entry), ln_why_param(usual));
    }
    return true;
}

// ---- Operators ----

// A bound tensor among the arguments; NULL if there is none.
static const char *find_bound(const ln_match *match, const ln_rule_arg *args, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (args[i].name == LN_RULE_ANY)
            continue;
        size_t tensor_count;
        const char *const *tensors = ln_match_tensors(match, args[i].name, &tensor_count);
        if (tensor_count > 0)
            return tensors[0];
    }
    return NULL;
}

// A reader of the first input that is known; which one is a choice.
static ln_op *find_reader(const ln_context *ctx, const ln_match *match, const ln_rule_op *statement,
                          choice *c)
{
    const char *tensor = find_bound(match, statement->ins, statement->in_count);
    ln_dfg_readers all = ln_dfg_find_readers(ctx->dfg, tensor);
    ln_op *reader, *readers[MAX_READERS];
    size_t count = 0;
    while (count < MAX_READERS && (reader = ln_dfg_next_reader(&all)) != NULL)
        if (ln_streq(reader->op_arg->optype, statement->optype))
            readers[count++] = reader;
    return count > 0 ? readers[choose(c, count)] : NULL;
}

static bool is_matched(const ln_match *match, size_t count, const ln_op *op)
{
    for (size_t i = 0; i < count; i++)
        if (match->ops[i] == op)
            return true;
    return false;
}

// Rules speak of shapes, which an open tensor has none of before a run. Those into the core and
// into ONNX mostly give an operator another name, whatever its shapes are.
static bool has_open_tensor(const ln_context *ctx, const ln_op *op)
{
    const ln_list *lists[] = {op->op_arg->tensors_in, op->op_arg->tensors_out};
    for (size_t i = 0; i < 2; i++) {
        const ln_tensor_list_entry *listed;
        LN_LIST_FOREACH (listed, lists[i]) {
            const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, listed->name);
            if (entry && entry->is_open)
                return true;
        }
    }
    return false;
}

static bool match_statement(const ln_context *ctx, ln_match *match, size_t index, choice *c)
{
    const ln_rule_op *statement = &match->rule->pattern[index];
    const int progress = LN_WHY_STATEMENT * (int)index;
    ln_op *op = match->ops[0];
    if (index > 0 && statement->is_producer) {
        const char *made = find_bound(match, statement->outs, statement->out_count);
        op = ln_dfg_maker(ctx->dfg, made);
    } else if (index > 0) {
        op = find_reader(ctx, match, statement, c);
    }
    if (!op && statement->is_producer)
        return LN_MISS(match, progress, NULL, "no operator makes what the rule takes from %s",
                       statement->optype);
    if (!op)
        return LN_MISS(match, progress, NULL, "no %s reads '%s', which the rule takes",
                       statement->optype, find_bound(match, statement->ins, statement->in_count));
    if (is_matched(match, index, op))
        return LN_MISS(match, progress + 1, op,
                       "it is matched twice, and the rule takes another %s", statement->optype);
    if (!ln_streq(op->op_arg->optype, statement->optype))
        return LN_MISS(match, progress, op, "the rule takes %s there, which makes '%s'",
                       statement->optype, find_bound(match, statement->outs, statement->out_count));
    match->ops[index] = op;
    if (!match_outs(match, index, op, c))
        return false;
    if (ln_match_reads_output(ctx, match, op))
        return LN_MISS(match, progress + LN_WHY_READS_OUTPUT, op,
                       "what it makes is an output of the model, which the result would read");
    return match_ins(match, index, op, c) && match_params(match, index, op) &&
           has_defaults(match, index, op);
}

// ---- The whole ----

// Which of their combinations is tried, and how many there are.
typedef struct search {
    size_t chosen[LN_RULE_MAX_STATEMENTS];
    size_t counts[LN_RULE_MAX_STATEMENTS];
    size_t reached; // statements whose counts are known
} search;

static bool match_all(const ln_context *ctx, ln_match *match, search *s)
{
    const ln_rule *rule = match->rule;
    for (s->reached = 0; s->reached < rule->pattern_count;) {
        choice c = {.left = s->chosen[s->reached], .count = 1};
        bool matched = match_statement(ctx, match, s->reached, &c);
        s->counts[s->reached++] = c.count;
        if (!matched)
            return false;
    }
    bool is_renaming = rule->stage == LN_RULE_TO_CORE || rule->stage == LN_RULE_TO_ONNX;
    for (size_t i = 0; i < rule->pattern_count && !is_renaming; i++)
        if (has_open_tensor(ctx, match->ops[i]))
            return LN_MISS(match, LN_WHY_OPEN + (int)i, match->ops[i],
                           ctx->outer
                               ? "a tensor of this graph has a shape that is known in the run only"
                               : "a tensor has a dynamic shape; -s gives it one");
    return ln_match_conditions_hold(ctx, match) && ln_match_is_allowed(ctx, match);
}

// The next combination; false if all have been tried.
static bool advance(search *s)
{
    for (size_t i = s->reached; i > 0; i--) {
        if (++s->chosen[i - 1] < s->counts[i - 1])
            return true;
        s->chosen[i - 1] = 0;
    }
    return false;
}

// Clears what the rule has names and statements for: arrays are much longer.
static void start(ln_match *match, const ln_rule *rule, ln_op *root)
{
    memset(match->ops, 0, rule->pattern_count * sizeof match->ops[0]);
    memset(match->stays, 0, rule->pattern_count * sizeof match->stays[0]);
    memset(match->is_left_out, 0, rule->result_count * sizeof match->is_left_out[0]);
    memset(match->tensors, 0, rule->name_count * sizeof match->tensors[0]);
    memset(match->values, 0, rule->name_count * sizeof match->values[0]);
    memset(match->lists, 0, rule->name_count * sizeof match->lists[0]);
    match->several_count = match->unused_count = 0;
    match->rule = rule;
    match->ops[0] = root;
}

bool ln_match_rule(const ln_context *ctx, const ln_rule *rule, ln_op *root, ln_match *match)
{
    if (!ln_streq(root->op_arg->optype, rule->pattern[0].optype))
        return false;
    search s = {.reached = 0};
    if (LN_WHY_IS_ASKED)
        ln_why_begin(rule, root);
    for (size_t attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        start(match, rule, root);
        if (match_all(ctx, match, &s)) {
            if (LN_WHY_IS_ASKED)
                ln_why_matched();
            return true;
        }
        if (!advance(&s))
            return false;
    }
    return false;
}
