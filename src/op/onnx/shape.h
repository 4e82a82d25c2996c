// SPDX-License-Identifier: Apache-2.0
// Operators that change a shape and keep the elements in order, or tell about a shape.

#ifndef LN_OP_ONNX_SHAPE_H
#define LN_OP_ONNX_SHAPE_H

#include <lightnet/call.h>

#include "op/onnx/given.h"

LN_CPPSTART

// The axes [*out_start, *out_end) that Shape tells about; the end is not before the start.
void ln_shape_range(const ln_call *call, int ndim, int *out_start, int *out_end);

LN_CPPEND

#endif
