// SPDX-License-Identifier: Apache-2.0
// The params dictionary: known bytes, every damage that can be done to them, and what is refused.

#include "tensor/params_file.h"

#include <stdbool.h>
#include <stdlib.h>

#include <lightnet/allocator.h>

#include "tests/oom.h"
#include "tests/test.h"

// ---- Dictionaries, byte by byte ----

typedef struct builder {
    unsigned char bytes[4096];
    size_t size;
} builder;

static void add_number(builder *b, uint64_t number, int byte_count)
{
    for (int i = 0; i < byte_count; i++)
        b->bytes[b->size++] = (unsigned char)(number >> 8 * i);
}

static void add_name(builder *b, const char *name)
{
    add_number(b, strlen(name), 8);
    memcpy(b->bytes + b->size, name, strlen(name));
    b->size += strlen(name);
}

// Everything of a record but the data.
static void add_array(builder *b, int device_type, int code, int bits, int lanes, int ndim,
                      const int64_t *shape, uint64_t byte_count)
{
    static const unsigned char magic[] = {0x3f, 0xa1, 0xb4, 0x96, 0xf0, 0x40, 0x5e, 0xdd};
    memcpy(b->bytes + b->size, magic, sizeof magic);
    b->size += sizeof magic;
    add_number(b, 0, 8);
    add_number(b, (uint64_t)device_type, 4);
    add_number(b, 0, 4);
    add_number(b, (uint64_t)ndim, 4);
    add_number(b, (uint64_t)code, 1);
    add_number(b, (uint64_t)bits, 1);
    add_number(b, (uint64_t)lanes, 2);
    for (int i = 0; i < ndim; i++)
        add_number(b, (uint64_t)shape[i], 8);
    add_number(b, byte_count, 8);
}

static builder start(int count)
{
    static const unsigned char magic[] = {0xb7, 0x9c, 0x04, 0x05, 0x4f, 0x8d, 0xe5, 0xf7};
    builder b = {.size = sizeof magic};
    memcpy(b.bytes, magic, sizeof magic);
    add_number(&b, 0, 8);
    add_number(&b, (uint64_t)count, 8);
    return b;
}

// "a": four numbers of 32 bits. 105 bytes.
static builder make_known(void)
{
    builder b = start(1);
    add_name(&b, "a");
    add_number(&b, 1, 8);
    add_array(&b, 1, 0, 32, 1, 1, (int64_t[]){4}, 16);
    for (int i = 0; i < 4; i++)
        add_number(&b, (uint64_t)(i - 2), 4);
    return b;
}

// One array of these fields, followed by `byte_count` bytes of data, whatever they need.
static builder make_array(int code, int bits, int lanes, int ndim, const int64_t *shape,
                          uint64_t byte_count)
{
    builder b = start(1);
    add_name(&b, "x");
    add_number(&b, 1, 8);
    add_array(&b, 1, code, bits, lanes, ndim, shape, byte_count);
    for (uint64_t i = 0; i < byte_count && b.size < sizeof b.bytes; i++)
        add_number(&b, i, 1);
    return b;
}

// A copy of exactly `size` bytes, so that a read past them is seen.
static ln_status parse(const void *bytes, size_t size, ln_params_entry **out_entries,
                       size_t *out_count)
{
    void *copy = malloc(size + !size);
    memcpy(copy, bytes, size);
    ln_status status = ln_params_parse(copy, size, "test", out_entries, out_count);
    if (status != LN_OK) {
        CHECK_NULL(*out_entries);
        CHECK_EQ(*out_count, 0);
    }
    free(copy);
    return status;
}

static ln_status parse_only(const void *bytes, size_t size)
{
    ln_params_entry *entries;
    size_t count;
    ln_status status = parse(bytes, size, &entries, &count);
    ln_free(entries);
    return status;
}

// ---- Tests ----

