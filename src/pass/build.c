// SPDX-License-Identifier: Apache-2.0
// Operators from the result of a rule. Nothing here touches the context: a failure frees what was
// made, and the model is as before.
//
// Names are found by looking them up, not by counting through all operators:
//     a new tensor    <first output of the root>_<name in the rule>
//     its operator    <name of the root>_<name in the rule>
// and a number after where that is taken. An operator that makes what a matched one made takes its
// name.

#include "pass/build.h"

#include <stdio.h>

#include <lightnet/allocator.h>
#include <lightnet/arch.h>
#include <lightnet/op_info.h>
#include <lightnet/util.h>

#include "pass/op_args.h"

#define MAX_PREFIX_BYTES 300 // of a name that others are made from, so that those fit

// Names of new tensors; those of the pattern are in the match.
typedef struct builder {
    const ln_context *ctx;
    ln_match *match;
    char *new_tensors[LN_RULE_MAX_NAMES];      // owned
    bool is_name_used[LN_RULE_MAX_STATEMENTS]; // a new operator has the matched one's name
} builder;

// The tensors that a name stands for, in the pattern or as a new one.
static const char *const *tensors_of(const builder *b, int name, size_t *out_count)
{
    const char *const *tensors = ln_match_tensors(b->match, name, out_count);
    if (*out_count > 0 || b->match->lists[name].is_bound || !b->new_tensors[name])
        return tensors;
    *out_count = 1;
    return (const char *const *)&b->new_tensors[name];
}

// ---- Names ----

static bool is_tensor_taken(const builder *b, const char *tensor)
{
    for (size_t i = 0; i < b->match->rule->name_count; i++)
        if (b->new_tensors[i] && ln_streq(b->new_tensors[i], tensor))
            return true;
    return ln_tensor_table_find(b->ctx->tensor_table, tensor) != NULL;
}

// Numbers are tried from 2 on; more than a handful are never taken, as the prefix is unique.
static ln_status name_tensor(builder *b, int name)
{
    size_t count;
    const char *const *made =
        ln_match_tensors(b->match, b->match->rule->pattern[0].outs[0].name, &count);
    const char *prefix = count > 0 ? made[0] : b->match->ops[0]->op_arg->name;
    const char *suffix = b->match->rule->names[name];
    char text[LN_MAX_NAME_LEN];
    snprintf(text, sizeof text, "%.*s_%s", MAX_PREFIX_BYTES, prefix, suffix);
    for (unsigned i = 2; is_tensor_taken(b, text); i++)
        snprintf(text, sizeof text, "%.*s_%s%u", MAX_PREFIX_BYTES, prefix, suffix, i);
    b->new_tensors[name] = ln_strdup(text);
    return b->new_tensors[name] ? LN_OK : LN_NO_MEMORY;
}

static bool is_op_taken(const builder *b, const ln_list *new_ops, const char *name)
{
    return ln_op_list_find_by_name(new_ops, name) || ln_op_table_find(b->ctx->op_table, name);
}

// The matched operator whose first outputs, or others, a statement of the result makes; -1.
static int find_predecessor(const builder *b, const ln_rule_op *statement)
{
    const ln_rule *rule = b->match->rule;
    for (size_t i = 0; i < statement->out_count; i++)
        for (size_t j = 0; j < rule->pattern_count; j++)
            for (size_t k = 0; k < rule->pattern[j].out_count; k++)
                if (rule->pattern[j].outs[k].name == statement->outs[i].name && !b->is_name_used[j])
                    return (int)j;
    return -1;
}

static void name_op(builder *b, const ln_rule_op *statement, const ln_list *new_ops,
                    char name[LN_MAX_NAME_LEN])
{
    int predecessor = find_predecessor(b, statement);
    if (predecessor >= 0) {
        snprintf(name, LN_MAX_NAME_LEN, "%s", b->match->ops[predecessor]->op_arg->name);
        b->is_name_used[predecessor] = true;
        return;
    }
    const char *root_name = b->match->ops[0]->op_arg->name;
    int made = statement->each >= 0 ? statement->each : statement->outs[0].name;
    const char *suffix = b->match->rule->names[made];
    snprintf(name, LN_MAX_NAME_LEN, "%.*s_%s", MAX_PREFIX_BYTES, root_name, suffix);
    for (unsigned i = 2; is_op_taken(b, new_ops, name); i++)
        snprintf(name, LN_MAX_NAME_LEN, "%.*s_%s%u", MAX_PREFIX_BYTES, root_name, suffix, i);
}

