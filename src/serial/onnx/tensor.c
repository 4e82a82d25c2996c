// SPDX-License-Identifier: Apache-2.0
// Elements of tensors: raw bytes, lists of numbers, texts, or a range of a file beside the model.
//
// Whatever the way, first the shape is checked and says how many bytes there must be, then they are
// looked for, and memory is charged and taken only where a copy is needed.

#include "serial/onnx/tensor.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/checked.h"
#include "serial/onnx/dtype.h"

typedef struct reading {
    ln_onnx_source *source;
    ln_onnx_tensor tensor;
    const ln_onnx_dtype *dtype;
    ln_onnx_arena arena;
    ln_onnx_value *out;
} reading;

#define FAIL(r, status, ...) ((void)fail_at((r), (status), __VA_ARGS__), (status))

static ln_status fail_at(const reading *r, ln_status status, const char *fmt, ...) LN_PRINTF(3, 4);

static ln_status fail_at(const reading *r, ln_status status, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    ln_vfail(status, fmt, ap);
    va_end(ap);
    const ln_onnx_bytes *name = &r->tensor.name;
    const uint8_t *at = r->tensor.dims.message.at; // the message, if it has a shape
    if (name->at) {
        (void)ln_fail_prefix("tensor '%.*s'", LN_ONNX_NAME(*name));
        at = at ? at : name->at;
    }
    char text[1024];
    snprintf(text, sizeof text, "%s", ln_error_message());
    return ln_onnx_fail(r->source, at ? at : r->tensor.data_type.at, status, "%s", text);
}

void ln_onnx_value_deinit(ln_onnx_value *value)
{
    ln_free(value->owned);
    value->owned = NULL;
}

// ---- Shape ----

static ln_status read_dims(const reading *r, const ln_onnx_numbers *numbers, ln_onnx_value *out)
{
    if (numbers->count > TL_MAXDIM)
        return FAIL(r, LN_LIMIT, "dims: %zu dimensions; at most %d are supported", numbers->count,
                    TL_MAXDIM);
    ln_onnx_number_cursor cursor = {0};
    for (uint64_t dim; ln_onnx_number_next(numbers, &cursor, &dim);) {
        if (dim > INT_MAX)
            return FAIL(r, LN_LIMIT, "dims[%d] is %lld; it must be 0 to %d", out->ndim,
                        (long long)dim, INT_MAX);
        out->dims[out->ndim++] = (int)dim;
    }
    int len;
    if (!tl_shape_len(out->ndim, out->dims, &len))
        return FAIL(r, LN_LIMIT, "dims: the shape has more than %d elements", INT_MAX);
    out->elem_count = (size_t)len;
    return LN_OK;
}

// Memory for `size` bytes that go with the value.
static void *take(reading *r, size_t size)
{
    if (ln_onnx_charge(&r->source->budget, size) != LN_OK) {
        (void)fail_at(r, LN_LIMIT, "%zu bytes are over the limit", size);
        return NULL;
    }
    r->out->owned = ln_alloc(size);
    r->out->data = r->out->owned;
    return r->out->owned;
}

// ---- Raw bytes ----

// Elements of 1 to 4 bits, the first in the low bits, become one byte each.
static void unpack_bits(const ln_onnx_dtype *dtype, const uint8_t *packed, size_t count,
                        uint8_t *out)
{
    unsigned bits = dtype->bits, per_byte = 8 / bits, mask = (1u << bits) - 1;
    unsigned sign = dtype->is_signed ? 1u << (bits - 1) : 0;
    for (size_t i = 0; i < count; i++) {
        unsigned element = (unsigned)(packed[i / per_byte] >> (i % per_byte * bits)) & mask;
        out[i] = (uint8_t)((element ^ sign) - sign); // extends the sign
    }
}

static size_t raw_size(const ln_onnx_dtype *dtype, size_t count)
{
    if (dtype->bits >= 8)
        return count * (dtype->bits / 8);
    size_t per_byte = 8 / dtype->bits;
    return count / per_byte + (count % per_byte != 0);
}

static ln_status use_raw(reading *r, ln_onnx_bytes raw, const char *field)
{
    ln_onnx_value *out = r->out;
    size_t size = raw_size(r->dtype, out->elem_count);
    if (raw.len != size)
        return FAIL(r, LN_INVALID, "%s: %zu bytes where %zu elements of %s take %zu", field,
                    raw.len, out->elem_count, r->dtype->name, size);
    if (r->dtype->bits >= 8 && r->dtype->dtype != TL_BOOL) {
        out->data = raw.at;
        return LN_OK;
    }
    if (!take(r, out->byte_count))
        return ln_error_status();
    if (r->dtype->dtype == TL_BOOL) {
        tl_bool *bools = out->owned;
        for (size_t i = 0; i < size; i++)
            bools[i] = raw.at[i] != 0;
    } else {
        unpack_bits(r->dtype, raw.at, out->elem_count, out->owned);
    }
    return LN_OK;
}

