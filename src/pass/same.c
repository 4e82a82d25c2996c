// SPDX-License-Identifier: Apache-2.0
// What is computed twice is computed once (common subexpressions): operators of one type with the
// same inputs and parameters, whatever the type.
//
// One walk in the order of execution. Each operator is written as a text, in which axes count from
// 0, defaults are left out and operands that may change places stand in one order; an operator
// whose text was met before goes, and its readers read the first one's outputs. So chains that are
// equal meet in one walk.

#include "pass/same.h"

#include <stdint.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/arch.h>
#include <lightnet/op_info.h>
#include <lightnet/util.h>

#include "base/name_hash.h"
#include "base/siphash.h"
#include "base/text.h"
#include "ir/context.h"
#include "ir/dfg.h"
#include "ir/op_life.h"
#include "pass/firing.h"
#include "pass/match.h"
#include "pass/normal.h"
#include "pass/op_args.h"

// Arrays of more numbers are part of an operator's text by a digest.
#define LONG_ARRAY 64

// ---- Which operators ----

static bool has_graph(const ln_context *ctx, const ln_op_arg *arg)
{
    const ln_param_entry *param;
    LN_LIST_FOREACH (param, arg->params)
        if (param->type == LN_PARAM_STRING && param->value_string &&
            ln_context_find_graph(ctx, param->value_string))
            return true;
    return false;
}

// What has inputs, outputs and nothing else to it: of graphs inside, this is not known.
static bool is_pure(const ln_context *ctx, const ln_op_arg *arg)
{
    const char *const acting[] = {"input", "output", "print", "fprint"};
    for (size_t i = 0; i < sizeof acting / sizeof acting[0]; i++)
        if (ln_op_is_type(arg, acting[i]))
            return false;
    return arg->info && arg->tensors_in && arg->tensors_out && !ln_op_is_random(arg) &&
           !has_graph(ctx, arg);
}

// ---- Operators as texts ----

static bool is_long(const ln_param_entry *param)
{
    return param->type == LN_PARAM_ARRAY_NUMBER && param->array_len > LONG_ARRAY;
}

// The bits of a double, of a fixed length and without printf.
static void add_number(ln_text *text, double number)
{
    uint64_t bits;
    char digits[17] = "";
    memcpy(&bits, &number, sizeof bits);
    for (size_t i = 0; i < 16; i++)
        digits[i] = (char)('a' + (bits >> (60 - 4 * i) & 15));
    ln_text_puts(text, digits);
}

// Of a long array a digest, which equal ones share; they are compared before anything goes.
static void add_numbers(ln_text *text, const ln_param_entry *param)
{
    const double *numbers = param->value_array_double;
    if (is_long(param)) {
        static const uint64_t key[2] = {0, 0};
        uint64_t digest =
            ln_siphash(key, numbers, (size_t)param->array_len * sizeof *numbers, 1, 3);
        ln_text_printf(text, "%d#%016llx", param->array_len, (unsigned long long)digest);
        return;
    }
    for (int i = 0; i < param->array_len; i++)
        add_number(text, numbers[i]);
}

static void add_value(ln_text *text, const ln_param_entry *param)
{
    switch (param->type) {
    case LN_PARAM_STRING: ln_text_printf(text, "\"%s\"", param->value_string); break;
    case LN_PARAM_NUMBER: add_number(text, param->value_double); break;
    case LN_PARAM_BOOL: ln_text_printf(text, "b%d", param->value_bool); break;
    case LN_PARAM_ARRAY_STRING:
        for (int i = 0; i < param->array_len; i++)
            ln_text_printf(text, "%zu\"%s\"", strlen(param->value_array_string[i]),
                           param->value_array_string[i]);
        break;
    case LN_PARAM_ARRAY_NUMBER: add_numbers(text, param); break;
    case LN_PARAM_ARRAY_BOOL:
        for (int i = 0; i < param->array_len; i++)
            ln_text_printf(text, "b%d", param->value_array_bool[i]);
        break;
    default: break;
    }
}

// The parameter whose name follows `after` in the alphabet; NULL: none.
static const ln_param_entry *next_param(const ln_op_arg *arg, const char *after)
{
    const ln_param_entry *param, *next = NULL;
    LN_LIST_FOREACH (param, arg->params)
        if ((!after || strcmp(param->arg_name, after) > 0) &&
            (!next || strcmp(param->arg_name, next->arg_name) < 0))
            next = param;
    return next;
}

static void add_params(ln_text *text, const ln_op_arg *arg)
{
    const ln_param_entry *param = next_param(arg, NULL);
    for (; param; param = next_param(arg, param->arg_name)) {
        if (ln_op_param_is_default(arg, param))
            continue;
        ln_text_printf(text, "|%s=%d:", param->arg_name, (int)param->type);
        add_value(text, param);
    }
}

