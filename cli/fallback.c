// SPDX-License-Identifier: Apache-2.0
// Operators that run on ref, by type.

#include "fallback.h"

#include <stdio.h>
#include <string.h>

// Types that are named; the others are only counted.
#define MAX_NAMED 6

// A model has few types of operators; those beyond are not told apart.
#define MAX_TYPES 64

typedef struct type_count {
    const char *optype;
    size_t count;
    double cost;
} type_count;

// What is computed from constants alone runs once, when the model is loaded.
int op_is_run(const ln_context *ctx, const ln_op *op)
{
    int is_static = op->op_arg->tensors_out != NULL;
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, out->name);
        is_static &= entry && entry->isstatic;
    }
    return op->run && !is_static;
}

static ln_mem_type memory_of_first(const ln_context *ctx, const ln_list *tensors)
{
    const ln_tensor_list_entry *listed = tensors ? tensors->data : NULL;
    const ln_tensor_entry *entry =
        listed ? ln_tensor_table_find(ctx->tensor_table, listed->name) : NULL;
    return entry && entry->mtype != LN_MEM_NONE ? entry->mtype : LN_MEM_CPU;
}

int op_is_copy(const ln_context *ctx, const ln_op *op)
{
    return strcmp(op->op_arg->optype, "copy_ref") == 0 &&
           memory_of_first(ctx, op->op_arg->tensors_in) !=
               memory_of_first(ctx, op->op_arg->tensors_out);
}

// What only devices need has no kernel elsewhere.
static int is_computed(const ln_context *ctx, const ln_op *op)
{
    return op_is_run(ctx, op) && !op_is_copy(ctx, op) &&
           strcmp(op->op_arg->optype, "wait_ref") != 0;
}

// Those that run graphs, whose operators have kernels of their own.
static int is_control(const ln_op *op)
{
    static const char *const types[] = {"If_ref", "Loop_ref", "Scan_ref", "SequenceMap_ref"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(op->op_arg->optype, types[i]) == 0)
            return 1;
    return 0;
}

static int is_ref(const ln_context *ctx, const ln_op *op)
{
    return strcmp(op->op_arg->arch, "ref") == 0 && !is_control(op) && is_computed(ctx, op);
}

// Of dynamic shapes there is no cost before the run.
static int is_dynamic(const ln_context *ctx, const ln_op *op)
{
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, out->name);
        if (entry && entry->is_open)
            return 1;
    }
    return 0;
}

fallback fallback_of(const ln_context *ctx)
{
    fallback f = {0};
    double all = 0, ref = 0;
    int is_known = 1;
    const ln_op *op;
    if (!ln_context_target(ctx) || strncmp(ln_context_target(ctx), "ref", 3) == 0)
        return f;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (!is_computed(ctx, op))
            continue;
        double cost = ln_op_cost(op);
        f.op_count++;
        f.ref_count += (size_t)is_ref(ctx, op);
        all += cost;
        ref += is_ref(ctx, op) ? cost : 0;
        is_known &= !is_dynamic(ctx, op);
    }
    f.ref_cost = ref;
    f.work = !is_known ? -1 : all > 0 ? ref / all : 0;
    return f;
}

static size_t count_types(const ln_context *ctx, type_count *types)
{
    size_t count = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (!is_ref(ctx, op))
            continue;
        size_t i = 0;
        while (i < count && strcmp(types[i].optype, op->op_arg->optype) != 0)
            i++;
        if (i == MAX_TYPES)
            continue;
        if (i == count)
            types[count++] = (type_count){.optype = op->op_arg->optype};
        types[i].count++;
        types[i].cost += ln_op_cost(op);
    }
    return count;
}

// The dearest first.
static void sort_types(type_count *types, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        type_count moved = types[i];
        size_t at = i;
        for (; at > 0 && types[at - 1].cost < moved.cost; at--)
            types[at] = types[at - 1];
        types[at] = moved;
    }
}

void fallback_text(const ln_context *ctx, char *text, size_t size)
{
    fallback f = fallback_of(ctx);
    type_count types[MAX_TYPES];
    size_t count = count_types(ctx, types);
    sort_types(types, count);
    char share[32] = "";
    if (f.work >= 0)
        snprintf(share, sizeof share, ", %.0f %% of the work,", 100 * f.work);
    int len = snprintf(text, size, "%zu of %zu operators%s have no kernel on %.*s and run on ref",
                       f.ref_count, f.op_count, share, (int)strcspn(ln_context_target(ctx), ","),
                       ln_context_target(ctx));
    for (size_t i = 0; i < count && i < MAX_NAMED && len > 0 && (size_t)len < size; i++)
        len += snprintf(text + len, size - (size_t)len, "%s%.*s %zu", i ? ", " : ": ",
                        (int)strlen(types[i].optype) - 4, types[i].optype, types[i].count);
    if (count > MAX_NAMED && len > 0 && (size_t)len < size)
        snprintf(text + len, size - (size_t)len, ", ...");
}