// ---- Lists of numbers ----

static void store(void *elements, size_t i, size_t size, uint64_t bits)
{
    switch (size) {
    case 1: ((uint8_t *)elements)[i] = (uint8_t)bits; break;
    case 2: ((uint16_t *)elements)[i] = (uint16_t)bits; break;
    case 4: ((uint32_t *)elements)[i] = (uint32_t)bits; break;
    default: ((uint64_t *)elements)[i] = bits;
    }
}

static ln_status check_count(reading *r, size_t count, size_t wanted, const char *field)
{
    if (count == wanted)
        return LN_OK;
    return FAIL(r, LN_INVALID, "%s: %zu numbers where %zu elements of %s take %zu", field, count,
                r->out->elem_count, r->dtype->name, wanted);
}

// The numbers are bytes of packed elements.
static ln_status use_packed_numbers(reading *r, const ln_onnx_numbers *numbers)
{
    size_t size = raw_size(r->dtype, r->out->elem_count);
    LN_TRY(check_count(r, numbers->count, size, "int32_data"));
    uint8_t *packed = ln_onnx_arena_take(&r->arena, size, 1);
    if (!packed)
        return ln_error_status();
    ln_onnx_number_cursor cursor = {0};
    uint64_t bits;
    for (size_t i = 0; i < size && ln_onnx_number_next(numbers, &cursor, &bits); i++)
        packed[i] = (uint8_t)bits;
    return use_raw(r, (ln_onnx_bytes){.at = packed, .len = size}, "int32_data");
}

static ln_status use_numbers(reading *r, const ln_onnx_numbers *numbers, const char *field)
{
    ln_onnx_value *out = r->out;
    if (r->dtype->bits < 8)
        return use_packed_numbers(r, numbers);
    int is_complex = out->dtype == TL_COMPLEX64 || out->dtype == TL_COMPLEX128;
    size_t count = is_complex ? out->elem_count * 2 : out->elem_count;
    LN_TRY(check_count(r, numbers->count, count, field));
    if (numbers->only.at && numbers->width > 0) {
        out->data = numbers->only.at; // floats, as they are in memory
        return LN_OK;
    }
    if (!take(r, out->byte_count))
        return ln_error_status();
    size_t size = numbers->width ? numbers->width : tl_size_of(out->dtype);
    int is_bool = out->dtype == TL_BOOL;
    ln_onnx_number_cursor cursor = {0};
    uint64_t bits;
    for (size_t i = 0; i < count && ln_onnx_number_next(numbers, &cursor, &bits); i++)
        store(out->owned, i, size, is_bool ? bits != 0 : bits);
    return LN_OK;
}

// ---- Strings ----

// One block: the pointers, then the texts.
static ln_status use_strings(reading *r, const ln_onnx_list *texts)
{
    LN_TRY(check_count(r, texts->count, r->out->elem_count, "string_data"));
    size_t size = r->out->byte_count;
    for (size_t i = 0; i < texts->count; i++) {
        if (memchr(texts->items[i].at, '\0', texts->items[i].len))
            return FAIL(r, LN_UNSUPPORTED, "string_data[%zu]: a string with a 0 byte in it", i);
        if (!ln_size_add(size, texts->items[i].len + 1, &size))
            return FAIL(r, LN_LIMIT, "string_data: the strings are too long");
    }
    char *block = take(r, size);
    if (!block)
        return ln_error_status();
    const char **strings = (void *)block;
    char *text = block + r->out->byte_count;
    for (size_t i = 0; i < texts->count; i++) {
        size_t len = texts->items[i].len;
        if (len > 0)
            memcpy(text, texts->items[i].at, len);
        text[len] = '\0';
        strings[i] = text;
        text += len + 1;
    }
    return LN_OK;
}

// ---- Files beside the model ----

static ln_status parse_size(const reading *r, const ln_onnx_entry *entry, uint64_t *out)
{
    uint64_t value = 0;
    size_t i = 0;
    for (; i < entry->value.len; i++) {
        uint8_t c = entry->value.at[i];
        if (c < '0' || c > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(c - '0'), &value))
            break;
    }
    if (i == 0 || i < entry->value.len)
        return FAIL(r, LN_INVALID, "external_data: %.*s '%.*s' is not a number of bytes",
                    LN_ONNX_NAME(entry->key), LN_ONNX_NAME(entry->value));
    *out = value;
    return LN_OK;
}

