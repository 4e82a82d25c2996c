// SPDX-License-Identifier: Apache-2.0
// Values of a match: comparing parameters, computing expressions, asking conditions.

#include <math.h>

#include <lightnet/util.h>

#include "pass/match.h"
#include "pass/predicates.h"
#include "pass/why.h"

// ---- Comparing ----

// A bound of -0 is another one than 0: 1 / clip(x) differs.
static bool numbers_equal(double a, double b)
{
    return a == b && !signbit(a) == !signbit(b);
}

static bool element_equals(const ln_rule_value *element, const ln_param_entry *entry, size_t i)
{
    switch (element->kind) {
    case LN_RULE_NUMBER: return numbers_equal(element->number, entry->value_array_double[i]);
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
        return entry->type == LN_PARAM_NUMBER && numbers_equal(entry->value_double, value->number);
    case LN_RULE_STRING:
        return entry->type == LN_PARAM_STRING && ln_streq(entry->value_string, value->string);
    case LN_RULE_BOOL:
        return entry->type == LN_PARAM_BOOL && (entry->value_bool != 0) == value->boolean;
    case LN_RULE_ARRAY: return array_equals(value, entry);
    default: return false;
    }
}

// ---- Expressions ----

// Arrays that steps make are in `pool`, those of the lower values first; what is taken off the
// stack frees its place.
#define POOL_NUMBERS 1024

typedef struct machine {
    ln_expr_value stack[LN_RULE_MAX_CODE];
    size_t pool_marks[LN_RULE_MAX_CODE]; // where the pool ended before the value was put
    size_t height;
    double pool[POOL_NUMBERS];
    size_t pool_count;
} machine;

static bool value_of_param(const ln_param_entry *entry, ln_expr_value *out)
{
    *out = (ln_expr_value){.kind = LN_RULE_NUMBER};
    if (!entry)
        return false;
    switch (entry->type) {
    case LN_PARAM_NUMBER: out->number = entry->value_double; return true;
    case LN_PARAM_STRING:
        *out = (ln_expr_value){.kind = LN_RULE_STRING, .string = entry->value_string};
        return entry->value_string != NULL;
    case LN_PARAM_BOOL:
        *out = (ln_expr_value){.kind = LN_RULE_BOOL, .boolean = entry->value_bool != 0};
        return true;
    case LN_PARAM_ARRAY_NUMBER:
        *out = (ln_expr_value){.kind = LN_RULE_ARRAY,
                               .numbers = entry->value_array_double,
                               .count = (size_t)entry->array_len};
        return true;
    default: return false;
    }
}

static bool put(machine *m, ln_expr_value value, const double *numbers)
{
    m->pool_marks[m->height] = m->pool_count;
    if (numbers && value.count > POOL_NUMBERS - m->pool_count)
        return false;
    for (size_t i = 0; numbers && i < value.count; i++)
        m->pool[m->pool_count + i] = numbers[i];
    if (numbers) {
        value.numbers = &m->pool[m->pool_count];
        m->pool_count += value.count;
    }
    m->stack[m->height++] = value;
    return true;
}

static void take(machine *m, size_t count)
{
    m->height -= count;
    if (count > 0)
        m->pool_count = m->pool_marks[m->height];
}

static bool make_array(machine *m, size_t count)
{
    double numbers[LN_RULE_MAX_ELEMENTS];
    for (size_t i = 0; i < count; i++) {
        const ln_expr_value *value = &m->stack[m->height - count + i];
        if (value->kind != LN_RULE_NUMBER)
            return false;
        numbers[i] = value->number;
    }
    take(m, count);
    return put(m, (ln_expr_value){.kind = LN_RULE_ARRAY, .count = count}, numbers);
}

static bool call(machine *m, const ln_context *ctx, ln_rule_function function)
{
    double buffer[LN_RULE_MAX_ELEMENTS];
    ln_expr_value result;
    size_t count = 0;
    while (ln_rule_function_signature(function)[count] != '>')
        count++;
    if (!ln_function_call(ctx, function, &m->stack[m->height - count], buffer, &result))
        return false;
    take(m, count);
    return put(m, result, result.kind == LN_RULE_ARRAY ? buffer : NULL);
}

