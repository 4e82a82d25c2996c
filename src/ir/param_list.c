// SPDX-License-Identifier: Apache-2.0
// Lists of an operator's parameters.

#include <lightnet/param.h>

#include <string.h>

#include <lightnet/allocator.h>

#include "ir/name.h"

ln_status ln_param_list_push(ln_list **list, ln_param_entry *entry)
{
    if (!list || !entry)
        return LN_FAIL(LN_INVALID, "no parameter list, or no parameter to append");
    return ln_list_push(list, entry);
}

ln_list *ln_param_list_append_empty(ln_list *list, const char *arg_name, ln_param_type ptype)
{
    ln_param_entry *entry = ln_param_entry_create(arg_name, ptype);
    if (entry && ln_param_list_push(&list, entry) != LN_OK)
        ln_param_entry_free(entry);
    return list;
}

// Appends a new parameter of `type` that `set`, an expression in `entry`, gives its value.
#define APPEND(type, set)                                                                          \
    do {                                                                                           \
        ln_param_entry *entry = ln_param_entry_create(arg_name, (type));                           \
        if (!entry)                                                                                \
            return list;                                                                           \
        if ((set) != LN_OK || ln_param_list_push(&list, entry) != LN_OK)                           \
            ln_param_entry_free(entry);                                                            \
        return list;                                                                               \
    } while (0)

ln_list *ln_param_list_append_string(ln_list *list, const char *arg_name, const char *string)
{
    APPEND(LN_PARAM_STRING, ln_param_set_string(entry, string));
}

ln_list *ln_param_list_append_double(ln_list *list, const char *arg_name, double number)
{
    APPEND(LN_PARAM_NUMBER, ln_param_set_satu_number(entry, number));
}

ln_list *ln_param_list_append_number(ln_list *list, const char *arg_name, double number)
{
    return ln_param_list_append_double(list, arg_name, number);
}

ln_list *ln_param_list_append_float(ln_list *list, const char *arg_name, float number)
{
    return ln_param_list_append_double(list, arg_name, (double)number);
}

ln_list *ln_param_list_append_int(ln_list *list, const char *arg_name, int number)
{
    return ln_param_list_append_double(list, arg_name, number);
}

ln_list *ln_param_list_append_bool(ln_list *list, const char *arg_name, ln_bool bool_value)
{
    APPEND(LN_PARAM_BOOL, ln_param_set_bool(entry, bool_value));
}

ln_list *ln_param_list_append_null(ln_list *list, const char *arg_name)
{
    return ln_param_list_append_empty(list, arg_name, LN_PARAM_NULL);
}

ln_list *ln_param_list_append_array_string(ln_list *list, const char *arg_name, int array_len,
                                           const char *const *array_string)
{
    APPEND(LN_PARAM_ARRAY_STRING, ln_param_set_array_string(entry, array_len, array_string));
}

ln_list *ln_param_list_append_array_double(ln_list *list, const char *arg_name, int array_len,
                                           const double *array_number)
{
    APPEND(LN_PARAM_ARRAY_NUMBER, ln_param_set_satu_array_double(entry, array_len, array_number));
}

ln_list *ln_param_list_append_array_number(ln_list *list, const char *arg_name, int array_len,
                                           const double *array_number)
{
    return ln_param_list_append_array_double(list, arg_name, array_len, array_number);
}

ln_list *ln_param_list_append_array_float(ln_list *list, const char *arg_name, int array_len,
                                          const float *array_number)
{
    APPEND(LN_PARAM_ARRAY_NUMBER, ln_param_set_satu_array_float(entry, array_len, array_number));
}

ln_list *ln_param_list_append_array_int(ln_list *list, const char *arg_name, int array_len,
                                        const int *array_int)
{
    APPEND(LN_PARAM_ARRAY_NUMBER, ln_param_set_satu_array_int(entry, array_len, array_int));
}

ln_list *ln_param_list_append_array_bool(ln_list *list, const char *arg_name, int array_len,
                                         const ln_bool *array_bool)
{
    APPEND(LN_PARAM_ARRAY_BOOL, ln_param_set_array_bool(entry, array_len, array_bool));
}

static void free_entry(void *entry)
{
    ln_param_entry_free(entry);
}

void ln_param_list_free(ln_list *list)
{
    ln_list_free_deep(list, free_entry);
}

ln_list *ln_param_list_copy(const ln_list *list)
{
    ln_list_builder copy = {0};
    const ln_param_entry *old;
    LN_LIST_FOREACH (old, list) {
        ln_param_entry *entry = ln_param_entry_copy(old);
        if (!entry || ln_list_builder_push(&copy, entry) != LN_OK) {
            ln_param_entry_free(entry);
            ln_param_list_free(copy.list);
            return NULL;
        }
    }
    return copy.list;
}

ln_param_entry *ln_param_list_find(const ln_list *list, const char *arg_name)
{
    if (!arg_name)
        return NULL;
    // Kernels ask for their parameters by name, and most names differ in their first byte.
    ln_param_entry *entry;
    LN_LIST_FOREACH (entry, list) {
        if (*entry->arg_name == *arg_name && strcmp(entry->arg_name, arg_name) == 0)
            return entry;
    }
    return NULL;
}

ln_param_entry *ln_param_list_find2(const ln_list *list, const char *arg_name1,
                                    const char *arg_name2)
{
    if (!arg_name1 || !arg_name2)
        return NULL;
    size_t len1 = strlen(arg_name1);
    ln_param_entry *entry;
    LN_LIST_FOREACH (entry, list) {
        if (strncmp(entry->arg_name, arg_name1, len1) == 0 && entry->arg_name[len1] == '_' &&
            ln_streq(entry->arg_name + len1 + 1, arg_name2))
            return entry;
    }
    return NULL;
}

int ln_param_list_length(const ln_list *list)
{
    return ln_list_length(list);
}

int ln_param_list_unique_arg_name(const ln_list *list, char *buf, const char *prefix)
{
    if (!buf || !prefix) {
        ln_fail(LN_INVALID, "a unique name needs a buffer and a prefix");
        return -1;
    }
    int largest = -1;
    const ln_param_entry *entry;
    LN_LIST_FOREACH (entry, list) {
        int serial = ln_name_serial(entry->arg_name, prefix);
        if (serial > largest)
            largest = serial;
    }
    return ln_name_print(buf, prefix, ln_name_next(largest));
}
