// SPDX-License-Identifier: Apache-2.0
// The safetensors reader on good and bad headers, and the writer.

#include <lightnet/tensor_file.h>

#include <stdlib.h>

#include "tensor/tensor_file_format.h"
#include "tests/test.h"

// Room for a file, aligned like a mapping.
static _Alignas(64) char file_bytes[4096];

// `header` and `data_size` data bytes 0, 1, 2, ... with the length in front.
static size_t make_file(const char *header, size_t data_size)
{
    uint64_t header_size = strlen(header);
    memcpy(file_bytes, &header_size, 8);
    memcpy(file_bytes + 8, header, header_size);
    for (size_t i = 0; i < data_size; i++)
        file_bytes[8 + header_size + i] = (char)i;
    return 8 + (size_t)header_size + data_size;
}

static ln_status open_made(const char *header, size_t data_size, ln_tensor_file **out_file)
{
    return ln_tensor_file_open_mem(file_bytes, make_file(header, data_size), out_file);
}

TEST(tensors_lie_in_place_with_name_type_and_shape)
{
    ln_tensor_file *file;
    CHECK_OK(open_made("{\"__metadata__\":{\"format\":\"pt\"},"
                       "\"b\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[8,11]}, "
                       "\"a\" : {\"shape\":[2,1],\"data_offsets\":[0, 8],\"dtype\":\"F32\"}} ",
                       11, &file));
    CHECK_EQ(ln_tensor_file_get_format(file), LN_TENSOR_FILE_SAFETENSORS);
    CHECK_EQ(ln_tensor_file_count(file), 2);
    CHECK_STR_EQ(ln_tensor_file_name(file, 0), "b");
    CHECK_EQ(ln_tensor_file_find(file, "a"), 1);
    CHECK_EQ(ln_tensor_file_find(file, "c"), -1);
    CHECK_EQ(ln_tensor_file_find(file, NULL), -1);
    CHECK_NULL(ln_tensor_file_name(file, 2));
    CHECK_NULL(ln_tensor_file_tensor(file, -1));
    const tl_tensor *b = ln_tensor_file_tensor(file, 0);
    CHECK_EQ(b->dtype, TL_UINT8);
    CHECK_EQ(((const uint8_t *)b->data)[2], 10);
    CHECK((char *)b->data > file_bytes && (char *)b->data < file_bytes + sizeof file_bytes);
    const tl_tensor *a = ln_tensor_file_tensor(file, 1);
    CHECK_EQ(a->ndim, 2);
    CHECK_EQ(a->dims[0], 2);
    CHECK_EQ(a->dims[1], 1);
    ln_tensor_file_close(file);
}

TEST(misaligned_tensors_and_bools_are_copied)
{
    ln_tensor_file *file;
    CHECK_OK(open_made("{\"x\":{\"dtype\":\"I8\",\"shape\":[],\"data_offsets\":[0,1]},"
                       "\"y\":{\"dtype\":\"U32\",\"shape\":[1],\"data_offsets\":[1,5]},"
                       "\"z\":{\"dtype\":\"U32\",\"shape\":[1],\"data_offsets\":[5,9]},"
                       "\"f\":{\"dtype\":\"BOOL\",\"shape\":[2],\"data_offsets\":[9,11]}}",
                       11, &file));
    CHECK_EQ(ln_tensor_file_tensor(file, 0)->len, 1);
    for (int i = 1; i <= 2; i++) {
        const tl_tensor *t = ln_tensor_file_tensor(file, i);
        CHECK_EQ((uintptr_t)t->data % 4, 0);
        CHECK_EQ(*(const uint32_t *)t->data, i == 1 ? 0x04030201 : 0x08070605);
    }
    const tl_bool *flags = ln_tensor_file_tensor(file, 3)->data;
    CHECK_EQ(flags[0], 1);
    CHECK_EQ(flags[1], 1);
    ln_tensor_file_close(file);
}

TEST(floats_of_16_bits_are_widened)
{
    const char *header = "{\"h\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[0,4]},"
                         "\"b\":{\"dtype\":\"BF16\",\"shape\":[2,1],\"data_offsets\":[4,8]}}";
    size_t byte_count = make_file(header, 8);
    memcpy(file_bytes + byte_count - 8, "\x00\x3c\x01\x80\x80\x3f\x49\xc0", 8);
    ln_tensor_file *file;
    CHECK_OK(ln_tensor_file_open_mem(file_bytes, byte_count, &file));
    CHECK_EQ(ln_tensor_file_describe(file, 0)->dtype, TL_FLOAT);
    CHECK_NULL(ln_tensor_file_describe(file, 0)->data);
    const float *half = ln_tensor_file_tensor(file, 0)->data;
    CHECK(half[0] == 1 && half[1] == -0x1p-24f);
    const tl_tensor *bfloat = ln_tensor_file_tensor(file, 1);
    CHECK_EQ(bfloat->ndim, 2);
    CHECK(((const float *)bfloat->data)[0] == 1 && ((const float *)bfloat->data)[1] == -3.140625f);
    ln_tensor_file_close(file);
}

