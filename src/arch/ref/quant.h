// SPDX-License-Identifier: Apache-2.0
// What becomes of the exact sums of quantized products.

#ifndef LN_ARCH_REF_QUANT_H
#define LN_ARCH_REF_QUANT_H

#include "op/quant.h"

// Of `columns` columns, each of which takes `inner` neighbouring elements of the result.
typedef struct ln_ref_quant_sums {
    tl_tensor *dst;
    ln_quant_product product;
    int64_t columns, inner;
    ln_quant_columns of;
    bool has_float_bias;
    int32_t low, high, zero; // of bytes
} ln_ref_quant_sums;

// For sums of so many terms.
ln_status ln_ref_quant_sums_start(ln_call *call, int64_t columns, int64_t terms,
                                  ln_ref_quant_sums *out_sums);

// Element `i` of the result, from a sum without its bias. `sums` are ln_ref_quant_sums.
void ln_ref_quant_put(const void *sums, int64_t i, double exact);

#endif
