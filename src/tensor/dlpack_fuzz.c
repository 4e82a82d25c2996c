// SPDX-License-Identifier: Apache-2.0
// Any fields in a DLPack record: refused or held, the deleter called once, and no address touched
// that the record does not lead to.
//
// The bytes say what the record says. A producer that lies about how much memory it has cannot be
// found out, so elements are only touched if exact arithmetic finds all of them in the buffer.

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/ndarray.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t byte_count);

#define BUFFER_BYTES 4096
#define MAX_DIMS     36 // more than arrays have

typedef struct producer {
    int deleted;
    int64_t shape[MAX_DIMS], strides[MAX_DIMS];
    DLManagedTensorVersioned versioned;
    DLManagedTensor plain;
    char *buffer;
} producer;

typedef struct input {
    const uint8_t *bytes;
    size_t left;
} input;

static void take(input *in, void *out, size_t byte_count)
{
    memset(out, 0, byte_count);
    size_t n = in->left < byte_count ? in->left : byte_count;
    memcpy(out, in->bytes, n);
    in->bytes += n;
    in->left -= n;
}

static uint8_t take_byte(input *in)
{
    uint8_t byte;
    take(in, &byte, 1);
    return byte;
}

// Small, or any 64 bits: most records should get past the first check.
static int64_t take_number(input *in)
{
    uint8_t kind = take_byte(in);
    if (kind < 0xf0)
        return (int8_t)kind % 16;
    int64_t number;
    take(in, &number, sizeof number);
    return number;
}

static void delete_versioned(DLManagedTensorVersioned *self)
{
    ((producer *)self->manager_ctx)->deleted++;
}

static void delete_plain(DLManagedTensor *self)
{
    ((producer *)self->manager_ctx)->deleted++;
}

static void fill_tensor(input *in, producer *p, DLTensor *t)
{
    uint8_t what = take_byte(in);
    t->data = what & 1 ? NULL : p->buffer + take_byte(in);
    t->device.device_type = (DLDeviceType)(what & 2 ? take_number(in) : kDLCPU);
    t->device.device_id = (int32_t)(what & 4 ? take_number(in) : 0);
    t->ndim = (int32_t)take_number(in);
    t->dtype.code = take_byte(in) % 20;
    t->dtype.bits = what & 8 ? take_byte(in) : 32;
    t->dtype.lanes = (uint16_t)(what & 16 ? take_number(in) : 1);
    for (int i = 0; i < MAX_DIMS; i++) {
        p->shape[i] = take_number(in);
        p->strides[i] = take_number(in);
    }
    t->shape = what & 32 ? NULL : p->shape;
    t->strides = what & 64 ? NULL : p->strides;
    t->byte_offset = (uint64_t)take_number(in);
}

// By exact arithmetic, from the record alone.
static bool is_in_buffer(const producer *p, const DLTensor *t)
{
    __int128 elem_bytes = ((int)t->dtype.bits * t->dtype.lanes + 7) / 8, row_major = 1;
    __int128 low = (__int128)(uintptr_t)t->data + t->byte_offset, high = low + elem_bytes;
    for (int i = t->ndim - 1; i >= 0; i--) {
        __int128 last = (__int128)(t->shape[i] - 1) * (t->strides ? t->strides[i] : row_major);
        *(last < 0 ? &low : &high) += last * elem_bytes;
        row_major *= t->shape[i];
    }
    return low >= (uintptr_t)p->buffer && high <= (uintptr_t)p->buffer + BUFFER_BYTES;
}

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

static void check_record(const ln_ndarray *array)
{
    const DLTensor *t = ln_ndarray_tensor(array);
    require(t->ndim >= 0 && t->ndim <= LN_NDARRAY_MAX_NDIM && t->dtype.lanes > 0);
    for (int i = 0; i < t->ndim; i++)
        require(t->shape[i] >= 0);
    require(ln_ndarray_elem_count(array) == 0 || t->data);
}

// All that reads and writes; copies are limited, for a broadcast row may stand for any number.
static void touch(ln_ndarray *array)
{
    size_t byte_count = ln_ndarray_byte_count(array);
    if (byte_count > 1 << 16)
        return;
    char *bytes = malloc(byte_count + 1), *again = malloc(byte_count + 1);
    require(ln_ndarray_get_bytes(array, bytes, byte_count) == LN_OK);
    ln_ndarray *clone, *turned;
    require(ln_ndarray_clone(array, &clone) == LN_OK);
    require(ln_ndarray_get_bytes(clone, again, byte_count) == LN_OK);
    require(memcmp(bytes, again, byte_count) == 0);
    if (!ln_ndarray_is_read_only(array)) {
        require(ln_ndarray_set_bytes(array, bytes, byte_count) == LN_OK);
        ln_ndarray_fill(array, 3);
        require(ln_ndarray_copy(clone, array) == LN_OK);
    }
    require(ln_ndarray_transpose(array, NULL, &turned) == LN_OK);
    ln_ndarray_release(clone);
    require(ln_ndarray_clone(turned, &clone) == LN_OK);
    ln_ndarray_release(clone);
    ln_ndarray_release(turned);
    free(bytes);
    free(again);
}

static void view(const ln_ndarray *array, input *in)
{
    ln_ndarray *slice;
    int axis = take_byte(in) % 4;
    int64_t start = take_number(in), count = take_number(in), step = take_number(in);
    if (ln_ndarray_slice(array, axis, start, count, step, &slice) != LN_OK)
        return;
    check_record(slice);
    if (ln_ndarray_data(slice))
        touch(slice);
    ln_ndarray_release(slice);
}

static void send_on(const ln_ndarray *array)
{
    DLManagedTensorVersioned *out = ln_ndarray_to_dlpack_versioned(array);
    ln_ndarray *again = NULL;
    require(out && ln_ndarray_from_dlpack_versioned(out, &again) == LN_OK);
    require(ln_ndarray_byte_count(again) == ln_ndarray_byte_count(array));
    ln_ndarray_release(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t byte_count)
{
    input in = {data, byte_count};
    producer p = {.buffer = calloc(1, BUFFER_BYTES)};
    bool is_versioned = take_byte(&in) & 1;
    DLTensor tensor;
    fill_tensor(&in, &p, &tensor);
    p.plain = (DLManagedTensor){.dl_tensor = tensor, .manager_ctx = &p, .deleter = delete_plain};
    p.versioned = (DLManagedTensorVersioned){
        .version = {(uint32_t)take_number(&in) + 1, 0},
        .manager_ctx = &p,
        .deleter = delete_versioned,
        .flags = (uint64_t)take_number(&in),
        .dl_tensor = tensor,
    };
    ln_ndarray *array;
    ln_status status = is_versioned ? ln_ndarray_from_dlpack_versioned(&p.versioned, &array)
                                    : ln_ndarray_from_dlpack(&p.plain, &array);
    require((status == LN_OK) == (array != NULL) && p.deleted == !array);
    if (array) {
        check_record(array);
        bool is_safe = ln_ndarray_data(array) && is_in_buffer(&p, &tensor);
        if (is_safe)
            touch(array);
        if (is_safe || ln_ndarray_elem_count(array) == 0)
            view(array, &in);
        send_on(array);
        ln_ndarray_release(array);
    }
    require(p.deleted == 1);
    free(p.buffer);
    return 0;
}
