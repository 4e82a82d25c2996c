// SPDX-License-Identifier: Apache-2.0
// DLPack in and out.
//
// Out: a record that holds the memory, not the array; its shape and strides are after it in one
// block. In: an array on a foreign memory whose release is the record's deleter.

#include "tensor/ndarray.h"

#include <string.h>

#include <lightnet/allocator.h>

#include "base/error_state.h"

// ---- Element types ----

static const DLDataType dl_types[] = {
    [TL_DOUBLE] = {kDLFloat, 64, 1},
    [TL_FLOAT] = {kDLFloat, 32, 1},
    [TL_INT32] = {kDLInt, 32, 1},
    [TL_INT16] = {kDLInt, 16, 1},
    [TL_INT8] = {kDLInt, 8, 1},
    [TL_UINT32] = {kDLUInt, 32, 1},
    [TL_UINT16] = {kDLUInt, 16, 1},
    [TL_UINT8] = {kDLUInt, 8, 1},
    [TL_BOOL] = {kDLBool, 8, 1},
    [TL_INT64] = {kDLInt, 64, 1},
    [TL_UINT64] = {kDLUInt, 64, 1},
    [TL_FLOAT16] = {kDLFloat, 16, 1},
    [TL_BFLOAT16] = {kDLBfloat, 16, 1},
    [TL_FLOAT8E4M3FN] = {kDLFloat8_e4m3fn, 8, 1},
    [TL_FLOAT8E4M3FNUZ] = {kDLFloat8_e4m3fnuz, 8, 1},
    [TL_FLOAT8E5M2] = {kDLFloat8_e5m2, 8, 1},
    [TL_FLOAT8E5M2FNUZ] = {kDLFloat8_e5m2fnuz, 8, 1},
    [TL_FLOAT8E8M0] = {kDLFloat8_e8m0fnu, 8, 1},
    [TL_COMPLEX64] = {kDLComplex, 64, 1},
    [TL_COMPLEX128] = {kDLComplex, 128, 1},
};

static bool has_dl_type(tl_dtype dtype)
{
    return (size_t)dtype < sizeof dl_types / sizeof *dl_types && dl_types[dtype].lanes == 1;
}

// Before kDLBool there was: an unsigned integer of one bit, in a byte of its own.
static bool is_old_bool(DLDataType dtype)
{
    return dtype.code == kDLUInt && dtype.bits == 1 && dtype.lanes == 1;
}

DLDataType tl_dtype_to_dl(tl_dtype dtype)
{
    return has_dl_type(dtype) ? dl_types[dtype] : (DLDataType){0, 0, 0};
}

tl_dtype tl_dtype_from_dl(DLDataType dtype)
{
    if (is_old_bool(dtype))
        return TL_BOOL;
    for (int i = 0; i < TL_DTYPE_SIZE; i++) {
        if (!has_dl_type((tl_dtype)i))
            continue;
        const DLDataType *type = &dl_types[i];
        if (type->code == dtype.code && type->bits == dtype.bits && type->lanes == dtype.lanes)
            return (tl_dtype)i;
    }
    return TL_DTYPE_INVALID;
}

// ---- Out ----

typedef struct versioned_export {
    DLManagedTensorVersioned managed; // first: what the consumer sees
    int64_t dims[];                   // shape, strides
} versioned_export;

typedef struct plain_export {
    DLManagedTensor managed;
    int64_t dims[];
} plain_export;

static void delete_versioned(DLManagedTensorVersioned *managed)
{
    if (!managed)
        return;
    ln_nd_memory_release(managed->manager_ctx);
    ln_free(managed);
}

static void delete_plain(DLManagedTensor *managed)
{
    if (!managed)
        return;
    ln_nd_memory_release(managed->manager_ctx);
    ln_free(managed);
}

// The record of the array, with shape and strides copied to `dims`.
static DLTensor export_tensor(const ln_ndarray *array, int64_t *dims)
{
    DLTensor tensor = array->tensor;
    size_t ndim = (size_t)tensor.ndim;
    if (ndim > 0) {
        memcpy(dims, tensor.shape, ndim * sizeof *dims);
        memcpy(dims + ndim, array->strides, ndim * sizeof *dims);
    }
    tensor.shape = dims;
    tensor.strides = dims + ndim;
    if (is_old_bool(tensor.dtype))
        tensor.dtype = dl_types[TL_BOOL];
    if (ln_ndarray_elem_count(array) == 0) {
        tensor.data = NULL;
        tensor.byte_offset = 0;
    }
    return tensor;
}

static size_t dims_bytes(const ln_ndarray *array)
{
    return 2 * (size_t)array->tensor.ndim * sizeof(int64_t);
}

