// SPDX-License-Identifier: Apache-2.0
// Sequences and optionals on arch `ref`; each function is `compute` of the operator in its name.

#ifndef LN_ARCH_REF_ONNX_SEQUENCE_H
#define LN_ARCH_REF_ONNX_SEQUENCE_H

#include <lightnet/call.h>

#include "op/onnx/sequence.h"

// Output 0 becomes input 0, whatever kind of object that is.
ln_status ln_ref_pass_object(ln_call *call);

ln_status ln_ref_sequence_construct(ln_call *call);
ln_status ln_ref_sequence_empty(ln_call *call);
ln_status ln_ref_sequence_insert(ln_call *call);
ln_status ln_ref_sequence_erase(ln_call *call);
ln_status ln_ref_sequence_at(ln_call *call);
ln_status ln_ref_sequence_length(ln_call *call);
ln_status ln_ref_split_to_sequence(ln_call *call);
ln_status ln_ref_concat_from_sequence(ln_call *call);
ln_status ln_ref_optional(ln_call *call);
ln_status ln_ref_optional_has_element(ln_call *call);
ln_status ln_ref_optional_get_element(ln_call *call);

#endif
