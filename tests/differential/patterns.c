// SPDX-License-Identifier: Apache-2.0
// Patterns of rules as models: producers first, so that each operator's operands are there.

#include "tests/differential/patterns.h"

#include <stdlib.h>
#include <string.h>

#include "desc/rule.h"
#include "tests/differential/draw.h"

extern const ln_rule_set ln_rules_core, ln_rules_general;

#define SETS 2
static ln_rule_set *sets[SETS];

bool patterns_open(void)
{
    const ln_rule_set *own[SETS] = {&ln_rules_general, &ln_rules_core};
    for (int i = 0; i < SETS; i++)
        if (ln_rule_set_parse_texts(own[i]->file, own[i]->texts, &sets[i]) != LN_OK)
            return false;
    return true;
}

void patterns_close(void)
{
    for (int i = 0; i < SETS; i++)
        ln_rule_set_destroy(sets[i]);
}

size_t pattern_count(void)
{
    size_t count = 0;
    for (int i = 0; i < SETS; i++)
        count += sets[i]->rule_count;
    return count;
}

static const ln_rule *rule_at(size_t index)
{
    int i = 0;
    for (; index >= sets[i]->rule_count; i++)
        index -= sets[i]->rule_count;
    return &sets[i]->rules[index];
}

size_t pattern_turn(uint64_t number)
{
    const size_t general = sets[0]->rule_count, others = pattern_count() - general;
    return number % 4 ? (size_t)(number - number / 4 - 1) % general
                      : general + (size_t)(number / 4) % others;
}

const char *pattern_name(size_t index)
{
    return rule_at(index)->name;
}

const char *pattern_root(size_t index)
{
    return rule_at(index)->pattern[0].optype;
}

// Numbers that conditions compare a value with.
typedef struct bounds {
    double numbers[4];
    int count;
} bounds;

// What the names of a rule stand for so far.
typedef struct binding {
    const ln_rule *rule;
    test_random *random;
    int tensors[LN_RULE_MAX_NAMES];      // -1: not yet; ABSENT
    char values[LN_RULE_MAX_NAMES][200]; // "": not yet
    leaf_hint hints[LN_RULE_MAX_NAMES];
    bounds near[LN_RULE_MAX_NAMES];
    bool is_index[LN_RULE_MAX_NAMES];
    int ratios[LN_RULE_MAX_NAMES]; // a value that a condition multiplies the fill with; -1: none
    // Of the statement that is being made: the names of its operands, by argument.
    char args[LN_RULE_MAX_ARGS][MODEL_NAME];
    int names[LN_RULE_MAX_ARGS];
    int arg_count;
} binding;

// ---- What conditions say of leaves ----

// The name that an argument of a condition is, also as the only name in an expression.
static int name_in(const ln_rule_value *v)
{
    if (v->kind == LN_RULE_NAME)
        return v->name;
    if (v->kind != LN_RULE_EXPR)
        return -1;
    for (size_t i = 0; i < v->count; i++)
        if (v->code[i].kind == LN_RULE_STEP_TENSOR || v->code[i].kind == LN_RULE_STEP_VALUE)
            return v->code[i].index;
    return -1;
}

static bool calls(const ln_rule_value *v, ln_rule_function function)
{
    for (size_t i = 0; v->kind == LN_RULE_EXPR && i < v->count; i++)
        if (v->code[i].kind == LN_RULE_STEP_CALL && (ln_rule_function)v->code[i].index == function)
            return true;
    return false;
}

static bool number_in(const ln_rule_value *v, double *out)
{
    if (v->kind == LN_RULE_NUMBER) {
        *out = v->number;
        return true;
    }
    if (v->kind == LN_RULE_EXPR && v->count == 1 && v->code[0].kind == LN_RULE_STEP_NUMBER) {
        *out = v->code[0].number;
        return true;
    }
    return false;
}

// The value whose name is all of an argument; -1: it is something else.
static int value_in(const ln_rule_value *v)
{
    if (v->kind == LN_RULE_NAME)
        return v->name;
    return v->kind == LN_RULE_EXPR && v->count == 1 && v->code[0].kind == LN_RULE_STEP_VALUE
               ? v->code[0].index
               : -1;
}

// `a <= 1`: faults are on the one side, numbers that fire on the other.
static void read_bound(binding *b, const ln_rule_condition *c)
{
    for (int side = 0; c->arg_count == 2 && side < 2; side++) {
        int name = value_in(&c->args[side]);
        bounds *near = name >= 0 ? &b->near[name] : NULL;
        double number;
        if (near && near->count < 4 && number_in(&c->args[1 - side], &number))
            near->numbers[near->count++] = number;
    }
}

