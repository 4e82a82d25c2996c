// SPDX-License-Identifier: Apache-2.0
// Elements of a dtype that is known only in a run: the one copy of the switches that kernels with
// constant dtypes have no need of.

#include "arch/ref/element.h"

ln_ref_number ln_ref_load_any(const void *data, size_t i, tl_dtype dtype)
{
    return ln_ref_load_of(data, i, dtype);
}

void ln_ref_store_any(void *data, size_t i, tl_dtype dtype, ln_ref_number x)
{
    ln_ref_store_of(data, i, dtype, x);
}

// A loop for each dtype: here most of the time goes.
void ln_ref_add_products_any(ln_ref_sums *sums, tl_dtype dtype, int64_t first, int64_t end,
                             int64_t step, const void *src, int64_t at, int64_t src_step,
                             ln_ref_number weight)
{
    switch (dtype) {
#define ADD_PRODUCTS_CASE(name, type, kind, fmt, min, max)                                         \
    case name:                                                                                     \
        ln_ref_add_products_of(sums, name, first, end, step, src, at, src_step, weight);           \
        break;
        TL_DTYPE_LIST(ADD_PRODUCTS_CASE)
#undef ADD_PRODUCTS_CASE
    default: break;
    }
}
