// SPDX-License-Identifier: Apache-2.0
// Memory of a call: blocks one after the other. While a model is planned they are only counted; in
// a run they are in the tensor that the plan has for them, or come from the meter of the model
// where nobody could know their sizes before.

#include "op/call.h"

#include <limits.h>
#include <string.h>

#include <lightnet/context.h>
#include <lightnet/op_info.h>

#include "base/checked.h"
#include "ir/context.h"
#include "ir/scratch.h"

// Each block begins at a multiple of so many bytes.
#define BLOCK_ALIGN ((size_t)64)

// What a block is at that has no bytes, or is only counted. Nobody reads or writes there.
#define NOWHERE ((void *)(uintptr_t)BLOCK_ALIGN)

// ---- Counting ----

// A model that was written for an arch may lack a tensor that its operator works in.
static bool lacks_output(const ln_call *call)
{
    for (const ln_arg_info *out = call->info->outs; out->arg_name; out++)
        if ((out->flags & LN_ARG_SCRATCH) &&
            !ln_tensor_list_find_by_arg_name(call->op_arg->tensors_out, out->arg_name))
            return true;
    return false;
}

static bool has_open_output(const ln_call *call)
{
    for (int i = 0; i < call->out_count; i++)
        if (call->outs[i].entry && call->outs[i].entry->is_open)
            return true;
    return false;
}

void ln_call_count_workspace(ln_call *call, const ln_op_info *info)
{
    ln_status status = LN_OK;
    call->workspace_bytes = SIZE_MAX;
    bool is_open = call->is_open || has_open_output(call) || lacks_output(call);
    if (is_open || !info || !info->compute)
        return;
    call->scratch_bytes = call->infer_bytes;
    call->is_counting = true;
    ln_call_show_known(call, true);
    if (info->workspace)
        status = info->workspace(call);
    ln_call_show_known(call, false);
    call->is_counting = false;
    if (status == LN_OK && call->op_arg->status == LN_OK)
        call->workspace_bytes = call->scratch_bytes;
    call->op_arg->status = LN_OK;
    call->scratch_bytes = 0;
}

int ln_call_is_counting(const ln_call *call)
{
    return call->is_counting;
}

// ---- The tensor of the plan ----

static ln_call *call_of(const ln_op_arg *op_arg)
{
    bool has_call = op_arg->info && op_arg->info->infer && op_arg->info->compute &&
                    op_arg->is_checked && !op_arg->is_waiting;
    return has_call ? op_arg->priv : NULL;
}

size_t ln_call_unplanned_workspace(const ln_op_arg *op_arg)
{
    const ln_call *call = call_of(op_arg);
    return call && !call->step.workspace ? call->workspace_bytes : 0;
}

ln_status ln_call_define_workspace(ln_call *call)
{
    call->step.workspace = NULL;
    if (!ln_tensor_list_find_by_arg_name(call->op_arg->tensors_out, LN_SCRATCH))
        return LN_OK;
    size_t byte_count = call->workspace_bytes == SIZE_MAX ? 0 : call->workspace_bytes;
    size_t count = byte_count / sizeof(double), most = (size_t)INT_MAX * sizeof(double);
    if (byte_count > most)
        return ln_call_fail(call, LN_LIMIT, "needs %zu bytes of workspace, over the limit of %zu",
                            byte_count, most);
    const ln_tensor_entry *entry = ln_op_define_output(
        call->op_arg, LN_SCRATCH, 1, (const int[]){(int)count}, TL_DOUBLE, LN_MEM_CPU, 0, NULL);
    if (!entry)
        return call->op_arg->status;
    call->step.workspace = entry->tensor;
    return LN_OK;
}

// ---- Taking ----

static size_t memory_limit(const ln_call *call)
{
    const ln_context *ctx = call->op_arg->context;
    return ctx ? ctx->limits.memory_byte_count : SIZE_MAX;
}

static bool is_free(const ln_call *call, size_t sum)
{
    return call->is_preparing && sum <= LN_SCRATCH_FREE_BYTES;
}

// The sum of all blocks with this one.
static ln_status add_block(ln_call *call, size_t count, size_t size, size_t *out_sum)
{
    size_t byte_count;
    if (!ln_size_mul(count, size, &byte_count) ||
        !ln_size_add(byte_count, BLOCK_ALIGN - 1, &byte_count) ||
        !ln_size_add(byte_count & ~(BLOCK_ALIGN - 1), call->scratch_bytes, out_sum))
        return ln_call_fail(call, LN_LIMIT, "needs %zu times %zu bytes of workspace", count, size);
    if (call->is_counting)
        return LN_OK;
    // What a plan says of an operator holds: one that takes more says so.
    if (call->is_run && !call->is_preparing && *out_sum > call->workspace_bytes)
        return ln_call_fail(call, LN_INTERNAL,
                            "takes %zu bytes of workspace, but by its description %zu: see "
                            "`workspace`",
                            *out_sum, call->workspace_bytes);
    if (*out_sum > memory_limit(call) && !is_free(call, *out_sum))
        return ln_call_fail(call, LN_LIMIT,
                            "needs %zu bytes of workspace, over the memory limit of %zu", *out_sum,
                            memory_limit(call));
    return LN_OK;
}

static void *take_from_meter(ln_call *call, size_t byte_count)
{
    bool is_charged = !is_free(call, call->scratch_bytes);
    ln_scratch *block = ln_scratch_take(is_charged ? call->op_arg->context : NULL, byte_count);
    if (!block) {
        (void)ln_call_fail(call, ln_error_status(), "%s", ln_error_message());
        return NULL;
    }
    block->next = call->scratch;
    call->scratch = block;
    return block->bytes;
}

void *ln_call_scratch(ln_call *call, size_t count, size_t size)
{
    size_t begin = call->scratch_bytes, sum;
    if (add_block(call, count, size, &sum) != LN_OK)
        return NULL;
    call->scratch_bytes = sum;
    if (call->is_counting || sum == begin)
        return NOWHERE;
    const tl_tensor *planned = call->is_run && !call->is_preparing ? call->step.workspace : NULL;
    if (!planned || !planned->data || sum > tl_tensor_size(planned))
        return take_from_meter(call, count * size);
    void *block = (char *)planned->data + begin;
    memset(block, 0, count * size);
    return block;
}

void ln_call_release_scratch(ln_call *call)
{
    while (call->scratch) {
        ln_scratch *block = call->scratch;
        call->scratch = block->next;
        ln_scratch_give(call->op_arg->context, block);
    }
    call->scratch_bytes = 0;
}
