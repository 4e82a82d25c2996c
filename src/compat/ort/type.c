// SPDX-License-Identifier: Apache-2.0
// Types: element types by their numbers, shapes with symbols.

#include "compat/ort/ort.h"

#include <limits.h>
#include <string.h>

const ort_element ort_elements[ORT_ELEMENT_COUNT] = {
    [1] = {TL_FLOAT, 4},         [2] = {TL_UINT8, 1},
    [3] = {TL_INT8, 1},          [4] = {TL_UINT16, 2},
    [5] = {TL_INT16, 2},         [6] = {TL_INT32, 4},
    [7] = {TL_INT64, 8},         [8] = {TL_STRING, sizeof(char *)},
    [9] = {TL_BOOL, 1},          [10] = {TL_FLOAT16, 2},
    [11] = {TL_DOUBLE, 8},       [12] = {TL_UINT32, 4},
    [13] = {TL_UINT64, 8},       [14] = {TL_COMPLEX64, 8},
    [15] = {TL_COMPLEX128, 16},  [16] = {TL_BFLOAT16, 2},
    [17] = {TL_FLOAT8E4M3FN, 1}, [18] = {TL_FLOAT8E4M3FNUZ, 1},
    [19] = {TL_FLOAT8E5M2, 1},   [20] = {TL_FLOAT8E5M2FNUZ, 1},
};

int ort_element_of(tl_dtype dtype)
{
    for (int i = 1; i < ORT_ELEMENT_COUNT; i++)
        if (ort_elements[i].dtype == dtype)
            return i;
    return 0;
}

void ort_shape_clear(ort_shape *shape)
{
    for (int i = 0; i < TL_MAXDIM; i++)
        free(shape->symbols[i]);
}

bool ort_shape_copy(ort_shape *out, const ort_shape *shape)
{
    *out = *shape;
    bool is_done = true;
    for (int i = 0; i < TL_MAXDIM; i++)
        if (shape->symbols[i]) {
            out->symbols[i] = strdup(shape->symbols[i]);
            is_done = is_done && out->symbols[i];
        }
    return is_done;
}

void ort_shape_free(ort_shape *shape)
{
    if (shape)
        ort_shape_clear(shape);
    free(shape);
}

void ort_type_free(ort_type *type)
{
    if (type)
        ort_shape_clear(&type->shape);
    free(type);
}

static ort_status *CastTypeInfoToTensorInfo(const ort_type *type, const ort_shape **out)
{
    OUT(out, NULL);
    NEED(type);
    *out = type->kind == ORT_TENSOR ? &type->shape : NULL;
    return NULL;
}

static ort_status *GetOnnxTypeFromTypeInfo(const ort_type *type, int *out)
{
    OUT(out, ORT_UNKNOWN);
    NEED(type);
    *out = type->kind;
    return NULL;
}

static ort_status *CreateTensorTypeAndShapeInfo(ort_shape **out)
{
    OUT(out, NULL);
    *out = calloc(1, sizeof **out);
    return *out ? NULL : ort_fail_memory();
}

static ort_status *SetTensorElementType(ort_shape *shape, int type)
{
    NEED(shape);
    if (type < 0 || type >= ORT_ELEMENT_COUNT)
        return ort_fail(ORT_INVALID_ARGUMENT, "element type %d is not known", type);
    shape->type = type;
    return NULL;
}

static ort_status *SetDimensions(ort_shape *shape, const int64_t *dims, size_t count)
{
    NEED(shape);
    if (count > 0)
        NEED(dims);
    if (count > TL_MAXDIM)
        return ort_fail(ORT_INVALID_ARGUMENT, "%zu dimensions, at most %d", count, TL_MAXDIM);
    shape->ndim = (int)count;
    if (count > 0)
        memcpy(shape->dims, dims, count * sizeof *dims);
    return NULL;
}

static ort_status *GetTensorElementType(const ort_shape *shape, int *out)
{
    OUT(out, 0);
    NEED(shape);
    *out = shape->type;
    return NULL;
}

size_t ort_rank_of(const ort_shape *shape)
{
    return shape->ndim > 0 ? (size_t)shape->ndim : 0;
}

static ort_status *GetDimensionsCount(const ort_shape *shape, size_t *out)
{
    OUT(out, 0);
    NEED(shape);
    *out = ort_rank_of(shape);
    return NULL;
}

static ort_status *GetDimensions(const ort_shape *shape, int64_t *out, size_t count)
{
    NEED(shape);
    if (count > 0)
        NEED(out);
    for (size_t i = 0; i < count && i < ort_rank_of(shape); i++)
        out[i] = shape->dims[i];
    return NULL;
}

static ort_status *GetSymbolicDimensions(const ort_shape *shape, const char **out, size_t count)
{
    NEED(shape);
    if (count > 0)
        NEED(out);
    for (size_t i = 0; i < count && i < ort_rank_of(shape); i++)
        out[i] = shape->symbols[i] ? shape->symbols[i] : "";
    return NULL;
}

bool ort_shape_count(const ort_shape *shape, size_t *out)
{
    int dims[TL_MAXDIM], len;
    *out = 0;
    for (size_t i = 0; i < ort_rank_of(shape); i++) {
        if (shape->dims[i] < 0 || shape->dims[i] > INT_MAX)
            return false;
        dims[i] = (int)shape->dims[i];
    }
    if (!tl_shape_len((int)ort_rank_of(shape), dims, &len))
        return false;
    *out = (size_t)len;
    return true;
}

static ort_status *GetTensorShapeElementCount(const ort_shape *shape, size_t *out)
{
    OUT(out, 0);
    NEED(shape);
    return ort_shape_count(shape, out)
               ? NULL
               : ort_fail(ORT_INVALID_ARGUMENT,
                          "a dimension is open, or there are too many elements");
}

static bool TensorTypeAndShape_HasShape(const ort_shape *shape)
{
    return shape && shape->ndim >= 0;
}

const ort_row ort_type_slots[] = {
    SLOT(CastTypeInfoToTensorInfo),
    SLOT(GetOnnxTypeFromTypeInfo),
    SLOT(CreateTensorTypeAndShapeInfo),
    SLOT(SetTensorElementType),
    SLOT(SetDimensions),
    SLOT(GetTensorElementType),
    SLOT(GetDimensionsCount),
    SLOT(GetDimensions),
    SLOT(GetSymbolicDimensions),
    SLOT(GetTensorShapeElementCount),
    SLOT_AS(ReleaseTypeInfo, ort_type_free),
    SLOT_AS(ReleaseTensorTypeAndShapeInfo, ort_shape_free),
    SLOT(TensorTypeAndShape_HasShape),
    SLOT_END,
};
