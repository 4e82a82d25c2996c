// SPDX-License-Identifier: Apache-2.0
// Archives of arrays as numpy.savez writes them: .npz.

#ifndef LN_CLI_INPUTS_NPZ_H
#define LN_CLI_INPUTS_NPZ_H

#include <stddef.h>

#include "input_file.h"

// 1 if the bytes begin as an archive does.
int npz_is(const char *bytes, size_t count);

// The array of the input's name, or the only one; all of them for an input that takes a sequence.
ln_status npz_parse(const char *path, const char *bytes, size_t count, const input_wish *wish,
                    ln_object **out_object);

// 1 if the file `path` begins as an archive does. What cannot be opened does not.
int npz_is_file(const char *path);

// Whether the archive in the file `path` has an array of that name. 0 also if it is no archive.
int npz_has(const char *path, const char *name);

#endif
