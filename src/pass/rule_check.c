// SPDX-License-Identifier: Apache-2.0
// Rules against the registered operators, so that a misspelt argument is an error and not a rule
// that never fires.

#include <math.h>
#include <string.h>

#include <lightnet/arch.h>
#include <lightnet/dtype.h>
#include <lightnet/spelling.h>
#include <lightnet/util.h>

#include "desc/rule_weight.h"
#include "op/op_words.h"
#include "pass/match.h"
#include "pass/op_args.h"
#include "pass/rewrite.h"

#define MANY 1000 // arguments: only a variadic one has so many

typedef struct checker {
    const ln_rule_set *set;
    const ln_rule *rule;
    const ln_rule_op *statement;
    const ln_op_arg *op_arg; // of the statement's type
} checker;

// "FILE:LINE: rule 'NAME': " in front of the message just recorded.
static ln_status fail_here(const checker *c)
{
    return ln_fail_prefix("%s:%d: rule '%s'", c->rule->file, c->statement->line, c->rule->name);
}

static ln_status find_type(checker *c)
{
    const ln_op *proto = ln_op_find(c->statement->optype);
    if (!proto)
        return LN_FAIL(LN_INVALID, "there is no operator type '%s'", c->statement->optype);
    c->op_arg = proto->op_arg;
    return LN_OK;
}