static int is_key(ln_onnx_bytes key, const char *name)
{
    return key.len == strlen(name) && memcmp(key.at, name, key.len) == 0;
}

static ln_status use_external(reading *r)
{
    const ln_onnx_list *entries = &r->tensor.external_data;
    ln_onnx_bytes location = {0};
    uint64_t offset = 0, size = raw_size(r->dtype, r->out->elem_count), len = size;
    unsigned seen = 0;
    for (size_t i = 0; i < entries->count; i++) {
        ln_onnx_entry entry;
        LN_TRY(ln_onnx_decode(LN_ONNX_ENTRY, entries->items[i], NULL, &entry));
        unsigned bit = 0;
        if (is_key(entry.key, "location")) {
            bit = 1;
            location = entry.value;
        } else if (is_key(entry.key, "offset")) {
            bit = 2;
            LN_TRY(parse_size(r, &entry, &offset));
        } else if (is_key(entry.key, "length")) {
            bit = 4;
            LN_TRY(parse_size(r, &entry, &len));
        }
        if (seen & bit)
            return FAIL(r, LN_INVALID, "external_data: '%.*s' is there twice",
                        LN_ONNX_NAME(entry.key));
        seen |= bit;
    }
    if (len != size)
        return FAIL(r, LN_INVALID,
                    "external_data: a length of %llu bytes where %zu elements of %s take %llu",
                    (unsigned long long)len, r->out->elem_count, r->dtype->name,
                    (unsigned long long)size);
    ln_onnx_bytes bytes;
    ln_status status = ln_onnx_external(r->source, location, offset, len, &bytes);
    if (status != LN_OK) {
        char reason[1024];
        snprintf(reason, sizeof reason, "%s", ln_error_message());
        return fail_at(r, status, "%s", reason);
    }
    return use_raw(r, bytes, "external_data");
}

// ---- Together ----

static ln_status use_typed(reading *r)
{
    const ln_onnx_tensor *t = &r->tensor;
    switch (r->dtype->store) {
    case LN_STORE_FLOAT: return use_numbers(r, &t->float_data, "float_data");
    case LN_STORE_INT32: return use_numbers(r, &t->int32_data, "int32_data");
    case LN_STORE_INT64: return use_numbers(r, &t->int64_data, "int64_data");
    case LN_STORE_DOUBLE: return use_numbers(r, &t->double_data, "double_data");
    case LN_STORE_UINT64: return use_numbers(r, &t->uint64_data, "uint64_data");
    case LN_STORE_STRING: return use_strings(r, &t->string_data);
    }
    return LN_INTERNAL;
}

static ln_status read_elements(reading *r)
{
    const ln_onnx_tensor *t = &r->tensor;
    r->dtype = ln_onnx_dtype_of(t->data_type.bits);
    if (!r->dtype)
        return FAIL(r, LN_UNSUPPORTED, "data_type: %lld is no element type that is known",
                    (long long)t->data_type.bits);
    if (t->segment.len > 0)
        return FAIL(r, LN_UNSUPPORTED, "segment: tensors in pieces are not supported");
    r->out->dtype = r->dtype->dtype;
    LN_TRY(read_dims(r, &t->dims, r->out));
    if (!ln_size_mul(r->out->elem_count, tl_size_of(r->out->dtype), &r->out->byte_count))
        return FAIL(r, LN_LIMIT, "dims: the tensor has too many bytes");

    if (t->data_location.bits > 1)
        return FAIL(r, LN_UNSUPPORTED, "data_location: %lld is not known",
                    (long long)t->data_location.bits);
    if (t->data_location.bits == 1) {
        if (r->dtype->bits == 0)
            return FAIL(r, LN_INVALID, "external_data: strings cannot be in another file");
        return use_external(r);
    }
    if (t->raw_data.len > 0) {
        if (r->dtype->bits == 0)
            return FAIL(r, LN_INVALID, "raw_data: strings have no raw bytes");
        return use_raw(r, t->raw_data, "raw_data");
    }
    return use_typed(r);
}

ln_status ln_onnx_tensor_read(ln_onnx_source *source, ln_onnx_bytes message, ln_onnx_value *out)
{
    *out = (ln_onnx_value){.data = ""};
    reading r = {.source = source, .out = out, .arena = {.budget = &source->budget}};
    ln_status status = ln_onnx_decode(LN_ONNX_TENSOR, message, &r.arena, &r.tensor);
    if (status == LN_OK)
        status = read_elements(&r);
    ln_onnx_arena_deinit(&r.arena);
    if (status != LN_OK)
        ln_onnx_value_deinit(out);
    return status;
}

