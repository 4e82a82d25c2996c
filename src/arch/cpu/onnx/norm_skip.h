// SPDX-License-Identifier: Apache-2.0
// Normalisations of com.microsoft that add up first what they normalise, in float.

#ifndef LN_ARCH_CPU_ONNX_NORM_SKIP_H
#define LN_ARCH_CPU_ONNX_NORM_SKIP_H

#include <lightnet/call.h>

LN_CPPSTART

// Whether the kernels take the call; LN_UNSUPPORTED says why not.
ln_status ln_cpu_accepts_ms_skip_layer_norm(ln_call *call);
ln_status ln_cpu_accepts_ms_skip_rms_norm(ln_call *call);
ln_status ln_cpu_accepts_ms_embed_layer_norm(ln_call *call);

ln_status ln_cpu_ms_skip_layer_norm(ln_call *call);
ln_status ln_cpu_ms_skip_rms_norm(ln_call *call);
ln_status ln_cpu_ms_embed_layer_norm(ln_call *call);

LN_CPPEND

#endif
