// SPDX-License-Identifier: Apache-2.0
// Expressions: text to steps for a stack machine, by Dijkstra's shunting yard. Operators wait on a
// stack of a fixed height until their operands are there, so nothing recurses.

#include <stdio.h>
#include <string.h>

#include <lightnet/spelling.h>

#include "desc/rule_parser.h"

typedef enum pending_kind {
    PENDING_OPERATOR, // a function written as a sign, which waits for its right operand
    PENDING_PAREN,
    PENDING_CALL,
    PENDING_ARRAY,
    PENDING_INDEX,
} pending_kind;

// What waits for more to be read.
typedef struct pending {
    pending_kind kind;
    int function;
    int priority;
    int count; // of complete arguments or elements
    ln_place place;
} pending;

typedef struct expr {
    ln_rule_step steps[LN_RULE_MAX_CODE];
    size_t step_count;
    pending stack[2 * LN_RULE_MAX_NESTING];
    size_t height;
    size_t nesting; // brackets among them
} expr;

static const struct {
    char sign;
    int function;
    int priority;
} signs[] = {
    {'+', LN_RULE_FUNCTION_add, 1},
    {'-', LN_RULE_FUNCTION_sub, 1},
    {'*', LN_RULE_FUNCTION_mul, 2},
    {'/', LN_RULE_FUNCTION_div, 2},
};
#define NEG_PRIORITY 3

// ---- Names of functions and predicates ----

static const char *function_name(int i)
{
    return ln_rule_function_name((ln_rule_function)i);
}

static const char *predicate_name(int i)
{
    return ln_rule_predicate_name((ln_rule_predicate)i);
}

static int find(const char *name, const char *(*name_at)(int), int count)
{
    for (int i = 0; i < count; i++)
        if (ln_rule_same_word(name, name_at(i)))
            return i;
    return -1;
}

int ln_rule_find_function(const char *name)
{
    return find(name, function_name, LN_RULE_FUNCTION_COUNT);
}

int ln_rule_find_predicate(const char *name)
{
    return find(name, predicate_name, LN_RULE_PREDICATE_COUNT);
}

const char *ln_rule_did_you_mean(const char *word, const char *(*name_at)(int), int count,
                                 char buffer[LN_RULE_MAX_WORD + 32])
{
    ln_nearest nearest = ln_nearest_to(word);
    for (int i = 0; i < count; i++)
        ln_nearest_try(&nearest, name_at(i));
    buffer[0] = '\0';
    if (nearest.name)
        snprintf(buffer, LN_RULE_MAX_WORD + 32, "; did you mean '%s'?", nearest.name);
    return buffer;
}

// ---- The stack ----

static ln_status add_step(const ln_rule_parser *p, expr *e, ln_rule_step step)
{
    LN_TRY(ln_rule_check_room(p, e->step_count, LN_RULE_MAX_CODE, "steps of an expression"));
    e->steps[e->step_count++] = step;
    return LN_OK;
}

static ln_status push(const ln_rule_parser *p, expr *e, pending what)
{
    bool is_bracket = what.kind != PENDING_OPERATOR;
    LN_TRY(ln_rule_check_room(p, e->nesting + is_bracket, LN_RULE_MAX_NESTING + 1,
                              "brackets within brackets"));
    LN_TRY(ln_rule_check_room(p, e->height, sizeof e->stack / sizeof e->stack[0],
                              "operators that wait for operands"));
    e->nesting += is_bracket;
    e->stack[e->height++] = what;
    return LN_OK;
}

// Operators of at least that priority have all their operands now.
static ln_status reduce(const ln_rule_parser *p, expr *e, int priority)
{
    while (e->height > 0 && e->stack[e->height - 1].kind == PENDING_OPERATOR &&
           e->stack[e->height - 1].priority >= priority) {
        e->height--;
        LN_TRY(add_step(
            p, e,
            (ln_rule_step){.kind = LN_RULE_STEP_CALL, .index = e->stack[e->height].function}));
    }
    return LN_OK;
}

