// SPDX-License-Identifier: Apache-2.0
// Arrays as NumPy saves them: .npy.

#ifndef LN_CLI_INPUTS_NPY_H
#define LN_CLI_INPUTS_NPY_H

#include <stddef.h>

#include <lightnet/object.h>
#include <lightnet/tensor.h>

// 1 if the bytes begin as a .npy file does.
int npy_is(const char *bytes, size_t count);

// The array in `bytes` as a tensor object: versions 1 to 3, both byte orders, C and Fortran order;
// numbers, bool, complex, and strings of NumPy's kinds S and U. Elements without a meaning (kind V)
// become unsigned integers of their size. `path` stands in messages.
ln_status npy_parse(const char *path, const char *bytes, size_t count, ln_object **out_object);

// Writes a tensor as .npy: version 1.0, C order, a bool as one byte, strings with a fixed width.
// Types that NumPy lacks become their bit pattern in unsigned integers of the same size.
ln_status npy_write(const char *path, const tl_tensor *tensor);

#endif
