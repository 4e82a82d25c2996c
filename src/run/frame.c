// SPDX-License-Identifier: Apache-2.0
// Making frames and copying them.

#include "run/frame.h"

#include <stdint.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/op_info.h>
#include <lightnet/op_support.h>

#include "arch/registry.h"
#include "ir/context.h"
#include "ir/op_life.h"
#include "op/call.h"
#include "op/call_prepare.h"
#include "run/group.h"
#include "run/step.h"

typedef struct frame_step {
    ln_step step;
    const ln_op_arg *arg; // of the only operator, in the frame, or of the first of a group
    double cost;          // when it is done
    size_t wait;          // of one that starts a group: the step that waits for it
} frame_step;

struct ln_frame {
    size_t byte_count;
    size_t tensor_count, call_count, step_count, address_count;
    tl_tensor *tensors;
    ln_op_arg *args;
    ln_call *calls;
    frame_step *steps;
    tl_tensor **addresses;
    // Of the first frame alone: the tensor of the context, and its offset in the workspace of its
    // memory.
    const tl_tensor **sources;
    size_t *offsets; // NOT_THERE: it is elsewhere
    uint8_t *memories;
};

#define NOT_THERE SIZE_MAX

// ---- Which models fit ----

static bool is_grouped(const ln_op *op)
{
    return ln_arch_runs_groups(ln_arch_find(op->op_arg->arch));
}

// A step by itself.
static bool is_step(const ln_op *op)
{
    return op->run && !is_grouped(op) && !ln_op_is_constant(op);
}

// The group of the context, LOADED, that begins at `op`, not yet at *index of its groups, which
// moves on; NULL: none does.
static ln_group *group_at(const ln_context *ctx, const ln_op *op, size_t *index)
{
    const struct ln_runner *r = ctx->runner;
    return *index < r->group_count && r->groups[*index]->first == op ? r->groups[(*index)++] : NULL;
}

// The group of the context, LOADED, that the operator waits for; NULL: it does something else.
static ln_group *group_waited_for(const ln_context *ctx, const ln_op *op)
{
    return ln_group_of_wait(ctx->runner->groups, ctx->runner->group_count, op);
}

// An attribute is found by its name, in the table of the context, so only a constant will do.
static bool has_open_attribute(const ln_op_arg *arg)
{
    for (const ln_arg_info *info = arg->info->ins; info->arg_name; info++) {
        const ln_tensor_entry *entry =
            info->flags & LN_ARG_ATTRIBUTE
                ? ln_tensor_list_find_entry(arg->tensors_in, arg->tensor_table, info->arg_name)
                : NULL;
        if (entry && (!entry->isstatic || entry->is_input))
            return true;
    }
    return false;
}

static bool fits(const ln_op *op, bool is_loaded)
{
    const ln_call *call = op->run == ln_call_run ? ln_call_of(op->op_arg) : NULL;
    return call && (is_loaded ? ln_call_is_complete(call) : call->is_fixed) &&
           !has_open_attribute(op->op_arg);
}

// A group computes in each run, so sessions would write what they share.
static bool makes_static(const ln_op *op)
{
    const ln_op_arg *arg = op->op_arg;
    const ln_tensor_list_entry *out;
    if (!arg->tensors_in)
        return false; // it is there after loading
    LN_LIST_FOREACH (out, arg->tensors_out) {
        const ln_tensor_entry *entry = ln_tensor_table_find(arg->tensor_table, out->name);
        if (entry && entry->isstatic)
            return true;
    }
    return false;
}

// What callers set and look at has to be in main memory.
static bool is_end_on_device(const ln_context *ctx, const ln_tensor_entry *entry)
{
    const ln_tensor_entry *end;
    if (entry->mtype == LN_MEM_CPU)
        return false;
    if (entry->is_input)
        return true;
    for (size_t i = 0; (end = ln_context_output(ctx, i)); i++)
        if (end == entry)
            return true;
    return false;
}

bool ln_frame_fits(const ln_context *ctx)
{
    ln_unplanned unplanned = ln_context_unplanned(ctx);
    bool has_graphs = ctx->graphs && ln_hash_size(ctx->graphs) > 0;
    if (has_graphs || ctx->writes || unplanned.tensor_count > 0 || unplanned.op_count > 0)
        return false;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        if (is_step(op) ? !fits(op, ctx->state == LN_CONTEXT_LOADED)
                        : is_grouped(op) && makes_static(op))
            return false;
    size_t cursor = 0;
    void *value;
    while (ln_hash_next(ctx->tensor_table, &cursor, NULL, &value)) {
        const ln_tensor_entry *entry = value;
        if (entry->is_open || entry->mtype == LN_MEM_NONE || is_end_on_device(ctx, entry))
            return false;
    }
    return true;
}

