// SPDX-License-Identifier: Apache-2.0
// Old models have `create` for weights and for what the program gives before each run. Which is
// which follows from the operands: what flows through a network to its outputs is data, and an
// operand that is described as a weight is none (LN_ARG_WEIGHT). One walk from the last operator to
// the first finds all tensors from which such a path leads to an output. Who knows better says so
// with ln_context_set_inputs.

#include "serial/old_inputs.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/arch.h>
#include <lightnet/op_info.h>
#include <lightnet/util.h>

#include "base/error_state.h"
#include "base/name_hash.h"
#include "ir/context.h"

// ---- Paths of data ----

typedef struct paths {
    ln_hash *read; // names of tensors that operators read
    ln_hash *data; // of these, those that are read as data on a path to an output
    ln_hash *used; // of these, those that more than an `output` reads
} paths;

static bool is_weight(const ln_op_arg *arg, const char *arg_name)
{
    const ln_arg_info *in = arg->info ? arg->info->ins : NULL;
    for (; in && in->arg_name; in++)
        if (ln_streq(in->arg_name, arg_name))
            return (in->flags & (LN_ARG_WEIGHT | LN_ARG_STATIC)) != 0;
    return false;
}

// Operators that only look, such as `print`, lead nowhere.
static bool leads_to_output(const paths *p, const ln_op_arg *arg)
{
    if (!arg->tensors_out)
        return ln_op_is_type(arg, "output");
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, arg->tensors_out) {
        if (!ln_hash_find(p->read, out->name) || ln_hash_find(p->data, out->name))
            return true;
    }
    return false;
}

static ln_status add_inputs(ln_hash *names, const ln_op_arg *arg, bool is_data_only)
{
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, arg->tensors_in) {
        if ((!is_data_only || !is_weight(arg, in->arg_name)) &&
            ln_hash_insert(names, in->name, names) < 0)
            return ln_error_status();
    }
    return LN_OK;
}

static ln_status find_paths(paths *p, ln_op *const *ops, size_t op_count)
{
    for (size_t i = 0; i < op_count; i++)
        if (ops[i]->op_arg->tensors_out || ln_op_is_type(ops[i]->op_arg, "output"))
            LN_TRY(add_inputs(p->read, ops[i]->op_arg, false));
    for (size_t i = op_count; i-- > 0;) {
        const ln_op_arg *arg = ops[i]->op_arg;
        if (!leads_to_output(p, arg))
            continue;
        LN_TRY(add_inputs(p->data, arg, true));
        if (arg->tensors_out)
            LN_TRY(add_inputs(p->used, arg, true));
    }
    return LN_OK;
}

// ---- Creates ----

static bool is_param_zero(const ln_op_arg *arg, const char *name)
{
    const ln_param_entry *param = ln_param_list_find(arg->params, name);
    if (!param || param->type != LN_PARAM_ARRAY_NUMBER)
        return !param;
    for (int i = 0; i < param->array_len; i++)
        if (param->value_array_double[i] != 0)
            return false;
    return true;
}

// The text says nothing about the elements that would make them constants.
static bool is_not_given(const ln_op_arg *arg)
{
    const ln_param_entry *from_file = ln_param_list_find(arg->params, "from_file");
    bool is_from_file = from_file && from_file->type == LN_PARAM_BOOL && from_file->value_bool;
    return is_from_file || !is_param_zero(arg, "ran") || is_param_zero(arg, "data");
}

// One that is written wrongly is left as it is, for `create` to say what is wrong.
static bool fits(const ln_op_arg *arg, const ln_op *proto)
{
    const ln_param_entry *param;
    LN_LIST_FOREACH (param, arg->params) {
        const ln_param_info *info = proto->op_arg->info->params;
        while (info->arg_name && !ln_streq(info->arg_name, param->arg_name))
            info++;
        if (!info->arg_name || info->ptype != param->type)
            return false;
    }
    return ln_list_length(arg->tensors_out) == 1 && !arg->tensors_in;
}

