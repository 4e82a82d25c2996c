// SPDX-License-Identifier: Apache-2.0
// Params dictionaries as files of tensors: which arrays are tensors, and back.

#include "tensor/params_file.h"

#include <inttypes.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/checked.h"
#include "tensor/packing.h"
#include "tensor/tensor_file_format.h"

// Types of one lane. The first row of a dtype is the one that is written.
static const struct {
    uint8_t code;
    uint8_t bits;
    tl_dtype dtype;
    ln_packing packing;
} types[] = {
    {kDLFloat, 64, TL_DOUBLE, LN_PACKED_SAME}, {kDLFloat, 32, TL_FLOAT, LN_PACKED_SAME},
    {kDLInt, 64, TL_INT64, LN_PACKED_SAME},    {kDLInt, 32, TL_INT32, LN_PACKED_SAME},
    {kDLInt, 16, TL_INT16, LN_PACKED_SAME},    {kDLInt, 8, TL_INT8, LN_PACKED_SAME},
    {kDLUInt, 64, TL_UINT64, LN_PACKED_SAME},  {kDLUInt, 32, TL_UINT32, LN_PACKED_SAME},
    {kDLUInt, 16, TL_UINT16, LN_PACKED_SAME},  {kDLUInt, 8, TL_UINT8, LN_PACKED_SAME},
    {kDLUInt, 1, TL_BOOL, LN_PACKED_BOOL},     {kDLBool, 8, TL_BOOL, LN_PACKED_BOOL},
    {kDLFloat, 16, TL_FLOAT, LN_PACKED_F16},   {kDLBfloat, 16, TL_FLOAT, LN_PACKED_BF16},
};

enum { TYPE_COUNT = sizeof types / sizeof types[0] };

// ---- Reading ----

static ln_status find_type(const ln_params_entry *e, size_t *out_type)
{
    *out_type = 0;
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (types[i].code == e->dtype.code && types[i].bits == e->dtype.bits &&
            e->dtype.lanes == 1) {
            *out_type = i;
            return LN_OK;
        }
    }
    return LN_FAIL(LN_UNSUPPORTED,
                   "byte %" PRIu64
                   ": array '%.*s' has elements of type code %u, %u bits, %u lanes; "
                   "tensors hold bool, integers and floats of one lane",
                   e->offset, (int)e->name_len, e->name, (unsigned)e->dtype.code,
                   (unsigned)e->dtype.bits, (unsigned)e->dtype.lanes);
}

// The codec takes names of any bytes and length.
static ln_status check_name(const ln_params_entry *e, const char *data)
{
    ptrdiff_t offset = e->name - data;
    if (e->name_len > LN_TENSOR_FILE_NAME_MAX)
        return LN_FAIL(LN_LIMIT, "byte %td: a name is longer than %d bytes", offset,
                       LN_TENSOR_FILE_NAME_MAX);
    if (memchr(e->name, '\0', e->name_len))
        return LN_FAIL(LN_UNSUPPORTED, "byte %td: a name contains NUL", offset);
    return LN_OK;
}

// Whether an array of this shape can be written as tensors of the type are; see the codec on empty
// ones. 16-bit floats become larger when they are read.
static bool is_countable(const ln_params_entry *e, tl_dtype dtype)
{
    size_t size = tl_size_of(dtype);
    for (int i = 0; i < e->ndim; i++)
        if (e->shape[i] > 0 && !ln_size_mul(size, (size_t)e->shape[i], &size))
            return false;
    return size <= INT64_MAX;
}

static ln_status convert_shape(const ln_params_entry *e, tl_dtype dtype, int *dims)
{
    if (e->ndim > TL_MAXDIM)
        return LN_FAIL(LN_UNSUPPORTED,
                       "byte %" PRIu64 ": array '%.*s' has %d dimensions, more than %d", e->offset,
                       (int)e->name_len, e->name, (int)e->ndim, TL_MAXDIM);
    for (int i = 0; i < e->ndim; i++) {
        if (e->shape[i] > INT32_MAX)
            return LN_FAIL(LN_LIMIT,
                           "byte %" PRIu64 ": a dimension of array '%.*s' is %" PRId64
                           ", more than %d",
                           e->offset, (int)e->name_len, e->name, e->shape[i], INT32_MAX);
        dims[i] = (int)e->shape[i];
    }
    int len;
    if (!tl_shape_len(e->ndim, dims, &len) || !is_countable(e, dtype))
        return LN_FAIL(LN_LIMIT, "byte %" PRIu64 ": array '%.*s' has too many elements", e->offset,
                       (int)e->name_len, e->name);
    return LN_OK;
}

