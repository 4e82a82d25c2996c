// SPDX-License-Identifier: Apache-2.0
// Rules as packed records, and back: each struct has a function that writes its members and one
// that reads them, in the same order.

#include "desc/rule_pack.h"

#include "base/pack.h"

// ---- Writing ----

static void pack_values(ln_text *raw, const ln_rule_value *values, size_t count);

static void pack_steps(ln_text *raw, const ln_rule_step *steps, size_t count)
{
    ln_pack_uint(raw, count);
    for (size_t i = 0; i < count; i++) {
        ln_pack_uint(raw, steps[i].kind);
        ln_pack_number(raw, steps[i].index);
        ln_pack_number(raw, steps[i].number);
        ln_pack_string(raw, steps[i].string);
    }
}

static void pack_value(ln_text *raw, const ln_rule_value *value)
{
    ln_pack_uint(raw, value->kind);
    switch (value->kind) {
    case LN_RULE_NUMBER: ln_pack_number(raw, value->number); break;
    case LN_RULE_STRING: ln_pack_string(raw, value->string); break;
    case LN_RULE_BOOL: ln_pack_uint(raw, value->boolean); break;
    case LN_RULE_ARRAY: pack_values(raw, value->elements, value->count); break;
    case LN_RULE_NAME: ln_pack_number(raw, value->name); break;
    case LN_RULE_EXPR: pack_steps(raw, value->code, value->count); break;
    case LN_RULE_ABSENT: break;
    }
}

// Elements of an array are no arrays.
static void pack_values(ln_text *raw, const ln_rule_value *values, size_t count)
{
    ln_pack_uint(raw, count);
    for (size_t i = 0; i < count; i++)
        pack_value(raw, &values[i]);
}

static void pack_args(ln_text *raw, const ln_rule_arg *args, size_t count)
{
    ln_pack_uint(raw, count);
    for (size_t i = 0; i < count; i++) {
        ln_pack_uint(raw, (unsigned)args[i].is_rest | (unsigned)args[i].is_maybe << 1);
        ln_pack_number(raw, args[i].name);
        ln_pack_string(raw, args[i].arg_name);
    }
}

static void pack_op(ln_text *raw, const ln_rule_op *op)
{
    ln_pack_string(raw, op->optype);
    ln_pack_number(raw, op->line);
    ln_pack_uint(raw, (unsigned)op->is_producer | (unsigned)op->is_kept << 1 |
                          (unsigned)op->is_static << 2 | (unsigned)op->is_alias << 3);
    ln_pack_number(raw, op->params_from);
    pack_args(raw, op->outs, op->out_count);
    pack_args(raw, op->ins, op->in_count);
    ln_pack_uint(raw, op->param_count);
    for (size_t i = 0; i < op->param_count; i++) {
        ln_pack_string(raw, op->params[i].arg_name);
        pack_value(raw, &op->params[i].value);
    }
}

static void pack_ops(ln_text *raw, const ln_rule_op *ops, size_t count)
{
    ln_pack_uint(raw, count);
    for (size_t i = 0; i < count; i++)
        pack_op(raw, &ops[i]);
}

static void pack_rule(ln_text *raw, const char *file, const ln_rule *rule)
{
    ln_pack_string(raw, rule->name);
    ln_pack_string(raw, file);
    ln_pack_uint(raw, rule->tag);
    ln_pack_uint(raw, rule->stage);
    ln_pack_number(raw, rule->line);
    ln_pack_uint(raw, (unsigned)rule->is_wide | (unsigned)rule->is_sinking << 1);
    ln_pack_uint(raw, rule->name_count);
    for (size_t i = 0; i < rule->name_count; i++)
        ln_pack_string(raw, rule->names[i]);
    pack_ops(raw, rule->pattern, rule->pattern_count);
    ln_pack_uint(raw, rule->condition_count);
    for (size_t i = 0; i < rule->condition_count; i++) {
        ln_pack_uint(raw, rule->conditions[i].predicate);
        ln_pack_uint(raw, rule->conditions[i].is_negated);
        pack_values(raw, rule->conditions[i].args, rule->conditions[i].arg_count);
    }
    pack_ops(raw, rule->result, rule->result_count);
}

void ln_rule_pack(const ln_rule_set *const *sets, size_t set_count, ln_text *raw)
{
    size_t count = 0;
    for (size_t i = 0; i < set_count; i++)
        count += sets[i]->rule_count;
    ln_pack_uint(raw, count);
    for (size_t i = 0; i < set_count; i++)
        for (size_t j = 0; j < sets[i]->rule_count; j++)
            pack_rule(raw, sets[i]->file, &sets[i]->rules[j]);
}

// ---- Reading ----

static const ln_rule_value *unpack_values(ln_unpacker *u, size_t *out_count);

static const ln_rule_step *unpack_steps(ln_unpacker *u, size_t *out_count)
{
    ln_rule_step *steps = ln_unpack_array(u, sizeof *steps, out_count);
    for (size_t i = 0; i < *out_count; i++) {
        steps[i].kind = (ln_rule_step_kind)ln_unpack_uint(u);
        steps[i].index = (int)ln_unpack_number(u);
        steps[i].number = ln_unpack_number(u);
        steps[i].string = ln_unpack_string(u);
    }
    return steps;
}