// Exchanges the operator for one of another type with the same name, tensors and parameters.
static ln_status retype(ln_list *position, const ln_op *proto)
{
    ln_op *old = position->data;
    ln_op *op = ln_op_create_from_proto(proto, old->op_arg->name, old->op_arg->tensors_in,
                                        old->op_arg->tensors_out, old->op_arg->params, NULL);
    if (!op)
        return ln_error_status();
    op->op_arg->place = old->op_arg->place;
    old->op_arg->place = NULL;
    ln_op_free(old);
    position->data = op;
    return LN_OK;
}

static ln_status retype_creates(const ln_context *ctx, const paths *p)
{
    const ln_op *proto = ln_op_find("input");
    for (ln_list *l = proto ? ctx->ops : NULL; l; l = l->next) {
        const ln_op_arg *arg = ((const ln_op *)l->data)->op_arg;
        const ln_tensor_list_entry *out = arg->tensors_out ? arg->tensors_out->data : NULL;
        if (out && ln_op_is_type(arg, "create") && ln_hash_find(p->used, out->name) &&
            is_not_given(arg) && fits(arg, proto))
            LN_TRY(retype(l, proto));
    }
    return LN_OK;
}

// ---- The whole ----

static bool has_input(const ln_context *ctx)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (ln_op_is_input(op->op_arg))
            return true;
    }
    return false;
}

static ln_status read_inputs(const ln_context *ctx, paths *p)
{
    size_t op_count = (size_t)ln_list_length(ctx->ops), i = 0;
    ln_op **ops = ln_alloc_array(op_count, sizeof(ln_op *));
    if (!ops)
        return LN_NO_MEMORY;
    for (const ln_list *l = ctx->ops; l; l = l->next)
        ops[i++] = l->data;
    ln_status status = find_paths(p, ops, op_count);
    ln_free(ops);
    return status == LN_OK ? retype_creates(ctx, p) : status;
}

ln_status ln_old_inputs_read(ln_context *ctx)
{
    if (!ctx->ops || has_input(ctx))
        return LN_OK;
    paths p = {.read = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL),
               .data = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL),
               .used = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL)};
    ln_status status = p.read && p.data && p.used ? read_inputs(ctx, &p) : LN_NO_MEMORY;
    ln_hash_free(p.read);
    ln_hash_free(p.data);
    ln_hash_free(p.used);
    return status;
}

// ---- By name ----

// The operator states what the tensor holds once the model is loaded.
static bool has_own_value(const ln_op_arg *arg)
{
    const ln_param_entry *param;
    LN_LIST_FOREACH (param, arg->params) {
        if (ln_streq(param->arg_name, "from_file") || ln_streq(param->arg_name, "ran") ||
            ln_streq(param->arg_name, "data"))
            return true;
    }
    return false;
}

static bool is_named(const ln_op_arg *arg, size_t count, const char *const *tnames)
{
    const ln_tensor_list_entry *out = arg->tensors_out ? arg->tensors_out->data : NULL;
    for (size_t i = 0; i < count; i++)
        if (out && ln_streq(out->name, tnames[i]))
            return true;
    return false;
}

static ln_status check_name(const ln_context *ctx, const char *tname)
{
    const ln_tensor_entry *entry = tname ? ln_tensor_table_find(ctx->tensor_table, tname) : NULL;
    const ln_op *op = entry ? ln_op_table_find(ctx->op_table, entry->creater) : NULL;
    if (!op)
        return LN_FAIL(LN_NOT_FOUND, "the model has no tensor '%s'", tname ? tname : "(null)");
    if (ln_op_is_input(op->op_arg) || ln_op_is_type(op->op_arg, "create"))
        return LN_OK;
    return LN_FAIL(LN_INVALID,
                   "tensor '%s' is computed by operator '%s' (%s); an input is what `create` or "
                   "`input` makes",
                   tname, op->op_arg->name, op->op_arg->optype);
}

