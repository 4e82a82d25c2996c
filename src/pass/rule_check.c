// SPDX-License-Identifier: Apache-2.0
// Rules against the registered operators, so that a misspelt argument is an error and not a rule
// that never fires.

#include <lightnet/arch.h>
#include <lightnet/dtype.h>
#include <lightnet/util.h>

#include "pass/match.h"
#include "pass/op_args.h"
#include "pass/rewrite.h"

typedef struct checker {
    const ln_rule_set *set;
    const ln_rule *rule;
    const ln_rule_op *statement;
    const ln_op_arg *op_arg; // of the statement's type
} checker;

// "FILE:LINE: rule 'NAME': " in front of the message just recorded.
static ln_status fail_here(const checker *c)
{
    return ln_fail_prefix("%s:%d: rule '%s'", c->set->file, c->statement->line, c->rule->name);
}

static ln_status find_type(checker *c)
{
    const ln_op *proto = ln_op_find(c->statement->optype);
    if (!proto)
        return LN_FAIL(LN_INVALID, "there is no operator type '%s'", c->statement->optype);
    c->op_arg = proto->op_arg;
    return LN_OK;
}

static ln_status check_tensors(const checker *c)
{
    char buffer[LN_MAX_NAME_LEN];
    for (size_t i = 0; i < c->statement->in_count; i++) {
        const char *arg_name = c->statement->ins[i].arg_name;
        if (arg_name && !ln_op_has_in(c->op_arg, arg_name))
            return LN_FAIL(LN_INVALID, "%s has no input '%s'", c->op_arg->optype, arg_name);
        if (!arg_name && !ln_op_in_name(c->op_arg, i, buffer))
            return LN_FAIL(LN_INVALID, "%s has %zu inputs, not %zu", c->op_arg->optype, i,
                           c->statement->in_count);
    }
    for (size_t i = 0; i < c->statement->out_count; i++)
        if (!ln_op_out_name(c->op_arg, i))
            return LN_FAIL(LN_INVALID, "%s has %zu outputs, not %zu", c->op_arg->optype, i,
                           c->statement->out_count);
    return LN_OK;
}

// An input by position and one by name are two.
static ln_status check_inputs_once(const checker *c)
{
    char buffer[LN_MAX_NAME_LEN];
    const ln_rule_arg *ins = c->statement->ins;
    for (size_t i = 0; i < c->statement->in_count; i++) {
        for (size_t j = 0; ins[i].arg_name && j < i && !ins[j].arg_name; j++)
            if (ln_streq(ln_op_in_name(c->op_arg, j, buffer), ins[i].arg_name))
                return LN_FAIL(LN_INVALID, "input '%s' of %s is there twice", ins[i].arg_name,
                               c->op_arg->optype);
    }
    return LN_OK;
}

// The type that a literal has; for an empty array any array type does.
static bool fits_type(const ln_rule_value *value, ln_param_type type)
{
    switch (value->kind) {
    case LN_RULE_NUMBER: return type == LN_PARAM_NUMBER;
    case LN_RULE_STRING: return type == LN_PARAM_STRING;
    case LN_RULE_BOOL: return type == LN_PARAM_BOOL;
    case LN_RULE_NAME: return true;
    case LN_RULE_ARRAY: break;
    }
    bool is_array = type == LN_PARAM_ARRAY_NUMBER || type == LN_PARAM_ARRAY_STRING ||
                    type == LN_PARAM_ARRAY_BOOL;
    if (value->count == 0)
        return is_array;
    return (value->elements[0].kind == LN_RULE_NUMBER && type == LN_PARAM_ARRAY_NUMBER) ||
           (value->elements[0].kind == LN_RULE_STRING && type == LN_PARAM_ARRAY_STRING) ||
           (value->elements[0].kind == LN_RULE_BOOL && type == LN_PARAM_ARRAY_BOOL);
}