static void unpack_value(ln_unpacker *u, ln_rule_value *value)
{
    value->kind = (ln_rule_value_kind)ln_unpack_uint(u);
    switch (value->kind) {
    case LN_RULE_NUMBER: value->number = ln_unpack_number(u); break;
    case LN_RULE_STRING: value->string = ln_unpack_string(u); break;
    case LN_RULE_BOOL: value->boolean = ln_unpack_uint(u) != 0; break;
    case LN_RULE_ARRAY: value->elements = unpack_values(u, &value->count); break;
    case LN_RULE_NAME: value->name = (int)ln_unpack_number(u); break;
    case LN_RULE_EXPR: value->code = unpack_steps(u, &value->count); break;
    case LN_RULE_ABSENT: break;
    }
}

static const ln_rule_value *unpack_values(ln_unpacker *u, size_t *out_count)
{
    ln_rule_value *values = ln_unpack_array(u, sizeof *values, out_count);
    for (size_t i = 0; i < *out_count; i++)
        unpack_value(u, &values[i]);
    return values;
}

static const ln_rule_arg *unpack_args(ln_unpacker *u, size_t *out_count)
{
    ln_rule_arg *args = ln_unpack_array(u, sizeof *args, out_count);
    for (size_t i = 0; i < *out_count; i++) {
        unsigned flags = (unsigned)ln_unpack_uint(u);
        args[i].is_rest = flags & 1;
        args[i].is_maybe = flags >> 1 & 1;
        args[i].name = (int)ln_unpack_number(u);
        args[i].arg_name = ln_unpack_string(u);
    }
    return args;
}

static const ln_rule_param *unpack_params(ln_unpacker *u, size_t *out_count)
{
    ln_rule_param *params = ln_unpack_array(u, sizeof *params, out_count);
    for (size_t i = 0; i < *out_count; i++) {
        params[i].arg_name = ln_unpack_string(u);
        unpack_value(u, &params[i].value);
    }
    return params;
}

static void unpack_op(ln_unpacker *u, ln_rule_op *op)
{
    op->optype = ln_unpack_string(u);
    op->line = (int)ln_unpack_number(u);
    unsigned flags = (unsigned)ln_unpack_uint(u);
    op->is_producer = flags & 1;
    op->is_kept = flags >> 1 & 1;
    op->is_static = flags >> 2 & 1;
    op->is_alias = flags >> 3 & 1;
    op->params_from = (int)ln_unpack_number(u);
    op->outs = unpack_args(u, &op->out_count);
    op->ins = unpack_args(u, &op->in_count);
    op->params = unpack_params(u, &op->param_count);
}

static const ln_rule_op *unpack_ops(ln_unpacker *u, size_t *out_count)
{
    ln_rule_op *ops = ln_unpack_array(u, sizeof *ops, out_count);
    for (size_t i = 0; i < *out_count; i++)
        unpack_op(u, &ops[i]);
    return ops;
}

static const char *const *unpack_names(ln_unpacker *u, size_t *out_count)
{
    const char **names = ln_unpack_array(u, sizeof *names, out_count);
    for (size_t i = 0; i < *out_count; i++)
        names[i] = ln_unpack_string(u);
    return (const char *const *)names;
}

static const ln_rule_condition *unpack_conditions(ln_unpacker *u, size_t *out_count)
{
    ln_rule_condition *conditions = ln_unpack_array(u, sizeof *conditions, out_count);
    for (size_t i = 0; i < *out_count; i++) {
        conditions[i].predicate = (ln_rule_predicate)ln_unpack_uint(u);
        conditions[i].is_negated = ln_unpack_uint(u) != 0;
        conditions[i].args = unpack_values(u, &conditions[i].arg_count);
    }
    return conditions;
}

static void unpack_rule(ln_unpacker *u, ln_rule *rule)
{
    rule->name = ln_unpack_string(u);
    rule->file = ln_unpack_string(u);
    rule->tag = (ln_rule_tag)ln_unpack_uint(u);
    rule->stage = (ln_rule_stage)ln_unpack_uint(u);
    rule->line = (int)ln_unpack_number(u);
    unsigned flags = (unsigned)ln_unpack_uint(u);
    rule->is_wide = flags & 1;
    rule->is_sinking = flags >> 1 & 1;
    rule->names = unpack_names(u, &rule->name_count);
    rule->pattern = unpack_ops(u, &rule->pattern_count);
    rule->conditions = unpack_conditions(u, &rule->condition_count);
    rule->result = unpack_ops(u, &rule->result_count);
}

static const ln_rule *unpack_rules(ln_unpacker *u, size_t *out_count)
{
    ln_rule *rules = ln_unpack_array(u, sizeof *rules, out_count);
    for (size_t i = 0; i < *out_count; i++)
        unpack_rule(u, &rules[i]);
    return rules;
}

ln_status ln_rule_set_unpack(const ln_rule_set *set, ln_rule_set **out_set)
{
    *out_set = NULL;
    ln_document *arena;
    LN_TRY(ln_document_create(set->file, &arena));
    ln_unpacker u;
    ln_rule_set *made = NULL;
    if (ln_unpack_begin(set->packed, arena, &u) == LN_OK)
        made = ln_unpack_alloc(&u, sizeof *made);
    if (made) {
        made->file = set->file;
        made->arena = arena;
        made->rules = unpack_rules(&u, &made->rule_count);
    }
    if (u.status != LN_OK) {
        ln_document_destroy(arena);
        return u.status;
    }
    *out_set = made;
    return LN_OK;
}
