// SPDX-License-Identifier: Apache-2.0
// Shapes of products of quantized tensors, and which scale and zero point is for which element.

#ifndef LN_OP_ONNX_QUANT_PRODUCT_H
#define LN_OP_ONNX_QUANT_PRODUCT_H

#include <stdint.h>

#include <lightnet/call.h>

#include "op/conv.h"
#include "op/onnx/matmul.h"
#include "op/onnx/quant.h"

LN_CPPSTART

// ---- Parameters along an axis ----

// Scales or zero points spread over a tensor of shape `dims`. Without one, all are `otherwise`.
typedef struct ln_quant_spread {
    const tl_tensor *values; // NULL: none
    double otherwise;
    int ndim; // 0: there is one value for all
    int64_t dims[TL_MAXDIM];
    int64_t steps[TL_MAXDIM];
} ln_quant_spread;

// A vector of more than one value runs along `axis`; another shape broadcasts, last axis to last.
ln_status ln_quant_spread_over(ln_call *call, const char *name, const tl_tensor *values,
                               double otherwise, int axis, const tl_tensor *over,
                               ln_quant_spread *out_spread);

// The value for element `i` of that shape.
double ln_quant_spread_at(const ln_quant_spread *spread, int64_t i);

// ---- Where the inputs of an operator are ----

// Positions of the inputs of a product; -1: it has none.
typedef struct ln_quant_places {
    int a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero, bias;
} ln_quant_places;

extern const ln_quant_places ln_places_conv_integer;
extern const ln_quant_places ln_places_qlinear_conv;
extern const ln_quant_places ln_places_matmul_integer;
extern const ln_quant_places ln_places_qlinear_matmul;
extern const ln_quant_places ln_places_qgemm;
extern const ln_quant_places ln_places_matmul_to_float;
extern const ln_quant_places ln_places_dynamic_matmul;

static inline const tl_tensor *ln_quant_in(const ln_call *call, int place)
{
    return place < 0 ? NULL : ln_call_in(call, place);
}

// ---- Shapes ----

ln_status ln_quant_conv_read(ln_call *call, const ln_quant_places *places, ln_conv_call *out_conv);

LN_CPPEND

#endif
