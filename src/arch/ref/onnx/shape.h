// SPDX-License-Identifier: Apache-2.0
// Reference kernels of operators that change a shape, move elements or fill a tensor.

#ifndef LN_ARCH_REF_ONNX_SHAPE_H
#define LN_ARCH_REF_ONNX_SHAPE_H

#include <lightnet/call.h>

#include "op/onnx/shape.h"
#include "op/onnx/shape_fill.h"
#include "op/onnx/shape_move.h"

LN_CPPSTART

// The input as it is: Reshape, Flatten, Squeeze, Unsqueeze.
ln_status ln_ref_onnx_same_elements(ln_call *call);
ln_status ln_ref_onnx_shape(ln_call *call);
ln_status ln_ref_onnx_size(ln_call *call);

ln_status ln_ref_onnx_transpose(ln_call *call);
ln_status ln_ref_onnx_concat(ln_call *call);
ln_status ln_ref_onnx_split(ln_call *call);
ln_status ln_ref_onnx_slice(ln_call *call);
ln_status ln_ref_onnx_expand(ln_call *call);
ln_status ln_ref_onnx_tile(ln_call *call);
ln_status ln_ref_onnx_pad(ln_call *call);
ln_status ln_ref_onnx_center_crop_pad(ln_call *call);
ln_status ln_ref_onnx_crop(ln_call *call);
ln_status ln_ref_onnx_depth_to_space(ln_call *call);
ln_status ln_ref_onnx_space_to_depth(ln_call *call);
ln_status ln_ref_onnx_reverse_sequence(ln_call *call);
ln_status ln_ref_onnx_trilu(ln_call *call);

ln_status ln_ref_onnx_range(ln_call *call);
ln_status ln_ref_onnx_constant_of_shape(ln_call *call);
ln_status ln_ref_onnx_eye_like(ln_call *call);
ln_status ln_ref_onnx_one_hot(ln_call *call);

LN_CPPEND

#endif
