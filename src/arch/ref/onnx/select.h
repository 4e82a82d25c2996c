// SPDX-License-Identifier: Apache-2.0
// Reference kernels of operators that choose elements by their values.

#ifndef LN_ARCH_REF_ONNX_SELECT_H
#define LN_ARCH_REF_ONNX_SELECT_H

#include <lightnet/call.h>

#include "op/onnx/select.h"

LN_CPPSTART

ln_status ln_ref_onnx_non_zero(ln_call *call);
ln_status ln_ref_onnx_compress(ln_call *call);
ln_status ln_ref_onnx_unique(ln_call *call);
ln_status ln_ref_onnx_top_k(ln_call *call);
ln_status ln_ref_onnx_non_max_suppression(ln_call *call);

LN_CPPEND

#endif
