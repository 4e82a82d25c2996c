// SPDX-License-Identifier: Apache-2.0
// One parameter: a name, a type and its value.
//
// A new value is made beside the old one and swapped in when it is complete, so that a failure
// leaves the parameter as it was.

#include <lightnet/param.h>

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/checked.h"
#include "ir/name.h"
#include "ir/param_number.h"
#include "ir/param_value.h"

static const char *const type_names[] = {
#define TYPE_NAME(name) #name,
    LN_PARAM_TYPE_LIST(TYPE_NAME)
#undef TYPE_NAME
};

#define TYPE_COUNT (sizeof type_names / sizeof type_names[0])

const char *ln_param_type_name(ln_param_type type)
{
    return type_names[(size_t)type < TYPE_COUNT ? (size_t)type : (size_t)LN_PARAM_INVALID];
}

ln_param_type ln_param_type_from_str(const char *name)
{
    size_t type = 0;
    while (type < (size_t)LN_PARAM_INVALID && !ln_streq(type_names[type], name))
        type++;
    return (ln_param_type)type;
}

// ---- Numbers ----

float ln_param_saturate_float(double number)
{
    if (fabs(number) <= (double)FLT_MAX || !isfinite(number))
        return (float)number;
    return number > 0 ? FLT_MAX : -FLT_MAX;
}

int ln_param_saturate_int(double number)
{
    if (fabs(number) < (double)INT_MAX)
        return (int)number;
    if (isnan(number))
        return 0;
    if (number >= (double)INT_MAX)
        return INT_MAX;
    if (number <= (double)INT_MIN)
        return INT_MIN;
    return (int)number;
}

// ---- Values ----

static void free_value(ln_param_entry *entry)
{
    ln_free(entry->value_string);
    ln_free(entry->value_array_string); // with the strings
    ln_free(entry->value_array_double);
    ln_free(entry->value_array_float);
    ln_free(entry->value_array_int);
    ln_free(entry->value_array_bool);
}

void ln_param_swap_values(ln_param_entry *a, ln_param_entry *b)
{
    ln_param_entry old = *a;
    *a = *b;
    *b = old;
    b->arg_name = a->arg_name; // names stay
    a->arg_name = old.arg_name;
}

// `value` is complete; takes the place of the old one.
static ln_status publish(ln_param_entry *entry, ln_param_entry *value)
{
    ln_param_swap_values(entry, value);
    free_value(value);
    return LN_OK;
}

static ln_status discard(ln_param_entry *value)
{
    free_value(value);
    return LN_NO_MEMORY;
}

static ln_status check_entry(const ln_param_entry *entry)
{
    return entry ? LN_OK : LN_FAIL(LN_INVALID, "no parameter to set");
}

static ln_status check_array(const ln_param_entry *entry, int array_len, const void *array)
{
    LN_TRY(check_entry(entry));
    if (array_len < 0)
        return LN_FAIL(LN_INVALID, "parameter '%s': an array of length %d", entry->arg_name,
                       array_len);
    if (array_len > 0 && !array)
        return LN_FAIL(LN_INVALID, "parameter '%s': no array of length %d", entry->arg_name,
                       array_len);
    return LN_OK;
}

ln_status ln_param_set_null(ln_param_entry *entry)
{
    LN_TRY(check_entry(entry));
    return publish(entry, &(ln_param_entry){.type = LN_PARAM_NULL});
}

ln_status ln_param_set_bool(ln_param_entry *entry, ln_bool bool_value)
{
    LN_TRY(check_entry(entry));
    return publish(entry, &(ln_param_entry){.type = LN_PARAM_BOOL, .value_bool = bool_value});
}

ln_status ln_param_set_string(ln_param_entry *entry, const char *string)
{
    LN_TRY(check_entry(entry));
    if (!string)
        return LN_FAIL(LN_INVALID, "parameter '%s': the string is NULL", entry->arg_name);
    ln_param_entry value = {.type = LN_PARAM_STRING, .value_string = ln_strdup(string)};
    return value.value_string ? publish(entry, &value) : LN_NO_MEMORY;
}

ln_status ln_param_set_satu_number(ln_param_entry *entry, double number)
{
    LN_TRY(check_entry(entry));
    return publish(entry, &(ln_param_entry){.type = LN_PARAM_NUMBER,
                                            .value_double = number,
                                            .value_float = ln_param_saturate_float(number),
                                            .value_int = ln_param_saturate_int(number)});
}

