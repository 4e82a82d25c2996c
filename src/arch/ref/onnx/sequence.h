// SPDX-License-Identifier: Apache-2.0
// What control flow and operators on sequences share, on arch `ref`.

#ifndef LN_ARCH_REF_ONNX_SEQUENCE_H
#define LN_ARCH_REF_ONNX_SEQUENCE_H

#include <lightnet/call.h>

// Output 0 becomes input 0, whatever kind of object that is.
ln_status ln_ref_pass_object(ln_call *call);

#endif
