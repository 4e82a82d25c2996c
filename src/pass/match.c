// SPDX-License-Identifier: Apache-2.0
// The matcher walks from the root against the data flow. The statements of a pattern are ordered so
// that each makes a tensor that an earlier one reads; so when its turn comes, its operator is
// already determined: it is the producer of that tensor. No search, no backtracking.

#include "pass/match.h"

#include <lightnet/arch.h>
#include <lightnet/util.h>

#include "pass/op_args.h"
#include "pass/predicates.h"

// ---- Values ----

static bool element_equals(const ln_rule_value *element, const ln_param_entry *entry, size_t i)
{
    switch (element->kind) {
    case LN_RULE_NUMBER: return element->number == entry->value_array_double[i];
    case LN_RULE_STRING: return ln_streq(element->string, entry->value_array_string[i]);
    case LN_RULE_BOOL: return element->boolean == (entry->value_array_bool[i] != 0);
    default: return false;
    }
}

static bool array_equals(const ln_rule_value *value, const ln_param_entry *entry)
{
    bool is_array = entry->type == LN_PARAM_ARRAY_NUMBER || entry->type == LN_PARAM_ARRAY_STRING ||
                    entry->type == LN_PARAM_ARRAY_BOOL;
    if (!is_array || entry->array_len != (int)value->count)
        return false;
    if (value->count == 0)
        return true;
    ln_rule_value_kind kind = entry->type == LN_PARAM_ARRAY_NUMBER   ? LN_RULE_NUMBER
                              : entry->type == LN_PARAM_ARRAY_STRING ? LN_RULE_STRING
                                                                     : LN_RULE_BOOL;
    for (size_t i = 0; i < value->count; i++)
        if (value->elements[i].kind != kind || !element_equals(&value->elements[i], entry, i))
            return false;
    return true;
}

bool ln_rule_value_equals(const ln_rule_value *value, const ln_param_entry *entry)
{
    switch (value->kind) {
    case LN_RULE_NUMBER:
        return entry->type == LN_PARAM_NUMBER && entry->value_double == value->number;
    case LN_RULE_STRING:
        return entry->type == LN_PARAM_STRING && ln_streq(entry->value_string, value->string);
    case LN_RULE_BOOL:
        return entry->type == LN_PARAM_BOOL && (entry->value_bool != 0) == value->boolean;
    case LN_RULE_ARRAY: return array_equals(value, entry);
    case LN_RULE_NAME: break;
    }
    return false;
}

static bool entries_equal(const ln_param_entry *a, const ln_param_entry *b)
{
    if (a->type != b->type || a->array_len != b->array_len)
        return false;
    switch (a->type) {
    case LN_PARAM_NULL: return true;
    case LN_PARAM_STRING: return ln_streq(a->value_string, b->value_string);
    case LN_PARAM_NUMBER: return a->value_double == b->value_double;
    case LN_PARAM_BOOL: return !a->value_bool == !b->value_bool;
    default: break;
    }
    for (int i = 0; i < a->array_len; i++) {
        if (a->type == LN_PARAM_ARRAY_NUMBER &&
            a->value_array_double[i] != b->value_array_double[i])
            return false;
        if (a->type == LN_PARAM_ARRAY_STRING &&
            !ln_streq(a->value_array_string[i], b->value_array_string[i]))
            return false;
        if (a->type == LN_PARAM_ARRAY_BOOL && !a->value_array_bool[i] != !b->value_array_bool[i])
            return false;
    }
    return a->type != LN_PARAM_INVALID;
}

// ---- Statements ----

static bool bind_tensor(ln_match *match, int name, const char *tensor)
{
    if (name == LN_RULE_ANY)
        return true;
    if (match->tensors[name])
        return ln_streq(match->tensors[name], tensor);
    match->tensors[name] = tensor;
    return true;
}

// Every input of the operator is one of the statement's: what a rule does not see it would lose.
static bool match_ins(ln_match *match, const ln_rule_op *statement, const ln_op_arg *op_arg)
{
    char buffer[LN_MAX_NAME_LEN];
    if ((size_t)ln_tensor_list_length(op_arg->tensors_in) != statement->in_count)
        return false;
    for (size_t i = 0; i < statement->in_count; i++) {
        const ln_rule_arg *in = &statement->ins[i];
        const char *arg_name = in->arg_name ? in->arg_name : ln_op_in_name(op_arg, i, buffer);
        const char *tensor =
            arg_name ? ln_tensor_list_find_name(op_arg->tensors_in, arg_name) : NULL;
        if (!tensor || !bind_tensor(match, in->name, tensor))
            return false;
    }
    return true;
}

