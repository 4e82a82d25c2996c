// SPDX-License-Identifier: Apache-2.0
// Attention of ONNX and of com.microsoft with the kernels of cpu, in float.

#ifndef LN_ARCH_CPU_ONNX_ATTENTION_H
#define LN_ARCH_CPU_ONNX_ATTENTION_H

#include <lightnet/call.h>

LN_CPPSTART

// The outputs, and the workspace behind them.
ln_status ln_cpu_infer_onnx_attention(ln_call *call);
ln_status ln_cpu_infer_ms_attention(ln_call *call);
ln_status ln_cpu_infer_ms_mha(ln_call *call);

// Whether the kernels take the call; LN_UNSUPPORTED says why not.
ln_status ln_cpu_accepts_onnx_attention(ln_call *call);
ln_status ln_cpu_accepts_ms_attention(ln_call *call);
ln_status ln_cpu_accepts_ms_mha(ln_call *call);

ln_status ln_cpu_onnx_attention(ln_call *call);
ln_status ln_cpu_ms_attention(ln_call *call);
ln_status ln_cpu_ms_mha(ln_call *call);

LN_CPPEND

#endif
