// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs stay what and where they are: programs ask for them by their place. Where no
// `output` operators name the outputs, each tensor that no operator reads is one; passes would add
// to these and take from them, so they are named first. Passes move operators, so `input` operators
// go to the front at last, and `output` operators to the end, both in the model's order. Memory is
// as it was: inputs live from the first operator on, and outputs to the last.

#include "pass/ends.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <lightnet/allocator.h>
#include <lightnet/arch.h>
#include <lightnet/util.h>

#include "base/name_hash.h"
#include "ir/context.h"

// ---- Naming ----

static ln_op *make_output(const ln_context *ctx, const char *tensor, size_t *number)
{
    const ln_op *proto = ln_op_find("output");
    char name[32];
    do
        snprintf(name, sizeof name, "output%zu", (*number)++);
    while (ln_op_table_find(ctx->op_table, name));
    ln_list *ins = proto ? ln_tensor_list_append(NULL, "src", tensor) : NULL;
    ln_op *op =
        ins ? ln_op_create_from_proto(proto, name, ins, NULL, NULL, ctx->tensor_table) : NULL;
    if (!op)
        ln_tensor_list_free(ins);
    return op;
}

static ln_status make_outputs(const ln_context *ctx, ln_list **out_ops)
{
    ln_list_builder builder = {0};
    size_t number = 0;
    const char *tensor;
    ln_status status = LN_OK;
    for (size_t i = 0; (tensor = ln_context_output_name(ctx, i)) && status == LN_OK; i++) {
        ln_op *op = make_output(ctx, tensor, &number);
        status = op ? ln_list_builder_push(&builder, op) : ln_error_status();
        if (op && status != LN_OK)
            ln_op_free_lists_too(op);
    }
    *out_ops = builder.list;
    return status;
}

static ln_status name_outputs(ln_context *ctx)
{
    ln_list *ops, *end = NULL;
    ln_status status = make_outputs(ctx, &ops);
    if (status == LN_OK && ops)
        status = ln_context_replace_ops(ctx, &end, 0, ops);
    if (status != LN_OK)
        ln_op_list_free_lists_too(ops);
    else
        ctx->has_output = ops != NULL;
    return status;
}

// ---- Order ----

static const char *end_name(const ln_op *op, bool is_output)
{
    const ln_list *list = is_output ? op->op_arg->tensors_in : op->op_arg->tensors_out;
    return list ? ((const ln_tensor_list_entry *)list->data)->name : "";
}

static bool is_end(const ln_op *op, bool is_output)
{
    return is_output ? ln_op_is_type(op->op_arg, "output") : ln_op_is_input(op->op_arg);
}

static ln_status note_place(ln_hash *places, const char *name, size_t place)
{
    char *copy = ln_strdup(name);
    if (copy && ln_hash_insert(places, copy, (void *)(uintptr_t)(place + 1)) >= 0)
        return LN_OK;
    ln_free(copy);
    return LN_NO_MEMORY;
}

static ln_status note_places(const ln_context *ctx, bool is_output, ln_hash **out_places)
{
    *out_places = ln_hash_create(ln_name_hash, ln_str_cmp, ln_free, NULL);
    if (!*out_places)
        return LN_NO_MEMORY;
    size_t place = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        if (is_end(op, is_output))
            LN_TRY(note_place(*out_places, end_name(op, is_output), place++));
    return LN_OK;
}

typedef struct placed_op {
    size_t place;
    ln_op *op;
} placed_op;

static int compare_places(const void *a, const void *b)
{
    size_t x = ((const placed_op *)a)->place, y = ((const placed_op *)b)->place;
    return (x > y) - (x < y);
}

// Where it goes: inputs first, then what is neither, in the order that it has, then outputs.
static size_t place_of(const ln_ends_order *order, const ln_op *op, size_t position, size_t count)
{
    for (int is_output = 0; is_output < 2; is_output++) {
        if (!is_end(op, is_output))
            continue;
        uintptr_t place =
            (uintptr_t)ln_hash_find(order->places[is_output], end_name(op, is_output));
        return (is_output ? 2 * count : 0) + (place ? (size_t)place - 1 : position);
    }
    return count + position;
}

// ---- Around the passes ----

ln_status ln_ends_order_init(ln_ends_order *order, const ln_compilation *compilation)
{
    ln_context *ctx = compilation->ctx;
    *order = (ln_ends_order){.places = {NULL, NULL}};
    bool takes_output = false;
    for (size_t i = 0; i < compilation->arch_count; i++)
        takes_output = takes_output || ln_pass_has_variant(compilation->archs[i], "output");
    if (!ctx->has_output && takes_output)
        LN_TRY(name_outputs(ctx));
    LN_TRY(note_places(ctx, false, &order->places[0]));
    return note_places(ctx, true, &order->places[1]);
}

void ln_ends_order_deinit(ln_ends_order *order)
{
    ln_hash_free(order->places[0]);
    ln_hash_free(order->places[1]);
}

ln_status ln_ends_order_restore(const ln_ends_order *order, ln_context *ctx)
{
    size_t count = (size_t)ln_list_length(ctx->ops), i = 0;
    placed_op *placed = ln_alloc_array(count + 1, sizeof *placed);
    if (!placed)
        return LN_NO_MEMORY;
    for (const ln_list *l = ctx->ops; l; l = l->next, i++)
        placed[i] = (placed_op){place_of(order, l->data, i, count), l->data};
    qsort(placed, count, sizeof *placed, compare_places);
    i = 0;
    for (ln_list *l = ctx->ops; l; l = l->next)
        l->data = placed[i++].op;
    ln_free(placed);
    ln_context_forget_ends(ctx);
    return LN_OK;
}