static ln_status add_array(ln_tensor_file *file, const ln_params_entry *e, const char *data)
{
    size_t type;
    int dims[TL_MAXDIM];
    LN_TRY(check_name(e, data));
    LN_TRY(find_type(e, &type));
    LN_TRY(convert_shape(e, types[type].dtype, dims));
    return ln_tensor_file_add_packed(file, e->name, e->name_len, types[type].dtype, e->ndim, dims,
                                     e->data, types[type].packing);
}

ln_status ln_params_tensors_parse(ln_tensor_file *file, const char *data, size_t byte_count)
{
    ln_params_entry *entries;
    size_t count;
    LN_TRY(ln_params_parse(data, byte_count, NULL, &entries, &count));
    ln_status status = LN_OK;
    for (size_t i = 0; i < count && status == LN_OK; i++)
        status = add_array(file, &entries[i], data);
    ln_free(entries);
    return status;
}

// ---- Writing ----

// The entries of all tensors, with room for their shapes and for bools as bytes.
typedef struct arrays {
    ln_params_entry *entries;
    int64_t *shapes;
    char *bools;
} arrays;

static ln_status alloc_arrays(arrays *a, const ln_named_tensor *tensors, size_t count)
{
    size_t dim_count = 0, bool_count = 0;
    for (size_t i = 0; i < count; i++) {
        const tl_tensor *t = tensors[i].tensor;
        dim_count += (size_t)t->ndim;
        bool_count += t->dtype == TL_BOOL ? (size_t)t->len : 0;
    }
    a->entries = ln_alloc_array(count, sizeof *a->entries);
    a->shapes = ln_alloc_array(dim_count, sizeof *a->shapes);
    a->bools = ln_alloc(bool_count);
    return a->entries && a->shapes && a->bools ? LN_OK : LN_NO_MEMORY;
}

static void free_arrays(arrays *a)
{
    ln_free(a->entries);
    ln_free(a->shapes);
    ln_free(a->bools);
}

// No lanes if the format has no such type.
static DLDataType type_of(tl_dtype dtype)
{
    for (size_t type = 0; type < TYPE_COUNT; type++)
        if (types[type].dtype == dtype)
            return (DLDataType){types[type].code, types[type].bits, 1};
    return (DLDataType){0, 0, 0};
}

static ln_status check_types(const ln_named_tensor *tensors, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (type_of(tensors[i].tensor->dtype).lanes == 0)
            return LN_FAIL(LN_UNSUPPORTED, "'%s' is %s, which .params cannot hold", tensors[i].name,
                           tl_dtype_title(tensors[i].tensor->dtype));
    return LN_OK;
}

static void fill_in(arrays *a, const ln_named_tensor *tensors, size_t count)
{
    int64_t *shape = a->shapes;
    char *bools = a->bools;
    for (size_t i = 0; i < count; i++) {
        const tl_tensor *t = tensors[i].tensor;
        ln_params_entry *e = &a->entries[i];
        *e = (ln_params_entry){.name = tensors[i].name,
                               .name_len = strlen(tensors[i].name),
                               .shape = shape,
                               .ndim = t->ndim,
                               .dtype = type_of(t->dtype),
                               .data = t->data,
                               .byte_count = tl_tensor_size(t)};
        for (int k = 0; k < t->ndim; k++)
            *shape++ = t->dims[k];
        if (t->dtype != TL_BOOL)
            continue;
        e->data = bools;
        e->byte_count = (size_t)t->len;
        for (int k = 0; k < t->len; k++)
            *bools++ = ((const tl_bool *)t->data)[k] != 0;
    }
}

ln_status ln_params_tensors_write(FILE *fp, const ln_named_tensor *tensors, size_t count)
{
    arrays a = {0};
    LN_TRY(check_types(tensors, count));
    ln_status status = alloc_arrays(&a, tensors, count);
    if (status == LN_OK) {
        fill_in(&a, tensors, count);
        status = ln_params_write_stream(fp, a.entries, count);
    }
    free_arrays(&a);
    return status;
}
