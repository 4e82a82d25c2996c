// SPDX-License-Identifier: Apache-2.0
// ONNX's matrix products with the kernels of cpu, in float.

#ifndef LN_ARCH_CPU_ONNX_MATMUL_H
#define LN_ARCH_CPU_ONNX_MATMUL_H

#include <lightnet/call.h>

LN_CPPSTART

// The output, and the workspace behind it.
ln_status ln_cpu_infer_onnx_matmul(ln_call *call);
ln_status ln_cpu_infer_onnx_gemm(ln_call *call);

// Whether the kernels take the call; LN_UNSUPPORTED says why not.
ln_status ln_cpu_accepts_onnx_matmul(ln_call *call);
ln_status ln_cpu_accepts_onnx_gemm(ln_call *call);

ln_status ln_cpu_onnx_matmul(ln_call *call); // MatMul, FusedMatMul, TransposeMatMul
ln_status ln_cpu_onnx_gemm(ln_call *call);   // Gemm and FusedGemm

LN_CPPEND

#endif
