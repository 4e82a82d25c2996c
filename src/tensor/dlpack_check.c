// SPDX-License-Identifier: Apache-2.0
// What must hold for a DLTensor that somebody else made, before any of it is used.

#include "tensor/ndarray.h"

#include <stdio.h>

#include "base/checked.h"

// ---- Devices ----

// What an address means on a device.
typedef enum reach {
    UNKNOWN = 0,
    REMOTE, // not for the CPU
    MAIN,   // the CPU reaches it
} reach;

static const reach reaches[] = {
    [kDLCPU] = MAIN,      [kDLCUDA] = REMOTE,    [kDLCUDAHost] = MAIN,    [kDLOpenCL] = REMOTE,
    [kDLVulkan] = REMOTE, [kDLMetal] = REMOTE,   [kDLVPI] = REMOTE,       [kDLROCM] = REMOTE,
    [kDLROCMHost] = MAIN, [kDLExtDev] = REMOTE,  [kDLCUDAManaged] = MAIN, [kDLOneAPI] = REMOTE,
    [kDLWebGPU] = REMOTE, [kDLHexagon] = REMOTE, [kDLMAIA] = REMOTE,      [kDLTrn] = REMOTE,
};

static reach reach_of(DLDevice device)
{
    size_t type = (size_t)device.device_type;
    return type < sizeof reaches / sizeof *reaches ? reaches[type] : UNKNOWN;
}

bool ln_dl_is_main_memory(DLDevice device)
{
    return reach_of(device) == MAIN;
}

static ln_status check_device(DLDevice device)
{
    if (reach_of(device) == UNKNOWN)
        return LN_FAIL(LN_UNSUPPORTED, "device type %d is not known", (int)device.device_type);
    if (device.device_id < 0)
        return LN_FAIL(LN_INVALID, "device number %d is negative", (int)device.device_id);
    return LN_OK;
}

// ---- Element types ----

char *ln_dl_dtype_text(char text[LN_DL_TEXT_BYTES], DLDataType dtype)
{
    static const char *const names[] = {"int",    "uint",    "float", "handle",
                                        "bfloat", "complex", "bool"};
    size_t len;
    if (dtype.code < sizeof names / sizeof *names)
        len = (size_t)snprintf(text, LN_DL_TEXT_BYTES, "%s%d", names[dtype.code], dtype.bits);
    else
        len =
            (size_t)snprintf(text, LN_DL_TEXT_BYTES, "type %d of %d bits", dtype.code, dtype.bits);
    if (dtype.lanes != 1)
        snprintf(text + len, LN_DL_TEXT_BYTES - len, "x%d", dtype.lanes);
    return text;
}

static bool has_whole_bytes(DLDataType dtype, bool is_padded)
{
    switch (dtype.bits) {
    case 8:
    case 16:
    case 32:
    case 64:
    case 128: return dtype.code != kDLBool || dtype.bits == 8;
    default:
        // Several in one byte have no address each.
        return dtype.lanes == 1 && ((dtype.code == kDLUInt && dtype.bits == 1) ||
                                    (is_padded && dtype.bits > 0 && dtype.bits < 8));
    }
}

ln_status ln_dl_check_dtype(DLDataType dtype, bool is_padded)
{
    char text[LN_DL_TEXT_BYTES];
    if (dtype.code > kDLFloat4_e2m1fn)
        return LN_FAIL(LN_UNSUPPORTED, "element type %d is not known", dtype.code);
    if (dtype.lanes == 0)
        return LN_FAIL(LN_INVALID, "element type %s has no lanes", ln_dl_dtype_text(text, dtype));
    if (!has_whole_bytes(dtype, is_padded))
        return LN_FAIL(LN_UNSUPPORTED,
                       "element type %s: numbers have 8, 16, 32, 64 or 128 bits, a bool 8, or 1 as "
                       "uint",
                       ln_dl_dtype_text(text, dtype));
    return LN_OK;
}

// ---- Shapes and addresses ----

