// SPDX-License-Identifier: Apache-2.0
// Sum, Max and Min of any number of tensors of other types than float.

#ifndef LN_ARCH_CPU_ONNX_TYPED_H
#define LN_ARCH_CPU_ONNX_TYPED_H

#include <lightnet/call.h>

LN_CPPSTART

ln_status ln_cpu_onnx_sum_of_any(ln_call *call);
ln_status ln_cpu_onnx_max_of_any(ln_call *call);
ln_status ln_cpu_onnx_min_of_any(ln_call *call);

LN_CPPEND

#endif