// `...` needs a variadic argument, unless there is an operator for each tensor; what stands after
// it has no fixed place.
static ln_status check_args(const checker *c, const ln_rule_arg *args, size_t count, bool is_in)
{
    const char *what = is_in ? "input" : "output";
    char buffer[LN_MAX_NAME_LEN];
    for (size_t i = 0; i < count; i++) {
        bool has_each = !is_in && c->statement->each >= 0;
        size_t index = args[i].is_rest && !has_each ? MANY : i;
        const char *found = is_in ? ln_op_in_name(c->op_arg, index, buffer)
                                  : ln_op_out_name(c->op_arg, index, buffer);
        if (args[i].arg_name && !ln_op_has_in(c->op_arg, args[i].arg_name))
            return LN_FAIL(LN_INVALID, "%s has no input '%s'", c->op_arg->optype, args[i].arg_name);
        if (!args[i].arg_name && !found && args[i].is_rest)
            return LN_FAIL(LN_INVALID, "%s has no %ss without end: no '...' here",
                           c->op_arg->optype, what);
        if (!args[i].arg_name && !found)
            return LN_FAIL(LN_INVALID, "%s has %zu %ss, not %zu", c->op_arg->optype, i, what,
                           count);
        if (args[i].is_rest)
            return LN_OK;
    }
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

static bool gives_input(const checker *c, const char *arg_name)
{
    char buffer[LN_MAX_NAME_LEN];
    const ln_rule_arg *ins = c->statement->ins;
    for (size_t i = 0; i < c->statement->in_count; i++) {
        const char *given = ins[i].arg_name ? ins[i].arg_name : ln_op_in_name(c->op_arg, i, buffer);
        if (ins[i].is_rest || ln_streq(given, arg_name))
            return true;
    }
    return false;
}

// An operator always has the inputs that are not optional; without one the rule would never fire.
static ln_status check_inputs_given(const checker *c)
{
    const ln_arg_info *in = c->op_arg->info ? c->op_arg->info->ins : NULL;
    for (; in && in->arg_name; in++) {
        if (in->flags & (LN_ARG_OPTIONAL | LN_ARG_VARIADIC) || gives_input(c, in->arg_name))
            continue;
        return LN_FAIL(LN_INVALID, "%s always has an input '%s'; name it, or write '_' for it",
                       c->op_arg->optype, in->arg_name);
    }
    return LN_OK;
}

// ---- Types of values ----

// One letter a type, as in the signatures of desc/rule_functions.inc, and s a string, b a bool, S
// an array of strings, B one of bools. NUL: not known.
static char letter_of(ln_param_type type)
{
    switch (type) {
    case LN_PARAM_NUMBER: return 'n';
    case LN_PARAM_STRING: return 's';
    case LN_PARAM_BOOL: return 'b';
    case LN_PARAM_ARRAY_NUMBER: return 'a';
    case LN_PARAM_ARRAY_STRING: return 'S';
    case LN_PARAM_ARRAY_BOOL: return 'B';
    default: return '\0';
    }
}

static const char *letter_text(char letter)
{
    switch (letter) {
    case 'n': return "a number";
    case 'a': return "an array of numbers";
    case 'v': return "a number or an array of numbers";
    case 's': return "a string";
    case 'b': return "true or false";
    case 't':
    case 'T': return "a tensor";
    default: return "an array of strings or bools";
    }
}

static bool fits_letter(char wanted, char found)
{
    if (wanted == 'T' || wanted == 't')
        return found == 't';
    return wanted == found || (wanted == 'v' && (found == 'n' || found == 'a'));
}

// The result of a `v`: an array as soon as one of the arguments is one.
static char result_letter(const char *signature, const char *types)
{
    size_t count = strcspn(signature, ">");
    if (signature[count + 1] != 'v')
        return signature[count + 1];
    for (size_t i = 0; i < count; i++)
        if (types[i] == 'a')
            return 'a';
    return 'n';
}

static ln_status check_call(ln_rule_function function, char *types, size_t *height)
{
    const char *signature = ln_rule_function_signature(function);
    size_t count = strcspn(signature, ">");
    char *args = &types[*height - count];
    for (size_t i = 0; i < count; i++)
        if (!fits_letter(signature[i], args[i]))
            return LN_FAIL(LN_INVALID, "argument %zu of '%s' should be %s, but is %s", i + 1,
                           ln_rule_function_name(function), letter_text(signature[i]),
                           letter_text(args[i]));
    args[0] = result_letter(signature, args);
    *height = *height - count + 1;
    return LN_OK;
}

static ln_status find_expr_type(const ln_rule_value *value, const ln_param_type *bound,
                                char *out_letter)
{
    char types[LN_RULE_MAX_CODE];
    size_t height = 0;
    for (size_t i = 0; i < value->count; i++) {
        const ln_rule_step *step = &value->code[i];
        switch (step->kind) {
        case LN_RULE_STEP_NUMBER: types[height++] = 'n'; break;
        case LN_RULE_STEP_STRING: types[height++] = 's'; break;
        case LN_RULE_STEP_BOOL: types[height++] = 'b'; break;
        case LN_RULE_STEP_VALUE: types[height++] = letter_of(bound[step->index]); break;
        case LN_RULE_STEP_TENSOR: types[height++] = 't'; break;
        case LN_RULE_STEP_CALL:
            LN_TRY(check_call((ln_rule_function)step->index, types, &height));
            break;
        case LN_RULE_STEP_ARRAY:
            for (int j = 0; j < step->index; j++)
                if (types[--height] != 'n')
                    return LN_FAIL(LN_INVALID, "an array that is computed has numbers only");
            types[height++] = 'a';
            break;
        }
    }
    *out_letter = types[0];
    return LN_OK;
}

// For an empty array, *out_letter is NUL.
static ln_status find_type_of(const ln_rule_value *value, const ln_param_type *bound,
                              char *out_letter)
{
    *out_letter = '\0';
    switch (value->kind) {
    case LN_RULE_NUMBER: *out_letter = 'n'; break;
    case LN_RULE_STRING: *out_letter = 's'; break;
    case LN_RULE_BOOL: *out_letter = 'b'; break;
    case LN_RULE_NAME: *out_letter = letter_of(bound[value->name]); break;
    case LN_RULE_EXPR: return find_expr_type(value, bound, out_letter);
    case LN_RULE_ABSENT: break;
    case LN_RULE_ARRAY:
        if (value->count > 0)
            *out_letter = value->elements[0].kind == LN_RULE_NUMBER   ? 'a'
                          : value->elements[0].kind == LN_RULE_STRING ? 'S'
                                                                      : 'B';
    }
    return LN_OK;
}

// For an empty array any array type does.
static ln_status fits_type(const ln_rule_value *value, ln_param_type type,
                           const ln_param_type *bound, bool *out_fits)
{
    char wanted = letter_of(type), found;
    LN_TRY(find_type_of(value, bound, &found));
    bool is_empty = value->kind == LN_RULE_ARRAY && value->count == 0;
    *out_fits = value->kind == LN_RULE_NAME || value->kind == LN_RULE_ABSENT || found == wanted ||
                (is_empty && (wanted == 'a' || wanted == 'S' || wanted == 'B'));
    return LN_OK;
}

// ---- Values that no operator takes ----

static const ln_param_info *find_info(const checker *c, const char *arg_name)
{
    const ln_param_info *info = c->op_arg->info ? c->op_arg->info->params : NULL;
    for (; info && info->arg_name; info++)
        if (ln_streq(info->arg_name, arg_name))
            return info;
    return NULL;
}

// Such a pattern would match nothing, and such a result be refused wherever the rule fires.
static ln_status check_word(const checker *c, const char *arg_name, const char *word)
{
    char hint[LN_OP_WORDS_BYTES];
    const char *optype = c->op_arg->optype;
    if (ln_op_takes_word(c->op_arg, arg_name, word, NULL))
        return LN_OK;
    return LN_FAIL(LN_INVALID, "parameter '%s' of %s is never \"%s\"%s", arg_name, optype, word,
                   ln_op_word_hint(c->op_arg, arg_name, word, hint));
}

static ln_status check_number(const checker *c, const char *arg_name, double number)
{
    const ln_param_info *info = find_info(c, arg_name);
    double least;
    if (info && info->is_whole && number != trunc(number))
        return LN_FAIL(LN_INVALID, "parameter '%s' of %s is a whole number, never %g", arg_name,
                       c->op_arg->optype, number);
    if (ln_op_least_number(c->op_arg, arg_name, &least) && number < least)
        return LN_FAIL(LN_INVALID, "parameter '%s' of %s is %g or more, never %g", arg_name,
                       c->op_arg->optype, least, number);
    return LN_OK;
}

static ln_status check_value(const checker *c, const char *arg_name, const ln_rule_value *value)
{
    if (value->kind == LN_RULE_STRING)
        return check_word(c, arg_name, value->string);
    if (value->kind == LN_RULE_NUMBER)
        return check_number(c, arg_name, value->number);
    for (size_t i = 0; value->kind == LN_RULE_ARRAY && i < value->count; i++)
        LN_TRY(check_value(c, arg_name, &value->elements[i]));
    return LN_OK;
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
        bool fits;
        LN_TRY(fits_type(&param->value, type, types, &fits));
        if (!fits)
            return LN_FAIL(LN_INVALID, "parameter '%s' of %s is %s", param->arg_name,
                           c->op_arg->optype, letter_text(letter_of(type)));
        LN_TRY(check_value(c, param->arg_name, &param->value));
        if (param->value.kind != LN_RULE_NAME)
            continue;
        ln_param_type *bound = &types[param->value.name];
        if (*bound != LN_PARAM_NULL && *bound != type)
            return LN_FAIL(LN_INVALID, "'%s' stands for %s; parameter '%s' of %s is %s",
                           c->rule->names[param->value.name], letter_text(letter_of(*bound)),
                           param->arg_name, c->op_arg->optype, letter_text(letter_of(type)));
        *bound = type;
    }
    return LN_OK;
}