TEST(known_bytes_are_written_and_read)
{
    const builder known = make_known();
    CHECK_EQ(known.size, 105);

    const int32_t values[] = {-2, -1, 0, 1};
    const ln_params_entry entry = {.name = "a",
                                   .name_len = 1,
                                   .shape = (int64_t[]){4},
                                   .ndim = 1,
                                   .dtype = {kDLInt, 32, 1},
                                   .data = values,
                                   .byte_count = 16};
    char *bytes;
    size_t size;
    CHECK_OK(ln_params_write(&entry, 1, &bytes, &size));
    CHECK_EQ(size, 105);
    CHECK_MEM_EQ(bytes, known.bytes, 105);

    ln_params_entry *entries;
    size_t count;
    CHECK_OK(ln_params_parse(bytes, size, NULL, &entries, &count));
    CHECK_EQ(count, 1);
    CHECK_EQ(entries->name_len, 1);
    CHECK_MEM_EQ(entries->name, "a", 1);
    CHECK_EQ(entries->ndim, 1);
    CHECK_EQ(entries->shape[0], 4);
    CHECK_EQ(entries->dtype.code, kDLInt);
    CHECK_EQ(entries->dtype.bits, 32);
    CHECK_EQ(entries->dtype.lanes, 1);
    CHECK_EQ(entries->byte_count, 16);
    CHECK_EQ(entries->offset, 41);
    CHECK_PTR_EQ(entries->data, bytes + 89);
    CHECK_MEM_EQ(entries->data, values, 16);
    ln_free(entries);
    ln_free(bytes);
}

TEST(a_stream_gets_the_same_bytes)
{
    const builder known = make_known();
    ln_params_entry *entries;
    size_t count, size;
    char *bytes;
    CHECK_OK(ln_params_parse(known.bytes, known.size, NULL, &entries, &count));
    FILE *fp = open_memstream(&bytes, &size);
    CHECK_OK(ln_params_write_stream(fp, entries, count));
    entries->byte_count = 15;
    CHECK_FAILS(ln_params_write_stream(fp, entries, count), LN_INVALID);
    fclose(fp);
    CHECK_EQ(size, known.size);
    CHECK_MEM_EQ(bytes, known.bytes, size);
    free(bytes);
    ln_free(entries);
}

TEST(a_stream_that_takes_nothing_is_an_error)
{
    FILE *fp = fopen("/dev/full", "wb");
    if (!fp)
        SKIP("there is no /dev/full");
    setvbuf(fp, NULL, _IONBF, 0);
    CHECK_FAILS(ln_params_write_stream(fp, NULL, 0), LN_IO);
    fclose(fp);
}

TEST(what_the_format_allows_is_read)
{
    // No arrays; then an empty name twice, a scalar on a device, an empty array, a bool, lanes, and
    // bytes past the end.
    builder b = start(0);
    add_number(&b, 0, 8);
    ln_params_entry *entries;
    size_t count;
    CHECK_OK(ln_params_parse(b.bytes, b.size, NULL, &entries, &count));
    CHECK_EQ(count, 0);
    ln_free(entries);

    b = start(4);
    for (int i = 0; i < 4; i++)
        add_name(&b, i < 2 ? "" : "name");
    add_number(&b, 4, 8);
    add_array(&b, 77, 2, 64, 1, 0, NULL, 8);
    add_number(&b, 0x3ff0000000000000, 8);
    add_array(&b, -1, 1, 8, 1, 3, (int64_t[]){2, 0, INT64_MAX / 2}, 0);
    add_array(&b, 2, 1, 1, 1, 1, (int64_t[]){3}, 3);
    add_number(&b, 0x010001, 3);
    add_array(&b, 1, 2, 16, 3, 1, (int64_t[]){2}, 12);
    add_number(&b, 0, 8);
    add_number(&b, 0, 4);
    add_number(&b, 0xabcdef, 3);
    CHECK_OK(ln_params_parse(b.bytes, b.size, NULL, &entries, &count));
    CHECK_EQ(count, 4);
    CHECK_EQ(entries[0].name_len, 0);
    CHECK_EQ(entries[0].ndim, 0);
    CHECK_EQ(entries[0].byte_count, 8);
    CHECK_EQ(entries[1].byte_count, 0);
    CHECK_EQ(entries[1].shape[2], INT64_MAX / 2);
    CHECK_EQ(entries[2].byte_count, 3);
    CHECK_EQ(((const char *)entries[2].data)[2], 1);
    CHECK_EQ(entries[3].dtype.lanes, 3);
    CHECK_EQ(entries[3].byte_count, 12);
    ln_free(entries);
}

