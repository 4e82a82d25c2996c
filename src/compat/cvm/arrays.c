// SPDX-License-Identifier: Apache-2.0
// The array calls: a handle is the DLTensor that an ln_ndarray begins with.

#include <cvm/runtime/c_runtime_api.h>

#include <lightnet/ndarray.h>

#include "compat/cvm/error.h"
#include "compat/cvm/handle.h"

// ---- Errors ----

const char *CVMGetLastError(void)
{
    return ln_error_message();
}

void CVMAPISetLastError(const char *msg)
{
    ln_fail(LN_INVALID, "%s", msg ? msg : "");
}

// ---- Arrays ----

static ln_ndarray *array_of(CVMArrayHandle handle)
{
    return ln_ndarray_from_tensor(handle);
}

static int check_handle(CVMArrayHandle handle, const char *what)
{
    return handle ? SUCCEED : CVM_FAIL(ERROR_RUNTIME, "%s is NULL", what);
}

// The old library cut these down to their fields without a word.
static int make_type(int code, int bits, int lanes, DLDataType *out_dtype)
{
    if (code < 0 || code > UINT8_MAX || bits < 0 || bits > UINT8_MAX || lanes < 1 ||
        lanes > UINT16_MAX)
        return CVM_FAIL(ERROR_RUNTIME, "there is no element type of code %d, %d bits and %d lanes",
                        code, bits, lanes);
    *out_dtype = (DLDataType){(uint8_t)code, (uint8_t)bits, (uint16_t)lanes};
    return SUCCEED;
}

int CVMArrayAlloc(const cvm_index_t *shape, int ndim, int dtype_code, int dtype_bits,
                  int dtype_lanes, int device_type, int device_id, CVMArrayHandle *out)
{
    if (!out)
        return CVM_FAIL(ERROR_RUNTIME, "no place for the new array");
    *out = NULL;
    if (device_type < kDLCPU || device_type > kDLOpenCL || device_id < 0)
        return CVM_FAIL(ERROR_RUNTIME,
                        "device %d of type %d: the types are 1 (CPU), 2 (GPU), 3 (FORMAL) and 4 "
                        "(OpenCL)",
                        device_id, device_type);
    DLDataType dtype;
    if (make_type(dtype_code, dtype_bits, dtype_lanes, &dtype) != SUCCEED)
        return ERROR_RUNTIME;
    ln_ndarray *array;
    CVM_TRY(ln_ndarray_create(ndim, shape, dtype, &array));
    *out = cvm_handle(array);
    return SUCCEED;
}

int CVMArrayFree(CVMArrayHandle handle)
{
    ln_ndarray_release(array_of(handle));
    return SUCCEED;
}

int CVMArrayCopyFromBytes(CVMArrayHandle handle, void *data, size_t nbytes)
{
    return cvm_code(ln_ndarray_set_bytes(array_of(handle), data, nbytes));
}

int CVMArrayCopyToBytes(CVMArrayHandle handle, void *data, size_t nbytes)
{
    return cvm_code(ln_ndarray_get_bytes(array_of(handle), data, nbytes));
}

int CVMArrayCopyFromTo(CVMArrayHandle from, CVMArrayHandle to, CVMStreamHandle stream)
{
    (void)stream;
    if (check_handle(from, "the source array") != SUCCEED ||
        check_handle(to, "the target array") != SUCCEED)
        return ERROR_RUNTIME;
    size_t byte_count = ln_ndarray_byte_count(array_of(from));
    if (byte_count != ln_ndarray_byte_count(array_of(to)))
        return CVM_FAIL(ERROR_RUNTIME, "%zu bytes cannot be copied to an array of %zu", byte_count,
                        ln_ndarray_byte_count(array_of(to)));
    // Through a copy: both may be in one memory, in any order.
    ln_ndarray *apart;
    CVM_TRY(ln_ndarray_clone(array_of(from), &apart));
    ln_status status = ln_ndarray_set_bytes(array_of(to), ln_ndarray_data(apart), byte_count);
    ln_ndarray_release(apart);
    return cvm_code(status);
}

// ---- Assignment ----

