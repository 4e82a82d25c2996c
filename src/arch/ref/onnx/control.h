// SPDX-License-Identifier: Apache-2.0
// Operators that run graphs, on arch `ref`; each function is `compute` of the operator in its name.

#ifndef LN_ARCH_REF_ONNX_CONTROL_H
#define LN_ARCH_REF_ONNX_CONTROL_H

#include <lightnet/call.h>

#include "op/onnx/control.h"
#include "op/onnx/sequence.h"

ln_status ln_ref_if(ln_call *call);
ln_status ln_ref_loop(ln_call *call);
ln_status ln_ref_scan(ln_call *call);
ln_status ln_ref_sequence_map(ln_call *call);

#endif
