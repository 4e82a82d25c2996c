// SPDX-License-Identifier: Apache-2.0

#include <lightnet/ndarray.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"
#include "tests/test.h"

static const DLDataType int32 = {kDLInt, 32, 1};
static const DLDataType float64 = {kDLFloat, 64, 1};

static ln_ndarray *array_of(int ndim, const int64_t *shape, DLDataType dtype, const void *bytes)
{
    ln_ndarray *array;
    CHECK_OK(ln_ndarray_create(ndim, shape, dtype, &array));
    CHECK_OK(ln_ndarray_set_bytes(array, bytes, ln_ndarray_byte_count(array)));
    return array;
}

// ---- A plain other way: each element by its coordinates ----

static int64_t position_of(const ln_ndarray *array, size_t elem)
{
    int64_t position = 0;
    for (int i = ln_ndarray_ndim(array) - 1; i >= 0; i--) {
        size_t dim = (size_t)ln_ndarray_shape(array)[i];
        position += (int64_t)(elem % dim) * ln_ndarray_strides(array)[i];
        elem /= dim;
    }
    return position;
}

// A random view of a random array, through slices and transposes.
static ln_ndarray *random_view(test_random *r, DLDataType dtype)
{
    int ndim = (int)test_random_below(r, 5);
    int64_t shape[4];
    for (int i = 0; i < ndim; i++)
        shape[i] = 1 + (int64_t)test_random_below(r, 5);
    ln_ndarray *view;
    CHECK_OK(ln_ndarray_create(ndim, shape, dtype, &view));
    int changes = ndim > 0 ? (int)test_random_below(r, 4) : 0;
    for (int c = 0; c < changes; c++) {
        ln_ndarray *next;
        int axis = (int)test_random_below(r, (size_t)ndim);
        int64_t dim = ln_ndarray_shape(view)[axis];
        int64_t step = 1 + (int64_t)test_random_below(r, 2);
        int64_t count = (dim - 1) / step + 1;
        if (test_random_below(r, 3) == 0)
            CHECK_OK(ln_ndarray_transpose(view, NULL, &next));
        else if (test_random_below(r, 2) == 0)
            CHECK_OK(ln_ndarray_slice(view, axis, 0, count, step, &next));
        else
            CHECK_OK(ln_ndarray_slice(view, axis, dim - 1, count, -step, &next));
        ln_ndarray_release(view);
        view = next;
    }
    return view;
}

TEST(strided_copies_equal_the_plain_way)
{
    static const DLDataType types[] = {
        {kDLInt, 8, 1}, {kDLInt, 16, 1}, {kDLFloat, 32, 1}, {kDLFloat, 64, 1}, {kDLInt, 8, 3}};
    test_random r = test_random_start();
    for (int round = 0; round < 2000; round++) {
        DLDataType dtype = types[round % 5];
        size_t elem_bytes = (size_t)dtype.bits / 8 * dtype.lanes;
        ln_ndarray *view = random_view(&r, dtype), *clone;
        size_t count = ln_ndarray_elem_count(view), byte_count = ln_ndarray_byte_count(view);
        unsigned char *bytes = malloc(byte_count), *back = malloc(byte_count);
        for (size_t i = 0; i < byte_count; i++)
            bytes[i] = (unsigned char)test_random_below(&r, 256);

        CHECK_OK(ln_ndarray_set_bytes(view, bytes, byte_count));
        const char *first = ln_ndarray_data(view);
        for (size_t i = 0; i < count; i++)
            CHECK_MEM_EQ(first + position_of(view, i) * (int64_t)elem_bytes, bytes + i * elem_bytes,
                         elem_bytes);
        CHECK_OK(ln_ndarray_get_bytes(view, back, byte_count));
        CHECK_MEM_EQ(back, bytes, byte_count);
        CHECK_OK(ln_ndarray_clone(view, &clone));
        CHECK(ln_ndarray_is_contiguous(clone));
        CHECK_MEM_EQ(ln_ndarray_data(clone), bytes, byte_count);
        free(bytes);
        free(back);
        ln_ndarray_release(clone);
        ln_ndarray_release(view);
    }
}

TEST(copies_within_one_memory_read_before_they_write)
{
    int32_t numbers[] = {0, 1, 2, 3, 4, 5};
    ln_ndarray *array = array_of(1, (int64_t[]){6}, int32, numbers), *from, *to, *back;
    CHECK_OK(ln_ndarray_slice(array, 0, 0, 5, 1, &from));
    CHECK_OK(ln_ndarray_slice(array, 0, 1, 5, 1, &to));
    CHECK_OK(ln_ndarray_copy(from, to)); // one to the right
    const int32_t *data = ln_ndarray_data(array);
    CHECK_MEM_EQ(data, ((int32_t[]){0, 0, 1, 2, 3, 4}), sizeof numbers);
    CHECK_OK(ln_ndarray_slice(array, 0, 5, 6, -1, &back));
    CHECK_OK(ln_ndarray_copy(back, array)); // turned around
    CHECK_MEM_EQ(data, ((int32_t[]){4, 3, 2, 1, 0, 0}), sizeof numbers);
    ln_ndarray_release(back);
    ln_ndarray_release(to);
    ln_ndarray_release(from);
    ln_ndarray_release(array);
}

