// SPDX-License-Identifier: Apache-2.0
// Spellings of tags, predicates and functions; weights.

#include "desc/rule.h"

#include <string.h>

#include "desc/rule_lex.h"
#include "desc/rule_weight.h"

static const char *const tag_names[] = {
#define TAG_NAME(name, meaning) #name,
    LN_RULE_TAG_LIST(TAG_NAME)
#undef TAG_NAME
};

typedef struct named {
    const char *name;
    const char *signature;
} named;

static const named predicates[] = {
#define P(name, signature, meaning) {#name, signature},
#include "desc/rule_predicates.inc"
#undef P
};

static const named functions[] = {
#define F(name, signature, sign, meaning) {#name, signature},
#include "desc/rule_functions.inc"
#undef F
};

static const struct {
    const char *optype;
    int weight;
    bool sinks;
    int steps;
} weights[] = {
#define W(optype, weight, sinks, steps) {#optype, weight, sinks, steps},
#define N(optype, weight, sinks, steps) {#optype, weight, sinks, steps},
#include "desc/core_types.inc"
#undef N
#undef W
};

static bool sets_param(const ln_rule_op *statement, const char *arg_name)
{
    for (size_t i = 0; i < statement->param_count; i++)
        if (ln_rule_same_word(statement->params[i].arg_name, arg_name))
            return true;
    return false;
}

static bool is_waived_of_type(const char *optype, const char *arg_name)
{
    static const struct {
        const char *optype, *arg_name;
    } waivers[] = {
#define V(optype, arg_name, why) {#optype, #arg_name},
#include "desc/rule_waivers.inc"
#undef V
    };
    for (size_t i = 0; i < sizeof waivers / sizeof waivers[0]; i++)
        if (ln_rule_same_word(waivers[i].arg_name, arg_name) &&
            (ln_rule_same_word(waivers[i].optype, "any") ||
             ln_rule_same_word(waivers[i].optype, optype)))
            return true;
    return false;
}

bool ln_rule_names_param(const ln_rule_op *statement, const char *arg_name)
{
    if (is_waived_of_type(statement->optype, arg_name))
        return true;
    for (size_t i = 0; i < statement->waiver_count; i++)
        if (ln_rule_same_word(statement->waivers[i].arg_name, arg_name))
            return true;
    return sets_param(statement, arg_name);
}

bool ln_rule_copies_param(const ln_rule_op *result, size_t index, const char *arg_name)
{
    return result->params_from == (int)index && !sets_param(result, arg_name);
}

const char *ln_rule_tag_name(ln_rule_tag tag)
{
    return (unsigned)tag < LN_RULE_TAG_COUNT ? tag_names[tag] : "unknown";
}

const char *ln_rule_predicate_name(ln_rule_predicate predicate)
{
    return (unsigned)predicate < LN_RULE_PREDICATE_COUNT ? predicates[predicate].name : "unknown";
}

const char *ln_rule_predicate_signature(ln_rule_predicate predicate)
{
    return (unsigned)predicate < LN_RULE_PREDICATE_COUNT ? predicates[predicate].signature : "";
}

const char *ln_rule_function_name(ln_rule_function function)
{
    return (unsigned)function < LN_RULE_FUNCTION_COUNT ? functions[function].name : "unknown";
}

const char *ln_rule_function_signature(ln_rule_function function)
{
    return (unsigned)function < LN_RULE_FUNCTION_COUNT ? functions[function].signature : ">n";
}

int ln_rule_weight(const char *optype)
{
    for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++)
        if (ln_rule_same_word(weights[i].optype, optype))
            return weights[i].weight;
    // Types of ONNX begin with a capital letter. The core's take their place, never the other way.
    return optype[0] >= 'A' && optype[0] <= 'Z' ? 4 : 3;
}

int ln_rule_weight_of(const ln_rule_op *statement)
{
    return statement->each >= 0 ? 1 << 20 : ln_rule_weight(statement->optype);
}

