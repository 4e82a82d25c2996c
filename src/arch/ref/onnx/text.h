// SPDX-License-Identifier: Apache-2.0
// Operators on strings, on arch `ref`; each function is `compute` of the operator in its name.

#ifndef LN_ARCH_REF_ONNX_TEXT_H
#define LN_ARCH_REF_ONNX_TEXT_H

#include <lightnet/call.h>

#include "op/onnx/text.h"

ln_status ln_ref_strings(ln_call *call);
ln_status ln_ref_string_concat(ln_call *call);
ln_status ln_ref_string_split(ln_call *call);
ln_status ln_ref_string_normalizer(ln_call *call);
ln_status ln_ref_regex_full_match(ln_call *call);
ln_status ln_ref_ms_tokenizer(ln_call *call);
ln_status ln_ref_prepare_tf_idf_vectorizer(ln_call *call);
ln_status ln_ref_tf_idf_vectorizer(ln_call *call);

#endif
