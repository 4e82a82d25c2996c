// SPDX-License-Identifier: Apache-2.0
// Entries of the tensor table, and the table.
//
// The table is a plain hash without free functions: the functions here free what they remove, so
// that a context can also take an entry out alive.

#include <lightnet/tensor_entry.h>

#include <string.h>

#include <lightnet/allocator.h>

#include "base/name_hash.h"
#include "ir/name.h"
#include "ir/op_life.h"
#include "plan/mem_copy.h"
#include "tensor/meter.h"

// ---- One entry ----

// An entry with its texts. The name stays; another creater has memory of its own.
typedef struct whole_entry {
    ln_tensor_entry entry;
    char text[]; // the name, then the creater that it was made with
} whole_entry;

static const char *inline_creater(const ln_tensor_entry *entry)
{
    return entry->name + strlen(entry->name) + 1;
}

static ln_tensor_entry *create_made(const char *name, tl_tensor *tensor, const char *creater)
{
    size_t name_bytes = strlen(name) + 1, creater_bytes = creater ? strlen(creater) + 1 : 0;
    whole_entry *whole = ln_alloc(sizeof *whole + name_bytes + creater_bytes);
    if (!whole)
        return NULL;
    whole->entry.name = memcpy(whole->text, name, name_bytes);
    whole->entry.tensor = tensor;
    if (creater)
        whole->entry.creater = memcpy(whole->text + name_bytes, creater, creater_bytes);
    return &whole->entry;
}

ln_tensor_entry *ln_tensor_entry_create(const char *name, tl_tensor *tensor)
{
    if (ln_name_check(name, "a tensor") != LN_OK)
        return NULL;
    if (!tensor) {
        if (ln_error_status() != LN_NO_MEMORY) // of the call that should have made it
            ln_fail(LN_INVALID, "the entry '%s' needs a tensor", name);
        return NULL;
    }
    return create_made(name, tensor, NULL);
}

ln_tensor_entry *ln_tensor_entry_create_made(const char *name, tl_tensor *tensor,
                                             const char *creater)
{
    return ln_name_check(name, "a tensor") == LN_OK ? create_made(name, tensor, creater) : NULL;
}

void ln_tensor_entry_free(ln_tensor_entry *entry)
{
    if (!entry)
        return;
    if (entry->creater != inline_creater(entry))
        ln_free(entry->creater);
    ln_free(entry->owner);
    ln_free(entry->known_block);
    if (entry->known_meter)
        ln_meter_give_back(entry->known_meter, entry->known_cost);
    ln_meter_release(entry->known_meter);
    ln_object_release(entry->held);
    ln_free(entry);
}

void ln_tensor_entry_free_tensor_too(ln_tensor_entry *entry)
{
    if (!entry)
        return;
    tl_tensor_free(entry->tensor);
    ln_tensor_entry_free(entry);
}

ln_status ln_tensor_entry_set_owner(ln_tensor_entry *entry, const ln_hash *tensor_table,
                                    const char *owner)
{
    if (!entry)
        return LN_FAIL(LN_INVALID, "no tensor entry to set the owner of");
    if (owner && !ln_tensor_table_find(tensor_table, owner))
        return LN_FAIL(LN_NOT_FOUND, "owner '%s' of tensor '%s' is not in the tensor table", owner,
                       entry->name);
    char *copy = ln_strdup(owner);
    if (owner && !copy)
        return LN_NO_MEMORY;
    ln_free(entry->owner);
    entry->owner = copy;
    return LN_OK;
}

ln_status ln_tensor_entry_set_creater(ln_tensor_entry *entry, const char *creater)
{
    if (!entry)
        return LN_FAIL(LN_INVALID, "no tensor entry to set the creater of");
    char *copy = ln_strdup(creater);
    if (creater && !copy)
        return LN_NO_MEMORY;
    if (entry->creater != inline_creater(entry))
        ln_free(entry->creater);
    entry->creater = copy;
    return LN_OK;
}

