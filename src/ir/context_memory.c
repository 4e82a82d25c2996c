// SPDX-License-Identifier: Apache-2.0
// The memory of a context: where its tensors are once it is loaded.
//
// A context that loads a model has one block for each memory type, static tensors first, as the
// plan says. A clone shares the static part of that block and has its workspace in one of its own:
//
//     loaded    | reserved | static ... | workspace ... |        mem_starts
//                     shared ^            own:  | workspace ... |      of a clone
//
// Before a context writes a shared static tensor, it takes a copy of all of them. What is only
// there while loading has a block that is given back. Where a context has plans for several shapes,
// they say where its memory is (compile/reshape.c).

#include "ir/context.h"

#include <string.h>

#include <lightnet/allocator.h>

#include "base/checked.h"
#include "ir/attached.h"
#include "ir/bound.h"
#include "ir/memory.h"
#include "ir/open.h"
#include "ir/scratch.h"
#include "plan/mem_use.h"

// ---- Placing ----

static ln_status check_place(const ln_context *ctx, const ln_tensor_entry *entry)
{
    const size_t *sizes = entry->is_load ? ctx->load_sizes : ctx->mem_sizes;
    size_t byte_count = tl_tensor_size(entry->tensor), end;
    if (entry->mtype <= LN_MEM_NONE || entry->mtype >= LN_MEM_TYPE_SIZE)
        return LN_FAIL(LN_INVALID, "tensor '%s' is in no memory", entry->name);
    if (byte_count == 0 && entry->offset == ln_mem_type_align(entry->mtype))
        return LN_OK; // memory would begin there, if anything had bytes
    if (entry->offset == 0 && byte_count > 0)
        return LN_FAIL(LN_STATE, "tensor '%s' has no planned offset", entry->name);
    if (!ln_size_add(entry->offset, byte_count, &end) || end > sizes[entry->mtype])
        return LN_FAIL(LN_INVALID,
                       "data of tensor '%s' (%zu bytes at offset %zu) exceeds the planned %s "
                       "memory of %zu bytes",
                       entry->name, byte_count, entry->offset, ln_mem_type_title(entry->mtype),
                       sizes[entry->mtype]);
    return LN_OK;
}

static int is_in_static(const ln_context *ctx, const ln_tensor_entry *entry)
{
    return entry->offset < ctx->static_sizes[entry->mtype];
}

ln_memory *ln_context_memory_of(const ln_context *ctx, const ln_tensor_entry *entry)
{
    return is_in_static(ctx, entry) ? ctx->static_memory : ctx->memory;
}

void *ln_context_planned_address(const ln_context *ctx, const ln_tensor_entry *entry)
{
    return ln_memory_at(ln_context_memory_of(ctx, entry), entry->mtype, entry->offset);
}

static ln_status place_tensors(ln_context *ctx)
{
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++)
        ctx->mem_starts[m] = ln_memory_start(ctx->memory, (ln_mem_type)m);
    size_t cursor = 0;
    void *value;
    while (ln_hash_next(ctx->tensor_table, &cursor, NULL, &value)) {
        ln_tensor_entry *entry = value;
        if (ln_entry_is_in_place(entry)) {
            entry->tensor->data = (void *)(uintptr_t)entry->attached;
            continue;
        }
        if (entry->is_open && entry->held)
            continue; // it shows what it holds
        LN_TRY(check_place(ctx, entry));
        entry->tensor->data = entry->is_load ? NULL : ln_context_planned_address(ctx, entry);
    }
    return LN_OK;
}

// ---- Allocating ----

static ln_status check_unallocated(const ln_context *ctx)
{
    if (!ctx)
        return LN_FAIL(LN_INVALID, "the context is NULL");
    if (ctx->static_memory)
        return LN_FAIL(LN_STATE, "the memory of the context is allocated already");
    return LN_OK;
}

