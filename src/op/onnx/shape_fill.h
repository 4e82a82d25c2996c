// SPDX-License-Identifier: Apache-2.0
// Operators that make a tensor from a few numbers.

#ifndef LN_OP_ONNX_SHAPE_FILL_H
#define LN_OP_ONNX_SHAPE_FILL_H

#include <stdbool.h>

#include <lightnet/call.h>

#include "op/onnx/given.h"

LN_CPPSTART

// The axis of the output of OneHot that is new, and its length.
ln_status ln_one_hot_find(ln_call *call, int *out_axis, int64_t *out_depth, bool *out_is_known);

LN_CPPEND

#endif
