/* SPDX-License-Identifier: Apache-2.0 */
/* Files of named tensors: safetensors and params dictionaries (binary, mapped), and .wts (text).
 *
 *     ln_tensor_file *file;
 *     if (ln_tensor_file_open("weights.safetensors", &file) != LN_OK)
 *         return ln_error_status();
 *     int i = ln_tensor_file_find(file, "conv1.weight");
 *     const tl_tensor *t = i < 0 ? NULL : ln_tensor_file_tensor(file, i);
 *     ...
 *     ln_tensor_file_close(file);
 *
 * The format is found by content, not by name. Files are not trusted: every byte string gives
 * a reader or an error with its place (byte offset or line), and memory use is bounded by the size
 * of the file. Limits, beyond which LN_LIMIT is returned: LN_TENSOR_FILE_HEADER_MAX bytes of
 * safetensors header (the format itself allows 100 MB), LN_TENSOR_FILE_COUNT_MAX tensors,
 * LN_TENSOR_FILE_NAME_MAX bytes of a name, TL_MAXDIM dimensions, INT_MAX elements of a tensor.
 *
 * safetensors: the dtypes F64 F32 F16 BF16 I64 I32 I16 I8 U64 U32 U16 U8 BOOL; others are
 * LN_UNSUPPORTED. Data must fill the file without gap or overlap.
 *
 * Params dictionaries: the same types, of one lane. Devices, and bytes after the end, are ignored.
 *
 * .wts: `count`, then `name type length words...` per array; type 0 is float, 2 is int8, words are
 * hexadecimal. Arrays are read into memory and have one dimension.
 *
 * F16 and BF16 become TL_FLOAT, exactly; BOOL has 1 byte in the file and 4 in memory. Tensors of
 * binary formats point into the file's bytes where they can. What is not aligned there, or has
 * another size in memory, is copied when it is asked for, so that opening a file reads its headers
 * only. docs/formats.md has the bytes.
 *
 * An open file may be read by many threads.
 */

#ifndef LIGHTNET_TENSOR_FILE_H
#define LIGHTNET_TENSOR_FILE_H

#include <stddef.h>
#include <stdio.h>

#include <lightnet/export.h>
#include <lightnet/status.h>
#include <lightnet/tensor.h>

LN_CPPSTART

#define LN_TENSOR_FILE_HEADER_MAX (16u << 20)
#define LN_TENSOR_FILE_COUNT_MAX  (1 << 20)
#define LN_TENSOR_FILE_NAME_MAX   4096

typedef enum ln_tensor_file_format {
    LN_TENSOR_FILE_SAFETENSORS,
    LN_TENSOR_FILE_WTS,
    LN_TENSOR_FILE_PARAMS
} ln_tensor_file_format;

typedef struct ln_tensor_file ln_tensor_file;

/* A tensor to be written. */
typedef struct ln_named_tensor {
    const char *name;
    const tl_tensor *tensor;
} ln_named_tensor;

/* The format that the end of `path` names: .safetensors, .wts or .params. LN_UNSUPPORTED, with what
 * there is, for any other. */
LN_API ln_status ln_tensor_file_format_of(const char *path, ln_tensor_file_format *out_format);

/* ---- Reading ---- */

/* Opens a regular file and maps it read-only. The file must not be changed or truncated while it is
 * open; replacing it by another (as `ln_tensor_file_save` does) is fine.
 * *out_file is NULL on failure; else the caller closes it. */
LN_API ln_status ln_tensor_file_open(const char *path, ln_tensor_file **out_file);

/* The same over bytes in memory, which must stay as they are until the file is closed. */
LN_API ln_status ln_tensor_file_open_mem(const void *data, size_t byte_count,
                                         ln_tensor_file **out_file);

/* Ends the life of all tensors of the file; NULL is fine. */
LN_API void ln_tensor_file_close(ln_tensor_file *file);

LN_API ln_tensor_file_format ln_tensor_file_get_format(const ln_tensor_file *file);

/* The number of tensors; 0 for NULL. */
LN_API int ln_tensor_file_count(const ln_tensor_file *file);

/* The name at position 0 <= `index` < count, in the order of the file; NULL when out of range.
 * Borrowed until the file is closed. */
LN_API const char *ln_tensor_file_name(const ln_tensor_file *file, int index);

/* Type and shape of the tensor at `index`; its data may be NULL. NULL when out of range. Borrowed
 * until the file is closed. */
LN_API const tl_tensor *ln_tensor_file_describe(const ln_tensor_file *file, int index);

/* The same with data, which must not be written. The first call for a tensor that is not in
 * the file as it does in memory makes a copy, which lives until the file is closed; NULL and
 * LN_NO_MEMORY if it cannot, NULL alone when out of range. */
LN_API const tl_tensor *ln_tensor_file_tensor(const ln_tensor_file *file, int index);

/* Copies the elements of the tensor at `index` to `data`, which has room for them and is aligned
 * for their type. Keeps nothing: for data that goes elsewhere at once. LN_INVALID when out of
 * range. */
LN_API ln_status ln_tensor_file_read(const ln_tensor_file *file, int index, void *data);

/* The same for `count` elements from the element at `first` on: for data too large to be taken as a
 * whole. LN_INVALID when they are not all in the tensor. */
LN_API ln_status ln_tensor_file_read_part(const ln_tensor_file *file, int index, size_t first,
                                          size_t count, void *data);

/* Whether the tensor's bytes in the file are elements of `dtype`: of the dtype that it is described
 * with, or of another that the format has no name for. A model says which: 16-bit floats of a file
 * are TL_FLOAT to whoever does not know better, and TL_FLOAT16 to a model that computes with these;
 * types of 8 bits and fewer may be in it as bytes. 0 when out of range. */
LN_API int ln_tensor_file_holds(const ln_tensor_file *file, int index, tl_dtype dtype);

/* As `ln_tensor_file_read`, but with the elements of `dtype` that the file holds; else LN_INVALID.
 */
LN_API ln_status ln_tensor_file_read_as(const ln_tensor_file *file, int index, tl_dtype dtype,
                                        void *data);

/* The position of a name; -1 when there is none. Records no error: asking is fine. */
LN_API int ln_tensor_file_find(const ln_tensor_file *file, const char *name);

/* ---- Writing ---- */

/* Writes `count` tensors with different names, in this order; the same input gives the same bytes.
 * safetensors: the data start at a multiple of 64 bytes. .wts: TL_FLOAT and TL_INT8 only, else
 * LN_UNSUPPORTED; names must not be empty or contain white space; shapes are lost. The others hold
 * all types. Nothing is written when an argument is wrong. */
LN_API ln_status ln_tensor_file_write(FILE *fp, ln_tensor_file_format format,
                                      const ln_named_tensor *tensors, size_t count);

/* The same into a file, which appears or is replaced only when complete. */
LN_API ln_status ln_tensor_file_save(const char *path, ln_tensor_file_format format,
                                     const ln_named_tensor *tensors, size_t count);

LN_CPPEND

#endif