static ln_status place_or_undo(ln_context *ctx)
{
    ln_status status = place_tensors(ctx);
    if (status != LN_OK)
        ln_context_free_mem(ctx);
    return status;
}

static ln_status allocate(ln_context *ctx)
{
    if (ctx->plans)
        return ctx->plans->allocate(ctx->plans, ctx, &ctx->static_memory, &ctx->memory);
    LN_TRY(ln_memory_create(ctx->devices, NULL, ctx->mem_sizes, &ctx->memory));
    ctx->static_memory = ln_memory_retain(ctx->memory);
    return LN_OK;
}

ln_status ln_context_alloc_mem(ln_context *ctx)
{
    LN_TRY(check_unallocated(ctx));
    LN_TRY(allocate(ctx));
    ln_memory_join(ctx->static_memory);
    return place_or_undo(ctx);
}

ln_status ln_context_share_mem(ln_context *ctx, const ln_context *from)
{
    LN_TRY(check_unallocated(ctx));
    LN_TRY(ln_memory_create(ctx->devices, ctx->static_sizes, ctx->mem_sizes, &ctx->memory));
    ctx->static_memory = ln_memory_retain(from->static_memory);
    ln_memory_join(ctx->static_memory);
    return place_or_undo(ctx);
}

static void destroy_runner(ln_context *ctx)
{
    if (ctx->runner)
        ctx->runner->destroy(ctx->runner);
    ctx->runner = NULL;
}

static void leave_static(ln_memory *memory)
{
    ln_memory_leave(memory);
    ln_memory_release(memory);
}

void ln_context_free_mem(ln_context *ctx)
{
    destroy_runner(ctx); // it knows addresses
    ln_scratch_free_kept(ctx);
    if (ctx->state == LN_CONTEXT_LOADED)
        ctx->state = LN_CONTEXT_PLANNED;
    if (!ctx->static_memory)
        return;
    ln_bound_drop(ctx);
    leave_static(ctx->static_memory);
    ln_memory_release(ctx->memory);
    ctx->static_memory = ctx->memory = NULL;
    memset(ctx->mem_starts, 0, sizeof ctx->mem_starts);
    size_t cursor = 0;
    void *value;
    while (ln_hash_next(ctx->tensor_table, &cursor, NULL, &value)) {
        ln_tensor_entry *entry = value;
        entry->tensor->data = NULL;
        if (entry->is_open)
            ln_open_drop(entry);
    }
}

void ln_context_dealloc_mem(ln_context *ctx)
{
    if (!ctx)
        return;
    ln_context_free_mem(ctx);
    if (ctx->plans)
        ctx->plans->unload(ctx->plans, ctx);
}

ln_status ln_context_finish_devices(const ln_context *ctx, const ln_context *caller)
{
    return ctx->runner && ctx->runner->group_count > 0 ? ctx->runner->finish(ctx->runner, caller)
                                                       : LN_OK;
}

void ln_context_take_workspace(ln_context *ctx)
{
    (void)ln_context_finish_devices(ctx, NULL);
    ln_memory_release(ctx->memory);
    ctx->memory = NULL;
}

ln_status ln_context_give_workspace(ln_context *ctx, ln_memory *workspace)
{
    ctx->memory = ln_memory_retain(workspace);
    return place_tensors(ctx);
}

// ---- While loading ----

static int is_own(const ln_tensor_entry *entry)
{
    return entry->tensor->data && entry->tensor->data == entry->known_block;
}

static ln_tensor_entry *root_of(const ln_context *ctx, ln_tensor_entry *entry)
{
    while (entry->owner)
        entry = ln_tensor_table_find(ctx->tensor_table, entry->owner);
    return entry;
}

