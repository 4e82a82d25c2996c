// SPDX-License-Identifier: Apache-2.0
// Shapes of operators of com.microsoft that no other family has.

#ifndef LN_OP_ONNX_CONTRIB_H
#define LN_OP_ONNX_CONTRIB_H

#include <lightnet/call.h>

#include "op/onnx/given.h"

ln_status ln_infer_ms_cdist(ln_call *call);
ln_status ln_infer_ms_crop_and_resize(ln_call *call);
ln_status ln_infer_ms_dynamic_time_warping(ln_call *call);
ln_status ln_infer_ms_expand_dims(ln_call *call);
ln_status ln_infer_ms_murmur_hash(ln_call *call);
ln_status ln_infer_ms_ngram_repeat_block(ln_call *call);
ln_status ln_infer_ms_unfold_tensor(ln_call *call);

double ln_cost_ms_cdist(const ln_call *call);
double ln_cost_ms_ngram_repeat_block(const ln_call *call);

#endif
