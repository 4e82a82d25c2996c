// SPDX-License-Identifier: Apache-2.0
// ONNX's convolutions with the kernels of cpu: float, over one axis or two.

#ifndef LN_ARCH_CPU_ONNX_CONV_H
#define LN_ARCH_CPU_ONNX_CONV_H

#include <lightnet/call.h>

LN_CPPSTART

// Whether the kernels take the call; LN_UNSUPPORTED says why not.
ln_status ln_cpu_accepts_onnx_conv(ln_call *call); // Conv and FusedConv
ln_status ln_cpu_accepts_onnx_conv_transpose(ln_call *call);

// Shapes, the workspace's among them.
ln_status ln_cpu_infer_onnx_conv(ln_call *call);
ln_status ln_cpu_infer_onnx_conv_fused(ln_call *call);
ln_status ln_cpu_infer_onnx_conv_transpose(ln_call *call);

ln_status ln_cpu_onnx_conv(ln_call *call); // Conv and FusedConv
ln_status ln_cpu_onnx_conv_transpose(ln_call *call);

LN_CPPEND

#endif
