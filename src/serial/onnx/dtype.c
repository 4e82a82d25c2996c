// SPDX-License-Identifier: Apache-2.0
// The element types of ONNX, in the order of their numbers.

#include "serial/onnx/dtype.h"

static const ln_onnx_dtype dtypes[] = {
    [1] = {"FLOAT", TL_FLOAT, LN_STORE_FLOAT, 32, 0},
    [2] = {"UINT8", TL_UINT8, LN_STORE_INT32, 8, 0},
    [3] = {"INT8", TL_INT8, LN_STORE_INT32, 8, 1},
    [4] = {"UINT16", TL_UINT16, LN_STORE_INT32, 16, 0},
    [5] = {"INT16", TL_INT16, LN_STORE_INT32, 16, 1},
    [6] = {"INT32", TL_INT32, LN_STORE_INT32, 32, 1},
    [7] = {"INT64", TL_INT64, LN_STORE_INT64, 64, 1},
    [8] = {"STRING", TL_STRING, LN_STORE_STRING, 0, 0},
    [9] = {"BOOL", TL_BOOL, LN_STORE_INT32, 8, 0},
    [10] = {"FLOAT16", TL_FLOAT16, LN_STORE_INT32, 16, 0},
    [11] = {"DOUBLE", TL_DOUBLE, LN_STORE_DOUBLE, 64, 0},
    [12] = {"UINT32", TL_UINT32, LN_STORE_UINT64, 32, 0},
    [13] = {"UINT64", TL_UINT64, LN_STORE_UINT64, 64, 0},
    [14] = {"COMPLEX64", TL_COMPLEX64, LN_STORE_FLOAT, 64, 0},
    [15] = {"COMPLEX128", TL_COMPLEX128, LN_STORE_DOUBLE, 128, 0},
    [16] = {"BFLOAT16", TL_BFLOAT16, LN_STORE_INT32, 16, 0},
    [17] = {"FLOAT8E4M3FN", TL_FLOAT8E4M3FN, LN_STORE_INT32, 8, 0},
    [18] = {"FLOAT8E4M3FNUZ", TL_FLOAT8E4M3FNUZ, LN_STORE_INT32, 8, 0},
    [19] = {"FLOAT8E5M2", TL_FLOAT8E5M2, LN_STORE_INT32, 8, 0},
    [20] = {"FLOAT8E5M2FNUZ", TL_FLOAT8E5M2FNUZ, LN_STORE_INT32, 8, 0},
    [21] = {"UINT4", TL_UINT4, LN_STORE_INT32, 4, 0},
    [22] = {"INT4", TL_INT4, LN_STORE_INT32, 4, 1},
    [23] = {"FLOAT4E2M1", TL_FLOAT4E2M1, LN_STORE_INT32, 4, 0},
    [24] = {"FLOAT8E8M0", TL_FLOAT8E8M0, LN_STORE_INT32, 8, 0},
    [25] = {"UINT2", TL_UINT2, LN_STORE_INT32, 2, 0},
    [26] = {"INT2", TL_INT2, LN_STORE_INT32, 2, 1},
};

#define DTYPE_COUNT (sizeof dtypes / sizeof dtypes[0])

const ln_onnx_dtype *ln_onnx_dtype_of(uint64_t number)
{
    return number < DTYPE_COUNT && dtypes[number].name ? &dtypes[number] : NULL;
}
