// SPDX-License-Identifier: Apache-2.0
// The head of a .npy file: a dictionary in the notation of Python.

#ifndef LN_CLI_INPUTS_NPY_HEADER_H
#define LN_CLI_INPUTS_NPY_HEADER_H

#include <stddef.h>

#include <lightnet/status.h>
#include <lightnet/tensor.h>

#define NPY_MAGIC      "\x93NUMPY"
#define NPY_MAGIC_SIZE 6

typedef struct npy_header {
    char kind;        // of an element: f, i, u, b, c, S, U or V
    size_t elem_size; // bytes in the file
    int is_big_endian;
    int is_fortran_order; // the first coordinate runs fastest
    int ndim;
    int dims[TL_MAXDIM];
    int len; // elements
    size_t data_start;
} npy_header;

// The header of the file in `bytes`, which begin with NPY_MAGIC. `path` stands in messages.
ln_status npy_header_parse(const char *path, const char *bytes, size_t count, npy_header *out);

#endif