// ---- Parameters ----

static ln_status set_array(ln_param_entry *entry, const ln_rule_value *value)
{
    double numbers[LN_RULE_MAX_ELEMENTS];
    const char *strings[LN_RULE_MAX_ELEMENTS];
    ln_bool bools[LN_RULE_MAX_ELEMENTS];
    for (size_t i = 0; i < value->count; i++) {
        numbers[i] = value->elements[i].number;
        strings[i] = value->elements[i].string;
        bools[i] = value->elements[i].boolean;
    }
    if (entry->type == LN_PARAM_ARRAY_NUMBER)
        return ln_param_set_satu_array_number(entry, (int)value->count, numbers);
    if (entry->type == LN_PARAM_ARRAY_STRING)
        return ln_param_set_array_string(entry, (int)value->count, strings);
    return ln_param_set_array_bool(entry, (int)value->count, bools);
}

static ln_status set_literal(ln_param_entry *entry, const ln_rule_value *value)
{
    switch (value->kind) {
    case LN_RULE_NUMBER: return ln_param_set_satu_number(entry, value->number);
    case LN_RULE_STRING: return ln_param_set_string(entry, value->string);
    case LN_RULE_BOOL: return ln_param_set_bool(entry, value->boolean);
    default: return set_array(entry, value);
    }
}

static ln_status set_computed(ln_param_entry *entry, const ln_expr_value *value)
{
    switch (value->kind) {
    case LN_RULE_NUMBER: return ln_param_set_satu_number(entry, value->number);
    case LN_RULE_STRING: return ln_param_set_string(entry, value->string);
    case LN_RULE_BOOL: return ln_param_set_bool(entry, value->boolean);
    default: return ln_param_set_satu_array_number(entry, (int)value->count, value->numbers);
    }
}

// The matcher has seen that expressions have values.
static ln_status set_value(const builder *b, ln_param_entry *entry, const ln_rule_value *value)
{
    if (value->kind != LN_RULE_EXPR)
        return set_literal(entry, value);
    double buffer[LN_RULE_MAX_ELEMENTS];
    ln_expr_value computed;
    if (!ln_match_value(b->ctx, b->match, value, buffer, &computed))
        return LN_FAIL(LN_INTERNAL, "'%s' has no value any more", entry->arg_name);
    return set_computed(entry, &computed);
}

static ln_status push_entry(ln_list **params, ln_param_entry *entry)
{
    ln_status status = ln_param_list_push(params, entry);
    if (status != LN_OK)
        ln_param_entry_free(entry);
    return status;
}

// Takes `entry`. What is the default needs no saying, so that models stay short.
static ln_status push_unless_default(const ln_op *proto, ln_list **params, ln_param_entry *entry)
{
    ln_param_entry version;
    const ln_param_entry *usual = ln_op_param_default(proto->op_arg, entry->arg_name, &version);
    if (!usual || !ln_param_entries_equal(usual, entry))
        return push_entry(params, entry);
    ln_param_entry_free(entry);
    return LN_OK;
}

static ln_status push_param(const builder *b, const ln_op *proto, const ln_rule_param *param,
                            ln_list **params)
{
    ln_param_entry *entry;
    if (param->value.kind == LN_RULE_NAME) {
        char *arg_name = ln_strdup(param->arg_name);
        entry = arg_name ? ln_param_entry_copy(b->match->values[param->value.name]) : NULL;
        if (!entry) {
            ln_free(arg_name);
            return LN_NO_MEMORY;
        }
        ln_free(entry->arg_name);
        entry->arg_name = arg_name;
        return push_unless_default(proto, params, entry);
    }
    entry =
        ln_param_entry_create(param->arg_name, ln_op_param_type(proto->op_arg, param->arg_name));
    if (!entry)
        return ln_error_status();
    ln_status status = set_value(b, entry, &param->value);
    if (status != LN_OK) {
        ln_param_entry_free(entry);
        return status;
    }
    return push_unless_default(proto, params, entry);
}