static bool is_copied(const checker *c, size_t index, const char *arg_name)
{
    for (size_t i = 0; i < c->rule->result_count; i++) {
        const ln_op *proto = ln_rule_copies_param(&c->rule->result[i], index, arg_name)
                                 ? ln_op_find(c->rule->result[i].optype)
                                 : NULL;
        if (proto && ln_op_param_type(proto->op_arg, arg_name) != LN_PARAM_INVALID)
            return true;
    }
    return false;
}

// Why a waiver does nothing; NULL if it does something. One that is named besides may be a word of
// the rule's rows.
static const char *why_waiver_is_idle(const checker *c, size_t i)
{
    const ln_rule_op *statement = c->statement;
    const char *arg_name = statement->waivers[i].arg_name;
    for (size_t k = 0; k < i; k++)
        if (ln_streq(statement->waivers[k].arg_name, arg_name))
            return "is waived twice";
    if (is_copied(c, (size_t)(statement - c->rule->pattern), arg_name))
        return "is copied by params(..)";
    return NULL;
}

// any(NAME): the type has it, and the result would lose it otherwise. Rows may be of types that
// lack it, or of parameters of which each row names one.
static ln_status check_waivers(const checker *c)
{
    for (size_t i = 0; i < c->statement->waiver_count && !c->statement->is_of_rows; i++) {
        const char *arg_name = c->statement->waivers[i].arg_name;
        if (ln_op_param_type(c->op_arg, arg_name) == LN_PARAM_INVALID)
            return LN_FAIL(LN_INVALID, "%s has no parameter '%s'", c->op_arg->optype, arg_name);
        const char *why = why_waiver_is_idle(c, i);
        if (why)
            return LN_FAIL(LN_INVALID, "parameter '%s' of %s %s: any(%s) does nothing, remove it",
                           arg_name, c->op_arg->optype, why, arg_name);
    }
    return LN_OK;
}

