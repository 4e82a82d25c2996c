// SPDX-License-Identifier: Apache-2.0
// Reference kernels of operators with tensors of indices. Every index is checked.

#ifndef LN_ARCH_REF_ONNX_INDEX_H
#define LN_ARCH_REF_ONNX_INDEX_H

#include <lightnet/call.h>

#include "op/onnx/index.h"

LN_CPPSTART

ln_status ln_ref_onnx_gather(ln_call *call);
ln_status ln_ref_onnx_gather_elements(ln_call *call);
ln_status ln_ref_onnx_gather_nd(ln_call *call);
ln_status ln_ref_onnx_scatter_elements(ln_call *call);
ln_status ln_ref_onnx_scatter_nd(ln_call *call);
ln_status ln_ref_onnx_tensor_scatter(ln_call *call);

LN_CPPEND

#endif
