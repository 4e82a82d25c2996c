// SPDX-License-Identifier: Apache-2.0
// Halves are computed as floats: where a tensor of halves comes into the model, as an input, a
// constant or the output of an operator that makes it of something else, a cast makes floats of it;
// all that is computed from these is floats then, as types follow from inputs; and what leaves the
// model is cast back.
//
//     x half -> conv -> relu -> y half        x half -> cast -> conv -> relu -> cast -> y half
//
// So each value is rounded to a half where the model is entered and left, not after each operator:
// nearer to what is meant, and with the kernels, rules and layouts of floats. A cast from another
// type to float16 or bfloat16 is an explicit rounding: it is kept, and its result is treated like
// an input. All or nothing: if an operator refuses floats, or the model has
// graphs inside, it stays as it is.

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/arch.h>
#include <lightnet/list.h>
#include <lightnet/op_info.h>
#include <lightnet/util.h>

#include "base/error_state.h"
#include "base/name_hash.h"
#include "ir/context.h"
#include "ir/dfg.h"
#include "ir/op_life.h"
#include "pass/firing.h"
#include "pass/pass.h"
#include "pass/place.h"
#include "tensor/elem.h"

#define TYPES_HALF (LN_TYPE(TL_FLOAT16) | LN_TYPE(TL_BFLOAT16))

static bool is_half(const ln_context *ctx, const char *tname)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, tname);
    return entry && TYPES_HALF >> entry->tensor->dtype & 1;
}

static bool has_half(const ln_context *ctx, const ln_list *listed_tensors)
{
    const ln_tensor_list_entry *listed;
    LN_LIST_FOREACH (listed, listed_tensors)
        if (is_half(ctx, listed->name))
            return true;
    return false;
}

// ---- The new list ----

typedef struct widening {
    const ln_context *ctx;
    ln_list *ops;
    ln_list **end; // where the next operator goes
    ln_hash *wide; // name of a tensor of halves -> that of its floats
    ln_hash *kept; // tensors of halves that still exist
    size_t count;  // of casts
} widening;

static void free_ops(ln_list *ops)
{
    ln_op_list_free_lists_too(ops);
}

// Takes the operator, also where that fails.
static ln_status push_op(widening *w, ln_op *op)
{
    if (!op)
        return ln_error_status();
    ln_status status = ln_list_push(w->end, op);
    if (status != LN_OK) {
        ln_op_free_lists_too(op);
        return status;
    }
    w->end = &(*w->end)->next;
    return LN_OK;
}

static void name_op(widening *w, char name[LN_MAX_NAME_LEN])
{
    do
        snprintf(name, LN_MAX_NAME_LEN, "widen%zu", w->count++);
    while (ln_op_table_find(w->ctx->op_table, name));
}

static ln_status push_cast(widening *w, const char *from, const char *to, tl_dtype dtype)
{
    char name[LN_MAX_NAME_LEN];
    name_op(w, name);
    const ln_op *proto = ln_op_find("cast");
    ln_list *ins = ln_tensor_list_append(NULL, "src", from);
    ln_list *outs = ln_tensor_list_append(NULL, "dst", to);
    ln_list *params = ln_param_list_append_string(NULL, "to", tl_dtype_name(dtype));
    ln_op *op = NULL;
    if (proto && ins && outs && params)
        op = ln_op_create_from_proto(proto, name, ins, outs, params, w->ctx->tensor_table);
    if (op)
        return push_op(w, op);
    ln_tensor_list_free(ins);
    ln_tensor_list_free(outs);
    ln_param_list_free(params);
    return ln_error_status();
}

// The name that the floats of a tensor get, remembered. NULL: memory is gone.
static const char *name_floats(const widening *w, const char *tname)
{
    char *key = ln_strdup(tname), *floats = ln_strdup_printf("%s_float", tname);
    for (int i = 1; floats && ln_tensor_table_find(w->ctx->tensor_table, floats); i++) {
        ln_free(floats);
        floats = ln_strdup_printf("%s_float%d", tname, i);
    }
    if (key && floats && ln_hash_insert(w->wide, key, floats) >= 0)
        return floats;
    ln_free(key);
    ln_free(floats);
    return NULL;
}

static ln_status rename_tensor(ln_tensor_list_entry *listed, const char *name)
{
    char *copy = ln_strdup(name);
    if (!copy)
        return LN_NO_MEMORY;
    ln_tensor_list_entry_take_name(listed, copy);
    return LN_OK;
}

