// SPDX-License-Identifier: Apache-2.0
// What each element type is called in ONNX, and what stands for it in .npy.

#ifndef LN_CLI_INPUTS_NPY_TYPES_H
#define LN_CLI_INPUTS_NPY_TYPES_H

#include <lightnet/dtype.h>

typedef struct npy_type {
    tl_dtype dtype;
    const char *onnx_name;
    const char *descr; // of what is written; "U" stands for strings of any width
    int is_pattern;    // what is written is the bits of an element, not its value
} npy_type;

// NULL for what is no type of elements in a file.
const npy_type *npy_type_of(tl_dtype dtype);

// The type whose value is written as `kind` ('f', 'i', 'u', 'b', 'c') with `size` bytes; NULL:
// none.
const npy_type *npy_type_named(char kind, size_t size);

// The name that ONNX gives to a type, such as "FLOAT"; "UNDEFINED" for others.
const char *onnx_dtype_name(tl_dtype dtype);

#endif
