// SPDX-License-Identifier: Apache-2.0

#include <lightnet/ndarray.h>

#include <string.h>

#include "tests/oom.h"
#include "tests/test.h"

static const DLDataType float32 = {kDLFloat, 32, 1};

// ---- A producer that counts what it is told ----

typedef struct producer {
    float numbers[6];
    int64_t shape[2];
    int64_t strides[2];
    int deleted;
    DLManagedTensorVersioned versioned;
    DLManagedTensor plain;
} producer;

static void delete_versioned(DLManagedTensorVersioned *self)
{
    ((producer *)self->manager_ctx)->deleted++;
    ln_fail(LN_IO, "a failure of the producer's own"); // must not hide ours
}

static void delete_plain(DLManagedTensor *self)
{
    ((producer *)self->manager_ctx)->deleted++;
    ln_fail(LN_IO, "a failure of the producer's own");
}

// [2, 3] of 0, 1, ... 5, row-major.
static void produce(producer *p)
{
    *p = (producer){.numbers = {0, 1, 2, 3, 4, 5}, .shape = {2, 3}, .strides = {3, 1}};
    p->versioned = (DLManagedTensorVersioned){
        .version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION},
        .manager_ctx = p,
        .deleter = delete_versioned,
        .dl_tensor = {.data = p->numbers,
                      .device = {kDLCPU, 0},
                      .ndim = 2,
                      .dtype = float32,
                      .shape = p->shape,
                      .strides = p->strides},
    };
    p->plain = (DLManagedTensor){
        .dl_tensor = p->versioned.dl_tensor, .manager_ctx = p, .deleter = delete_plain};
}

static void check_numbers(const ln_ndarray *array, size_t count, const float *expected)
{
    float numbers[8];
    CHECK_EQ(ln_ndarray_elem_count(array), count);
    CHECK_OK(ln_ndarray_get_bytes(array, numbers, count * sizeof *numbers));
    CHECK_MEM_EQ(numbers, expected, count * sizeof *numbers);
}

// ---- In ----

TEST(both_records_come_in_without_a_copy)
{
    for (int is_versioned = 0; is_versioned < 2; is_versioned++) {
        producer p;
        produce(&p);
        ln_ndarray *array, *row;
        if (is_versioned)
            CHECK_OK(ln_ndarray_from_dlpack_versioned(&p.versioned, &array));
        else
            CHECK_OK(ln_ndarray_from_dlpack(&p.plain, &array));
        CHECK_PTR_EQ(ln_ndarray_data(array), p.numbers);
        CHECK(!ln_ndarray_is_read_only(array));
        CHECK(ln_ndarray_is_shared(array)); // the producer may look
        CHECK_OK(ln_ndarray_slice(array, 0, 1, 1, 1, &row));
        ln_ndarray_release(array);
        check_numbers(row, 3, (float[]){3, 4, 5});
        CHECK_EQ(p.deleted, 0);
        ln_ndarray_release(row);
        CHECK_EQ(p.deleted, 1);
    }
}