static ln_status check_names(const ln_context *ctx, size_t count, const char *const *tnames)
{
    if (!ctx || (count > 0 && !tnames))
        return LN_FAIL(LN_INVALID, "choosing inputs needs a context and names");
    if (ctx->state != LN_CONTEXT_READY)
        return LN_FAIL(LN_STATE, "inputs are chosen after reading a model and before compiling it");
    for (size_t i = 0; i < count; i++)
        LN_TRY(check_name(ctx, tnames[i]));
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (ln_op_is_input(op->op_arg) && !has_own_value(op->op_arg) &&
            !is_named(op->op_arg, count, tnames))
            return LN_FAIL(LN_INVALID,
                           "input '%s' has no value of its own, so it has to be among the inputs",
                           ((ln_tensor_list_entry *)op->op_arg->tensors_out->data)->name);
    }
    return LN_OK;
}

// Notes in `changed` the positions whose operators change; they are not checked when it ends.
static ln_status exchange(const ln_context *ctx, size_t count, const char *const *tnames,
                          bool *changed)
{
    size_t i = 0;
    for (ln_list *l = ctx->ops; l; l = l->next, i++) {
        const ln_op_arg *arg = ((const ln_op *)l->data)->op_arg;
        bool was = ln_op_is_input(arg), is = is_named(arg, count, tnames);
        const ln_op *proto = ln_op_find(is ? "input" : "create");
        if (was == is || (!was && !ln_op_is_type(arg, "create")) || !fits(arg, proto))
            continue;
        LN_TRY(retype(l, proto));
        changed[i] = true;
    }
    return LN_OK;
}

static ln_status exchange_back(const ln_context *ctx, const bool *changed)
{
    size_t i = 0;
    for (ln_list *l = ctx->ops; l; l = l->next, i++) {
        const ln_op_arg *arg = ((const ln_op *)l->data)->op_arg;
        if (changed[i])
            LN_TRY(retype(l, ln_op_find(ln_op_is_input(arg) ? "create" : "input")));
    }
    return LN_OK;
}

static ln_status exchange_all(ln_context *ctx, size_t count, const char *const *tnames,
                              bool *changed)
{
    ln_context_cleanup_ops(ctx);
    ln_status status = exchange(ctx, count, tnames, changed);
    if (status == LN_OK)
        status = ln_context_init_ops(ctx);
    if (status == LN_OK)
        return LN_OK;
    ln_error_state reason;
    ln_error_save(&reason);
    bool is_back = exchange_back(ctx, changed) == LN_OK && ln_context_init_ops(ctx) == LN_OK;
    ln_error_restore(&reason);
    return is_back ? status : ln_context_abandon(ctx, status);
}

ln_status ln_context_set_inputs(ln_context *ctx, size_t count, const char *const *tnames)
{
    LN_TRY(check_names(ctx, count, tnames));
    bool *changed = ln_alloc_array((size_t)ln_list_length(ctx->ops) + 1, sizeof *changed);
    if (!changed)
        return LN_NO_MEMORY;
    ln_status status = exchange_all(ctx, count, tnames, changed);
    ln_free(changed);
    return status;
}

ln_status ln_context_make_input(ln_context *ctx, const char *tname)
{
    if (!ctx || !tname)
        return LN_FAIL(LN_INVALID, "making an input needs a context and a name");
    size_t count = ln_context_input_count(ctx);
    const char **tnames = ln_alloc_array(count + 1, sizeof *tnames);
    if (!tnames)
        return LN_NO_MEMORY;
    bool is_input = false;
    for (size_t i = 0; i < count; i++) {
        tnames[i] = ln_context_input_name(ctx, i);
        is_input = is_input || strcmp(tnames[i], tname) == 0;
    }
    tnames[count] = tname;
    // Names are borrowed from operators, which are made anew.
    for (size_t i = 0; i < count && tnames[i]; i++)
        tnames[i] = ln_strdup(tnames[i]);
    ln_status status = ln_context_set_inputs(ctx, is_input ? count : count + 1, tnames);
    for (size_t i = 0; i < count; i++)
        ln_free((void *)(uintptr_t)tnames[i]);
    ln_free(tnames);
    return status;
}