TEST(copy_wants_one_shape_and_one_type)
{
    int32_t numbers[] = {0, 1, 2, 3, 4, 5};
    ln_ndarray *a = array_of(2, (int64_t[]){2, 3}, int32, numbers);
    ln_ndarray *b = array_of(2, (int64_t[]){3, 2}, int32, numbers), *c;
    CHECK_FAILS(ln_ndarray_copy(a, b), LN_INVALID);
    CHECK_MESSAGE("[2, 3] cannot be copied to [3, 2]");
    CHECK_OK(ln_ndarray_create(2, (int64_t[]){2, 3}, float64, &c));
    CHECK_FAILS(ln_ndarray_copy(a, c), LN_INVALID);
    CHECK_MESSAGE("int32 cannot be copied to float64");
    CHECK_FAILS(ln_ndarray_copy(NULL, c), LN_INVALID);
    CHECK_FAILS(ln_ndarray_copy(a, NULL), LN_INVALID);
    ln_ndarray_release(c);
    CHECK_FAILS(ln_ndarray_clone(NULL, &c), LN_INVALID);
    CHECK_NULL(c);
    CHECK_FAILS(ln_ndarray_clone(a, NULL), LN_INVALID);
    ln_ndarray_release(a);
    ln_ndarray_release(b);
}

TEST(bytes_must_be_as_many_as_the_array_has)
{
    int32_t numbers[] = {0, 1, 2, 3, 4, 5};
    ln_ndarray *a = array_of(2, (int64_t[]){2, 3}, int32, numbers);
    CHECK_FAILS(ln_ndarray_set_bytes(a, numbers, 23), LN_INVALID);
    CHECK_MESSAGE("23 bytes for an array of 24");
    CHECK_FAILS(ln_ndarray_get_bytes(a, numbers, 25), LN_INVALID);
    CHECK_FAILS(ln_ndarray_set_bytes(a, NULL, 24), LN_INVALID);
    CHECK_FAILS(ln_ndarray_get_bytes(a, NULL, 24), LN_INVALID);
    CHECK_FAILS(ln_ndarray_set_bytes(NULL, numbers, 24), LN_INVALID);
    CHECK_FAILS(ln_ndarray_get_bytes(NULL, numbers, 24), LN_INVALID);
    ln_ndarray_release(a);
}

