// SPDX-License-Identifier: Apache-2.0
// Reference kernels of operators of com.microsoft that no other family has.

#ifndef LN_ARCH_REF_ONNX_CONTRIB_H
#define LN_ARCH_REF_ONNX_CONTRIB_H

#include <lightnet/call.h>

ln_status ln_ref_ms_cdist(ln_call *call);
ln_status ln_ref_ms_crop_and_resize(ln_call *call);
ln_status ln_ref_ms_dynamic_time_warping(ln_call *call);
ln_status ln_ref_ms_expand_dims(ln_call *call);
ln_status ln_ref_ms_murmur_hash(ln_call *call);
ln_status ln_ref_ms_ngram_repeat_block(ln_call *call);
ln_status ln_ref_ms_unfold_tensor(ln_call *call);

#endif
