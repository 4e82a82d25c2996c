// SPDX-License-Identifier: Apache-2.0
// The file of weights beside a compiled model.

#ifndef LN_COMPILE_BESIDE_H
#define LN_COMPILE_BESIDE_H

#include <lightnet/context.h>

// The last part of a path.
const char *ln_beside_name(const char *path);

struct ln_given_file;

// Lets `ctx`, which is read from the file `path` and not checked yet, take the tensors that it
// wants from a file from the one that it names: of `files`, else in the same folder, or, where
// `path` is NULL, in the one of `ln_context_set_folder`. The context keeps that mapped.
ln_status ln_beside_attach(ln_context *ctx, const char *path, const struct ln_given_file *files);

#endif
