// SPDX-License-Identifier: Apache-2.0
// The params dictionary:
//
//     | list magic | reserved | N | N x (length, name) | N | N x array |          all u64 but names
//     array:  | magic u64 | reserved u64 | device type i32, id i32 | ndim i32 | code u8, bits u8,
//               lanes u16 | ndim x i64 | byte count i64 | data |
//
// Two walks over the same code: the first checks everything and counts dimensions, the second fills
// the entries in. So nothing is allocated for a file that is refused.

#include "tensor/params_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/checked.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are copied as little-endian");

#define ARRAY_MAGIC       0xDD5E40F096B4A13Fu
#define ARRAY_FIXED_BYTES 40 // of a record without its shape and data
#define DEVICE_CPU        1

// ---- Element types and sizes ----

// Bytes of one element; 0 when the type does not fill whole bytes. One bit is a bool in a byte.
static size_t elem_size(DLDataType type)
{
    bool is_bool = type.code == kDLUInt && type.bits == 1;
    if (type.lanes == 0 || type.bits == 0 || (type.bits & (type.bits - 1)) != 0 ||
        (type.bits % 8 != 0 && !is_bool))
        return 0;
    return ((size_t)type.bits * type.lanes + 7) / 8;
}

// The bytes of an array; false on overflow. An empty one has to be countable too: its other
// dimensions are multiplied all the same.
static bool data_size(DLDataType type, int32_t ndim, const int64_t *shape, size_t *out_size)
{
    size_t size = elem_size(type);
    bool is_empty = false, is_countable = true;
    for (int32_t i = 0; i < ndim && is_countable; i++) {
        is_empty |= shape[i] == 0;
        if (shape[i] > 0)
            is_countable = ln_size_mul(size, (size_t)shape[i], &size);
    }
    *out_size = is_empty ? 0 : size;
    return is_countable && size <= INT64_MAX;
}

// ---- Reading ----

typedef struct reader {
    const char *bytes;
    size_t byte_count;
    size_t at;
    const char *source_name;
} reader;

#define FAIL_AT(r, offset, status, fmt, ...)                                                       \
    LN_FAIL(status, "%s%sbyte %zu: " fmt, (r)->source_name ? (r)->source_name : "",                \
            (r)->source_name ? ": " : "", (size_t)(offset), __VA_ARGS__)

static size_t bytes_left(const reader *r)
{
    return r->byte_count - r->at;
}

// The next `size` bytes into `out`, which may be NULL.
static ln_status read_bytes(reader *r, void *out, size_t size, const char *what)
{
    if (size > bytes_left(r))
        return FAIL_AT(r, r->at, LN_SYNTAX, "the dictionary ends inside of %s", what);
    if (out)
        memcpy(out, r->bytes + r->at, size);
    r->at += size;
    return LN_OK;
}

static ln_status read_u64(reader *r, uint64_t *out_number, const char *what)
{
    *out_number = 0;
    return read_bytes(r, out_number, sizeof *out_number, what);
}

// A magic number and the reserved word after it.
static ln_status read_magic(reader *r, uint64_t wanted, const char *what)
{
    size_t offset = r->at;
    uint64_t magic, reserved;
    LN_TRY(read_u64(r, &magic, what));
    if (magic != wanted)
        return FAIL_AT(r, offset, LN_SYNTAX, "%s starts with 0x%016" PRIx64 ", not 0x%016" PRIx64,
                       what, magic, wanted);
    return read_u64(r, &reserved, what);
}

static ln_status read_name(reader *r, size_t index, ln_params_entry *entry)
{
    size_t offset = r->at;
    uint64_t len;
    LN_TRY(read_u64(r, &len, "the length of a name"));
    if (len > bytes_left(r))
        return FAIL_AT(r, offset, LN_SYNTAX, "name %zu has %" PRIu64 " bytes where %zu are left",
                       index, len, bytes_left(r));
    if (entry) {
        entry->name = r->bytes + r->at;
        entry->name_len = (size_t)len;
    }
    r->at += (size_t)len;
    return LN_OK;
}

