// SPDX-License-Identifier: Apache-2.0
// What operators in call form make of their parameters and constants once, for all runs.

#include "op/call.h"

#include <stdatomic.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/context.h>
#include <lightnet/op_support.h>

#include "ir/context.h"
#include "ir/scratch.h"
#include "op/call_prepare.h"

// What `prepare` was told of an input.
typedef struct ln_input_form {
    tl_dtype dtype;
    int ndim;
    int dims[TL_MAXDIM];
} ln_input_form;

// Immutable once `prepare` has ended; a model and its clones hold it together.
typedef struct ln_prepared {
    atomic_size_t holders;
    ln_call_func by;    // the function that made it
    unsigned version;   // of the model's parameters
    unsigned constants; // version of those, if it was made of some
    bool stays;         // nothing that it was made of changes from run to run
    bool is_for_shapes; // it was made of more of the inputs than their types
    bool is_for_values; // of which some are computed in each run
    bool is_for_constants;
    ln_scratch *blocks;    // the last one first
    const void *first;     // of them
    ln_input_form forms[]; // of the inputs it was made for, if some are open
} ln_prepared;

// Tables are charged.
static bool is_free(const ln_prepared *p, size_t byte_count)
{
    size_t left = LN_SCRATCH_FREE_BYTES;
    for (const ln_scratch *block = p->blocks; block; block = block->next)
        left -= block->byte_count < left ? block->byte_count : left;
    return byte_count <= left;
}

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
    ln_prepared *p = call->prepared;
    ln_scratch *block =
        ln_scratch_take_new(is_free(p, byte_count) ? NULL : call->op_arg->context, byte_count);
    if (!block) {
        (void)ln_call_fail(call, ln_error_status(), "%s", ln_error_message());
        return NULL;
    }
    if (!p->blocks)
        call->step.block = p->first = block->bytes;
    block->next = p->blocks;
    p->blocks = block;
    return block->bytes;
}

const void *ln_call_prepared(const ln_call *call)
{
    return call->step.block;
}

void ln_call_drop_prepared(ln_call *call)
{
    ln_prepared *p = call->prepared;
    call->prepared = NULL;
    call->step.block = NULL;
    if (!p || atomic_fetch_sub_explicit(&p->holders, 1, memory_order_acq_rel) != 1)
        return;
    while (p->blocks) {
        ln_scratch *next = p->blocks->next;
        ln_scratch_free(p->blocks);
        p->blocks = next;
    }
    ln_free(p);
}

bool ln_call_stays_prepared(const ln_call *call)
{
    return !call->by->prepare || call->prepared->stays;
}

unsigned ln_call_version(const ln_call *call)
{
    ln_context *ctx = call->op_arg->context;
    return ctx ? ln_context_root(ctx)->params_version : 0;
}

unsigned ln_call_constants_version(const ln_call *call)
{
    ln_context *ctx = call->op_arg->context;
    return ctx ? ln_context_root(ctx)->constants_version : 0;
}

static ln_input_form form_of(const ln_call *call, int index)
{
    const tl_tensor *tensor = call->ins[index] ? call->ins[index]->tensor : NULL;
    ln_input_form form = {.dtype = TL_DTYPE_INVALID};
    if (!tensor)
        return form;
    form.dtype = tensor->dtype;
    form.ndim = tensor->ndim;
    memcpy(form.dims, tensor->dims, (size_t)tensor->ndim * sizeof *form.dims);
    return form;
}

static bool is_for_these(const ln_prepared *p, const ln_call *call)
{
    for (int i = 0; i < call->in_count; i++) {
        const ln_input_form now = form_of(call, i), *then = &p->forms[i];
        if (then->dtype != now.dtype || (p->is_for_shapes && memcmp(then, &now, sizeof now) != 0))
            return false;
    }
    return true;
}

// Attributes are constants, but for those that a graph takes from around it or a run computes.
static void note_attributes(ln_call *call)
{
    const ln_arg_info *info;
    for (info = call->info->ins; info->arg_name; info++)
        if (info->flags & LN_ARG_ATTRIBUTE)
            (void)ln_call_value_named(call, info->arg_name);
}

static ln_prepared *create_prepared(const ln_call *call, ln_call_func by)
{
    size_t form_count = call->takes_open ? (size_t)call->in_count : 0;
    ln_prepared *p = ln_alloc(sizeof *p + form_count * sizeof *p->forms);
    if (!p)
        return NULL;
    atomic_init(&p->holders, 1);
    p->by = by;
    p->version = ln_call_version(call);
    p->constants = ln_call_constants_version(call);
    for (size_t i = 0; i < form_count; i++)
        p->forms[i] = form_of(call, (int)i);
    return p;
}

ln_status ln_call_need_prepared(ln_call *call, const ln_op_info *info)
{
    if (!info->prepare)
        return LN_OK;
    const ln_prepared *p = call->prepared;
    if (p && p->by == info->prepare && p->version == ln_call_version(call) &&
        (!p->is_for_constants || p->constants == ln_call_constants_version(call)) &&
        (p->stays || (!p->is_for_values && is_for_these(p, call))))
        return LN_OK;
    ln_call_drop_prepared(call);
    call->prepared = create_prepared(call, info->prepare);
    if (!call->prepared)
        return ln_op_fail_recorded(call->op_arg);
    size_t taken = call->scratch_bytes;
    call->has_read_shapes = call->has_read_values = call->has_read_constants = false;
    call->is_preparing = true;
    note_attributes(call);
    ln_status status = info->prepare(call);
    call->is_preparing = false;
    call->scratch_bytes = taken;
    if (status != LN_OK) {
        ln_call_drop_prepared(call);
        return ln_op_fail(call->op_arg, status, "%s", ln_error_message());
    }
    ln_prepared *made = call->prepared;
    made->is_for_shapes = call->has_read_shapes;
    made->is_for_values = call->has_read_values;
    made->is_for_constants = call->has_read_constants;
    made->stays = !call->takes_open && !made->is_for_values;
    return LN_OK;
}

ln_call *ln_call_of(const ln_op_arg *op_arg)
{
    return op_arg->info && op_arg->info->infer ? op_arg->priv : NULL;
}

void ln_call_prepare(ln_op_arg *op_arg)
{
    ln_call *call = ln_call_of(op_arg);
    if (!call || call->takes_open || !call->by)
        return;
    call->is_run = true;
    (void)ln_call_need_prepared(call, call->by); // leaves its failure in `op_arg`
    call->is_run = false;
    ln_call_release_scratch(call);
}

void ln_call_unprepare(ln_op_arg *op_arg)
{
    ln_call *call = ln_call_of(op_arg);
    if (call)
        ln_call_drop_prepared(call);
}

void ln_call_share_prepared(ln_op_arg *to, const ln_op_arg *from)
{
    const ln_call *origin = ln_call_of(from);
    ln_call *call = ln_call_of(to);
    if (!origin || !call)
        return;
    if (call->is_fixed && ln_call_is_settled(origin)) {
        call->is_settled = true;
        call->constants_version = ln_call_constants_version(call);
    }
    if (!origin->prepared || call->prepared)
        return;
    atomic_fetch_add_explicit(&origin->prepared->holders, 1, memory_order_relaxed);
    call->prepared = origin->prepared;
    call->step.block = origin->step.block;
}