static bool match_outs(ln_match *match, const ln_rule_op *statement, const ln_op_arg *op_arg)
{
    for (size_t i = 0; i < statement->out_count; i++) {
        const char *arg_name = ln_op_out_name(op_arg, i);
        const char *tensor =
            arg_name ? ln_tensor_list_find_name(op_arg->tensors_out, arg_name) : NULL;
        if (!tensor || !bind_tensor(match, statement->outs[i].name, tensor))
            return false;
    }
    return true;
}

// The default is kept until the match ends, as a name may be bound to it.
static ln_status find_param(ln_match *match, const ln_op_arg *op_arg, const char *arg_name,
                            const ln_param_entry **out_entry)
{
    *out_entry = ln_param_list_find(op_arg->params, arg_name);
    if (*out_entry)
        return LN_OK;
    ln_param_entry *entry;
    LN_TRY(ln_op_param_default(op_arg, arg_name, &entry));
    if (entry && match->default_count == LN_RULE_MAX_NAMES) {
        ln_param_entry_free(entry);
        return LN_FAIL(LN_LIMIT, "a rule compares at most %d defaults", LN_RULE_MAX_NAMES);
    }
    if (entry)
        match->defaults[match->default_count++] = entry;
    *out_entry = entry;
    return LN_OK;
}

static ln_status match_params(ln_match *match, const ln_rule_op *statement, const ln_op_arg *op_arg,
                              bool *out_matched)
{
    *out_matched = false;
    for (size_t i = 0; i < statement->param_count; i++) {
        const ln_rule_value *value = &statement->params[i].value;
        const ln_param_entry *entry;
        LN_TRY(find_param(match, op_arg, statement->params[i].arg_name, &entry));
        if (!entry)
            return LN_OK;
        if (value->kind != LN_RULE_NAME) {
            if (!ln_rule_value_equals(value, entry))
                return LN_OK;
        } else if (!match->values[value->name]) {
            match->values[value->name] = entry;
        } else if (!entries_equal(match->values[value->name], entry)) {
            return LN_OK;
        }
    }
    *out_matched = true;
    return LN_OK;
}

// The producer of the first output whose tensor is known; NULL if there is none.
static ln_op *find_producer(const ln_context *ctx, const ln_match *match,
                            const ln_rule_op *statement)
{
    for (size_t i = 0; i < statement->out_count; i++) {
        int name = statement->outs[i].name;
        if (name == LN_RULE_ANY || !match->tensors[name])
            continue;
        const ln_tensor_entry *entry =
            ln_tensor_table_find(ctx->tensor_table, match->tensors[name]);
        return entry && entry->creater ? ln_op_table_find(ctx->op_table, entry->creater) : NULL;
    }
    return NULL;
}

static bool is_matched(const ln_match *match, size_t count, const ln_op *op)
{
    for (size_t i = 0; i < count; i++)
        if (match->ops[i] == op)
            return true;
    return false;
}

static ln_status match_statement(const ln_context *ctx, ln_match *match, size_t index,
                                 bool *out_matched)
{
    const ln_rule_op *statement = &match->rule->pattern[index];
    *out_matched = false;
    ln_op *op = index == 0 ? match->ops[0] : find_producer(ctx, match, statement);
    if (!op || is_matched(match, index, op) || !ln_streq(op->op_arg->optype, statement->optype))
        return LN_OK;
    match->ops[index] = op;
    if (!match_outs(match, statement, op->op_arg) || !match_ins(match, statement, op->op_arg))
        return LN_OK;
    return match_params(match, statement, op->op_arg, out_matched);
}

// ---- The whole ----

