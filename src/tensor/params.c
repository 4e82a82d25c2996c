// SPDX-License-Identifier: Apache-2.0
// Params dictionaries as arrays, on top of the codec that knows the bytes.

#include <lightnet/params.h>

#include <stdint.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "tensor/ndarray.h"
#include "tensor/params_file.h"

typedef struct named {
    char *name;
    ln_ndarray *array;
} named;

struct ln_params {
    named *arrays;
    size_t count;
};

// ---- Reading ----

static ln_status copy_entry(const ln_params_entry *entry, named *to)
{
    to->name = ln_alloc(entry->name_len + 1);
    if (!to->name)
        return LN_NO_MEMORY;
    if (entry->name_len > 0)
        memcpy(to->name, entry->name, entry->name_len);
    LN_TRY(ln_ndarray_create(entry->ndim, entry->shape, entry->dtype, &to->array));
    return ln_ndarray_set_bytes(to->array, entry->data, entry->byte_count);
}

static ln_status copy_entries(const ln_params_entry *entries, size_t count, const char *source_name,
                              ln_params *params)
{
    params->arrays = ln_alloc_array(count, sizeof *params->arrays);
    if (!params->arrays)
        return LN_NO_MEMORY;
    params->count = count;
    for (size_t i = 0; i < count; i++) {
        if (copy_entry(&entries[i], &params->arrays[i]) != LN_OK)
            return ln_fail_prefix("%s%sbyte %llu: array %zu", source_name ? source_name : "",
                                  source_name ? ": " : "", (unsigned long long)entries[i].offset,
                                  i);
    }
    return LN_OK;
}

ln_status ln_params_load(const void *bytes, size_t byte_count, const char *source_name,
                         ln_params **out_params)
{
    if (!out_params)
        return LN_FAIL(LN_INVALID, "no place for the dictionary");
    *out_params = NULL;
    if (!bytes && byte_count > 0)
        return LN_FAIL(LN_INVALID, "the %zu bytes of a dictionary are NULL", byte_count);
    ln_params_entry *entries;
    size_t count;
    LN_TRY(ln_params_parse(bytes, byte_count, source_name, &entries, &count));
    ln_params *params = ln_alloc(sizeof *params);
    ln_status status = params ? copy_entries(entries, count, source_name, params) : LN_NO_MEMORY;
    ln_free(entries);
    if (status != LN_OK) {
        ln_params_free(params);
        return status;
    }
    *out_params = params;
    return LN_OK;
}

void ln_params_free(ln_params *params)
{
    if (!params)
        return;
    for (size_t i = 0; i < params->count; i++) {
        ln_free(params->arrays[i].name);
        ln_ndarray_release(params->arrays[i].array);
    }
    ln_free(params->arrays);
    ln_free(params);
}

size_t ln_params_count(const ln_params *params)
{
    return params ? params->count : 0;
}

const char *ln_params_name(const ln_params *params, size_t index)
{
    return index < ln_params_count(params) ? params->arrays[index].name : NULL;
}

ln_ndarray *ln_params_array(const ln_params *params, size_t index)
{
    return index < ln_params_count(params) ? params->arrays[index].array : NULL;
}

size_t ln_params_find(const ln_params *params, const char *name)
{
    for (size_t i = 0; name && i < ln_params_count(params); i++) {
        if (strcmp(params->arrays[i].name, name) == 0)
            return i;
    }
    return SIZE_MAX;
}

// ---- Writing ----

// The entry of an array, and in *out_own the copy that it points into if the array has gaps.
static ln_status fill_entry(const ln_named_array *from, ln_params_entry *entry,
                            ln_ndarray **out_own)
{
    *out_own = NULL;
    if (!from->name)
        return LN_FAIL(LN_INVALID, "an array without a name");
    LN_TRY(ln_ndarray_check_access(from->array, false, "the array"));
    const ln_ndarray *array = from->array;
    if (!ln_ndarray_is_contiguous(array)) {
        LN_TRY(ln_ndarray_clone(array, out_own));
        array = *out_own;
    }
    *entry = (ln_params_entry){
        .name = from->name,
        .name_len = strlen(from->name),
        .shape = ln_ndarray_shape(array),
        .ndim = ln_ndarray_ndim(array),
        .dtype = ln_ndarray_dtype(array),
        .data = ln_ndarray_data(array),
        .byte_count = ln_ndarray_byte_count(array),
    };
    if (tl_dtype_from_dl(entry->dtype) == TL_BOOL) // readers of this format know the older kind
        entry->dtype = (DLDataType){kDLUInt, 1, 1};
    return LN_OK;
}

static ln_status save(const ln_named_array *arrays, size_t count, ln_params_entry *entries,
                      ln_ndarray **own, char **out_bytes, size_t *out_byte_count)
{
    for (size_t i = 0; i < count; i++) {
        if (fill_entry(&arrays[i], &entries[i], &own[i]) != LN_OK)
            return ln_fail_prefix("array %zu ('%s')", i, arrays[i].name ? arrays[i].name : "");
    }
    return ln_params_write(entries, count, out_bytes, out_byte_count);
}

ln_status ln_params_save(const ln_named_array *arrays, size_t count, char **out_bytes,
                         size_t *out_byte_count)
{
    if (!out_bytes || !out_byte_count)
        return LN_FAIL(LN_INVALID, "no place for the bytes");
    *out_bytes = NULL;
    *out_byte_count = 0;
    if (!arrays && count > 0)
        return LN_FAIL(LN_INVALID, "the %zu arrays are NULL", count);
    ln_params_entry *entries = ln_alloc_array(count, sizeof *entries);
    ln_ndarray **own = ln_alloc_array(count, sizeof *own);
    ln_status status = entries && own ? save(arrays, count, entries, own, out_bytes, out_byte_count)
                                      : LN_NO_MEMORY;
    for (size_t i = 0; own && i < count; i++)
        ln_ndarray_release(own[i]);
    ln_free(own);
    ln_free(entries);
    return status;
}
