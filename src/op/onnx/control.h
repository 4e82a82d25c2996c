// SPDX-License-Identifier: Apache-2.0
// Shapes of the operators that run graphs.

#ifndef LN_OP_ONNX_CONTROL_H
#define LN_OP_ONNX_CONTROL_H

#include <lightnet/call.h>

ln_status ln_infer_sequence_map(ln_call *call);

#endif