// The fields of a record between the reserved word and the shape, as they are in the file.
typedef struct array_head {
    int32_t device_type;
    int32_t device_id;
    int32_t ndim;
    DLDataType dtype;
} array_head;

_Static_assert(sizeof(DLDataType) == 4 && sizeof(array_head) == 16, "a record has no padding");

static ln_status read_head(reader *r, size_t index, array_head *head)
{
    size_t offset = r->at;
    *head = (array_head){0};
    LN_TRY(read_bytes(r, head, sizeof *head, "the head of an array"));
    if (head->ndim < 0 || head->ndim > PARAMS_NDIM_MAX)
        return FAIL_AT(r, offset + offsetof(array_head, ndim), LN_SYNTAX,
                       "array %zu has %" PRId32 " dimensions, not 0 to %d", index, head->ndim,
                       PARAMS_NDIM_MAX);
    if (elem_size(head->dtype) == 0)
        return FAIL_AT(r, offset + offsetof(array_head, dtype), LN_UNSUPPORTED,
                       "array %zu has elements of %u lanes of %u bits of type code %u; bits are 8, "
                       "16, 32, 64 or 128, or 1 for a bool, and lanes 1 or more",
                       index, (unsigned)head->dtype.lanes, (unsigned)head->dtype.bits,
                       (unsigned)head->dtype.code);
    return LN_OK;
}

static ln_status read_shape(reader *r, size_t index, int32_t ndim, int64_t *shape)
{
    size_t offset = r->at;
    LN_TRY(read_bytes(r, shape, (size_t)ndim * sizeof *shape, "the shape of an array"));
    for (int32_t i = 0; i < ndim; i++) {
        if (shape[i] < 0)
            return FAIL_AT(r, offset + (size_t)i * sizeof *shape, LN_SYNTAX,
                           "dimension %" PRId32 " of array %zu is %" PRId64, i, index, shape[i]);
    }
    return LN_OK;
}

// What a walk fills in; with NULL it only checks and counts.
typedef struct table {
    ln_params_entry *entries;
    int64_t *shapes;
    size_t count;
    size_t dim_count;
} table;

static void fill_in(ln_params_entry *entry, int64_t *entry_shape, const array_head *head,
                    const int64_t *shape, size_t record, const char *data, size_t byte_count)
{
    memcpy(entry_shape, shape, (size_t)head->ndim * sizeof *shape);
    entry->shape = entry_shape;
    entry->ndim = head->ndim;
    entry->dtype = head->dtype;
    entry->data = data;
    entry->byte_count = byte_count;
    entry->offset = record;
}

static ln_status read_array(reader *r, size_t index, const table *t, size_t *io_dim_count)
{
    size_t record = r->at;
    array_head head;
    int64_t shape[PARAMS_NDIM_MAX];
    LN_TRY(read_magic(r, ARRAY_MAGIC, "an array"));
    LN_TRY(read_head(r, index, &head));
    LN_TRY(read_shape(r, index, head.ndim, shape));
    size_t offset = r->at, wanted;
    uint64_t byte_count;
    LN_TRY(read_u64(r, &byte_count, "the byte count of an array"));
    if (!data_size(head.dtype, head.ndim, shape, &wanted))
        return FAIL_AT(r, record, LN_SYNTAX, "array %zu has too many elements", index);
    if (byte_count != wanted)
        return FAIL_AT(r, offset, LN_SYNTAX,
                       "array %zu has %" PRIu64 " bytes of data where its shape takes %zu", index,
                       byte_count, wanted);
    if (byte_count > bytes_left(r))
        return FAIL_AT(r, offset, LN_SYNTAX,
                       "array %zu has %" PRIu64 " bytes of data where %zu are left", index,
                       byte_count, bytes_left(r));
    if (t && (size_t)head.ndim > t->dim_count - *io_dim_count)
        return FAIL_AT(r, record, LN_SYNTAX, "array %zu changes while it is read", index);
    if (t)
        fill_in(&t->entries[index], t->shapes + *io_dim_count, &head, shape, record,
                r->bytes + r->at, wanted);
    *io_dim_count += (size_t)head.ndim;
    r->at += (size_t)byte_count;
    return LN_OK;
}

