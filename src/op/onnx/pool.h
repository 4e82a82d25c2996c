// SPDX-License-Identifier: Apache-2.0
// Shapes of the poolings of ONNX.

#ifndef LN_OP_ONNX_POOL_H
#define LN_OP_ONNX_POOL_H

#include <lightnet/call.h>

#include "op/onnx/conv_window.h"

LN_CPPSTART

ln_status ln_infer_pool(ln_call *call);     // AveragePool, LpPool
ln_status ln_infer_max_pool(ln_call *call); // with the indices
ln_status ln_infer_global_pool(ln_call *call);
ln_status ln_infer_max_unpool(ln_call *call);

// The shape of the image from which MaxPool would have made input X of MaxUnpool.
ln_status ln_max_unpool_image(ln_call *call, int64_t *out_dims);

double ln_cost_pool(const ln_call *call);

LN_CPPEND

#endif
