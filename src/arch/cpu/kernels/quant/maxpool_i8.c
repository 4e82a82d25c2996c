// SPDX-License-Identifier: Apache-2.0
// Finds the part of each window that is inside the image.

#include "arch/cpu/kernels/quant/maxpool_i8.h"

#include <string.h>

#include "arch/cpu/kernels/quant/quant.h"

void ln_maxpool_i8_row(ln_cpu_isa isa, const ln_maxpool_i8_args *a, const ln_lines_i8 *lines,
                       size_t row, uint8_t *y)
{
    const ln_quant_kernels *kernels = ln_quant_select(isa);
    const ln_taps down = ln_window_taps(&a->rows, row);
    ln_quant_window window = {.channels = a->channels,
                              .is_signed = a->is_signed,
                              .rows = down.end - down.first,
                              .row_step = a->rows.dilation * a->columns.in * a->x_step,
                              .column_step = a->columns.dilation * a->x_step};
    for (size_t x = 0; x < a->out_w; x++, y += a->y_step) {
        const ln_taps across = ln_window_taps(&a->columns, x);
        window.columns = across.end - across.first;
        if (window.rows == 0 || window.columns == 0) {
            memset(y, a->is_signed ? 128 : 0, a->channels);
            continue;
        }
        const size_t line = ln_window_at(&a->rows, row, down.first) - lines->first;
        window.x = lines->at +
                   (line * a->columns.in + ln_window_at(&a->columns, x, across.first)) * a->x_step;
        kernels->greatest(&window, y);
    }
}
