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

ln_status ln_ref_onnx_conv_integer(ln_call *call);
ln_status ln_ref_onnx_qlinear_conv(ln_call *call);
ln_status ln_ref_onnx_matmul_integer(ln_call *call);
ln_status ln_ref_onnx_qlinear_matmul(ln_call *call);
ln_status ln_ref_onnx_qgemm(ln_call *call);
ln_status ln_ref_onnx_matmul_to_float(ln_call *call);
ln_status ln_ref_onnx_dynamic_matmul(ln_call *call);

ln_status ln_ref_onnx_qlinear_add(ln_call *call);
ln_status ln_ref_onnx_qlinear_mul(ln_call *call);
ln_status ln_ref_onnx_qlinear_sigmoid(ln_call *call);
ln_status ln_ref_onnx_qlinear_leaky_relu(ln_call *call);
ln_status ln_ref_onnx_qlinear_softmax(ln_call *call);
ln_status ln_ref_onnx_qlinear_concat(ln_call *call);
ln_status ln_ref_onnx_qlinear_average_pool(ln_call *call);
ln_status ln_ref_onnx_qlinear_global_average_pool(ln_call *call);
ln_status ln_ref_onnx_nhwc_max_pool(ln_call *call);
ln_status ln_ref_onnx_qlinear_where(ln_call *call);
ln_status ln_ref_onnx_matmul_nbits(ln_call *call);

LN_CPPEND

#endif