TEST(names_are_decoded)
{
    ln_tensor_file *file;
    CHECK_OK(open_made("{\"\\u00e4\\uD83d\\ude00\\n\\\"/\":"
                       "{\"dtype\":\"I8\",\"shape\":[0],\"data_offsets\":[0,0]}}",
                       0, &file));
    CHECK_STR_EQ(ln_tensor_file_name(file, 0), "\xc3\xa4\xf0\x9f\x98\x80\n\"/");
    ln_tensor_file_close(file);
}

#define T(offsets) "{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":" offsets "}"

TEST(bad_headers_are_errors_with_their_place)
{
    static const struct {
        const char *header;
        size_t data_size;
        ln_status status;
        const char *message;
    } rows[] = {
        {"{", 0, LN_SYNTAX, "byte 9"},
        {"{\"a\":" T("[0,2]"), 2, LN_SYNTAX, "expected '}'"},
        {"{\"a\":" T("[0,2]") ",}", 2, LN_SYNTAX, "expected '\"'"},
        {"{\"a\":" T("[0,2]") "}x", 2, LN_SYNTAX, "text follows"},
        {"{\"a\":" T("[0,2]") "}", 3, LN_SYNTAX, "data byte 2: belongs to no tensor"},
        {"{\"a\":" T("[0,2]") "}", 1, LN_SYNTAX, "outside of 1 bytes"},
        {"{\"a\":" T("[1,3]") "}", 3, LN_SYNTAX, "data byte 0: belongs to no tensor"},
        {"{\"a\":" T("[0,2]") ",\"b\":" T("[1,3]") "}", 3, LN_SYNTAX, "to two tensors"},
        {"{\"a\":" T("[0,2]") ",\"b\":" T("[3,5]") "}", 5, LN_SYNTAX, "data byte 2"},
        {"{\"a\":" T("[0,2]") ",\"a\":" T("[2,4]") "}", 4, LN_EXISTS, "'a' appears twice"},
        {"{\"a\":" T("[0,2]") ",\"\\u0061\":" T("[2,4]") "}", 4, LN_EXISTS, "'a' appears twice"},
        {"{\"a\":" T("[0,3]") "}", 3, LN_SYNTAX, "3 bytes of data do not fit"},
        {"{\"a\":" T("[2,0]") "}", 2, LN_SYNTAX, "outside"},
        {"{\"a\":" T("[0,-2]") "}", 2, LN_SYNTAX, "integer"},
        {"{\"a\":" T("[0,2.0]") "}", 2, LN_SYNTAX, "expected ']'"},
        {"{\"a\":" T("[00,2]") "}", 2, LN_SYNTAX, "integer"},
        {"{\"a\":" T("[0,99999999999999999999]") "}", 2, LN_LIMIT, "too large"},
        {"{\"a\":{\"dtype\":\"F6_E2M3\"}}", 0, LN_UNSUPPORTED, "dtype 'F6_E2M3'"},
        {"{\"a\":{\"dtype\":\"U8\"}}", 0, LN_SYNTAX, "needs dtype, shape"},
        {"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}", 0, LN_SYNTAX, "'dtype' appears twice"},
        {"{\"a\":{\"other\":1}}", 0, LN_SYNTAX, "unknown key 'other'"},
        {"{\"a\":{\"shape\":[1,1,1,1,1,1,1,1,1]}}", 0, LN_UNSUPPORTED, "8 dimensions"},
        {"{\"a\":{\"shape\":[4294967296]}}", 0, LN_LIMIT, "dimension"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[65536,65536],\"data_offsets\":[0,0]}}", 0, LN_LIMIT,
         "too many elements"},
        {"{\"a\x01\":0}", 0, LN_SYNTAX, "control character"},
        {"{\"a\\x\":0}", 0, LN_SYNTAX, "unknown escape"},
        {"{\"a\\u00g0\":0}", 0, LN_SYNTAX, "hexadecimal"},
        {"{\"a\\u0000\":0}", 0, LN_SYNTAX, "NUL"},
        {"{\"\\ud800\":0}", 0, LN_SYNTAX, "surrogate"},
        {"{\"\\ud800\\u0041\":0}", 0, LN_SYNTAX, "surrogate"},
        {"{\"\\udc00\":0}", 0, LN_SYNTAX, "surrogate"},
        {"{\"\xff\":0}", 0, LN_SYNTAX, "UTF-8"},
        {"{\"\xc0\x80\":0}", 0, LN_SYNTAX, "UTF-8"},
        {"{\"\xed\xa0\x80\":0}", 0, LN_SYNTAX, "UTF-8"},
        {"{\"__metadata__\":{\"a\":1}}", 0, LN_SYNTAX, "expected '\"'"},
        {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, LN_SYNTAX, "appears twice"},
        {"{\"a", 0, LN_SYNTAX, "expected '\"'"},
        {"{\"a\\", 0, LN_SYNTAX, "ends inside of a string"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_tensor_file *file;
        ln_status status = open_made(rows[i].header, rows[i].data_size, &file);
        if (status != rows[i].status || file || !strstr(ln_error_message(), rows[i].message))
            fail_msg("%s: %s: %s", rows[i].header, ln_status_name(status), ln_error_message());
    }
}

TEST(every_shorter_file_is_an_error)
{
    const char *header = "{\"a\":" T("[0,2]") ",\"\\u00e4\":" T("[2,4]") "}";
    size_t byte_count = make_file(header, 4);
    for (size_t n = 0; n < byte_count; n++) {
        // A copy of exactly n bytes, so that a read past them is seen.
        char *bytes = malloc(n + 1);
        memcpy(bytes, file_bytes, n);
        ln_tensor_file *file;
        CHECK(ln_tensor_file_open_as(LN_TENSOR_FILE_SAFETENSORS, bytes, n, &file) != LN_OK);
        CHECK_NULL(file);
        free(bytes);
    }
}

TEST(a_header_over_the_limit_is_refused)
{
    size_t byte_count = (size_t)LN_TENSOR_FILE_HEADER_MAX + 9;
    char *bytes = malloc(byte_count);
    memset(bytes, ' ', byte_count);
    uint64_t header_size = LN_TENSOR_FILE_HEADER_MAX + 1;
    memcpy(bytes, &header_size, 8);
    memcpy(bytes + 8, "{}", 2);
    ln_tensor_file *file;
    CHECK_FAILS(ln_tensor_file_open_mem(bytes, byte_count, &file), LN_LIMIT);
    header_size--;
    memcpy(bytes, &header_size, 8);
    CHECK_OK(ln_tensor_file_open_mem(bytes, byte_count - 1, &file));
    CHECK_EQ(ln_tensor_file_count(file), 0);
    ln_tensor_file_close(file);
    free(bytes);
}

TEST(written_files_are_aligned_and_read_back)
{
    tl_tensor *tensors[TL_DTYPE_NATIVE_SIZE];
    ln_named_tensor named[TL_DTYPE_NATIVE_SIZE];
    static const char *const names[TL_DTYPE_NATIVE_SIZE] = {
        "d", "f/\"\\\n", "\xc3\xa4", "i16", "i8", "u32", "u16", "u8", "bool", "", "u64"};
    for (int i = 0; i < TL_DTYPE_NATIVE_SIZE; i++) {
        tensors[i] = tl_tensor_arange(0, 1, 1, (tl_dtype)i);
        tl_dtype_max((tl_dtype)i, tensors[i]->data);
        named[i] = (ln_named_tensor){names[i], tensors[i]};
    }
    char *bytes, *again;
    size_t byte_count, again_count;
    FILE *fp = open_memstream(&bytes, &byte_count);
    CHECK_OK(ln_tensor_file_write(fp, LN_TENSOR_FILE_SAFETENSORS, named, TL_DTYPE_NATIVE_SIZE));
    fclose(fp);
    fp = open_memstream(&again, &again_count);
    CHECK_OK(ln_tensor_file_write(fp, LN_TENSOR_FILE_SAFETENSORS, named, TL_DTYPE_NATIVE_SIZE));
    fclose(fp);
    CHECK_EQ(byte_count, again_count);
    CHECK_MEM_EQ(bytes, again, byte_count);

    uint64_t header_size;
    memcpy(&header_size, bytes, 8);
    CHECK_EQ((header_size + 8) % 64, 0);
    ln_tensor_file *file;
    CHECK_OK(ln_tensor_file_open_mem(bytes, byte_count, &file));
    for (int i = 0; i < TL_DTYPE_NATIVE_SIZE; i++) {
        const tl_tensor *t = ln_tensor_file_tensor(file, ln_tensor_file_find(file, names[i]));
        CHECK_NOT_NULL(t);
        CHECK_EQ(t->dtype, i);
        CHECK_MEM_EQ(t->data, tensors[i]->data, tl_size_of((tl_dtype)i));
        tl_tensor_free_data_too(tensors[i]);
    }
    ln_tensor_file_close(file);
    free(bytes);
    free(again);
}

TEST(types_without_a_name_keep_their_bytes)
{
    tl_tensor *tensors[TL_STRING];
    ln_named_tensor named[TL_STRING];
    size_t count = 0;
    for (int i = TL_FLOAT16; i < TL_COMPLEX128; i++, count++) {
        tensors[count] = tl_tensor_zeros(1, (int[]){3}, (tl_dtype)i);
        memset(tensors[count]->data, 0x35, tl_size_of((tl_dtype)i));
        named[count] = (ln_named_tensor){tl_dtype_name((tl_dtype)i), tensors[count]};
    }
    char *bytes;
    size_t byte_count;
    FILE *fp = open_memstream(&bytes, &byte_count);
    CHECK_OK(ln_tensor_file_write(fp, LN_TENSOR_FILE_SAFETENSORS, named, count));
    fclose(fp);
    ln_tensor_file *file;
    CHECK_OK(ln_tensor_file_open_mem(bytes, byte_count, &file));
    for (size_t i = 0; i < count; i++) {
        tl_dtype dtype = tensors[i]->dtype;
        int index = ln_tensor_file_find(file, named[i].name);
        uint64_t room[3] = {0};
        CHECK(ln_tensor_file_holds(file, index, dtype));
        CHECK_OK(ln_tensor_file_read_as(file, index, dtype, room));
        CHECK_MEM_EQ(room, tensors[i]->data, tl_tensor_size(tensors[i]));
        CHECK_FAILS(ln_tensor_file_read_as(file, index, TL_DOUBLE, room), LN_INVALID);
        tl_tensor_free_data_too(tensors[i]);
    }
    CHECK(!ln_tensor_file_holds(file, (int)count, TL_UINT8));
    ln_tensor_file_close(file);
    free(bytes);
}

TEST(what_cannot_be_written_is_refused_before_writing)
{
    tl_tensor *t = tl_tensor_zeros(1, (int[]){1}, TL_FLOAT);
    const ln_named_tensor metadata = {"__metadata__", t}, not_utf8 = {"\xff", t},
                          no_name = {NULL, t}, no_tensor = {"a", NULL},
                          twice[] = {{"a", t}, {"b", t}, {"a", t}};
    char *bytes;
    size_t byte_count;
    FILE *fp = open_memstream(&bytes, &byte_count);
    const ln_tensor_file_format format = LN_TENSOR_FILE_SAFETENSORS;
    tl_tensor *words = tl_tensor_zeros(1, (int[]){1}, TL_STRING);
    CHECK_FAILS(ln_tensor_file_write(fp, format, &(ln_named_tensor){"w", words}, 1),
                LN_UNSUPPORTED);
    tl_tensor_free_data_too(words);
    CHECK_FAILS(ln_tensor_file_write(fp, format, &metadata, 1), LN_INVALID);
    CHECK_FAILS(ln_tensor_file_write(fp, format, &not_utf8, 1), LN_INVALID);
    CHECK_FAILS(ln_tensor_file_write(fp, format, &no_name, 1), LN_INVALID);
    CHECK_FAILS(ln_tensor_file_write(fp, format, &no_tensor, 1), LN_INVALID);
    CHECK_FAILS(ln_tensor_file_write(fp, format, twice, 3), LN_EXISTS);
    CHECK_FAILS(ln_tensor_file_write(fp, format, NULL, 1), LN_INVALID);
    CHECK_FAILS(ln_tensor_file_write(fp, (ln_tensor_file_format)9, NULL, 0), LN_INVALID);
    CHECK_FAILS(ln_tensor_file_write(NULL, format, NULL, 0), LN_INVALID);
    fclose(fp);
    CHECK_EQ(byte_count, 0);
    free(bytes);
    tl_tensor_free_data_too(t);
}

TEST_LIST(tensors_lie_in_place_with_name_type_and_shape, misaligned_tensors_and_bools_are_copied,
          floats_of_16_bits_are_widened, names_are_decoded, bad_headers_are_errors_with_their_place,
          every_shorter_file_is_an_error, a_header_over_the_limit_is_refused,
          written_files_are_aligned_and_read_back, types_without_a_name_keep_their_bytes,
          what_cannot_be_written_is_refused_before_writing)