DLManagedTensorVersioned *ln_ndarray_to_dlpack_versioned(const ln_ndarray *array)
{
    if (!array) {
        ln_fail(LN_INVALID, "the array to be handed out is NULL");
        return NULL;
    }
    versioned_export *out = ln_alloc(sizeof *out + dims_bytes(array));
    if (!out)
        return NULL;
    DLManagedTensorVersioned *managed = &out->managed;
    managed->version = (DLPackVersion){DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    managed->dl_tensor = export_tensor(array, out->dims);
    managed->manager_ctx = ln_nd_memory_retain(array->memory);
    managed->deleter = delete_versioned;
    if (ln_ndarray_is_read_only(array))
        managed->flags |= DLPACK_FLAG_BITMASK_READ_ONLY;
    if (managed->dl_tensor.dtype.bits < 8)
        managed->flags |= DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED;
    return managed;
}

static ln_status check_plain(const ln_ndarray *array)
{
    if (!array)
        return LN_FAIL(LN_INVALID, "the array to be handed out is NULL");
    if (ln_ndarray_is_read_only(array))
        return LN_FAIL(LN_UNSUPPORTED,
                       "a record without a version cannot say that the array is read only");
    if (array->tensor.dtype.bits < 8 && !is_old_bool(array->tensor.dtype))
        return LN_FAIL(LN_UNSUPPORTED,
                       "a record without a version cannot say that numbers of %d bits are padded",
                       array->tensor.dtype.bits);
    return LN_OK;
}

DLManagedTensor *ln_ndarray_to_dlpack(const ln_ndarray *array)
{
    if (check_plain(array) != LN_OK)
        return NULL;
    plain_export *out = ln_alloc(sizeof *out + dims_bytes(array));
    if (!out)
        return NULL;
    out->managed.dl_tensor = export_tensor(array, out->dims);
    out->managed.manager_ctx = ln_nd_memory_retain(array->memory);
    out->managed.deleter = delete_plain;
    return &out->managed;
}

// ---- In ----

static void call_versioned_deleter(void *user)
{
    DLManagedTensorVersioned *managed = user;
    if (managed->deleter)
        managed->deleter(managed);
}

static void call_plain_deleter(void *user)
{
    DLManagedTensor *managed = user;
    if (managed->deleter)
        managed->deleter(managed);
}

static ln_status import(const DLTensor *tensor, uint64_t flags, void (*call_deleter)(void *user),
                        void *managed, ln_ndarray **out_array)
{
    size_t elem_count;
    LN_TRY(ln_dl_check(tensor, (flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) != 0,
                       &elem_count));
    ln_nd_memory *memory;
    LN_TRY(ln_nd_memory_create((flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0,
                               (flags & DLPACK_FLAG_BITMASK_IS_COPIED) == 0, NULL, managed,
                               &memory));
    ln_status status = ln_ndarray_make(tensor, memory, out_array);
    if (status == LN_OK)
        memory->on_release = call_deleter; // until here a failure is the caller's to tell
    ln_nd_memory_release(memory);
    return status;
}

// The deleter is somebody else's code, which may record failures of its own.
static ln_status give_up(ln_status status, void (*call_deleter)(void *user), void *managed)
{
    ln_error_state reason;
    ln_error_save(&reason);
    call_deleter(managed);
    ln_error_restore(&reason);
    return status;
}

static ln_status import_versioned(DLManagedTensorVersioned *managed, ln_ndarray **out_array)
{
    if (managed->version.major != DLPACK_MAJOR_VERSION)
        return LN_FAIL(LN_UNSUPPORTED, "DLPack %u.%u: only version %d is known",
                       (unsigned)managed->version.major, (unsigned)managed->version.minor,
                       DLPACK_MAJOR_VERSION);
    if (!out_array)
        return LN_FAIL(LN_INVALID, "no place for the array");
    return import(&managed->dl_tensor, managed->flags, call_versioned_deleter, managed, out_array);
}

ln_status ln_ndarray_from_dlpack_versioned(DLManagedTensorVersioned *managed,
                                           ln_ndarray **out_array)
{
    if (out_array)
        *out_array = NULL;
    if (!managed)
        return LN_FAIL(LN_INVALID, "the DLPack record is NULL");
    ln_status status = import_versioned(managed, out_array);
    return status == LN_OK ? LN_OK : give_up(status, call_versioned_deleter, managed);
}

ln_status ln_ndarray_from_dlpack(DLManagedTensor *managed, ln_ndarray **out_array)
{
    if (out_array)
        *out_array = NULL;
    if (!managed)
        return LN_FAIL(LN_INVALID, "the DLPack record is NULL");
    ln_status status = out_array
                           ? import(&managed->dl_tensor, 0, call_plain_deleter, managed, out_array)
                           : LN_FAIL(LN_INVALID, "no place for the array");
    return status == LN_OK ? LN_OK : give_up(status, call_plain_deleter, managed);
}
