// SPDX-License-Identifier: Apache-2.0

#include <lightnet/params.h>

#include <string.h>

#include <lightnet/allocator.h>

#include "tests/oom.h"
#include "tests/test.h"

static const DLDataType int32 = {kDLInt, 32, 1};

static ln_ndarray *counting_array(int64_t rows, int64_t columns)
{
    ln_ndarray *array;
    int32_t numbers[16];
    for (int i = 0; i < 16; i++)
        numbers[i] = i;
    CHECK_OK(ln_ndarray_create(2, (int64_t[]){rows, columns}, int32, &array));
    CHECK_OK(ln_ndarray_set_bytes(array, numbers, (size_t)(rows * columns) * sizeof *numbers));
    return array;
}

TEST(what_is_saved_is_loaded)
{
    ln_ndarray *a = counting_array(2, 3), *empty, *scalar, *turned;
    CHECK_OK(ln_ndarray_create(2, (int64_t[]){0, 3}, int32, &empty));
    CHECK_OK(ln_ndarray_create(0, NULL, (DLDataType){kDLFloat, 64, 1}, &scalar));
    CHECK_OK(ln_ndarray_fill(scalar, 0.5));
    CHECK_OK(ln_ndarray_transpose(a, NULL, &turned));
    const ln_named_array arrays[] = {
        {"a", a}, {"turned", turned}, {"", empty}, {"scalar", scalar}, {"a", empty}};
    char *bytes;
    size_t byte_count;
    CHECK_OK(ln_params_save(arrays, 5, &bytes, &byte_count));

    ln_params *params;
    CHECK_OK(ln_params_load(bytes, byte_count, NULL, &params));
    ln_free(bytes);
    CHECK_EQ(ln_params_count(params), 5);
    CHECK_STR_EQ(ln_params_name(params, 1), "turned");
    CHECK_STR_EQ(ln_params_name(params, 2), "");
    CHECK_EQ(ln_params_find(params, "a"), 0);
    CHECK_EQ(ln_params_find(params, "scalar"), 3);
    CHECK_EQ(ln_params_find(params, "nothing"), SIZE_MAX);
    const ln_ndarray *back = ln_params_array(params, 1);
    CHECK_EQ(ln_ndarray_shape(back)[0], 3);
    CHECK_MEM_EQ(ln_ndarray_data(back), ((int32_t[]){0, 3, 1, 4, 2, 5}), 24);
    CHECK_EQ(ln_ndarray_elem_count(ln_params_array(params, 2)), 0);
    CHECK_NEAR(*(const double *)ln_ndarray_data(ln_params_array(params, 3)), 0.5, 0);
    CHECK_NULL(ln_params_name(params, 5));
    CHECK_NULL(ln_params_array(params, 5));

    ln_ndarray *kept = ln_ndarray_retain(ln_params_array(params, 0));
    ln_params_free(params);
    CHECK_EQ(((const int32_t *)ln_ndarray_data(kept))[5], 5);
    ln_ndarray_release(kept);
    ln_ndarray_release(turned);
    ln_ndarray_release(scalar);
    ln_ndarray_release(empty);
    ln_ndarray_release(a);
}

// 24 + 9 + 9 + 8 + (40 + 8 + 16) + (40 + 16 + 32)
TEST(the_bytes_have_the_documented_size)
{
    ln_ndarray *a = counting_array(1, 4), *flat, *b = counting_array(4, 2);
    CHECK_OK(ln_ndarray_reshape(a, 1, (int64_t[]){4}, &flat));
    char *bytes;
    size_t byte_count;
    CHECK_OK(ln_params_save((ln_named_array[]){{"a", flat}, {"b", b}}, 2, &bytes, &byte_count));
    CHECK_EQ(byte_count, 202);
    CHECK_MEM_EQ(bytes, "\xb7\x9c\x04\x05\x4f\x8d\xe5\xf7", 8);
    ln_free(bytes);
    ln_ndarray_release(flat);
    ln_ndarray_release(a);
    ln_ndarray_release(b);
}

