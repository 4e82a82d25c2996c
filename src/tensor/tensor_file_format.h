// SPDX-License-Identifier: Apache-2.0
// Between the container of named tensors and the readers and writers of its formats.

#ifndef LN_TENSOR_TENSOR_FILE_FORMAT_H
#define LN_TENSOR_TENSOR_FILE_FORMAT_H

#include <lightnet/tensor_file.h>

#include "tensor/packing.h"

// Each adds all tensors of `data` to the empty `file`, which the caller frees whatever happens.
ln_status ln_safetensors_parse(ln_tensor_file *file, const char *data, size_t byte_count);
ln_status ln_wts_parse(ln_tensor_file *file, const char *data, size_t byte_count);
ln_status ln_params_tensors_parse(ln_tensor_file *file, const char *data, size_t byte_count);

// Each writes tensors whose names and shapes have been checked.
ln_status ln_safetensors_write(FILE *fp, const ln_named_tensor *tensors, size_t count);
ln_status ln_wts_write(FILE *fp, const ln_named_tensor *tensors, size_t count);
ln_status ln_params_tensors_write(FILE *fp, const ln_named_tensor *tensors, size_t count);

// Appends a tensor with zeros of its own, and returns it in *out_tensor. LN_LIMIT when there are
// too many, here and below.
ln_status ln_tensor_file_add(ln_tensor_file *file, const char *name, size_t name_len,
                             tl_dtype dtype, int ndim, const int *dims, tl_tensor **out_tensor);

// Appends a tensor whose elements are at `packed`, which the file keeps.
ln_status ln_tensor_file_add_packed(ln_tensor_file *file, const char *name, size_t name_len,
                                    tl_dtype dtype, int ndim, const int *dims, const void *packed,
                                    ln_packing packing);

// `data` as one of the formats, for fuzzing.
ln_status ln_tensor_file_open_as(ln_tensor_file_format format, const void *data, size_t byte_count,
                                 ln_tensor_file **out_file);

#endif
