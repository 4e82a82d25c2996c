// SPDX-License-Identifier: Apache-2.0
// ONNX's reductions over neighbouring axes, in float.

#ifndef LN_ARCH_CPU_ONNX_REDUCE_H
#define LN_ARCH_CPU_ONNX_REDUCE_H

#include <lightnet/call.h>

#include "op/onnx/reduce.h"

LN_CPPSTART

// LN_UNSUPPORTED says why the kernels do not take the call.
ln_status ln_cpu_accepts_onnx_reduce(ln_call *call);

ln_status ln_cpu_onnx_reduce_sum(ln_call *call);
ln_status ln_cpu_onnx_reduce_mean(ln_call *call);
ln_status ln_cpu_onnx_reduce_max(ln_call *call);
ln_status ln_cpu_onnx_reduce_min(ln_call *call);
ln_status ln_cpu_onnx_reduce_sum_square(ln_call *call);
ln_status ln_cpu_onnx_reduce_l1(ln_call *call);
ln_status ln_cpu_onnx_reduce_l2(ln_call *call);

LN_CPPEND

#endif
