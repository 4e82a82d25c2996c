// SPDX-License-Identifier: Apache-2.0
// The element types of ONNX and ours.

#ifndef LN_SERIAL_ONNX_DTYPE_H
#define LN_SERIAL_ONNX_DTYPE_H

#include <lightnet/dtype.h>

// Where the elements of a tensor are when they are not raw bytes.
typedef enum ln_onnx_store {
    LN_STORE_FLOAT,
    LN_STORE_INT32,
    LN_STORE_INT64,
    LN_STORE_DOUBLE,
    LN_STORE_UINT64,
    LN_STORE_STRING
} ln_onnx_store;

typedef struct ln_onnx_dtype {
    const char *name; // as in ONNX: "FLOAT16"
    tl_dtype dtype;
    ln_onnx_store store;
    uint8_t bits;      // of an element in raw bytes; 0: it has no raw form
    uint8_t is_signed; // of the types with less than 8 bits
} ln_onnx_dtype;

// Of the number that ONNX gives a type; NULL for others, 0 among them.
const ln_onnx_dtype *ln_onnx_dtype_of(uint64_t number);

#endif
