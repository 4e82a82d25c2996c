// SPDX-License-Identifier: Apache-2.0
// Copies rows of bytes that are at equal distances: parts of tensors, and tensors as parts.

#ifndef LN_ARCH_CPU_KERNELS_COPY_ROWS_H
#define LN_ARCH_CPU_KERNELS_COPY_ROWS_H

#include <stddef.h>

#include "base/pool.h"

LN_CPPSTART

typedef struct ln_copy_rows_args {
    size_t rows, row_bytes;
    const void *x;
    size_t x_step; // bytes from one row to the next
    void *y;       // apart from x
    size_t y_step;
} ln_copy_rows_args;

void ln_copy_rows(const ln_copy_rows_args *args, ln_pool *pool);

LN_CPPEND

#endif