static bool is_overridden(const ln_rule_op *statement, const char *arg_name)
{
    for (size_t i = 0; i < statement->param_count; i++)
        if (ln_streq(statement->params[i].arg_name, arg_name))
            return true;
    return false;
}

// Of another type's parameters, those that both have. Versions of one type say nothing about
// another.
static bool is_copied(const ln_op *from, const ln_op *proto, const ln_rule_op *statement,
                      const char *arg_name)
{
    bool is_other = !ln_streq(from->op_arg->optype, statement->optype);
    if (is_other && (ln_streq(arg_name, "since") ||
                     ln_op_param_type(proto->op_arg, arg_name) == LN_PARAM_INVALID))
        return false;
    return !is_overridden(statement, arg_name);
}

static ln_status copy_params(const ln_op *from, const ln_op *proto, const ln_rule_op *statement,
                             ln_list **params)
{
    bool is_other = !ln_streq(from->op_arg->optype, statement->optype);
    for (const ln_list *l = from->op_arg->params; l; l = l->next) {
        const ln_param_entry *entry = l->data;
        if (!is_copied(from, proto, statement, entry->arg_name))
            continue;
        ln_param_entry *copy = ln_param_entry_copy(entry);
        if (!copy)
            return LN_NO_MEMORY;
        LN_TRY(is_other ? push_unless_default(proto, params, copy) : push_entry(params, copy));
    }
    return LN_OK;
}

// What an operator of another type left out means the default of that type.
static ln_status copy_defaults(const ln_op *from, const ln_op *proto, const ln_rule_op *statement,
                               ln_list **params)
{
    const ln_param_info *info = from->op_arg->info ? from->op_arg->info->params : NULL;
    for (; info && info->arg_name; info++) {
        if (ln_param_list_find(from->op_arg->params, info->arg_name) ||
            !is_copied(from, proto, statement, info->arg_name))
            continue;
        ln_param_entry version;
        const ln_param_entry *usual = ln_op_param_default(from->op_arg, info->arg_name, &version);
        if (!usual)
            continue;
        ln_param_entry *entry = ln_param_entry_copy(usual);
        if (!entry)
            return LN_NO_MEMORY;
        LN_TRY(push_unless_default(proto, params, entry));
    }
    return LN_OK;
}

static ln_status build_params(const builder *b, const ln_op *proto, const ln_rule_op *statement,
                              ln_list **params)
{
    if (statement->params_from >= 0) {
        const ln_op *from = b->match->ops[statement->params_from];
        LN_TRY(copy_params(from, proto, statement, params));
        if (!ln_streq(from->op_arg->optype, proto->op_arg->optype))
            LN_TRY(copy_defaults(from, proto, statement, params));
    }
    for (size_t i = 0; i < statement->param_count; i++)
        LN_TRY(push_param(b, proto, &statement->params[i], params));
    return LN_OK;
}

// ---- Tensors ----

static ln_status build_ins(const builder *b, const ln_op *proto, const ln_rule_op *statement,
                           ln_list **ins)
{
    char buffer[LN_MAX_NAME_LEN];
    size_t position = 0;
    for (size_t i = 0; i < statement->in_count; i++) {
        const ln_rule_arg *in = &statement->ins[i];
        size_t count;
        const char *const *tensors = tensors_of(b, in->name, &count);
        for (size_t j = 0; j < count; j++) {
            const char *arg_name =
                in->arg_name ? in->arg_name : ln_op_in_name(proto->op_arg, position + j, buffer);
            if (!arg_name)
                return LN_FAIL(LN_INVALID, "%s has %zu inputs, not more", proto->op_arg->optype,
                               position + j);
            LN_TRY(ln_tensor_list_push(ins, arg_name, tensors[j]));
        }
        position = ln_match_next_position(proto->op_arg, in, position, count);
    }
    return LN_OK;
}

