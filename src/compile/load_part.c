// SPDX-License-Identifier: Apache-2.0
// What belongs to loading follows from operators and entries alone, so that a compiled file's word
// for it can be checked.

#include "compile/load_part.h"

#include <lightnet/allocator.h>
#include <lightnet/arch.h>

#include "arch/registry.h"
#include "compile/runner.h"
#include "ir/dfg.h"
#include "ir/op_life.h"

// ---- Operators that run once ----

static bool is_done_by_load(const ln_op *op)
{
    return (!op->run || ln_op_is_constant(op)) &&
           !ln_arch_runs_groups(ln_arch_find(op->op_arg->arch));
}

// All that the operator makes is static, scratch memory aside.
static bool makes_constants(const ln_context *ctx, const ln_op *op)
{
    bool is_any = false;
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        if (ln_op_is_scratch(op->op_arg, out->arg_name))
            continue;
        const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, out->name);
        if (!entry || !entry->isstatic || entry->is_input || entry->is_open)
            return false;
        is_any = true;
    }
    return is_any;
}

bool ln_op_is_load(const ln_context *ctx, const ln_op *op)
{
    return is_done_by_load(op) && makes_constants(ctx, op);
}

// ---- Sinking ----

typedef struct visit {
    ln_op *op;
    const ln_list *next_in; // the inputs that are left to look at
} visit;

typedef struct sinking {
    ln_context *ctx;
    ln_hash *movers; // operators that move -> themselves, or `placed` once they have their place
    visit *stack;
    ln_list_builder sunk;
} sinking;

static char placed;

static bool is_read(const ln_context *ctx, const ln_op *op)
{
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        if (ln_op_is_scratch(op->op_arg, out->arg_name))
            continue;
        ln_dfg_readers readers = ln_dfg_find_readers(ctx->dfg, out->name);
        if (!ln_dfg_next_reader(&readers))
            return false;
    }
    return true;
}

// An operator whose description lays its output over what it reads has an order with the other
// readers that the data flow does not show.
static bool overwrites(const ln_context *ctx, const ln_op *op)
{
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, out->name);
        if (entry && entry->owner && !entry->is_placed && (op->run || op->static_run))
            return true;
    }
    return false;
}

static bool has_own_order(const ln_op *op)
{
    const ln_arch *arch = ln_arch_find(op->op_arg->arch);
    return arch && (arch->prepare || (arch->sd_funcs && arch->sd_funcs[0]));
}

// *out_is_fixed if the order may not be touched.
static ln_status find_movable(sinking *s, bool *out_is_fixed, size_t *out_count)
{
    *out_is_fixed = false;
    *out_count = 0;
    for (ln_list *l = s->ctx->ops; l; l = l->next) {
        ln_op *op = l->data;
        (*out_count)++;
        *out_is_fixed = *out_is_fixed || overwrites(s->ctx, op) || has_own_order(op);
        if (!*out_is_fixed && ln_op_is_load(s->ctx, op) && is_read(s->ctx, op) &&
            ln_hash_insert(s->movers, op, op) < 0)
            return ln_error_status();
    }
    return LN_OK;
}

static ln_op *maker_of(const ln_context *ctx, const ln_tensor_list_entry *in)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, in->name);
    return entry ? ln_op_table_find(ctx->op_table, entry->creater) : NULL;
}

// Places the operator after what it needs of those that move.
static ln_status place(sinking *s, ln_op *op)
{
    size_t depth = 0;
    s->stack[depth++] = (visit){op, op->op_arg->tensors_in};
    while (depth > 0) {
        visit *top = &s->stack[depth - 1];
        if (!top->next_in) {
            LN_TRY(ln_list_builder_push(&s->sunk, top->op));
            depth--;
            continue;
        }
        ln_op *maker = maker_of(s->ctx, top->next_in->data);
        top->next_in = top->next_in->next;
        if (!maker || ln_hash_find(s->movers, maker) != maker)
            continue;
        if (ln_hash_insert(s->movers, maker, &placed) < 0) // so that it is on the stack once
            return ln_error_status();
        s->stack[depth++] = (visit){maker, maker->op_arg->tensors_in};
    }
    return LN_OK;
}

static ln_status sink(sinking *s)
{
    bool is_fixed;
    size_t count;
    LN_TRY(find_movable(s, &is_fixed, &count));
    if (is_fixed || ln_hash_size(s->movers) == 0)
        return LN_OK;
    s->stack = ln_alloc_array(count, sizeof *s->stack);
    if (!s->stack)
        return LN_NO_MEMORY;
    // An operator that moves has readers, and at the end of these is one that does not.
    for (ln_list *l = s->ctx->ops; l; l = l->next) {
        if (!ln_hash_find(s->movers, l->data))
            LN_TRY(place(s, l->data));
    }
    ln_list_free(s->ctx->ops);
    s->ctx->ops = s->sunk.list;
    s->ctx->ops_last = NULL;
    s->sunk = (ln_list_builder){0};
    return LN_OK;
}

ln_status ln_context_sink_constants(ln_context *ctx)
{
    sinking s = {.ctx = ctx, .movers = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL)};
    ln_status status = s.movers ? sink(&s) : LN_NO_MEMORY;
    ln_list_free(s.sunk.list);
    ln_free(s.stack);
    ln_hash_free(s.movers);
    return status;
}

// ---- Values that are there while loading ----

static void note_writes(const ln_plan_records *r, const ln_op *op, bool *may_load)
{
    const ln_tensor_list_entry *out;
    uint32_t i;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        if (ln_plan_records_find(r, out->name, &i))
            may_load[i] = !r->values[i].is_output;
    }
}

static void note_reads(const ln_plan_records *r, const ln_op *op, bool *may_load)
{
    const ln_tensor_list_entry *in;
    uint32_t i;
    LN_LIST_FOREACH (in, op->op_arg->tensors_in) {
        if (ln_plan_records_find(r, in->name, &i))
            may_load[i] = false;
    }
}

// What the part writes, its scratch memory too; and nobody else reads.
void ln_plan_find_load(const ln_context *ctx, const ln_plan_records *r, bool *may_load)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (ln_op_is_load(ctx, op))
            note_writes(r, op, may_load);
        else
            note_reads(r, op, may_load);
    }
}

static uint32_t root_of(const ln_plan_records *r, uint32_t i)
{
    while (r->owners[i] != i)
        i = r->owners[i];
    return i;
}

ln_status ln_plan_mark_load(const ln_context *ctx, ln_plan_records *r)
{
    size_t count = r->plan.value_count;
    bool *may_load = ln_alloc_array(count, sizeof *may_load);
    if (!may_load)
        return LN_NO_MEMORY;
    ln_plan_find_load(ctx, r, may_load);
    for (uint32_t i = 0; i < count; i++)
        may_load[root_of(r, i)] = may_load[root_of(r, i)] && may_load[i];
    for (uint32_t i = 0; i < count; i++) {
        if (!may_load[root_of(r, i)])
            continue;
        r->values[i].is_static = 1;
        r->values[i].is_load = 1;
    }
    ln_free(may_load);
    return LN_OK;
}
