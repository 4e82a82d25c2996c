// SPDX-License-Identifier: Apache-2.0
// Operators that read or write at positions which a tensor of indices names. The indices themselves
// are checked where they are used.

#ifndef LN_OP_ONNX_INDEX_H
#define LN_OP_ONNX_INDEX_H

#include <lightnet/call.h>

#include "op/onnx/given.h"

LN_CPPSTART

ln_status ln_infer_gather(ln_call *call);
ln_status ln_infer_gather_elements(ln_call *call);
ln_status ln_infer_gather_nd(ln_call *call);
ln_status ln_infer_scatter_elements(ln_call *call);
ln_status ln_infer_scatter_nd(ln_call *call);
ln_status ln_infer_tensor_scatter(ln_call *call);

LN_CPPEND

#endif
