// SPDX-License-Identifier: Apache-2.0
// Files of tensors from one format into another.

#ifndef LN_CLI_CONVERT_WEIGHTS_H
#define LN_CLI_CONVERT_WEIGHTS_H

#include <lightnet/tensor_file.h>

// Writes the tensors of `file`, whose format is found by content, to `outfile`. An exit code, the
// failure said; so is a loss of shapes.
int convert_weights(const char *file, const char *outfile, ln_tensor_file_format format);

// 1 if `file` is a file of tensors.
int is_weights(const char *file);

#endif
