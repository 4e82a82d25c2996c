// SPDX-License-Identifier: Apache-2.0
// Rows of sums to bytes, span by span.

#include "arch/cpu/kernels/rescale/rescale.h"

#include <string.h>

#include "base/minmax.h"

// Whole rows, whose bytes are next to each other: several as if they were one.
static void rescale_narrow(const ln_rescale_columns *columns, size_t rows, const int32_t *sums,
                           size_t sums_step, uint8_t *y)
{
    const size_t n = columns->count;
    int32_t some[LN_RESCALE_NARROW];
    for (size_t i = 0; i < rows; i += columns->repeats) {
        const size_t count = ln_min(rows - i, columns->repeats);
        for (size_t k = 0; k < count; k++)
            memcpy(some + k * n, sums + (i + k) * sums_step, n * sizeof *some);
        columns->kernel(&columns->of, &columns->factors, count * n, some, y + i * n);
    }
}

void ln_rescale_rows(const ln_rescale_columns *columns, size_t column, size_t rows, size_t n,
                     const int32_t *sums, size_t sums_step, uint8_t *y, size_t y_step)
{
    if (columns->repeats > 0 && n == columns->count && y_step == n) {
        rescale_narrow(columns, rows, sums, sums_step, y);
        return;
    }
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
