// SPDX-License-Identifier: Apache-2.0
// Types: element types by their numbers, shapes with symbols, sequences, maps and optionals.

#include "compat/ort/ort.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

// ---- Elements ----

const ort_element ort_elements[ORT_ELEMENT_COUNT] = {
    [1] = {TL_FLOAT, 4, "FLOAT"},
    [2] = {TL_UINT8, 1, "UINT8"},
    [3] = {TL_INT8, 1, "INT8"},
    [4] = {TL_UINT16, 2, "UINT16"},
    [5] = {TL_INT16, 2, "INT16"},
    [6] = {TL_INT32, 4, "INT32"},
    [7] = {TL_INT64, 8, "INT64"},
    [8] = {TL_STRING, sizeof(char *), "STRING"},
    [9] = {TL_BOOL, 1, "BOOL"},
    [10] = {TL_FLOAT16, 2, "FLOAT16"},
    [11] = {TL_DOUBLE, 8, "DOUBLE"},
    [12] = {TL_UINT32, 4, "UINT32"},
    [13] = {TL_UINT64, 8, "UINT64"},
    [14] = {TL_COMPLEX64, 8, "COMPLEX64"},
    [15] = {TL_COMPLEX128, 16, "COMPLEX128"},
    [16] = {TL_BFLOAT16, 2, "BFLOAT16"},
    [17] = {TL_FLOAT8E4M3FN, 1, "FLOAT8E4M3FN"},
    [18] = {TL_FLOAT8E4M3FNUZ, 1, "FLOAT8E4M3FNUZ"},
    [19] = {TL_FLOAT8E5M2, 1, "FLOAT8E5M2"},
    [20] = {TL_FLOAT8E5M2FNUZ, 1, "FLOAT8E5M2FNUZ"},
};

int ort_element_of(tl_dtype dtype)
{
    for (int i = 1; i < ORT_ELEMENT_COUNT; i++)
        if (ort_elements[i].dtype == dtype)
            return i;
    return 0;
}

// ---- Shapes ----

void ort_shape_clear(ort_shape *shape)
{
    for (int i = 0; i < TL_MAXDIM; i++)
        ln_free(shape->symbols[i]);
}

bool ort_shape_copy(ort_shape *out, const ort_shape *shape)
{
    *out = *shape;
    memset(out->symbols, 0, sizeof out->symbols);
    for (int i = 0; i < TL_MAXDIM; i++)
        if (shape->symbols[i] && !(out->symbols[i] = ln_strdup(shape->symbols[i])))
            return false;
    return true;
}

void ort_shape_free(ort_shape *shape)
{
    if (shape)
        ort_shape_clear(shape);
    ln_free(shape);
}

