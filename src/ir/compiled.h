// SPDX-License-Identifier: Apache-2.0
// What a compiled file says about memory, kept from reading until the operators are checked.
//
// The operators' own checks derive shapes and types again; the file's facts are then compared with
// them, so that a compiled file cannot claim a tensor smaller than its operators use.
//
// A file of a model with dynamic inputs has no plan, since each shape has its own: it has the
// operators as they were read, and how they are compiled.

#ifndef LN_IR_COMPILED_H
#define LN_IR_COMPILED_H

#include <stdbool.h>
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

// Options of compiling that hold for any shape and need nothing but the file, named as in
// ln_optimize_options.
#define LN_FILE_OPTIONS(X)                                                                         \
    X(keeps_tensors)                                                                               \
    X(freezes_constants)                                                                           \
    X(tunes)                                                                                       \
    X(avoids_winograd)                                                                             \
    X(keeps_halves)                                                                                \
    X(stays_as_read)                                                                               \
    X(fails_over)

typedef struct ln_file_options {
#define OPTION(name) int name;
    LN_FILE_OPTIONS(OPTION)
#undef OPTION
} ln_file_options;

// An input that is bound to a shape.
typedef struct ln_compiled_shape {
    char *name;
    int ndim;
    int dims[LN_MAXDIM];
} ln_compiled_shape;

typedef struct ln_compiled_range {
    char *symbol;
    int from, to;
} ln_compiled_range;

#define LN_COMPILED_MAX_RANGES 4

typedef struct ln_compiled {
    char *target;
    size_t static_sizes[LN_MEM_TYPE_SIZE];
    size_t mem_sizes[LN_MEM_TYPE_SIZE];
    size_t load_sizes[LN_MEM_TYPE_SIZE];
    ln_compiled_tensor *tensors;
    size_t tensor_count;
    size_t tensor_capacity;
    int is_old; // the old system's format: lowered and planned again
    bool is_dynamic;
    // Of a dynamic one. What is bound is bound before ranges are stated.
    ln_file_options options;
    ln_compiled_shape *shapes;
    size_t shape_count;
    ln_compiled_range ranges[LN_COMPILED_MAX_RANGES];
    size_t range_count;
} ln_compiled;

void ln_compiled_destroy(ln_compiled *compiled); // accepts NULL and half-built ones

#endif
