// SPDX-License-Identifier: Apache-2.0
// Values of ONNX as objects. What is half done of sequences and optionals inside each other is kept
// on a stack.

#include "serial/onnx/value.h"

#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/context.h>

#include "serial/onnx/tensor.h"

#define MAX_VALUES 32 // inside each other

// A sequence, optional or map whose items are being read.
typedef struct frame {
    ln_object_kind kind;
    ln_onnx_kind item_kind;
    ln_onnx_list items;
    ln_object **objects; // as many as `done`
    size_t done;
    ln_object *keys; // of a map
} frame;

typedef struct value_reader {
    ln_onnx_source source;
    ln_onnx_arena arena;
    frame frames[MAX_VALUES];
    size_t depth;
} value_reader;

// ---- Tensors ----

static ln_status fill_strings(ln_object *object, const ln_onnx_value *value)
{
    const char *const *strings = value->data;
    for (size_t i = 0; i < value->elem_count; i++)
        LN_TRY(ln_object_set_string(object, i, strings[i], strlen(strings[i])));
    return LN_OK;
}

static ln_status make_tensor(const ln_onnx_value *value, ln_object **out)
{
    ln_object *object = ln_object_new_tensor(value->dtype, value->ndim, value->dims, NULL);
    if (!object)
        return ln_error_status();
    ln_status status = LN_OK;
    if (value->dtype == TL_STRING)
        status = fill_strings(object, value);
    else if (value->byte_count > 0)
        memcpy(ln_object_tensor(object)->data, value->data, value->byte_count);
    if (status != LN_OK) {
        ln_object_release(object);
        return status;
    }
    *out = object;
    return LN_OK;
}

static ln_status read_tensor(value_reader *r, ln_onnx_kind kind, ln_onnx_bytes message,
                             ln_object **out)
{
    ln_onnx_value value;
    LN_TRY(kind == LN_ONNX_SPARSE ? ln_onnx_sparse_read(&r->source, message, &value)
                                  : ln_onnx_tensor_read(&r->source, message, &value));
    ln_status status = make_tensor(&value, out);
    ln_onnx_value_deinit(&value);
    return status;
}

// ---- Maps ----

static ln_status read_keys(value_reader *r, const ln_onnx_map *map, ln_onnx_bytes message,
                           ln_object **out)
{
    size_t count = map->string_keys.count ? map->string_keys.count : map->keys.count;
    if (count > INT32_MAX || (map->string_keys.count && map->keys.count))
        return ln_onnx_fail(&r->source, message.at, LN_INVALID, "a map with two kinds of keys");
    int len = (int)count;
    ln_object *keys =
        ln_object_new_tensor(map->string_keys.count ? TL_STRING : TL_INT64, 1, &len, NULL);
    if (!keys)
        return ln_error_status();
    ln_status status = LN_OK;
    for (size_t i = 0; i < map->string_keys.count && status == LN_OK; i++) {
        const ln_onnx_bytes *key = &map->string_keys.items[i];
        status = ln_object_set_string(keys, i, (const char *)key->at, key->len);
    }
    int64_t *numbers = map->string_keys.count ? NULL : ln_object_tensor(keys)->data;
    ln_onnx_number_cursor cursor = {0};
    uint64_t bits;
    for (size_t i = 0; numbers && ln_onnx_number_next(&map->keys, &cursor, &bits); i++)
        numbers[i] = (int64_t)bits;
    *out = keys;
    return status;
}

// The values of a map come as tensors of one element each; they become one tensor.
static ln_status join_values(const ln_object *sequence, ln_object **out)
{
    size_t count = ln_object_count(sequence);
    int len = (int)count;
    const tl_tensor *first = count ? ln_object_tensor(ln_object_item(sequence, 0)) : NULL;
    tl_dtype dtype = first ? first->dtype : TL_FLOAT;
    ln_object *joined = ln_object_new_tensor(dtype, 1, &len, NULL);
    if (!joined)
        return ln_error_status();
    ln_status status = LN_OK;
    size_t size = tl_size_of(dtype);
    for (size_t i = 0; i < count && status == LN_OK; i++) {
        const tl_tensor *t = ln_object_tensor(ln_object_item(sequence, i));
        if (!t || t->len != 1 || t->dtype != dtype) {
            status = LN_FAIL(LN_UNSUPPORTED, "a map whose values are not single elements");
        } else if (dtype == TL_STRING) {
            const char *text = *(const char *const *)t->data;
            text = text ? text : "";
            status = ln_object_set_string(joined, i, text, strlen(text));
        } else {
            memcpy((char *)ln_object_tensor(joined)->data + i * size, t->data, size);
        }
    }
    if (status != LN_OK) {
        ln_object_release(joined);
        return status;
    }
    *out = joined;
    return LN_OK;
}

