// SPDX-License-Identifier: Apache-2.0
// Values: tensors in memory of their own, of the caller, or of an object of LightNet.

#include "compat/ort/ort.h"

#include <limits.h>
#include <string.h>

void ort_value_free(ort_value *value)
{
    if (!value)
        return;
    ln_object_release(value->object);
    free(value->block);
    free(value);
}

ort_status *ort_value_new(const int64_t *dims, size_t ndim, int type, ort_value **out)
{
    if (ndim > 0 && !dims)
        return ort_fail(ORT_INVALID_ARGUMENT, "the shape is NULL");
    if (ndim > TL_MAXDIM)
        return ort_fail(ORT_INVALID_ARGUMENT, "%zu dimensions, at most %d", ndim, TL_MAXDIM);
    if (type < 1 || type >= ORT_ELEMENT_COUNT)
        return ort_fail(ORT_NOT_IMPLEMENTED, "element type %d is not known", type);
    ort_value *value = calloc(1, sizeof *value);
    if (!value)
        return ort_fail_memory();
    value->shape.type = type;
    value->shape.ndim = (int)ndim;
    for (size_t i = 0; i < ndim; i++)
        value->shape.dims[i] = dims[i];
    if (!ort_shape_count(&value->shape, &value->count)) {
        free(value);
        return ort_fail(ORT_INVALID_ARGUMENT, "a dimension is negative, or the product is over %d",
                        INT_MAX);
    }
    value->byte_count = value->count * ort_elements[type].size;
    *out = value;
    return NULL;
}

static ort_status *CreateTensorWithDataAsOrtValue(const ort_memory *memory, void *data,
                                                  size_t byte_count, const int64_t *dims,
                                                  size_t ndim, int type, ort_value **out)
{
    OUT(out, NULL);
    NEED(memory);
    if (strcmp(memory->name, ort_cpu.name) != 0)
        return ort_fail(ORT_INVALID_ARGUMENT, "values are in 'Cpu', not in '%s'", memory->name);
    if (type == ORT_STRING)
        return ort_fail(ORT_INVALID_ARGUMENT, "strings cannot be in the caller's memory");
    ort_value *value = NULL;
    ort_status *status = ort_value_new(dims, ndim, type, &value);
    if (status)
        return status;
    if (value->byte_count > byte_count || (!data && value->byte_count > 0)) {
        status = ort_fail(ORT_INVALID_ARGUMENT, "the shape needs %zu bytes, the buffer has %zu",
                          value->byte_count, data ? byte_count : 0);
        ort_value_free(value);
        return status;
    }
    value->data = data;
    *out = value;
    return NULL;
}

static ort_status *CreateTensorAsOrtValue(ort_allocator *allocator, const int64_t *dims,
                                          size_t ndim, int type, ort_value **out)
{
    OUT(out, NULL);
    NEED(allocator);
    ort_value *value = NULL;
    ort_status *status = ort_value_new(dims, ndim, type, &value);
    if (status)
        return status;
    if (type == ORT_STRING) {
        int sizes[TL_MAXDIM];
        for (size_t i = 0; i < ndim; i++)
            sizes[i] = (int)dims[i];
        value->object = ln_object_new_tensor(TL_STRING, (int)ndim, sizes, NULL);
        value->data = value->object ? ln_object_tensor(value->object)->data : NULL;
    } else {
        value->block = calloc(value->byte_count ? value->byte_count : 1, 1);
        value->data = value->block;
    }
    if (!value->object && !value->block) {
        ort_value_free(value);
        return ort_fail_memory();
    }
    *out = value;
    return NULL;
}

static ort_status *IsTensor(const ort_value *value, int *out)
{
    OUT(out, 0);
    NEED(value);
    *out = 1;
    return NULL;
}

static ort_status *GetValueType(const ort_value *value, int *out)
{
    OUT(out, ORT_UNKNOWN);
    NEED(value);
    *out = ORT_TENSOR;
    return NULL;
}

static ort_status *HasValue(const ort_value *value, int *out)
{
    return IsTensor(value, out);
}

static ort_status *GetTensorTypeAndShape(const ort_value *value, ort_shape **out)
{
    OUT(out, NULL);
    NEED(value);
    ort_shape *shape = calloc(1, sizeof *shape);
    if (!shape || !ort_shape_copy(shape, &value->shape)) {
        ort_shape_free(shape);
        return ort_fail_memory();
    }
    *out = shape;
    return NULL;
}

static ort_status *GetTypeInfo(const ort_value *value, ort_type **out)
{
    OUT(out, NULL);
    NEED(value);
    ort_type *type = calloc(1, sizeof *type);
    if (!type || !ort_shape_copy(&type->shape, &value->shape)) {
        ort_type_free(type);
        return ort_fail_memory();
    }
    type->kind = ORT_TENSOR;
    *out = type;
    return NULL;
}

static ort_status *GetTensorMutableData(ort_value *value, void **out)
{
    OUT(out, NULL);
    NEED(value);
    if (value->shape.type == ORT_STRING)
        return ort_fail(ORT_NOT_IMPLEMENTED, "strings are read with GetStringTensorContent");
    *out = value->data;
    return NULL;
}

static ort_status *GetTensorData(const ort_value *value, const void **out)
{
    OUT(out, NULL);
    NEED(value);
    if (value->shape.type == ORT_STRING)
        return ort_fail(ORT_NOT_IMPLEMENTED, "strings are read with GetStringTensorContent");
    *out = value->data;
    return NULL;
}

static ort_status *GetTensorSizeInBytes(const ort_value *value, size_t *out)
{
    OUT(out, 0);
    NEED(value);
    if (value->shape.type == ORT_STRING)
        return ort_fail(ORT_INVALID_ARGUMENT, "strings have no size of their own");
    *out = value->byte_count;
    return NULL;
}

static ort_status *GetTensorMemoryInfo(const ort_value *value, const ort_memory **out)
{
    OUT(out, NULL);
    NEED(value);
    *out = &ort_cpu;
    return NULL;
}

static ort_status *GetTensorElementTypeAndShapeDataReference(const ort_value *value, int *type,
                                                             const int64_t **dims, size_t *count)
{
    OUT(type, 0);
    OUT(dims, NULL);
    OUT(count, 0);
    NEED(value);
    *type = value->shape.type;
    *dims = value->shape.dims;
    *count = ort_rank_of(&value->shape);
    return NULL;
}

const ort_row ort_value_slots[] = {
    SLOT(CreateTensorAsOrtValue),
    SLOT(CreateTensorWithDataAsOrtValue),
    SLOT(IsTensor),
    SLOT(GetTensorMutableData),
    SLOT(GetTensorTypeAndShape),
    SLOT(GetTypeInfo),
    SLOT(GetValueType),
    SLOT_AS(ReleaseValue, ort_value_free),
    SLOT(HasValue),
    SLOT(GetTensorMemoryInfo),
    SLOT(GetTensorSizeInBytes),
    SLOT(GetTensorData),
    SLOT(GetTensorElementTypeAndShapeDataReference),
    SLOT_END,
};