// A view of what has been set is there; all others in `memory`, or nowhere if it is NULL.
static void place_loads(const ln_context *ctx, const ln_memory *memory)
{
    size_t cursor = 0;
    void *value;
    while (ln_hash_next(ctx->tensor_table, &cursor, NULL, &value)) {
        ln_tensor_entry *entry = value;
        if (!entry->is_load || ln_entry_is_in_place(entry))
            continue;
        const ln_tensor_entry *root = root_of(ctx, entry);
        if (is_own(root))
            entry->tensor->data = (char *)root->tensor->data + (entry->offset - root->offset);
        else
            entry->tensor->data = memory ? ln_memory_at(memory, entry->mtype, entry->offset) : NULL;
    }
}

ln_status ln_context_take_load_memory(ln_context *ctx, ln_memory **out_memory)
{
    LN_TRY(ln_memory_create(ctx->devices, NULL, ctx->load_sizes, out_memory));
    place_loads(ctx, *out_memory);
    return LN_OK;
}

void ln_context_give_load_memory(const ln_context *ctx, ln_memory *memory)
{
    if (!memory)
        return;
    place_loads(ctx, NULL);
    ln_memory_release(memory);
}

static ln_status own_load(ln_context *ctx, ln_tensor_entry *entry)
{
    ln_tensor_entry *root = root_of(ctx, entry);
    if (is_own(root))
        return LN_OK;
    if (root->mtype != LN_MEM_CPU)
        return LN_FAIL(LN_STATE,
                       "tensor '%s' was only needed while the model was loaded, and is not in main "
                       "memory; load the model again",
                       entry->name);
    size_t byte_count = tl_tensor_size(root->tensor);
    void *block = ln_alloc(byte_count ? byte_count : 1);
    if (!block)
        return LN_NO_MEMORY;
    // What is around a view stays as it is.
    ln_status status = root != entry ? ln_context_remake(ctx, root, block) : LN_OK;
    if (status != LN_OK) {
        ln_free(block);
        return status;
    }
    ln_free(root->known_block);
    root->known_block = block;
    root->known = NULL;
    root->tensor->data = block;
    place_loads(ctx, NULL);
    return LN_OK;
}

ln_status ln_context_make_writable(ln_context *ctx, ln_tensor_entry *entry)
{
    if (ln_entry_is_in_place(entry))
        return ln_attached_own(ctx->tensor_table, entry);
    return entry->is_load ? own_load(ctx, entry) : LN_OK;
}

// ---- Writing static tensors ----

static ln_status copy_static(const ln_context *ctx, ln_memory **out_copy)
{
    LN_TRY(ln_memory_create(ctx->devices, NULL, ctx->static_sizes, out_copy));
    ln_status status = ln_memory_copy(*out_copy, ctx->static_memory);
    if (status == LN_OK)
        return LN_OK;
    ln_memory_release(*out_copy);
    *out_copy = NULL;
    return ln_fail_prefix("static tensors, shared with clones or plans for other shapes");
}

// The static tensors are in `memory` from now on.
static void move_static(ln_context *ctx, ln_memory *memory)
{
    ctx->static_memory = memory;
    size_t cursor = 0;
    void *value;
    while (ln_hash_next(ctx->tensor_table, &cursor, NULL, &value)) {
        ln_tensor_entry *entry = value;
        if (!entry->is_load && is_in_static(ctx, entry) && !ln_entry_is_in_place(entry))
            entry->tensor->data = ln_context_planned_address(ctx, entry);
    }
}

ln_status ln_context_own_static(ln_context *ctx)
{
    if (!ln_memory_is_shared(ctx->static_memory))
        return LN_OK;
    ln_memory *shared = ctx->static_memory, *own;
    LN_TRY(copy_static(ctx, &own));
    move_static(ctx, own);
    ln_status status = ctx->runner ? ctx->runner->rebuild(&ctx->runner, ctx) : LN_OK;
    if (status != LN_OK) {
        move_static(ctx, shared);
        ln_memory_release(own);
        return ln_fail_prefix("static tensors, until now shared");
    }
    ln_memory_join(own);
    leave_static(shared);
    return LN_OK;
}