// `fill(k) * h > 0.999`: one is the other's inverse, or equal to it.
static void read_ratio(binding *b, const ln_rule_value *v)
{
    int tensor = -1, value = -1;
    for (size_t i = 0; v->kind == LN_RULE_EXPR && i < v->count; i++) {
        if (v->code[i].kind == LN_RULE_STEP_TENSOR)
            tensor = v->code[i].index;
        if (v->code[i].kind == LN_RULE_STEP_VALUE && tensor >= 0)
            value = v->code[i].index;
    }
    if (tensor >= 0 && value >= 0 && calls(v, LN_RULE_FUNCTION_fill))
        b->ratios[tensor] = value;
}

static void read_condition(binding *b, const ln_rule_condition *c)
{
    int name = c->arg_count ? name_in(&c->args[0]) : -1;
    double number;
    if (name < 0 && c->arg_count == 2)
        name = name_in(&c->args[1]);
    if (name < 0)
        return;
    leaf_hint *h = &b->hints[name];
    switch (c->predicate) {
    case LN_RULE_PREDICATE_static:
    case LN_RULE_PREDICATE_known:
        h->is_static = !c->is_negated;
        h->is_input = c->is_negated;
        break;
    case LN_RULE_PREDICATE_single: h->is_single = !c->is_negated; break;
    case LN_RULE_PREDICATE_rank:
        if (!c->is_negated && number_in(&c->args[1], &number))
            h->rank = (int)number;
        break;
    case LN_RULE_PREDICATE_dtype:
        if (!c->is_negated && c->args[1].string)
            h->dtype = tl_dtype_from_str(c->args[1].string);
        break;
    case LN_RULE_PREDICATE_filled:
        if (!c->is_negated && number_in(&c->args[1], &number)) {
            h->has_fill = true;
            h->fill = number;
        }
        break;
    case LN_RULE_PREDICATE_less: // fill(r) > 0.70710, fill(r) < 0.70712
    case LN_RULE_PREDICATE_equal:
        if (calls(&c->args[0], LN_RULE_FUNCTION_fill) && number_in(&c->args[1], &number)) {
            h->fill = h->has_fill ? (h->fill + number) / 2 : number;
            h->has_fill = true;
        } else if (calls(&c->args[1], LN_RULE_FUNCTION_fill) && number_in(&c->args[0], &number)) {
            h->fill = h->has_fill ? (h->fill + number) / 2 : number;
            h->has_fill = true;
        } else if (calls(&c->args[0], LN_RULE_FUNCTION_rank) && c->args[0].count == 2 &&
                   number_in(&c->args[1], &number) && c->predicate == LN_RULE_PREDICATE_equal)
            h->rank = (int)number;
        else if (calls(&c->args[0], LN_RULE_FUNCTION_size) && c->args[0].count == 2 &&
                 number_in(&c->args[1], &number) && number == 1)
            h->is_single = true;
        else if (calls(&c->args[0], LN_RULE_FUNCTION_fill) ||
                 calls(&c->args[1], LN_RULE_FUNCTION_fill))
            h->is_static = true;
        break;
    default: break;
    }
}

static void read_conditions(binding *b)
{
    for (int i = 0; i < LN_RULE_MAX_NAMES; i++) {
        b->hints[i] = (leaf_hint){.dtype = TL_DTYPE_INVALID, .rank = -1};
        b->ratios[i] = -1;
    }
    for (size_t i = 0; i < b->rule->condition_count; i++) {
        read_bound(b, &b->rule->conditions[i]);
        for (size_t k = 0; k < b->rule->conditions[i].arg_count; k++) {
            const ln_rule_value *v = &b->rule->conditions[i].args[k];
            read_ratio(b, v);
            if (calls(v, LN_RULE_FUNCTION_index) && v->code[0].kind == LN_RULE_STEP_VALUE)
                b->is_index[v->code[0].index] = true;
        }
    }
    for (size_t i = 0; i < b->rule->condition_count; i++)
        if (!chance(b->random, 4)) // nearly
            read_condition(b, &b->rule->conditions[i]);
    // What must be filled with a number and how large it is are often said by expressions:
    // constants.
    for (size_t i = 0; i < b->rule->condition_count; i++)
        for (size_t k = 0; k < b->rule->conditions[i].arg_count; k++) {
            const ln_rule_value *v = &b->rule->conditions[i].args[k];
            for (size_t j = 0; v->kind == LN_RULE_EXPR && j + 1 < v->count; j++)
                if (v->code[j].kind == LN_RULE_STEP_TENSOR &&
                    v->code[j + 1].kind == LN_RULE_STEP_CALL &&
                    (v->code[j + 1].index == LN_RULE_FUNCTION_fill ||
                     v->code[j + 1].index == LN_RULE_FUNCTION_values) &&
                    v->code[j].index >= 0)
                    b->hints[v->code[j].index].is_static = true;
        }
}

