// SPDX-License-Identifier: Apache-2.0
// Params dictionaries as files of tensors: types, limits, laziness, and what other formats share.

#include <lightnet/tensor_file.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include <lightnet/allocator.h>

#include "tensor/params_file.h"
#include "tests/oom.h"
#include "tests/test.h"

// The bytes of a dictionary of `count` entries, made by the codec.
static char *make(const ln_params_entry *entries, size_t count, size_t *out_size)
{
    char *bytes;
    CHECK_OK(ln_params_write(entries, count, &bytes, out_size));
    return bytes;
}

static char *make_one(DLDataType dtype, int ndim, const int64_t *shape, const void *data,
                      size_t byte_count, size_t *out_size)
{
    const ln_params_entry e = {"x", 1, shape, ndim, dtype, data, byte_count, 0};
    return make(&e, 1, out_size);
}

static char *write_mem(ln_tensor_file_format format, const ln_named_tensor *tensors, size_t count,
                       size_t *out_size)
{
    char *bytes;
    FILE *fp = open_memstream(&bytes, out_size);
    CHECK_OK(ln_tensor_file_write(fp, format, tensors, count));
    fclose(fp);
    return bytes;
}

static bool holds(ln_tensor_file_format format, tl_dtype dtype)
{
    return format != LN_TENSOR_FILE_WTS || dtype == TL_FLOAT || dtype == TL_INT8;
}

// `t` in one format, read, and written in another.
static void check_round_trip(const tl_tensor *t, ln_tensor_file_format from,
                             ln_tensor_file_format to)
{
    size_t size, again_size;
    char *bytes = write_mem(from, &(ln_named_tensor){"x", t}, 1, &size);
    ln_tensor_file *file, *again;
    CHECK_OK(ln_tensor_file_open_mem(bytes, size, &file));
    CHECK_EQ(ln_tensor_file_get_format(file), from);
    const ln_named_tensor named = {ln_tensor_file_name(file, 0), ln_tensor_file_tensor(file, 0)};
    char *again_bytes = write_mem(to, &named, 1, &again_size);
    CHECK_OK(ln_tensor_file_open_mem(again_bytes, again_size, &again));
    CHECK_EQ(ln_tensor_file_get_format(again), to);
    const tl_tensor *back = ln_tensor_file_tensor(again, 0);
    CHECK(tl_tensor_issameshape(back, t));
    CHECK_EQ(back->dtype, t->dtype);
    CHECK_MEM_EQ(back->data, t->data, tl_tensor_size(t));
    ln_tensor_file_close(again);
    ln_tensor_file_close(file);
    free(again_bytes);
    free(bytes);
}

// ---- Tests ----

TEST(every_type_survives_every_format_that_holds_it)
{
    FILE *nowhere = fopen("/dev/null", "wb");
    for (int dtype = 0; dtype < TL_DTYPE_NATIVE_SIZE; dtype++) {
        tl_tensor *t = tl_tensor_zeros(1, (int[]){2}, (tl_dtype)dtype);
        tl_dtype_min((tl_dtype)dtype, t->data);
        tl_dtype_max((tl_dtype)dtype, tl_padd(t->data, 1, tl_size_of((tl_dtype)dtype)));
        for (int from = 0; from <= LN_TENSOR_FILE_PARAMS; from++) {
            if (!holds((ln_tensor_file_format)from, (tl_dtype)dtype)) {
                const ln_named_tensor named = {"x", t};
                CHECK_FAILS(ln_tensor_file_write(nowhere, (ln_tensor_file_format)from, &named, 1),
                            LN_UNSUPPORTED);
                CHECK_MESSAGE("write a .safetensors or .params file");
                continue;
            }
            for (int to = 0; to <= LN_TENSOR_FILE_PARAMS; to++) {
                if (holds((ln_tensor_file_format)to, (tl_dtype)dtype))
                    check_round_trip(t, (ln_tensor_file_format)from, (ln_tensor_file_format)to);
            }
        }
        tl_tensor_free_data_too(t);
    }
    fclose(nowhere);
}