// `types` has the type of each bound value; LN_PARAM_NULL while it is not bound.
static ln_status check_params(const checker *c, ln_param_type types[LN_RULE_MAX_NAMES])
{
    for (size_t i = 0; i < c->statement->param_count; i++) {
        const ln_rule_param *param = &c->statement->params[i];
        ln_param_type type = ln_op_param_type(c->op_arg, param->arg_name);
        if (type == LN_PARAM_INVALID)
            return LN_FAIL(LN_INVALID, "%s has no parameter '%s'", c->op_arg->optype,
                           param->arg_name);
        if (!fits_type(&param->value, type))
            return LN_FAIL(LN_INVALID, "parameter '%s' of %s is a %s", param->arg_name,
                           c->op_arg->optype, ln_param_type_name(type));
        if (param->value.kind != LN_RULE_NAME)
            continue;
        ln_param_type *bound = &types[param->value.name];
        if (*bound != LN_PARAM_NULL && *bound != type)
            return LN_FAIL(LN_INVALID, "'%s' stands for a %s; parameter '%s' of %s is a %s",
                           c->rule->names[param->value.name], ln_param_type_name(*bound),
                           param->arg_name, c->op_arg->optype, ln_param_type_name(type));
        *bound = type;
    }
    return LN_OK;
}

// params(c): each parameter of the matched type exists in the new type, with the same type.
static ln_status check_copied(const checker *c)
{
    if (c->statement->params_from < 0)
        return LN_OK;
    const ln_op *from = ln_op_find(c->rule->pattern[c->statement->params_from].optype);
    for (size_t i = 0; from && from->op_arg->param_arg_names && from->op_arg->param_arg_names[i];
         i++) {
        const char *arg_name = from->op_arg->param_arg_names[i];
        if (ln_op_param_type(c->op_arg, arg_name) != from->op_arg->param_ptypes[i])
            return LN_FAIL(LN_INVALID, "parameter '%s' of %s cannot be copied to %s", arg_name,
                           from->op_arg->optype, c->op_arg->optype);
    }
    return LN_OK;
}

static ln_status check_statement(checker *c, ln_param_type types[LN_RULE_MAX_NAMES])
{
    LN_TRY(find_type(c));
    LN_TRY(check_tensors(c));
    LN_TRY(check_inputs_once(c));
    LN_TRY(check_params(c, types));
    return check_copied(c);
}

static ln_status check_statements(checker *c, const ln_rule_op *statements, size_t count,
                                  ln_param_type types[LN_RULE_MAX_NAMES])
{
    for (size_t i = 0; i < count; i++) {
        c->statement = &statements[i];
        if (check_statement(c, types) != LN_OK)
            return fail_here(c);
    }
    return LN_OK;
}

// A word that is no data type would make a condition that never holds.
static ln_status check_conditions(const ln_rule_condition *conditions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (conditions[i].predicate != LN_RULE_PREDICATE_dtype)
            continue;
        const char *word = conditions[i].args[1].string;
        if ((int)tl_dtype_from_str(word) < 0)
            return LN_FAIL(LN_INVALID, "'%s' is no data type", word);
    }
    return LN_OK;
}

// What the parser took for static is so only if the operator's type says it.
static ln_status check_measure(checker *c)
{
    size_t before = 0, after = ln_rule_result_runs(c->rule);
    for (size_t i = 0; i < c->rule->pattern_count; i++)
        before += !c->rule->pattern[i].is_kept;
    if (after < before)
        return LN_OK;
    c->statement = &c->rule->pattern[0];
    LN_FAIL(LN_INVALID,
            "the rule does not shrink the model: its result runs %zu operators, and the pattern "
            "only %zu that it removes",
            after, before);
    return fail_here(c);
}

ln_status ln_rule_set_check(const ln_rule_set *set)
{
    for (size_t i = 0; i < set->rule_count; i++) {
        checker c = {.set = set, .rule = &set->rules[i]};
        ln_param_type types[LN_RULE_MAX_NAMES] = {LN_PARAM_NULL};
        LN_TRY(check_statements(&c, c.rule->pattern, c.rule->pattern_count, types));
        LN_TRY(check_statements(&c, c.rule->result, c.rule->result_count, types));
        LN_TRY(check_measure(&c));
        c.statement = &c.rule->pattern[0];
        if (check_conditions(c.rule->conditions, c.rule->condition_count) != LN_OK)
            return fail_here(&c);
    }
    for (size_t i = 0; i < set->lower_count; i++) {
        const ln_rule_lower *lower = &set->lowers[i];
        if (check_conditions(lower->conditions, lower->condition_count) != LN_OK)
            return ln_fail_prefix("%s:%d", set->file, lower->line);
    }
    return LN_OK;
}