// ---- Which tensors it has ----

// Number of each, plus 1, so that it is no NULL.
static ln_status number_tensor(ln_hash *numbers, const tl_tensor *tensor)
{
    size_t next = (size_t)ln_hash_size(numbers) + 1;
    if (!tensor || ln_hash_find(numbers, tensor))
        return LN_OK;
    return ln_hash_insert(numbers, tensor, (void *)next) < 0 ? ln_error_status() : LN_OK;
}

static ln_status number_call(ln_hash *numbers, const ln_call *call)
{
    for (int k = 0; k < call->in_count + call->out_count; k++)
        LN_TRY(number_tensor(numbers, call->step.tensors[k]));
    return number_tensor(numbers, call->step.workspace);
}

static ln_status number_group(ln_hash *numbers, const ln_group *group)
{
    for (size_t k = 0; k < group->address_count; k++)
        LN_TRY(number_tensor(numbers, group->addresses[k]));
    return LN_OK;
}

static ln_status number_tensors(const ln_context *ctx, ln_hash *numbers)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        if (is_step(op))
            LN_TRY(number_call(numbers, ln_call_of(op->op_arg)));
    for (size_t i = 0; i < ctx->runner->group_count; i++)
        LN_TRY(number_group(numbers, ctx->runner->groups[i]));
    const ln_tensor_entry *end;
    for (size_t i = 0; (end = ln_context_input(ctx, i)); i++)
        LN_TRY(number_tensor(numbers, end->tensor));
    for (size_t i = 0; (end = ln_context_output(ctx, i)); i++)
        LN_TRY(number_tensor(numbers, end->tensor));
    return LN_OK;
}

size_t ln_frame_find(const ln_frame *frame, const tl_tensor *tensor)
{
    size_t i = 0;
    while (frame->sources[i] != tensor)
        i++;
    return i;
}

size_t ln_frame_tensor_count(const ln_frame *frame)
{
    return frame->tensor_count;
}

const tl_tensor *ln_frame_source(const ln_frame *frame, size_t index)
{
    return frame->sources[index];
}

tl_tensor *ln_frame_tensor(ln_frame *frame, size_t index)
{
    return &frame->tensors[index];
}

void *ln_frame_own_address(const ln_frame *frame, size_t index, void *workspace)
{
    return (char *)workspace + frame->offsets[index];
}

// ---- The first frame ----

static size_t address_count_of(const ln_call *call)
{
    return (size_t)call->in_count + (size_t)call->out_count;
}

static void count(const ln_context *ctx, const ln_hash *numbers, ln_frame *f)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        bool is_wait = group_waited_for(ctx, op) != NULL;
        f->step_count += is_wait;
        if (is_wait || !is_step(op))
            continue;
        f->call_count++;
        f->address_count += address_count_of(ln_call_of(op->op_arg));
    }
    f->step_count += f->call_count + ctx->runner->group_count;
    for (size_t i = 0; i < ctx->runner->group_count; i++)
        f->address_count += ctx->runner->groups[i]->address_count;
    f->tensor_count = (size_t)ln_hash_size(numbers);
    f->byte_count = sizeof *f + f->tensor_count * sizeof *f->tensors +
                    f->call_count * (sizeof *f->args + sizeof *f->calls) +
                    f->step_count * sizeof *f->steps + f->address_count * sizeof *f->addresses;
}

static void lay_out(ln_frame *f)
{
    f->tensors = (tl_tensor *)(f + 1);
    f->args = (ln_op_arg *)(f->tensors + f->tensor_count);
    f->calls = (ln_call *)(f->args + f->call_count);
    f->steps = (frame_step *)(f->calls + f->call_count);
    f->addresses = (tl_tensor **)(f->steps + f->step_count);
}

// What is not in the table of the context is in main memory.
static void fill_memories(const ln_context *ctx, const ln_hash *numbers, ln_frame *f)
{
    memset(f->memories, LN_MEM_CPU, f->tensor_count);
    size_t cursor = 0;
    void *value;
    while (ln_hash_next(ctx->tensor_table, &cursor, NULL, &value)) {
        const ln_tensor_entry *entry = value;
        size_t number = (size_t)ln_hash_find(numbers, entry->tensor);
        if (number)
            f->memories[number - 1] = (uint8_t)entry->mtype;
    }
}