TEST(arrays_become_tensors)
{
    const uint16_t halves[] = {0x3c00, 0xc000}, bfloats[] = {0x3f80, 0xc000};
    const unsigned char bools[] = {0, 1, 5};
    const ln_params_entry entries[] = {
        {"half", 4, (int64_t[]){2}, 1, {kDLFloat, 16, 1}, halves, 4, 0},
        {"bfloat", 6, (int64_t[]){1, 2}, 2, {kDLBfloat, 16, 1}, bfloats, 4, 0},
        {"bit", 3, (int64_t[]){3}, 1, {kDLUInt, 1, 1}, bools, 3, 0},
        {"bool", 4, (int64_t[]){3, 1}, 2, {kDLBool, 8, 1}, bools, 3, 0},
        {"", 0, NULL, 0, {kDLInt, 64, 1}, "\1\0\0\0\0\0\0\0", 8, 0},
        {"none", 4, (int64_t[]){2, 0}, 2, {kDLUInt, 8, 1}, NULL, 0, 0},
    };
    size_t size;
    char *bytes = make(entries, 6, &size);
    ln_tensor_file *file;
    CHECK_OK(ln_tensor_file_open_mem(bytes, size, &file));
    CHECK_EQ(ln_tensor_file_get_format(file), LN_TENSOR_FILE_PARAMS);
    for (int i = 0; i < 2; i++) {
        const tl_tensor *t = ln_tensor_file_tensor(file, i);
        CHECK_EQ(t->dtype, TL_FLOAT);
        CHECK(((const float *)t->data)[0] == 1 && ((const float *)t->data)[1] == -2);
    }
    CHECK_EQ(ln_tensor_file_tensor(file, 1)->ndim, 2);
    for (int i = 2; i < 4; i++) {
        const tl_tensor *t = ln_tensor_file_tensor(file, i);
        CHECK_EQ(t->dtype, TL_BOOL);
        CHECK_MEM_EQ(t->data, ((const tl_bool[]){0, 1, 1}), 3 * sizeof(tl_bool));
    }
    const tl_tensor *scalar = ln_tensor_file_tensor(file, ln_tensor_file_find(file, ""));
    CHECK_EQ(scalar->ndim, 0);
    CHECK_EQ(*(const int64_t *)scalar->data, 1);
    CHECK_EQ(ln_tensor_file_tensor(file, 5)->len, 0);
    ln_tensor_file_close(file);
    ln_free(bytes);
}

