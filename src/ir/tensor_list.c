// SPDX-License-Identifier: Apache-2.0
// Lists of an operator's tensors by argument name.

#include <lightnet/tensor_entry.h>

#include <string.h>

#include <lightnet/allocator.h>

#include "ir/name.h"
#include "ir/op_life.h"

// An entry with its texts. The argument's name stays; another tensor's has memory of its own.
typedef struct whole_entry {
    ln_tensor_list_entry entry;
    char text[]; // the argument's name, then the tensor's
} whole_entry;

static const char *inline_name(const ln_tensor_list_entry *entry)
{
    return entry->arg_name + strlen(entry->arg_name) + 1;
}

ln_tensor_list_entry *ln_tensor_list_entry_create(const char *arg_name, const char *name)
{
    if (ln_name_check(arg_name, "an argument") != LN_OK || ln_name_check(name, "a tensor") != LN_OK)
        return NULL;
    size_t arg_bytes = strlen(arg_name) + 1, name_bytes = strlen(name) + 1;
    whole_entry *whole = ln_alloc(sizeof *whole + arg_bytes + name_bytes);
    if (!whole)
        return NULL;
    whole->entry.arg_name = memcpy(whole->text, arg_name, arg_bytes);
    whole->entry.name = memcpy(whole->text + arg_bytes, name, name_bytes);
    return &whole->entry;
}

void ln_tensor_list_entry_take_name(ln_tensor_list_entry *entry, char *name)
{
    if (entry->name != inline_name(entry))
        ln_free(entry->name);
    entry->name = name;
}

void ln_tensor_list_entry_free(ln_tensor_list_entry *entry)
{
    if (!entry)
        return;
    ln_tensor_list_entry_take_name(entry, NULL);
    ln_free(entry);
}

ln_status ln_tensor_list_push(ln_list **list, const char *arg_name, const char *name)
{
    ln_tensor_list_entry *entry = ln_tensor_list_entry_create(arg_name, name);
    if (!entry)
        return ln_error_status();
    ln_status status = ln_list_push(list, entry);
    if (status != LN_OK)
        ln_tensor_list_entry_free(entry);
    return status;
}

ln_list *ln_tensor_list_append(ln_list *list, const char *arg_name, const char *name)
{
    (void)ln_tensor_list_push(&list, arg_name, name);
    return list;
}

static void free_entry(void *entry)
{
    ln_tensor_list_entry_free(entry);
}

void ln_tensor_list_free(ln_list *list)
{
    ln_list_free_deep(list, free_entry);
}

ln_list *ln_tensor_list_copy(const ln_list *list)
{
    ln_list_builder copy = {0};
    const ln_tensor_list_entry *old;
    LN_LIST_FOREACH (old, list) {
        ln_tensor_list_entry *entry = ln_tensor_list_entry_create(old->arg_name, old->name);
        if (!entry || ln_list_builder_push(&copy, entry) != LN_OK) {
            ln_tensor_list_entry_free(entry);
            ln_tensor_list_free(copy.list);
            return NULL;
        }
        entry->offset = old->offset;
    }
    return copy.list;
}

ln_tensor_list_entry *ln_tensor_list_find_by_arg_name(const ln_list *list, const char *arg_name)
{
    ln_tensor_list_entry *entry;
    LN_LIST_FOREACH (entry, list) {
        if (ln_streq(entry->arg_name, arg_name))
            return entry;
    }
    return NULL;
}

ln_tensor_list_entry *ln_tensor_list_find_by_name(const ln_list *list, const char *name)
{
    ln_tensor_list_entry *entry;
    LN_LIST_FOREACH (entry, list) {
        if (ln_streq(entry->name, name))
            return entry;
    }
    return NULL;
}

char *ln_tensor_list_find_name(const ln_list *list, const char *arg_name)
{
    ln_tensor_list_entry *entry = ln_tensor_list_find_by_arg_name(list, arg_name);
    return entry ? entry->name : NULL;
}

ln_tensor_entry *ln_tensor_list_find_entry(const ln_list *list, const ln_hash *tensor_table,
                                           const char *arg_name)
{
    return ln_tensor_table_find(tensor_table, ln_tensor_list_find_name(list, arg_name));
}

int ln_tensor_list_length(const ln_list *list)
{
    return ln_list_length(list);
}

int ln_tensor_list_unique_arg_name(const ln_list *list, char *buf, const char *prefix)
{
    if (!buf || !prefix) {
        ln_fail(LN_INVALID, "a unique name needs a buffer and a prefix");
        return -1;
    }
    int largest = -1;
    const ln_tensor_list_entry *entry;
    LN_LIST_FOREACH (entry, list) {
        int serial = ln_name_serial(entry->arg_name, prefix);
        if (serial > largest)
            largest = serial;
    }
    return ln_name_print(buf, prefix, ln_name_next(largest));
}
