// SPDX-License-Identifier: Apache-2.0
// What a compiled file says about memory, kept from reading until the operators are checked.
//
// The operators' own checks derive shapes and types again; the file's facts are then compared with
// them, so that a compiled file cannot claim a tensor smaller than its operators use.

#ifndef LN_IR_COMPILED_H
#define LN_IR_COMPILED_H

#include <stddef.h>

#include <lightnet/mem.h>
#include <lightnet/tensor.h>

// One output tensor, as the file describes it.
typedef struct ln_compiled_tensor {
    char *name;
    char *place; // "file:line:column"
    tl_dtype dtype;
    int ndim;
    int dims[LN_MAXDIM];
    ln_mem_type mtype;
    int is_static;
    int is_load;
    size_t offset;
    char *owner; // NULL: none is stated
} ln_compiled_tensor;

typedef struct ln_compiled {
    char *target;
    size_t static_sizes[LN_MEM_TYPE_SIZE];
    size_t mem_sizes[LN_MEM_TYPE_SIZE];
    size_t load_sizes[LN_MEM_TYPE_SIZE];
    ln_compiled_tensor *tensors;
    size_t tensor_count;
    size_t tensor_capacity;
    int is_old; // the old system's format: lowered and planned again
} ln_compiled;

void ln_compiled_destroy(ln_compiled *compiled); // accepts NULL and half-built ones

#endif