static ln_status read_floats(const widening *w, ln_op *op)
{
    ln_tensor_list_entry *listed;
    LN_LIST_FOREACH (listed, op->op_arg->tensors_in) {
        const char *floats = ln_hash_find(w->wide, listed->name);
        if (floats)
            LN_TRY(rename_tensor(listed, floats));
    }
    return LN_OK;
}

static tl_dtype dtype_of(const ln_context *ctx, const char *tname)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, tname);
    return entry ? entry->tensor->dtype : TL_DTYPE_INVALID;
}

// A number that is a float after widening, if it is one before.
static bool is_real(const ln_context *ctx, const char *tname)
{
    return is_half(ctx, tname) || dtype_of(ctx, tname) == TL_FLOAT;
}

// All their values are exact in float16 and bfloat16.
#define TYPES_IN_HALF (LN_TYPE(TL_BOOL) | LN_TYPE(TL_INT8) | LN_TYPE(TL_UINT8))

// A cast to halves that may change values.
static bool is_rounding(const ln_context *ctx, const ln_op *op)
{
    if (!ln_op_is_type(op->op_arg, "cast"))
        return false;
    const ln_tensor_list_entry *in = op->op_arg->tensors_in->data;
    const ln_tensor_list_entry *out = op->op_arg->tensors_out->data;
    tl_dtype from = dtype_of(ctx, in->name), to = dtype_of(ctx, out->name);
    return is_half(ctx, out->name) && from != to && from != TL_DTYPE_INVALID &&
           !(TYPES_IN_HALF >> from & 1);
}

// Of the other casts: one to halves is one to floats; of floats it does nothing. Takes the place of
// *op.
static ln_status cast_to_floats(const widening *w, const ln_op *original, ln_op **op)
{
    const ln_tensor_list_entry *in = original->op_arg->tensors_in->data;
    const ln_tensor_list_entry *out = original->op_arg->tensors_out->data;
    ln_list **params = &(*op)->op_arg->params;
    ln_param_entry *to = ln_param_list_find(*params, "to");
    if (is_real(w->ctx, in->name) && is_real(w->ctx, out->name)) {
        ln_op *forward = ln_op_copy_to_optype(LN_ARCH.op_proto_table, *op, "forward");
        if (!forward)
            return ln_error_status();
        ln_op_free_lists_too(*op);
        *op = forward;
        ln_param_list_free(forward->op_arg->params);
        forward->op_arg->params = NULL;
    } else if (to && is_half(w->ctx, out->name)) {
        *params = ln_list_remove(*params, to);
        ln_param_entry_free(to);
        *params = ln_param_list_append_string(*params, "to", tl_dtype_name(TL_FLOAT));
        return ln_param_list_find(*params, "to") ? LN_OK : LN_NO_MEMORY;
    }
    return LN_OK;
}

static bool is_output(const ln_context *ctx, const char *tname)
{
    const ln_tensor_entry *output;
    for (size_t i = 0; (output = ln_context_output(ctx, i)); i++)
        if (ln_streq(output->name, tname))
            return true;
    return false;
}

// Whether all outputs are known at compile time: constants.
static bool is_known(const ln_context *ctx, const ln_op *op)
{
    const ln_tensor_list_entry *listed;
    LN_LIST_FOREACH (listed, op->op_arg->tensors_out) {
        const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, listed->name);
        if (!entry || !entry->known)
            return false;
    }
    return op->op_arg->tensors_out != NULL;
}

// Whether it reads elements of halves, not only their type and shape.
static bool reads_half(const ln_context *ctx, const ln_op *op)
{
    const ln_arg_info *infos = op->op_arg->info ? op->op_arg->info->ins : NULL;
    const ln_tensor_list_entry *listed;
    LN_LIST_FOREACH (listed, op->op_arg->tensors_in) {
        const ln_arg_info *info = infos;
        while (info && info->arg_name && !ln_streq(info->arg_name, listed->arg_name))
            info++;
        bool is_shape = info && info->arg_name && (info->flags & LN_ARG_SHAPE_ONLY);
        if (!is_shape && is_half(ctx, listed->name))
            return true;
    }
    return false;
}