int ln_rule_level(const char *optype)
{
#define D(constant, name, prefix, newest) prefix,
    static const char *const domains[] = {
#include "desc/onnx_domains.inc"
    };
#undef D
    static const struct {
        const char *optype;
        int level;
    } levels[] = {{"create", 0}, {"arange", 0}, {"forward", 1}, {"act", 2}};
    if (optype[0] >= 'A' && optype[0] <= 'Z')
        return 0;
    for (size_t i = 1; i < sizeof domains / sizeof domains[0]; i++)
        if (strncmp(optype, domains[i], strlen(domains[i])) == 0)
            return 0;
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
        if (ln_rule_same_word(levels[i].optype, optype))
            return levels[i].level;
    for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++)
        if (ln_rule_same_word(weights[i].optype, optype))
            return LN_RULE_LEVEL_COUNT - 2;
    return LN_RULE_LEVEL_COUNT - 1;
}

bool ln_rule_sinks(const char *optype)
{
    for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++)
        if (ln_rule_same_word(weights[i].optype, optype))
            return weights[i].sinks;
    return false;
}

int ln_rule_steps(const char *optype)
{
    for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++)
        if (ln_rule_same_word(weights[i].optype, optype))
            return weights[i].steps;
    return 1;
}

bool ln_rule_is_core(const char *optype)
{
    static const char *const types[] = {
#define W(optype, weight, sinks, steps) #optype,
#define N(optype, weight, sinks, steps)
#include "desc/core_types.inc"
#undef N
#undef W
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (ln_rule_same_word(types[i], optype))
            return true;
    return false;
}

// ---- Sizes ----

static bool is_of_sizes(ln_rule_function function)
{
    switch (function) {
    case LN_RULE_FUNCTION_dims:
    case LN_RULE_FUNCTION_dim:
    case LN_RULE_FUNCTION_size:
    case LN_RULE_FUNCTION_total:
    case LN_RULE_FUNCTION_offset:
    case LN_RULE_FUNCTION_fill:
    case LN_RULE_FUNCTION_values:
    case LN_RULE_FUNCTION_values_or: return true;
    default: return false;
    }
}

// What it gives is the same for many numbers, and another for the next.
static bool has_steps(ln_rule_function function)
{
    switch (function) {
    case LN_RULE_FUNCTION_index:
    case LN_RULE_FUNCTION_floor:
    case LN_RULE_FUNCTION_min:
    case LN_RULE_FUNCTION_max:
    case LN_RULE_FUNCTION_unless:
    case LN_RULE_FUNCTION_otherwise:
    case LN_RULE_FUNCTION_pads:
    case LN_RULE_FUNCTION_autopad: return true;
    default: return false;
    }
}

static bool value_calls(const ln_rule_value *value, bool (*is_it)(ln_rule_function))
{
    for (size_t i = 0; i < value->count && value->kind == LN_RULE_EXPR; i++)
        if (value->code[i].kind == LN_RULE_STEP_CALL &&
            is_it((ln_rule_function)value->code[i].index))
            return true;
    return false;
}

static bool condition_asks_sizes(const ln_rule_condition *condition)
{
    for (size_t i = 0; i < condition->arg_count; i++)
        if (value_calls(&condition->args[i], is_of_sizes))
            return true;
    return false;
}

static bool rule_asks_sizes(const ln_rule *rule)
{
    for (size_t i = 0; i < rule->condition_count; i++)
        if (condition_asks_sizes(&rule->conditions[i]))
            return true;
    for (size_t i = 0; i < rule->result_count; i++)
        for (size_t k = 0; k < rule->result[i].param_count; k++)
            if (value_calls(&rule->result[i].params[k].value, is_of_sizes) &&
                value_calls(&rule->result[i].params[k].value, has_steps))
                return true;
    return false;
}

bool ln_rule_set_asks_sizes(const ln_rule_set *set)
{
    for (size_t i = 0; i < set->rule_count; i++)
        if (rule_asks_sizes(&set->rules[i]))
            return true;
    for (size_t i = 0; i < set->lower_count; i++)
        for (size_t k = 0; k < set->lowers[i].condition_count; k++)
            if (condition_asks_sizes(&set->lowers[i].conditions[k]))
                return true;
    return false;
}