TEST(every_shorter_dictionary_is_an_error_with_its_place)
{
    const builder b = make_known();
    for (size_t n = 0; n < b.size; n++) {
        CHECK_FAILS(parse_only(b.bytes, n), LN_SYNTAX);
        CHECK_MESSAGE("test: byte ");
    }
    CHECK_OK(parse_only(b.bytes, b.size));
}

TEST(any_other_byte_is_read_or_refused)
{
    // Data, reserved words, the device and the type code say nothing; all else is checked. As a
    // scalar, the array has its old shape where the byte count is, and that is right by chance.
    const builder known = make_known();
    for (size_t at = 0; at < known.size; at++) {
        for (int bit = 0; bit < 8; bit++) {
            builder b = known;
            b.bytes[at] ^= (unsigned char)(1 << bit);
            bool is_free = (at >= 8 && at < 16) || at == 32 || (at >= 49 && at < 65) || at >= 89;
            bool is_type_code = at == 69, is_scalar = at == 65 && bit == 0;
            ln_status status = parse_only(b.bytes, b.size);
            if ((status == LN_OK) != (is_free || is_type_code || is_scalar))
                fail_msg("byte %zu, bit %d: %s: %s", at, bit, ln_status_name(status),
                         ln_error_message());
        }
    }
}

TEST(bad_fields_are_errors_that_name_them)
{
    static const struct {
        const char *why;
        int code, bits, lanes, ndim;
        int64_t shape[4];
        uint64_t byte_count;
        ln_status status;
        const char *message;
    } rows[] = {
        {"good", 0, 8, 1, 2, {2, 3}, 6, LN_OK, ""},
        {"complex", 5, 128, 1, 1, {2}, 32, LN_OK, ""},
        {"no bits", 0, 0, 1, 1, {2}, 0, LN_UNSUPPORTED, "byte 69: array 0 has elements of 1 lanes"},
        {"no lanes", 0, 8, 0, 1, {2}, 0, LN_UNSUPPORTED, "0 lanes of 8 bits"},
        {"24 bits", 0, 24, 1, 1, {2}, 6, LN_UNSUPPORTED, "24 bits"},
        {"4 bits", 0, 4, 1, 1, {2}, 2, LN_UNSUPPORTED, "4 bits"},
        {"1 bit, signed", 0, 1, 1, 1, {2}, 2, LN_UNSUPPORTED, "1 bits of type code 0"},
        {"negative dimension",
         0,
         8,
         1,
         2,
         {2, -3},
         6,
         LN_SYNTAX,
         "byte 81: dimension 1 of array 0 is -3"},
        {"one byte less",
         0,
         8,
         1,
         1,
         {4},
         3,
         LN_SYNTAX,
         "byte 81: array 0 has 3 bytes of data where its shape takes 4"},
        {"one byte more", 0, 8, 1, 1, {4}, 5, LN_SYNTAX, "5 bytes of data"},
        {"negative bytes", 0, 8, 1, 1, {4}, UINT64_MAX, LN_SYNTAX, "bytes of data"},
        {"overflow", 0, 8, 1, 4, {65536, 65536, 65536, 65536}, 0, LN_SYNTAX, "too many elements"},
        {"overflow of the signed size", 0, 8, 1, 2, {4, INT64_MAX / 2}, 0, LN_SYNTAX, "too many"},
        {"overflow beside zero", 0, 8, 1, 3, {INT64_MAX, 0, INT64_MAX}, 0, LN_SYNTAX, "too many"},
        {"overflow by lanes", 0, 128, 65535, 1, {INT64_MAX / 1000}, 0, LN_SYNTAX, "too many"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const builder b = make_array(rows[i].code, rows[i].bits, rows[i].lanes, rows[i].ndim,
                                     rows[i].shape, rows[i].byte_count);
        ln_status status = parse_only(b.bytes, b.size);
        if (status != rows[i].status ||
            (status != LN_OK && !strstr(ln_error_message(), rows[i].message)))
            fail_msg("%s: %s: %s", rows[i].why, ln_status_name(status), ln_error_message());
    }
}

TEST(bad_counts_are_refused_before_memory_is_taken)
{
    static const struct {
        const char *why;
        size_t at;
        uint64_t value;
        int byte_count;
        const char *message;
    } rows[] = {
        {"list magic", 0, 1, 8, "byte 0: the dictionary starts with 0x0000000000000001"},
        {"names beyond the file", 16, 2, 8, "byte 16: 2 arrays do not fit"},
        {"names beyond all memory", 16, UINT64_MAX, 8, "byte 16: 18446744073709551615 arrays"},
        {"name beyond the file", 24, 74, 8, "byte 24: name 0 has 74 bytes where 73 are left"},
        {"name beyond all memory", 24, UINT64_MAX - 7, 8, "byte 24: name 0"},
        {"fewer arrays", 33, 0, 8, "byte 33: 0 arrays have 1 names"},
        {"more arrays", 33, 2, 8, "byte 33: 2 arrays have 1 names"},
        {"array magic", 41, 0, 8, "byte 41: an array starts with 0x0000000000000000"},
        {"negative ndim", 65, UINT32_MAX, 4, "byte 65: array 0 has -1 dimensions, not 0 to 32"},
        {"33 dimensions", 65, 33, 4, "byte 65: array 0 has 33 dimensions"},
        {"32 dimensions", 65, 32, 4, "ends inside of the shape"},
    };
    test_oom oom;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        builder b = make_known();
        for (int k = 0; k < rows[i].byte_count; k++)
            b.bytes[rows[i].at + (size_t)k] = (unsigned char)(rows[i].value >> 8 * k);
        test_oom_start(&oom, 0);
        ln_status status = parse_only(b.bytes, b.size);
        test_oom_stop();
        CHECK_EQ(oom.requests, 0);
        if (status != LN_SYNTAX || !strstr(ln_error_message(), rows[i].message))
            fail_msg("%s: %s: %s", rows[i].why, ln_status_name(status), ln_error_message());
    }
}