TEST(bools_are_written_as_the_older_kind)
{
    ln_ndarray *bools;
    CHECK_OK(ln_ndarray_create(1, (int64_t[]){3}, (DLDataType){kDLBool, 8, 1}, &bools));
    CHECK_OK(ln_ndarray_fill(bools, 1));
    char *bytes;
    size_t byte_count;
    CHECK_OK(ln_params_save(&(ln_named_array){"b", bools}, 1, &bytes, &byte_count));
    ln_params *params;
    CHECK_OK(ln_params_load(bytes, byte_count, NULL, &params));
    DLDataType dtype = ln_ndarray_dtype(ln_params_array(params, 0));
    CHECK_EQ(dtype.code, kDLUInt);
    CHECK_EQ(dtype.bits, 1);
    CHECK_MEM_EQ(ln_ndarray_data(ln_params_array(params, 0)), "\1\1\1", 3);
    ln_params_free(params);
    ln_free(bytes);
    ln_ndarray_release(bools);
}

TEST(bad_bytes_and_arrays_are_refused)
{
    ln_ndarray *a = counting_array(2, 2);
    char *bytes;
    size_t byte_count;
    CHECK_OK(ln_params_save(&(ln_named_array){"a", a}, 1, &bytes, &byte_count));
    ln_params *params = (ln_params *)&params;
    for (size_t n = 0; n < byte_count; n++) {
        CHECK_FAILS(ln_params_load(bytes, n, "cut.params", &params), LN_SYNTAX);
        CHECK_NULL(params);
    }
    CHECK_MESSAGE("cut.params: byte ");
    bytes[24 + 9 + 8 + 28] = 99; // the type code: the codec does not know them, arrays do
    CHECK_FAILS(ln_params_load(bytes, byte_count, "new.params", &params), LN_UNSUPPORTED);
    CHECK_MESSAGE("new.params: byte 41: array 0: element type 99");
    ln_free(bytes);
    CHECK_FAILS(ln_params_load(NULL, 10, NULL, &params), LN_INVALID);
    CHECK_FAILS(ln_params_load(NULL, 0, NULL, &params), LN_SYNTAX);
    CHECK_FAILS(ln_params_load("", 0, NULL, NULL), LN_INVALID);

    CHECK_FAILS(ln_params_save(&(ln_named_array){NULL, a}, 1, &bytes, &byte_count), LN_INVALID);
    CHECK_NULL(bytes);
    CHECK_EQ(byte_count, 0);
    CHECK_FAILS(ln_params_save(&(ln_named_array){"a", NULL}, 1, &bytes, &byte_count), LN_INVALID);
    CHECK_MESSAGE("'a'");
    CHECK_FAILS(ln_params_save(NULL, 1, &bytes, &byte_count), LN_INVALID);
    CHECK_FAILS(ln_params_save(NULL, 0, NULL, &byte_count), LN_INVALID);
    CHECK_OK(ln_params_save(NULL, 0, &bytes, &byte_count));
    CHECK_EQ(byte_count, 32);
    ln_free(bytes);
    ln_ndarray_release(a);
    ln_params_free(NULL);
    CHECK_EQ(ln_params_count(NULL), 0);
    CHECK_NULL(ln_params_name(NULL, 0));
    CHECK_EQ(ln_params_find(NULL, "a"), SIZE_MAX);
}

TEST(every_allocation_may_fail)
{
    ln_ndarray *a = counting_array(2, 3), *turned;
    CHECK_OK(ln_ndarray_transpose(a, NULL, &turned));
    const ln_named_array arrays[] = {{"a", a}, {"turned", turned}};
    OOM_SWEEP(n)
    {
        char *bytes;
        size_t byte_count;
        ln_params *params = NULL;
        ln_status status = ln_params_save(arrays, 2, &bytes, &byte_count);
        if (status == LN_OK)
            status = ln_params_load(bytes, byte_count, NULL, &params);
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
        ln_params_free(params);
        ln_free(bytes);
    }
    CHECK(n > 8);
    ln_ndarray_release(turned);
    ln_ndarray_release(a);
}

TEST_LIST(what_is_saved_is_loaded, the_bytes_have_the_documented_size,
          bools_are_written_as_the_older_kind, bad_bytes_and_arrays_are_refused,
          every_allocation_may_fail)
