// SPDX-License-Identifier: Apache-2.0
// The params dictionary: named arrays in one block of bytes, the form in which integer models keep
// their parameters. Bytes in, records out, and back; the source shows the layout.
//
// Knows nothing of tensors: an array has a DLPack type of any lanes, and up to PARAMS_NDIM_MAX
// dimensions of 64 bits.

#ifndef LN_TENSOR_PARAMS_FILE_H
#define LN_TENSOR_PARAMS_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <lightnet/dlpack.h>
#include <lightnet/status.h>

#define PARAMS_LIST_MAGIC 0xF7E58D4F05049CB7u // the first 8 bytes, little-endian
#define PARAMS_NDIM_MAX   32

typedef struct ln_params_entry {
    const char *name; // `name_len` bytes, any; not terminated
    size_t name_len;
    const int64_t *shape;
    int32_t ndim;
    DLDataType dtype;
    const void *data;  // compact, row-major, little-endian; of any alignment
    size_t byte_count; // the product of the shape times the bytes of an element
    uint64_t offset;   // of the array's record in the bytes; writing ignores it
} ln_params_entry;

// Finds the arrays of a dictionary. The entries borrow names and data from `bytes`; shapes are in
// the same block as the entries, which the caller gives back with ln_free. Only headers are read,
// so that a mapped file is not read as a whole, and memory is taken only when all of them are
// right, less than twice their size. Names may be empty or appear twice; the
// device of an array is ignored, and so are bytes after the last one.
// Errors begin with `source_name` (NULL: with nothing) and the offset: LN_SYNTAX, and
// LN_UNSUPPORTED for an element type that does not fill whole bytes.
ln_status ln_params_parse(const void *bytes, size_t byte_count, const char *source_name,
                          ln_params_entry **out_entries, size_t *out_count);

// Makes the bytes of a dictionary, which the caller gives back with ln_free; the same entries give
// the same bytes. An entry that contradicts itself is LN_INVALID.
ln_status ln_params_write(const ln_params_entry *entries, size_t count, char **out_bytes,
                          size_t *out_byte_count);

// The same into a stream; nothing is written when an entry is wrong.
ln_status ln_params_write_stream(FILE *fp, const ln_params_entry *entries, size_t count);

#endif