TEST(conversion_saturates_and_cuts)
{
    double numbers[] = {-1e10, -1.9, 0.0, 1.9, 1e10, NAN};
    ln_ndarray *from = array_of(1, (int64_t[]){6}, float64, numbers);
    static const struct {
        tl_dtype dtype;
        double expected[6];
    } cases[] = {
        {TL_INT32, {INT32_MIN, -1, 0, 1, INT32_MAX, 0}},
        {TL_INT8, {-128, -1, 0, 1, 127, 0}},
        {TL_UINT16, {0, 0, 0, 1, 65535, 0}},
        {TL_INT64, {-10000000000.0, -1, 0, 1, 10000000000.0, 0}},
        {TL_BOOL, {1, 1, 0, 1, 1, 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ln_ndarray *to, *back;
        CHECK_OK(ln_ndarray_create(1, (int64_t[]){6}, tl_dtype_to_dl(cases[i].dtype), &to));
        CHECK_OK(ln_ndarray_create(1, (int64_t[]){6}, float64, &back));
        CHECK_OK(ln_ndarray_convert(from, to));
        CHECK_OK(ln_ndarray_convert(to, back));
        const double *result = ln_ndarray_data(back);
        for (int k = 0; k < 6; k++)
            CHECK_NEAR(result[k], cases[i].expected[k], 0);
        ln_ndarray_release(to);
        ln_ndarray_release(back);
    }
    ln_ndarray_release(from);
}

TEST(conversion_goes_through_any_strides_and_length)
{
    enum { ROWS = 300, COLUMNS = 7 };
    ln_ndarray *from, *turned, *to;
    CHECK_OK(ln_ndarray_create(2, (int64_t[]){ROWS, COLUMNS}, int32, &from));
    int32_t *numbers;
    CHECK_OK(ln_ndarray_write(&from, (void **)&numbers));
    for (int i = 0; i < ROWS * COLUMNS; i++)
        numbers[i] = i;
    CHECK_OK(ln_ndarray_transpose(from, NULL, &turned));
    CHECK_OK(ln_ndarray_create(2, (int64_t[]){COLUMNS, ROWS}, float64, &to));
    CHECK_OK(ln_ndarray_convert(turned, to));
    const double *result = ln_ndarray_data(to);
    for (int c = 0; c < COLUMNS; c++)
        for (int r = 0; r < ROWS; r++)
            CHECK_NEAR(result[c * ROWS + r], r * COLUMNS + c, 0);
    ln_ndarray_release(from);
    ln_ndarray_release(turned);
    ln_ndarray_release(to);
}

TEST(both_kinds_of_bool_have_one_byte)
{
    static const DLDataType kinds[] = {{kDLBool, 8, 1}, {kDLUInt, 1, 1}};
    for (int i = 0; i < 2; i++) {
        ln_ndarray *bools, *numbers;
        CHECK_OK(ln_ndarray_create(1, (int64_t[]){3}, kinds[i], &bools));
        CHECK_EQ(ln_ndarray_byte_count(bools), 3);
        CHECK_OK(ln_ndarray_set_bytes(bools, "\0\1\7", 3)); // all but 0 is true
        CHECK_OK(ln_ndarray_create(1, (int64_t[]){3}, int32, &numbers));
        CHECK_OK(ln_ndarray_convert(bools, numbers));
        CHECK_MEM_EQ(ln_ndarray_data(numbers), ((int32_t[]){0, 1, 1}), 12);
        CHECK_OK(ln_ndarray_fill(numbers, -5));
        CHECK_OK(ln_ndarray_convert(numbers, bools));
        CHECK_MEM_EQ(ln_ndarray_data(bools), "\1\1\1", 3);
        CHECK_OK(ln_ndarray_fill(bools, 0));
        CHECK_MEM_EQ(ln_ndarray_data(bools), "\0\0\0", 3);
        CHECK_OK(ln_ndarray_fill(bools, 256));
        CHECK_MEM_EQ(ln_ndarray_data(bools), "\1\1\1", 3);
        ln_ndarray_release(bools);
        ln_ndarray_release(numbers);
    }
}

TEST(fill_converts_to_every_type)
{
    for (int dtype = 0; dtype < TL_DTYPE_NATIVE_SIZE; dtype++) {
        ln_ndarray *array, *column, *back;
        CHECK_OK(ln_ndarray_create(2, (int64_t[]){3, 2}, tl_dtype_to_dl((tl_dtype)dtype), &array));
        CHECK_OK(ln_ndarray_slice(array, 1, 1, 1, 1, &column));
        CHECK_OK(ln_ndarray_fill(column, 1));
        CHECK_OK(ln_ndarray_create(2, (int64_t[]){3, 2}, float64, &back));
        CHECK_OK(ln_ndarray_convert(array, back));
        CHECK_MEM_EQ(ln_ndarray_data(back), ((double[]){0, 1, 0, 1, 0, 1}), 48);
        ln_ndarray_release(back);
        ln_ndarray_release(column);
        ln_ndarray_release(array);
    }
}

TEST(types_without_numbers_are_copied_but_not_converted)
{
    ln_ndarray *a, *b;
    static const DLDataType complex32 = {kDLComplex, 32, 1};
    CHECK_OK(ln_ndarray_create(1, (int64_t[]){2}, complex32, &a));
    CHECK_OK(ln_ndarray_create(1, (int64_t[]){2}, complex32, &b));
    CHECK_OK(ln_ndarray_set_bytes(a, "abcdefgh", 8));
    CHECK_OK(ln_ndarray_copy(a, b));
    CHECK_MEM_EQ(ln_ndarray_data(b), "abcdefgh", 8);
    CHECK_FAILS(ln_ndarray_convert(a, b), LN_UNSUPPORTED);
    CHECK_MESSAGE("complex32");
    CHECK_FAILS(ln_ndarray_fill(a, 1), LN_UNSUPPORTED);
    ln_ndarray_release(a);
    ln_ndarray_release(b);
}

TEST(data_at_odd_addresses_is_moved_right)
{
    unsigned char bytes[4 * 5 + 1] = {0};
    int32_t numbers[] = {1, -2, 3, -4, 5};
    memcpy(bytes + 1, numbers, sizeof numbers);
    DLTensor tensor = {.data = bytes,
                       .device = {kDLCPU, 0},
                       .ndim = 1,
                       .dtype = int32,
                       .shape = (int64_t[]){5},
                       .byte_offset = 1};
    ln_ndarray *odd, *to;
    CHECK_OK(ln_ndarray_wrap(&tensor, false, NULL, NULL, &odd));
    CHECK_OK(ln_ndarray_create(1, (int64_t[]){5}, float64, &to));
    CHECK_OK(ln_ndarray_convert(odd, to));
    CHECK_MEM_EQ(ln_ndarray_data(to), ((double[]){1, -2, 3, -4, 5}), 40);
    CHECK_OK(ln_ndarray_fill(to, 8));
    CHECK_OK(ln_ndarray_convert(to, odd));
    memcpy(numbers, bytes + 1, sizeof numbers);
    CHECK_EQ(numbers[4], 8);
    ln_ndarray_release(odd);
    ln_ndarray_release(to);
}

TEST_LIST(strided_copies_equal_the_plain_way, copies_within_one_memory_read_before_they_write,
          copy_wants_one_shape_and_one_type, bytes_must_be_as_many_as_the_array_has,
          conversion_saturates_and_cuts, conversion_goes_through_any_strides_and_length,
          both_kinds_of_bool_have_one_byte, fill_converts_to_every_type,
          types_without_numbers_are_copied_but_not_converted, data_at_odd_addresses_is_moved_right)
