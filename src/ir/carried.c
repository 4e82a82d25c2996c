// SPDX-License-Identifier: Apache-2.0
// The store of tensors that a model brings along: a table by name, and a list of what keeps them.

#define _DEFAULT_SOURCE // madvise: posix_madvise lets no page go

#include "ir/carried.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <lightnet/allocator.h>
#include <lightnet/hash.h>
#include <lightnet/util.h>

#include "base/name_hash.h"

typedef struct kept_block {
    struct kept_block *next;
    void *block;
    void (*release)(void *block);
} kept_block;

typedef struct mapped_range {
    struct mapped_range *next;
    uintptr_t start;
    uintptr_t end;
} mapped_range;

typedef struct carried_tensor {
    char *name;
    tl_tensor *tensor;
} carried_tensor;

struct ln_carried {
    atomic_size_t holder_count;
    ln_hash *table; // name -> carried_tensor
    kept_block *kept;
    mapped_range *mapped;
};

static void free_tensor(carried_tensor *item)
{
    if (!item)
        return;
    ln_free(item->name);
    tl_tensor_free(item->tensor);
    ln_free(item);
}

ln_status ln_carried_create(ln_carried **out_carried)
{
    *out_carried = NULL;
    ln_carried *carried = ln_alloc(sizeof *carried);
    if (!carried)
        return LN_NO_MEMORY;
    atomic_init(&carried->holder_count, 1);
    carried->table = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    if (!carried->table) {
        ln_carried_release(carried);
        return LN_NO_MEMORY;
    }
    *out_carried = carried;
    return LN_OK;
}

ln_carried *ln_carried_retain(ln_carried *carried)
{
    if (carried)
        atomic_fetch_add_explicit(&carried->holder_count, 1, memory_order_relaxed);
    return carried;
}

void ln_carried_release(ln_carried *carried)
{
    if (!carried || atomic_fetch_sub_explicit(&carried->holder_count, 1, memory_order_acq_rel) > 1)
        return;
    size_t cursor = 0;
    void *item;
    while (ln_hash_next(carried->table, &cursor, NULL, &item))
        free_tensor(item);
    ln_hash_free(carried->table);
    while (carried->kept) {
        kept_block *kept = carried->kept;
        carried->kept = kept->next;
        kept->release(kept->block);
        ln_free(kept);
    }
    while (carried->mapped) {
        mapped_range *range = carried->mapped;
        carried->mapped = range->next;
        ln_free(range);
    }
    ln_free(carried);
}

ln_status ln_carried_add(ln_carried *carried, const char *name, tl_dtype dtype, int ndim,
                         const int *dims, const void *data)
{
    if (ln_hash_find(carried->table, name))
        return LN_FAIL(LN_EXISTS, "there are two tensors named '%s'", name);
    carried_tensor *item = ln_alloc(sizeof *item);
    if (!item)
        return LN_NO_MEMORY;
    item->name = ln_strdup(name);
    item->tensor = tl_tensor_create(NULL, ndim, dims, dtype);
    if (!item->name || !item->tensor || ln_hash_insert(carried->table, item->name, item) < 0) {
        free_tensor(item);
        return ln_error_status();
    }
    item->tensor->data = (void *)(uintptr_t)data;
    return LN_OK;
}

const tl_tensor *ln_carried_find(const ln_carried *carried, const char *name)
{
    const carried_tensor *item = carried ? ln_hash_find(carried->table, name) : NULL;
    return item ? item->tensor : NULL;
}

size_t ln_carried_count(const ln_carried *carried)
{
    return carried ? (size_t)ln_hash_size(carried->table) : 0;
}

ln_status ln_carried_note_mapped(ln_carried *carried, const void *bytes, size_t byte_count)
{
    mapped_range *range = ln_alloc(sizeof *range);
    if (!range)
        return LN_NO_MEMORY;
    *range = (mapped_range){
        .next = carried->mapped, .start = (uintptr_t)bytes, .end = (uintptr_t)bytes + byte_count};
    carried->mapped = range;
    return LN_OK;
}

void ln_carried_let_go(const ln_carried *carried, const void *bytes, size_t byte_count)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = ((uintptr_t)bytes + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)bytes + byte_count) / page * page;
    const mapped_range *range = carried ? carried->mapped : NULL;
    while (range && !(range->start <= start && end <= range->end))
        range = range->next;
    if (range && start < end)
        madvise((void *)start, end - start, MADV_DONTNEED);
}

int ln_entry_is_in_place(const ln_tensor_entry *entry)
{
    size_t size = tl_size_of(entry->tensor->dtype);
    return entry->carried && entry->mtype == LN_MEM_CPU && size > 0 &&
           (uintptr_t)entry->carried % size == 0;
}

const char *ln_entry_planned_owner(const ln_tensor_entry *entry)
{
    return ln_entry_is_in_place(entry) ? NULL : entry->owner;
}

static bool lies_in(const ln_hash *tensor_table, const ln_tensor_entry *view,
                    const ln_tensor_entry *entry)
{
    while (view && view != entry)
        view = ln_tensor_table_find(tensor_table, view->owner);
    return view != NULL;
}

ln_status ln_carried_own(const ln_hash *tensor_table, ln_tensor_entry *entry)
{
    // A view is written where it is.
    ln_tensor_entry *owner = ln_tensor_table_find(tensor_table, entry->owner);
    for (; owner && ln_entry_is_in_place(owner);
         owner = ln_tensor_table_find(tensor_table, entry->owner))
        entry = owner;
    if (entry->tensor->data != entry->carried)
        return LN_OK; // it has it already
    size_t byte_count = tl_tensor_size(entry->tensor);
    char *block = ln_alloc(byte_count ? byte_count : 1);
    if (!block)
        return LN_NO_MEMORY;
    memcpy(block, entry->carried, byte_count);
    ln_free(entry->known_block);
    entry->known_block = block;
    entry->known = NULL;
    entry->tensor->data = block;
    size_t cursor = 0;
    void *value;
    while (ln_hash_next(tensor_table, &cursor, NULL, &value)) {
        ln_tensor_entry *view = value;
        if (view != entry && ln_entry_is_in_place(view) && lies_in(tensor_table, view, entry))
            view->tensor->data =
                block + ((const char *)view->carried - (const char *)entry->carried);
    }
    return LN_OK;
}

ln_status ln_carried_keep(ln_carried *carried, void *block, void (*release)(void *block))
{
    kept_block *kept = ln_alloc(sizeof *kept);
    if (!kept) {
        release(block);
        return LN_NO_MEMORY;
    }
    *kept = (kept_block){.next = carried->kept, .block = block, .release = release};
    carried->kept = kept;
    return LN_OK;
}
