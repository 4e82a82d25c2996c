// SPDX-License-Identifier: Apache-2.0

#include <lightnet/ndarray.h>

#include <string.h>

#include <lightnet/allocator.h>

#include "tests/oom.h"
#include "tests/test.h"

static const DLDataType float32 = {kDLFloat, 32, 1};
static const DLDataType int32 = {kDLInt, 32, 1};

// [2, 3] of 0, 1, ... 5.
static ln_ndarray *counting_array(void)
{
    ln_ndarray *array;
    int32_t numbers[] = {0, 1, 2, 3, 4, 5};
    CHECK_OK(ln_ndarray_create(2, (int64_t[]){2, 3}, int32, &array));
    CHECK_OK(ln_ndarray_set_bytes(array, numbers, sizeof numbers));
    return array;
}

static void check_numbers(const ln_ndarray *array, size_t count, const int32_t *expected)
{
    int32_t numbers[16];
    CHECK_EQ(ln_ndarray_elem_count(array), count);
    CHECK_OK(ln_ndarray_get_bytes(array, numbers, count * sizeof *numbers));
    for (size_t i = 0; i < count; i++)
        CHECK_EQ(numbers[i], expected[i]);
}

static void count_call(void *user)
{
    (*(int *)user)++;
}

// ---- Making ----

TEST(a_new_array_is_zero_aligned_and_row_major)
{
    ln_ndarray *array;
    CHECK_OK(ln_ndarray_create(3, (int64_t[]){2, 3, 4}, float32, &array));
    CHECK_EQ(ln_ndarray_ndim(array), 3);
    CHECK_EQ(ln_ndarray_shape(array)[1], 3);
    CHECK_EQ(ln_ndarray_strides(array)[0], 12);
    CHECK_EQ(ln_ndarray_strides(array)[1], 4);
    CHECK_EQ(ln_ndarray_strides(array)[2], 1);
    CHECK_EQ(ln_ndarray_dtype(array).code, kDLFloat);
    CHECK_EQ(ln_ndarray_elem_count(array), 24);
    CHECK_EQ(ln_ndarray_byte_count(array), 96);
    CHECK_EQ((uintptr_t)ln_ndarray_data(array) % LN_NDARRAY_ALIGN, 0);
    CHECK(ln_ndarray_is_contiguous(array));
    CHECK(!ln_ndarray_is_read_only(array));
    CHECK(!ln_ndarray_is_shared(array));
    CHECK_EQ(ln_ndarray_use_count(array), 1);
    const float *data = ln_ndarray_data(array);
    for (int i = 0; i < 24; i++)
        CHECK_NEAR(data[i], 0, 0);
    ln_ndarray_release(array);
}

TEST(an_array_is_its_dltensor)
{
    ln_ndarray *array = counting_array();
    const DLTensor *tensor = ln_ndarray_tensor(array);
    CHECK_PTR_EQ(tensor, array);
    CHECK_EQ(tensor->device.device_type, kDLCPU);
    CHECK_EQ(tensor->ctx.device_type, kDLCPU); // the old name of the same field
    CHECK_EQ(tensor->ndim, 2);
    CHECK_EQ(tensor->shape[1], 3);
    CHECK_EQ(tensor->byte_offset, 0);
    CHECK_EQ(((const int32_t *)tensor->data)[5], 5);
    CHECK_PTR_EQ(ln_ndarray_from_tensor((DLTensor *)(uintptr_t)tensor), array);
    ln_ndarray_release(array);
}

TEST(records_have_the_layout_that_everybody_agrees_on)
{
    CHECK_EQ(sizeof(DLTensor), 48);
    CHECK_EQ(offsetof(DLTensor, device), 8);
    CHECK_EQ(offsetof(DLTensor, ndim), 16);
    CHECK_EQ(offsetof(DLTensor, dtype), 20);
    CHECK_EQ(offsetof(DLTensor, shape), 24);
    CHECK_EQ(offsetof(DLTensor, strides), 32);
    CHECK_EQ(offsetof(DLTensor, byte_offset), 40);
    CHECK_EQ(sizeof(DLManagedTensor), 64);
    CHECK_EQ(offsetof(DLManagedTensor, deleter), 56);
    CHECK_EQ(sizeof(DLManagedTensorVersioned), 80);
    CHECK_EQ(offsetof(DLManagedTensorVersioned, manager_ctx), 8);
    CHECK_EQ(offsetof(DLManagedTensorVersioned, deleter), 16);
    CHECK_EQ(offsetof(DLManagedTensorVersioned, flags), 24);
    CHECK_EQ(offsetof(DLManagedTensorVersioned, dl_tensor), 32);
}