static bool run_step(machine *m, const ln_context *ctx, const ln_match *match,
                     const ln_rule_step *step)
{
    ln_expr_value value = {.kind = LN_RULE_NUMBER, .number = step->number};
    switch (step->kind) {
    case LN_RULE_STEP_NUMBER: return put(m, value, NULL);
    case LN_RULE_STEP_STRING:
        return put(m, (ln_expr_value){.kind = LN_RULE_STRING, .string = step->string}, NULL);
    case LN_RULE_STEP_BOOL:
        return put(m, (ln_expr_value){.kind = LN_RULE_BOOL, .boolean = step->number != 0}, NULL);
    case LN_RULE_STEP_VALUE:
        return match && value_of_param(match->values[step->index], &value) && put(m, value, NULL);
    case LN_RULE_STEP_TENSOR:
        value.kind = LN_RULE_NAME;
        value.tensors = match ? ln_match_tensors(match, step->index, &value.count) : NULL;
        return match && put(m, value, NULL);
    case LN_RULE_STEP_ARRAY: return make_array(m, (size_t)step->index);
    case LN_RULE_STEP_CALL: return call(m, ctx, (ln_rule_function)step->index);
    }
    return false;
}

static bool compute(const ln_context *ctx, const ln_match *match, const ln_rule_value *expr,
                    double *buffer, ln_expr_value *out)
{
    machine m;
    m.height = m.pool_count = 0;
    for (size_t i = 0; i < expr->count; i++)
        if (!run_step(&m, ctx, match, &expr->code[i]))
            return false;
    *out = m.stack[0];
    if (out->kind != LN_RULE_ARRAY)
        return out->kind != LN_RULE_NAME;
    if (out->count > LN_RULE_MAX_ELEMENTS)
        return false;
    for (size_t i = 0; i < out->count; i++)
        buffer[i] = out->numbers[i];
    out->numbers = buffer;
    return true;
}

static bool value_of_array(const ln_rule_value *value, double *buffer, ln_expr_value *out)
{
    *out = (ln_expr_value){.kind = LN_RULE_ARRAY, .numbers = buffer, .count = value->count};
    for (size_t i = 0; i < value->count; i++) {
        if (value->elements[i].kind != LN_RULE_NUMBER)
            return false;
        buffer[i] = value->elements[i].number;
    }
    return true;
}

bool ln_match_value(const ln_context *ctx, const ln_match *match, const ln_rule_value *value,
                    double buffer[LN_RULE_MAX_ELEMENTS], ln_expr_value *out)
{
    *out = (ln_expr_value){.kind = value->kind,
                           .number = value->number,
                           .string = value->string,
                           .boolean = value->boolean};
    switch (value->kind) {
    case LN_RULE_ARRAY: return value_of_array(value, buffer, out);
    case LN_RULE_NAME: return match && value_of_param(match->values[value->name], out);
    case LN_RULE_EXPR: return compute(ctx, match, value, buffer, out);
    default: return true;
    }
}

// ---- Conditions ----

static bool condition_holds(const ln_context *ctx, const ln_match *match,
                            const ln_rule_condition *condition)
{
    double buffers[LN_PREDICATE_MAX_ARGS][LN_RULE_MAX_ELEMENTS];
    ln_expr_value args[LN_PREDICATE_MAX_ARGS] = {{0}};
    const char *signature = ln_rule_predicate_signature(condition->predicate);
    for (size_t i = 0; i < condition->arg_count; i++) {
        const ln_rule_value *value = &condition->args[i];
        ln_expr_value *arg = &args[i];
        if (signature[i] == 't' || signature[i] == 'T' || signature[i] == 'L') {
            arg->kind = LN_RULE_NAME;
            arg->tensors = ln_match_tensors(match, value->name, &arg->count);
        } else if (!ln_match_value(ctx, match, value, buffers[i], arg)) {
            return false; // what has no value fulfils nothing, nor the opposite
        }
    }
    return ln_predicate_is_decided(ctx, condition->predicate, args) &&
           ln_predicate_holds(ctx, condition->predicate, args) != condition->is_negated;
}

bool ln_match_conditions_hold(const ln_context *ctx, const ln_match *match)
{
    const ln_rule_condition *conditions = match->rule->conditions;
    for (size_t i = 0; i < match->rule->condition_count; i++) {
        const size_t first = i;
        bool holds = condition_holds(ctx, match, &conditions[i]);
        for (; conditions[i].has_other; i++)
            holds = holds || condition_holds(ctx, match, &conditions[i + 1]);
        if (!holds)
            return LN_MISS(match, LN_WHY_CONDITION + (int)first, NULL, "%s",
                           ln_why_conditions(ctx, match, &conditions[first]));
    }
    return true;
}
