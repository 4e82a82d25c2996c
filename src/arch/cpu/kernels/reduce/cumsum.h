// SPDX-License-Identifier: Apache-2.0
// Running sums of columns that are beside each other. Each goes on in double and is rounded where
// it is stored; all instruction sets give the same bits.

#ifndef LN_ARCH_CPU_KERNELS_CUMSUM_H
#define LN_ARCH_CPU_KERNELS_CUMSUM_H

#include <stdbool.h>
#include <stddef.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/select.h"

LN_CPPSTART

#define LN_CUMSUM_COLUMNS 256

typedef struct ln_cumsum_columns {
    size_t count; // elements of each sum
    size_t width; // columns, at most LN_CUMSUM_COLUMNS
    ptrdiff_t step;
    bool is_exclusive; // without the element itself
    const float *x;    // the first element of the first column; the next one is `step` further on
    float *y;          // may be x
} ln_cumsum_columns;

typedef void ln_cumsum_f32_fn(const ln_cumsum_columns *columns);

LN_KERNELS(ln_cumsum_f32_fn, cumsum_f32)

LN_CPPEND

#endif
