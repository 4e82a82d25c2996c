// SPDX-License-Identifier: Apache-2.0
// A context whose device fails in a run: its failover runs with the same inputs, and gives it the
// outputs.

#include <stdint.h>

#include <lightnet/allocator.h>
#include <lightnet/object.h>

#include "compile/failover.h"
#include "compile/threads.h"
#include "ir/context.h"
#include "ir/open.h"
#include "ir/progress.h"
#include "program/failover.h"

static bool has_shape(const ln_tensor_entry *a, const ln_tensor_entry *b)
{
    bool is_same = a->tensor->ndim == b->tensor->ndim;
    for (int d = 0; is_same && d < a->tensor->ndim; d++)
        is_same = a->tensor->dims[d] == b->tensor->dims[d];
    return is_same;
}

// Both have been bound to the same shapes, unless binding them again has failed for one.
static ln_status follow_shapes(const ln_context *ctx)
{
    size_t count = 0;
    ln_input_shape *shapes = ln_alloc_array(ln_context_input_count(ctx) + 1, sizeof *shapes);
    if (!shapes)
        return LN_NO_MEMORY;
    const ln_tensor_entry *entry;
    for (size_t i = 0; (entry = ln_context_input(ctx, i)); i++) {
        const ln_tensor_entry *other = ln_context_input(ctx->failover, i);
        if (!entry->is_open && !has_shape(entry, other))
            shapes[count++] =
                (ln_input_shape){entry->name, entry->tensor->ndim, entry->tensor->dims};
    }
    ln_status status = count > 0 ? ln_context_reshape(ctx->failover, count, shapes) : LN_OK;
    ln_free(shapes);
    return status;
}

static ln_status give_inputs(const ln_context *ctx)
{
    const ln_tensor_entry *entry;
    for (size_t i = 0; (entry = ln_context_input(ctx, i)); i++) {
        ln_object *value;
        LN_TRY(ln_context_get_object(ctx, entry->name, &value));
        ln_status status = ln_context_set_object(ctx->failover, entry->name, value);
        ln_object_release(value);
        LN_TRY(status);
    }
    return LN_OK;
}

static ln_status take_output(const ln_context *ctx, ln_tensor_entry *output)
{
    ln_object *value;
    LN_TRY(ln_context_get_object(ctx->failover, output->name, &value));
    ln_status status = LN_OK;
    if (output->is_open)
        ln_open_hold(output, value);
    else if (ln_object_tensor(value)->len > 0)
        status = ln_tensor_table_set_data(ctx->tensor_table, output->name,
                                          ln_object_tensor(value)->data);
    ln_object_release(value);
    return status;
}

static ln_status take_outputs(const ln_context *ctx)
{
    ln_tensor_entry *output;
    for (size_t i = 0; (output = (ln_tensor_entry *)(uintptr_t)ln_context_output(ctx, i)); i++)
        if (!output->isstatic && !output->is_input)
            LN_TRY(take_output(ctx, output));
    return LN_OK;
}

static ln_status run_again(const ln_context *ctx)
{
    LN_TRY(follow_shapes(ctx));
    LN_TRY(give_inputs(ctx));
    LN_TRY(ln_context_run(ctx->failover));
    return take_outputs(ctx);
}

ln_status ln_failover_run(ln_context *ctx, size_t used_byte_count)
{
    ln_context *failover = ctx->failover;
    ln_error_state reason;
    ln_failover_begin(&reason);
    if (ctx->observer && ctx->observer->fails_over)
        ctx->observer->fails_over(ctx->observer->user, reason.message);
    failover->limits = ctx->limits;
    ln_failover_limit(&failover->limits, ctx->work_left, used_byte_count);
    ln_context_share_threads(failover, ctx);
    ln_observer *own = failover->observer;
    failover->observer = ctx->observer;
    ln_status status = run_again(ctx);
    failover->observer = own;
    ctx->work_done += failover->work_done;
    ctx->failover_count += status == LN_OK;
    if (status == LN_OK)
        ln_progress_end(ctx->progress);
    return ln_failover_end(&reason, status);
}