static bool conditions_hold(const ln_context *ctx, const ln_match *match)
{
    for (size_t i = 0; i < match->rule->condition_count; i++) {
        const ln_rule_condition *condition = &match->rule->conditions[i];
        ln_predicate_arg args[LN_RULE_MAX_ARGS] = {{0}};
        for (size_t j = 0; j < condition->arg_count; j++) {
            const ln_rule_value *value = &condition->args[j];
            args[j] = (ln_predicate_arg){.number = value->number, .word = value->string};
            if (value->kind == LN_RULE_NAME)
                args[j].tensor = match->tensors[value->name];
        }
        if (!ln_predicate_holds(ctx, condition->predicate, args))
            return false;
    }
    return true;
}

// An operator that goes away is removed with its outputs. So somebody must read each of them (else
// it is an output of the model), and only operators that go away may.
static bool is_removable(const ln_context *ctx, const ln_match *match, const ln_op *op)
{
    const ln_graph_node *node = ln_hash_find(ctx->dfg->node_table, op->op_arg->name);
    for (const ln_list *l = node ? node->out_edge_nodes : NULL; l; l = l->next) {
        const ln_graph_edge_node *edge = l->data;
        bool goes_away = false;
        for (size_t i = 0; i < match->rule->pattern_count && !goes_away; i++)
            goes_away = match->ops[i] == edge->node->data && !match->rule->pattern[i].is_kept;
        if (!goes_away)
            return false;
    }
    for (const ln_list *out = op->op_arg->tensors_out; out; out = out->next) {
        const ln_tensor_list_entry *entry = out->data;
        bool is_read = ln_op_is_scratch(op->op_arg, entry->arg_name);
        for (const ln_list *l = node ? node->out_edge_nodes : NULL; l && !is_read; l = l->next)
            is_read = ln_streq(((const ln_graph_edge_node *)l->data)->edge_data, entry->name);
        if (!is_read)
            return false;
    }
    return node != NULL;
}

// The root's outputs are all made anew; scratch tensors are nobody else's.
static bool makes_all_of_root(const ln_match *match)
{
    const ln_op_arg *root = match->ops[0]->op_arg;
    size_t out_count = 0;
    for (const ln_list *l = root->tensors_out; l; l = l->next)
        out_count += !ln_op_is_scratch(root, ((const ln_tensor_list_entry *)l->data)->arg_name);
    return out_count == match->rule->pattern[0].out_count;
}

size_t ln_rule_result_runs(const ln_rule *rule)
{
    size_t count = 0;
    for (size_t i = 0; i < rule->result_count; i++) {
        const ln_op *proto = rule->result[i].is_static ? ln_op_find(rule->result[i].optype) : NULL;
        count += !proto || !ln_op_is_static_type(proto->op_arg);
    }
    return count;
}

// The parser has compared the statements; here some operators of the pattern may happen to be
// static, so that removing them saves no run.
static bool shrinks(const ln_match *match)
{
    size_t before = 0;
    for (size_t i = 0; i < match->rule->pattern_count; i++)
        before += !match->rule->pattern[i].is_kept && ln_op_runs(match->ops[i]);
    return ln_rule_result_runs(match->rule) < before;
}

static ln_status match_all(const ln_context *ctx, ln_match *match, bool *out_matched)
{
    const ln_rule *rule = match->rule;
    for (size_t i = 0; i < rule->pattern_count; i++) {
        bool matched;
        LN_TRY(match_statement(ctx, match, i, &matched));
        if (!matched)
            return LN_OK;
    }
    if (!makes_all_of_root(match) || !conditions_hold(ctx, match) || !shrinks(match))
        return LN_OK;
    for (size_t i = 1; i < rule->pattern_count; i++)
        if (!rule->pattern[i].is_kept && !is_removable(ctx, match, match->ops[i]))
            return LN_OK;
    *out_matched = true;
    return LN_OK;
}

ln_status ln_match_rule(const ln_context *ctx, const ln_rule *rule, ln_op *root, ln_match *match,
                        bool *out_matched)
{
    *out_matched = false;
    if (!ln_streq(root->op_arg->optype, rule->pattern[0].optype))
        return LN_OK;
    *match = (ln_match){.rule = rule, .ops = {root}};
    ln_status status = match_all(ctx, match, out_matched);
    if (status != LN_OK || !*out_matched)
        ln_match_deinit(match);
    return status;
}

void ln_match_deinit(ln_match *match)
{
    for (size_t i = 0; i < match->default_count; i++)
        ln_param_entry_free(match->defaults[i]);
    match->default_count = 0;
}