// A context that was loaded by itself has its static tensors first in the same block.
static size_t offset_of(const ln_context *ctx, const void *data, ln_mem_type mtype)
{
    uintptr_t start = (uintptr_t)ln_memory_start(ctx->memory, mtype);
    size_t size = start ? ln_memory_size(ctx->memory, mtype) : 0;
    size_t first = ctx->memory == ctx->static_memory ? ctx->static_sizes[mtype] : 0;
    size_t at = (uintptr_t)data - start;
    return data && at >= first && at < size ? at - first : NOT_THERE;
}

static void fill_tensors(const ln_context *ctx, const ln_hash *numbers, ln_frame *f)
{
    fill_memories(ctx, numbers, f);
    size_t cursor = 0;
    const void *tensor;
    void *number;
    while (ln_hash_next(numbers, &cursor, &tensor, &number)) {
        size_t i = (size_t)number - 1;
        f->sources[i] = tensor;
        f->tensors[i] = *f->sources[i];
        f->offsets[i] = offset_of(ctx, f->tensors[i].data, (ln_mem_type)f->memories[i]);
    }
}

static tl_tensor *numbered(ln_frame *f, const ln_hash *numbers, const tl_tensor *tensor)
{
    size_t number = tensor ? (size_t)ln_hash_find(numbers, tensor) : 0;
    return number > 0 ? &f->tensors[number - 1] : NULL;
}

static void fill_call(ln_frame *f, size_t number, tl_tensor **addresses, const ln_call *call,
                      const ln_hash *numbers)
{
    ln_call *copy = &f->calls[number];
    *copy = *call;
    copy->op_arg = &f->args[number];
    *copy->op_arg = *call->op_arg;
    copy->op_arg->priv = copy;
    ln_call_complete(copy);
    copy->step.tensors = addresses;
    for (size_t k = 0; k < address_count_of(call); k++)
        addresses[k] = numbered(f, numbers, call->step.tensors[k]);
    copy->step.workspace = numbered(f, numbers, call->step.workspace);
}

// The step of the group becomes two: its start, and this one.
static void fill_wait(const ln_context *ctx, const ln_frame *f, const ln_op *wait, frame_step *step)
{
    ln_group *group = group_waited_for(ctx, wait);
    frame_step *start = f->steps;
    while (start->step.block != group) // which the list has before; load has checked that
        start++;
    start->step.function = ln_group_start;
    start->wait = (size_t)(step - f->steps);
    start->cost = 0;
    *step =
        (frame_step){{ln_group_wait, group, start->step.addresses}, wait->op_arg, group->cost, 0};
}

static void fill_steps(const ln_context *ctx, ln_frame *f, const ln_hash *numbers)
{
    size_t call_number = 0, group_number = 0;
    tl_tensor **addresses = f->addresses;
    frame_step *step = f->steps;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        ln_group *group = group_at(ctx, op, &group_number);
        if (group) {
            *step++ = (frame_step){{ln_group_run, group, addresses}, op->op_arg, group->cost, 0};
            for (size_t k = 0; k < group->address_count; k++)
                *addresses++ = numbered(f, numbers, group->addresses[k]);
        } else if (group_waited_for(ctx, op)) {
            fill_wait(ctx, f, op, step++);
        } else if (is_step(op)) {
            const ln_call *call = ln_call_of(op->op_arg);
            *step++ = (frame_step){{ln_step_run_call, &f->calls[call_number], addresses},
                                   &f->args[call_number],
                                   ln_op_cost(op),
                                   0};
            fill_call(f, call_number++, addresses, call, numbers);
            addresses += address_count_of(call);
        }
    }
}

static ln_status create(const ln_context *ctx, const ln_hash *numbers, ln_frame **out_frame)
{
    ln_frame counted = {0};
    count(ctx, numbers, &counted);
    size_t more = counted.tensor_count *
                  (sizeof *counted.sources + sizeof *counted.offsets + sizeof *counted.memories);
    ln_frame *f = ln_alloc(counted.byte_count + more);
    *out_frame = f;
    if (!f)
        return LN_NO_MEMORY;
    *f = counted;
    lay_out(f);
    f->sources = (void *)(f->addresses + f->address_count);
    f->offsets = (size_t *)(f->sources + f->tensor_count);
    f->memories = (uint8_t *)(f->offsets + f->tensor_count);
    fill_tensors(ctx, numbers, f);
    fill_steps(ctx, f, numbers);
    return LN_OK;
}