TEST(every_layout_comes_in)
{
    static const struct {
        const char *why;
        int32_t ndim;
        int64_t shape[2], strides[2];
        int has_strides;
        ptrdiff_t first; // where `data` points, in elements
        uint64_t byte_offset;
        size_t count;
        float expected[6];
    } cases[] = {
        {"no strides", 2, {2, 3}, {0}, 0, 0, 0, 6, {0, 1, 2, 3, 4, 5}},
        {"a transpose", 2, {3, 2}, {1, 3}, 1, 0, 0, 6, {0, 3, 1, 4, 2, 5}},
        {"an offset", 1, {2}, {1}, 1, 0, 16, 2, {4, 5}},
        {"backwards", 1, {6}, {-1}, 1, 5, 0, 6, {5, 4, 3, 2, 1, 0}},
        {"backwards from an offset", 1, {3}, {-2}, 1, 0, 20, 3, {5, 3, 1}},
        {"a broadcast row", 2, {2, 3}, {0, 1}, 1, 0, 0, 6, {0, 1, 2, 0, 1, 2}},
        {"a scalar", 0, {0}, {0}, 0, 2, 0, 1, {2}},
        {"nothing", 2, {0, 3}, {INT64_MIN, INT64_MAX}, 1, 0, 0, 0, {0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        producer p;
        produce(&p);
        memcpy(p.shape, cases[i].shape, sizeof p.shape);
        memcpy(p.strides, cases[i].strides, sizeof p.strides);
        DLTensor *t = &p.versioned.dl_tensor;
        t->ndim = cases[i].ndim;
        t->data = p.numbers + cases[i].first;
        t->byte_offset = cases[i].byte_offset;
        if (!cases[i].has_strides)
            t->strides = NULL;
        ln_ndarray *array, *clone;
        CHECK_OK(ln_ndarray_from_dlpack_versioned(&p.versioned, &array));
        check_numbers(array, cases[i].count, cases[i].expected);
        CHECK_OK(ln_ndarray_clone(array, &clone));
        ln_ndarray_release(array);
        CHECK_EQ(p.deleted, 1);
        check_numbers(clone, cases[i].count, cases[i].expected);
        ln_ndarray_release(clone);
    }
}

TEST(a_slice_below_the_data_pointer_stays_right)
{
    producer p;
    produce(&p);
    p.versioned.dl_tensor.ndim = 1;
    p.versioned.dl_tensor.data = p.numbers + 5;
    p.shape[0] = 6;
    p.strides[0] = -1;
    ln_ndarray *array, *tail;
    CHECK_OK(ln_ndarray_from_dlpack_versioned(&p.versioned, &array));
    CHECK_OK(ln_ndarray_slice(array, 0, 4, 2, 1, &tail));
    check_numbers(tail, 2, (float[]){1, 0});
    CHECK_EQ(ln_ndarray_tensor(tail)->byte_offset, 0);
    ln_ndarray_release(tail);
    ln_ndarray_release(array);
}

TEST(read_only_records_are_never_written)
{
    producer p;
    produce(&p);
    p.versioned.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
    ln_ndarray *array;
    CHECK_OK(ln_ndarray_from_dlpack_versioned(&p.versioned, &array));
    CHECK(ln_ndarray_is_read_only(array));
    CHECK_FAILS(ln_ndarray_fill(array, 1), LN_INVALID);
    CHECK_MESSAGE("ln_ndarray_write");
    CHECK_FAILS(ln_ndarray_set_bytes(array, p.numbers, sizeof p.numbers), LN_INVALID);
    CHECK_NULL(ln_ndarray_to_dlpack(array)); // it could not say so
    CHECK_EQ(ln_error_status(), LN_UNSUPPORTED);
    DLManagedTensorVersioned *out = ln_ndarray_to_dlpack_versioned(array);
    CHECK(out->flags & DLPACK_FLAG_BITMASK_READ_ONLY);
    out->deleter(out);
    float *own;
    CHECK_OK(ln_ndarray_write(&array, (void **)&own));
    own[0] = 9;
    CHECK_NEAR(p.numbers[0], 0, 0);
    CHECK_EQ(p.deleted, 1);
    ln_ndarray_release(array);
}

TEST(a_record_copied_for_us_is_ours_to_write)
{
    producer p;
    produce(&p);
    p.versioned.flags = DLPACK_FLAG_BITMASK_IS_COPIED;
    ln_ndarray *array;
    CHECK_OK(ln_ndarray_from_dlpack_versioned(&p.versioned, &array));
    CHECK(!ln_ndarray_is_shared(array));
    void *own;
    CHECK_OK(ln_ndarray_write(&array, &own));
    CHECK_PTR_EQ(own, p.numbers);
    ln_ndarray_release(array);
    CHECK_EQ(p.deleted, 1);
}

typedef void (*change)(DLTensor *t);

static void no_data(DLTensor *t)
{
    t->data = NULL;
}
static void no_shape(DLTensor *t)
{
    t->shape = NULL;
}
static void negative_ndim(DLTensor *t)
{
    t->ndim = -1;
}
static void many_dims(DLTensor *t)
{
    t->ndim = 33;
}
static void huge_ndim(DLTensor *t)
{
    t->ndim = INT32_MAX;
}
static void negative_dim(DLTensor *t)
{
    t->shape[1] = -3;
}
static void huge_dims(DLTensor *t)
{
    t->shape[0] = t->shape[1] = INT64_C(1) << 40;
}
static void huge_strides(DLTensor *t)
{
    t->strides[0] = INT64_MAX;
}
static void low_strides(DLTensor *t)
{
    t->strides[0] = INT64_MIN;
}
static void below_zero(DLTensor *t)
{
    t->strides[0] = -(INT64_C(1) << 60);
}
static void beyond_end(DLTensor *t)
{
    t->strides[1] = INT64_C(1) << 60;
}
static void huge_offset(DLTensor *t)
{
    t->byte_offset = UINT64_MAX - 3;
}
static void no_device(DLTensor *t)
{
    t->device.device_type = (DLDeviceType)0;
}
static void odd_device(DLTensor *t)
{
    t->device.device_type = (DLDeviceType)5;
}
static void new_device(DLTensor *t)
{
    t->device.device_type = (DLDeviceType)1000;
}
static void low_device(DLTensor *t)
{
    t->device.device_type = (DLDeviceType)-1;
}
static void low_number(DLTensor *t)
{
    t->device.device_id = -1;
}
static void no_lanes(DLTensor *t)
{
    t->dtype.lanes = 0;
}
static void no_bits(DLTensor *t)
{
    t->dtype.bits = 0;
}
static void four_bits(DLTensor *t)
{
    t->dtype.bits = 4;
}
static void many_bits(DLTensor *t)
{
    t->dtype.bits = 255;
}
static void new_kind(DLTensor *t)
{
    t->dtype.code = 200;
}

TEST(bad_fields_are_refused_and_the_deleter_is_called_once)
{
    static const struct {
        const char *why;
        change change;
        ln_status status;
    } cases[] = {
        {"no data", no_data, LN_INVALID},
        {"no shape", no_shape, LN_INVALID},
        {"negative ndim", negative_ndim, LN_INVALID},
        {"33 dimensions", many_dims, LN_INVALID},
        {"2^31 - 1 dimensions", huge_ndim, LN_INVALID},
        {"negative dimension", negative_dim, LN_INVALID},
        {"2^80 elements", huge_dims, LN_LIMIT},
        {"stride 2^63 - 1", huge_strides, LN_INVALID},
        {"stride -2^63", low_strides, LN_INVALID},
        {"below address 0", below_zero, LN_INVALID},
        {"beyond the last address", beyond_end, LN_INVALID},
        {"byte offset 2^64 - 4", huge_offset, LN_INVALID},
        {"device 0", no_device, LN_UNSUPPORTED},
        {"device 5", odd_device, LN_UNSUPPORTED},
        {"device 1000", new_device, LN_UNSUPPORTED},
        {"device -1", low_device, LN_UNSUPPORTED},
        {"device number -1", low_number, LN_INVALID},
        {"no lanes", no_lanes, LN_INVALID},
        {"no bits", no_bits, LN_UNSUPPORTED},
        {"4 bits, packed", four_bits, LN_UNSUPPORTED},
        {"255 bits", many_bits, LN_UNSUPPORTED},
        {"kind 200", new_kind, LN_UNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int is_versioned = 0; is_versioned < 2; is_versioned++) {
            producer p;
            produce(&p);
            cases[i].change(is_versioned ? &p.versioned.dl_tensor : &p.plain.dl_tensor);
            ln_ndarray *array = (ln_ndarray *)&p;
            ln_status status = is_versioned ? ln_ndarray_from_dlpack_versioned(&p.versioned, &array)
                                            : ln_ndarray_from_dlpack(&p.plain, &array);
            if (status != cases[i].status || array || p.deleted != 1)
                fail_msg("%s: %s, deleter called %d times", cases[i].why, ln_status_name(status),
                         p.deleted);
            CHECK_EQ(ln_error_status(), status); // not the producer's own
        }
    }
}

TEST(another_major_version_is_only_deleted)
{
    producer p;
    produce(&p);
    p.versioned.version.major = 2;
    memset(&p.versioned.dl_tensor, 0xff, sizeof p.versioned.dl_tensor); // may mean anything
    p.versioned.flags = UINT64_MAX;
    ln_ndarray *array;
    CHECK_FAILS(ln_ndarray_from_dlpack_versioned(&p.versioned, &array), LN_UNSUPPORTED);
    CHECK_MESSAGE("DLPack 2.");
    CHECK_NULL(array);
    CHECK_EQ(p.deleted, 1);

    produce(&p);
    p.versioned.version.minor = 99; // only adds
    CHECK_OK(ln_ndarray_from_dlpack_versioned(&p.versioned, &array));
    ln_ndarray_release(array);
    CHECK_EQ(p.deleted, 1);
}

TEST(records_without_a_deleter_and_missing_places_are_fine)
{
    producer p;
    produce(&p);
    p.versioned.deleter = NULL;
    p.plain.deleter = NULL;
    ln_ndarray *array;
    CHECK_OK(ln_ndarray_from_dlpack_versioned(&p.versioned, &array));
    ln_ndarray_release(array);
    CHECK_OK(ln_ndarray_from_dlpack(&p.plain, &array));
    ln_ndarray_release(array);
    p.plain.dl_tensor.ndim = -1;
    CHECK_FAILS(ln_ndarray_from_dlpack(&p.plain, &array), LN_INVALID);

    CHECK_FAILS(ln_ndarray_from_dlpack_versioned(NULL, &array), LN_INVALID);
    CHECK_FAILS(ln_ndarray_from_dlpack(NULL, &array), LN_INVALID);
    produce(&p);
    CHECK_FAILS(ln_ndarray_from_dlpack_versioned(&p.versioned, NULL), LN_INVALID);
    CHECK_EQ(p.deleted, 1);
    CHECK_FAILS(ln_ndarray_from_dlpack(&p.plain, NULL), LN_INVALID);
    CHECK_EQ(p.deleted, 2);
}

TEST(device_memory_is_held_but_not_touched)
{
    static const DLDeviceType remote[] = {kDLCUDA,   kDLOpenCL,  kDLVulkan, kDLMetal,
                                          kDLVPI,    kDLROCM,    kDLExtDev, kDLOneAPI,
                                          kDLWebGPU, kDLHexagon, kDLMAIA,   kDLTrn};
    for (size_t i = 0; i < sizeof remote / sizeof *remote; i++) {
        producer p;
        produce(&p);
        p.versioned.dl_tensor.device = (DLDevice){remote[i], 1};
        p.versioned.dl_tensor.data = (void *)(uintptr_t)8; // a handle
        ln_ndarray *array, *clone, *row;
        CHECK_OK(ln_ndarray_from_dlpack_versioned(&p.versioned, &array));
        CHECK_NULL(ln_ndarray_data(array));
        CHECK_FAILS(ln_ndarray_clone(array, &clone), LN_UNSUPPORTED);
        CHECK_FAILS(ln_ndarray_fill(array, 0), LN_UNSUPPORTED);
        CHECK_FAILS(ln_ndarray_get_bytes(array, p.numbers, 24), LN_UNSUPPORTED);
        CHECK_FAILS(ln_ndarray_write(&array, NULL), LN_UNSUPPORTED);
        CHECK_OK(ln_ndarray_slice(array, 0, 1, 1, 1, &row)); // a view of a device array
        DLManagedTensorVersioned *out = ln_ndarray_to_dlpack_versioned(row);
        CHECK_EQ(out->dl_tensor.device.device_type, remote[i]);
        CHECK_EQ(out->dl_tensor.device.device_id, 1);
        CHECK_EQ(out->dl_tensor.byte_offset, 12);
        ln_ndarray_release(row);
        ln_ndarray_release(array);
        CHECK_EQ(p.deleted, 0);
        out->deleter(out);
        CHECK_EQ(p.deleted, 1);
    }
}

TEST(pinned_memory_is_main_memory)
{
    static const DLDeviceType near[] = {kDLCPU, kDLCUDAHost, kDLROCMHost, kDLCUDAManaged};
    for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
        producer p;
        produce(&p);
        p.plain.dl_tensor.device.device_type = near[i];
        ln_ndarray *array, *clone;
        CHECK_OK(ln_ndarray_from_dlpack(&p.plain, &array));
        check_numbers(array, 6, p.numbers);
        CHECK_OK(ln_ndarray_clone(array, &clone));
        CHECK_EQ(ln_ndarray_tensor(clone)->device.device_type, kDLCPU);
        ln_ndarray_release(clone);
        ln_ndarray_release(array);
    }
}

TEST(padded_numbers_of_few_bits_are_passed_on)
{
    producer p;
    produce(&p);
    p.versioned.flags = DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED;
    p.versioned.dl_tensor.dtype = (DLDataType){kDLFloat4_e2m1fn, 4, 1};
    ln_ndarray *array, *clone;
    CHECK_OK(ln_ndarray_from_dlpack_versioned(&p.versioned, &array));
    CHECK_EQ(ln_ndarray_byte_count(array), 6);
    CHECK_OK(ln_ndarray_clone(array, &clone));
    ln_ndarray_release(array);
    DLManagedTensorVersioned *out = ln_ndarray_to_dlpack_versioned(clone);
    CHECK(out->flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED);
    CHECK_NULL(ln_ndarray_to_dlpack(clone));
    out->deleter(out);
    ln_ndarray_release(clone);
}

// ---- Out ----

TEST(an_export_keeps_the_memory_after_the_array)
{
    ln_ndarray *array, *turned;
    CHECK_OK(ln_ndarray_create(2, (int64_t[]){2, 3}, float32, &array));
    CHECK_OK(ln_ndarray_set_bytes(array, (float[]){0, 1, 2, 3, 4, 5}, 24));
    CHECK_OK(ln_ndarray_transpose(array, NULL, &turned));
    DLManagedTensorVersioned *versioned = ln_ndarray_to_dlpack_versioned(turned);
    DLManagedTensor *plain = ln_ndarray_to_dlpack(array);
    CHECK_EQ(versioned->version.major, 1);
    CHECK_EQ(versioned->flags, 0);
    CHECK_EQ(versioned->dl_tensor.shape[0], 3);
    CHECK_EQ(versioned->dl_tensor.strides[0], 1);
    CHECK_EQ(plain->dl_tensor.strides[0], 3);
    CHECK_PTR_EQ(plain->dl_tensor.data, ln_ndarray_data(array));
    ln_ndarray_release(turned);
    ln_ndarray_release(array);
    CHECK_NEAR(((float *)versioned->dl_tensor.data)[5], 5, 0);
    versioned->deleter(versioned);
    CHECK_NEAR(((float *)plain->dl_tensor.data)[5], 5, 0);
    plain->deleter(plain);
}

TEST(an_exported_array_is_shared)
{
    ln_ndarray *array;
    CHECK_OK(ln_ndarray_create(1, (int64_t[]){2}, float32, &array));
    DLManagedTensor *out = ln_ndarray_to_dlpack(array);
    float *own;
    CHECK_OK(ln_ndarray_write(&array, (void **)&own));
    own[0] = 5;
    CHECK_NEAR(((float *)out->dl_tensor.data)[0], 0, 0);
    ln_ndarray_release(array);
    out->deleter(out);
}

TEST(what_goes_out_comes_in_again)
{
    ln_ndarray *array, *part, *again;
    CHECK_OK(ln_ndarray_create(2, (int64_t[]){2, 3}, float32, &array));
    CHECK_OK(ln_ndarray_set_bytes(array, (float[]){0, 1, 2, 3, 4, 5}, 24));
    CHECK_OK(ln_ndarray_slice(array, 1, 2, 2, -2, &part));
    for (int i = 0; i < 20; i++) { // there and back, many times around one memory
        CHECK_OK(
            i % 2 ? ln_ndarray_from_dlpack(ln_ndarray_to_dlpack(part), &again)
                  : ln_ndarray_from_dlpack_versioned(ln_ndarray_to_dlpack_versioned(part), &again));
        ln_ndarray_release(part);
        part = again;
    }
    check_numbers(part, 4, (float[]){2, 0, 5, 3});
    ln_ndarray_release(part);
    ln_ndarray_release(array);
}

TEST(bools_go_out_as_bools_and_empty_arrays_without_data)
{
    ln_ndarray *bools, *empty;
    CHECK_OK(ln_ndarray_create(1, (int64_t[]){2}, (DLDataType){kDLUInt, 1, 1}, &bools));
    DLManagedTensorVersioned *out = ln_ndarray_to_dlpack_versioned(bools);
    CHECK_EQ(out->dl_tensor.dtype.code, kDLBool);
    CHECK_EQ(out->dl_tensor.dtype.bits, 8);
    CHECK_EQ(out->flags, 0);
    out->deleter(out);
    DLManagedTensor *plain = ln_ndarray_to_dlpack(bools);
    CHECK_EQ(plain->dl_tensor.dtype.code, kDLBool);
    plain->deleter(plain);
    ln_ndarray_release(bools);

    CHECK_OK(ln_ndarray_create(2, (int64_t[]){0, 3}, float32, &empty));
    plain = ln_ndarray_to_dlpack(empty);
    CHECK_NULL(plain->dl_tensor.data);
    CHECK_EQ(plain->dl_tensor.shape[1], 3);
    CHECK_NOT_NULL(plain->dl_tensor.strides);
    plain->deleter(plain);
    ln_ndarray_release(empty);
    CHECK_NULL(ln_ndarray_to_dlpack(NULL));
    CHECK_NULL(ln_ndarray_to_dlpack_versioned(NULL));
}

// ---- Element types ----

TEST(dtypes_map_both_ways)
{
    for (int dtype = 0; dtype < TL_DTYPE_SIZE; dtype++) {
        DLDataType type = tl_dtype_to_dl((tl_dtype)dtype);
        CHECK_EQ(tl_dtype_from_dl(type), type.lanes ? dtype : TL_DTYPE_INVALID);
        if (dtype != TL_BOOL && type.lanes)
            CHECK_EQ((size_t)type.bits / 8, tl_size_of((tl_dtype)dtype));
    }
    CHECK_EQ(tl_dtype_from_dl((DLDataType){kDLUInt, 1, 1}), TL_BOOL);
    CHECK_EQ(tl_dtype_from_dl((DLDataType){kDLFloat, 16, 1}), TL_FLOAT16);
    CHECK_EQ(tl_dtype_from_dl((DLDataType){kDLComplex, 128, 1}), TL_COMPLEX128);
    CHECK_EQ(tl_dtype_from_dl((DLDataType){kDLInt, 4, 1}), TL_DTYPE_INVALID);
    CHECK_EQ(tl_dtype_from_dl((DLDataType){kDLFloat, 32, 4}), TL_DTYPE_INVALID);
    CHECK_EQ(tl_dtype_from_dl((DLDataType){kDLUInt, 1, 8}), TL_DTYPE_INVALID);
    CHECK_EQ(tl_dtype_to_dl(TL_DTYPE_INVALID).lanes, 0);
    CHECK_EQ(tl_dtype_to_dl(TL_STRING).lanes, 0);
    CHECK_EQ(tl_dtype_to_dl(TL_DTYPE_SIZE).lanes, 0);
}

// ---- Memory ----

TEST(every_allocation_may_fail_and_every_deleter_is_called)
{
    OOM_SWEEP(n)
    {
        producer p;
        produce(&p);
        ln_ndarray *array;
        ln_status status = ln_ndarray_from_dlpack_versioned(&p.versioned, &array);
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
        CHECK_EQ(p.deleted, status != LN_OK);
        DLManagedTensorVersioned *versioned = array ? ln_ndarray_to_dlpack_versioned(array) : NULL;
        DLManagedTensor *plain = versioned ? ln_ndarray_to_dlpack(array) : NULL;
        ln_ndarray_release(array);
        if (plain)
            plain->deleter(plain);
        if (versioned)
            versioned->deleter(versioned);
        CHECK_EQ(p.deleted, 1);
    }
    CHECK(n >= 4);
}

TEST_LIST(both_records_come_in_without_a_copy, every_layout_comes_in,
          a_slice_below_the_data_pointer_stays_right, read_only_records_are_never_written,
          a_record_copied_for_us_is_ours_to_write,
          bad_fields_are_refused_and_the_deleter_is_called_once,
          another_major_version_is_only_deleted,
          records_without_a_deleter_and_missing_places_are_fine,
          device_memory_is_held_but_not_touched, pinned_memory_is_main_memory,
          padded_numbers_of_few_bits_are_passed_on, an_export_keeps_the_memory_after_the_array,
          an_exported_array_is_shared, what_goes_out_comes_in_again,
          bools_go_out_as_bools_and_empty_arrays_without_data, dtypes_map_both_ways,
          every_allocation_may_fail_and_every_deleter_is_called)