static const leaf_hint *hint_of(void *user, const char *arg_name)
{
    binding *b = user;
    for (int i = 0; i < b->arg_count; i++)
        if (strcmp(b->args[i], arg_name) == 0 && b->names[i] >= 0)
            return &b->hints[b->names[i]];
    return NULL;
}

// ---- Values ----

static void print_value(const ln_rule_value *v, char *to, size_t len)
{
    size_t used;
    switch (v->kind) {
    case LN_RULE_NUMBER: snprintf(to, len, "%.9g", v->number); break;
    case LN_RULE_STRING: snprintf(to, len, "%s", v->string); break;
    case LN_RULE_BOOL: snprintf(to, len, "%s", v->boolean ? "true" : "false"); break;
    case LN_RULE_ARRAY:
        used = (size_t)snprintf(to, len, "[");
        for (size_t i = 0; i < v->count && used + 2 < len; i++) {
            if (i)
                used += (size_t)snprintf(to + used, len - used, ", ");
            print_value(&v->elements[i], to + used, len - used);
            used += strlen(to + used);
        }
        if (used + 2 < len)
            snprintf(to + used, len - used, "]");
        break;
    default: to[0] = '\0';
    }
}

// ---- Statements ----

static bool is_made_by(const ln_rule *rule, const bool *is_done, int name)
{
    for (size_t s = 0; s < rule->pattern_count; s++)
        for (size_t o = 0; !is_done[s] && o < rule->pattern[s].out_count; o++)
            if (rule->pattern[s].outs[o].name == name)
                return true;
    return false;
}

static bool is_ready(const binding *b, const bool *is_done, const ln_rule_op *op)
{
    for (size_t i = 0; i < op->in_count; i++)
        if (op->ins[i].name >= 0 && is_made_by(b->rule, is_done, op->ins[i].name))
            return false;
    return true;
}

// Operand `at` of a statement as an argument of the operator. A variadic argument takes all.
static void add_in(binding *b, preset *p, const ln_rule_arg *arg, const char *arg_name, int tensor)
{
    if (p->in_count == MODEL_ARGS)
        return;
    snprintf(p->ins[p->in_count].arg_name, MODEL_NAME, "%s", arg_name);
    p->ins[p->in_count++].tensor = tensor;
    snprintf(b->args[b->arg_count], MODEL_NAME, "%s", arg_name);
    b->names[b->arg_count++] = arg->name;
}

static void place_operands(binding *b, const ln_rule_op *op, const ln_op_info *info, preset *p)
{
    size_t position = 0;
    b->arg_count = p->in_count = 0;
    for (const ln_arg_info *arg = info->ins; arg && arg->arg_name; arg++) {
        const ln_rule_arg *given = NULL;
        for (size_t i = 0; i < op->in_count; i++)
            if (op->ins[i].arg_name && strcmp(op->ins[i].arg_name, arg->arg_name) == 0)
                given = &op->ins[i];
        if (arg->flags & LN_ARG_VARIADIC) {
            int count = 0;
            for (; position < op->in_count && !op->ins[position].arg_name; position++) {
                const ln_rule_arg *in = &op->ins[position];
                int copies = in->is_rest ? (int)test_random_below(b->random, 3) : 1;
                for (int i = 0; i < copies; i++) {
                    char name[MODEL_NAME];
                    snprintf(name, sizeof name, "%.50s%d", arg->arg_name, ++count);
                    int tensor = in->name >= 0 && !(in->is_rest && i) ? b->tensors[in->name] : -1;
                    add_in(b, p, in, name, tensor);
                }
            }
            continue;
        }
        if (!given && position < op->in_count && !op->ins[position].arg_name)
            given = &op->ins[position++];
        if (!given) {
            static const ln_rule_arg none = {.name = -1};
            add_in(b, p, &none, arg->arg_name, chance(b->random, 97) ? ABSENT : -1);
            continue;
        }
        int tensor = given->name >= 0 ? b->tensors[given->name] : -1;
        if (given->is_maybe && tensor == -1 && chance(b->random, 45))
            tensor = ABSENT;
        add_in(b, p, given, arg->arg_name, tensor);
    }
}

static bool is_rule_value_known(const binding *b, const ln_rule_value *v, char *to, size_t len)
{
    if (v->kind == LN_RULE_NAME)
        snprintf(to, len, "%s", b->values[v->name]);
    else
        print_value(v, to, len);
    return to[0];
}

