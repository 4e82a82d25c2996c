// SPDX-License-Identifier: Apache-2.0
// Reference kernels of operators that read between elements. All compute in double.

#ifndef LN_ARCH_REF_ONNX_RESAMPLE_H
#define LN_ARCH_REF_ONNX_RESAMPLE_H

#include <lightnet/call.h>

#include "op/onnx/resample.h"

LN_CPPSTART

ln_status ln_ref_onnx_resize(ln_call *call);
ln_status ln_ref_onnx_upsample(ln_call *call);
ln_status ln_ref_onnx_grid_sample(ln_call *call);
ln_status ln_ref_onnx_affine_grid(ln_call *call);
ln_status ln_ref_onnx_roi_align(ln_call *call);
ln_status ln_ref_onnx_max_roi_pool(ln_call *call);
ln_status ln_ref_onnx_col2im(ln_call *call);
ln_status ln_ref_onnx_det(ln_call *call);

LN_CPPEND

#endif
