// SPDX-License-Identifier: Apache-2.0
// Counted, immutable values: tensors, sequences, optionals, maps.
//
// An object is one block with all that is its own, but for strings, so that a meter can keep it for
// the next object of that size. A model may nest containers as deep as it likes, so an object is
// taken apart with a list of what has lost its last holder, never by recursion.

#include <lightnet/object.h>

#include <stdatomic.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/checked.h"
#include "tensor/meter.h"
#include "tensor/object.h"

// ---- Charging ----

static ln_status meter_charge(ln_meter *meter, size_t byte_count)
{
    if (!meter || ln_meter_take(meter, byte_count))
        return LN_OK;
    return LN_FAIL(
        LN_LIMIT,
        "%zu bytes beside %zu are over the %zu that the memory limit leaves to values of "
        "dynamic shape and workspace; raise the limit (`--budget=BYTES`, or `ln_limits` in a "
        "program), or take a smaller input",
        byte_count, ln_meter_bytes(meter), ln_meter_bytes(meter) + ln_meter_left(meter));
}

static void meter_discharge(ln_meter *meter, size_t byte_count)
{
    if (meter)
        ln_meter_give_back(meter, byte_count);
}

// ---- Objects ----

struct ln_object {
    atomic_size_t holders;
    ln_object_kind kind;
    tl_dtype elem_dtype;
    ln_meter *meter;      // NULL: nobody is charged
    size_t charged_bytes; // to the meter
    size_t byte_count;    // of the object's block
    tl_tensor *tensor;    // of a tensor: in the block, with its dimensions
    ln_object *base;      // retained: the tensor whose data this one shares
    ln_object *next_dead; // while it is taken apart
    size_t item_count;
    ln_object *items[]; // retained; the one of an optional may be NULL
};

// Elements begin at such a multiple of bytes in the block of their object.
#define DATA_ALIGN 16

// A kept block may be so much longer than an object needs, as a fraction of that.
#define SLACK_DIVISOR 4

// A block of zeros, charged to the meter; *out_byte_count is its length.
static ln_object *take_block(ln_meter *meter, size_t size, size_t *out_byte_count)
{
    ln_object *block = ln_meter_reuse(meter, size, size + size / SLACK_DIVISOR, out_byte_count);
    if (meter_charge(meter, ln_meter_block(*out_byte_count)) != LN_OK) {
        ln_free(block);
        return NULL;
    }
    if (block) {
        memset(block, 0, size);
        return block;
    }
    block = ln_alloc(size);
    if (!block)
        meter_discharge(meter, ln_meter_block(size));
    return block;
}

// An object with capacity for items that are not there yet, and with `other_bytes` after them.
static ln_object *object_create(ln_object_kind kind, tl_dtype elem_dtype, size_t item_count,
                                size_t other_bytes, ln_meter *meter)
{
    size_t size, byte_count;
    if (!ln_size_mul(item_count, sizeof(ln_object *), &size) ||
        !ln_size_add(size, sizeof(ln_object), &size) || !ln_size_add(size, other_bytes, &size) ||
        ln_meter_block(size) == SIZE_MAX) {
        ln_fail(LN_LIMIT, "an object of %zu items and %zu bytes is too large", item_count,
                other_bytes);
        return NULL;
    }
    ln_object *object = take_block(meter, size, &byte_count);
    if (!object)
        return NULL;
    atomic_init(&object->holders, 1);
    object->kind = kind;
    object->elem_dtype = elem_dtype;
    object->meter = ln_meter_retain(meter);
    object->charged_bytes = ln_meter_block(byte_count);
    object->byte_count = byte_count;
    object->item_count = item_count;
    return object;
}

ln_object *ln_object_retain(ln_object *object)
{
    if (object)
        atomic_fetch_add_explicit(&object->holders, 1, memory_order_relaxed);
    return object;
}

// Adds `object` to the list of the dead if this was its last holder.
static void let_go(ln_object *object, ln_object **dead)
{
    if (!object || atomic_fetch_sub_explicit(&object->holders, 1, memory_order_acq_rel) != 1)
        return;
    object->next_dead = *dead;
    *dead = object;
}

// The block of a string: all that an allocator would give for it, so that its length tells it.
static size_t string_block_bytes(size_t len)
{
    return ln_meter_block(len + 1) - sizeof(size_t);
}

// A string of which nothing but the end is set. The meter is charged by whoever takes it.
static char *take_string(ln_meter *meter, size_t len)
{
    size_t byte_count = string_block_bytes(len);
    char *string = ln_meter_reuse(meter, byte_count, byte_count, &byte_count);
    if (!string)
        string = ln_alloc(byte_count);
    if (string)
        string[len] = 0;
    return string;
}

static void give_string(ln_meter *meter, char *string)
{
    if (string && !ln_meter_keep(meter, string, string_block_bytes(strlen(string))))
        ln_free(string);
}

