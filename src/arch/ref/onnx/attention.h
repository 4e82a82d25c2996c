// SPDX-License-Identifier: Apache-2.0
// Attention and its companions in double.

#ifndef LN_ARCH_REF_ONNX_ATTENTION_H
#define LN_ARCH_REF_ONNX_ATTENTION_H

#include <lightnet/call.h>

#include "op/onnx/attention.h" // the estimates that descriptions inherit

ln_status ln_ref_attention(ln_call *call);
ln_status ln_ref_flex_attention(ln_call *call);
ln_status ln_ref_linear_attention(ln_call *call);
ln_status ln_ref_rotary(ln_call *call);
ln_status ln_ref_ms_rotary(ln_call *call);

#endif