static void add_inputs(ln_text *text, ln_op_arg *arg)
{
    char buffers[2][LN_MAX_NAME_LEN];
    const char *args[2], *tensors[2] = {NULL, NULL};
    for (size_t i = 0; i < 2; i++) {
        args[i] = ln_op_in_name(arg, i, buffers[i]);
        tensors[i] = args[i] ? ln_tensor_list_find_name(arg->tensors_in, args[i]) : NULL;
    }
    bool commutes = tensors[0] && tensors[1] && arg->info->commutes && arg->info->commutes(arg);
    bool is_turned = commutes && strcmp(tensors[0], tensors[1]) > 0;
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, arg->tensors_in) {
        const char *name = in->name;
        for (size_t i = 0; i < 2 && is_turned; i++)
            if (ln_streq(in->arg_name, args[i]))
                name = tensors[1 - i];
        ln_text_puts(text, "|");
        ln_text_puts(text, in->arg_name);
        ln_text_puts(text, "<");
        ln_text_puts(text, name);
    }
}

// The caller frees *out_key.
static ln_status describe(ln_op_arg *arg, char **out_key)
{
    ln_text text = {0};
    ln_text_puts(&text, arg->optype);
    add_inputs(&text, arg);
    add_params(&text, arg);
    return ln_text_take(&text, out_key, NULL);
}

// ---- Merging ----

typedef struct merger {
    ln_compilation *compilation;
    ln_hash *seen; // text -> the first operator of it
    size_t count;  // of operators that went
} merger;

// The tensor of `kept` that stands for an output of its equal; NULL: none is like it.
static const char *stand_in(const ln_context *ctx, const ln_op *kept,
                            const ln_tensor_list_entry *out)
{
    const char *name = ln_tensor_list_find_name(kept->op_arg->tensors_out, out->arg_name);
    const ln_tensor_entry *a = name ? ln_tensor_table_find(ctx->tensor_table, name) : NULL;
    const ln_tensor_entry *b = ln_tensor_table_find(ctx->tensor_table, out->name);
    bool is_same = a && b && !a->is_open == !b->is_open && a->mtype == b->mtype &&
                   (a->is_open || (a->tensor->dtype == b->tensor->dtype &&
                                   tl_tensor_issameshape(a->tensor, b->tensor)));
    return is_same ? name : NULL;
}

// An output of the model, which nothing reads or an operator `output`, and what a graph inside
// knows.
static bool keeps_name(const ln_context *ctx, const char *tensor)
{
    ln_dfg_readers readers = ln_dfg_find_readers(ctx->dfg, tensor);
    const ln_op *reader = ln_dfg_next_reader(&readers);
    if (!reader)
        return true;
    for (; reader; reader = ln_dfg_next_reader(&readers))
        if (ln_op_is_type(reader->op_arg, "output"))
            return true;
    return ln_match_is_captured(ctx, tensor);
}

// Of operators with equal texts: whether their long arrays, too, are equal to the bit.
static bool have_equal_arrays(const ln_op *a, const ln_op *b)
{
    const ln_param_entry *param;
    LN_LIST_FOREACH (param, a->op_arg->params) {
        const ln_param_entry *other =
            is_long(param) ? ln_param_list_find(b->op_arg->params, param->arg_name) : NULL;
        size_t bytes = (size_t)param->array_len * sizeof *param->value_array_double;
        if (is_long(param) &&
            (!other || other->type != param->type || other->array_len != param->array_len ||
             memcmp(other->value_array_double, param->value_array_double, bytes) != 0))
            return false;
    }
    return true;
}

static bool can_go(const ln_context *ctx, const ln_op *op, const ln_op *kept, bool *out_keeps_name)
{
    const ln_tensor_list_entry *out;
    *out_keeps_name = false;
    if (!have_equal_arrays(op, kept))
        return false;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        const char *stays = stand_in(ctx, kept, out);
        if (!stays)
            return false;
        // An output that nothing reads would be none once the readers of its equal read it.
        ln_dfg_readers readers = ln_dfg_find_readers(ctx->dfg, stays);
        if (!ln_op_is_scratch(op->op_arg, out->arg_name) && !ln_dfg_next_reader(&readers))
            return false;
        *out_keeps_name = *out_keeps_name || (!ln_op_is_scratch(op->op_arg, out->arg_name) &&
                                              keeps_name(ctx, out->name));
    }
    if (!*out_keeps_name)
        return true;
    // A view takes the place of the operator.
    out = op->op_arg->tensors_out->data;
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, out->name);
    return !op->op_arg->tensors_out->next && !ln_op_is_type(op->op_arg, "forward") &&
           !entry->is_open && LN_TYPES_NATIVE >> entry->tensor->dtype & 1;
}

static ln_status redirect(ln_context *ctx, const char *from, const char *to)
{
    ln_list *readers;
    LN_TRY(ln_dfg_list_readers(ctx->dfg, from, &readers));
    ln_status status = LN_OK;
    for (const ln_list *l = readers; l && status == LN_OK; l = l->next)
        status = ln_context_redirect(ctx, l->data, from, to);
    ln_list_free(readers);
    return status;
}

