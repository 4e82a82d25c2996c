// SPDX-License-Identifier: Apache-2.0
// Rows of sums to bytes, span by span.

#include "arch/cpu/kernels/rescale/rescale.h"
#include "base/minmax.h"

void ln_rescale_rows(const ln_rescale_columns *columns, size_t column, size_t rows, size_t n,
                     const int32_t *sums, size_t sums_step, uint8_t *y, size_t y_step)
{
    for (size_t j = 0; j < n; j += LN_RESCALE_SPAN) {
        const size_t some = ln_min(n - j, (size_t)LN_RESCALE_SPAN), at = column + j;
        const ln_rescale_factors *f = &columns->factors;
        const ln_rescale_factors factors = {f->multiplier + at, f->left + at, f->right + at,
                                            f->half + at};
        for (size_t i = 0; i < rows; i++)
            columns->kernel(&columns->of, &factors, some, sums + i * sums_step + j,
                            y + i * y_step + j);
    }
}