ln_onnx_bytes ln_onnx_tensor_name(ln_onnx_bytes message)
{
    const uint8_t *at = message.at, *end = at + message.len;
    for (ln_wire_field got; ln_wire_step(&at, end, &got);) {
        if (got.number == 8)
            return got.bytes;
    }
    return (ln_onnx_bytes){0};
}

// ---- Sparse tensors ----

ln_onnx_bytes ln_onnx_sparse_name(ln_onnx_bytes message)
{
    ln_onnx_sparse sparse;
    (void)ln_onnx_decode(LN_ONNX_SPARSE, message, NULL, &sparse); // has no lists: takes no memory
    return sparse.values.at ? ln_onnx_tensor_name(sparse.values) : (ln_onnx_bytes){0};
}

// Where element `i` of `indices` is in the whole tensor; -1 if it is outside.
static int64_t flat_index(const ln_onnx_value *indices, size_t i, const ln_onnx_value *whole)
{
    int64_t index;
    if (indices->ndim == 1) {
        memcpy(&index, (const char *)indices->data + i * sizeof index, sizeof index);
        return index < 0 || (uint64_t)index >= whole->elem_count ? -1 : index;
    }
    int64_t flat = 0;
    for (int axis = 0; axis < whole->ndim; axis++) {
        size_t at = i * (size_t)whole->ndim + (size_t)axis;
        memcpy(&index, (const char *)indices->data + at * sizeof index, sizeof index);
        if (index < 0 || index >= whole->dims[axis])
            return -1;
        flat = flat * whole->dims[axis] + index; // within the number of elements
    }
    return flat;
}

static ln_status spread(reading *r, const ln_onnx_value *values, const ln_onnx_value *indices)
{
    ln_onnx_value *whole = r->out;
    size_t count = values->elem_count;
    int fits = indices->dtype == TL_INT64 && values->ndim == 1 &&
               ((indices->ndim == 1 && indices->elem_count == count) ||
                (indices->ndim == 2 && (size_t)indices->dims[0] == count &&
                 indices->dims[1] == whole->ndim));
    if (!fits)
        return FAIL(r, LN_INVALID,
                    "indices: not int64 of shape [%zu] or [%zu, %d], as the values need", count,
                    count, whole->ndim);
    size_t size = tl_size_of(whole->dtype);
    if (!take(r, whole->byte_count))
        return ln_error_status();
    int64_t last = -1;
    for (size_t i = 0; i < count; i++) {
        int64_t at = flat_index(indices, i, whole);
        if (at <= last)
            return FAIL(r, LN_INVALID, "indices[%zu]: %s", i,
                        at < 0 ? "outside the tensor" : "not after the one before it");
        memcpy((char *)whole->owned + (size_t)at * size, (const char *)values->data + i * size,
               size);
        last = at;
    }
    return LN_OK;
}

static ln_status read_sparse(reading *r, const ln_onnx_sparse *sparse, ln_onnx_value *values,
                             ln_onnx_value *indices)
{
    if (!sparse->values.at || !sparse->indices.at)
        return FAIL(r, LN_INVALID, "a sparse tensor without values or indices");
    LN_TRY(ln_onnx_tensor_read(r->source, sparse->values, values));
    LN_TRY(ln_onnx_tensor_read(r->source, sparse->indices, indices));
    r->tensor.name = ln_onnx_tensor_name(sparse->values);
    if (values->dtype == TL_STRING)
        return FAIL(r, LN_UNSUPPORTED, "values: sparse strings are not supported");
    r->out->dtype = values->dtype;
    LN_TRY(read_dims(r, &sparse->dims, r->out));
    if (!ln_size_mul(r->out->elem_count, tl_size_of(r->out->dtype), &r->out->byte_count))
        return FAIL(r, LN_LIMIT, "dims: the tensor has too many bytes");
    return spread(r, values, indices);
}

ln_status ln_onnx_sparse_read(ln_onnx_source *source, ln_onnx_bytes message, ln_onnx_value *out)
{
    *out = (ln_onnx_value){.data = ""};
    reading r = {.source = source, .out = out};
    ln_onnx_sparse sparse;
    LN_TRY(ln_onnx_decode(LN_ONNX_SPARSE, message, NULL, &sparse));
    ln_onnx_value values = {0}, indices = {0};
    ln_status status = read_sparse(&r, &sparse, &values, &indices);
    ln_onnx_value_deinit(&values);
    ln_onnx_value_deinit(&indices);
    if (status != LN_OK)
        ln_onnx_value_deinit(out);
    return status;
}
