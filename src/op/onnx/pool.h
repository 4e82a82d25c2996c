// SPDX-License-Identifier: Apache-2.0
// Shapes of the poolings of ONNX.

#ifndef LN_OP_ONNX_POOL_H
#define LN_OP_ONNX_POOL_H

#include <lightnet/call.h>

#include "op/onnx/conv_window.h"

LN_CPPSTART

// The shape of the image from which MaxPool would have made input X of MaxUnpool.
ln_status ln_max_unpool_image(ln_call *call, int64_t *out_dims);

LN_CPPEND

#endif
