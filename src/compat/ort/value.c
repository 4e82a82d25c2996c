// SPDX-License-Identifier: Apache-2.0
// Values: tensors in memory of their own or of the caller; their way to LightNet and back.

#include "compat/ort/ort.h"

#include <limits.h>
#include <string.h>

// ---- Life ----

ort_value *ort_value_retain(const ort_value *value)
{
    ort_value *held = (ort_value *)(uintptr_t)value; // counting is no change
    atomic_fetch_add_explicit(&held->holder_count, 1, memory_order_relaxed);
    return held;
}

void ort_value_release(ort_value *value)
{
    if (!value || atomic_fetch_sub_explicit(&value->holder_count, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; value->texts && i < value->count; i++)
        ln_free(value->texts[i].bytes);
    ln_free(value->texts);
    if (value->block && value->deleter)
        value->deleter->free(value->deleter, value->block);
    ln_object_release(value->object);
    ln_free(value);
}

ort_status *ort_value_new(const int64_t *dims, size_t ndim, int type, ort_value **out)
{
    if (ndim > 0 && !dims)
        return ort_fail(ORT_INVALID_ARGUMENT, "the shape is NULL");
    if (ndim > TL_MAXDIM)
        return ort_fail(ORT_INVALID_ARGUMENT, "%zu dimensions, at most %d", ndim, TL_MAXDIM);
    if (type < 1 || type >= ORT_ELEMENT_COUNT)
        return ort_fail(ORT_NOT_IMPLEMENTED, "element type %d is not known", type);
    ort_value *value = ln_alloc(sizeof *value);
    if (!value)
        return ort_fail_memory();
    atomic_init(&value->holder_count, 1);
    value->kind = ORT_TENSOR;
    value->shape.type = type;
    value->shape.ndim = (int)ndim;
    for (size_t i = 0; i < ndim; i++)
        value->shape.dims[i] = dims[i];
    if (!ort_shape_count(&value->shape, &value->count)) {
        char text[ORT_SHAPE_TEXT_BYTES];
        ort_status *status = ort_fail(
            ORT_INVALID_ARGUMENT, "shape %s: a dimension is negative, or the product is over %d",
            ort_shape_print(&value->shape, text), INT_MAX);
        ln_free(value);
        return status;
    }
    value->byte_count = type == ORT_STRING ? 0 : value->count * ort_elements[type].size;
    *out = value;
    return NULL;
}

ort_status *ort_value_make(const int64_t *dims, size_t ndim, int type, bool is_raw, ort_value **out)
{
    ort_value *value;
    TRY(ort_value_new(dims, ndim, type, &value));
    if (type == ORT_STRING) {
        value->texts = ln_alloc_array(value->count + 1, sizeof *value->texts);
    } else {
        value->block = is_raw ? ort_alloc_raw(value->byte_count) : ort_alloc(value->byte_count);
        value->data = value->block;
        value->deleter = &ort_cpu_allocator;
    }
    if (!value->texts && !value->block) {
        ort_value_release(value);
        return ort_fail_memory();
    }
    *out = value;
    return NULL;
}

// ---- To LightNet and back ----

// LightNet's strings end at a 0 byte. Inside of one it is these two bytes there, which are in no
// UTF-8; a string that has them is refused, so that what comes back is what was given.
#define ZERO_AS   "\xc0\x80"
#define ZERO_SIZE (sizeof ZERO_AS - 1)

static bool is_zero_as(const char *bytes, size_t len)
{
    return len >= ZERO_SIZE && memcmp(bytes, ZERO_AS, ZERO_SIZE) == 0;
}

static ort_status *fill_string(ln_object *object, size_t index, const ort_text *text,
                               const char *what)
{
    size_t zero_count = 0, len = 0;
    for (size_t i = 0; i < text->len; i++) {
        if (is_zero_as(&text->bytes[i], text->len - i))
            return ort_fail(ORT_INVALID_ARGUMENT,
                            "'%s': string %zu has the bytes C0 80, which are not UTF-8, and stand "
                            "for a 0 byte inside of LightNet",
                            what, index);
        zero_count += text->bytes[i] == 0;
    }
    const char *bytes = text->bytes;
    char *coded = NULL;
    if (zero_count > 0) {
        bytes = coded = text->len < SIZE_MAX / 2 ? ln_alloc(text->len + zero_count) : NULL;
        if (!coded)
            return ort_fail_memory();
        for (size_t i = 0; i < text->len; i++) {
            size_t size = text->bytes[i] == 0 ? ZERO_SIZE : 1;
            memcpy(&coded[len], size == 1 ? &text->bytes[i] : ZERO_AS, size);
            len += size;
        }
    }
    ln_status status = ln_object_set_string(object, index, bytes, coded ? len : text->len);
    ln_free(coded);
    return status == LN_OK ? NULL : ort_fail_lightnet(ORT_INVALID_ARGUMENT);
}

static ort_status *take_string(ort_value *value, size_t index, const char *bytes)
{
    size_t len = 0;
    TRY(ort_text_set(value, index, bytes, bytes ? strlen(bytes) : 0));
    ort_text *text = &value->texts[index];
    for (size_t i = 0; i < text->len; len++) {
        bool is_zero = is_zero_as(&text->bytes[i], text->len - i);
        text->bytes[len] = is_zero ? 0 : text->bytes[i];
        i += is_zero ? ZERO_SIZE : 1;
    }
    text->len = len;
    text->bytes[len] = 0;
    return NULL;
}

static ort_status *fill_strings(ln_object *object, const ort_value *value, const char *what)
{
    for (size_t i = 0; i < value->count; i++)
        if (value->texts[i].len > 0)
            TRY(fill_string(object, i, &value->texts[i], what));
    return NULL;
}

static ort_status *fill_object(ln_object *object, const ort_value *value, const char *what)
{
    if (value->texts)
        return fill_strings(object, value, what);
    void *data = ln_object_tensor(object)->data;
    if (value->shape.type == ORT_BOOL)
        for (size_t i = 0; i < value->count; i++)
            ((tl_bool *)data)[i] = ((const unsigned char *)value->data)[i] != 0;
    else if (value->byte_count > 0)
        memcpy(data, value->data, value->byte_count);
    return NULL;
}

ort_status *ort_value_to_object(const ort_value *value, const char *what, ln_object **out)
{
    *out = NULL;
    if (value->kind != ORT_TENSOR) {
        *out = value->object ? ln_object_retain(value->object) : ln_object_new_optional(NULL);
        return *out ? NULL : ort_fail_lightnet(ORT_FAIL);
    }
    int dims[TL_MAXDIM];
    for (int i = 0; i < value->shape.ndim; i++)
        dims[i] = (int)value->shape.dims[i];
    ln_object *object =
        ln_object_new_tensor(ort_elements[value->shape.type].dtype, value->shape.ndim, dims, NULL);
    if (!object)
        return ort_fail_lightnet(ORT_INVALID_ARGUMENT);
    ort_status *status = fill_object(object, value, what);
    if (status) {
        ln_object_release(object);
        return status;
    }
    *out = object;
    return NULL;
}

ort_status *ort_value_fill(ort_value *value, const tl_tensor *tensor)
{
    if (value->texts) {
        for (size_t i = 0; i < value->count; i++)
            TRY(take_string(value, i, ((char *const *)tensor->data)[i]));
    } else if (value->shape.type == ORT_BOOL) {
        for (size_t i = 0; i < value->count; i++)
            ((unsigned char *)value->data)[i] = ((const tl_bool *)tensor->data)[i] != 0;
    } else if (value->byte_count > 0 && value->data != tensor->data) {
        memcpy(value->data, tensor->data, value->byte_count);
    }
    return NULL;
}

ort_status *ort_value_of_tensor(const tl_tensor *tensor, const char *what, ort_value **out)
{
    int type = ort_element_of(tensor->dtype);
    if (!type)
        return ort_fail(ORT_NOT_IMPLEMENTED, "'%s': elements of %s have no type here", what,
                        tl_dtype_title(tensor->dtype));
    int64_t dims[TL_MAXDIM];
    for (int i = 0; i < tensor->ndim; i++)
        dims[i] = tensor->dims[i];
    ort_value *value;
    TRY(ort_value_make(dims, (size_t)tensor->ndim, type, true, &value));
    ort_status *status = ort_value_fill(value, tensor);
    if (status) {
        ort_value_release(value);
        return status;
    }
    *out = value;
    return NULL;
}

// ---- Made by clients ----

static ort_status *new_with_data(void *data, size_t byte_count, const int64_t *dims, size_t ndim,
                                 int type, ort_value **out)
{
    if (type == ORT_STRING)
        return ort_fail(ORT_INVALID_ARGUMENT, "strings cannot be in the caller's memory");
    ort_value *value;
    TRY(ort_value_new(dims, ndim, type, &value));
    if (value->byte_count > byte_count || (!data && value->byte_count > 0)) {
        ort_status *status =
            ort_fail(ORT_INVALID_ARGUMENT, "the shape needs %zu bytes, the buffer has %zu",
                     value->byte_count, data ? byte_count : 0);
        ort_value_release(value);
        return status;
    }
    value->data = data;
    *out = value;
    return NULL;
}

static ort_status *CreateTensorWithDataAsOrtValue(const ort_memory *memory, void *data,
                                                  size_t byte_count, const int64_t *dims,
                                                  size_t ndim, int type, ort_value **out)
{
    OUT(out, NULL);
    NEED(memory);
    if (!ort_is_cpu(memory))
        return ort_fail(ORT_INVALID_ARGUMENT, "values are in 'Cpu', not in '%s'", memory->name);
    return new_with_data(data, byte_count, dims, ndim, type, out);
}

static ort_status *CreateTensorWithDataAndDeleterAsOrtValue(ort_allocator *deleter, void *data,
                                                            size_t byte_count, const int64_t *dims,
                                                            size_t ndim, int type, ort_value **out)
{
    OUT(out, NULL);
    NEED(deleter);
    TRY(new_with_data(data, byte_count, dims, ndim, type, out));
    (*out)->block = data;
    (*out)->deleter = deleter;
    return NULL;
}

static ort_status *CreateTensorAsOrtValue(ort_allocator *allocator, const int64_t *dims,
                                          size_t ndim, int type, ort_value **out)
{
    OUT(out, NULL);
    NEED(allocator);
    if (type == ORT_STRING || allocator == &ort_cpu_allocator)
        return ort_value_make(dims, ndim, type, false, out);
    ort_value *value;
    TRY(ort_value_new(dims, ndim, type, &value));
    value->block = allocator->alloc(allocator, value->byte_count ? value->byte_count : 1);
    value->data = value->block;
    value->deleter = allocator;
    if (!value->block) {
        ort_value_release(value);
        return ort_fail_memory();
    }
    memset(value->data, 0, value->byte_count);
    *out = value;
    return NULL;
}

// ---- Asked by clients ----

static ort_status *IsTensor(const ort_value *value, int *out)
{
    OUT(out, 0);
    NEED(value);
    *out = value->kind == ORT_TENSOR;
    return NULL;
}

static ort_status *IsSparseTensor(const ort_value *value, int *out)
{
    OUT(out, 0);
    NEED(value);
    return NULL;
}

static ort_status *HasValue(const ort_value *value, int *out)
{
    OUT(out, 0);
    NEED(value);
    *out = value->kind == ORT_TENSOR || value->object;
    return NULL;
}

static ort_status *need_tensor(const ort_value *value)
{
    NEED(value);
    return value->kind == ORT_TENSOR ? NULL
                                     : ort_fail(ORT_INVALID_ARGUMENT, "the value is no tensor");
}

static ort_status *GetTensorTypeAndShape(const ort_value *value, ort_shape **out)
{
    OUT(out, NULL);
    TRY(need_tensor(value));
    ort_shape *shape = ln_alloc(sizeof *shape);
    if (!shape || !ort_shape_copy(shape, &value->shape)) {
        ort_shape_free(shape);
        return ort_fail_memory();
    }
    *out = shape;
    return NULL;
}

static ort_status *need_numbers(const ort_value *value)
{
    TRY(need_tensor(value));
    return value->shape.type != ORT_STRING
               ? NULL
               : ort_fail(ORT_NOT_IMPLEMENTED, "strings are read with GetStringTensorContent");
}

static ort_status *GetTensorMutableData(ort_value *value, void **out)
{
    OUT(out, NULL);
    TRY(need_numbers(value));
    *out = value->data;
    return NULL;
}

static ort_status *GetTensorData(const ort_value *value, const void **out)
{
    OUT(out, NULL);
    TRY(need_numbers(value));
    *out = value->data;
    return NULL;
}

static ort_status *TensorAt(ort_value *value, const int64_t *at, size_t count, void **out)
{
    OUT(out, NULL);
    TRY(need_numbers(value));
    if (count != ort_rank_of(&value->shape))
        return ort_fail(ORT_INVALID_ARGUMENT, "%zu indices for %zu dimensions", count,
                        ort_rank_of(&value->shape));
    if (count > 0)
        NEED(at);
    size_t element = 0;
    for (size_t i = 0; i < count; i++) {
        if (at[i] < 0 || at[i] >= value->shape.dims[i])
            return ort_fail(ORT_INVALID_ARGUMENT, "index %lld in dimension %zu, of %lld",
                            (long long)at[i], i, (long long)value->shape.dims[i]);
        element = element * (size_t)value->shape.dims[i] + (size_t)at[i];
    }
    *out = (char *)value->data + element * ort_elements[value->shape.type].size;
    return NULL;
}

static ort_status *GetTensorSizeInBytes(const ort_value *value, size_t *out)
{
    OUT(out, 0);
    TRY(need_tensor(value));
    if (value->shape.type == ORT_STRING)
        return ort_fail(ORT_INVALID_ARGUMENT, "strings have no size of their own");
    *out = value->byte_count;
    return NULL;
}

static ort_status *GetTensorMemoryInfo(const ort_value *value, const ort_memory **out)
{
    OUT(out, NULL);
    TRY(need_tensor(value));
    *out = ort_cpu();
    return NULL;
}

static ort_status *GetTensorElementTypeAndShapeDataReference(const ort_value *value, int *type,
                                                             const int64_t **dims, size_t *count)
{
    OUT(type, 0);
    OUT(dims, NULL);
    OUT(count, 0);
    TRY(need_tensor(value));
    *type = value->shape.type;
    *dims = value->shape.dims;
    *count = ort_rank_of(&value->shape);
    return NULL;
}

static ort_status *check_copy(const ort_value *from, const ort_value *to, size_t index)
{
    if (from->kind == ORT_TENSOR && to->kind == ORT_TENSOR && from->shape.type == to->shape.type &&
        from->count == to->count)
        return NULL;
    return ort_fail(ORT_INVALID_ARGUMENT,
                    "tensor %zu has another type or number of elements than what it is copied to",
                    index);
}

static ort_status *CopyTensors(const ort_env *env, const ort_value *const *from,
                               ort_value *const *to, void *stream, size_t count)
{
    (void)stream;
    NEED(env);
    if (count > 0) {
        NEED(from);
        NEED(to);
    }
    for (size_t i = 0; i < count; i++) {
        NEED(from[i]);
        NEED(to[i]);
        TRY(check_copy(from[i], to[i], i));
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; from[i]->texts && k < from[i]->count; k++)
            TRY(ort_text_set(to[i], k, from[i]->texts[k].bytes, from[i]->texts[k].len));
        if (from[i]->byte_count > 0)
            memmove(to[i]->data, from[i]->data, from[i]->byte_count);
    }
    return NULL;
}

const ort_row ort_value_slots[] = {
    SLOT(CreateTensorAsOrtValue),
    SLOT(CreateTensorWithDataAsOrtValue),
    SLOT(CreateTensorWithDataAndDeleterAsOrtValue),
    SLOT_AS(ReleaseValue, ort_value_release),
    SLOT(IsTensor),
    SLOT(IsSparseTensor),
    SLOT(HasValue),
    SLOT(GetTensorTypeAndShape),
    SLOT(GetTensorMutableData),
    SLOT(GetTensorData),
    SLOT(TensorAt),
    SLOT(GetTensorSizeInBytes),
    SLOT(GetTensorMemoryInfo),
    SLOT(GetTensorElementTypeAndShapeDataReference),
    SLOT(CopyTensors),
    SLOT_END,
};