static void free_strings(ln_object *object)
{
    const tl_tensor *tensor = object->tensor;
    if (!tensor || tensor->dtype != TL_STRING || object->base)
        return;
    char **strings = tensor->data;
    for (int i = 0; i < tensor->len; i++)
        give_string(object->meter, strings[i]);
}

static void give_block(ln_object *object)
{
    ln_meter *meter = object->meter;
    meter_discharge(meter, object->charged_bytes);
    if (!ln_meter_keep(meter, object, object->byte_count))
        ln_free(object);
    ln_meter_release(meter);
}

void ln_object_release(ln_object *object)
{
    ln_object *dead = NULL;
    let_go(object, &dead);
    while (dead) {
        ln_object *current = dead;
        dead = current->next_dead;
        for (size_t i = 0; i < current->item_count; i++)
            let_go(current->items[i], &dead);
        free_strings(current);
        let_go(current->base, &dead);
        give_block(current);
    }
}

// ---- Tensors ----

// An object with a tensor that has no elements yet; *out_data is where `byte_count` bytes may be.
static ln_object *tensor_create(tl_dtype dtype, int ndim, const int *dims, size_t byte_count,
                                ln_meter *meter, void **out_data)
{
    size_t data_at = sizeof(tl_tensor) + (size_t)ndim * sizeof *dims + sizeof(ln_object);
    data_at = (data_at + DATA_ALIGN - 1) / DATA_ALIGN * DATA_ALIGN;
    size_t other_bytes;
    if (!ln_size_add(byte_count, data_at - sizeof(ln_object), &other_bytes))
        other_bytes = SIZE_MAX; // refused below
    ln_object *object = object_create(LN_OBJECT_TENSOR, dtype, 0, other_bytes, meter);
    if (!object)
        return NULL;
    tl_tensor *tensor = (tl_tensor *)(object + 1);
    *tensor = (tl_tensor){.dtype = dtype, .ndim = ndim, .dims = (int *)(tensor + 1)};
    if (ndim > 0)
        memcpy(tensor->dims, dims, (size_t)ndim * sizeof *dims);
    object->tensor = tensor;
    *out_data = (char *)object + data_at;
    return object;
}

ln_object *ln_object_new_tensor(tl_dtype dtype, int ndim, const int *dims, ln_meter *meter)
{
    int len = tl_compute_length(ndim, dims);
    size_t byte_count;
    if (len < 0)
        return NULL;
    if (!tl_size_of(dtype) || dtype == TL_OBJECT) {
        ln_fail(LN_INVALID, "%s is no dtype for the elements of a tensor object",
                tl_size_of(dtype) ? tl_dtype_title(dtype) : "an unknown number");
        return NULL;
    }
    if (!ln_size_mul((size_t)len, tl_size_of(dtype), &byte_count)) {
        ln_fail(LN_LIMIT, "%d elements of %s are too large", len, tl_dtype_title(dtype));
        return NULL;
    }
    void *data;
    ln_object *object = tensor_create(dtype, ndim, dims, byte_count, meter, &data);
    if (!object)
        return NULL;
    object->tensor->len = len;
    object->tensor->data = data;
    return object;
}

static ln_status copy_strings(ln_object *object, const tl_tensor *from)
{
    const char *const *strings = from->data;
    for (int i = 0; i < from->len; i++) {
        if (strings[i])
            LN_TRY(ln_object_set_string(object, (size_t)i, strings[i], strlen(strings[i])));
    }
    return LN_OK;
}

ln_object *ln_object_copy_tensor(const tl_tensor *tensor, ln_meter *meter)
{
    if (!tensor || (tensor->len > 0 && !tensor->data)) {
        ln_fail(LN_INVALID, "there is no tensor with data to be copied");
        return NULL;
    }
    if (tensor->dtype == TL_OBJECT) {
        ln_object *object = tensor->len == 1 ? *(ln_object *const *)tensor->data : NULL;
        if (!object)
            ln_fail(LN_INVALID, "the tensor holds no object");
        return ln_object_retain(object);
    }
    ln_object *copy = ln_object_new_tensor(tensor->dtype, tensor->ndim, tensor->dims, meter);
    if (!copy)
        return NULL;
    if (tensor->dtype != TL_STRING) {
        tl_memcpy(copy->tensor->data, tensor->data, tl_tensor_size(tensor));
        return copy;
    }
    if (copy_strings(copy, tensor) != LN_OK) {
        ln_object_release(copy);
        return NULL;
    }
    return copy;
}

// What owns the elements of tensor object `object`.
static ln_object *owner_of(ln_object *object)
{
    return object->base ? object->base : object;
}

ln_object *ln_object_reshape(ln_object *object, int ndim, const int *dims)
{
    tl_tensor *tensor = ln_object_tensor(object);
    int len = tl_compute_length(ndim, dims);
    if (len < 0)
        return NULL;
    if (!tensor || len != tensor->len) {
        ln_fail(LN_INVALID, "%s of %d elements cannot take a shape of %d",
                tensor ? "a tensor" : "an object", tensor ? tensor->len : 0, len);
        return NULL;
    }
    void *unused;
    ln_object *view = tensor_create(tensor->dtype, ndim, dims, 0, object->meter, &unused);
    if (!view)
        return NULL;
    view->base = ln_object_retain(owner_of(object));
    view->tensor->len = len;
    view->tensor->data = tensor->data;
    return view;
}

