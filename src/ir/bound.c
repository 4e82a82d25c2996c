// SPDX-License-Identifier: Apache-2.0
// Bound inputs: a list of them, usually of one or two.
//
// Operators read where `tensor->data` points at each run, so that moving a tensor is to change
// that pointer, and those of the views in it.

#include "ir/bound.h"

#include <string.h>

#include <lightnet/allocator.h>

#include "ir/context.h"

struct ln_bound {
    ln_tensor_entry *entry;
    ln_ndarray *array;
    struct ln_bound *next;
};

int ln_context_lies_in(const ln_context *ctx, const ln_tensor_entry *entry,
                       const ln_tensor_entry *owner)
{
    while (entry && entry != owner)
        entry = ln_tensor_table_find(ctx->tensor_table, entry->owner);
    return entry != NULL;
}

// The link to the record of the array in which the tensor is; to NULL if there is none.
static struct ln_bound **find(ln_context *ctx, const ln_tensor_entry *entry)
{
    struct ln_bound **link = &ctx->bound;
    while (*link && !ln_context_lies_in(ctx, entry, (*link)->entry))
        link = &(*link)->next;
    return link;
}

ln_ndarray *ln_bound_find(ln_context *ctx, const ln_tensor_entry *entry)
{
    const struct ln_bound *bound = *find(ctx, entry);
    return bound ? bound->array : NULL;
}

// The tensor begins at `first`, and views of it where they are after that.
static void move(const ln_context *ctx, const ln_tensor_entry *entry, void *first)
{
    size_t cursor = 0;
    void *value;
    while (ln_hash_next(ctx->tensor_table, &cursor, NULL, &value)) {
        ln_tensor_entry *view = value;
        if (ln_context_lies_in(ctx, view, entry))
            view->tensor->data = (char *)first + (view->offset - entry->offset);
    }
}

static void forget(struct ln_bound **link)
{
    struct ln_bound *bound = *link;
    *link = bound->next;
    ln_ndarray_release(bound->array);
    ln_free(bound);
}

ln_status ln_bound_add(ln_context *ctx, ln_tensor_entry *entry, ln_ndarray *array)
{
    struct ln_bound *bound = ln_alloc(sizeof *bound);
    if (!bound)
        return LN_NO_MEMORY;
    *bound = (struct ln_bound){.entry = entry, .array = ln_ndarray_retain(array)};
    struct ln_bound **old = find(ctx, entry);
    if (*old)
        forget(old);
    bound->next = ctx->bound;
    ctx->bound = bound;
    const DLTensor *t = ln_ndarray_tensor(array);
    move(ctx, entry, (char *)t->data + t->byte_offset);
    return LN_OK;
}

void ln_bound_remove(ln_context *ctx, const ln_tensor_entry *entry)
{
    struct ln_bound **link = find(ctx, entry);
    if (!*link)
        return;
    ln_tensor_entry *input = (*link)->entry;
    void *own = ln_context_planned_address(ctx, input);
    memcpy(own, input->tensor->data, tl_tensor_size(input->tensor));
    move(ctx, input, own);
    forget(link);
}

void ln_bound_remove_all(ln_context *ctx)
{
    while (ctx->bound)
        ln_bound_remove(ctx, ctx->bound->entry);
}

void ln_bound_drop(ln_context *ctx)
{
    while (ctx->bound)
        forget(&ctx->bound);
}
