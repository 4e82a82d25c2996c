// SPDX-License-Identifier: Apache-2.0
// A program of the old library: the array calls alone, linked with liblightnet-cvm alone.

#include <cvm/runtime/c_runtime_api.h>

#include <pthread.h>
#include <stdlib.h>

#include "tests/test.h"

// In another file that includes the header too.
int cvm_codes_elsewhere(void);

#define CHECK_LOGIC(call)                                                                          \
    do {                                                                                           \
        CHECK_EQ(call, ERROR_LOGIC);                                                               \
        CHECK(*CVMGetLastError());                                                                 \
    } while (0)
#define CHECK_RUNTIME(call)                                                                        \
    do {                                                                                           \
        CHECK_EQ(call, ERROR_RUNTIME);                                                             \
        CHECK(*CVMGetLastError());                                                                 \
    } while (0)

static CVMArrayHandle alloc_int32(int ndim, const cvm_index_t *shape)
{
    CVMArrayHandle array;
    CHECK_EQ(CVMArrayAlloc(shape, ndim, kDLInt, 32, 1, kDLCPU, 0, &array), SUCCEED);
    return array;
}

// [2, 3] of 0, 1, ... 5.
static CVMArrayHandle counting_array(void)
{
    int32_t numbers[] = {0, 1, 2, 3, 4, 5};
    CVMArrayHandle array = alloc_int32(2, (cvm_index_t[]){2, 3});
    CHECK_EQ(CVMArrayCopyFromBytes(array, numbers, sizeof numbers), SUCCEED);
    return array;
}

static void check_numbers(CVMArrayHandle array, const int32_t *expected)
{
    int32_t numbers[6];
    CHECK_EQ(CVMArrayCopyToBytes(array, numbers, sizeof numbers), SUCCEED);
    CHECK_MEM_EQ(numbers, expected, sizeof numbers);
}

TEST(codes_and_records_are_the_old_ones)
{
    CHECK_EQ(SUCCEED, 0);
    CHECK_EQ(ERROR_LOGIC, 1);
    CHECK_EQ(ERROR_RUNTIME, 2);
    CHECK_EQ(cvm_codes_elsewhere(), 3);
    CHECK_EQ(kDLCPU, 1);
    CHECK_EQ(kDLGPU, 2);
    CHECK_EQ(kDLFORMAL, 3);
    CHECK_EQ(kDLOpenCL, 4);
    CHECK_EQ(sizeof(CVMArray), 48);
    CHECK_EQ(offsetof(CVMArray, ctx), 8);
    CHECK_EQ(offsetof(CVMArray, byte_offset), 40);
    CHECK_EQ(sizeof(CVMType), 4);
    CHECK_EQ(sizeof(CVMContext), 8);
    CHECK_EQ(sizeof(CVMByteArray), 16);
}

TEST(an_array_is_a_dltensor_in_main_memory)
{
    for (int device_type = 1; device_type <= 4; device_type++) {
        cvm_index_t shape[] = {2, 3};
        CVMArrayHandle array;
        CHECK_EQ(CVMArrayAlloc(shape, 2, kDLInt, 32, 1, device_type, 0, &array), SUCCEED);
        CHECK_EQ(array->ctx.device_type, kDLCPU);
        CHECK_EQ(array->ctx.device_id, 0);
        CHECK_EQ(array->ndim, 2);
        CHECK_EQ(array->shape[1], 3);
        CHECK_EQ(array->dtype.bits, 32);
        CHECK_NULL(array->strides);
        CHECK_EQ(array->byte_offset, 0);
        CHECK_EQ((uintptr_t)array->data % 64, 0);
        CHECK_EQ(((int32_t *)array->data)[5], 0);
        ((int32_t *)array->data)[5] = 9; // data may be written where it is
        int32_t numbers[6];
        CHECK_EQ(CVMArrayCopyToBytes(array, numbers, sizeof numbers), SUCCEED);
        CHECK_EQ(numbers[5], 9);
        CHECK_EQ(CVMArrayFree(array), SUCCEED);
    }
    CHECK_EQ(CVMArrayFree(NULL), SUCCEED);
}

