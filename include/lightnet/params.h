/* SPDX-License-Identifier: Apache-2.0 */
/* Params dictionaries: named arrays in one block of bytes.
 *
 *     ln_params *params;
 *     if (ln_params_load(bytes, byte_count, "model.params", &params) != LN_OK)
 *         return ln_error_status();
 *     ln_ndarray *weight = ln_params_array(params, ln_params_find(params, "conv1.weight"));
 *     ...
 *     ln_params_free(params);
 *
 * This is the form in which integer models keep their parameters. It is little-endian, has no gaps
 * and no index, and keeps the order in which it was written. Bytes are not trusted: each string of
 * them gives a dictionary, or an error with its offset, and memory is taken in proportion to them.
 */

#ifndef LIGHTNET_PARAMS_H
#define LIGHTNET_PARAMS_H

#include <stddef.h>

#include <lightnet/export.h>
#include <lightnet/ndarray.h>
#include <lightnet/status.h>

LN_CPPSTART

typedef struct ln_params ln_params;

/* An array to be written. */
typedef struct ln_named_array {
    const char *name;
    const ln_ndarray *array;
} ln_named_array;

/* Reads a dictionary. Names and arrays are copied, so the bytes are needed for the call only; the
 * arrays are in main memory, whatever device they say. Names may be empty, or appear twice; bytes
 * after the last array are ignored. `source_name` (may be NULL) stands in messages. LN_SYNTAX, or
 * LN_UNSUPPORTED for an unknown element type. The caller frees *out_params. */
LN_API ln_status ln_params_load(const void *bytes, size_t byte_count, const char *source_name,
                                ln_params **out_params);

/* Frees a dictionary; arrays that somebody else holds stay. NULL is fine. */
LN_API void ln_params_free(ln_params *params);

LN_API size_t ln_params_count(const ln_params *params); /* 0 for NULL */

/* Name and array at `index`, in the order of the bytes; NULL when out of range. Borrowed: to keep
 * an array, `ln_ndarray_retain` it. */
LN_API const char *ln_params_name(const ln_params *params, size_t index);
LN_API ln_ndarray *ln_params_array(const ln_params *params, size_t index);

/* The first position of a name; SIZE_MAX when there is none. Records no error. */
LN_API size_t ln_params_find(const ln_params *params, const char *name);

/* Makes the bytes of a dictionary, which the caller gives back with `ln_free`. Arrays may have any
 * strides, and are in main memory. kDLBool is written as the older kind, 1-bit kDLUInt. The same
 * arrays give the same bytes. */
LN_API ln_status ln_params_save(const ln_named_array *arrays, size_t count, char **out_bytes,
                                size_t *out_byte_count);

LN_CPPEND

#endif