static ln_status build_outs(builder *b, const ln_op *proto, const ln_rule_op *statement,
                            ln_list **outs)
{
    char buffer[LN_MAX_NAME_LEN];
    size_t position = 0;
    for (size_t i = 0; i < statement->out_count; i++) {
        int name = statement->each >= 0 ? statement->each : statement->outs[i].name;
        size_t count;
        const char *const *tensors = tensors_of(b, name, &count);
        if (count == 0 && !b->match->lists[name].is_bound) {
            LN_TRY(name_tensor(b, name));
            tensors = tensors_of(b, name, &count);
        }
        for (size_t j = 0; j < count; j++, position++) {
            const char *arg_name = ln_op_out_name(proto->op_arg, position, buffer);
            if (!arg_name)
                return LN_FAIL(LN_INVALID, "%s has %zu outputs, not more", proto->op_arg->optype,
                               position);
            LN_TRY(ln_tensor_list_push(outs, arg_name, tensors[j]));
        }
        position += count == 0 && statement->outs[i].is_maybe;
    }
    return LN_OK;
}

static bool is_made(const ln_context *ctx, const ln_list *new_ops, const char *tensor)
{
    for (const ln_list *l = new_ops; l; l = l->next)
        if (ln_tensor_list_find_by_name(((const ln_op *)l->data)->op_arg->tensors_out, tensor))
            return true;
    return ln_tensor_table_find(ctx->tensor_table, tensor) != NULL;
}

// Adds an output named <operator>_<argument>. Long names of operators differ past the prefix.
static ln_status push_scratch(const ln_context *ctx, const ln_list *new_ops, const char *op_name,
                              const char *arg_name, ln_list **outs)
{
    char text[LN_MAX_NAME_LEN];
    snprintf(text, sizeof text, "%.*s_%.*s", MAX_PREFIX_BYTES, op_name, 100, arg_name);
    for (unsigned n = 2; is_made(ctx, new_ops, text); n++)
        snprintf(text, sizeof text, "%.*s_%.*s%u", MAX_PREFIX_BYTES, op_name, 100, arg_name, n);
    return ln_tensor_list_push(outs, arg_name, text);
}

ln_status ln_build_scratch(const ln_context *ctx, const ln_list *new_ops, const ln_op *proto,
                           const char *op_name, ln_list **outs)
{
    const char **names = proto->op_arg->out_arg_names;
    for (; names && *names; names++) {
        const char *arg_name = *names;
        if (!ln_op_is_scratch(proto->op_arg, arg_name) ||
            ln_tensor_list_find_by_arg_name(*outs, arg_name))
            continue;
        LN_TRY(push_scratch(ctx, new_ops, op_name, arg_name, outs));
    }
    return LN_OK;
}

// ---- Operators ----

// Makes an operator of lists that are its own from then on; frees them on failure.
static ln_status make_op(const ln_context *ctx, const ln_op *proto, const char *name,
                         ln_status status, ln_list *ins, ln_list *outs, ln_list *params,
                         ln_op **out_op)
{
    *out_op = NULL;
    if (status == LN_OK) {
        *out_op = ln_op_create_from_proto(proto, name, ins, outs, params, ctx->tensor_table);
        if (*out_op)
            return LN_OK;
        status = ln_error_status();
    }
    ln_tensor_list_free(ins);
    ln_tensor_list_free(outs);
    ln_param_list_free(params);
    return status;
}

static ln_status build_op(builder *b, const ln_rule_op *statement, const ln_list *new_ops,
                          ln_op **out_op)
{
    *out_op = NULL;
    const ln_op *proto = ln_op_find(statement->optype);
    if (!proto)
        return LN_FAIL(LN_NOT_FOUND, "there is no operator type '%s'", statement->optype);
    char name[LN_MAX_NAME_LEN];
    name_op(b, statement, new_ops, name);
    ln_list *ins = NULL, *outs = NULL, *params = NULL;
    ln_status status = build_ins(b, proto, statement, &ins);
    if (status == LN_OK)
        status = build_outs(b, proto, statement, &outs);
    if (status == LN_OK)
        status = ln_build_scratch(b->ctx, new_ops, proto, name, &outs);
    if (status == LN_OK)
        status = build_params(b, proto, statement, &params);
    return make_op(b->ctx, proto, name, status, ins, outs, params, out_op);
}

static ln_status build_ops(builder *b, ln_list **ops)
{
    for (size_t i = 0; i < b->match->rule->result_count; i++) {
        const ln_rule_op *statement = &b->match->rule->result[i];
        for (size_t j = 0; !b->match->is_left_out[i] && ln_match_each(b->match, statement, j);
             j++) {
            ln_op *op;
            LN_TRY(build_op(b, statement, *ops, &op));
            ln_status status = ln_list_push(ops, op);
            if (status != LN_OK) {
                ln_op_free_lists_too(op);
                return status;
            }
        }
    }
    return LN_OK;
}

