// SPDX-License-Identifier: Apache-2.0
// The greatest byte of each window of channels-last images, row by row; where a window meets no
// pixel, the least byte there is.

#ifndef LN_ARCH_CPU_KERNELS_MAXPOOL_I8_H
#define LN_ARCH_CPU_KERNELS_MAXPOOL_I8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/window.h"

LN_CPPSTART

typedef struct ln_maxpool_i8_args {
    ln_window_1d rows, columns;
    size_t out_h, out_w, channels;
    size_t x_step, y_step; // bytes from pixel to pixel
    bool is_signed;
} ln_maxpool_i8_args;

// A row of an image of which all lines that its windows look at are there.
void ln_maxpool_i8_row(ln_cpu_isa isa, const ln_maxpool_i8_args *args, const ln_lines_i8 *lines,
                       size_t row, uint8_t *y);

LN_CPPEND

#endif