size_t ort_rank_of(const ort_shape *shape)
{
    return shape->ndim > 0 ? (size_t)shape->ndim : 0;
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

const char *ort_shape_print(const ort_shape *shape, char text[ORT_SHAPE_TEXT_BYTES])
{
    size_t at = (size_t)snprintf(text, ORT_SHAPE_TEXT_BYTES, shape->ndim < 0 ? "[?" : "[");
    for (size_t i = 0; i < ort_rank_of(shape); i++)
        at += (size_t)snprintf(text + at, ORT_SHAPE_TEXT_BYTES - at, "%s%lld", i ? ", " : "",
                               (long long)shape->dims[i]);
    snprintf(text + at, ORT_SHAPE_TEXT_BYTES - at, "]");
    return text;
}

static ort_status *CreateTensorTypeAndShapeInfo(ort_shape **out)
{
    OUT(out, NULL);
    *out = ln_alloc(sizeof **out);
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

static ort_status *SetSymbolicDimensions(ort_shape *shape, const char *symbols[], size_t count)
{
    NEED(shape);
    if (count > 0)
        NEED(symbols);
    if (count > ort_rank_of(shape))
        return ort_fail(ORT_INVALID_ARGUMENT, "%zu symbols for %zu dimensions", count,
                        ort_rank_of(shape));
    for (size_t i = 0; i < count; i++) {
        char *symbol = symbols[i] ? ln_strdup(symbols[i]) : NULL;
        if (symbols[i] && !symbol)
            return ort_fail_memory();
        ln_free(shape->symbols[i]);
        shape->symbols[i] = symbol;
    }
    return NULL;
}

static ort_status *GetTensorElementType(const ort_shape *shape, int *out)
{
    OUT(out, 0);
    NEED(shape);
    *out = shape->type;
    return NULL;
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

static ort_status *GetTensorShapeElementCount(const ort_shape *shape, size_t *out)
{
    OUT(out, 0);
    NEED(shape);
    return ort_shape_count(shape, out)
               ? NULL
               : ort_fail(ORT_INVALID_ARGUMENT,
                          "a dimension is dynamic, or there are too many elements");
}

static bool TensorTypeAndShape_HasShape(const ort_shape *shape)
{
    return shape && shape->ndim >= 0;
}

// ---- Types ----

ort_type *ort_type_new(ort_kind kind)
{
    ort_type *type = ln_alloc(sizeof *type);
    if (type) {
        type->kind = kind;
        type->shape.ndim = -1;
    }
    return type;
}

void ort_type_free(ort_type *type)
{
    while (type) {
        ort_type *element = type->element;
        ort_shape_clear(&type->shape);
        ln_free(type);
        type = element;
    }
}

ort_type *ort_type_copy(const ort_type *type)
{
    ort_type *copy = NULL, **link = &copy;
    for (; type; type = type->element, link = &(*link)->element) {
        *link = ort_type_new(type->kind);
        if (!*link || !ort_shape_copy(&(*link)->shape, &type->shape)) {
            ort_type_free(copy);
            return NULL;
        }
    }
    return copy;
}

static bool skip(const char **at, const char *word)
{
    size_t len = strlen(word);
    if (strncmp(*at, word, len) != 0)
        return false;
    *at += len;
    return true;
}

static int skip_element(const char **at)
{
    size_t len = strcspn(*at, "[],() ");
    for (int i = 1; i < ORT_ELEMENT_COUNT; i++)
        if (strlen(ort_elements[i].name) == len && strncmp(*at, ort_elements[i].name, len) == 0) {
            *at += len;
            return i;
        }
    *at += len;
    return 0;
}

// The dimensions inside containers are of no use to who has a value, so only their number is read.
static ort_type *parse_tensor(const char *text)
{
    ort_type *type = ort_type_new(ORT_TENSOR);
    if (!type)
        return NULL;
    type->shape.type = skip_element(&text);
    if (!type->shape.type)
        type->kind = ORT_UNKNOWN;
    if (!skip(&text, "[") || *text == '?')
        return type;
    type->shape.ndim = 0;
    while (*text && *text != ']' && type->shape.ndim < TL_MAXDIM) {
        char *end;
        long long dim = strtoll(text, &end, 10);
        type->shape.dims[type->shape.ndim++] = end > text && strchr(",]", *end) ? dim : -1;
        text += strcspn(text, ",]");
        text += strspn(text, ", ");
    }
    return type;
}

ort_type *ort_type_parse(const char *text)
{
    ort_type *type = NULL, **link = &type;
    for (bool is_around = true; is_around; link = &(*link)->element) {
        if (skip(&text, "seq(")) {
            *link = ort_type_new(ORT_SEQUENCE);
        } else if (skip(&text, "optional(")) {
            *link = ort_type_new(ORT_OPTIONAL);
        } else if (skip(&text, "map(")) {
            *link = ort_type_new(ORT_MAP);
            if (*link)
                (*link)->shape.type = skip_element(&text);
            (void)skip(&text, ", ");
        } else {
            *link = parse_tensor(text);
            is_around = false;
        }
        if (!*link) {
            ort_type_free(type);
            return NULL;
        }
    }
    return type;
}

static ort_status *copy_type(const ort_type *type, ort_type **out)
{
    *out = type ? ort_type_copy(type) : ort_type_new(ORT_UNKNOWN);
    return *out ? NULL : ort_fail_memory();
}

static ort_status *GetOnnxTypeFromTypeInfo(const ort_type *type, int *out)
{
    OUT(out, ORT_UNKNOWN);
    NEED(type);
    *out = type->kind;
    return NULL;
}

static ort_status *CastTypeInfoToTensorInfo(const ort_type *type, const ort_shape **out)
{
    OUT(out, NULL);
    NEED(type);
    *out = type->kind == ORT_TENSOR ? &type->shape : NULL;
    return NULL;
}

// What is inside has no type of its own here: it is the same object, seen as one.
#define CAST(slot, wanted)                                                                         \
    static ort_status *slot(const ort_type *type, const ort_type **out)                            \
    {                                                                                              \
        OUT(out, NULL);                                                                            \
        NEED(type);                                                                                \
        *out = type->kind == (wanted) ? type : NULL;                                               \
        return NULL;                                                                               \
    }
CAST(CastTypeInfoToMapTypeInfo, ORT_MAP)
CAST(CastTypeInfoToSequenceTypeInfo, ORT_SEQUENCE)
CAST(CastTypeInfoToOptionalTypeInfo, ORT_OPTIONAL)

static ort_status *GetMapKeyType(const ort_type *map, int *out)
{
    OUT(out, 0);
    NEED(map);
    *out = map->shape.type;
    return NULL;
}

#define CONTAINED(slot)                                                                            \
    static ort_status *slot(const ort_type *type, ort_type **out)                                  \
    {                                                                                              \
        OUT(out, NULL);                                                                            \
        NEED(type);                                                                                \
        return copy_type(type->element, out);                                                      \
    }
CONTAINED(GetMapValueType)
CONTAINED(GetSequenceElementType)
CONTAINED(GetOptionalContainedTypeInfo)

// They are borrowed from the type that was cast.
static void release_borrowed(ort_type *type)
{
    (void)type;
}

// Models state none that LightNet keeps.
static ort_status *GetDenotationFromTypeInfo(const ort_type *type, const char **out, size_t *len)
{
    OUT(out, "");
    OUT(len, 0);
    NEED(type);
    return NULL;
}

const ort_row ort_type_slots[] = {
    SLOT(CreateTensorTypeAndShapeInfo),
    SLOT(SetTensorElementType),
    SLOT(SetDimensions),
    SLOT(SetSymbolicDimensions),
    SLOT(GetTensorElementType),
    SLOT(GetDimensionsCount),
    SLOT(GetDimensions),
    SLOT(GetSymbolicDimensions),
    SLOT(GetTensorShapeElementCount),
    SLOT(TensorTypeAndShape_HasShape),
    SLOT_AS(ReleaseTensorTypeAndShapeInfo, ort_shape_free),
    SLOT(GetOnnxTypeFromTypeInfo),
    SLOT(CastTypeInfoToTensorInfo),
    SLOT(CastTypeInfoToMapTypeInfo),
    SLOT(CastTypeInfoToSequenceTypeInfo),
    SLOT(CastTypeInfoToOptionalTypeInfo),
    SLOT(GetMapKeyType),
    SLOT(GetMapValueType),
    SLOT(GetSequenceElementType),
    SLOT(GetOptionalContainedTypeInfo),
    SLOT_AS(ReleaseMapTypeInfo, release_borrowed),
    SLOT_AS(ReleaseSequenceTypeInfo, release_borrowed),
    SLOT(GetDenotationFromTypeInfo),
    SLOT_AS(ReleaseTypeInfo, ort_type_free),
    SLOT_END,
};