// What every operator of the type has, and no default could be of, a pattern names, copies or
// waives.
static ln_status check_params_named(const checker *c)
{
    const ln_param_info *info = c->op_arg->info ? c->op_arg->info->params : NULL;
    for (; info && info->arg_name; info++)
        if (info->is_required && !info->default_entry &&
            !ln_rule_names_param(c->statement, info->arg_name) &&
            !is_copied(c, (size_t)(c->statement - c->rule->pattern), info->arg_name))
            return LN_FAIL(
                LN_INVALID,
                "%s always has a parameter '%s': name it, copy it, or write any(%s) \"why\"",
                c->op_arg->optype, info->arg_name, info->arg_name);
    return LN_OK;
}

// Whether the new operator gets the parameter: it is set, or the type that it is copied from has
// it.
static bool gets_param(const checker *c, const char *arg_name)
{
    for (size_t i = 0; i < c->statement->param_count; i++)
        if (ln_streq(c->statement->params[i].arg_name, arg_name))
            return true;
    const ln_op *from = c->statement->params_from < 0
                            ? NULL
                            : ln_op_find(c->rule->pattern[c->statement->params_from].optype);
    return from && ln_op_param_type(from->op_arg, arg_name) != LN_PARAM_INVALID;
}

// A result without a parameter that its type demands would be refused wherever the rule fires.
static ln_status check_params_given(const checker *c)
{
    const ln_op_info *op_info = c->op_arg->info;
    const ln_param_info *info = op_info ? op_info->params : NULL;
    for (; info && info->arg_name; info++) {
        bool is_demanded = op_info->infer ? info->is_required : !info->default_text;
        if (is_demanded && !gets_param(c, info->arg_name))
            return LN_FAIL(LN_INVALID,
                           "the result lacks parameter '%s', which %s always has: set it, or copy "
                           "it with params(..)",
                           info->arg_name, c->op_arg->optype);
    }
    return LN_OK;
}

static ln_status check_result_params(checker *c)
{
    for (size_t i = 0; i < c->rule->result_count; i++) {
        c->statement = &c->rule->result[i];
        if (find_type(c) != LN_OK || check_params_given(c) != LN_OK)
            return fail_here(c);
    }
    return LN_OK;
}

// params(c): what the matched type and the new type both have is of one type.
static ln_status check_copied(const checker *c)
{
    if (c->statement->params_from < 0)
        return LN_OK;
    const ln_op *from = ln_op_find(c->rule->pattern[c->statement->params_from].optype);
    for (size_t i = 0; from && from->op_arg->param_arg_names && from->op_arg->param_arg_names[i];
         i++) {
        const char *arg_name = from->op_arg->param_arg_names[i];
        ln_param_type type = ln_op_param_type(c->op_arg, arg_name);
        if (type != LN_PARAM_INVALID && type != from->op_arg->param_ptypes[i])
            return LN_FAIL(LN_INVALID, "parameter '%s' of %s cannot be copied to %s", arg_name,
                           from->op_arg->optype, c->op_arg->optype);
    }
    return LN_OK;
}

