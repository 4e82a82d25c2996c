// SPDX-License-Identifier: Apache-2.0
// What every tensor routine checks before it works, and how it gets its result tensor.
//
// A failed check records LN_INVALID with the values and the name of the argument.

#ifndef LN_TENSOR_TENSOR_CHECK_H
#define LN_TENSOR_TENSOR_CHECK_H

#include <stdbool.h>

#include <lightnet/tensor.h>

// `t` is a consistent tensor; with data, unless it is empty.
bool tensor_is_usable(const tl_tensor *t, const char *arg_name);

// The same, but data may be missing.
bool tensor_is_shaped(const tl_tensor *t, const char *arg_name);

// C can compute with the elements of `t`, which is consistent. Fails with LN_UNSUPPORTED.
bool tensor_is_native(const tl_tensor *t, const char *arg_name);

// Records why there is no arithmetic for `dtype`, and returns the status.
ln_status tensor_fail_arithmetic(tl_dtype dtype);

// `axis` is one of the dimensions of `t`.
bool tensor_has_axis(const tl_tensor *t, int axis);

// The data of `a` and `b` share no byte.
bool tensors_are_apart(const tl_tensor *a, const tl_tensor *b);

// The same start and the same size, or no byte shared: safe for one element after the other.
bool tensors_are_one_or_apart(const tl_tensor *a, const tl_tensor *b);

// `dst` when it is usable and has this dtype and shape; a new tensor of zeros when it is NULL;
// NULL on failure. The last thing a routine does before it works.
tl_tensor *tensor_result(tl_tensor *dst, int ndim, const int *dims, tl_dtype dtype);

// For views: the tensor is only read, but what is made from it shares its data with the caller's
// permission, so that the pointer must lose its const.
tl_tensor *tensor_unconst(const tl_tensor *t);

// The dimensions are in the block of the tensor, which was made here, and are freed with it.
bool tensor_has_inline_dims(const tl_tensor *t);

#endif
