// SPDX-License-Identifier: Apache-2.0
// The poolings of ONNX, as the definition says.

#ifndef LN_ARCH_REF_ONNX_POOL_H
#define LN_ARCH_REF_ONNX_POOL_H

#include <lightnet/call.h>

LN_CPPSTART

ln_status ln_ref_onnx_max_pool(ln_call *call);
ln_status ln_ref_onnx_average_pool(ln_call *call);
ln_status ln_ref_onnx_lp_pool(ln_call *call);
ln_status ln_ref_onnx_global_max_pool(ln_call *call);
ln_status ln_ref_onnx_global_average_pool(ln_call *call);
ln_status ln_ref_onnx_global_lp_pool(ln_call *call);
ln_status ln_ref_onnx_max_unpool(ln_call *call);

LN_CPPEND

#endif
