// SPDX-License-Identifier: Apache-2.0
// What nobody needs goes: operators whose outputs nobody reads, in a model whose outputs are named
// by `output`. In others a tensor that nobody reads is an output. And values that are known become
// constants, so that what they were computed from is not needed either.
//
// Both walk from the last operator to the first: when one goes, those before it may follow.

#include <math.h>
#include <stdbool.h>

#include <lightnet/allocator.h>
#include <lightnet/arch.h>
#include <lightnet/util.h>

#include "ir/context.h"
#include "pass/firing.h"
#include "pass/pass.h"
#include "tensor/elem.h"

// Constants of more elements would make the printed model long.
#define MAX_ELEMENTS 256

// ---- The list, last to first ----

typedef ln_status visit_func(ln_compilation *compilation, ln_list *position);

// The visitor may exchange the operator at its position: the positions before it stay valid.
static ln_status visit_backwards(ln_compilation *compilation, visit_func visit)
{
    const ln_context *ctx = compilation->ctx;
    size_t count = (size_t)ln_list_length(ctx->ops), i = 0;
    ln_list **positions = ln_alloc_array(count + 1, sizeof *positions);
    if (!positions)
        return LN_NO_MEMORY;
    for (ln_list *l = ctx->ops; l; l = l->next)
        positions[i++] = l;
    ln_status status = LN_OK;
    while (i > 0 && status == LN_OK)
        status = visit(compilation, positions[--i]);
    ln_free(positions);
    return status;
}

// ---- Operators that nobody needs ----

// What an operator is for may be something else than its outputs.
static bool acts(const ln_op_arg *op_arg)
{
    const char *const types[] = {"input", "output", "print", "fprint"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (ln_op_is_type(op_arg, types[i]))
            return true;
    return !op_arg->tensors_out;
}

static bool is_dead(const ln_context *ctx, const ln_op *op)
{
    const ln_graph_node *node = ln_hash_find(ctx->dfg->node_table, op->op_arg->name);
    return node && !node->out_edge_nodes && !acts(op->op_arg) && !ln_op_is_input(op->op_arg);
}

static ln_status remove_dead(ln_compilation *compilation, ln_list *position)
{
    ln_context *ctx = compilation->ctx;
    const ln_op *op = position->data;
    if (!is_dead(ctx, op))
        return LN_OK;
    ln_firing_names names;
    ln_firing firing = ln_firing_of_pass("dead", "exact", op, &names);
    bool fires;
    LN_TRY(ln_firing_decide(compilation, &firing, &fires));
    if (!fires)
        return LN_OK;
    return ln_firing_done(compilation, &firing, ln_context_replace_ops(ctx, &position, 1, NULL));
}

// ---- Values that are known ----

static bool is_on_device(const ln_tensor_entry *entry)
{
    return entry->mtype != LN_MEM_NONE && entry->mtype != LN_MEM_CPU;
}

// The one tensor that a `create` can make as well, which is in main memory; NULL if there is none.
// Its elements are numbers that a double holds.
static const ln_tensor_entry *find_constant(const ln_context *ctx, const ln_op *op)
{
    const ln_list *outs = op->op_arg->tensors_out;
    if (!op->op_arg->tensors_in || !outs || outs->next)
        return NULL;
    const ln_tensor_list_entry *out = outs->data;
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, out->name);
    if (!entry || !entry->known || entry->is_open || entry->is_input || entry->owner ||
        is_on_device(entry) || entry->tensor->len > MAX_ELEMENTS ||
        !((LN_TYPES_NUMBER | LN_TYPE(TL_BOOL)) >> entry->tensor->dtype & 1))
        return NULL;
    return entry;
}

// False for one that a parameter cannot say.
static bool read_numbers(const tl_tensor *t, const void *elements, double *numbers)
{
    tl_tensor shown = {.dtype = t->dtype, .len = t->len, .data = (void *)(uintptr_t)elements};
    bool is_integer = !(LN_TYPES_FLOAT >> t->dtype & 1);
    for (int i = 0; i < t->len; i++) {
        numbers[i] =
            is_integer ? (double)ln_elem_int(&shown, (size_t)i) : ln_elem_real(&shown, (size_t)i);
        bool is_exact = !is_integer || fabs(numbers[i]) <= 0x1p53;
        if (!isfinite(numbers[i]) || !is_exact || (numbers[i] == 0 && signbit(numbers[i])))
            return false;
    }
    return true;
}

static ln_list *push_params(const tl_tensor *t, const double *numbers)
{
    ln_list *params = ln_param_list_append_string(NULL, "dtype", tl_dtype_name(t->dtype));
    params = ln_param_list_append_array_int(params, "dims", t->ndim, t->dims);
    params = ln_param_list_append_array_double(params, "data", t->len, numbers);
    if (ln_param_list_find(params, "dtype") && ln_param_list_find(params, "dims") &&
        ln_param_list_find(params, "data"))
        return params;
    ln_param_list_free(params);
    return NULL;
}

static ln_op *make_create(const ln_context *ctx, const ln_op *op, const ln_tensor_entry *entry,
                          const double *numbers)
{
    const ln_op *proto = ln_op_find("create");
    ln_list *params = push_params(entry->tensor, numbers);
    ln_list *outs = ln_tensor_list_append(NULL, "dst", entry->name);
    ln_op *create = NULL;
    if (proto && params && outs)
        create =
            ln_op_create_from_proto(proto, op->op_arg->name, NULL, outs, params, ctx->tensor_table);
    if (!create) {
        ln_tensor_list_free(outs);
        ln_param_list_free(params);
    }
    return create;
}

static ln_status exchange(ln_context *ctx, ln_list *position, ln_op *create)
{
    ln_list *new_ops = NULL;
    ln_status status = ln_list_push(&new_ops, create);
    if (status != LN_OK) {
        ln_op_free_lists_too(create);
        return status;
    }
    status = ln_context_replace_ops(ctx, &position, 1, new_ops);
    if (status != LN_OK)
        ln_op_list_free_lists_too(new_ops);
    return status;
}

static ln_status make_constant(ln_compilation *compilation, ln_list *position)
{
    ln_context *ctx = compilation->ctx;
    const ln_op *op = position->data;
    const ln_tensor_entry *entry = find_constant(ctx, op);
    double numbers[MAX_ELEMENTS];
    if (!entry || !read_numbers(entry->tensor, entry->known, numbers))
        return LN_OK;
    ln_firing_names names;
    ln_firing firing = ln_firing_of_pass("known", "exact", op, &names);
    bool fires;
    LN_TRY(ln_firing_decide(compilation, &firing, &fires));
    if (!fires)
        return LN_OK;
    ln_op *create = make_create(ctx, op, entry, numbers);
    return ln_firing_done(compilation, &firing,
                          create ? exchange(ctx, position, create) : ln_error_status());
}

ln_status ln_pass_dead(ln_compilation *compilation)
{
    // A `create` of zeros may be an input where no `input` is.
    if (compilation->ctx->has_input)
        LN_TRY(visit_backwards(compilation, make_constant));
    if (!compilation->ctx->has_output)
        return LN_OK;
    return visit_backwards(compilation, remove_dead);
}