static ln_status finish_map(frame *f, ln_object **out)
{
    ln_object *values = NULL;
    if (f->done == 1)
        LN_TRY(join_values(f->objects[0], &values));
    else
        values = ln_object_new_tensor(TL_FLOAT, 1, (int[]){0}, NULL);
    if (!values)
        return ln_error_status();
    ln_status status = LN_OK;
    if (ln_object_tensor(values)->len != ln_object_tensor(f->keys)->len)
        status = LN_FAIL(LN_INVALID, "a map of %d keys and %d values",
                         ln_object_tensor(f->keys)->len, ln_object_tensor(values)->len);
    else
        *out = ln_object_new_map(f->keys, values);
    ln_object_release(values);
    return status != LN_OK ? status : *out ? LN_OK : ln_error_status();
}

// ---- What has items ----

static tl_dtype elem_dtype_of(const frame *f)
{
    if (f->done == 0)
        return TL_FLOAT; // the message does not say
    ln_object_kind kind = ln_object_get_kind(f->objects[0]);
    int has_dtype = kind == LN_OBJECT_TENSOR || kind == LN_OBJECT_SEQUENCE;
    return has_dtype ? ln_object_elem_dtype(f->objects[0]) : TL_OBJECT;
}

static ln_status finish(frame *f, ln_object **out)
{
    *out = NULL;
    if (f->kind == LN_OBJECT_MAP)
        return finish_map(f, out);
    if (f->kind == LN_OBJECT_OPTIONAL)
        *out = ln_object_new_optional(f->done ? f->objects[0] : NULL);
    else
        *out = ln_object_new_sequence(elem_dtype_of(f), f->done, f->objects);
    return *out ? LN_OK : ln_error_status();
}

static void pop(value_reader *r)
{
    frame *f = &r->frames[--r->depth];
    for (size_t i = 0; i < f->done; i++)
        ln_object_release(f->objects[i]);
    ln_object_release(f->keys);
}

static ln_status use_list(value_reader *r, frame *f, ln_onnx_kind kind, const ln_onnx_list *list,
                          ln_onnx_bytes message)
{
    if (list->count == 0)
        return LN_OK;
    if (f->items.count > 0)
        return ln_onnx_fail(&r->source, message.at, LN_INVALID, "a sequence of two kinds of items");
    f->item_kind = kind;
    f->items = *list;
    return LN_OK;
}

static ln_status list_sequence(value_reader *r, frame *f, ln_onnx_bytes message)
{
    ln_onnx_sequence s;
    LN_TRY(ln_onnx_decode(LN_ONNX_SEQUENCE, message, &r->arena, &s));
    LN_TRY(use_list(r, f, LN_ONNX_TENSOR, &s.tensor_values, message));
    LN_TRY(use_list(r, f, LN_ONNX_SPARSE, &s.sparse_tensor_values, message));
    LN_TRY(use_list(r, f, LN_ONNX_SEQUENCE, &s.sequence_values, message));
    LN_TRY(use_list(r, f, LN_ONNX_MAP, &s.map_values, message));
    return use_list(r, f, LN_ONNX_OPTIONAL, &s.optional_values, message);
}

static ln_status use_one(value_reader *r, frame *f, ln_onnx_kind kind, ln_onnx_bytes item,
                         ln_onnx_bytes message)
{
    if (!item.at)
        return LN_OK;
    ln_onnx_bytes *copy = ln_onnx_arena_take(&r->arena, 1, sizeof *copy);
    if (!copy)
        return ln_error_status();
    *copy = item;
    return use_list(r, f, kind, &(ln_onnx_list){.items = copy, .count = 1}, message);
}

static ln_status list_optional(value_reader *r, frame *f, ln_onnx_bytes message)
{
    ln_onnx_optional o;
    LN_TRY(ln_onnx_decode(LN_ONNX_OPTIONAL, message, &r->arena, &o));
    LN_TRY(use_one(r, f, LN_ONNX_TENSOR, o.tensor_value, message));
    LN_TRY(use_one(r, f, LN_ONNX_SPARSE, o.sparse_tensor_value, message));
    LN_TRY(use_one(r, f, LN_ONNX_SEQUENCE, o.sequence_value, message));
    LN_TRY(use_one(r, f, LN_ONNX_MAP, o.map_value, message));
    return use_one(r, f, LN_ONNX_OPTIONAL, o.optional_value, message);
}