// Memory that is written at once, so that it need not be zero before.
static void *alloc_unset(size_t count, size_t size)
{
    size_t byte_count;
    if (!ln_size_mul(count, size, &byte_count)) {
        ln_fail(LN_NO_MEMORY, "an array of %zu elements of %zu bytes", count, size);
        return NULL;
    }
    return ln_realloc(NULL, byte_count ? byte_count : 1);
}

// Room for the three forms of a number array.
static ln_status alloc_numbers(ln_param_entry *value, int array_len)
{
    size_t count = (size_t)array_len;
    *value = (ln_param_entry){.type = LN_PARAM_ARRAY_NUMBER, .array_len = array_len};
    value->value_array_double = alloc_unset(count, sizeof(double));
    value->value_array_float = alloc_unset(count, sizeof(float));
    value->value_array_int = alloc_unset(count, sizeof(int));
    if (!value->value_array_double || !value->value_array_float || !value->value_array_int)
        return discard(value);
    return LN_OK;
}

static void set_number_at(const ln_param_entry *value, int i, double number)
{
    value->value_array_double[i] = number;
    value->value_array_float[i] = ln_param_saturate_float(number);
    value->value_array_int[i] = ln_param_saturate_int(number);
}

ln_status ln_param_set_satu_array_double(ln_param_entry *entry, int array_len,
                                         const double *array_number)
{
    LN_TRY(check_array(entry, array_len, array_number));
    ln_param_entry value;
    LN_TRY(alloc_numbers(&value, array_len));
    for (int i = 0; i < array_len; i++)
        set_number_at(&value, i, array_number[i]);
    return publish(entry, &value);
}

ln_status ln_param_set_satu_array_number(ln_param_entry *entry, int array_len,
                                         const double *array_number)
{
    return ln_param_set_satu_array_double(entry, array_len, array_number);
}

ln_status ln_param_set_satu_array_float(ln_param_entry *entry, int array_len,
                                        const float *array_number)
{
    LN_TRY(check_array(entry, array_len, array_number));
    ln_param_entry value;
    LN_TRY(alloc_numbers(&value, array_len));
    for (int i = 0; i < array_len; i++)
        set_number_at(&value, i, (double)array_number[i]);
    return publish(entry, &value);
}

ln_status ln_param_set_satu_array_int(ln_param_entry *entry, int array_len, const int *array_number)
{
    LN_TRY(check_array(entry, array_len, array_number));
    ln_param_entry value;
    LN_TRY(alloc_numbers(&value, array_len));
    for (int i = 0; i < array_len; i++)
        set_number_at(&value, i, array_number[i]);
    return publish(entry, &value);
}

// One block: the pointers, and after them the strings.
static char **copy_strings(size_t count, const char *const *strings)
{
    size_t byte_count = 0;
    for (size_t i = 0; i < count; i++)
        byte_count += strlen(strings[i]) + 1; // all of them are in memory
    char **copies = ln_realloc(NULL, count * sizeof *copies + byte_count + 1);
    if (!copies)
        return NULL;
    char *at = (char *)(copies + count);
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(strings[i]) + 1;
        copies[i] = memcpy(at, strings[i], len);
        at += len;
    }
    return copies;
}

ln_status ln_param_set_array_string(ln_param_entry *entry, int array_len,
                                    const char *const *array_string)
{
    LN_TRY(check_array(entry, array_len, array_string));
    for (int i = 0; i < array_len; i++)
        if (!array_string[i])
            return LN_FAIL(LN_INVALID, "parameter '%s': string %d is NULL", entry->arg_name, i);
    ln_param_entry value = {.type = LN_PARAM_ARRAY_STRING, .array_len = array_len};
    value.value_array_string = copy_strings((size_t)array_len, array_string);
    return value.value_array_string ? publish(entry, &value) : LN_NO_MEMORY;
}

ln_status ln_param_set_array_bool(ln_param_entry *entry, int array_len, const ln_bool *array_bool)
{
    LN_TRY(check_array(entry, array_len, array_bool));
    ln_param_entry value = {.type = LN_PARAM_ARRAY_BOOL, .array_len = array_len};
    value.value_array_bool = ln_alloc_array((size_t)array_len, sizeof(ln_bool));
    if (!value.value_array_bool)
        return LN_NO_MEMORY;
    for (int i = 0; i < array_len; i++)
        value.value_array_bool[i] = array_bool[i];
    return publish(entry, &value);
}