// ---- The table ----

ln_hash *ln_tensor_table_create(void)
{
    return ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
}

int ln_tensor_table_insert(ln_hash *table, ln_tensor_entry *entry)
{
    if (!entry) {
        if (ln_error_status() != LN_NO_MEMORY)
            ln_fail(LN_INVALID, "no tensor entry to insert");
        return -1;
    }
    ln_tensor_entry *old = ln_hash_find(table, entry->name);
    int result = ln_hash_insert(table, entry->name, entry);
    if (result >= 0 && old != entry)
        ln_tensor_entry_free_tensor_too(old);
    return result;
}

int ln_tensor_table_remove(ln_hash *table, const char *name)
{
    ln_tensor_entry *entry = ln_tensor_table_find(table, name);
    if (!entry)
        return 0;
    ln_hash_remove(table, entry->name);
    ln_tensor_entry_free_tensor_too(entry); // last: `name` may be the entry's own
    return 1;
}

ln_tensor_entry *ln_tensor_table_find(const ln_hash *table, const char *name)
{
    return name ? ln_hash_find(table, name) : NULL;
}

void ln_tensor_table_free(ln_hash *table)
{
    size_t cursor = 0;
    void *entry;
    while (ln_hash_next(table, &cursor, NULL, &entry))
        ln_tensor_entry_free_tensor_too(entry);
    ln_hash_free(table);
}

// ---- Data ----

static ln_tensor_entry *find_or_fail(const ln_hash *table, const char *name)
{
    ln_tensor_entry *entry = ln_tensor_table_find(table, name);
    if (!entry)
        ln_fail(LN_NOT_FOUND, "there is no tensor '%s'", name ? name : "(null)");
    return entry;
}

// The tensor with data, and its memory.
static ln_status find_data(const ln_hash *table, const char *name, ln_tensor_entry **out_entry,
                           ln_mem_type *out_mtype)
{
    *out_entry = find_or_fail(table, name);
    if (!*out_entry)
        return LN_NOT_FOUND;
    if (!(*out_entry)->tensor->data && tl_tensor_size((*out_entry)->tensor) > 0)
        return LN_FAIL(LN_STATE, "tensor '%s' has no memory yet", name);
    // An operator may leave the memory type open; its data is then main memory.
    *out_mtype = (*out_entry)->mtype == LN_MEM_NONE ? LN_MEM_CPU : (*out_entry)->mtype;
    return LN_OK;
}

static ln_status finish_copy(const ln_tensor_entry *entry, ln_status status)
{
    if (status != LN_OK)
        (void)ln_fail_prefix("tensor '%s'", entry->name);
    return status;
}

ln_status ln_tensor_table_set_data(ln_hash *table, const char *name, const void *data)
{
    ln_tensor_entry *entry;
    ln_mem_type mtype;
    LN_TRY(find_data(table, name, &entry, &mtype));
    if (!data)
        return LN_FAIL(LN_INVALID, "no data for tensor '%s'", name);
    return finish_copy(entry, ln_mem_copy(mtype, entry->tensor->data, LN_MEM_CPU, data,
                                          tl_tensor_size(entry->tensor)));
}

void *ln_tensor_table_get_data(const ln_hash *table, const char *name, void *data)
{
    ln_tensor_entry *entry;
    ln_mem_type mtype;
    if (find_data(table, name, &entry, &mtype) != LN_OK)
        return NULL;
    if (!data)
        return entry->tensor->data;
    ln_status status =
        ln_mem_copy(LN_MEM_CPU, data, mtype, entry->tensor->data, tl_tensor_size(entry->tensor));
    return finish_copy(entry, status) == LN_OK ? data : NULL;
}

size_t ln_tensor_table_data_size(const ln_hash *table, const char *name)
{
    const ln_tensor_entry *entry = find_or_fail(table, name);
    return entry ? tl_tensor_size(entry->tensor) : 0;
}
