// SPDX-License-Identifier: Apache-2.0
// Conditions: predicates, and comparisons of expressions.

#include "desc/rule_parser.h"

static const char *predicate_name(int i)
{
    return ln_rule_predicate_name((ln_rule_predicate)i);
}

static ln_status fail_unknown_predicate(const ln_rule_parser *p)
{
    char hint[LN_RULE_MAX_WORD + 32];
    return ln_fail_at(
        p->token.place, LN_SYNTAX, "there is no predicate '%s'%s", p->token.text,
        ln_rule_did_you_mean(p->token.text, predicate_name, LN_RULE_PREDICATE_COUNT, hint));
}

// In a `lower` statement tensors are named by the operator's arguments, which are not known here.
static ln_status parse_condition_arg(ln_rule_parser *p, char letter, bool is_lower,
                                     ln_rule_value *out_value)
{
    bool is_tensor = letter == 't' || letter == 'T' || letter == 'L';
    *out_value = (ln_rule_value){.kind = LN_RULE_STRING};
    if (is_tensor && is_lower)
        return ln_rule_take_name(p, "the name of an argument", &out_value->string);
    if (is_tensor) {
        out_value->kind = LN_RULE_NAME;
        ln_rule_token token = p->token;
        LN_TRY(ln_rule_take_known(p, false, &out_value->name));
        if (letter == 't' && p->infos[out_value->name].is_list)
            return ln_fail_at(token.place, LN_SYNTAX,
                              "'%s' may stand for several tensors or none; one is needed here",
                              token.text);
        return LN_OK;
    }
    if (letter == 'w' && p->token.kind != LN_RULE_TOKEN_STRING)
        return ln_rule_take_name(p, "a word", &out_value->string);
    if (letter == 'w')
        return ln_rule_take_text(p, &out_value->string);
    return ln_rule_parse_expr(p, out_value);
}

// PREDICATE(ARGUMENTS)
static ln_status parse_predicate(ln_rule_parser *p, bool is_lower, ln_rule_condition *condition)
{
    int predicate = ln_rule_find_predicate(p->token.text);
    if (predicate < 0)
        return fail_unknown_predicate(p);
    condition->predicate = (ln_rule_predicate)predicate;
    LN_TRY(ln_rule_next(p));
    LN_TRY(ln_rule_expect_sign(p, '('));

    ln_rule_value args[LN_RULE_MAX_ARGS];
    const char *signature = ln_rule_predicate_signature(condition->predicate);
    for (; signature[condition->arg_count]; condition->arg_count++) {
        if (condition->arg_count > 0)
            LN_TRY(ln_rule_expect_sign(p, ','));
        LN_TRY(parse_condition_arg(p, signature[condition->arg_count], is_lower,
                                   &args[condition->arg_count]));
    }
    LN_TRY(ln_rule_expect_sign(p, ')'));
    KEEP(p, args, condition->arg_count, condition->args);
    return LN_OK;
}

// The comparisons, as predicates over two values.
static const struct {
    char sign;
    ln_rule_predicate predicate;
    bool is_negated;
    bool is_swapped;
} comparisons[] = {
    {LN_RULE_SIGN_EQUAL, LN_RULE_PREDICATE_equal, false, false},
    {LN_RULE_SIGN_DIFFERS, LN_RULE_PREDICATE_equal, true, false},
    {'<', LN_RULE_PREDICATE_less, false, false},
    {'>', LN_RULE_PREDICATE_less, false, true},
    {LN_RULE_SIGN_AT_MOST, LN_RULE_PREDICATE_at_most, false, false},
    {LN_RULE_SIGN_AT_LEAST, LN_RULE_PREDICATE_at_most, false, true},
};