// The number of names. Each comes with at least its length and, later, an empty array.
static ln_status read_count(reader *r, size_t *out_count)
{
    *out_count = 0;
    LN_TRY(read_magic(r, PARAMS_LIST_MAGIC, "the dictionary"));
    size_t offset = r->at;
    uint64_t count;
    LN_TRY(read_u64(r, &count, "the number of names"));
    if (count > bytes_left(r) / (sizeof(uint64_t) + ARRAY_FIXED_BYTES))
        return FAIL_AT(r, offset, LN_SYNTAX, "%" PRIu64 " arrays do not fit in the %zu bytes left",
                       count, bytes_left(r));
    *out_count = (size_t)count;
    return LN_OK;
}

// Counts names and dimensions, and fills the table in unless it is NULL.
static ln_status walk(reader r, const table *t, size_t *out_count, size_t *out_dim_count)
{
    *out_dim_count = 0;
    LN_TRY(read_count(&r, out_count));
    if (t && *out_count != t->count)
        return FAIL_AT(&r, 0, LN_SYNTAX, "%s", "the dictionary changes while it is read");
    for (size_t i = 0; i < *out_count; i++)
        LN_TRY(read_name(&r, i, t ? &t->entries[i] : NULL));
    size_t offset = r.at;
    uint64_t array_count;
    LN_TRY(read_u64(&r, &array_count, "the number of arrays"));
    if (array_count != *out_count)
        return FAIL_AT(&r, offset, LN_SYNTAX, "%" PRIu64 " arrays have %zu names", array_count,
                       *out_count);
    for (size_t i = 0; i < *out_count; i++)
        LN_TRY(read_array(&r, i, t, out_dim_count));
    return LN_OK;
}

ln_status ln_params_parse(const void *bytes, size_t byte_count, const char *source_name,
                          ln_params_entry **out_entries, size_t *out_count)
{
    *out_entries = NULL;
    *out_count = 0;
    const reader r = {.bytes = bytes, .byte_count = byte_count, .source_name = source_name};
    table t = {0};
    LN_TRY(walk(r, NULL, &t.count, &t.dim_count));

    // Both counts are bounded by the bytes that they were read from.
    t.entries = ln_alloc(t.count * sizeof *t.entries + t.dim_count * sizeof *t.shapes);
    if (!t.entries)
        return LN_NO_MEMORY;
    t.shapes = (int64_t *)(void *)(t.entries + t.count);
    size_t count, dim_count;
    ln_status status = walk(r, &t, &count, &dim_count);
    if (status != LN_OK) { // somebody writes to the file that is mapped
        ln_free(t.entries);
        return status;
    }
    *out_entries = t.entries;
    *out_count = count;
    return LN_OK;
}

// ---- Writing ----

// Bytes go to a stream or into memory.
typedef struct sink {
    FILE *fp;
    char *next;
} sink;

static void put(sink *out, const void *bytes, size_t size)
{
    if (size == 0)
        return;
    if (out->fp) {
        fwrite(bytes, 1, size, out->fp);
        return;
    }
    memcpy(out->next, bytes, size);
    out->next += size;
}

static void put_u64(sink *out, uint64_t number)
{
    put(out, &number, sizeof number);
}

