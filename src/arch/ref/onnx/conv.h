// SPDX-License-Identifier: Apache-2.0
// The convolutions of ONNX, as the definition says, summed in double.

#ifndef LN_ARCH_REF_ONNX_CONV_H
#define LN_ARCH_REF_ONNX_CONV_H

#include <lightnet/call.h>

LN_CPPSTART

ln_status ln_ref_onnx_conv(ln_call *call); // Conv and FusedConv
ln_status ln_ref_onnx_conv_transpose(ln_call *call);
ln_status ln_ref_onnx_deform_conv(ln_call *call);
ln_status ln_ref_onnx_causal_conv(ln_call *call);

LN_CPPEND

#endif
