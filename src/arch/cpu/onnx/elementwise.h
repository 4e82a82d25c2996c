// SPDX-License-Identifier: Apache-2.0
// What ONNX computes element by element, channel by channel and line by line, with the kernels of
// cpu, in float.

#ifndef LN_ARCH_CPU_ONNX_ELEMENTWISE_H
#define LN_ARCH_CPU_ONNX_ELEMENTWISE_H

#include <lightnet/call.h>

#include "op/onnx/elementwise.h"
#include "op/onnx/norm.h"
#include "op/onnx/reduce.h"

LN_CPPSTART

// Whether the kernels take the call; LN_UNSUPPORTED says why not.
ln_status ln_cpu_accepts_onnx_unary(ln_call *call);
ln_status ln_cpu_accepts_onnx_binary(ln_call *call);
ln_status ln_cpu_accepts_onnx_batch_normalization(ln_call *call);
ln_status ln_cpu_accepts_onnx_layer_normalization(ln_call *call);

ln_status ln_cpu_onnx_relu(ln_call *call);
ln_status ln_cpu_onnx_leaky_relu(ln_call *call);
ln_status ln_cpu_onnx_sigmoid(ln_call *call);
ln_status ln_cpu_onnx_tanh(ln_call *call);
ln_status ln_cpu_onnx_elu(ln_call *call);
ln_status ln_cpu_onnx_softplus(ln_call *call);
ln_status ln_cpu_onnx_mish(ln_call *call);
ln_status ln_cpu_onnx_sqrt(ln_call *call);
ln_status ln_cpu_onnx_abs(ln_call *call);
ln_status ln_cpu_onnx_neg(ln_call *call);
ln_status ln_cpu_onnx_exp(ln_call *call);
ln_status ln_cpu_onnx_log(ln_call *call);
ln_status ln_cpu_onnx_sin(ln_call *call);
ln_status ln_cpu_onnx_cos(ln_call *call);
ln_status ln_cpu_onnx_reciprocal(ln_call *call);
ln_status ln_cpu_onnx_erf(ln_call *call);
ln_status ln_cpu_onnx_gelu(ln_call *call);
ln_status ln_cpu_onnx_clip(ln_call *call);
ln_status ln_cpu_onnx_hard_sigmoid(ln_call *call);
ln_status ln_cpu_onnx_hard_swish(ln_call *call);
ln_status ln_cpu_onnx_add(ln_call *call);
ln_status ln_cpu_onnx_sub(ln_call *call);
ln_status ln_cpu_onnx_mul(ln_call *call);
ln_status ln_cpu_onnx_div(ln_call *call);
ln_status ln_cpu_onnx_sum(ln_call *call);
ln_status ln_cpu_onnx_max(ln_call *call);
ln_status ln_cpu_onnx_min(ln_call *call);
ln_status ln_cpu_onnx_batch_normalization(ln_call *call);
ln_status ln_cpu_onnx_layer_normalization(ln_call *call);
ln_status ln_cpu_onnx_rms_normalization(ln_call *call);
ln_status ln_cpu_onnx_softmax(ln_call *call);

LN_CPPEND

#endif