// Whether it produces halves from other types, rounds to them, or makes constants.
static bool is_source(const ln_context *ctx, const ln_op *op)
{
    if (!has_half(ctx, op->op_arg->tensors_out))
        return false;
    return is_known(ctx, op) ||
           (ln_op_is_type(op->op_arg, "cast") ? is_rounding(ctx, op) : !reads_half(ctx, op));
}

static ln_status keep_half(widening *w, const char *tname)
{
    char *key = ln_strdup(tname);
    if (key && ln_hash_insert(w->kept, key, key) >= 0)
        return LN_OK;
    ln_free(key);
    return LN_NO_MEMORY;
}

// Sources read halves as in the model: casts back the ones that are computed in floats.
static ln_status restore_halves(widening *w, const ln_op *op)
{
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, op->op_arg->tensors_in) {
        const char *floats = ln_hash_find(w->wide, in->name);
        if (!floats || ln_hash_find(w->kept, in->name))
            continue;
        LN_TRY(push_cast(w, floats, in->name, dtype_of(w->ctx, in->name)));
        LN_TRY(keep_half(w, in->name));
    }
    return LN_OK;
}

// Whether an operator other than `output` reads it.
static bool is_read(const ln_context *ctx, const char *tname)
{
    ln_dfg_readers readers = ln_dfg_find_readers(ctx->dfg, tname);
    const ln_op *reader;
    while ((reader = ln_dfg_next_reader(&readers)) != NULL)
        if (!ln_op_is_type(reader->op_arg, "output"))
            return true;
    return false;
}

// Floats have names of their own, so that a name stands for one type whatever the passes do. What
// leaves the model is cast back.
static ln_status name_outputs(const widening *w, ln_op *op)
{
    ln_tensor_list_entry *listed;
    LN_LIST_FOREACH (listed, op->op_arg->tensors_out) {
        if (!is_half(w->ctx, listed->name))
            continue;
        const char *floats = name_floats(w, listed->name);
        LN_TRY(floats ? rename_tensor(listed, floats) : LN_NO_MEMORY);
    }
    return LN_OK;
}

// Takes the operator.
static ln_status write_floats(widening *w, ln_op *op, const ln_op *original)
{
    ln_status status = name_outputs(w, op);
    if (status != LN_OK) {
        ln_op_free_lists_too(op);
        return status;
    }
    LN_TRY(push_op(w, op));
    const ln_tensor_list_entry *before;
    LN_LIST_FOREACH (before, original->op_arg->tensors_out) {
        const char *floats = ln_hash_find(w->wide, before->name);
        const ln_tensor_entry *entry = ln_tensor_table_find(w->ctx->tensor_table, before->name);
        if (!floats || !is_output(w->ctx, before->name))
            continue;
        LN_TRY(push_cast(w, floats, before->name, entry->tensor->dtype));
        LN_TRY(keep_half(w, before->name));
    }
    return LN_OK;
}

// Constants of as many elements are written into the list in floats: rules look at their values.
#define MAX_ELEMENTS 256

// The elements of a constant, as the halves that they are; false: they are not known, or many.
static bool read_elements(const ln_context *ctx, const ln_op *op, double numbers[MAX_ELEMENTS])
{
    const ln_tensor_list_entry *out = op->op_arg->tensors_out->data;
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, out->name);
    const ln_param_entry *data = ln_param_list_find(op->op_arg->params, "data");
    uint16_t halves[MAX_ELEMENTS]; // attached ones may be at any address
    tl_tensor shown = {.dtype = entry->tensor->dtype, .len = entry->tensor->len, .data = halves};
    bool is_written = data && data->type == LN_PARAM_ARRAY_NUMBER && data->array_len == shown.len;
    // Where no output is named, a constant that nobody reads would be one.
    if (!ctx->has_output || !ln_op_is_type(op->op_arg, "create") || entry->is_input ||
        shown.len > MAX_ELEMENTS || (!is_written && !entry->attached))
        return false;
    if (!is_written)
        memcpy(halves, entry->attached, (size_t)shown.len * sizeof *halves);
    for (int i = 0; i < shown.len; i++) {
        numbers[i] = is_written ? ln_elem_round(data->value_array_double[i], shown.dtype, 0)
                                : ln_elem_real(&shown, (size_t)i);
        if (!isfinite(numbers[i]) || (numbers[i] == 0 && signbit(numbers[i])))
            return false; // which a parameter cannot say
    }
    return true;
}