ln_status ln_object_set_string(ln_object *object, size_t index, const char *bytes, size_t len)
{
    const tl_tensor *tensor = ln_object_tensor(object);
    if (!tensor || tensor->dtype != TL_STRING || index >= (size_t)tensor->len)
        return LN_FAIL(LN_INVALID, "there is no string %zu in the object", index);
    const char *end = len ? memchr(bytes, 0, len) : NULL;
    if (end)
        len = (size_t)(end - bytes);
    if (len == SIZE_MAX)
        return LN_FAIL(LN_LIMIT, "a string of %zu bytes is too long", len);

    ln_object *owner = owner_of(object);
    size_t new_bytes = ln_meter_block(len + 1);
    LN_TRY(meter_charge(owner->meter, new_bytes));
    char *copy = take_string(owner->meter, len);
    if (!copy) {
        meter_discharge(owner->meter, new_bytes);
        return LN_NO_MEMORY;
    }
    tl_memcpy(copy, bytes, len);

    char **slot = (char **)tensor->data + index;
    size_t old_bytes = *slot ? ln_meter_block(strlen(*slot) + 1) : 0;
    give_string(owner->meter, *slot);
    *slot = copy;
    meter_discharge(owner->meter, old_bytes);
    owner->charged_bytes += new_bytes - old_bytes;
    return LN_OK;
}

size_t ln_object_string_bytes(const ln_object *object)
{
    if (!object || object->elem_dtype != TL_STRING || !object->tensor)
        return 0;
    const ln_object *owner = object->base ? object->base : object;
    return owner->charged_bytes - ln_meter_block(owner->byte_count);
}

// ---- Containers ----

static ln_meter *meter_of(const ln_object *item)
{
    return item ? item->meter : NULL;
}

static ln_object *container_create(ln_object_kind kind, tl_dtype elem_dtype, size_t count,
                                   ln_object *const *items, ln_meter *meter)
{
    ln_object *object = object_create(kind, elem_dtype, count, 0, meter);
    for (size_t i = 0; object && i < count; i++)
        object->items[i] = ln_object_retain(items[i]);
    return object;
}

ln_object *ln_object_make_sequence(tl_dtype elem_dtype, size_t count, ln_object *const *items,
                                   ln_meter *meter)
{
    if (!tl_size_of(elem_dtype) || (count && !items)) {
        ln_fail(LN_INVALID, "a sequence needs a dtype and its items");
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (!items[i] || items[i]->kind != items[0]->kind ||
            (items[i]->kind == LN_OBJECT_TENSOR && items[i]->elem_dtype != elem_dtype)) {
            ln_fail(LN_INVALID, "item %zu of a sequence of %s does not fit", i,
                    tl_dtype_title(elem_dtype));
            return NULL;
        }
    }
    return container_create(LN_OBJECT_SEQUENCE, elem_dtype, count, items, meter);
}

ln_object *ln_object_new_sequence(tl_dtype elem_dtype, size_t count, ln_object *const *items)
{
    return ln_object_make_sequence(elem_dtype, count, items,
                                   count && items ? meter_of(items[0]) : NULL);
}

ln_object *ln_object_make_optional(ln_object *item, ln_meter *meter)
{
    return container_create(LN_OBJECT_OPTIONAL, TL_DTYPE_INVALID, 1, &item, meter);
}

ln_object *ln_object_new_optional(ln_object *item)
{
    return ln_object_make_optional(item, meter_of(item));
}

ln_object *ln_object_new_map(ln_object *keys, ln_object *values)
{
    const tl_tensor *key = ln_object_tensor(keys), *value = ln_object_tensor(values);
    if (!key || !value || key->len != value->len) {
        ln_fail(LN_INVALID, "a map needs a tensor of keys and one of as many values");
        return NULL;
    }
    return container_create(LN_OBJECT_MAP, TL_DTYPE_INVALID, 2, (ln_object *[]){keys, values},
                            meter_of(keys));
}

// ---- Asking ----

ln_object_kind ln_object_get_kind(const ln_object *object)
{
    return object->kind;
}

size_t ln_object_count(const ln_object *object)
{
    if (!object)
        return 0;
    bool is_none = object->kind == LN_OBJECT_OPTIONAL && !object->items[0];
    return is_none ? 0 : object->item_count;
}

ln_object *ln_object_item(const ln_object *object, size_t index)
{
    return object && index < object->item_count ? object->items[index] : NULL;
}

tl_dtype ln_object_elem_dtype(const ln_object *object)
{
    return object ? object->elem_dtype : TL_DTYPE_INVALID;
}

tl_tensor *ln_object_tensor(const ln_object *object)
{
    return object ? object->tensor : NULL;
}
