// SPDX-License-Identifier: Apache-2.0
// What `create` and `input` put into a tensor that no file gives.

#ifndef LN_OP_FIRST_VALUES_H
#define LN_OP_FIRST_VALUES_H

#include <lightnet/tensor.h>

// With `ran` other than (0, 0) random numbers, else `data` converted to the dtype and zeros after
// it. Elements of `data` past the end of the tensor are left out. `dst` has memory of its size.
//
// Random numbers are spread evenly over [ran[0], ran[1]], for integers and bools over the whole
// numbers in it. They follow from `name`, the tensor's, alone, so that a model gets the same ones
// everywhere, and other tensors others; element i is
//     mix(hash(name) + (i + 1) * 0x9e3779b97f4a7c15)
// with the 64-bit FNV-1a hash and the mixing of splitmix64.
//
// LN_UNSUPPORTED for numbers other than zero in a type that is not numeric.
ln_status ln_first_values(tl_tensor *dst, const char *name, const double ran[2], const double *data,
                          int data_len);

#endif
