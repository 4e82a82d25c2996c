// SPDX-License-Identifier: Apache-2.0
// What a context says about itself, for those who do not look into it.

#include <lightnet/context.h>

#include "ir/attached.h"

ln_context_state ln_context_get_state(const ln_context *ctx)
{
    return ctx ? ctx->state : LN_CONTEXT_EMPTY;
}

const char *ln_context_source(const ln_context *ctx)
{
    return ctx ? ctx->source : NULL;
}

const char *ln_context_target(const ln_context *ctx)
{
    return ctx ? ctx->target : NULL;
}

int ln_context_has_weights(const ln_context *ctx)
{
    return ctx && ctx->attached;
}

ln_context *ln_context_graph(const ln_context *ctx, size_t index)
{
    size_t cursor = 0;
    void *graph = NULL;
    for (size_t i = 0; i <= index; i++)
        if (!ctx || !ctx->graphs || !ln_hash_next(ctx->graphs, &cursor, NULL, &graph))
            return NULL;
    return graph;
}

double ln_context_work_done(const ln_context *ctx)
{
    return ctx ? ctx->work_done : 0;
}

// ---- Memory ----

static int has_sizes(const ln_context *ctx, ln_mem_type mtype)
{
    return ctx && (int)mtype >= 0 && mtype < LN_MEM_TYPE_SIZE;
}

size_t ln_context_peak_bytes(const ln_context *ctx, ln_mem_type mtype)
{
    return has_sizes(ctx, mtype) ? ctx->mem_sizes[mtype] : 0;
}

size_t ln_context_static_bytes(const ln_context *ctx, ln_mem_type mtype)
{
    return has_sizes(ctx, mtype) ? ctx->static_sizes[mtype] : 0;
}

size_t ln_context_workspace_bytes(const ln_context *ctx, ln_mem_type mtype)
{
    return ln_context_peak_bytes(ctx, mtype) - ln_context_static_bytes(ctx, mtype);
}

size_t ln_context_load_bytes(const ln_context *ctx, ln_mem_type mtype)
{
    return has_sizes(ctx, mtype) ? ctx->load_sizes[mtype] : 0;
}

static size_t mapped_bytes_of(const ln_context *ctx)
{
    size_t sum = 0, cursor = 0;
    void *value;
    while (ln_hash_next(ctx->tensor_table, &cursor, NULL, &value)) {
        const ln_tensor_entry *entry = value;
        if (ln_entry_is_in_place(entry) && !entry->owner && !entry->is_load)
            sum += tl_tensor_size(entry->tensor);
    }
    return sum;
}

size_t ln_context_mapped_bytes(const ln_context *ctx)
{
    if (!ctx || ctx->state < LN_CONTEXT_PLANNED)
        return 0;
    size_t sum = mapped_bytes_of(ctx), cursor = 0;
    void *graph;
    while (ctx->graphs && ln_hash_next(ctx->graphs, &cursor, NULL, &graph))
        sum += mapped_bytes_of(graph);
    return sum;
}

// ---- Inputs and outputs ----

const char *ln_context_input_name(const ln_context *ctx, size_t index)
{
    const ln_tensor_entry *entry = ln_context_input(ctx, index);
    return entry ? entry->name : NULL;
}

const char *ln_context_output_name(const ln_context *ctx, size_t index)
{
    const ln_tensor_entry *entry = ln_context_output(ctx, index);
    return entry ? entry->name : NULL;
}
