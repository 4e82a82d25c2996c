// SPDX-License-Identifier: Apache-2.0
// The table of element types in ONNX and in .npy.

#include "npy_types.h"

#include <stdlib.h>

static const npy_type types[] = {
    {TL_DOUBLE, "DOUBLE", "<f8", 0},
    {TL_FLOAT, "FLOAT", "<f4", 0},
    {TL_FLOAT16, "FLOAT16", "<f2", 0},
    {TL_BFLOAT16, "BFLOAT16", "<u2", 1},
    {TL_INT64, "INT64", "<i8", 0},
    {TL_INT32, "INT32", "<i4", 0},
    {TL_INT16, "INT16", "<i2", 0},
    {TL_INT8, "INT8", "|i1", 0},
    {TL_UINT64, "UINT64", "<u8", 0},
    {TL_UINT32, "UINT32", "<u4", 0},
    {TL_UINT16, "UINT16", "<u2", 0},
    {TL_UINT8, "UINT8", "|u1", 0},
    {TL_BOOL, "BOOL", "|b1", 0},
    {TL_COMPLEX64, "COMPLEX64", "<c8", 0},
    {TL_COMPLEX128, "COMPLEX128", "<c16", 0},
    {TL_STRING, "STRING", "U", 0},
    {TL_FLOAT8E4M3FN, "FLOAT8E4M3FN", "|u1", 1},
    {TL_FLOAT8E4M3FNUZ, "FLOAT8E4M3FNUZ", "|u1", 1},
    {TL_FLOAT8E5M2, "FLOAT8E5M2", "|u1", 1},
    {TL_FLOAT8E5M2FNUZ, "FLOAT8E5M2FNUZ", "|u1", 1},
    {TL_FLOAT8E8M0, "FLOAT8E8M0", "|u1", 1},
    {TL_FLOAT4E2M1, "FLOAT4E2M1", "|u1", 1},
    {TL_INT4, "INT4", "|i1", 1},
    {TL_UINT4, "UINT4", "|u1", 1},
    {TL_INT2, "INT2", "|i1", 1},
    {TL_UINT2, "UINT2", "|u1", 1},
};

#define TYPE_COUNT (sizeof types / sizeof types[0])

const npy_type *npy_type_of(tl_dtype dtype)
{
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (types[i].dtype == dtype)
            return &types[i];
    }
    return NULL;
}

const npy_type *npy_type_named(char kind, size_t size)
{
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        const npy_type *type = &types[i];
        if (!type->is_pattern && type->descr[1] == kind &&
            strtoul(type->descr + 2, NULL, 10) == size)
            return type;
    }
    return NULL;
}

const char *onnx_dtype_name(tl_dtype dtype)
{
    const npy_type *type = npy_type_of(dtype);
    return type ? type->onnx_name : "UNDEFINED";
}
