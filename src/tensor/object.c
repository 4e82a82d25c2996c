// SPDX-License-Identifier: Apache-2.0
// Counted, immutable values: tensors, sequences, optionals, maps; and the meters they are charged
// to.
//
// A model may nest containers as deep as it likes, so an object is taken apart with a list of what
// has lost its last holder, never by recursion.

#include <lightnet/object.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/checked.h"
#include "tensor/meter.h"

// ---- Meters ----

struct ln_meter {
    atomic_size_t holders;
    atomic_size_t bytes;
    atomic_size_t peak;
    size_t limit;
};

ln_meter *ln_meter_create(size_t limit)
{
    ln_meter *meter = ln_alloc(sizeof *meter);
    if (!meter)
        return NULL;
    atomic_init(&meter->holders, 1);
    atomic_init(&meter->bytes, 0);
    atomic_init(&meter->peak, 0);
    meter->limit = limit;
    return meter;
}

ln_meter *ln_meter_retain(ln_meter *meter)
{
    if (meter)
        atomic_fetch_add_explicit(&meter->holders, 1, memory_order_relaxed);
    return meter;
}

void ln_meter_release(ln_meter *meter)
{
    if (meter && atomic_fetch_sub_explicit(&meter->holders, 1, memory_order_acq_rel) == 1)
        ln_free(meter);
}

size_t ln_meter_bytes(const ln_meter *meter)
{
    return meter ? atomic_load(&meter->bytes) : 0;
}

size_t ln_meter_peak(const ln_meter *meter)
{
    return meter ? atomic_load(&meter->peak) : 0;
}

void ln_meter_reset_peak(ln_meter *meter)
{
    if (meter)
        atomic_store(&meter->peak, atomic_load(&meter->bytes));
}

bool ln_meter_take(ln_meter *meter, size_t byte_count)
{
    size_t before = atomic_load(&meter->bytes), after;
    do {
        if (!ln_size_add(before, byte_count, &after) || after > meter->limit)
            return false;
    } while (!atomic_compare_exchange_weak(&meter->bytes, &before, after));

    size_t peak = atomic_load(&meter->peak);
    while (after > peak && !atomic_compare_exchange_weak(&meter->peak, &peak, after))
        continue;
    return true;
}

size_t ln_meter_block(size_t byte_count)
{
    // A word for the size, then the next multiple of 16, and 32 at least: glibc's, and no other
    // takes much more.
    size_t rounded;
    if (!ln_size_add(byte_count, sizeof(size_t) + 15, &rounded))
        return SIZE_MAX;
    rounded &= ~(size_t)15;
    return rounded < 32 ? 32 : rounded;
}

size_t ln_meter_left(const ln_meter *meter)
{
    return meter ? meter->limit - ln_meter_bytes(meter) : SIZE_MAX;
}

void ln_meter_give_back(ln_meter *meter, size_t byte_count)
{
    atomic_fetch_sub(&meter->bytes, byte_count);
}

static ln_status meter_charge(ln_meter *meter, size_t byte_count)
{
    if (!meter || ln_meter_take(meter, byte_count))
        return LN_OK;
    return LN_FAIL(
        LN_LIMIT,
        "%zu bytes beside %zu are over the %zu that the memory limit leaves to values of "
        "dynamic shape and workspace; raise the limit (`--budget=BYTES`, or `ln_limits` in a "
        "program), or take a smaller input",
        byte_count, ln_meter_bytes(meter), meter->limit);
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
    tl_tensor *tensor;    // of a tensor
    ln_object *base;      // retained: the tensor whose data this one shares
    ln_object *next_dead; // while it is taken apart
    size_t item_count;
    ln_object *items[]; // retained; the one of an optional may be NULL
};

// A tensor with its shape, without elements.
#define TENSOR_BYTES (sizeof(tl_tensor) + (TL_MAXDIM + 1) * sizeof(int))

