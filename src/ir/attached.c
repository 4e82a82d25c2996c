// SPDX-License-Identifier: Apache-2.0
// The store of attached weights: a table by name, and a list of what keeps them.

#define _DEFAULT_SOURCE // madvise: posix_madvise lets no page go

#include "ir/attached.h"

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

typedef struct attached_tensor {
    char *name;
    tl_tensor *tensor;
} attached_tensor;

struct ln_attached {
    atomic_size_t holder_count;
    ln_hash *table; // name -> attached_tensor
    kept_block *kept;
    mapped_range *mapped;
};

static void free_tensor(attached_tensor *item)
{
    if (!item)
        return;
    ln_free(item->name);
    tl_tensor_free(item->tensor);
    ln_free(item);
}

ln_status ln_attached_create(ln_attached **out_attached)
{
    *out_attached = NULL;
    ln_attached *attached = ln_alloc(sizeof *attached);
    if (!attached)
        return LN_NO_MEMORY;
    atomic_init(&attached->holder_count, 1);
    attached->table = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    if (!attached->table) {
        ln_attached_release(attached);
        return LN_NO_MEMORY;
    }
    *out_attached = attached;
    return LN_OK;
}

ln_attached *ln_attached_retain(ln_attached *attached)
{
    if (attached)
        atomic_fetch_add_explicit(&attached->holder_count, 1, memory_order_relaxed);
    return attached;
}

void ln_attached_release(ln_attached *attached)
{
    if (!attached ||
        atomic_fetch_sub_explicit(&attached->holder_count, 1, memory_order_acq_rel) > 1)
        return;
    size_t cursor = 0;
    void *item;
    while (ln_hash_next(attached->table, &cursor, NULL, &item))
        free_tensor(item);
    ln_hash_free(attached->table);
    while (attached->kept) {
        kept_block *kept = attached->kept;
        attached->kept = kept->next;
        kept->release(kept->block);
        ln_free(kept);
    }
    while (attached->mapped) {
        mapped_range *range = attached->mapped;
        attached->mapped = range->next;
        ln_free(range);
    }
    ln_free(attached);
}

ln_status ln_attached_add(ln_attached *attached, const char *name, tl_dtype dtype, int ndim,
                          const int *dims, const void *data)
{
    if (ln_hash_find(attached->table, name))
        return LN_FAIL(LN_EXISTS, "there are two tensors named '%s'", name);
    attached_tensor *item = ln_alloc(sizeof *item);
    if (!item)
        return LN_NO_MEMORY;
    item->name = ln_strdup(name);
    item->tensor = tl_tensor_create(NULL, ndim, dims, dtype);
    if (!item->name || !item->tensor || ln_hash_insert(attached->table, item->name, item) < 0) {
        free_tensor(item);
        return ln_error_status();
    }
    item->tensor->data = (void *)(uintptr_t)data;
    return LN_OK;
}

const tl_tensor *ln_attached_find(const ln_attached *attached, const char *name)
{
    const attached_tensor *item = attached ? ln_hash_find(attached->table, name) : NULL;
    return item ? item->tensor : NULL;
}

size_t ln_attached_count(const ln_attached *attached)
{
    return attached ? (size_t)ln_hash_size(attached->table) : 0;
}

ln_status ln_attached_note_mapped(ln_attached *attached, const void *bytes, size_t byte_count)
{
    mapped_range *range = ln_alloc(sizeof *range);
    if (!range)
        return LN_NO_MEMORY;
    *range = (mapped_range){
        .next = attached->mapped, .start = (uintptr_t)bytes, .end = (uintptr_t)bytes + byte_count};
    attached->mapped = range;
    return LN_OK;
}

void ln_attached_let_go(const ln_attached *attached, const void *bytes, size_t byte_count)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = ((uintptr_t)bytes + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)bytes + byte_count) / page * page;
    const mapped_range *range = attached ? attached->mapped : NULL;
    while (range && !(range->start <= start && end <= range->end))
        range = range->next;
    if (range && start < end)
        madvise((void *)start, end - start, MADV_DONTNEED);
}

int ln_entry_is_in_place(const ln_tensor_entry *entry)
{
    size_t size = tl_size_of(entry->tensor->dtype);
    return entry->attached && entry->mtype == LN_MEM_CPU && size > 0 &&
           (uintptr_t)entry->attached % size == 0;
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

ln_status ln_attached_own(const ln_hash *tensor_table, ln_tensor_entry *entry)
{
    // A view is written where it is.
    ln_tensor_entry *owner = ln_tensor_table_find(tensor_table, entry->owner);
    for (; owner && ln_entry_is_in_place(owner);
         owner = ln_tensor_table_find(tensor_table, entry->owner))
        entry = owner;
    if (entry->tensor->data != entry->attached)
        return LN_OK; // it has it already
    size_t byte_count = tl_tensor_size(entry->tensor);
    char *block = ln_alloc(byte_count ? byte_count : 1);
    if (!block)
        return LN_NO_MEMORY;
    memcpy(block, entry->attached, byte_count);
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
                block + ((const char *)view->attached - (const char *)entry->attached);
    }
    return LN_OK;
}

ln_status ln_attached_keep(ln_attached *attached, void *block, void (*release)(void *block))
{
    kept_block *kept = ln_alloc(sizeof *kept);
    if (!kept) {
        release(block);
        return LN_NO_MEMORY;
    }
    *kept = (kept_block){.next = attached->kept, .block = block, .release = release};
    attached->kept = kept;
    return LN_OK;
}
