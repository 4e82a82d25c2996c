// SPDX-License-Identifier: Apache-2.0
// Which inputs and outputs of a program may be in memory of the caller's.
//
// Operators of a frame read where `tensor->data` points at each run, so that moving a tensor is to
// change that pointer and those of the tensors in its memory (views, parts of a concatenation). An
// input moves unless an operator writes in its memory, which would then be the caller's; an output
// moves unless it is in the memory of another tensor, or an input is in its own.

#include <lightnet/allocator.h>

#include "arch/registry.h"
#include "ir/context.h"
#include "ir/op_life.h"
#include "program/instance.h"

// The tensor whose memory `entry` is in.
static const ln_tensor_entry *root_of(const ln_context *ctx, const ln_tensor_entry *entry)
{
    const ln_tensor_entry *owner;
    while (entry && (owner = ln_tensor_table_find(ctx->tensor_table, entry->owner)))
        entry = owner;
    return entry;
}

// The end whose memory `entry` is in; NULL if there is none. `ends` maps roots to ends.
static ln_instance_end *end_around(const ln_instance *instance, const ln_hash *ends,
                                   const ln_tensor_entry *entry)
{
    const ln_tensor_entry *root = root_of(instance->ctx, entry);
    return root ? ln_hash_find(ends, root) : NULL;
}

// An end that is there twice, as an input that is an output too, does not move.
static ln_status note_root(const ln_instance *instance, ln_hash *ends, ln_instance_end *end)
{
    const ln_context *ctx = instance->ctx;
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, end->name);
    ln_instance_end *known = entry ? ln_hash_find(ends, entry) : NULL;
    if (known)
        known->can_move = false;
    if (!entry || known || entry->owner || entry->isstatic || entry->mtype != LN_MEM_CPU)
        return LN_OK;
    const ln_op *op = ln_op_table_find(ctx->op_table, entry->creater);
    end->can_move = op && end->is_input == (ln_op_is_filled(op, entry) != 0);
    return ln_hash_insert(ends, entry, end) >= 0 ? LN_OK : ln_error_status();
}

static ln_status note_roots(const ln_instance *instance, ln_hash *ends)
{
    size_t count = instance->input_count + instance->output_count;
    for (size_t i = 0; i < count; i++)
        LN_TRY(note_root(instance, ends, &instance->ends[i]));
    for (size_t i = 0; i < instance->input_count; i++) {
        const ln_tensor_entry *entry =
            ln_tensor_table_find(instance->ctx->tensor_table, instance->ends[i].name);
        ln_instance_end *around = end_around(instance, ends, entry);
        if (around && around != &instance->ends[i])
            around->can_move = false;
    }
    return LN_OK;
}

// Steps of the plan, which few models need.
typedef struct steps {
    ln_plan *plan; // NULL: not needed yet
} steps;

static ln_status is_view(const ln_instance *instance, steps *s, size_t step, bool *out_is_view)
{
    if (!s->plan)
        LN_TRY(ln_context_plan_create(instance->ctx, &s->plan));
    *out_is_view = s->plan->steps[step].aliasing == LN_PLAN_VIEW;
    return LN_OK;
}

// An operator that runs and writes in an input's memory would write to the caller's. `step` is the
// operator's in the plan.
static ln_status block_written(const ln_instance *instance, steps *s, const ln_op *op, size_t step,
                               ln_instance_end *end)
{
    bool is_seen = true;
    if (op->run || ln_arch_runs_groups(ln_arch_find(op->op_arg->arch)))
        LN_TRY(is_view(instance, s, step, &is_seen));
    if (!is_seen)
        end->can_move = false;
    return LN_OK;
}

// An operator that computes while loading has looked at the tensor.
static ln_status block_ends_of(const ln_instance *instance, const ln_hash *ends, steps *s,
                               const ln_op *op, size_t step)
{
    const ln_op_arg *arg = op->op_arg;
    const ln_tensor_list_entry *listed;
    bool has_looked = op->static_run || ln_op_is_constant(op);
    for (const ln_list *in = has_looked ? arg->tensors_in : NULL; in; in = in->next) {
        listed = in->data;
        ln_instance_end *end =
            end_around(instance, ends, ln_tensor_table_find(arg->tensor_table, listed->name));
        if (end)
            end->can_move = false;
    }
    LN_LIST_FOREACH (listed, arg->tensors_out) {
        const ln_tensor_entry *entry = ln_tensor_table_find(arg->tensor_table, listed->name);
        ln_instance_end *end = end_around(instance, ends, entry);
        if (end && has_looked)
            end->can_move = false;
        else if (end && end->is_input && end->can_move && !ln_op_is_filled(op, entry))
            LN_TRY(block_written(instance, s, op, step, end));
    }
    return LN_OK;
}

static ln_status block_ends(const ln_instance *instance, const ln_hash *ends)
{
    steps s = {NULL};
    size_t step = 0;
    ln_status status = LN_OK;
    for (const ln_list *l = instance->ctx->ops; l && status == LN_OK; l = l->next)
        status = block_ends_of(instance, ends, &s, l->data, step++);
    ln_context_plan_free(s.plan);
    return status;
}

static void note_part(ln_instance *instance, const ln_hash *ends, const ln_tensor_entry *entry,
                      size_t index)
{
    const ln_instance_end *end = end_around(instance, ends, entry);
    if (!end || !end->can_move)
        return;
    instance->parts[instance->part_count++] = (ln_instance_part){
        .index = index,
        .end = (size_t)(end - instance->ends),
        .offset = (ptrdiff_t)(entry->offset - root_of(instance->ctx, entry)->offset)};
}

// `entries` maps tensors to their entries.
static ln_status note_entries(const ln_instance *instance, ln_hash *entries)
{
    size_t cursor = 0;
    void *value;
    while (ln_hash_next(instance->ctx->tensor_table, &cursor, NULL, &value)) {
        const ln_tensor_entry *entry = value;
        if (ln_hash_insert(entries, entry->tensor, value) < 0)
            return ln_error_status();
    }
    return LN_OK;
}

static ln_status find_parts(ln_instance *instance, ln_hash *ends, ln_hash *entries)
{
    LN_TRY(note_roots(instance, ends));
    LN_TRY(block_ends(instance, ends));
    LN_TRY(note_entries(instance, entries));
    size_t count = ln_frame_tensor_count(instance->frame);
    instance->parts = ln_alloc_array(count + 1, sizeof *instance->parts);
    if (!instance->parts)
        return LN_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        note_part(instance, ends, ln_hash_find(entries, ln_frame_source(instance->frame, i)), i);
    return LN_OK;
}

ln_status ln_instance_find_parts(ln_instance *instance)
{
    ln_hash *ends = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL);
    ln_hash *entries = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL);
    ln_status status = ends && entries ? find_parts(instance, ends, entries) : LN_NO_MEMORY;
    ln_hash_free(ends);
    ln_hash_free(entries);
    return status;
}
