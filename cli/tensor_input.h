// SPDX-License-Identifier: Apache-2.0
// Tensors from and to files that people have: .npy, safetensors, raw bytes.

#ifndef LN_CLI_TENSOR_INPUT_H
#define LN_CLI_TENSOR_INPUT_H

#include <lightnet/context.h>
#include <lightnet/tensor.h>

// Reads a tensor of `len` elements for `entry` out of `path`: .npy, and safetensors or params
// dictionary (the tensor of the entry's name, or the file's only one) by content, anything else as
// raw bytes of exactly the right size. Numbers of another type are converted (saturating), which is
// said. The result has the entry's type; freed with tl_tensor_free_data_too.
ln_status tensor_read(const char *path, const char *name, const tl_tensor *like,
                      tl_tensor **out_tensor);

// 1 if the file begins as a .npy file does. What cannot be opened does not.
int is_npy(const char *path);

// Reads a .npy file as it is. Freed with tl_tensor_free_data_too.
ln_status npy_read(const char *path, tl_tensor **out_tensor);

// Splits "NAME=FILE" and finds the input of the model: by name, by position, or the only one, whose
// name may be left out.
ln_status tensor_input_find(const ln_context *ctx, const char *text, const ln_tensor_entry **out,
                            const char **out_path);

// Writes `tensor` as .npy (version 1.0, C order; bool as one byte).
ln_status npy_write(const char *path, const tl_tensor *tensor);

#endif
