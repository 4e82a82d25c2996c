// SPDX-License-Identifier: Apache-2.0
// GRU and LSTM of ONNX in float, with the activations that they have by themselves.

#ifndef LN_ARCH_CPU_ONNX_RECURRENT_H
#define LN_ARCH_CPU_ONNX_RECURRENT_H

#include <lightnet/call.h>

#include "op/onnx/recurrent.h"

LN_CPPSTART

// LN_UNSUPPORTED says why the kernels do not take the call.
ln_status ln_cpu_accepts_onnx_gru(ln_call *call);
ln_status ln_cpu_accepts_onnx_lstm(ln_call *call);

// Shapes, the workspace's among them.
ln_status ln_cpu_infer_onnx_gru(ln_call *call);
ln_status ln_cpu_infer_onnx_lstm(ln_call *call);

ln_status ln_cpu_onnx_gru(ln_call *call);
ln_status ln_cpu_onnx_lstm(ln_call *call);

LN_CPPEND

#endif