static pending *top(expr *e)
{
    return e->height > 0 ? &e->stack[e->height - 1] : NULL;
}

static int arg_count(int function)
{
    return (int)strcspn(ln_rule_function_signature((ln_rule_function)function), ">");
}

// The letter of the argument that is read next; NUL outside of a call.
static char wanted(expr *e)
{
    const pending *call = top(e);
    if (!call || call->kind != PENDING_CALL || call->count >= arg_count(call->function))
        return '\0';
    return ln_rule_function_signature((ln_rule_function)call->function)[call->count];
}

// ---- Operands ----

static ln_status fail_call(const pending *call, int count)
{
    int takes = arg_count(call->function);
    return ln_fail_at(call->place, LN_SYNTAX, "%s takes %d argument%s, not %d",
                      function_name(call->function), takes, takes == 1 ? "" : "s", count);
}

static ln_status open_call(ln_rule_parser *p, expr *e)
{
    char hint[LN_RULE_MAX_WORD + 32];
    ln_rule_token token = p->token;
    int function = ln_rule_find_function(token.text);
    if (function < 0)
        return ln_fail_at(
            token.place, LN_SYNTAX, "there is no function '%s'%s", token.text,
            ln_rule_did_you_mean(token.text, function_name, LN_RULE_FUNCTION_COUNT, hint));
    LN_TRY(ln_rule_next(p)); // the name; the bracket follows
    LN_TRY(push(p, e, (pending){.kind = PENDING_CALL, .function = function, .place = token.place}));
    return ln_rule_next(p);
}

static bool is_call_ahead(const ln_rule_parser *p)
{
    ln_rule_lexer ahead = p->lexer;
    ln_rule_token after;
    return ln_rule_lex(&ahead, &after) == LN_OK && after.kind == LN_RULE_TOKEN_SIGN &&
           after.sign == '(';
}

static ln_status take_tensor(ln_rule_parser *p, expr *e, char letter)
{
    ln_rule_step step = {.kind = LN_RULE_STEP_TENSOR};
    ln_rule_token token = p->token;
    LN_TRY(ln_rule_take_known(p, false, &step.index));
    if (letter == 't' && p->infos[step.index].is_list)
        return ln_fail_at(token.place, LN_SYNTAX,
                          "'%s' may stand for several tensors or none; one is needed here",
                          token.text);
    return add_step(p, e, step);
}

// Reads an operand, or what opens one; *out_is_complete says which.
static ln_status read_operand(ln_rule_parser *p, expr *e, bool *out_is_complete)
{
    const ln_rule_token *t = &p->token;
    ln_rule_step step = {.kind = LN_RULE_STEP_NUMBER};
    char letter = wanted(e);
    *out_is_complete = true;
    if (letter == 't' || letter == 'T')
        return take_tensor(p, e, letter);
    if (t->kind == LN_RULE_TOKEN_NUMBER) {
        step.number = t->number;
        LN_TRY(add_step(p, e, step));
        return ln_rule_next(p);
    }
    if (t->kind == LN_RULE_TOKEN_STRING) {
        step.kind = LN_RULE_STEP_STRING;
        LN_TRY(ln_rule_take_text(p, &step.string));
        return add_step(p, e, step);
    }
    if (ln_rule_at_word(p, "true") || ln_rule_at_word(p, "false")) {
        step.kind = LN_RULE_STEP_BOOL;
        step.number = ln_rule_at_word(p, "true");
        LN_TRY(add_step(p, e, step));
        return ln_rule_next(p);
    }
    *out_is_complete = false;
    if (ln_rule_at_name(p) && is_call_ahead(p))
        return open_call(p, e);
    pending what = {.kind = PENDING_PAREN, .place = t->place};
    if (ln_rule_at_sign(p, '[')) {
        what.kind = PENDING_ARRAY;
    } else if (ln_rule_at_sign(p, '-')) {
        what.kind = PENDING_OPERATOR;
        what.function = LN_RULE_FUNCTION_neg;
        what.priority = NEG_PRIORITY;
    } else if (!ln_rule_at_sign(p, '(')) {
        *out_is_complete = true;
        if (!ln_rule_at_name(p) || ln_rule_at_word(p, "_"))
            return ln_rule_fail_expected(p, "a number, a string, true, false or an array");
        step.kind = LN_RULE_STEP_VALUE;
        LN_TRY(ln_rule_take_known(p, true, &step.index));
        return add_step(p, e, step);
    }
    LN_TRY(push(p, e, what));
    return ln_rule_next(p);
}