ln_status ln_frame_create(const ln_context *ctx, ln_frame **out_frame)
{
    *out_frame = NULL;
    ln_hash *numbers = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL);
    ln_status status = numbers ? number_tensors(ctx, numbers) : LN_NO_MEMORY;
    if (status == LN_OK)
        status = create(ctx, numbers, out_frame);
    ln_hash_free(numbers);
    return status;
}

// ---- Copies ----

static tl_tensor *moved(const ln_frame *from, const ln_frame *to, const tl_tensor *tensor)
{
    return tensor ? &to->tensors[tensor - from->tensors] : NULL;
}

static void move_calls(const ln_frame *from, const ln_frame *to, ln_context *ctx)
{
    for (size_t k = 0; k < to->address_count; k++)
        to->addresses[k] = moved(from, to, from->addresses[k]);
    for (size_t i = 0; i < to->call_count; i++) {
        ln_call *call = &to->calls[i];
        call->op_arg = &to->args[i];
        call->op_arg->priv = call;
        call->op_arg->context = ctx;
        call->step.tensors = to->addresses + (from->calls[i].step.tensors - from->addresses);
        call->step.workspace = moved(from, to, call->step.workspace);
    }
}

// Groups stay the same.
static void move_steps(const ln_frame *from, const ln_frame *to)
{
    ln_call *call = to->calls;
    for (size_t i = 0; i < to->step_count; i++) {
        frame_step *step = &to->steps[i];
        step->step.addresses = to->addresses + (from->steps[i].step.addresses - from->addresses);
        if (step->step.function != ln_step_run_call)
            continue;
        step->step.block = call;
        step->arg = call++->op_arg;
    }
}

ln_status ln_frame_copy(const ln_frame *from, const ln_memory *workspace, ln_context *ctx,
                        ln_frame **out_frame)
{
    ln_frame *to = ln_realloc(NULL, from->byte_count); // all of it is copied
    *out_frame = to;
    if (!to)
        return LN_NO_MEMORY;
    memcpy(to, from, from->byte_count);
    lay_out(to);
    for (size_t i = 0; i < to->tensor_count; i++)
        if (from->offsets[i] != NOT_THERE)
            to->tensors[i].data =
                (char *)ln_memory_start(workspace, (ln_mem_type)from->memories[i]) +
                from->offsets[i];
    move_calls(from, to, ctx);
    move_steps(from, to);
    return LN_OK;
}

// ---- Running ----

size_t ln_frame_step_count(const ln_frame *frame)
{
    return frame->step_count;
}

ln_status ln_frame_run_step(const ln_frame *frame, size_t step)
{
    return ln_step_run(&frame->steps[step].step);
}

bool ln_frame_is_wait(const ln_frame *frame, size_t step)
{
    return frame->steps[step].step.function == ln_group_wait;
}

void ln_frame_settle(const ln_frame *frame, size_t done)
{
    for (size_t i = 0; i < done; i++) {
        const ln_step *step = &frame->steps[i].step;
        if (step->function == ln_group_start && frame->steps[i].wait >= done)
            (void)ln_group_wait(step->block, step->addresses);
    }
}

static bool is_start(const ln_step *step)
{
    return step->function == ln_group_start || step->function == ln_group_run;
}

void ln_frame_finish(const ln_frame *frame)
{
    for (size_t i = 0; i < frame->step_count; i++) {
        const ln_step *step = &frame->steps[i].step;
        if (is_start(step))
            ln_group_finish(step->block, step->addresses);
    }
}

ln_status ln_frame_finish_in_time(const ln_frame *frame, const ln_context *ctx)
{
    for (size_t i = 0; i < frame->step_count; i++) {
        const ln_step *step = &frame->steps[i].step;
        if (is_start(step))
            LN_TRY(ln_group_finish_in_time(ctx, step->block, step->addresses));
    }
    return LN_OK;
}

void ln_frame_destroy(ln_frame *frame)
{
    if (frame)
        ln_frame_finish(frame);
    ln_free(frame);
}

double ln_frame_cost(const ln_frame *frame, size_t step)
{
    return frame->steps[step].cost;
}

const ln_op_arg *ln_frame_op(const ln_frame *frame, size_t step)
{
    return frame->steps[step].arg;
}

ln_status ln_step_run_call(void *call, tl_tensor *const *addresses)
{
    (void)addresses;
    return ln_call_run_step(call);
}
