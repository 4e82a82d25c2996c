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

static size_t place_found(const ln_ends_places *places, const char *name)
{
    return (size_t)(uintptr_t)ln_hash_find(places->first, name);
}

static ln_status set_first(ln_ends_places *places, const char *name, size_t place)
{
    char *copy = ln_strdup(name);
    if (copy && ln_hash_insert(places->first, copy, (void *)(uintptr_t)place) >= 0)
        return LN_OK;
    ln_free(copy);
    return LN_NO_MEMORY;
}

// A tensor may be several outputs; each of them has a place.
static ln_status note_places(const ln_context *ctx, bool is_output, ln_ends_places *places)
{
    size_t count = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        count += is_end(op, is_output);
    const char **names = ln_alloc_array(count + 1, sizeof *names);
    places->first = ln_hash_create(ln_name_hash, ln_str_cmp, ln_free, NULL);
    places->next = ln_alloc_array(count + 1, sizeof *places->next);
    ln_status status = names && places->first && places->next ? LN_OK : LN_NO_MEMORY;
    size_t place = 0;
    if (status == LN_OK)
        LN_LIST_FOREACH (op, ctx->ops)
            if (is_end(op, is_output))
                names[place++] = end_name(op, is_output);
    for (; place > 0 && status == LN_OK; place--) { // from the last, so that the first one remains
        places->next[place - 1] = place_found(places, names[place - 1]);
        status = set_first(places, names[place - 1], place);
    }
    ln_free(names);
    return status;
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

// *out_place receives where it goes: inputs first, then what is neither, in the order that it has,
// then outputs. A place is given to one operator.
static ln_status place_of(ln_ends_order *order, const ln_op *op, size_t position, size_t count,
                          size_t *out_place)
{
    for (int is_output = 0; is_output < 2; is_output++) {
        if (!is_end(op, is_output))
            continue;
        ln_ends_places *places = &order->places[is_output];
        size_t place = place_found(places, end_name(op, is_output));
        *out_place = (is_output ? 2 * count : 0) + (place ? place - 1 : position);
        return place ? set_first(places, end_name(op, is_output), places->next[place - 1]) : LN_OK;
    }
    *out_place = count + position;
    return LN_OK;
}

// ---- Around the passes ----

ln_status ln_ends_order_init(ln_ends_order *order, const ln_compilation *compilation)
{
    ln_context *ctx = compilation->ctx;
    *order = (ln_ends_order){0};
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
    for (int is_output = 0; is_output < 2; is_output++) {
        ln_hash_free(order->places[is_output].first);
        ln_free(order->places[is_output].next);
    }
}

ln_status ln_ends_order_restore(ln_ends_order *order, ln_context *ctx)
{
    size_t count = (size_t)ln_list_length(ctx->ops), i = 0;
    placed_op *placed = ln_alloc_array(count + 1, sizeof *placed);
    if (!placed)
        return LN_NO_MEMORY;
    ln_status status = LN_OK;
    for (const ln_list *l = ctx->ops; l && status == LN_OK; l = l->next, i++) {
        placed[i].op = l->data;
        status = place_of(order, l->data, i, count, &placed[i].place);
    }
    if (status != LN_OK) {
        ln_free(placed);
        return status;
    }
    qsort(placed, count, sizeof *placed, compare_places);
    i = 0;
    for (ln_list *l = ctx->ops; l; l = l->next)
        l->data = placed[i++].op;
    ln_free(placed);
    ln_context_forget_ends(ctx);
    return LN_OK;
}