static ln_status push_constant(widening *w, const ln_op *op, const double *numbers,
                               const char *floats)
{
    const ln_tensor_list_entry *out = op->op_arg->tensors_out->data;
    const tl_tensor *t = ln_tensor_table_find(w->ctx->tensor_table, out->name)->tensor;
    ln_list *outs = ln_tensor_list_append(NULL, "dst", floats);
    ln_list *params = ln_param_list_append_string(NULL, "dtype", tl_dtype_name(TL_FLOAT));
    params = ln_param_list_append_array_int(params, "dims", t->ndim, t->dims);
    params = ln_param_list_append_array_double(params, "data", t->len, numbers);
    char name[LN_MAX_NAME_LEN];
    name_op(w, name);
    ln_op *op_made = NULL;
    if (outs && ln_param_list_find(params, "dims") && ln_param_list_find(params, "data"))
        op_made = ln_op_create_from_proto(ln_op_find("create"), name, NULL, outs, params,
                                          w->ctx->tensor_table);
    if (op_made)
        return push_op(w, op_made);
    ln_tensor_list_free(outs);
    ln_param_list_free(params);
    return ln_error_status();
}

static ln_status make_floats(widening *w, const ln_op *op)
{
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        if (!is_half(w->ctx, out->name))
            continue;
        LN_TRY(keep_half(w, out->name));
        if (!is_read(w->ctx, out->name))
            continue;
        const char *floats = name_floats(w, out->name);
        if (!floats)
            return LN_NO_MEMORY;
        double numbers[MAX_ELEMENTS];
        LN_TRY(read_elements(w->ctx, op, numbers) ? push_constant(w, op, numbers, floats)
                                                  : push_cast(w, out->name, floats, TL_FLOAT));
    }
    return LN_OK;
}

// Takes the operator.
static ln_status push_source(widening *w, ln_op *copy, const ln_op *op)
{
    bool is_cast = ln_op_is_type(op->op_arg, "cast");
    ln_status status = is_cast ? read_floats(w, copy) : restore_halves(w, op);
    if (status != LN_OK) {
        ln_op_free_lists_too(copy);
        return status;
    }
    LN_TRY(push_op(w, copy));
    return make_floats(w, op);
}

// Whether the result tells a number from the half that it is rounded to: an integer, which is cut
// off, or a truth.
static bool tells_halves(const ln_context *ctx, const ln_op *op)
{
    if (!ln_op_is_type(op->op_arg, "cast") && !ln_op_is_type(op->op_arg, "compare"))
        return false;
    const ln_tensor_list_entry *out = op->op_arg->tensors_out->data;
    return has_half(ctx, op->op_arg->tensors_in) && !is_real(ctx, out->name) &&
           dtype_of(ctx, out->name) != TL_DOUBLE;
}

// Reads halves as the model has them. Takes `copy`.
static ln_status push_reader(widening *w, ln_op *copy, const ln_op *op)
{
    const ln_status status = restore_halves(w, op);
    if (status == LN_OK)
        return push_op(w, copy);
    ln_op_free_lists_too(copy);
    return status;
}

static ln_status add_op(widening *w, const ln_op *op)
{
    ln_op *copy = ln_op_copy(op);
    if (!copy)
        return ln_error_status();
    if (ln_op_is_type(op->op_arg, "output"))
        return push_op(w, copy); // it reads what is cast back
    if (is_source(w->ctx, op))
        return push_source(w, copy, op);
    if (tells_halves(w->ctx, op))
        return push_reader(w, copy, op);
    ln_status status = read_floats(w, copy);
    if (status == LN_OK && ln_op_is_type(op->op_arg, "cast"))
        status = cast_to_floats(w, op, &copy);
    if (status != LN_OK) {
        ln_op_free_lists_too(copy);
        return status;
    }
    return write_floats(w, copy, op);
}

static ln_status make_list(const ln_context *ctx, ln_list **out_ops)
{
    widening w = {.ctx = ctx};
    w.end = &w.ops;
    w.wide = ln_hash_create(ln_name_hash, ln_str_cmp, ln_free, ln_free);
    w.kept = ln_hash_create(ln_name_hash, ln_str_cmp, ln_free, NULL);
    ln_status status = w.wide && w.kept ? LN_OK : LN_NO_MEMORY;
    for (const ln_list *l = ctx->ops; l && status == LN_OK; l = l->next)
        status = add_op(&w, l->data);
    ln_hash_free(w.wide);
    ln_hash_free(w.kept);
    if (status != LN_OK) {
        free_ops(w.ops);
        w.ops = NULL;
    }
    *out_ops = w.ops;
    return status;
}

