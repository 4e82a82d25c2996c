// SPDX-License-Identifier: Apache-2.0
// Tensors out of files that people have, and which input of a model is meant.

#ifndef LN_CLI_TENSOR_INPUT_H
#define LN_CLI_TENSOR_INPUT_H

#include <lightnet/context.h>
#include <lightnet/tensor.h>

// Reads a tensor of `like`'s type and shape out of `path`, as `input_read` does. Freed with
// tl_tensor_free_data_too.
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

// The input of the longest name that "NAME=FILE" begins with, of more than `longer_than` bytes;
// NULL if there is none. Names hold '=' at times.
const ln_tensor_entry *tensor_input_named(const ln_context *ctx, const char *text,
                                          size_t longer_than);

#endif
