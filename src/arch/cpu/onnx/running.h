// SPDX-License-Identifier: Apache-2.0
// Running sums of ONNX in f32. The bits are those of ref.

#ifndef LN_ARCH_CPU_ONNX_RUNNING_H
#define LN_ARCH_CPU_ONNX_RUNNING_H

#include <lightnet/call.h>

LN_CPPSTART

ln_status ln_cpu_accepts_onnx_cum_sum(ln_call *call); // LN_UNSUPPORTED says why not
ln_status ln_cpu_onnx_cum_sum(ln_call *call);

LN_CPPEND

#endif