TEST(scalars_and_empty_arrays_are_arrays)
{
    ln_ndarray *scalar, *empty;
    CHECK_OK(ln_ndarray_create(0, NULL, int32, &scalar));
    CHECK_EQ(ln_ndarray_elem_count(scalar), 1);
    CHECK_EQ(ln_ndarray_byte_count(scalar), 4);
    CHECK_OK(ln_ndarray_fill(scalar, 7));
    check_numbers(scalar, 1, (int32_t[]){7});

    // A product that would overflow does not matter beside a dimension of 0.
    CHECK_OK(ln_ndarray_create(3, (int64_t[]){INT64_MAX, 0, INT64_MAX}, int32, &empty));
    CHECK_EQ(ln_ndarray_elem_count(empty), 0);
    CHECK_NULL(ln_ndarray_data(empty));
    CHECK(ln_ndarray_is_contiguous(empty));
    CHECK_OK(ln_ndarray_fill(empty, 7));
    CHECK_OK(ln_ndarray_get_bytes(empty, NULL, 0));
    ln_ndarray_release(scalar);
    ln_ndarray_release(empty);
}

TEST(bad_shapes_and_types_are_refused)
{
    static const struct {
        const char *why;
        int ndim;
        int64_t shape[3];
        DLDataType dtype;
        ln_status status;
    } cases[] = {
        {"a negative dimension", 1, {-1}, {kDLInt, 32, 1}, LN_INVALID},
        {"negative beside zero", 2, {0, -1}, {kDLInt, 32, 1}, LN_INVALID},
        {"too few dimensions", -1, {1}, {kDLInt, 32, 1}, LN_INVALID},
        {"too many dimensions", 33, {1}, {kDLInt, 32, 1}, LN_INVALID},
        {"the product overflows", 3, {1 << 30, 1 << 30, 1 << 30}, {kDLInt, 8, 1}, LN_LIMIT},
        {"the bytes overflow", 2, {1LL << 31, 1LL << 31}, {kDLInt, 32, 1}, LN_LIMIT},
        {"beyond ptrdiff_t", 1, {INT64_MAX}, {kDLInt, 16, 1}, LN_LIMIT},
        {"no lanes", 1, {1}, {kDLInt, 32, 0}, LN_INVALID},
        {"no bits", 1, {1}, {kDLInt, 0, 1}, LN_UNSUPPORTED},
        {"7 bits", 1, {1}, {kDLInt, 7, 1}, LN_UNSUPPORTED},
        {"4 bits", 1, {1}, {kDLInt, 4, 1}, LN_UNSUPPORTED},
        {"24 bits", 1, {1}, {kDLFloat, 24, 1}, LN_UNSUPPORTED},
        {"bits in one byte", 1, {1}, {kDLUInt, 1, 8}, LN_UNSUPPORTED},
        {"a wide bool", 1, {1}, {kDLBool, 32, 1}, LN_UNSUPPORTED},
        {"an unknown kind", 1, {1}, {18, 8, 1}, LN_UNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ln_ndarray *array = (ln_ndarray *)&array;
        ln_status status = ln_ndarray_create(cases[i].ndim, cases[i].shape, cases[i].dtype, &array);
        if (status != cases[i].status || array)
            fail_msg("%s: %s", cases[i].why, ln_status_name(status));
        CHECK(*ln_error_message());
    }
    ln_ndarray *array;
    CHECK_FAILS(ln_ndarray_create(1, NULL, int32, &array), LN_INVALID);
    CHECK_FAILS(ln_ndarray_create(1, (int64_t[]){1}, int32, NULL), LN_INVALID);
}

TEST(null_is_an_answer_everywhere)
{
    ln_ndarray *out = (ln_ndarray *)&out;
    CHECK_NULL(ln_ndarray_retain(NULL));
    ln_ndarray_release(NULL);
    CHECK_NULL(ln_ndarray_tensor(NULL));
    CHECK_NULL(ln_ndarray_from_tensor(NULL));
    CHECK_EQ(ln_ndarray_ndim(NULL), 0);
    CHECK_NULL(ln_ndarray_shape(NULL));
    CHECK_NULL(ln_ndarray_strides(NULL));
    CHECK_EQ(ln_ndarray_dtype(NULL).lanes, 0);
    CHECK_EQ(ln_ndarray_elem_count(NULL), 0);
    CHECK_EQ(ln_ndarray_byte_count(NULL), 0);
    CHECK_NULL(ln_ndarray_data(NULL));
    CHECK(!ln_ndarray_is_contiguous(NULL));
    CHECK(!ln_ndarray_is_read_only(NULL));
    CHECK(!ln_ndarray_is_shared(NULL));
    CHECK_EQ(ln_ndarray_use_count(NULL), 0);
    CHECK_FAILS(ln_ndarray_slice(NULL, 0, 0, 0, 1, &out), LN_INVALID);
    CHECK_NULL(out);
    CHECK_FAILS(ln_ndarray_reshape(NULL, 0, NULL, &out), LN_INVALID);
    CHECK_FAILS(ln_ndarray_transpose(NULL, NULL, &out), LN_INVALID);
    CHECK_FAILS(ln_ndarray_wrap(NULL, false, NULL, NULL, &out), LN_INVALID);
    ln_ndarray *array = counting_array();
    CHECK_FAILS(ln_ndarray_slice(array, 0, 0, 1, 1, NULL), LN_INVALID);
    CHECK_FAILS(ln_ndarray_reshape(array, 0, NULL, NULL), LN_INVALID);
    CHECK_FAILS(ln_ndarray_transpose(array, NULL, NULL), LN_INVALID);
    ln_ndarray_release(array);
}

// ---- Wrapping ----

TEST(wrapped_memory_is_released_once_by_its_last_array)
{
    int32_t numbers[] = {0, 1, 2, 3, 4, 5};
    DLTensor tensor = {.data = numbers,
                       .device = {kDLCPU, 0},
                       .ndim = 2,
                       .dtype = int32,
                       .shape = (int64_t[]){2, 3}};
    int released = 0;
    ln_ndarray *array, *row;
    CHECK_OK(ln_ndarray_wrap(&tensor, false, count_call, &released, &array));
    CHECK_PTR_EQ(ln_ndarray_data(array), numbers);
    CHECK_OK(ln_ndarray_slice(array, 0, 1, 1, 1, &row));
    ln_ndarray_release(array);
    CHECK_EQ(released, 0); // the view holds the memory
    CHECK_OK(ln_ndarray_fill(row, 9));
    CHECK_EQ(numbers[2], 2);
    CHECK_EQ(numbers[3], 9);
    ln_ndarray_release(row);
    CHECK_EQ(released, 1);
}

TEST(a_failed_wrap_leaves_the_memory_with_the_caller)
{
    int32_t number = 0;
    DLTensor tensor = {
        .data = &number, .device = {kDLCPU, 0}, .ndim = 1, .dtype = int32, .shape = (int64_t[]){1}};
    int released = 0;
    ln_ndarray *array;
    OOM_SWEEP(n)
    {
        released = 0;
        ln_status status = ln_ndarray_wrap(&tensor, false, count_call, &released, &array);
        CHECK_EQ(released, 0);
        CHECK(status == LN_OK ? array != NULL : status == LN_NO_MEMORY && !array);
        ln_ndarray_release(array);
        CHECK_EQ(released, status == LN_OK);
    }
}

// ---- Views ----

TEST(slices_take_every_step)
{
    ln_ndarray *array = counting_array();
    static const struct {
        const char *why;
        int axis;
        int64_t start, count, step;
        size_t elem_count;
        int32_t expected[6];
    } cases[] = {
        {"a row", 0, 1, 1, 1, 3, {3, 4, 5}},
        {"a column", 1, 2, 1, 1, 2, {2, 5}},
        {"every second", 1, 0, 2, 2, 4, {0, 2, 3, 5}},
        {"backwards", 1, 2, 3, -1, 6, {2, 1, 0, 5, 4, 3}},
        {"backwards by two", 1, 2, 2, -2, 4, {2, 0, 5, 3}},
        {"rows backwards", 0, 1, 2, -1, 6, {3, 4, 5, 0, 1, 2}},
        {"nothing", 1, 3, 0, 1, 0, {0}},
        {"one, whatever the step", 1, 1, 1, INT64_MIN, 2, {1, 4}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ln_ndarray *view;
        CHECK_OK(ln_ndarray_slice(array, cases[i].axis, cases[i].start, cases[i].count,
                                  cases[i].step, &view));
        check_numbers(view, cases[i].elem_count, cases[i].expected);
        ln_ndarray_release(view);
    }
    ln_ndarray_release(array);
}

TEST(slices_of_slices_stay_inside)
{
    ln_ndarray *array = counting_array(), *back, *tail, *whole;
    CHECK_OK(ln_ndarray_slice(array, 1, 2, 3, -1, &back));
    CHECK_OK(ln_ndarray_slice(back, 1, 1, 2, 1, &tail));
    check_numbers(tail, 4, (int32_t[]){1, 0, 4, 3});
    CHECK_OK(ln_ndarray_slice(tail, 1, 1, 2, -1, &whole));
    check_numbers(whole, 4, (int32_t[]){0, 1, 3, 4});
    ln_ndarray_release(array);
    ln_ndarray_release(back);
    ln_ndarray_release(tail);
    check_numbers(whole, 4, (int32_t[]){0, 1, 3, 4}); // keeps the memory
    ln_ndarray_release(whole);
}

TEST(slices_outside_are_refused)
{
    static const struct {
        int axis;
        int64_t start, count, step;
    } cases[] = {
        {2, 0, 1, 1},         {-1, 0, 1, 1},        {1, 3, 1, 1},         {1, -1, 1, 1},
        {1, 0, 4, 1},         {1, 0, -1, 1},        {1, 0, 2, 0},         {1, 1, 3, -1},
        {1, 1, 2, INT64_MAX}, {1, 2, 2, INT64_MIN}, {1, 0, INT64_MAX, 2}, {1, 4, 0, 1},
        {1, INT64_MIN, 2, 1},
    };
    ln_ndarray *array = counting_array();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ln_ndarray *view = array;
        CHECK_FAILS(ln_ndarray_slice(array, cases[i].axis, cases[i].start, cases[i].count,
                                     cases[i].step, &view),
                    LN_INVALID);
        CHECK_NULL(view);
    }
    ln_ndarray_release(array);
}

TEST(reshape_needs_the_same_product_and_no_gaps)
{
    ln_ndarray *array = counting_array(), *view, *flat;
    CHECK_OK(ln_ndarray_reshape(array, 3, (int64_t[]){3, 1, 2}, &view));
    CHECK_EQ(ln_ndarray_strides(view)[0], 2);
    check_numbers(view, 6, (int32_t[]){0, 1, 2, 3, 4, 5});
    CHECK_OK(ln_ndarray_reshape(view, 1, (int64_t[]){6}, &flat));
    ln_ndarray_release(view);
    CHECK_FAILS(ln_ndarray_reshape(array, 1, (int64_t[]){5}, &view), LN_INVALID);
    CHECK_MESSAGE("[2, 3] cannot become [5]");
    CHECK_FAILS(ln_ndarray_reshape(array, 1, (int64_t[]){-6}, &view), LN_INVALID);
    ln_ndarray *turned;
    CHECK_OK(ln_ndarray_transpose(array, NULL, &turned));
    CHECK_FAILS(ln_ndarray_reshape(turned, 1, (int64_t[]){6}, &view), LN_INVALID);
    CHECK_MESSAGE("ln_ndarray_clone");
    ln_ndarray_release(turned);
    ln_ndarray_release(flat);
    ln_ndarray_release(array);
}

TEST(transpose_permutes_the_axes)
{
    ln_ndarray *array = counting_array(), *turned, *back;
    CHECK_OK(ln_ndarray_transpose(array, (int[]){1, 0}, &turned));
    CHECK_EQ(ln_ndarray_shape(turned)[0], 3);
    CHECK(!ln_ndarray_is_contiguous(turned));
    check_numbers(turned, 6, (int32_t[]){0, 3, 1, 4, 2, 5});
    CHECK_OK(ln_ndarray_transpose(turned, NULL, &back));
    CHECK(ln_ndarray_is_contiguous(back));
    check_numbers(back, 6, (int32_t[]){0, 1, 2, 3, 4, 5});
    ln_ndarray_release(back);
    CHECK_FAILS(ln_ndarray_transpose(array, (int[]){0, 0}, &back), LN_INVALID);
    CHECK_FAILS(ln_ndarray_transpose(array, (int[]){0, 2}, &back), LN_INVALID);
    CHECK_FAILS(ln_ndarray_transpose(array, (int[]){-1, 0}, &back), LN_INVALID);
    ln_ndarray_release(turned);
    ln_ndarray_release(array);
}

TEST(dimensions_of_one_do_not_break_contiguity)
{
    ln_ndarray *array = counting_array(), *row, *column;
    CHECK_OK(ln_ndarray_slice(array, 0, 1, 1, 1, &row));
    CHECK(ln_ndarray_is_contiguous(row));
    CHECK_OK(ln_ndarray_slice(array, 1, 1, 1, 1, &column));
    CHECK(!ln_ndarray_is_contiguous(column));
    ln_ndarray_release(row);
    ln_ndarray_release(column);
    ln_ndarray_release(array);
}

// ---- Lazy copies ----

TEST(a_sole_holder_writes_without_a_copy)
{
    ln_ndarray *array = counting_array(), *before = array;
    const void *data = ln_ndarray_data(array);
    void *own;
    CHECK_OK(ln_ndarray_write(&array, &own));
    CHECK_PTR_EQ(array, before);
    CHECK_PTR_EQ(own, data);
    ln_ndarray_release(array);
}

TEST(a_shared_handle_becomes_its_own_array_when_written)
{
    ln_ndarray *first = counting_array(), *second = ln_ndarray_retain(first);
    CHECK_EQ(ln_ndarray_use_count(first), 2);
    CHECK_PTR_EQ(second, first);
    int32_t *numbers;
    CHECK_OK(ln_ndarray_write(&second, (void **)&numbers));
    CHECK(second != first);
    CHECK_EQ(ln_ndarray_use_count(first), 1);
    numbers[0] = 100;
    check_numbers(first, 6, (int32_t[]){0, 1, 2, 3, 4, 5});
    check_numbers(second, 6, (int32_t[]){100, 1, 2, 3, 4, 5});
    CHECK(!ln_ndarray_is_shared(first));
    CHECK(!ln_ndarray_is_shared(second));
    ln_ndarray_release(first);
    ln_ndarray_release(second);
}

TEST(views_and_their_arrays_part_when_one_is_written)
{
    ln_ndarray *array = counting_array(), *column;
    CHECK_OK(ln_ndarray_slice(array, 1, 1, 1, 1, &column));
    CHECK(ln_ndarray_is_shared(array));
    int32_t *numbers;
    CHECK_OK(ln_ndarray_write(&column, (void **)&numbers)); // the view's two elements only
    numbers[0] = 100;
    CHECK_EQ(ln_ndarray_strides(column)[0], 1);
    check_numbers(column, 2, (int32_t[]){100, 4});
    check_numbers(array, 6, (int32_t[]){0, 1, 2, 3, 4, 5});
    CHECK(!ln_ndarray_is_shared(array)); // the column has left
    ln_ndarray_release(column);
    ln_ndarray_release(array);
}

TEST(a_view_that_outlives_its_array_is_written_where_it_lies)
{
    ln_ndarray *array = counting_array(), *column;
    CHECK_OK(ln_ndarray_slice(array, 1, 1, 1, 1, &column));
    const void *data = ln_ndarray_data(column);
    ln_ndarray_release(array);
    void *own;
    CHECK_OK(ln_ndarray_write(&column, &own));
    CHECK_PTR_EQ(own, data);
    ln_ndarray_release(column);
}

TEST(writing_in_place_is_seen_by_all)
{
    ln_ndarray *array = counting_array(), *column;
    CHECK_OK(ln_ndarray_slice(array, 1, 1, 1, 1, &column));
    CHECK_OK(ln_ndarray_fill(column, 7));
    check_numbers(array, 6, (int32_t[]){0, 7, 2, 3, 7, 5});
    ln_ndarray_release(column);
    ln_ndarray_release(array);
}

TEST(read_only_and_foreign_memory_is_never_written_through_write)
{
    int32_t numbers[] = {0, 1, 2, 3, 4, 5};
    DLTensor tensor = {.data = numbers,
                       .device = {kDLCPU, 0},
                       .ndim = 2,
                       .dtype = int32,
                       .shape = (int64_t[]){2, 3}};
    for (int is_read_only = 0; is_read_only < 2; is_read_only++) {
        ln_ndarray *array;
        int released = 0;
        CHECK_OK(ln_ndarray_wrap(&tensor, is_read_only, count_call, &released, &array));
        CHECK_EQ(ln_ndarray_is_read_only(array), is_read_only);
        CHECK_EQ(ln_ndarray_fill(array, 0), is_read_only ? LN_INVALID : LN_OK);
        CHECK_EQ(numbers[5], is_read_only ? 5 : 0);
        numbers[5] = 5;
        int32_t *own;
        CHECK_OK(ln_ndarray_write(&array, (void **)&own));
        CHECK_EQ(released, 1); // nobody needs it any longer
        own[5] = 50;
        CHECK_EQ(numbers[5], 5);
        CHECK(!ln_ndarray_is_read_only(array));
        ln_ndarray_release(array);
    }
}

TEST(elements_upon_each_other_are_read_only)
{
    int32_t numbers[] = {1, 2, 3, 4};
    static const struct {
        const char *why;
        int64_t shape[2], strides[2];
        bool is_read_only;
        int32_t expected[4];
    } cases[] = {
        {"apart", {2, 2}, {2, 1}, false, {1, 2, 3, 4}},
        {"apart, turned", {2, 2}, {1, 2}, false, {1, 3, 2, 4}},
        {"one row twice", {2, 2}, {0, 1}, true, {1, 2, 1, 2}},
        {"windows", {2, 2}, {1, 1}, true, {1, 2, 2, 3}},
        {"a dimension of one steps anywhere", {1, 2}, {0, 1}, false, {1, 2}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t shape[2], strides[2];
        memcpy(shape, cases[i].shape, sizeof shape);
        memcpy(strides, cases[i].strides, sizeof strides);
        DLTensor tensor = {.data = numbers,
                           .device = {kDLCPU, 0},
                           .ndim = 2,
                           .dtype = int32,
                           .shape = shape,
                           .strides = strides};
        ln_ndarray *array;
        CHECK_OK(ln_ndarray_wrap(&tensor, false, NULL, NULL, &array));
        CHECK_EQ(ln_ndarray_is_read_only(array), cases[i].is_read_only);
        check_numbers(array, (size_t)(shape[0] * shape[1]), cases[i].expected);
        if (cases[i].is_read_only)
            CHECK_FAILS(ln_ndarray_fill(array, 0), LN_INVALID);
        ln_ndarray_release(array);
    }
}

TEST(write_tells_what_it_cannot_do)
{
    ln_ndarray *none = NULL;
    void *data = &data;
    CHECK_FAILS(ln_ndarray_write(NULL, &data), LN_INVALID);
    CHECK_NULL(data);
    CHECK_FAILS(ln_ndarray_write(&none, &data), LN_INVALID);
    ln_ndarray *array = counting_array();
    CHECK_OK(ln_ndarray_write(&array, NULL));
    ln_ndarray_release(array);
}

// ---- Memory ----

static ln_status use_everything(void)
{
    ln_ndarray *array = NULL, *row = NULL, *turned = NULL, *clone = NULL, *shared = NULL;
    ln_status status = ln_ndarray_create(2, (int64_t[]){2, 3}, int32, &array);
    if (status == LN_OK)
        status = ln_ndarray_slice(array, 0, 1, 1, 1, &row);
    if (status == LN_OK)
        status = ln_ndarray_transpose(array, NULL, &turned);
    if (status == LN_OK)
        status = ln_ndarray_clone(turned, &clone);
    if (status == LN_OK) {
        shared = ln_ndarray_retain(array);
        status = ln_ndarray_write(&shared, NULL);
    }
    if (status == LN_OK)
        status = ln_ndarray_copy(array, array);
    ln_ndarray_release(shared);
    ln_ndarray_release(clone);
    ln_ndarray_release(turned);
    ln_ndarray_release(row);
    ln_ndarray_release(array);
    return status;
}

TEST(every_allocation_may_fail)
{
    OOM_SWEEP(n)
    {
        ln_status status = use_everything();
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
    }
    CHECK(n > 5);
}

TEST_LIST(a_new_array_is_zero_aligned_and_row_major, an_array_is_its_dltensor,
          records_have_the_layout_that_everybody_agrees_on, scalars_and_empty_arrays_are_arrays,
          bad_shapes_and_types_are_refused, null_is_an_answer_everywhere,
          wrapped_memory_is_released_once_by_its_last_array,
          a_failed_wrap_leaves_the_memory_with_the_caller, slices_take_every_step,
          slices_of_slices_stay_inside, slices_outside_are_refused,
          reshape_needs_the_same_product_and_no_gaps, transpose_permutes_the_axes,
          dimensions_of_one_do_not_break_contiguity, a_sole_holder_writes_without_a_copy,
          a_shared_handle_becomes_its_own_array_when_written,
          views_and_their_arrays_part_when_one_is_written,
          a_view_that_outlives_its_array_is_written_where_it_lies, writing_in_place_is_seen_by_all,
          read_only_and_foreign_memory_is_never_written_through_write,
          elements_upon_each_other_are_read_only, write_tells_what_it_cannot_do,
          every_allocation_may_fail)