ln_status ln_build_result(const ln_context *ctx, ln_match *match, ln_list **out_ops)
{
    *out_ops = NULL;
    builder b = {.ctx = ctx, .match = match};
    ln_status status = build_ops(&b, out_ops);
    for (size_t i = 0; i < match->rule->name_count; i++)
        ln_free(b.new_tensors[i]);
    if (status != LN_OK) {
        ln_op_list_free_lists_too(*out_ops);
        *out_ops = NULL;
    }
    return status;
}

// An operator of type `proto` with name, tensors and place of `op`, scratch memory, and no
// parameters.
static ln_status build_like(const ln_context *ctx, const ln_op *proto, const ln_op *op,
                            ln_status (*scratch)(const ln_context *ctx, const ln_list *new_ops,
                                                 const ln_op *proto, const char *op_name,
                                                 ln_list **outs),
                            ln_op **out_op)
{
    const ln_op_arg *from = op->op_arg;
    ln_list *ins = ln_tensor_list_copy(from->tensors_in);
    ln_list *outs = ln_tensor_list_copy(from->tensors_out);
    // NULL is a copy of an empty list, and a failure.
    bool is_whole = (ins || !from->tensors_in) && (outs || !from->tensors_out);
    ln_status status = is_whole ? scratch(ctx, NULL, proto, from->name, &outs) : LN_NO_MEMORY;
    LN_TRY(make_op(ctx, proto, from->name, status, ins, outs, NULL, out_op));
    ln_op_arg *to = (*out_op)->op_arg;
    to->place = ln_strdup(from->place);
    to->context = from->context;
    if (to->place || !from->place)
        return LN_OK;
    ln_op_free_lists_too(*out_op);
    *out_op = NULL;
    return LN_NO_MEMORY;
}

// Gives `to` the parameters of `from`, which has none then if its functions are ours: they may be
// long.
static ln_status hand_over_params(ln_op_arg *from, ln_op_arg *to)
{
    bool is_ours = from->info && from->info->infer;
    to->params = is_ours ? from->params : ln_param_list_copy(from->params);
    if (is_ours)
        from->params = NULL;
    return to->params || is_ours || !from->params ? LN_OK : LN_NO_MEMORY;
}

// Puts `new_op` where an operator is that has its parameters. Takes it, also on failure.
static ln_status put_in_place(ln_context *ctx, ln_list **position, ln_op *new_op)
{
    ln_op *old = (*position)->data;
    ln_list *new_ops = NULL;
    ln_status status = hand_over_params(old->op_arg, new_op->op_arg);
    if (status == LN_OK)
        status = ln_list_push(&new_ops, new_op);
    if (status == LN_OK)
        status = ln_context_replace_ops(ctx, position, 1, new_ops);
    if (status == LN_OK)
        return LN_OK;
    ln_list_free(new_ops);
    bool is_back = *position && (*position)->data == old; // else the model was dropped
    if (is_back && !old->op_arg->params) {
        old->op_arg->params = new_op->op_arg->params;
        new_op->op_arg->params = NULL;
    }
    ln_op_free_lists_too(new_op);
    return status;
}

ln_status ln_build_in_place(ln_context *ctx, const ln_op *proto, ln_list **position)
{
    ln_op *new_op;
    LN_TRY(build_like(ctx, proto, (*position)->data, ln_build_scratch, &new_op));
    return put_in_place(ctx, position, new_op);
}

static ln_status scratch_of_call(const ln_context *ctx, const ln_list *new_ops, const ln_op *proto,
                                 const char *op_name, ln_list **outs)
{
    (void)proto;
    return push_scratch(ctx, new_ops, op_name, LN_SCRATCH, outs);
}

ln_status ln_build_with_scratch(ln_context *ctx, ln_list **position)
{
    ln_op *new_op, *op = (*position)->data;
    LN_TRY(build_like(ctx, op, op, scratch_of_call, &new_op));
    return put_in_place(ctx, position, new_op);
}
