// SPDX-License-Identifier: Apache-2.0
// Products of bytes inside operators of arch cpu: what depends on scales, zero points and biases
// alone is made once where these are constants, else in each run.

#ifndef LN_ARCH_CPU_QUANT_COLUMNS_H
#define LN_ARCH_CPU_QUANT_COLUMNS_H

#include "op/quant.h"

#include "arch/cpu/kernels/eltwise/eltwise.h"
#include "arch/cpu/kernels/gemm_i8/tile_i8.h"

LN_CPPSTART

// What the epilogue takes of each column.
typedef struct ln_i8_columns {
    size_t count, len; // columns; numbers of each array, some of which are past the last column
    size_t terms;      // of a sum
    float *factors, *float_bias;
    int32_t *bias, *zeros;
    bool has_zeros, has_float_bias, is_ready;
} ln_i8_columns;

// A product of an operator, once it is prepared.
typedef struct ln_i8_product {
    int first;        // places in front of its operands: ln_quant_product_read_at
    bool is_unsigned; // the weights
    ln_act_f32_args act;
    ln_i8_columns columns;
} ln_i8_product;

ln_status ln_i8_product_read(ln_call *call, const ln_i8_product *product, size_t columns,
                             ln_quant_product *out_operands);

// In `prepare`.
ln_status ln_i8_product_prepare(ln_call *call, size_t columns, size_t terms,
                                ln_i8_product *product);

// Bytes that are a multiple of what blocks of a workspace are aligned to; those of columns that are
// made in a run.
size_t ln_i8_rounded(size_t bytes);
size_t ln_i8_column_bytes(size_t columns);

// In a run: the columns, in `block` if they have to be made now, and the epilogue that uses them.
ln_status ln_i8_product_start(ln_call *call, const ln_i8_product *product, void *block,
                              ln_i8_columns *out_columns, ln_quant_product *out_operands,
                              ln_epilogue_i8 *out_epilogue);

// The zero point of a column, as `zero` says it; NULL: 0.
int32_t ln_i8_zero_at(const tl_tensor *zero, size_t column);

// Whether what an operator has as packed weights has so many bytes.
ln_status ln_i8_check_packed(ln_call *call, int place, size_t bytes);

LN_CPPEND

#endif