static ln_status check_entry(const ln_params_entry *e, size_t index)
{
    if ((e->name_len > 0 && !e->name) || (e->ndim > 0 && !e->shape) ||
        (e->byte_count > 0 && !e->data))
        return LN_FAIL(LN_INVALID, "array %zu has no name, shape or data", index);
    if (e->ndim < 0 || e->ndim > PARAMS_NDIM_MAX)
        return LN_FAIL(LN_INVALID, "array %zu, '%.*s', has %" PRId32 " dimensions, not 0 to %d",
                       index, (int)e->name_len, e->name, e->ndim, PARAMS_NDIM_MAX);
    for (int32_t i = 0; i < e->ndim; i++) {
        if (e->shape[i] < 0)
            return LN_FAIL(LN_INVALID, "dimension %" PRId32 " of array %zu, '%.*s', is %" PRId64, i,
                           index, (int)e->name_len, e->name, e->shape[i]);
    }
    size_t wanted;
    if (elem_size(e->dtype) == 0)
        return LN_FAIL(LN_INVALID, "array %zu, '%.*s': %u lanes of %u bits do not fill whole bytes",
                       index, (int)e->name_len, e->name, (unsigned)e->dtype.lanes,
                       (unsigned)e->dtype.bits);
    if (!data_size(e->dtype, e->ndim, e->shape, &wanted) || e->byte_count != wanted)
        return LN_FAIL(LN_INVALID,
                       "array %zu, '%.*s', has %zu bytes of data, not those of its shape", index,
                       (int)e->name_len, e->name, e->byte_count);
    return LN_OK;
}

// Checks the entries and counts the bytes they take.
static ln_status measure(const ln_params_entry *entries, size_t count, size_t *out_byte_count)
{
    size_t byte_count = 4 * sizeof(uint64_t);
    *out_byte_count = 0;
    if (count > 0 && !entries)
        return LN_FAIL(LN_INVALID, "%zu arrays at NULL", count);
    for (size_t i = 0; i < count; i++) {
        const ln_params_entry *e = &entries[i];
        LN_TRY(check_entry(e, i));
        if (!ln_size_add(byte_count, sizeof(uint64_t) + ARRAY_FIXED_BYTES, &byte_count) ||
            !ln_size_add(byte_count, e->name_len, &byte_count) ||
            !ln_size_add(byte_count, (size_t)e->ndim * sizeof *e->shape, &byte_count) ||
            !ln_size_add(byte_count, e->byte_count, &byte_count))
            return LN_FAIL(LN_LIMIT, "the arrays are too large together");
    }
    *out_byte_count = byte_count;
    return LN_OK;
}

static void put_array(sink *out, const ln_params_entry *e)
{
    const array_head head = {DEVICE_CPU, 0, e->ndim, e->dtype};
    put_u64(out, ARRAY_MAGIC);
    put_u64(out, 0);
    put(out, &head, sizeof head);
    put(out, e->shape, (size_t)e->ndim * sizeof *e->shape);
    put_u64(out, e->byte_count);
    put(out, e->data, e->byte_count);
}

static void put_dictionary(sink *out, const ln_params_entry *entries, size_t count)
{
    put_u64(out, PARAMS_LIST_MAGIC);
    put_u64(out, 0);
    put_u64(out, count);
    for (size_t i = 0; i < count; i++) {
        put_u64(out, entries[i].name_len);
        put(out, entries[i].name, entries[i].name_len);
    }
    put_u64(out, count);
    for (size_t i = 0; i < count; i++)
        put_array(out, &entries[i]);
}

ln_status ln_params_write(const ln_params_entry *entries, size_t count, char **out_bytes,
                          size_t *out_byte_count)
{
    *out_bytes = NULL;
    *out_byte_count = 0;
    size_t byte_count;
    LN_TRY(measure(entries, count, &byte_count));
    char *bytes = ln_realloc(NULL, byte_count);
    if (!bytes)
        return LN_NO_MEMORY;
    put_dictionary(&(sink){.next = bytes}, entries, count);
    *out_bytes = bytes;
    *out_byte_count = byte_count;
    return LN_OK;
}

ln_status ln_params_write_stream(FILE *fp, const ln_params_entry *entries, size_t count)
{
    size_t byte_count;
    LN_TRY(measure(entries, count, &byte_count));
    put_dictionary(&(sink){.fp = fp}, entries, count);
    if (ferror(fp))
        return LN_FAIL(LN_IO, "cannot write %zu bytes of arrays: %s", byte_count, strerror(errno));
    return LN_OK;
}