static ln_status take_away(ln_context *ctx, const ln_op *kept, ln_list **position)
{
    const ln_op *op = (*position)->data;
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out)
        LN_TRY(redirect(ctx, out->name, stand_in(ctx, kept, out)));
    return ln_context_remove_op(ctx, position);
}

static ln_op *make_forward(const ln_context *ctx, const ln_op *op, const ln_op *kept)
{
    const ln_tensor_list_entry *out = op->op_arg->tensors_out->data;
    const ln_op *proto = ln_op_find("forward");
    ln_list *ins = ln_tensor_list_append(NULL, "src", stand_in(ctx, kept, out));
    ln_list *outs = ln_tensor_list_append(NULL, "dst", out->name);
    ln_op *forward = NULL;
    if (proto && ins && outs)
        forward =
            ln_op_create_from_proto(proto, op->op_arg->name, ins, outs, NULL, ctx->tensor_table);
    if (!forward) {
        ln_tensor_list_free(ins);
        ln_tensor_list_free(outs);
    }
    return forward;
}

static ln_status leave_forward(ln_context *ctx, const ln_op *kept, ln_list **position)
{
    ln_list *new_ops = NULL;
    ln_op *forward = make_forward(ctx, (*position)->data, kept);
    if (!forward)
        return ln_error_status();
    ln_status status = ln_list_push(&new_ops, forward);
    if (status != LN_OK) {
        ln_op_free_lists_too(forward);
        return status;
    }
    status = ln_context_replace_ops(ctx, position, 1, new_ops);
    if (status != LN_OK)
        ln_op_list_free_lists_too(new_ops);
    else
        *position = (*position)->next;
    return status;
}

// After a merge *position stands after the operator that went.
static ln_status merge(merger *m, const ln_op *kept, ln_list **position, bool *out_merged)
{
    ln_context *ctx = m->compilation->ctx;
    bool has_to_stay;
    *out_merged = false;
    if (!can_go(ctx, (*position)->data, kept, &has_to_stay))
        return LN_OK;
    ln_firing_names names;
    ln_firing firing = ln_firing_of_pass("computed_before", "exact", (*position)->data, &names);
    LN_TRY(ln_firing_decide(m->compilation, &firing, out_merged));
    if (!*out_merged)
        return LN_OK;
    m->count++;
    return ln_firing_done(m->compilation, &firing,
                          has_to_stay ? leave_forward(ctx, kept, position)
                                      : take_away(ctx, kept, position));
}

static bool has_long_array(const ln_op_arg *arg)
{
    const ln_param_entry *param;
    LN_LIST_FOREACH (param, arg->params)
        if (param->array_len > LONG_ARRAY)
            return true;
    return false;
}

static bool has_info(const ln_op *op, const ln_op_info *info)
{
    return op->op_arg->info == info;
}

// Whether another operator is of its type, looked for after it and then from the start: all
// operators of a type together walk through the list once.
static bool has_equal_type(const ln_context *ctx, const ln_list *position)
{
    const ln_op_info *info = ((const ln_op *)position->data)->op_arg->info;
    for (const ln_list *l = position->next; l; l = l->next)
        if (has_info(l->data, info))
            return true;
    for (const ln_list *l = ctx->ops; l != position; l = l->next)
        if (has_info(l->data, info))
            return true;
    return false;
}

// *position moves on.
static ln_status visit(merger *m, ln_list **position)
{
    ln_op *op = (*position)->data;
    bool is_merged = false;
    char *key = NULL;
    LN_TRY(ln_op_write_normal(m->compilation->ctx, op));
    // Where it takes long to write an operator, such as one of many trees, that is not done for
    // nothing.
    if (is_pure(m->compilation->ctx, op->op_arg) &&
        (!has_long_array(op->op_arg) || has_equal_type(m->compilation->ctx, *position)))
        LN_TRY(describe(op->op_arg, &key));
    const ln_op *kept = key ? ln_hash_find(m->seen, key) : NULL;
    ln_status status = LN_OK;
    if (kept)
        status = merge(m, kept, position, &is_merged);
    else if (key && ln_hash_insert(m->seen, key, op) < 0)
        status = ln_error_status();
    if (kept || status != LN_OK)
        ln_free(key);
    if (status == LN_OK && !is_merged)
        *position = (*position)->next;
    return status;
}

ln_status ln_merge_same(ln_compilation *compilation, size_t *out_count)
{
    merger m = {.compilation = compilation,
                .seen = ln_hash_create(ln_name_hash, ln_str_cmp, ln_free, NULL)};
    ln_status status = m.seen ? LN_OK : LN_NO_MEMORY;
    for (ln_list *position = compilation->ctx->ops; position && status == LN_OK;)
        status = visit(&m, &position);
    ln_hash_free(m.seen);
    *out_count = m.count;
    return status;
}