// At a number that conditions compare the value with, or on either side of it.
static bool draw_near(const binding *b, const ln_rule_value *v, char *to, size_t len)
{
    static const double steps[] = {0, 0.5, -0.5, 1, -1, 2, 6, -3};
    const bounds *near = v->kind == LN_RULE_NAME ? &b->near[v->name] : NULL;
    if (!near || near->count == 0 || !chance(b->random, 60))
        return false;
    const double number = near->numbers[test_random_below(b->random, (size_t)near->count)];
    snprintf(to, len, "%.9g", number + steps[test_random_below(b->random, 8)]);
    return true;
}

// Of axes that a condition takes for one index, counted from either end: mostly the last.
static bool draw_last_axis(const binding *b, const ln_rule_param *param, char *to, size_t len)
{
    const ln_rule_value *v = &param->value;
    if (v->kind != LN_RULE_NAME || !b->is_index[v->name] || !chance(b->random, 70))
        return false;
    snprintf(to, len, strcmp(param->arg_name, "axes") == 0 ? "[-1]" : "-1");
    return true;
}

// Fills that a value which is known by now decides, mostly.
static void fill_by_ratio(binding *b)
{
    for (int i = 0; i < LN_RULE_MAX_NAMES; i++) {
        double by = b->ratios[i] >= 0 ? atof(b->values[b->ratios[i]]) : 0;
        if (by == 0 || !chance(b->random, 80))
            continue;
        b->hints[i].has_fill = b->hints[i].is_static = b->hints[i].is_single = true;
        b->hints[i].fill = chance(b->random, 50) ? 1 / by : by;
    }
}

static bool make_statement(binding *b, model *m, const sizes *s, const ln_rule_op *op)
{
    const ln_op_info *info = operator_info(op->optype);
    if (!info)
        return false;
    preset p = {.optype = op->optype,
                .hint = hint_of,
                .user = b,
                .has_plain_params = chance(b->random, 40)};
    place_operands(b, op, info, &p);
    fill_by_ratio(b);
    for (size_t i = 0; i < op->param_count; i++) {
        const ln_rule_param *param = &op->params[i];
        const bool is_near = chance(b->random, 8);
        if (is_near && chance(b->random, 40))
            continue;
        char value[200];
        bool is_known = !is_near && (is_rule_value_known(b, &param->value, value, sizeof value) ||
                                     draw_near(b, &param->value, value, sizeof value) ||
                                     draw_last_axis(b, param, value, sizeof value));
        // A value that the rule gives a name matters to it: mostly not the default.
        if (!is_known && (param->value.kind == LN_RULE_ABSENT || !chance(b->random, 60)))
            continue;
        p.is_drawn = p.is_drawn || !is_known;
        p.params[p.param_count].arg_name = param->arg_name;
        snprintf(p.params[p.param_count].value, sizeof value, "%s", is_known ? value : "");
        p.param_count++;
    }
    const ln_arg_info *out = info->outs;
    for (size_t i = 0; i < op->out_count && out && out->arg_name; i++, out++)
        p.outs[p.out_count++] = op->outs[i].arg_name ? op->outs[i].arg_name : out->arg_name;
    int at;
    if (!operator_add(m, b->random, s, &p, &at))
        return false;
    const model_op *made = &m->ops[at];
    for (int i = 0; i < b->arg_count; i++)
        if (b->names[i] >= 0) {
            int tensor = model_op_in(made, b->args[i]);
            b->tensors[b->names[i]] = tensor >= 0 ? tensor : ABSENT;
        }
    for (size_t i = 0; i < op->param_count; i++) {
        const ln_rule_value *v = &op->params[i].value;
        const char *value = model_op_param(m, made, op->params[i].arg_name);
        if (v->kind == LN_RULE_NAME && value && !b->values[v->name][0])
            snprintf(b->values[v->name], sizeof b->values[0], "%s", value);
    }
    for (size_t i = 0; i < op->out_count && (int)i < made->out_count; i++)
        if (op->outs[i].name >= 0)
            b->tensors[op->outs[i].name] = made->outs[i].tensor;
    return true;
}

bool pattern_make(model *m, test_random *random, const sizes *s, size_t index)
{
    const ln_rule *rule = rule_at(index);
    static binding b;
    bool is_done[LN_RULE_MAX_STATEMENTS] = {false};
    b = (binding){.rule = rule, .random = random};
    for (int i = 0; i < LN_RULE_MAX_NAMES; i++)
        b.tensors[i] = -1;
    read_conditions(&b);
    for (size_t left = rule->pattern_count; left > 0; left--) {
        size_t next = rule->pattern_count;
        for (size_t i = rule->pattern_count; i-- > 0;)
            if (!is_done[i] && is_ready(&b, is_done, &rule->pattern[i]))
                next = i;
        if (next == rule->pattern_count || !make_statement(&b, m, s, &rule->pattern[next]))
            return false;
        is_done[next] = true;
    }
    snprintf(m->origin, sizeof m->origin, "rule %s", rule->name);
    return true;
}
