// SPDX-License-Identifier: Apache-2.0
// ONNX's poolings with the kernels of cpu: float, over one axis or two.

#ifndef LN_ARCH_CPU_ONNX_POOL_H
#define LN_ARCH_CPU_ONNX_POOL_H

#include <lightnet/call.h>

LN_CPPSTART

// Whether the kernels take the call; LN_UNSUPPORTED says why not.
ln_status ln_cpu_accepts_onnx_max_pool(ln_call *call);
ln_status ln_cpu_accepts_onnx_average_pool(ln_call *call);
ln_status ln_cpu_accepts_onnx_global_pool(ln_call *call);

// Shapes, the workspace's among them.
ln_status ln_cpu_infer_onnx_max_pool(ln_call *call);
ln_status ln_cpu_infer_onnx_average_pool(ln_call *call);
ln_status ln_cpu_infer_onnx_global_pool(ln_call *call);

ln_status ln_cpu_onnx_max_pool(ln_call *call);
ln_status ln_cpu_onnx_average_pool(ln_call *call);
ln_status ln_cpu_onnx_global_max_pool(ln_call *call);
ln_status ln_cpu_onnx_global_average_pool(ln_call *call);

LN_CPPEND

#endif
