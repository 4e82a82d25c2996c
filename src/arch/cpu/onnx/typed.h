// SPDX-License-Identifier: Apache-2.0
// What ONNX computes element by element in other types than float alone: comparisons, choices,
// logic, conversions; and in float what has no kernel. The bits are those of ref, but for powers.

#ifndef LN_ARCH_CPU_ONNX_TYPED_H
#define LN_ARCH_CPU_ONNX_TYPED_H

#include <lightnet/call.h>

LN_CPPSTART

// Whether the functions below take the call; LN_UNSUPPORTED says why not.
ln_status ln_cpu_accepts_onnx_compare(ln_call *call);
ln_status ln_cpu_accepts_onnx_logic(ln_call *call);
ln_status ln_cpu_accepts_onnx_where(ln_call *call);
ln_status ln_cpu_accepts_onnx_mod(ln_call *call);
ln_status ln_cpu_accepts_onnx_pow(ln_call *call);
ln_status ln_cpu_accepts_onnx_range(ln_call *call);
ln_status ln_cpu_accepts_onnx_prelu(ln_call *call);
ln_status ln_cpu_accepts_onnx_floats(ln_call *call);
ln_status ln_cpu_accepts_onnx_cast(ln_call *call);

ln_status ln_cpu_onnx_equal(ln_call *call);
ln_status ln_cpu_onnx_less(ln_call *call);
ln_status ln_cpu_onnx_less_or_equal(ln_call *call);
ln_status ln_cpu_onnx_greater(ln_call *call);
ln_status ln_cpu_onnx_greater_or_equal(ln_call *call);
ln_status ln_cpu_onnx_and(ln_call *call);
ln_status ln_cpu_onnx_or(ln_call *call);
ln_status ln_cpu_onnx_xor(ln_call *call);
ln_status ln_cpu_onnx_not(ln_call *call);
ln_status ln_cpu_onnx_is_nan(ln_call *call);
ln_status ln_cpu_onnx_where(ln_call *call);
ln_status ln_cpu_onnx_mod(ln_call *call);
ln_status ln_cpu_onnx_pow(ln_call *call);
ln_status ln_cpu_onnx_range(ln_call *call);
ln_status ln_cpu_onnx_prelu(ln_call *call);
ln_status ln_cpu_onnx_sum_of_any(ln_call *call);
ln_status ln_cpu_onnx_mean_of_any(ln_call *call);
ln_status ln_cpu_onnx_max_of_any(ln_call *call);
ln_status ln_cpu_onnx_min_of_any(ln_call *call);
ln_status ln_cpu_onnx_cast(ln_call *call);

LN_CPPEND

#endif
