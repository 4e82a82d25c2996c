// SPDX-License-Identifier: Apache-2.0
// What products of quantized tensors have in common: operands without their zero points, and sums
// that are scaled and written.

#ifndef LN_ARCH_REF_ONNX_QUANT_RESULT_H
#define LN_ARCH_REF_ONNX_QUANT_RESULT_H

#include <lightnet/call.h>

#include "op/onnx/quant_product.h"

// The elements of `t` minus their zero points, as floats, which hold them exactly: scratch of the
// call. A vector of zero points runs along `axis`. NULL on failure.
float *ln_quant_centred(ln_call *call, const tl_tensor *t, const tl_tensor *zero_point, int axis);

// Where a sum goes: into a TL_INT32 as it is, else scaled into a quantized or floating output.
typedef struct ln_quant_result {
    tl_tensor *dst;
    double alpha;
    ln_quant_spread a_scale, b_scale, y_scale, y_zero, bias;
    bool bias_is_scaled; // as integers with the sums; else added after the scales
} ln_quant_result;

// Reads the scales for an output whose rows are on `row_axis` and columns, or channels, on
// `column_axis`.
ln_status ln_quant_result_read(ln_call *call, const ln_quant_places *places, int row_axis,
                               int column_axis, ln_quant_result *out_result);

// Writes `sum`, exact, as element `i` of the output.
// `result` is a ln_quant_result.
void ln_quant_result_put(const void *result, int64_t i, double sum);

#endif
