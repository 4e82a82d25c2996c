// SPDX-License-Identifier: Apache-2.0
// What quantized operators of the core are given: scales and zero points, and results.

#ifndef LN_OP_QUANT_H
#define LN_OP_QUANT_H

#include <stdbool.h>
#include <stdint.h>

#include <lightnet/call.h>

#include "op/activation.h"
#include "op/conv.h"
#include "op/onnx/matmul.h"

LN_CPPSTART

// What becomes of an exact sum.
typedef enum ln_quant_kind {
    LN_QUANT_TO_SUM,   // it stays as it is: TL_INT32, or TL_INT64 where src is TL_INT16
    LN_QUANT_TO_FLOAT, // scaled: TL_FLOAT
    LN_QUANT_TO_BYTE,  // scaled and quantized
} ln_quant_kind;

// The operands of a product besides its two sides. NULL: not there.
typedef struct ln_quant_product {
    const tl_tensor *src_scale, *src_zero;
    const tl_tensor *weight_scale, *weight_zero; // one number, or one for each column
    const tl_tensor *bias;
    const tl_tensor *dst_scale, *dst_zero;
    ln_quant_kind kind;
    tl_dtype dtype; // of the result
    ln_activation activation;
} ln_quant_product;

// Reads the operands of quant_conv and quant_matmul, or of an arch's variant of one with these
// names, and checks them for so many columns.
ln_status ln_quant_product_read(ln_call *call, int64_t columns, ln_quant_product *out_product);

// Likewise of an operator with several products: the operands begin `first` places later, and the
// activation has been read.
ln_status ln_quant_product_read_at(ln_call *call, int first, const ln_activation *activation,
                                   int64_t columns, ln_quant_product *out_product);

// What becomes of the sum of each column: (sum + bias) * factor + float_bias, in units of dst_scale
// where bytes are made.
typedef struct ln_quant_columns {
    float *factors, *float_bias;
    int32_t *bias;
} ln_quant_columns;

// In a run: finds so many of each, for sums of TL_INT32 of so many terms. A bias in floats is one
// of floats, but where bytes are made and it is a whole number of units of the sum. Whether there
// is one in floats.
bool ln_quant_columns_find(const ln_quant_product *product, int64_t columns, int64_t terms,
                           ln_quant_columns out);

// One number of a byte tensor; 0 for NULL.
int32_t ln_quant_zero(const tl_tensor *zero);

// The least and the greatest byte of `dtype`, less the zero point, that a number which has gone
// through the activation is quantized to: none, relu or clip.
void ln_quant_bounds(const ln_activation *activation, float scale, tl_dtype dtype, int32_t zero,
                     int32_t *out_low, int32_t *out_high);

// The operands of quant_elew (two sources) and quant_act (one).
typedef struct ln_quant_map {
    const tl_tensor *src[2]; // the second is NULL for quant_act
    float scale[2], dst_scale;
    int32_t zero[2], dst_zero;
} ln_quant_map;

// Reads them in a run.
void ln_quant_elew_read(const ln_call *call, ln_quant_map *out_map);
void ln_quant_act_read(const ln_call *call, ln_quant_map *out_map);

LN_CPPEND

#endif