ln_status ln_dl_check_shape(const DLTensor *tensor, size_t *out_elem_count)
{
    *out_elem_count = 0;
    if (tensor->ndim < 0 || tensor->ndim > LN_NDARRAY_MAX_NDIM)
        return LN_FAIL(LN_INVALID, "an array has 0 to %d dimensions, not %d", LN_NDARRAY_MAX_NDIM,
                       (int)tensor->ndim);
    if (tensor->ndim > 0 && !tensor->shape)
        return LN_FAIL(LN_INVALID, "%d dimensions without a shape", (int)tensor->ndim);
    bool is_empty = false;
    for (int i = 0; i < tensor->ndim; i++) {
        if (tensor->shape[i] < 0)
            return LN_FAIL(LN_INVALID, "dimension %d is negative: %lld", i,
                           (long long)tensor->shape[i]);
        is_empty = is_empty || tensor->shape[i] == 0;
    }
    if (is_empty)
        return LN_OK;
    size_t count = 1, byte_count;
    bool fits = true;
    for (int i = 0; i < tensor->ndim && fits; i++)
        fits = ln_size_mul(count, (size_t)tensor->shape[i], &count);
    if (!fits || !ln_size_mul(count, ln_dl_elem_bytes(tensor->dtype), &byte_count) ||
        byte_count > PTRDIFF_MAX) {
        char text[LN_ND_SHAPE_TEXT_BYTES];
        return LN_FAIL(LN_LIMIT, "shape %s has more bytes than memory has addresses",
                       ln_nd_shape_text(text, tensor->ndim, tensor->shape));
    }
    *out_elem_count = count;
    return LN_OK;
}

// The bytes from the first element down to the lowest and up past the highest one.
static bool reach_of_strides(const DLTensor *tensor, int64_t *out_below, int64_t *out_above)
{
    int64_t elem_bytes = (int64_t)ln_dl_elem_bytes(tensor->dtype);
    *out_below = 0;
    *out_above = elem_bytes;
    for (int i = 0; i < tensor->ndim; i++) {
        int64_t last;
        if (__builtin_mul_overflow(tensor->shape[i] - 1, tensor->strides[i], &last) ||
            __builtin_mul_overflow(last, elem_bytes, &last))
            return false;
        int64_t *end = last < 0 ? out_below : out_above;
        if (__builtin_add_overflow(*end, last, end))
            return false;
    }
    return true;
}

// Only for arrays with elements: others have no address to be checked.
static ln_status check_addresses(const DLTensor *tensor, size_t elem_count)
{
    if (!tensor->data)
        return LN_FAIL(LN_INVALID, "%zu elements without data", elem_count);
    int64_t below = 0, above = (int64_t)(elem_count * ln_dl_elem_bytes(tensor->dtype));
    if (tensor->strides && !reach_of_strides(tensor, &below, &above))
        return LN_FAIL(LN_INVALID, "the strides lead beyond all addresses");
    if (!ln_dl_is_main_memory(tensor->device))
        return LN_OK; // `data` may be a handle
    uintptr_t first, end;
    if (__builtin_add_overflow((uintptr_t)tensor->data, tensor->byte_offset, &first) ||
        __builtin_add_overflow(first, (uintptr_t)above, &end) || first < 0 - (uintptr_t)below)
        return LN_FAIL(LN_INVALID, "byte offset %llu and strides lead beyond all addresses",
                       (unsigned long long)tensor->byte_offset);
    return LN_OK;
}

ln_status ln_dl_check(const DLTensor *tensor, bool is_padded, size_t *out_elem_count)
{
    *out_elem_count = 0;
    LN_TRY(check_device(tensor->device));
    LN_TRY(ln_dl_check_dtype(tensor->dtype, is_padded));
    LN_TRY(ln_dl_check_shape(tensor, out_elem_count));
    return *out_elem_count > 0 ? check_addresses(tensor, *out_elem_count) : LN_OK;
}
