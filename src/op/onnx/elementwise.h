// SPDX-License-Identifier: Apache-2.0
// Shapes of ONNX's operators that work element by element.

#ifndef LN_OP_ONNX_ELEMENTWISE_H
#define LN_OP_ONNX_ELEMENTWISE_H

#include <lightnet/call.h>

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

// Whether Dropout drops, and how much; `ratio_in` and `mode_in` are positions of its inputs. Their
// values must be there.
ln_status ln_dropout_ratio(ln_call *call, int ratio_in, int mode_in, double *out_ratio);

#endif