TEST(what_the_old_library_did_not_check_is_refused)
{
    static const struct {
        const char *why;
        int ndim;
        cvm_index_t shape[2];
        int code, bits, lanes, device_type, device_id;
    } cases[] = {
        {"a negative dimension", 1, {-1}, kDLInt, 32, 1, 1, 0},
        {"negative dimensions", -1, {1}, kDLInt, 32, 1, 1, 0},
        {"too many dimensions", 1000, {1}, kDLInt, 32, 1, 1, 0},
        {"an overflow", 2, {1LL << 40, 1LL << 40}, kDLInt, 32, 1, 1, 0},
        {"7 bits", 1, {1}, kDLInt, 7, 1, 1, 0},
        {"no bits", 1, {1}, kDLInt, 0, 1, 1, 0},
        {"288 bits, once cut to 32", 1, {1}, kDLInt, 288, 1, 1, 0},
        {"a code once cut to 0", 1, {1}, 256, 32, 1, 1, 0},
        {"no lanes", 1, {1}, kDLInt, 32, 0, 1, 0},
        {"lanes once cut to 1", 1, {1}, kDLInt, 32, 65537, 1, 0},
        {"device 0", 1, {1}, kDLInt, 32, 1, 0, 0},
        {"device 5", 1, {1}, kDLInt, 32, 1, 5, 0},
        {"device -100", 1, {1}, kDLInt, 32, 1, -100, 0},
        {"device number -1", 1, {1}, kDLInt, 32, 1, 1, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CVMArrayHandle array = (CVMArrayHandle)&array;
        CVMAPISetLastError("");
        int code = CVMArrayAlloc(cases[i].shape, cases[i].ndim, cases[i].code, cases[i].bits,
                                 cases[i].lanes, cases[i].device_type, cases[i].device_id, &array);
        if (code != ERROR_RUNTIME || array || !*CVMGetLastError())
            fail_msg("%s: %d", cases[i].why, code);
    }
    CVMArrayHandle array;
    CHECK_RUNTIME(CVMArrayAlloc(NULL, 1, kDLInt, 32, 1, 1, 0, &array));
    CHECK_RUNTIME(CVMArrayAlloc(NULL, 0, kDLInt, 32, 1, 1, 0, NULL));
    CHECK_EQ(CVMArrayAlloc(NULL, 0, kDLInt, 32, 1, 1, 0, &array), SUCCEED); // a scalar
    CHECK_EQ(CVMAssignAllScalar(array, 5), SUCCEED);
    CHECK_EQ(*(int32_t *)array->data, 5);
    CVMArrayFree(array);
}

TEST(the_last_error_tells)
{
    CVMAPISetLastError("mine");
    CHECK_STR_EQ(CVMGetLastError(), "mine");
    CVMAPISetLastError(NULL);
    CHECK_STR_EQ(CVMGetLastError(), "");
    CVMArrayHandle array = counting_array();
    int32_t numbers[6];
    CHECK_RUNTIME(CVMArrayCopyFromBytes(array, numbers, 20));
    CHECK_NOT_NULL(strstr(CVMGetLastError(), "20 bytes for an array of 24"));
    CHECK_RUNTIME(CVMArrayCopyToBytes(array, numbers, 28));
    CHECK_RUNTIME(CVMArrayCopyToBytes(NULL, numbers, 24));
    CHECK_RUNTIME(CVMArrayCopyFromBytes(array, NULL, 24));
    CVMArrayFree(array);
}

TEST(copies_compare_bytes_not_shapes)
{
    CVMArrayHandle from = counting_array(), to = alloc_int32(1, (cvm_index_t[]){6});
    CVMArrayHandle small = alloc_int32(1, (cvm_index_t[]){5});
    CHECK_EQ(CVMArrayCopyFromTo(from, to, NULL), SUCCEED);
    check_numbers(to, (int32_t[]){0, 1, 2, 3, 4, 5});
    CHECK_EQ(CVMArrayCopyFromTo(to, to, NULL), SUCCEED);
    CHECK_RUNTIME(CVMArrayCopyFromTo(from, small, NULL));
    CHECK_RUNTIME(CVMArrayCopyFromTo(NULL, to, NULL));
    CHECK_RUNTIME(CVMArrayCopyFromTo(from, NULL, NULL));
    CVMArrayFree(from);
    CVMArrayFree(to);
    CVMArrayFree(small);
}

// ---- Assignment ----

TEST(slices_are_assigned_a_number)
{
    CVMArrayHandle array = counting_array();
    //             starts  ends   steps  sizes
    int column[] = {0, 1, 99, 99, 1, 1, 2, 1};
    CHECK_EQ(CVMAssignSliceScalar(array, column, 7.9), SUCCEED);
    check_numbers(array, (int32_t[]){0, 7, 2, 3, 7, 5});
    int corners[] = {1, 2, 0, 0, -1, -2, 2, 2};
    CHECK_EQ(CVMAssignSliceScalar(array, corners, -1e20), SUCCEED);
    check_numbers(array, (int32_t[]){INT32_MIN, 7, INT32_MIN, INT32_MIN, 7, INT32_MIN});
    int nothing[] = {50, 50, 0, 0, 0, 0, 0, 3};
    CHECK_EQ(CVMAssignSliceScalar(array, nothing, 1), SUCCEED);
    int outside[] = {0, 1, 0, 0, 1, 1, 2, 3};
    CHECK_RUNTIME(CVMAssignSliceScalar(array, outside, 1));
    int negative[] = {0, 0, 0, 0, 1, 1, -2, 3};
    CHECK_RUNTIME(CVMAssignSliceScalar(array, negative, 1));
    CHECK_RUNTIME(CVMAssignSliceScalar(array, NULL, 1));
    CHECK_RUNTIME(CVMAssignSliceScalar(NULL, column, 1));
    CVMArrayFree(array);
}

TEST(slices_are_assigned_an_array_of_another_type)
{
    CVMArrayHandle array = counting_array(), source;
    cvm_index_t shape[] = {5};
    CHECK_EQ(CVMArrayAlloc(shape, 1, kDLFloat, 64, 1, kDLCPU, 0, &source), SUCCEED);
    double numbers[] = {10.5, -20.5, 30, 40, 50};
    CHECK_EQ(CVMArrayCopyFromBytes(source, numbers, sizeof numbers), SUCCEED);
    int part[] = {0, 0, 0, 0, 1, 2, 2, 2}; // columns 0 and 2, from the first four
    CHECK_EQ(CVMAssignSliceND(array, part, source), SUCCEED);
    check_numbers(array, (int32_t[]){10, 1, -20, 30, 4, 40});
    int all[] = {0, 0, 0, 0, 1, 1, 2, 3};
    CHECK_RUNTIME(CVMAssignSliceND(array, all, source)); // too few
    CHECK_RUNTIME(CVMAssignSliceND(array, NULL, source));
    CHECK_RUNTIME(CVMAssignSliceND(array, all, NULL));
    CHECK_RUNTIME(CVMAssignSliceND(NULL, all, source));
    CVMArrayFree(source);
    CVMArrayFree(array);
}

TEST(every_number_type_is_assigned)
{
    static const struct {
        int code, bits;
    } types[] = {{kDLInt, 8},   {kDLInt, 16},  {kDLInt, 32},  {kDLInt, 64},   {kDLUInt, 8},
                 {kDLUInt, 16}, {kDLUInt, 32}, {kDLUInt, 64}, {kDLFloat, 32}, {kDLFloat, 64}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        CVMArrayHandle array, back = alloc_int32(1, (cvm_index_t[]){4});
        cvm_index_t shape[] = {4};
        CHECK_EQ(CVMArrayAlloc(shape, 1, types[i].code, types[i].bits, 1, kDLCPU, 0, &array),
                 SUCCEED);
        CHECK_EQ(CVMAssignAllScalar(array, 100), SUCCEED);
        int part[] = {1, 0, 2, 2};
        CHECK_EQ(CVMAssignSliceScalar(array, part, 7), SUCCEED);
        int all[] = {0, 0, 1, 4};
        CHECK_EQ(CVMAssignSliceND(back, all, array), SUCCEED);
        CHECK_MEM_EQ(back->data, ((int32_t[]){100, 7, 100, 7}), 16);
        CVMArrayFree(array);
        CVMArrayFree(back);
    }
    CVMArrayHandle complex_numbers;
    cvm_index_t shape[] = {4};
    CHECK_EQ(CVMArrayAlloc(shape, 1, kDLComplex, 64, 1, kDLCPU, 0, &complex_numbers), SUCCEED);
    CHECK_RUNTIME(CVMAssignAllScalar(complex_numbers, 1));
    CHECK_RUNTIME(CVMAssignAllScalar(NULL, 1));
    CVMArrayFree(complex_numbers);
}

TEST(assigning_all_wants_one_type)
{
    CVMArrayHandle from = counting_array(), to = alloc_int32(2, (cvm_index_t[]){3, 2}), other;
    CHECK_EQ(CVMAssignAllND(to, from), SUCCEED);
    check_numbers(to, (int32_t[]){0, 1, 2, 3, 4, 5});
    cvm_index_t shape[] = {6};
    CHECK_EQ(CVMArrayAlloc(shape, 1, kDLUInt, 32, 1, kDLCPU, 0, &other), SUCCEED);
    CHECK_LOGIC(CVMAssignAllND(other, from));
    CHECK_RUNTIME(CVMAssignAllND(NULL, from));
    CHECK_RUNTIME(CVMAssignAllND(to, NULL));
    CVMArrayFree(other);
    CVMArrayFree(from);
    CVMArrayFree(to);
}

// ---- Params dictionaries ----

// "a" = int32 [4] of 1..4, "b" = int32 [4, 2] of 5..12
static CVMByteArray save_two(void)
{
    int32_t numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    CVMArrayHandle a = alloc_int32(1, (cvm_index_t[]){4});
    CVMArrayHandle b = alloc_int32(2, (cvm_index_t[]){4, 2});
    CVMArrayCopyFromBytes(a, numbers, 16);
    CVMArrayCopyFromBytes(b, numbers + 4, 32);
    const void *params[] = {"a", a, "b", b};
    CVMByteArray bytes;
    CHECK_EQ(CVMSaveParamsDict(params, 4, &bytes), SUCCEED);
    CVMArrayFree(a);
    CVMArrayFree(b);
    return bytes;
}

TEST(dictionaries_go_round)
{
    CVMByteArray bytes = save_two();
    CHECK_EQ(bytes.size, 202);
    int num;
    void **names, **values;
    CHECK_EQ(CVMLoadParamsDict(bytes.data, (int)bytes.size, &num, &names, &values), SUCCEED);
    CHECK_EQ(num, 2);
    CHECK_STR_EQ((char *)names[0], "a");
    CHECK_STR_EQ((char *)names[1], "b");
    CVMArrayHandle b = values[1];
    CHECK_EQ(b->shape[0], 4);
    CHECK_NULL(b->strides);
    CHECK_EQ(((int32_t *)b->data)[7], 12);
    CVMArrayFree(values[0]);
    CVMArrayFree(b);
}

TEST(a_smaller_dictionary_has_no_tail_of_a_larger_one)
{
    CVMByteArray large = save_two(), small;
    CHECK_EQ(CVMSaveParamsDict(NULL, 0, &small), SUCCEED);
    CHECK_EQ(small.size, 32);
    CHECK(large.size > small.size);
    int num = 7;
    void **names, **values;
    CHECK_EQ(CVMLoadParamsDict(small.data, (int)small.size, &num, &names, &values), SUCCEED);
    CHECK_EQ(num, 0);
}

TEST(bools_lanes_and_empty_arrays_are_saved_whole)
{
    static const struct {
        int code, bits, lanes;
        cvm_index_t length;
        size_t byte_count;
    } cases[] = {{kDLUInt, 1, 1, 5, 5}, {kDLInt, 8, 4, 3, 12}, {kDLInt, 32, 1, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CVMArrayHandle array;
        CHECK_EQ(CVMArrayAlloc(&cases[i].length, 1, cases[i].code, cases[i].bits, cases[i].lanes,
                               kDLCPU, 0, &array),
                 SUCCEED);
        const void *params[] = {"x", array};
        CVMByteArray bytes;
        CHECK_EQ(CVMSaveParamsDict(params, 2, &bytes), SUCCEED);
        CHECK_EQ(bytes.size, 24 + 9 + 8 + 48 + cases[i].byte_count);
        int num;
        void **names, **values;
        CHECK_EQ(CVMLoadParamsDict(bytes.data, (int)bytes.size, &num, &names, &values), SUCCEED);
        CHECK_EQ(num, 1);
        CHECK_EQ(((CVMArrayHandle)values[0])->dtype.lanes, cases[i].lanes);
        CVMArrayFree(values[0]);
        CVMArrayFree(array);
    }
}

// Where the parts of the dictionary of save_two() begin.
#define NAME_COUNT  16
#define NAME_LENGTH 24
#define ARRAY_COUNT 42
#define ARRAY_A     50
#define ARRAY_B     114

TEST(bad_dictionaries_have_the_old_codes)
{
    static const struct {
        const char *why;
        size_t size, at;
        int64_t number;
        size_t number_bytes;
        int code;
    } cases[] = {
        {"no bytes", 0, 0, 0, 0, ERROR_LOGIC},
        {"another magic number", 202, 0, 1, 8, ERROR_LOGIC},
        {"2^61 names", 202, NAME_COUNT, 1LL << 61, 8, ERROR_LOGIC},
        {"-1 names", 202, NAME_COUNT, -1, 8, ERROR_LOGIC},
        {"a name of 2^62 bytes", 202, NAME_LENGTH, 1LL << 62, 8, ERROR_LOGIC},
        {"the end inside of a name", 32, 0, 0, 0, ERROR_LOGIC},
        {"the end before the array count", ARRAY_COUNT, 0, 0, 0, ERROR_LOGIC},
        {"more arrays than names", 202, ARRAY_COUNT, 3, 8, ERROR_LOGIC},
        {"no arrays", ARRAY_A, 0, 0, 0, ERROR_RUNTIME},
        {"another magic number of an array", 202, ARRAY_A, 1, 8, ERROR_RUNTIME},
        {"-1 dimensions", 202, ARRAY_A + 24, -1, 4, ERROR_LOGIC},
        {"-1 dimensions of the second", 202, ARRAY_B + 24, -1, 4, ERROR_LOGIC},
        {"2^31 - 1 dimensions", 202, ARRAY_A + 24, INT32_MAX, 4, ERROR_RUNTIME},
        {"no bits", 202, ARRAY_A + 28, 0, 4, ERROR_RUNTIME},
        {"a dimension of -4", 202, ARRAY_A + 32, -4, 8, ERROR_RUNTIME},
        {"other bytes than the shape", 202, ARRAY_A + 32, 5, 8, ERROR_RUNTIME},
        {"too many elements", 202, ARRAY_A + 32, 1LL << 62, 8, ERROR_RUNTIME},
        {"data cut by one byte", 201, 0, 0, 0, ERROR_RUNTIME},
        {"data cut to one byte", 202 - 31, 0, 0, 0, ERROR_RUNTIME},
    };
    CVMByteArray good = save_two();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *bytes = malloc(cases[i].size + 1);
        memcpy(bytes, good.data, cases[i].size);
        memcpy(bytes + cases[i].at, &cases[i].number, cases[i].number_bytes);
        int num = 7;
        void *any, **names = &any, **values = &any;
        CVMAPISetLastError("");
        int code = CVMLoadParamsDict(bytes, (int)cases[i].size, &num, &names, &values);
        if (code != cases[i].code || num || names || values || !*CVMGetLastError())
            fail_msg("%s: %d, %s", cases[i].why, code, CVMGetLastError());
        free(bytes);
    }
}

TEST(other_devices_and_trailing_bytes_are_read)
{
    CVMByteArray good = save_two();
    char *bytes = calloc(1, good.size + 10);
    memcpy(bytes, good.data, good.size);
    bytes[ARRAY_A + 16] = 2; // a GPU
    bytes[ARRAY_B + 16] = 77;
    int num;
    void **names, **values;
    CHECK_EQ(CVMLoadParamsDict(bytes, (int)good.size + 10, &num, &names, &values), SUCCEED);
    free(bytes);
    for (int i = 0; i < num; i++) {
        CHECK_EQ(((CVMArrayHandle)values[i])->ctx.device_type, kDLCPU);
        CVMArrayFree(values[i]);
    }
}

TEST(bad_arguments_of_the_dictionary_calls_are_refused)
{
    CVMByteArray bytes;
    const void *odd[] = {"a", NULL, "b"};
    CHECK_RUNTIME(CVMSaveParamsDict(odd, 3, &bytes));
    CHECK_NULL(bytes.data);
    CHECK_RUNTIME(CVMSaveParamsDict(odd, 2, &bytes)); // no array
    CHECK_RUNTIME(CVMSaveParamsDict(odd, -2, &bytes));
    CHECK_RUNTIME(CVMSaveParamsDict(NULL, 2, &bytes));
    CHECK_RUNTIME(CVMSaveParamsDict(odd, 2, NULL));
    int num;
    void **names, **values;
    CHECK_RUNTIME(CVMLoadParamsDict(NULL, 10, &num, &names, &values));
    CHECK_RUNTIME(CVMLoadParamsDict("", -1, &num, &names, &values));
    CHECK_RUNTIME(CVMLoadParamsDict("", 0, NULL, &names, &values));
    CHECK_RUNTIME(CVMLoadParamsDict("", 0, &num, NULL, &values));
    CHECK_RUNTIME(CVMLoadParamsDict("", 0, &num, &names, NULL));
}

// ---- Threads ----

static void *use_dictionaries(void *argument)
{
    int *failures = argument;
    for (int i = 0; i < 100; i++) {
        CVMByteArray bytes = save_two();
        int num;
        void **names, **values;
        if (CVMLoadParamsDict(bytes.data, (int)bytes.size, &num, &names, &values) != SUCCEED ||
            num != 2 || strcmp(names[1], "b") != 0) {
            ++*failures;
            continue;
        }
        CVMAPISetLastError(i % 2 ? "odd" : "even");
        *failures += strcmp(CVMGetLastError(), i % 2 ? "odd" : "even") != 0;
        CVMArrayFree(values[0]);
        CVMArrayFree(values[1]);
    }
    return NULL; // the thread's results go with it
}

TEST(each_thread_has_its_own_results)
{
    pthread_t threads[4];
    int failures[4] = {0};
    for (int i = 0; i < 4; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, use_dictionaries, &failures[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(failures[i], 0);
}

TEST_LIST(codes_and_records_are_the_old_ones, an_array_is_a_dltensor_in_main_memory,
          what_the_old_library_did_not_check_is_refused, the_last_error_tells,
          copies_compare_bytes_not_shapes, slices_are_assigned_a_number,
          slices_are_assigned_an_array_of_another_type, every_number_type_is_assigned,
          assigning_all_wants_one_type, dictionaries_go_round,
          a_smaller_dictionary_has_no_tail_of_a_larger_one,
          bools_lanes_and_empty_arrays_are_saved_whole, bad_dictionaries_have_the_old_codes,
          other_devices_and_trailing_bytes_are_read,
          bad_arguments_of_the_dictionary_calls_are_refused, each_thread_has_its_own_results)