// An object with capacity for items that are not there yet, charged with what it and
// `other_bytes`, its other blocks, take.
static ln_object *object_create(ln_object_kind kind, tl_dtype elem_dtype, size_t item_count,
                                size_t other_bytes, ln_meter *meter)
{
    size_t size, charged;
    if (!ln_size_mul(item_count, sizeof(ln_object *), &size) ||
        !ln_size_add(size, sizeof(ln_object), &size) ||
        !ln_size_add(ln_meter_block(size), other_bytes, &charged)) {
        ln_fail(LN_LIMIT, "an object of %zu items and %zu bytes is too large", item_count,
                other_bytes);
        return NULL;
    }
    if (meter_charge(meter, charged) != LN_OK)
        return NULL;
    ln_object *object = ln_alloc(size);
    if (!object) {
        meter_discharge(meter, charged);
        return NULL;
    }
    atomic_init(&object->holders, 1);
    object->kind = kind;
    object->elem_dtype = elem_dtype;
    object->meter = ln_meter_retain(meter);
    object->charged_bytes = charged;
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

static void free_tensor(ln_object *object)
{
    tl_tensor *tensor = object->tensor;
    if (!tensor)
        return;
    if (object->base) {
        tl_tensor_free(tensor);
        return;
    }
    char **strings = tensor->dtype == TL_STRING ? tensor->data : NULL;
    for (int i = 0; strings && i < tensor->len; i++)
        ln_free(strings[i]);
    tl_tensor_free_data_too(tensor);
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
        free_tensor(current);
        let_go(current->base, &dead);
        meter_discharge(current->meter, current->charged_bytes);
        ln_meter_release(current->meter);
        ln_free(current);
    }
}

// ---- Tensors ----

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
    size_t blocks;
    if (!ln_size_add(ln_meter_block(byte_count), ln_meter_block(TENSOR_BYTES), &blocks))
        blocks = SIZE_MAX; // refused below
    ln_object *object = object_create(LN_OBJECT_TENSOR, dtype, 0, blocks, meter);
    if (!object)
        return NULL;
    object->tensor = tl_tensor_zeros(ndim, dims, dtype);
    if (!object->tensor) {
        ln_object_release(object);
        return NULL;
    }
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
    ln_object *view = object_create(LN_OBJECT_TENSOR, object->elem_dtype, 0,
                                    ln_meter_block(TENSOR_BYTES), object->meter);
    if (!view)
        return NULL;
    view->base = ln_object_retain(owner_of(object));
    view->tensor = tl_tensor_create(tensor->data, ndim, dims, tensor->dtype);
    if (!view->tensor) {
        ln_object_release(view);
        return NULL;
    }
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
    char *copy = ln_alloc(len + 1);
    if (!copy) {
        meter_discharge(owner->meter, new_bytes);
        return LN_NO_MEMORY;
    }
    tl_memcpy(copy, bytes, len);

    char **slot = (char **)tensor->data + index;
    size_t old_bytes = *slot ? ln_meter_block(strlen(*slot) + 1) : 0;
    ln_free(*slot);
    *slot = copy;
    meter_discharge(owner->meter, old_bytes);
    owner->charged_bytes += new_bytes - old_bytes;
    return LN_OK;
}

// ---- Containers ----

// A container is charged to the meter of its first item.
static ln_object *container_create(ln_object_kind kind, tl_dtype elem_dtype, size_t count,
                                   ln_object *const *items)
{
    ln_meter *meter = count && items[0] ? items[0]->meter : NULL;
    ln_object *object = object_create(kind, elem_dtype, count, 0, meter);
    for (size_t i = 0; object && i < count; i++)
        object->items[i] = ln_object_retain(items[i]);
    return object;
}

ln_object *ln_object_new_sequence(tl_dtype elem_dtype, size_t count, ln_object *const *items)
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
    return container_create(LN_OBJECT_SEQUENCE, elem_dtype, count, items);
}

ln_object *ln_object_new_optional(ln_object *item)
{
    return container_create(LN_OBJECT_OPTIONAL, TL_DTYPE_INVALID, 1, &item);
}

ln_object *ln_object_new_map(ln_object *keys, ln_object *values)
{
    const tl_tensor *key = ln_object_tensor(keys), *value = ln_object_tensor(values);
    if (!key || !value || key->len != value->len) {
        ln_fail(LN_INVALID, "a map needs a tensor of keys and one of as many values");
        return NULL;
    }
    return container_create(LN_OBJECT_MAP, TL_DTYPE_INVALID, 2, (ln_object *[]){keys, values});
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
