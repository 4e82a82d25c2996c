// SPDX-License-Identifier: Apache-2.0
// Numbers that a model gives as an input, or in its older forms as an attribute.

#ifndef LN_OP_ONNX_GIVEN_H
#define LN_OP_ONNX_GIVEN_H

#include <stdbool.h>
#include <stdint.h>

#include <lightnet/call.h>

LN_CPPSTART

// What `*out_count` says when there is no list of numbers.
enum { LN_GIVEN_ABSENT = -2, LN_GIVEN_UNKNOWN = -1 };

// At most `capacity` integers: of input `index` (-1: none), else of array parameter `param` (NULL:
// none).
ln_status ln_given_ints(ln_call *call, int index, const char *param, int capacity,
                        int64_t *out_values, int *out_count);

// The same for an input that is a scalar or has one element; *out_value is left alone if it is
// absent or not known. *out_count is 1, LN_GIVEN_ABSENT or LN_GIVEN_UNKNOWN.
ln_status ln_given_int(ln_call *call, int index, int64_t *out_value, int *out_count);
ln_status ln_given_real(ln_call *call, int index, double *out_value, int *out_count);

// A view of input `index` with its elements, also while the model is planned; false if they are not
// known. An empty tensor is known without data.
bool ln_given_tensor(const ln_call *call, int index, tl_tensor *out_view);

// `count` axes of rank `ndim`, -ndim to ndim - 1, as 0 to ndim - 1; each at most once.
ln_status ln_given_axes(ln_call *call, int ndim, const int64_t *axes, int count, int *out_axes);

// Array parameter `axes`; without it, all `ndim` axes in order. `out_axes` has TL_MAXDIM elements.
ln_status ln_given_axes_param(ln_call *call, int ndim, int *out_axes, int *out_count);

// Refuses two tensors of different dtypes.
ln_status ln_given_same_dtype(ln_call *call, const tl_tensor *a, const tl_tensor *b);

LN_CPPEND

#endif
