// SPDX-License-Identifier: Apache-2.0
// Shapes of the operators on sequences and optionals.

#ifndef LN_OP_ONNX_SEQUENCE_H
#define LN_OP_ONNX_SEQUENCE_H

#include <lightnet/call.h>

// Output 0 is a sequence, an optional or a map.
ln_status ln_infer_gives_object(ln_call *call);

// Nothing can be said before the run, in which `compute` gives every output as an object.
ln_status ln_infer_in_run(ln_call *call);

ln_status ln_infer_sequence_length(ln_call *call);
ln_status ln_infer_optional_has_element(ln_call *call);

#endif