ln_status ln_param_vset(ln_param_entry *entry, va_list ap)
{
    LN_TRY(check_entry(entry));
    switch (entry->type) {
    case LN_PARAM_NULL: return LN_OK;
    case LN_PARAM_STRING: return ln_param_set_string(entry, va_arg(ap, const char *));
    case LN_PARAM_NUMBER: return ln_param_set_satu_number(entry, va_arg(ap, double));
    case LN_PARAM_BOOL: return ln_param_set_bool(entry, va_arg(ap, ln_bool));
    case LN_PARAM_ARRAY_STRING: {
        const char *const *strings = va_arg(ap, const char *const *);
        return ln_param_set_array_string(entry, va_arg(ap, int), strings);
    }
    case LN_PARAM_ARRAY_NUMBER: {
        const double *numbers = va_arg(ap, const double *);
        return ln_param_set_satu_array_double(entry, va_arg(ap, int), numbers);
    }
    case LN_PARAM_ARRAY_BOOL: {
        const ln_bool *bools = va_arg(ap, const ln_bool *);
        return ln_param_set_array_bool(entry, va_arg(ap, int), bools);
    }
    case LN_PARAM_INVALID: break;
    }
    return LN_FAIL(LN_INVALID, "parameter '%s' has no type", entry->arg_name);
}

ln_status ln_param_set(ln_param_entry *entry, ...)
{
    va_list ap;
    va_start(ap, entry);
    ln_status status = ln_param_vset(entry, ap);
    va_end(ap);
    return status;
}

// ---- Life ----

ln_param_entry *ln_param_entry_create(const char *arg_name, ln_param_type type)
{
    if (ln_name_check(arg_name, "a parameter") != LN_OK)
        return NULL;
    if ((size_t)type >= (size_t)LN_PARAM_INVALID) {
        ln_fail(LN_INVALID, "parameter '%s' has no valid type", arg_name);
        return NULL;
    }
    ln_param_entry *entry = ln_alloc(sizeof *entry);
    if (!entry)
        return NULL;
    entry->type = type;
    entry->arg_name = ln_strdup(arg_name);
    if (!entry->arg_name) {
        ln_free(entry);
        return NULL;
    }
    return entry;
}

void ln_param_entry_free(ln_param_entry *entry)
{
    if (!entry)
        return;
    free_value(entry);
    ln_free(entry->arg_name);
    ln_free(entry);
}

// Operators keep in the ints of an array what its doubles stand for, so these are copied too.
static ln_status copy_numbers(ln_param_entry *to, const ln_param_entry *from)
{
    size_t count = (size_t)from->array_len;
    ln_param_entry value;
    LN_TRY(alloc_numbers(&value, from->array_len));
    memcpy(value.value_array_double, from->value_array_double, count * sizeof(double));
    memcpy(value.value_array_float, from->value_array_float, count * sizeof(float));
    memcpy(value.value_array_int, from->value_array_int, count * sizeof(int));
    return publish(to, &value);
}

// What `from` has, `to`, which has no value yet, gets. A string or an array that was never set
// stays unset.
static ln_status copy_value(ln_param_entry *to, const ln_param_entry *from)
{
    int len = from->array_len;
    switch (from->type) {
    case LN_PARAM_STRING:
        return from->value_string ? ln_param_set_string(to, from->value_string) : LN_OK;
    case LN_PARAM_ARRAY_STRING:
        return from->value_array_string
                   ? ln_param_set_array_string(to, len,
                                               (const char *const *)from->value_array_string)
                   : LN_OK;
    case LN_PARAM_ARRAY_NUMBER: return from->value_array_double ? copy_numbers(to, from) : LN_OK;
    case LN_PARAM_ARRAY_BOOL:
        return from->value_array_bool ? ln_param_set_array_bool(to, len, from->value_array_bool)
                                      : LN_OK;
    default: return LN_OK;
    }
}

ln_param_entry *ln_param_entry_copy(const ln_param_entry *pe)
{
    if (!pe)
        return NULL;
    ln_param_entry *copy = ln_param_entry_create(pe->arg_name, pe->type);
    if (!copy || copy_value(copy, pe) != LN_OK) {
        ln_param_entry_free(copy);
        return NULL;
    }
    // Operators keep in the number slots what a string stands for.
    copy->value_double = pe->value_double;
    copy->value_float = pe->value_float;
    copy->value_int = pe->value_int;
    copy->value_bool = pe->value_bool;
    return copy;
}