static ln_status list_map(value_reader *r, frame *f, ln_onnx_bytes message)
{
    ln_onnx_map map;
    LN_TRY(ln_onnx_decode(LN_ONNX_MAP, message, &r->arena, &map));
    LN_TRY(read_keys(r, &map, message, &f->keys));
    return use_one(r, f, LN_ONNX_SEQUENCE, map.values, message);
}

static ln_status push(value_reader *r, ln_onnx_kind kind, ln_onnx_bytes message)
{
    if (r->depth == MAX_VALUES)
        return LN_FAIL(LN_LIMIT, "more than %d values inside each other", MAX_VALUES);
    frame *f = &r->frames[r->depth++];
    *f = (frame){.kind = kind == LN_ONNX_SEQUENCE ? LN_OBJECT_SEQUENCE
                         : kind == LN_ONNX_MAP    ? LN_OBJECT_MAP
                                                  : LN_OBJECT_OPTIONAL};
    LN_TRY(kind == LN_ONNX_SEQUENCE ? list_sequence(r, f, message)
           : kind == LN_ONNX_MAP    ? list_map(r, f, message)
                                    : list_optional(r, f, message));
    f->objects = ln_onnx_arena_take(&r->arena, f->items.count, sizeof *f->objects);
    return f->objects ? LN_OK : ln_error_status();
}

// Opens `message`: *out is a tensor at once, or NULL when it has items that come first.
static ln_status open_value(value_reader *r, ln_onnx_kind kind, ln_onnx_bytes message,
                            ln_object **out)
{
    *out = NULL;
    if (kind == LN_ONNX_TENSOR || kind == LN_ONNX_SPARSE)
        return read_tensor(r, kind, message, out);
    return push(r, kind, message);
}

static ln_status read_all(value_reader *r, ln_onnx_kind kind, ln_onnx_bytes message,
                          ln_object **out)
{
    ln_object *object;
    LN_TRY(open_value(r, kind, message, &object));
    while (r->depth > 0) {
        frame *f = &r->frames[r->depth - 1];
        if (object) {
            f->objects[f->done++] = object;
            object = NULL;
        }
        if (f->done < f->items.count) {
            LN_TRY(open_value(r, f->item_kind, f->items.items[f->done], &object));
            continue;
        }
        LN_TRY(finish(f, &object));
        pop(r);
    }
    *out = object;
    return LN_OK;
}

static ln_onnx_kind message_kind(ln_object_kind kind)
{
    switch (kind) {
    case LN_OBJECT_TENSOR: return LN_ONNX_TENSOR;
    case LN_OBJECT_SEQUENCE: return LN_ONNX_SEQUENCE;
    case LN_OBJECT_OPTIONAL: return LN_ONNX_OPTIONAL;
    case LN_OBJECT_MAP: return LN_ONNX_MAP;
    }
    return LN_ONNX_KIND_COUNT;
}

ln_status ln_onnx_value_read(const void *bytes, size_t byte_count, const char *name,
                             ln_object_kind kind, ln_object **out_object)
{
    *out_object = NULL;
    ln_onnx_kind message = message_kind(kind);
    if ((!bytes && byte_count > 0) || message == LN_ONNX_KIND_COUNT)
        return LN_FAIL(LN_INVALID, "a value needs its bytes and a kind");

    ln_onnx_bytes all = {.at = bytes ? bytes : (const uint8_t *)"", .len = byte_count};
    name = name ? name : "<memory>";
    ln_onnx_findings findings;
    LN_TRY(ln_onnx_check(message, all, name, &findings));
    value_reader *r = ln_alloc(sizeof *r);
    if (!r)
        return LN_NO_MEMORY;
    size_t limit = ln_limits_default().memory_byte_count;
    r->source = (ln_onnx_source){.name = name, .bytes = all, .budget = {limit, limit, limit}};
    r->arena.budget = &r->source.budget;
    ln_status status = read_all(r, message, all, out_object);
    while (r->depth > 0)
        pop(r);
    ln_onnx_arena_deinit(&r->arena);
    ln_free(r);
    return status;
}