static ln_status copy_list(const ln_context *ctx, ln_list **out_ops)
{
    widening w = {.ctx = ctx};
    w.end = &w.ops;
    ln_status status = LN_OK;
    for (const ln_list *l = ctx->ops; l && status == LN_OK; l = l->next)
        status = push_op(&w, ln_op_copy(l->data));
    if (status != LN_OK) {
        free_ops(w.ops);
        w.ops = NULL;
    }
    *out_ops = w.ops;
    return status;
}

// ---- Exchanging ----

// Takes the list.
static ln_status install(ln_context *ctx, ln_list *ops)
{
    ln_context_drop_ops(ctx);
    ln_context_forget_ends(ctx);
    ctx->ops = ops;
    const ln_op *op;
    LN_LIST_FOREACH (op, ops)
        op->op_arg->context = ctx;
    return ln_context_init_ops(ctx);
}

static bool is_fatal(ln_status status)
{
    return status == LN_NO_MEMORY || status == LN_TIMEOUT || status == LN_CANCELLED ||
           status == LN_INTERNAL;
}

// If an operator refuses floats, the model is as it was, and *out_is_widened false.
static ln_status widen(ln_context *ctx, bool *out_is_widened)
{
    ln_list *before, *after;
    *out_is_widened = false;
    LN_TRY(copy_list(ctx, &before));
    ln_status status = make_list(ctx, &after);
    if (status != LN_OK) {
        free_ops(before);
        return status;
    }
    ln_error_state earlier;
    ln_error_save(&earlier);
    status = install(ctx, after);
    *out_is_widened = status == LN_OK;
    if (status == LN_OK) {
        free_ops(before);
        return LN_OK;
    }
    ln_error_state reason;
    ln_error_save(&reason);
    ln_status restored = install(ctx, before);
    if (restored != LN_OK)
        return ln_context_abandon(ctx, restored);
    ln_error_restore(is_fatal(status) ? &reason : &earlier);
    return is_fatal(status) ? status : LN_OK;
}

// ---- The pass ----

// The first operator that computes with halves at run time.
static const ln_op *find_half(const ln_context *ctx)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        const ln_op_arg *arg = op->op_arg;
        bool is_end = ln_op_is_type(arg, "input") || ln_op_is_type(arg, "create") ||
                      ln_op_is_type(arg, "output") || ln_op_is_type(arg, "cast");
        if ((has_half(ctx, arg->tensors_in) || has_half(ctx, arg->tensors_out)) && !is_end &&
            !is_known(ctx, op))
            return op;
    }
    return NULL;
}

// The type of what is open comes in the run.
static bool has_open(const ln_context *ctx)
{
    size_t cursor = 0;
    void *value;
    while (ln_hash_next(ctx->tensor_table, &cursor, NULL, &value))
        if (((const ln_tensor_entry *)value)->is_open)
            return true;
    return false;
}

static bool is_wanted(const ln_compilation *compilation)
{
    const ln_context *ctx = compilation->ctx;
    bool keeps = compilation->options && compilation->options->keeps_halves;
    return !keeps && compilation->arch_count > 0 &&
           ln_compilation_host(compilation)->is_faster_in_floats && !ctx->outer &&
           !(ctx->graphs && ln_hash_size(ctx->graphs) > 0) && !has_open(ctx);
}

ln_status ln_pass_widen(ln_compilation *compilation)
{
    const ln_op *op = is_wanted(compilation) ? find_half(compilation->ctx) : NULL;
    if (!op)
        return LN_OK;
    ln_firing_names names;
    ln_firing firing = ln_firing_of_pass("halves_in_floats", NULL, op, &names);
    firing.tag = "rounds";
    bool fires, is_widened = false;
    LN_TRY(ln_firing_decide(compilation, &firing, &fires));
    if (!fires)
        return LN_OK;
    ln_status status = widen(compilation->ctx, &is_widened);
    compilation->is_rechecked = status == LN_OK;
    if (is_widened || status != LN_OK)
        status = ln_firing_done(compilation, &firing, status);
    return is_widened && status == LN_OK ? ln_pass_dead(compilation)
                                         : status; // constants are known
}