TEST(arrays_that_are_no_tensors_are_refused_with_their_place)
{
    const char zeros[64] = {0};
    char long_name[LN_TENSOR_FILE_NAME_MAX + 1];
    memset(long_name, 'a', sizeof long_name);
    const DLDataType int8 = {kDLInt, 8, 1};
    const struct {
        ln_params_entry entry;
        ln_status status;
        const char *message;
    } rows[] = {
        {{"x", 1, (int64_t[]){2}, 1, {kDLFloat, 32, 2}, zeros, 16, 0},
         LN_UNSUPPORTED,
         "byte 41: array 'x' has elements of type code 2, 32 bits, 2 lanes"},
        {{"x", 1, (int64_t[]){1}, 1, {kDLComplex, 64, 1}, zeros, 8, 0},
         LN_UNSUPPORTED,
         "type code 5"},
        {{"x", 1, (int64_t[]){1, 1, 1, 1, 1, 1, 1, 1, 1}, 9, int8, zeros, 1, 0},
         LN_UNSUPPORTED,
         "array 'x' has 9 dimensions, more than 8"},
        {{"x", 1, (int64_t[]){0, INT64_C(1) << 31}, 2, int8, NULL, 0, 0},
         LN_LIMIT,
         "a dimension of array 'x' is 2147483648"},
        {{"x", 1, (int64_t[]){0x7e000000, 0, 0x6e000000}, 3, {kDLBfloat, 16, 1}, NULL, 0, 0},
         LN_LIMIT,
         "array 'x' has too many elements"}, // it becomes float, whose other dimensions overflow
        {{"x\0y", 3, (int64_t[]){1}, 1, int8, zeros, 1, 0},
         LN_UNSUPPORTED,
         "byte 32: a name contains NUL"},
        {{long_name, sizeof long_name, (int64_t[]){1}, 1, int8, zeros, 1, 0},
         LN_LIMIT,
         "byte 32: a name is longer than 4096 bytes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t size;
        char *bytes = make(&rows[i].entry, 1, &size);
        ln_tensor_file *file;
        CHECK_FAILS(ln_tensor_file_open_mem(bytes, size, &file), rows[i].status);
        CHECK_MESSAGE(rows[i].message);
        ln_free(bytes);
    }
    const ln_params_entry twice[] = {{"x", 1, NULL, 0, int8, zeros, 1, 0},
                                     {"x", 1, NULL, 0, int8, zeros, 1, 0}};
    size_t size;
    char *bytes = make(twice, 2, &size);
    ln_tensor_file *file;
    CHECK_FAILS(ln_tensor_file_open_mem(bytes, size, &file), LN_EXISTS);
    ln_free(bytes);
}

TEST(every_shorter_file_is_an_error)
{
    size_t size;
    char *bytes =
        make_one((DLDataType){kDLInt, 32, 1}, 1, (int64_t[]){4}, "0123456789abcdef", 16, &size);
    for (size_t n = 0; n < size; n++) {
        char *copy = malloc(n + !n);
        memcpy(copy, bytes, n);
        ln_tensor_file *file;
        ln_status status = ln_tensor_file_open_mem(copy, n, &file);
        CHECK_EQ(status, n < 8 ? LN_UNSUPPORTED : LN_SYNTAX);
        CHECK_NULL(file);
        free(copy);
    }
    ln_free(bytes);
}

// The same array twice, with one byte more in between: at least one is not aligned.
static char *make_shifted(size_t *out_size)
{
    static const int32_t values[] = {1, 2, 3, 4};
    const ln_params_entry entries[] = {
        {"abc", 3, (int64_t[]){4}, 1, {kDLInt, 32, 1}, values, 16, 0},
        {"d", 1, (int64_t[]){1}, 1, {kDLInt, 8, 1}, values, 1, 0},
        {"e", 1, (int64_t[]){4}, 1, {kDLInt, 32, 1}, values, 16, 0},
    };
    return make(entries, 3, out_size);
}

TEST(aligned_arrays_lie_in_the_file_and_others_are_copied_when_asked_for)
{
    size_t size;
    char *bytes = make_shifted(&size);
    ln_tensor_file *file;
    CHECK_OK(ln_tensor_file_open_mem(bytes, size, &file));
    int in_place = 0, copied = 0;
    for (int i = 0; i < 3; i += 2) {
        const tl_tensor *known = ln_tensor_file_describe(file, i);
        CHECK_EQ(known->dtype, TL_INT32);
        CHECK_EQ(known->dims[0], 4);
        const tl_tensor *t = ln_tensor_file_tensor(file, i);
        CHECK_MEM_EQ(t->data, ((const int32_t[]){1, 2, 3, 4}), 16);
        CHECK_PTR_EQ(ln_tensor_file_tensor(file, i), t);
        bool lies_in_file = (const char *)t->data >= bytes && (const char *)t->data < bytes + size;
        CHECK_EQ(lies_in_file, known->data != NULL);
        in_place += lies_in_file;
        copied += !lies_in_file;
        int32_t data[4] = {0};
        CHECK_OK(ln_tensor_file_read(file, i, data));
        CHECK_EQ(data[3], 4);
        CHECK_OK(ln_tensor_file_read_part(file, i, 1, 2, data));
        CHECK_MEM_EQ(data, ((const int32_t[]){2, 3, 3, 4}), 16);
        CHECK_OK(ln_tensor_file_read_part(file, i, 4, 0, NULL));
        CHECK_FAILS(ln_tensor_file_read_part(file, i, 3, 2, data), LN_INVALID);
        CHECK_FAILS(ln_tensor_file_read_part(file, i, 5, SIZE_MAX, data), LN_INVALID);
        CHECK_FAILS(ln_tensor_file_read_part(file, i, 0, 1, NULL), LN_INVALID);
    }
    CHECK(copied >= 1 && in_place <= 1);
    CHECK_FAILS(ln_tensor_file_read(file, 3, bytes), LN_INVALID);
    CHECK_FAILS(ln_tensor_file_read(file, -1, bytes), LN_INVALID);
    CHECK_FAILS(ln_tensor_file_read(file, 0, NULL), LN_INVALID);
    CHECK_FAILS(ln_tensor_file_read(NULL, 0, bytes), LN_INVALID);
    CHECK_NULL(ln_tensor_file_describe(file, 3));
    CHECK_NULL(ln_tensor_file_tensor(file, 3));
    ln_tensor_file_close(file);
    ln_free(bytes);
}

static void *ask(void *file)
{
    ln_tensor_file_tensor(file, 0);
    return (void *)(uintptr_t)ln_tensor_file_tensor(file, 2);
}

TEST(threads_that_ask_at_once_get_the_same_tensor)
{
    enum { THREADS = 8, ROUNDS = 50 };
    size_t size;
    char *bytes = make_shifted(&size);
    for (int round = 0; round < ROUNDS; round++) {
        ln_tensor_file *file;
        CHECK_OK(ln_tensor_file_open_mem(bytes, size, &file));
        pthread_t threads[THREADS];
        void *got[THREADS];
        for (int i = 0; i < THREADS; i++)
            CHECK_EQ(pthread_create(&threads[i], NULL, ask, file), 0);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], &got[i]);
        for (int i = 0; i < THREADS; i++)
            CHECK_PTR_EQ(got[i], ln_tensor_file_tensor(file, 2));
        ln_tensor_file_close(file);
    }
    ln_free(bytes);
}

TEST(every_allocation_may_fail)
{
    tl_tensor *b = tl_tensor_zeros(1, (int[]){3}, TL_BOOL);
    const ln_named_tensor named[] = {{"b", b}};
    size_t size;
    char *bytes = make_shifted(&size);
    FILE *fp = fopen("/dev/null", "wb");
    OOM_SWEEP(n)
    {
        ln_tensor_file *file;
        ln_status status = ln_tensor_file_open_mem(bytes, size, &file);
        for (int i = 0; i < 3 && status == LN_OK; i++)
            status = ln_tensor_file_tensor(file, i) ? LN_OK : ln_error_status();
        if (status == LN_OK)
            status = ln_tensor_file_write(fp, LN_TENSOR_FILE_PARAMS, named, 1);
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
        ln_tensor_file_close(file);
    }
    fclose(fp);
    ln_free(bytes);
    tl_tensor_free_data_too(b);
}

TEST_LIST(every_type_survives_every_format_that_holds_it, arrays_become_tensors,
          arrays_that_are_no_tensors_are_refused_with_their_place, every_shorter_file_is_an_error,
          aligned_arrays_lie_in_the_file_and_others_are_copied_when_asked_for,
          threads_that_ask_at_once_get_the_same_tensor, every_allocation_may_fail)
