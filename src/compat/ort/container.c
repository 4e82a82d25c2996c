// SPDX-License-Identifier: Apache-2.0
// Sequences, maps and optionals: objects of LightNet, whose items are copied on the way out.

#include "compat/ort/ort.h"

static ort_kind kind_of(const ln_object *object)
{
    switch (ln_object_get_kind(object)) {
    case LN_OBJECT_SEQUENCE: return ORT_SEQUENCE;
    case LN_OBJECT_MAP: return ORT_MAP;
    default: return ORT_UNKNOWN;
    }
}

// An optional is what it holds, or a value without anything.
ort_status *ort_value_of_object(ln_object *object, const char *what, ort_value **out)
{
    bool is_optional = ln_object_get_kind(object) == LN_OBJECT_OPTIONAL;
    if (is_optional)
        object = ln_object_item(object, 0);
    if (object && ln_object_tensor(object))
        return ort_value_of_tensor(ln_object_tensor(object), what, out);
    ort_value *value = ln_alloc(sizeof *value);
    if (!value)
        return ort_fail_memory();
    atomic_init(&value->holder_count, 1);
    value->kind = object ? kind_of(object) : ORT_OPTIONAL;
    value->object = ln_object_retain(object);
    *out = value;
    return NULL;
}

// ---- Made by clients ----

static void release_all(ln_object **items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ln_object_release(items[i]);
    ln_free(items);
}

static ort_status *make_sequence(ln_object *const *items, size_t count, ln_object **out)
{
    for (size_t i = 0; i < count; i++)
        if (!ln_object_tensor(items[i]) && ln_object_get_kind(items[i]) != LN_OBJECT_MAP)
            return ort_fail(ORT_FAIL, "item %zu of a sequence is neither a tensor nor a map", i);
    tl_dtype dtype = ln_object_tensor(items[0]) ? ln_object_elem_dtype(items[0]) : TL_OBJECT;
    *out = ln_object_new_sequence(dtype, count, items);
    return *out ? NULL : ort_fail_lightnet(ORT_FAIL);
}

static ort_status *make_map(ln_object *const *items, size_t count, ln_object **out)
{
    if (count != 2)
        return ort_fail(ORT_FAIL, "a map is made of keys and values, not of %zu values", count);
    tl_dtype keys = ln_object_elem_dtype(items[0]);
    if (keys != TL_INT64 && keys != TL_STRING)
        return ort_fail(ORT_FAIL, "keys of a map are int64 or strings, not %s",
                        tl_dtype_title(keys));
    *out = ln_object_new_map(items[0], items[1]);
    return *out ? NULL : ort_fail_lightnet(ORT_FAIL);
}

static ort_status *CreateValue(const ort_value *const *in, size_t count, int kind, ort_value **out)
{
    OUT(out, NULL);
    NEED(in);
    if (kind != ORT_SEQUENCE && kind != ORT_MAP)
        return ort_fail(ORT_FAIL, "values of kind %d are not made: 2 is a sequence, 3 a map", kind);
    if (count == 0)
        return ort_fail(ORT_FAIL, "a sequence or map needs at least one value");
    ln_object **items = ln_alloc_array(count, sizeof *items), *object = NULL;
    if (!items)
        return ort_fail_memory();
    ort_status *status = NULL;
    for (size_t i = 0; i < count && !status; i++)
        status = in[i] ? ort_value_to_object(in[i], "CreateValue", &items[i])
                       : ort_fail(ORT_INVALID_ARGUMENT, "value %zu is NULL", i);
    if (!status)
        status = kind == ORT_MAP ? make_map(items, count, &object)
                                 : make_sequence(items, count, &object);
    release_all(items, count);
    if (!status)
        status = ort_value_of_object(object, "CreateValue", out);
    ln_object_release(object);
    return status;
}

// ---- Asked by clients ----

static ort_status *GetValueType(const ort_value *value, int *out)
{
    OUT(out, ORT_UNKNOWN);
    NEED(value);
    *out = value->kind;
    return NULL;
}

static ort_status *GetValueCount(const ort_value *value, size_t *out)
{
    OUT(out, 0);
    NEED(value);
    if (value->kind != ORT_SEQUENCE && value->kind != ORT_MAP)
        return ort_fail(ORT_FAIL, "the value is no sequence or map");
    *out = ln_object_count(value->object); // of a map: keys and values
    return NULL;
}

static ort_status *GetValue(const ort_value *value, int index, ort_allocator *allocator,
                            ort_value **out)
{
    size_t count;
    OUT(out, NULL);
    NEED(allocator);
    TRY(GetValueCount(value, &count));
    if (index < 0 || (size_t)index >= count)
        return ort_fail(ORT_FAIL, "item %d, of %zu", index, count);
    return ort_value_of_object(ln_object_item(value->object, (size_t)index), "GetValue", out);
}

// The type of an object, as far as its items tell it.
static ort_type *type_of(const ln_object *object)
{
    ort_type *type = NULL, **link = &type;
    while (object) {
        const tl_tensor *tensor = ln_object_tensor(object);
        *link = ort_type_new(tensor ? ORT_TENSOR : kind_of(object));
        if (!*link)
            break;
        if (tensor) {
            (*link)->shape.type = ort_element_of(tensor->dtype);
            return type;
        }
        bool is_map = (*link)->kind == ORT_MAP;
        if (is_map)
            (*link)->shape.type = ort_element_of(ln_object_elem_dtype(ln_object_item(object, 0)));
        link = &(*link)->element;
        if (!is_map && ln_object_count(object) == 0) {
            *link = ort_type_new(ORT_TENSOR);
            if (!*link)
                break;
            (*link)->shape.type = ort_element_of(ln_object_elem_dtype(object));
            return type;
        }
        object = ln_object_item(object, is_map ? 1 : 0);
    }
    ort_type_free(type);
    return NULL;
}

ort_type *ort_type_of(const ort_value *value)
{
    ort_type *type = value->object ? type_of(value->object) : ort_type_new(value->kind);
    if (type && value->kind == ORT_TENSOR && !ort_shape_copy(&type->shape, &value->shape)) {
        ort_type_free(type);
        return NULL;
    }
    return type;
}

static ort_status *GetTypeInfo(const ort_value *value, ort_type **out)
{
    OUT(out, NULL);
    NEED(value);
    *out = ort_type_of(value);
    return *out ? NULL : ort_fail_memory();
}

const ort_row ort_container_slots[] = {
    SLOT(CreateValue), SLOT(GetValueType), SLOT(GetValueCount),
    SLOT(GetValue),    SLOT(GetTypeInfo),  SLOT_END,
};