// ---- Behind an operand ----

// A bracket closes; what it held is complete.
static ln_status close_bracket(ln_rule_parser *p, expr *e, bool has_last)
{
    pending what = *top(e);
    char closing = what.kind == PENDING_PAREN || what.kind == PENDING_CALL ? ')' : ']';
    if (!ln_rule_at_sign(p, closing)) {
        char text[] = {'\'', closing, '\'', '\0'};
        return ln_rule_fail_expected(p, text);
    }
    e->height--;
    e->nesting--;
    ln_rule_step step = {.kind = LN_RULE_STEP_CALL, .index = what.function};
    int count = what.count + has_last;
    if (what.kind == PENDING_CALL && count != arg_count(what.function))
        return fail_call(&what, count);
    if (what.kind == PENDING_INDEX)
        step.index = LN_RULE_FUNCTION_at;
    if (what.kind == PENDING_ARRAY)
        step = (ln_rule_step){.kind = LN_RULE_STEP_ARRAY, .index = count};
    if (what.kind != PENDING_PAREN)
        LN_TRY(add_step(p, e, step));
    return ln_rule_next(p);
}

static ln_status take_comma(ln_rule_parser *p, expr *e)
{
    pending *what = top(e);
    what->count++;
    if (what->kind == PENDING_CALL && what->count >= arg_count(what->function))
        return fail_call(what, what->count + 1);
    if (what->kind == PENDING_ARRAY)
        LN_TRY(ln_rule_check_room(p, (size_t)what->count, LN_RULE_MAX_ELEMENTS,
                                  "elements of an array"));
    return ln_rule_next(p);
}

// Reads what follows a complete operand. *out_needs says that another operand must follow, *out_end
// that the expression has come to its end.
static ln_status read_operator(ln_rule_parser *p, expr *e, bool *out_needs, bool *out_end)
{
    *out_needs = *out_end = false;
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (!ln_rule_at_sign(p, signs[i].sign))
            continue;
        LN_TRY(reduce(p, e, signs[i].priority));
        LN_TRY(push(p, e,
                    (pending){.kind = PENDING_OPERATOR,
                              .function = signs[i].function,
                              .priority = signs[i].priority}));
        *out_needs = true;
        return ln_rule_next(p);
    }
    if (ln_rule_at_sign(p, '[')) {
        LN_TRY(push(p, e, (pending){.kind = PENDING_INDEX, .place = p->token.place}));
        *out_needs = true;
        return ln_rule_next(p);
    }
    LN_TRY(reduce(p, e, 0));
    pending *what = top(e);
    if (!what) {
        *out_end = true;
        return LN_OK;
    }
    if (ln_rule_at_sign(p, ',') && (what->kind == PENDING_CALL || what->kind == PENDING_ARRAY)) {
        LN_TRY(take_comma(p, e));
        // A comma may stand after the last element.
        *out_needs = !(top(e)->kind == PENDING_ARRAY && ln_rule_at_sign(p, ']'));
        return *out_needs ? LN_OK : close_bracket(p, e, false);
    }
    return close_bracket(p, e, true);
}