// One axis after the other; *view is replaced by its slice.
static ln_status slice_axis(ln_ndarray **view, int axis, int start, int step, int size)
{
    ln_ndarray *slice;
    LN_TRY(ln_ndarray_slice(*view, axis, start, size, step, &slice));
    ln_ndarray_release(*view);
    *view = slice;
    return LN_OK;
}

// The part of `target` that `indices` (starts, ends, steps, sizes) name. NULL without a failure if
// a size is 0: then nothing is looked at, as in the old library.
static int make_slice(CVMArrayHandle target, const int *indices, ln_ndarray **out_view)
{
    *out_view = NULL;
    if (check_handle(target, "the target array") != SUCCEED)
        return ERROR_RUNTIME;
    int ndim = target->ndim;
    if (!indices && ndim > 0)
        return CVM_FAIL(ERROR_RUNTIME, "the indices are NULL");
    for (int i = 0; i < ndim; i++)
        if (indices[3 * ndim + i] == 0)
            return SUCCEED;
    ln_ndarray *view = ln_ndarray_retain(array_of(target));
    for (int i = 0; i < ndim; i++) {
        if (slice_axis(&view, i, indices[i], indices[2 * ndim + i], indices[3 * ndim + i]) !=
            LN_OK) {
            ln_ndarray_release(view);
            return ERROR_RUNTIME;
        }
    }
    *out_view = view;
    return SUCCEED;
}

int CVMAssignSliceScalar(CVMArrayHandle target, int *indices, double value)
{
    ln_ndarray *view;
    if (make_slice(target, indices, &view) != SUCCEED)
        return ERROR_RUNTIME;
    if (!view)
        return SUCCEED;
    ln_status status = ln_ndarray_fill(view, value);
    ln_ndarray_release(view);
    return cvm_code(status);
}

// The first elements of `source` in the shape of `like`.
static ln_status read_in_order(const ln_ndarray *source, const ln_ndarray *like,
                               ln_ndarray **out_array)
{
    *out_array = NULL;
    int64_t have = (int64_t)ln_ndarray_elem_count(source);
    int64_t want = (int64_t)ln_ndarray_elem_count(like);
    if (have < want)
        return LN_FAIL(LN_INVALID, "a slice of %lld elements cannot be filled from %lld",
                       (long long)want, (long long)have);
    ln_ndarray *compact, *flat = NULL, *first = NULL;
    LN_TRY(ln_ndarray_clone(source, &compact));
    ln_status status = ln_ndarray_reshape(compact, 1, &have, &flat);
    if (status == LN_OK)
        status = ln_ndarray_slice(flat, 0, 0, want, 1, &first);
    if (status == LN_OK)
        status =
            ln_ndarray_reshape(first, ln_ndarray_ndim(like), ln_ndarray_shape(like), out_array);
    ln_ndarray_release(first);
    ln_ndarray_release(flat);
    ln_ndarray_release(compact);
    return status;
}

int CVMAssignSliceND(CVMArrayHandle target, int *indices, CVMArrayHandle source)
{
    if (check_handle(source, "the source array") != SUCCEED)
        return ERROR_RUNTIME;
    ln_ndarray *view, *ordered = NULL;
    if (make_slice(target, indices, &view) != SUCCEED)
        return ERROR_RUNTIME;
    if (!view)
        return SUCCEED;
    ln_status status = read_in_order(array_of(source), view, &ordered);
    if (status == LN_OK)
        status = ln_ndarray_convert(ordered, view);
    ln_ndarray_release(ordered);
    ln_ndarray_release(view);
    return cvm_code(status);
}

int CVMAssignAllScalar(CVMArrayHandle target, double value)
{
    return cvm_code(ln_ndarray_fill(array_of(target), value));
}

int CVMAssignAllND(CVMArrayHandle target, CVMArrayHandle source)
{
    if (check_handle(target, "the target array") != SUCCEED ||
        check_handle(source, "the source array") != SUCCEED)
        return ERROR_RUNTIME;
    if (target->dtype.code != source->dtype.code || target->dtype.bits != source->dtype.bits)
        return CVM_FAIL(ERROR_LOGIC,
                        "element types differ: code %d of %d bits cannot be assigned to code %d of "
                        "%d bits",
                        source->dtype.code, source->dtype.bits, target->dtype.code,
                        target->dtype.bits);
    return CVMArrayCopyFromTo(source, target, NULL);
}
