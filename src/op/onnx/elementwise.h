// SPDX-License-Identifier: Apache-2.0
// Shapes of ONNX's operators that work element by element.

#ifndef LN_OP_ONNX_ELEMENTWISE_H
#define LN_OP_ONNX_ELEMENTWISE_H

#include <lightnet/call.h>

// The output has the dtype and shape of the first input.
ln_status ln_infer_same(ln_call *call);

// The same, of a second input that must be as the first.
ln_status ln_infer_same_two(ln_call *call);

// Bools in the shape of the first input.
ln_status ln_infer_same_bool(ln_call *call);

// The common shape of all inputs and the dtype of the first; or bools.
ln_status ln_infer_broadcast(ln_call *call);
ln_status ln_infer_compare(ln_call *call);

// The shape of the first input, to which the others are broadcast.
ln_status ln_infer_broadcast_to_first(ln_call *call);

ln_status ln_infer_prelu(ln_call *call);
ln_status ln_infer_clip(ln_call *call);
ln_status ln_infer_image_scaler(ln_call *call);
ln_status ln_infer_where(ln_call *call);
ln_status ln_infer_bit_shift(ln_call *call);
ln_status ln_infer_identity(ln_call *call);
ln_status ln_infer_dropout(ln_call *call);
ln_status ln_infer_bias_dropout(ln_call *call);
ln_status ln_infer_training(ln_call *call);

// An input that is to be read in another shape of as many elements.
typedef struct ln_shaped {
    int ndim;
    int dims[TL_MAXDIM];
} ln_shaped;

// How the second of two operands lines up with the first: as NumPy does it, or, before operator set
// 7, where `axis` says if `broadcast` allows it.
ln_status ln_second_operand(ln_call *call, ln_shaped *out_shape);

// How the slope of PRelu lines up with the input: before operator set 7, one for each channel.
ln_status ln_prelu_slope(ln_call *call, ln_shaped *out_shape);

// For `is_random`: 1 if Dropout drops, or may do, and no parameter `seed` is given.
int ln_is_dropping(const ln_op_arg *op_arg);

// Whether Dropout drops, and how much; `ratio_in` and `mode_in` are positions of its inputs. Their
// values must be there.
ln_status ln_dropout_ratio(ln_call *call, int ratio_in, int mode_in, double *out_ratio);

#endif
