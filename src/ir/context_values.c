// SPDX-License-Identifier: Apache-2.0
// What a context offers beyond its operators: attached weights, and graphs.

#include "ir/context.h"

#include <lightnet/allocator.h>

#include "base/name_hash.h"
#include "ir/attached.h"
#include "ir/phase.h"
#include "tensor/meter.h"

// ---- Open tensors ----

size_t ln_context_open_peak(const ln_context *ctx)
{
    return ctx && ctx->meter ? ln_meter_peak(ctx->meter) : 0;
}

// ---- Values that are known early ----

// So that a small file cannot ask for much memory or time before its limits are checked.
#define MAX_KNOWN_COST ((size_t)16 << 20)

int ln_context_take_known(ln_context *ctx, ln_tensor_entry *entry, size_t cost)
{
    ln_context *root = ctx ? ln_context_root(ctx) : NULL;
    if (!root || entry->known_meter)
        return 1;
    if (!root->known_meter)
        root->known_meter = ln_meter_create(MAX_KNOWN_COST);
    if (!root->known_meter || !ln_meter_take(root->known_meter, cost)) {
        root->is_known_short = 1;
        return 0;
    }
    entry->known_meter = ln_meter_retain(root->known_meter);
    entry->known_cost = cost;
    return 1;
}

bool ln_context_take_known_work(ln_context *ctx, double units)
{
    bool is_taken = ln_phase_take(ctx, units);
    if (!is_taken)
        ln_context_root(ctx)->is_known_short = 1;
    return is_taken;
}

// ---- What readers add ----

static ln_status need_attached(ln_context *root)
{
    return root->attached ? LN_OK : ln_attached_create(&root->attached);
}

ln_status ln_context_carry(ln_context *ctx, const char *tname, tl_dtype dtype, int ndim,
                           const int *dims, const void *data)
{
    if (!ctx || !tname)
        return LN_FAIL(LN_INVALID, "an attached tensor needs a context and a name");
    ln_context *root = ln_context_root(ctx);
    LN_TRY(need_attached(root));
    return ln_attached_add(root->attached, tname, dtype, ndim, dims, data);
}

ln_status ln_context_keep(ln_context *ctx, void *block, void (*release)(void *block))
{
    ln_context *root = ctx ? ln_context_root(ctx) : NULL;
    ln_status status = root ? need_attached(root) : LN_INVALID;
    if (status == LN_OK)
        return ln_attached_keep(root->attached, block, release);
    release(block);
    return root ? status : LN_FAIL(LN_INVALID, "the context is NULL");
}

ln_status ln_context_keep_mapped(ln_context *ctx, const void *bytes, size_t byte_count)
{
    if (!ctx || !bytes)
        return LN_FAIL(LN_INVALID, "no context, or no bytes");
    ln_context *root = ln_context_root(ctx);
    LN_TRY(need_attached(root));
    return ln_attached_note_mapped(root->attached, bytes, byte_count);
}

void ln_context_let_go(const ln_context *ctx, const void *bytes, size_t byte_count)
{
    if (ctx)
        ln_attached_let_go(ln_context_root((ln_context *)(uintptr_t)ctx)->attached, bytes,
                           byte_count);
}

// ---- Graphs ----

ln_context *ln_context_root(ln_context *ctx)
{
    while (ctx->outer)
        ctx = ctx->outer;
    return ctx;
}

ln_context *ln_context_find_graph(const ln_context *ctx, const char *name)
{
    while (ctx && ctx->outer)
        ctx = ctx->outer;
    return ctx && ctx->graphs && name ? ln_hash_find(ctx->graphs, name) : NULL;
}

static void free_graph(void *graph)
{
    ln_context_free(graph);
}

ln_status ln_context_add_graph(ln_context *ctx, const char *name, ln_context **out_graph)
{
    *out_graph = NULL;
    if (!ctx || !name)
        return LN_FAIL(LN_INVALID, "a graph needs a context and a name");
    ln_context *root = ln_context_root(ctx);
    if (ln_context_find_graph(root, name))
        return LN_FAIL(LN_EXISTS, "there are two graphs named '%s'", name);
    if (!root->graphs)
        root->graphs = ln_hash_create(ln_name_hash, ln_str_cmp, ln_free, free_graph);
    if (!root->graphs)
        return LN_NO_MEMORY;
    char *key = ln_strdup(name);
    ln_context *graph = ln_context_create();
    if (!key || !graph || ln_hash_insert(root->graphs, key, graph) < 0) {
        ln_free(key);
        ln_context_free(graph);
        return LN_NO_MEMORY;
    }
    graph->outer = root;
    graph->limits = root->limits;
    *out_graph = graph;
    return LN_OK;
}

ln_status ln_context_each_graph(const ln_context *ctx,
                                ln_status (*function)(ln_context *graph, void *user), void *user)
{
    size_t cursor = 0;
    void *graph;
    while (ctx->graphs && ln_hash_next(ctx->graphs, &cursor, NULL, &graph))
        LN_TRY(function(graph, user));
    return LN_OK;
}