static ln_status read_expr(ln_rule_parser *p, expr *e)
{
    for (;;) {
        bool is_complete, needs_operand = false, is_end = false;
        LN_TRY(read_operand(p, e, &is_complete));
        if (!is_complete) {
            const pending *what = top(e);
            bool is_empty = (what->kind == PENDING_ARRAY && ln_rule_at_sign(p, ']')) ||
                            (what->kind == PENDING_CALL && ln_rule_at_sign(p, ')'));
            if (!is_empty)
                continue;
            LN_TRY(close_bracket(p, e, false));
        }
        while (!needs_operand && !is_end)
            LN_TRY(read_operator(p, e, &needs_operand, &is_end));
        if (is_end)
            return LN_OK;
    }
}

// ---- Plain values ----

static ln_rule_value literal(const ln_rule_step *step)
{
    ln_rule_value value = {.kind = LN_RULE_NUMBER, .number = step->number};
    if (step->kind == LN_RULE_STEP_STRING)
        value = (ln_rule_value){.kind = LN_RULE_STRING, .string = step->string};
    if (step->kind == LN_RULE_STEP_BOOL)
        value = (ln_rule_value){.kind = LN_RULE_BOOL, .boolean = step->number != 0};
    return value;
}

// `-1` is a number, not a call.
static void fold_minus(expr *e)
{
    size_t to = 0;
    for (size_t from = 0; from < e->step_count; from++) {
        const ln_rule_step *step = &e->steps[from];
        bool is_minus = step->kind == LN_RULE_STEP_CALL && step->index == LN_RULE_FUNCTION_neg;
        if (is_minus && to > 0 && e->steps[to - 1].kind == LN_RULE_STEP_NUMBER)
            e->steps[to - 1].number = -e->steps[to - 1].number;
        else
            e->steps[to++] = *step;
    }
    e->step_count = to;
}

// Whether the steps make one array of literals; if they do, they are of one kind.
static ln_status find_array(const expr *e, ln_place place, bool *out_is_array)
{
    size_t count = e->step_count - 1;
    const ln_rule_step *last = &e->steps[count];
    *out_is_array = last->kind == LN_RULE_STEP_ARRAY && (size_t)last->index == count;
    for (size_t i = 0; i < count && *out_is_array; i++) {
        ln_rule_step_kind kind = e->steps[i].kind;
        *out_is_array =
            kind == LN_RULE_STEP_NUMBER || kind == LN_RULE_STEP_STRING || kind == LN_RULE_STEP_BOOL;
    }
    for (size_t i = 1; i < count && *out_is_array; i++)
        if (e->steps[i].kind != e->steps[0].kind)
            return ln_fail_at(place, LN_SYNTAX, "the elements of an array are of one kind");
    return LN_OK;
}

static ln_status keep_array(ln_rule_parser *p, const expr *e, ln_rule_value *out_value)
{
    ln_rule_value elements[LN_RULE_MAX_ELEMENTS];
    size_t count = e->step_count - 1;
    for (size_t i = 0; i < count; i++)
        elements[i] = literal(&e->steps[i]);
    *out_value = (ln_rule_value){.kind = LN_RULE_ARRAY, .count = count};
    KEEP(p, elements, count, out_value->elements);
    return LN_OK;
}

ln_status ln_rule_parse_expr(ln_rule_parser *p, ln_rule_value *out_value)
{
    ln_place place = p->token.place;
    expr e; // steps and stack as far as they are counted
    e.step_count = e.height = e.nesting = 0;
    LN_TRY(read_expr(p, &e));
    fold_minus(&e);
    if (e.step_count == 1 && e.steps[0].kind == LN_RULE_STEP_VALUE) {
        *out_value = (ln_rule_value){.kind = LN_RULE_NAME, .name = e.steps[0].index};
        return LN_OK;
    }
    if (e.step_count == 1 && e.steps[0].kind <= LN_RULE_STEP_BOOL) {
        *out_value = literal(&e.steps[0]);
        return LN_OK;
    }
    bool is_array;
    LN_TRY(find_array(&e, place, &is_array));
    if (is_array)
        return keep_array(p, &e, out_value);
    *out_value = (ln_rule_value){.kind = LN_RULE_EXPR, .count = e.step_count};
    KEEP(p, e.steps, e.step_count, out_value->code);
    return LN_OK;
}