// VALUE SIGN VALUE
static ln_status parse_comparison(ln_rule_parser *p, ln_rule_condition *condition)
{
    ln_rule_value args[2];
    LN_TRY(ln_rule_parse_expr(p, &args[0]));
    size_t i = 0, count = sizeof comparisons / sizeof comparisons[0];
    while (i < count && !ln_rule_at_sign(p, comparisons[i].sign))
        i++;
    if (i == count)
        return ln_rule_fail_expected(p, "==, !=, <, <=, > or >=");
    LN_TRY(ln_rule_next(p));
    LN_TRY(ln_rule_parse_expr(p, &args[1]));
    if (comparisons[i].is_swapped) {
        ln_rule_value first = args[0];
        args[0] = args[1];
        args[1] = first;
    }
    condition->predicate = comparisons[i].predicate;
    condition->is_negated = condition->is_negated != comparisons[i].is_negated;
    condition->arg_count = 2;
    KEEP(p, args, 2, condition->args);
    return LN_OK;
}

// Some names are both: `rank(t, 4)` asks, `rank(t) == 4` compares. Whether nothing that continues
// an expression follows the call at the next token.
static ln_status look_after_call(const ln_rule_parser *p, bool *out_is_predicate)
{
    ln_rule_lexer ahead = p->lexer;
    ln_rule_token token;
    size_t depth = 0;
    do {
        LN_TRY(ln_rule_lex(&ahead, &token));
        bool is_sign = token.kind == LN_RULE_TOKEN_SIGN;
        depth += is_sign && token.sign == '(';
        depth -= is_sign && token.sign == ')';
    } while (depth > 0 && token.kind != LN_RULE_TOKEN_END);
    LN_TRY(ln_rule_lex(&ahead, &token));
    *out_is_predicate = token.kind != LN_RULE_TOKEN_SIGN || !strchr("+-*/[<>=edlg", token.sign);
    return LN_OK;
}

static ln_status parse_condition(ln_rule_parser *p, bool is_lower)
{
    LN_TRY(
        ln_rule_check_room(p, p->condition_count, LN_RULE_MAX_CONDITIONS, "conditions of a rule"));
    ln_rule_condition *condition = &p->conditions[p->condition_count];
    *condition = (ln_rule_condition){.is_negated = ln_rule_at_word(p, "not")};
    if (condition->is_negated)
        LN_TRY(ln_rule_next(p));
    bool is_call = ln_rule_at_name(p) && ln_rule_is_before_bracket(p);
    bool is_predicate = is_call && (ln_rule_find_predicate(p->token.text) >= 0 ||
                                    ln_rule_find_function(p->token.text) < 0);
    if (is_predicate && ln_rule_find_function(p->token.text) >= 0)
        LN_TRY(look_after_call(p, &is_predicate));
    LN_TRY(is_predicate ? parse_predicate(p, is_lower, condition) : parse_comparison(p, condition));
    p->condition_count++;
    return LN_OK;
}

// One of these conditions holds: CONDITION or CONDITION ...
static ln_status parse_alternatives(ln_rule_parser *p, bool is_lower)
{
    size_t first = p->condition_count;
    LN_TRY(parse_condition(p, is_lower));
    while (!is_lower && ln_rule_at_word(p, "or")) {
        p->conditions[p->condition_count - 1].has_other = true;
        LN_TRY(ln_rule_next(p));
        LN_TRY(parse_condition(p, is_lower));
    }
    const ln_rule_condition *only = &p->conditions[first];
    if (!only->has_other && !is_lower && only->predicate == LN_RULE_PREDICATE_static &&
        !only->is_negated)
        p->infos[only->args[0].name].is_static = true;
    return LN_OK;
}

ln_status ln_rule_parse_where(ln_rule_parser *p, bool is_lower)
{
    if (!ln_rule_at_word(p, "where"))
        return LN_OK;
    do {
        LN_TRY(ln_rule_next(p));
        LN_TRY(parse_alternatives(p, is_lower));
    } while (ln_rule_at_sign(p, ','));
    return LN_OK;
}
