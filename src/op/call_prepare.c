// SPDX-License-Identifier: Apache-2.0
// What operators in call form make of their parameters and constants once, for all runs.

#include "op/call.h"

#include <stdatomic.h>

#include <lightnet/allocator.h>
#include <lightnet/context.h>
#include <lightnet/op_support.h>

#include "ir/context.h"
#include "ir/scratch.h"
#include "op/call_prepare.h"

// Immutable once `prepare` has ended; a model and its clones hold it together.
typedef struct ln_prepared {
    atomic_size_t holders;
    ln_call_func by;      // the function that made it
    uint64_t input_types; // those it was made for
    unsigned version;     // of the model's constants
    ln_scratch *blocks;   // the last one first
    const void *first;
} ln_prepared;

void *ln_call_keep(ln_call *call, size_t count, size_t size)
{
    size_t byte_count;
    if (__builtin_mul_overflow(count, size, &byte_count)) {
        (void)ln_call_fail(call, LN_LIMIT, "keeps %zu times %zu bytes", count, size);
        return NULL;
    }
    if (!call->prepared) {
        (void)ln_call_fail(call, LN_STATE, "ln_call_keep is for `prepare`");
        return NULL;
    }
    ln_scratch *block = ln_scratch_take_new(call->op_arg->context, byte_count);
    if (!block) {
        (void)ln_call_fail(call, ln_error_status(), "%s", ln_error_message());
        return NULL;
    }
    ln_prepared *p = call->prepared;
    p->first = p->blocks ? p->first : block->bytes;
    block->next = p->blocks;
    p->blocks = block;
    return block->bytes;
}

const void *ln_call_prepared(const ln_call *call)
{
    return call->prepared ? call->prepared->first : NULL;
}

void ln_call_drop_prepared(ln_call *call)
{
    ln_prepared *p = call->prepared;
    call->prepared = NULL;
    if (!p || atomic_fetch_sub_explicit(&p->holders, 1, memory_order_acq_rel) != 1)
        return;
    while (p->blocks) {
        ln_scratch *next = p->blocks->next;
        ln_scratch_free(p->blocks);
        p->blocks = next;
    }
    ln_free(p);
}

static unsigned version_of(const ln_call *call)
{
    ln_context *ctx = call->op_arg->context;
    return ctx ? ln_context_root(ctx)->constants_version : 0;
}

// A fingerprint of the inputs' types: of what `prepare` may look at, only these change from run to
// run.
static uint64_t types_of(const ln_call *call)
{
    uint64_t types = 0;
    for (int i = 0; i < call->in_count; i++)
        types = types * 64 + (call->ins[i] ? (uint64_t)call->ins[i]->tensor->dtype : 63);
    return types;
}

// Attributes that a graph takes from around it, or that are computed in the run, may change.
static bool are_attributes_constant(const ln_call *call)
{
    const ln_arg_info *info;
    for (info = call->info->ins; info->arg_name; info++) {
        if (!(info->flags & LN_ARG_ATTRIBUTE))
            continue;
        const ln_tensor_entry *entry = ln_tensor_list_find_entry(
            call->op_arg->tensors_in, call->op_arg->tensor_table, info->arg_name);
        if (entry && !entry->isstatic)
            return false;
    }
    return true;
}

ln_status ln_call_need_prepared(ln_call *call, const ln_op_info *info)
{
    if (!info->prepare)
        return LN_OK;
    const ln_prepared *p = call->prepared;
    uint64_t types = types_of(call);
    if (p && p->by == info->prepare && p->input_types == types && p->version == version_of(call) &&
        are_attributes_constant(call))
        return LN_OK;
    ln_call_drop_prepared(call);
    call->prepared = ln_alloc(sizeof *call->prepared);
    if (!call->prepared)
        return ln_op_fail_recorded(call->op_arg);
    atomic_init(&call->prepared->holders, 1);
    call->prepared->by = info->prepare;
    call->prepared->input_types = types;
    call->prepared->version = version_of(call);
    size_t taken = call->scratch_bytes;
    call->is_preparing = true;
    ln_status status = info->prepare(call);
    call->is_preparing = false;
    call->scratch_bytes = taken;
    if (status != LN_OK) {
        ln_call_drop_prepared(call);
        return ln_op_fail(call->op_arg, status, "%s", ln_error_message());
    }
    return LN_OK;
}

ln_status ln_call_prepare(ln_op_arg *op_arg)
{
    ln_call *call = op_arg->info && op_arg->info->prepare ? op_arg->priv : NULL;
    if (!call || call->is_open)
        return LN_OK;
    op_arg->status = LN_OK;
    call->is_run = true;
    ln_status status = ln_call_need_prepared(call, call->info);
    call->is_run = false;
    ln_call_release_scratch(call);
    return status;
}

void ln_call_unprepare(ln_op_arg *op_arg)
{
    ln_call *call = op_arg->info && op_arg->info->prepare ? op_arg->priv : NULL;
    if (call)
        ln_call_drop_prepared(call);
}

void ln_call_share_prepared(ln_op_arg *to, const ln_op_arg *from)
{
    const ln_call *origin = from->info && from->info->prepare ? from->priv : NULL;
    ln_call *call = to->info && to->info->prepare ? to->priv : NULL;
    if (!origin || !call || !origin->prepared || call->prepared)
        return;
    atomic_fetch_add_explicit(&origin->prepared->holders, 1, memory_order_relaxed);
    call->prepared = origin->prepared;
}
