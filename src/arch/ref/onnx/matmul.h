// SPDX-License-Identifier: Apache-2.0
// Matrix products and sums over products, as the definition says: in double, or in 64-bit integers
// that wrap.

#ifndef LN_ARCH_REF_ONNX_MATMUL_H
#define LN_ARCH_REF_ONNX_MATMUL_H

#include <lightnet/call.h>

LN_CPPSTART

ln_status ln_ref_onnx_matmul(ln_call *call); // MatMul, FusedMatMul, TransposeMatMul
ln_status ln_ref_onnx_gemm(ln_call *call);   // Gemm and FusedGemm
ln_status ln_ref_onnx_einsum(ln_call *call);

LN_CPPEND

#endif
