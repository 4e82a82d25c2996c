// SPDX-License-Identifier: Apache-2.0
// Reference kernels of operators that convert and quantize.

#ifndef LN_ARCH_REF_ONNX_QUANT_H
#define LN_ARCH_REF_ONNX_QUANT_H

#include <lightnet/call.h>

LN_CPPSTART

ln_status ln_ref_onnx_cast(ln_call *call); // and CastLike
ln_status ln_ref_onnx_bit_cast(ln_call *call);

ln_status ln_ref_onnx_quantize(ln_call *call);
ln_status ln_ref_onnx_dequantize(ln_call *call);
ln_status ln_ref_onnx_dynamic_quantize(ln_call *call);

LN_CPPEND

#endif