static ln_status check_statement(checker *c, ln_param_type types[LN_RULE_MAX_NAMES])
{
    LN_TRY(find_type(c));
    LN_TRY(check_args(c, c->statement->ins, c->statement->in_count, true));
    LN_TRY(check_args(c, c->statement->outs, c->statement->out_count, false));
    LN_TRY(check_inputs_once(c));
    LN_TRY(check_inputs_given(c));
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

static ln_status check_pattern_params(checker *c)
{
    for (size_t i = 0; i < c->rule->pattern_count; i++) {
        c->statement = &c->rule->pattern[i];
        if (find_type(c) != LN_OK || check_waivers(c) != LN_OK || check_params_named(c) != LN_OK)
            return fail_here(c);
    }
    return LN_OK;
}

static ln_status check_condition_types(const ln_rule_condition *condition,
                                       const ln_param_type *bound)
{
    const char *signature = ln_rule_predicate_signature(condition->predicate);
    char types[LN_RULE_MAX_ARGS] = "";
    for (size_t i = 0; i < condition->arg_count; i++) {
        if (!strchr("nasvx", signature[i]))
            continue;
        LN_TRY(find_type_of(&condition->args[i], bound, &types[i]));
        // What is compared may be anything, as long as both are alike.
        bool is_comparison = condition->predicate == LN_RULE_PREDICATE_equal;
        if (!is_comparison && !fits_letter(signature[i], types[i]))
            return LN_FAIL(LN_INVALID, "argument %zu of '%s' should be %s, but is %s", i + 1,
                           ln_rule_predicate_name(condition->predicate), letter_text(signature[i]),
                           letter_text(types[i]));
        if (is_comparison && (!types[i] || (i > 0 && types[1] != types[0])))
            return LN_FAIL(LN_INVALID, "values of two types are compared: %s and %s",
                           letter_text(types[0]), letter_text(types[1]));
    }
    return LN_OK;
}

// A word that is no data type would make a condition that never holds.
static ln_status check_conditions(const ln_rule_condition *conditions, size_t count,
                                  const ln_param_type *bound)
{
    for (size_t i = 0; i < count; i++) {
        LN_TRY(check_condition_types(&conditions[i], bound));
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
    if (c->rule->stage == LN_RULE_TO_ONNX)
        return LN_OK;
    int weight_before = 0, weight_after;
    size_t before = 0, after = ln_rule_result_runs(c->rule, &weight_after);
    for (size_t i = 0; i < c->rule->pattern_count; i++) {
        if (c->rule->pattern[i].is_kept)
            continue;
        before += (size_t)ln_rule_steps(c->rule->pattern[i].optype);
        weight_before += ln_rule_weight(c->rule->pattern[i].optype);
    }
    if (after < before ||
        (after == before && (weight_after < weight_before || c->rule->is_sinking)))
        return LN_OK;
    c->statement = &c->rule->pattern[0];
    ln_fail(LN_INVALID,
            "the rule does not shrink the model: its result runs %zu operators, and the pattern "
            "only %zu that it removes",
            after, before);
    return fail_here(c);
}

ln_status ln_rule_check(const ln_rule_set *set, const ln_rule *rule)
{
    checker c = {.set = set, .rule = rule};
    ln_param_type types[LN_RULE_MAX_NAMES] = {LN_PARAM_NULL};
    LN_TRY(check_statements(&c, rule->pattern, rule->pattern_count, types));
    LN_TRY(check_statements(&c, rule->result, rule->result_count, types));
    LN_TRY(check_result_params(&c));
    LN_TRY(check_measure(&c));
    c.statement = &rule->pattern[0];
    if (check_conditions(rule->conditions, rule->condition_count, types) != LN_OK)
        return fail_here(&c);
    return check_pattern_params(&c);
}

// ---- Lowering ----

static ln_status check_type_exists(const char *optype)
{
    if (ln_op_find(optype))
        return LN_OK;
    ln_nearest nearest = ln_nearest_to(optype);
    const ln_op *op;
    for (size_t i = 0; (op = ln_op_find_at(i)); i++)
        ln_nearest_try(&nearest, op->op_arg->optype);
    return LN_FAIL(LN_INVALID, "there is no operator type '%s'%s%s%s", optype,
                   nearest.name ? "; did you mean '" : "", nearest.name ? nearest.name : "",
                   nearest.name ? "'?" : "");
}

// `lower * => *_slab`: an operator of some type and its variant.
static ln_status check_suffix(const char *suffix)
{
    const ln_op *op;
    size_t len = strlen(suffix);
    for (size_t i = 0; (op = ln_op_find_at(i)); i++) {
        const char *optype = op->op_arg->optype;
        size_t whole = strlen(optype);
        if (whole > len && strcmp(optype + whole - len, suffix) == 0)
            return LN_OK;
    }
    return LN_FAIL(LN_INVALID, "there is no operator type that ends in '%s'", suffix);
}

static ln_status check_lower(const ln_rule_lower *lower)
{
    if (lower->from)
        LN_TRY(check_type_exists(lower->from));
    LN_TRY(lower->has_star ? check_suffix(lower->to) : check_type_exists(lower->to));
    return check_conditions(lower->conditions, lower->condition_count, NULL);
}

ln_status ln_rule_set_check(const ln_rule_set *set)
{
    for (size_t i = 0; i < set->rule_count; i++)
        LN_TRY(ln_rule_check(set, &set->rules[i]));
    for (size_t i = 0; i < set->lower_count; i++) {
        if (check_lower(&set->lowers[i]) != LN_OK)
            return ln_fail_prefix("%s:%d", set->file, set->lowers[i].line);
    }
    return LN_OK;
}
