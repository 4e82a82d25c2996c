// SPDX-License-Identifier: Apache-2.0
// Making instances.

#include "program/instance.h"

#include <lightnet/allocator.h>

#include "ir/context.h"

void ln_instance_destroy(ln_instance *instance)
{
    if (!instance)
        return;
    ln_free(instance->ends);
    ln_free(instance->parts);
    ln_free(instance->frame);
    ln_free(instance);
}

static void note_end(const ln_instance *instance, ln_instance_end *end,
                     const ln_tensor_entry *entry, bool is_input)
{
    *end = (ln_instance_end){.name = entry->name,
                             .tensor = *entry->tensor,
                             .is_input = is_input,
                             .index = ln_frame_find(instance->frame, entry->tensor)};
    end->tensor.data = NULL;
}

static ln_status note_ends(ln_instance *instance)
{
    const ln_context *ctx = instance->ctx;
    instance->input_count = ln_context_input_count(ctx);
    instance->output_count = ln_context_output_count(ctx);
    size_t count = instance->input_count + instance->output_count;
    instance->ends = ln_alloc_array(count + 1, sizeof *instance->ends);
    if (!instance->ends)
        return LN_NO_MEMORY;
    ln_instance_end *end = instance->ends;
    for (size_t i = 0; i < instance->input_count; i++)
        note_end(instance, end++, ln_context_input(ctx, i), true);
    for (size_t i = 0; i < instance->output_count; i++)
        note_end(instance, end++, ln_context_output(ctx, i), false);
    return LN_OK;
}

static ln_status fill(ln_instance *instance)
{
    LN_TRY(ln_frame_create(instance->ctx, &instance->frame));
    LN_TRY(note_ends(instance));
    LN_TRY(ln_instance_find_parts(instance));
    instance->cost = ln_context_run_cost(instance->ctx);
    return LN_OK;
}

ln_status ln_instance_create(ln_context *ctx, ln_instance **out_instance)
{
    *out_instance = NULL;
    ln_instance *instance = ln_alloc(sizeof *instance);
    if (!instance)
        return LN_NO_MEMORY;
    instance->ctx = ctx;
    ln_status status = fill(instance);
    if (status != LN_OK) {
        ln_instance_destroy(instance);
        return status;
    }
    ln_context_take_workspace(ctx);
    *out_instance = instance;
    return LN_OK;
}
