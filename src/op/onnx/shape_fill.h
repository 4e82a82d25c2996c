// SPDX-License-Identifier: Apache-2.0
// Operators that make a tensor from a few numbers.

#ifndef LN_OP_ONNX_SHAPE_FILL_H
#define LN_OP_ONNX_SHAPE_FILL_H

#include <stdbool.h>

#include <lightnet/call.h>

#include "op/onnx/given.h"

LN_CPPSTART

ln_status ln_infer_range(ln_call *call);
ln_status ln_infer_constant_of_shape(ln_call *call);
ln_status ln_infer_eye_like(ln_call *call);
ln_status ln_infer_one_hot(ln_call *call);

// The axis of the output of OneHot that is new, and its length.
ln_status ln_one_hot_find(ln_call *call, int *out_axis, int64_t *out_depth, bool *out_is_known);

LN_CPPEND

#endif