TEST(entries_that_contradict_themselves_are_not_written)
{
    const char data[16] = {0};
    const int64_t shape[] = {4}, negative[] = {-4}, huge[] = {INT64_MAX};
    const DLDataType int32 = {kDLInt, 32, 1};
    const struct {
        const char *why;
        ln_params_entry entry;
    } rows[] = {
        {"no name", {NULL, 1, shape, 1, int32, data, 16, 0}},
        {"no shape", {"a", 1, NULL, 1, int32, data, 16, 0}},
        {"no data", {"a", 1, shape, 1, int32, NULL, 16, 0}},
        {"size", {"a", 1, shape, 1, int32, data, 12, 0}},
        {"negative ndim", {"a", 1, shape, -1, int32, data, 4, 0}},
        {"33 dimensions", {"a", 1, shape, 33, int32, data, 4, 0}},
        {"negative", {"a", 1, negative, 1, int32, data, 16, 0}},
        {"huge", {"a", 1, huge, 1, int32, data, 16, 0}},
        {"4 bits", {"a", 1, shape, 1, {kDLInt, 4, 1}, data, 2, 0}},
    };
    char *bytes;
    size_t size;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_status status = ln_params_write(&rows[i].entry, 1, &bytes, &size);
        if (status != LN_INVALID || bytes || size)
            fail_msg("%s: %s", rows[i].why, ln_status_name(status));
    }
    CHECK_FAILS(ln_params_write(NULL, 1, &bytes, &size), LN_INVALID);
    CHECK_OK(ln_params_write(NULL, 0, &bytes, &size));
    CHECK_EQ(size, 32);
    ln_free(bytes);
}

TEST(every_allocation_may_fail)
{
    const builder known = make_known();
    OOM_SWEEP(n)
    {
        ln_params_entry *entries = NULL;
        size_t count, size;
        char *bytes = NULL;
        ln_status status = ln_params_parse(known.bytes, known.size, NULL, &entries, &count);
        if (status == LN_OK)
            status = ln_params_write(entries, count, &bytes, &size);
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
        CHECK_EQ(status == LN_OK, bytes != NULL);
        ln_free(bytes);
        ln_free(entries);
    }
}

TEST_LIST(known_bytes_are_written_and_read, a_stream_gets_the_same_bytes,
          a_stream_that_takes_nothing_is_an_error, what_the_format_allows_is_read,
          every_shorter_dictionary_is_an_error_with_its_place, any_other_byte_is_read_or_refused,
          bad_fields_are_errors_that_name_them, bad_counts_are_refused_before_memory_is_taken,
          entries_that_contradict_themselves_are_not_written, every_allocation_may_fail)
